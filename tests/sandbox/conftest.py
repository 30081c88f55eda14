"""A judge for each executor, shared by all tests of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import EXECUTORS as EXECUTOR_TABLE
from sandbox import Judge, SandboxUnavailable
from tests.sandbox import host
from tests.sandbox.case_files import JudgeCase
from tests.sandbox.jails import close_docker_client

JOBS = 2
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker, id="docker"),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap, id="bubblewrap"),
]

# The others, for the tests that are about them: a module has its own fixture `executor` with these.
OTHER_EXECUTORS = [
    pytest.param("docker-streamed", marks=pytest.mark.docker, id="docker-streamed"),
    pytest.param("docker-unprivileged", marks=pytest.mark.docker, id="docker-unprivileged"),
    pytest.param("gvisor", marks=[pytest.mark.docker, pytest.mark.gvisor], id="gvisor"),
]


@pytest.fixture(scope="session", autouse=True)
def _docker_client() -> Iterator[None]:
    """Close the connection to the daemon that tests look through."""
    yield
    close_docker_client()


@pytest.fixture(scope="session", autouse=True)
def _streamed_executor() -> Iterator[None]:
    """One more executor, which the product chooses by itself where the daemon is on another machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(EXECUTOR_TABLE, "docker-streamed", "tests.sandbox.jails:StreamedDockerLauncher")
        yield


@pytest.fixture(scope="session", params=EXECUTORS)
def executor(request: pytest.FixtureRequest) -> str:
    """The name of each executor in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def judge(executor: str) -> Iterator[Judge]:
    """A judge with two workers, on each executor."""
    with _started(executor, JOBS) as judge:
        yield judge


@pytest.fixture
def own_judge(executor: str) -> Iterator[Judge]:
    """A judge with one worker for a test that breaks its jails, on each executor."""
    with _started(executor, 1) as judge:
        yield judge


@pytest.fixture(scope="module")
def lone_judge(executor: str) -> Iterator[Judge]:
    """A judge with one worker, so that what follows a program is judged where it was, on each executor."""
    with _started(executor, 1) as judge:
        yield judge


@pytest.fixture(scope="session")
def cases(shared_data: Path) -> Path:
    """The folder of the report cases."""
    return shared_data.parent / "reports" / "cases"


@pytest.fixture(autouse=True)
def _host_as_before(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that is given a hostile case must leave this machine as it was."""
    call = getattr(request.node, "callspec", None)
    case = call.params.get("case") if call is not None else None
    if not isinstance(case, JudgeCase) or not case.is_hostile:
        yield
        return
    before = host.look()
    yield
    assert host.differences(before) == []


def _started(executor: str, jobs: int) -> Judge:
    try:
        return Judge(executor, jobs=jobs)
    except SandboxUnavailable as error:
        pytest.skip(f"{error.message} ({error.hint})")
