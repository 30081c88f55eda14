"""``live doctor``: what it finds, what it says is missing, and its exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox import EXECUTORS, languages
from sandbox.inspection import Docker, ExecutorState, Image, LanguageState, find_lacks
from tests.live.command import Live

SLIM = "livecut-sandbox:0.1"


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a daemon and without bubblewrap."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.fixture
def only_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Docker executor alone, with the slim image."""
    monkeypatch.setenv("LIVE_SANDBOX_IMAGE", SLIM)
    for name in list(EXECUTORS):
        if name != "docker":
            monkeypatch.delitem(EXECUTORS, name)


def test_where_nothing_can_run_programs_it_says_what_to_do(live: Live, nothing_here: None) -> None:
    ended = live("doctor")
    assert ended.code == 4
    assert "Docker does not answer at unix:///nowhere/docker.sock: No such file or directory" in ended.out
    missing = ended.out.partition("missing:")[2].splitlines()
    assert "    what to do: start Docker (systemctl start docker), or use --executor bubblewrap" in missing
    assert "    what to do: apt-get install bubblewrap" in missing
    assert len([line for line in missing if "what to do" in line]) == 2  # each thing once, not for each executor


def test_the_document_says_the_same(live: Live, nothing_here: None) -> None:
    ended = live("doctor", "--json")
    assert ended.code == 4
    found = ended.document
    assert found["docker"]["reachable"] is False
    assert found["bubblewrap"] is None
    assert [state["name"] for state in found["executors"]] == list(EXECUTORS)
    assert [state["works"] for state in found["executors"]] == [False] * len(EXECUTORS)
    assert found["machine"]["cores"] >= found["machine"]["usable_cores"] >= 1
    assert found["machine"]["memory_bytes"] > 2**28
    assert found["machine"]["kernel"].startswith("Linux ")


@pytest.mark.docker
def test_what_works_is_shown_with_its_walls_and_languages(live: Live, only_docker: None) -> None:
    ended = live("doctor", "--json", "--full")
    assert ended.code == 0
    (state,) = ended.document["executors"]
    assert state["works"] is True
    assert state["start_s"] > 0
    assert "seccomp filter" in state["isolation"]["layers"]
    assert state["isolation"]["name"] in ("full", "no-landlock")
    python = state["languages"]["python3"]
    assert python["works"] is True
    assert python["version"] == state["python"]
    assert python["version"].startswith("3.")
    images = {image["name"]: image for image in ended.document["docker"]["images"]}
    assert set(images) == {"slim", "full"}
    assert images["slim"]["id"].startswith("sha256:")


@pytest.mark.docker
def test_the_text_has_a_line_for_each_thing(live: Live, only_docker: None) -> None:
    ended = live("doctor")
    assert ended.code == 0
    lines = ended.out.splitlines()
    starts = [line.split()[0] for line in lines if line.strip()]
    for word in ("machine", "Docker", "image", "bubblewrap", "executor", "docker", "language", "python3"):
        assert word in starts
    (row,) = [line for line in lines if line.startswith("docker ")]
    assert "seccomp filter" in row


@pytest.mark.docker
def test_an_executor_that_judges_wrongly_does_not_work(
    live: Live, only_docker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sandbox.languages import python3

    wrong = replace(languages.find("python3"), self_test="print(input())\n")
    monkeypatch.setattr(python3, "LANGUAGE", wrong)
    ended = live("doctor", "--json")
    assert ended.code == 4
    (state,) = ended.document["executors"]
    assert state["works"] is False
    assert "wrong_answer" in state["problem"]
    assert "expected '42'" in state["problem"]


# --- what is missing ---------------------------------------------------------------------------------------------

ALL = {name: LanguageState("1") for name in languages.names()}
WORKS = ExecutorState("docker", languages=ALL)
IMAGES = (Image("slim", "s:1", "sha256:1"), Image("full", "f:1", "sha256:2"))
DOCKER = Docker("unix:///run/docker.sock", "28.0", ("runc",), IMAGES)


def test_nothing_is_missing_where_all_is_there() -> None:
    assert find_lacks(DOCKER, "0.8.0", (WORKS, replace(WORKS, name="bubblewrap"))) == ()


def test_each_missing_thing_has_its_remedy() -> None:
    docker = replace(DOCKER, images=(IMAGES[0], Image("full", "f:1", None)))
    only_python = replace(WORKS, languages={"python3": LanguageState("3.11.2", True, 0.1)})
    gvisor = ExecutorState("gvisor", "Docker has no runtime runsc", "install gVisor")
    lacks = {lack.what: lack.remedy for lack in find_lacks(docker, None, (only_python, gvisor))}
    others = ", ".join(name for name in languages.names() if name != "python3")
    assert lacks == {
        "the image f:1 (full)": "make full-image",
        "bubblewrap": "apt-get install bubblewrap",
        "executor gvisor: Docker has no runtime runsc": "install gVisor",
        f"languages that no executor has: {others}": "make full-image",
    }
