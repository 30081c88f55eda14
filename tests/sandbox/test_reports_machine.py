"""Report cases about the machine and its daemon, played from the shared folder: what is left behind, networks, load,
images that change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox import Job, Judge, NotInSandbox, Program, SandboxUnavailable, Verdict
from sandbox.docker_jail import IMAGES
from tests.sandbox import jails, report_files
from tests.sandbox.report_files import limits, read
from tests.sandbox.slow_daemon import SlowDaemon
from tests.sandbox.test_hostile import AFTERWARDS, PLAIN_SUITE

pytestmark = pytest.mark.shared

# A command that judges so many sleepers.
_SLEEPERS = """
import sys
from sandbox import Job, Judge, Program, Suite, Test
source, count = open(sys.argv[2]).read(), int(sys.argv[3])
with Judge(sys.argv[1], jobs=2) as judge:
    print("judging", flush=True)
    for _ in judge.map(Job(key, Program(source), Suite((Test("1", b"", b""),))) for key in range(count)):
        pass
"""

# A command whose client of the daemon does not wait long.
_IMPATIENT = """
import docker
from sandbox import Judge, SandboxUnavailable
patient = docker.from_env
docker.from_env = lambda **options: patient(**{**options, "timeout": 2})
try:
    Judge("docker", jobs=1)
except SandboxUnavailable as error:
    print(error.message)
"""


def test_c11_the_next_command_removes_what_a_killed_one_left(executor: str, cases: Path, root: Path) -> None:
    plan = read(cases / "C11" / "plan.json")
    assert plan["signal"] == "KILL"
    words = [executor, str(cases / "C11" / "sleeper.py"), str(plan["submissions"])]
    command = subprocess.Popen(
        [sys.executable, "-c", _SLEEPERS, *words], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with command:
        assert command.stdout is not None
        assert command.stdout.readline() == b"judging\n"
        time.sleep(plan["kill_after_s"])
        assert jails.left_by(command.pid)
        command.send_signal(signal.SIGKILL)
    assert jails.folders(command.pid)
    with Judge(executor, jobs=1) as judge:
        assert judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
        left = jails.left_by(command.pid)
    assert len(left) == plan["expected_left"], left


@pytest.mark.docker
def test_c11_a_container_that_was_made_after_its_client_gave_up(tmp_path: Path, root: Path) -> None:
    real = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    with SlowDaemon(tmp_path / "docker.sock", real, hold_s=8.0) as daemon:
        command = subprocess.Popen(
            [sys.executable, "-c", _IMPATIENT],
            cwd=root,
            env={**os.environ, "DOCKER_HOST": daemon.address},
            stdout=subprocess.PIPE,
            text=True,
        )
        said, _ = command.communicate(timeout=120)
        assert daemon.n_held == 1
    assert said.startswith("Docker does not answer: ")
    assert len(jails.containers(command.pid)) == 1
    with Judge("docker", jobs=1) as judge:
        assert judge.judge(AFTERWARDS, PLAIN_SUITE).verdict is Verdict.ACCEPTED
    assert jails.containers(command.pid) == []


@pytest.mark.docker
@pytest.mark.slow
def test_c12_no_network_is_made_for_submissions(cases: Path) -> None:
    plan = read(cases / "C12" / "plan.json")
    program = report_files.program(cases / "C12", "ok.py")
    suite = report_files.suite([{"in": "", "out": "1\n"}], limits({}))
    networks = [set(network.id for network in jails.docker_client().networks.list())]
    with Judge("docker", jobs=plan["workers"]) as judge:
        outcomes = {}
        for key, outcome in judge.map(Job(key, program, suite) for key in range(plan["submissions"])):
            outcomes[key] = outcome.verdict
            if key % 20 == 0:
                networks.append(set(network.id for network in jails.docker_client().networks.list()))
        settings = [container.attrs["HostConfig"] for container in jails.containers(jails.OWN_PID)]
    networks.append(set(network.id for network in jails.docker_client().networks.list()))
    assert outcomes == dict.fromkeys(range(plan["submissions"]), Verdict.ACCEPTED)
    assert {setting["NetworkMode"] for setting in settings} == {"none"}
    assert len(settings) > 1  # a worker whose jail came up after the last submission was taken has none
    assert len(set.union(*networks)) - len(networks[0]) == plan["expected_new_networks"]


@pytest.mark.slow
@pytest.mark.parametrize("per_core", [0, 4], ids=["one worker", "four for each core"])
def test_c16_load_changes_no_verdict(executor: str, cases: Path, per_core: int) -> None:
    case = read(cases / "C16" / "case.json")
    program = report_files.program(cases / "C16", case["submissions"][0]["file"])
    suite = report_files.suite(read(cases / "C16" / case["tests"]), limits(case))
    with Judge(executor, jobs=per_core * (os.cpu_count() or 1) or 1) as judge:
        outcomes = [outcome for _, outcome in judge.map(Job(key, program, suite) for key in range(case["repeat"]))]
    assert [outcome.verdict for outcome in outcomes] == [Verdict.ACCEPTED] * case["repeat"]
    times = [test.facts.cpu_s for outcome in outcomes for test in outcome.tests if test.facts]
    assert all(1.2 < cpu_s < suite.limits.cpu_s for cpu_s in times)


def test_c16_no_more_workers_than_cores_by_default(executor: str) -> None:
    with Judge(executor) as judge:
        assert len(judge._workers) <= len(os.sched_getaffinity(0))


# --- C22: two images under one tag ---------------------------------------------------------------------------------

_TAG = "livecut-case-c22:latest"


@pytest.fixture
def moving_tag() -> Iterator[Any]:
    """A function that lets one tag name the image of that short name."""
    images = jails.docker_client().images

    def move(name: str) -> str:
        image = images.get(IMAGES[name])
        assert image.tag(*_TAG.split(":"))
        return str(image.id)

    yield move
    images.remove(_TAG, noprune=True)


def require_full_image() -> None:
    """Skip where only the small image is."""
    from docker.errors import ImageNotFound

    try:
        jails.docker_client().images.get(IMAGES["full"])
    except ImageNotFound:
        pytest.skip(f"Docker has no image {IMAGES['full']} (make full-image builds it)")


@pytest.mark.docker
def test_c22_an_image_is_known_by_its_digest_and_a_tag_that_moves_changes_nothing(moving_tag: Any, cases: Path) -> None:
    require_full_image()
    folder = cases / "C22"
    suite = report_files.suite(read(folder / "tests.json"), limits({}))
    numpy, plain = (report_files.program(folder, name) for name in ("usesnumpy.py", "py312.py"))
    first_id = moving_tag("full")
    with Judge("docker", jobs=1, image=_TAG) as first:
        assert [first.judge(program, suite).verdict for program in (numpy, plain)] == [Verdict.ACCEPTED] * 2
        second_id = moving_tag("slim")
        jails.end_jail(jails.running_jails(first)[0])
        assert first.judge(numpy, suite).verdict is Verdict.ACCEPTED  # in another container, of the same image
        with Judge("docker", jobs=1, image=_TAG) as second:
            assert second.judge(plain, suite).verdict is Verdict.ACCEPTED
            with pytest.raises(NotInSandbox, match="needs numpy"):
                second.judge(numpy, suite)
    assert first_id != second_id
    environments = [first.environment, second.environment]
    assert [environment.details["image"] for environment in environments] == [first_id, second_id]
    assert len({environment.digest for environment in environments}) == 2
    assert all("profile" in environment.details["languages"]["python3"] for environment in environments)
    assert ["numpy" in environment.details["packages"] for environment in environments] == [True, False]


def test_c22_a_module_that_is_nowhere_is_named(judge: Judge) -> None:
    program = Program("import numpy_of_another_world\nprint(6)")
    outcome = judge.judge(program, report_files.suite([{"in": "", "out": "6\n"}], limits({})))
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert "No module named 'numpy_of_another_world'" in outcome.detail


@pytest.mark.bubblewrap
def test_c22_bubblewrap_has_no_image_to_move() -> None:
    with pytest.raises(SandboxUnavailable, match="no image"):
        Judge("bubblewrap", image=_TAG)
    with Judge("bubblewrap", jobs=1) as judge:
        assert judge.environment.details["system_python"] == judge.environment.details["python"]
