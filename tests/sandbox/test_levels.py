"""Levels of isolation: which layers make which, what is refused, and what a jail says of itself."""

from __future__ import annotations

import ctypes

import pytest

from sandbox import Judge, NotIsolated, Program, Suite, Test, Verdict
from sandbox.agent.wire import Hello
from sandbox.agent_files import agent_files
from sandbox.levels import level_of
from tests.sandbox import jails

# SANDBOX.md, end of section 6, and what a kernel may lack.
LEVELS = [
    # user switch, Landlock ABI, seccomp, own kernel: name, renewed for each solution
    (True, 7, True, "", "full", False),
    (True, 1, True, "", "full", False),
    (False, 7, True, "", "one-user", False),
    (True, 0, True, "", "no-landlock", True),
    (True, 0, True, "gVisor", "gvisor", False),
]


def hello(user_switch: bool, landlock_abi: int, seccomp: bool) -> Hello:
    return Hello("3.11.2", "x86_64", user_switch, landlock_abi, seccomp, {})


@pytest.mark.parametrize(("user_switch", "abi", "seccomp", "kernel", "name", "renews"), LEVELS)
def test_layers_make_a_level(user_switch: bool, abi: int, seccomp: bool, kernel: str, name: str, renews: bool) -> None:
    level = level_of(hello(user_switch, abi, seccomp), kernel)
    assert level.name == name
    assert level.renew_each_solution is renews
    assert ("a user for each test" in level.layers) is user_switch
    assert (f"Landlock (ABI {abi})" in level.layers) is (abi > 0)
    assert "seccomp filter" in level.layers
    assert level.as_dict()["layers"] == list(level.layers)


@pytest.mark.parametrize("kernel", ["", "gVisor"])
@pytest.mark.parametrize(
    ("user_switch", "abi", "seccomp", "lacks"),
    [
        (True, 7, False, "seccomp"),
        (False, 0, True, "neither switch users nor use Landlock"),
        (False, 0, False, "seccomp"),
    ],
)
def test_too_few_layers_are_refused(user_switch: bool, abi: int, seccomp: bool, lacks: str, kernel: str) -> None:
    with pytest.raises(NotIsolated, match=lacks) as caught:
        level_of(hello(user_switch, abi, seccomp), kernel)
    assert caught.value.hint


def test_what_the_agent_says_comes_out_as_it_went_in() -> None:
    said = Hello("3.11.2", "aarch64", True, 0, True, {"numpy": "1.24.2", "scipy": "1.10.1"})
    assert Hello.unpack(said.pack()) == said
    assert Hello.unpack(said._replace(packages={}).pack()).packages == {}


# --- real jails --------------------------------------------------------------------------------------------------

# What is changed in the agent so that a call fails as on a kernel without the layer.
WITHOUT_LANDLOCK = ("_LANDLOCK_CREATE, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT = 444,", "= 9999,")
WITHOUT_SECCOMP = ("_SECCOMP_MODE_FILTER = 2", "= 77")
SUITE = Suite((Test("1", b"1 2\n", b"3\n"),))
ADD = Program("print(sum(map(int, input().split())))")


def take_away(monkeypatch: pytest.MonkeyPatch, *layers: tuple[str, str]) -> None:
    """Let jails start an agent that meets a kernel without these layers."""
    files = agent_files()
    text = files["isolation.py"].decode()
    for call, other in layers:
        assert call in text
        text = text.replace(call, call.partition("=")[0] + other)
    files["isolation.py"] = text.encode()
    monkeypatch.setattr("sandbox.mounts.agent_files", lambda: files)


def landlock_is_here() -> bool:
    """Whether this kernel has Landlock: landlock_create_ruleset(2) says a version."""
    return int(ctypes.CDLL(None).syscall(444, None, 0, 1)) > 0


@pytest.mark.docker
@pytest.mark.parametrize(("executor_name", "level"), [("docker", "full"), ("docker-unprivileged", "one-user")])
def test_a_jail_says_its_level(executor_name: str, level: str) -> None:
    if not landlock_is_here():
        pytest.skip("this kernel has no Landlock")
    with Judge(executor_name, jobs=1) as judge:
        isolation = judge.environment.details["isolation"]
        assert isolation["name"] == level
        assert isolation["seccomp"] is True
        assert isolation["user_switch"] is (level == "full")
        assert isolation["renew_each_solution"] is False
        assert judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED


@pytest.mark.docker
def test_without_landlock_each_solution_has_a_jail_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    take_away(monkeypatch, WITHOUT_LANDLOCK)
    before = len(jails.left_by(jails.OWN_PID))
    with Judge("docker", jobs=1) as judge:
        assert judge.environment.details["isolation"]["name"] == "no-landlock"
        for _ in range(2):
            assert judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED
            assert jails.running_jails(judge) == []
            assert len(jails.left_by(jails.OWN_PID)) == before


@pytest.mark.docker
@pytest.mark.gvisor
def test_gvisor_is_a_level_of_its_own() -> None:
    with Judge("gvisor", jobs=1) as judge:
        isolation = judge.environment.details["isolation"]
        assert isolation["name"] == "gvisor"
        assert isolation["user_switch"] is True
        assert judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED


@pytest.mark.docker
@pytest.mark.parametrize(
    ("executor_name", "missing"),
    [
        ("docker-unprivileged", [WITHOUT_LANDLOCK]),
        ("docker-unprivileged", [WITHOUT_SECCOMP]),
        ("docker", [WITHOUT_SECCOMP]),
        ("docker", [WITHOUT_LANDLOCK, WITHOUT_SECCOMP]),
    ],
)
def test_a_jail_with_too_few_layers_runs_nothing(
    monkeypatch: pytest.MonkeyPatch, executor_name: str, missing: list[tuple[str, str]]
) -> None:
    take_away(monkeypatch, *missing)
    before = len(jails.left_by(jails.OWN_PID))
    with pytest.raises(NotIsolated):
        Judge(executor_name, jobs=1)
    assert len(jails.left_by(jails.OWN_PID)) == before


@pytest.mark.bubblewrap
def test_bubblewrap_without_landlock_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    take_away(monkeypatch, WITHOUT_LANDLOCK)
    with pytest.raises(NotIsolated, match="neither switch users nor use Landlock"):
        Judge("bubblewrap", jobs=1)


# Each tries what one layer forbids, and says whether it could.
FORBIDDEN = {
    "an ordinary user": "import os\nprint(os.getuid() < 10_000)",
    "Landlock": "import os\ntry:\n    os.listdir('/proc')\n    print(True)\nexcept OSError:\n    print(False)",
    "seccomp": "import socket\ntry:\n    socket.socket().close()\n    print(True)\nexcept OSError:\n    print(False)",
}


@pytest.mark.docker
@pytest.mark.parametrize("executor_name", ["docker", "docker-unprivileged"])
def test_each_layer_is_on_a_test(executor_name: str) -> None:
    if not landlock_is_here():
        pytest.skip("this kernel has no Landlock")
    suite = Suite((Test("1", b"", b"False\n"),))
    with Judge(executor_name, jobs=1) as judge:
        for layer, source in FORBIDDEN.items():
            outcome = judge.judge(Program(source), suite)
            assert outcome.verdict is Verdict.ACCEPTED, (layer, outcome)
