"""A judge for each executor, shared by all tests of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import Judge, SandboxUnavailable
from tests.sandbox.jails import close_docker_client

JOBS = 2
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker, id="docker"),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap, id="bubblewrap"),
]


@pytest.fixture(scope="session", autouse=True)
def _docker_client() -> Iterator[None]:
    """Close the connection to the daemon that tests look through."""
    yield
    close_docker_client()


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


def _started(executor: str, jobs: int) -> Judge:
    try:
        return Judge(executor, jobs=jobs)
    except SandboxUnavailable as error:
        pytest.skip(f"{error.message} ({error.hint})")
