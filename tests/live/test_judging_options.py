"""What programs are run in: options before ``live.toml``, and what can go with what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from live.commands.judge import GraderName, JudgingOptions
from live.session import Session
from tests.live.command import Live
from tests.live.test_commands import PROBLEM, write_lines

SOLUTION = {"id": "n1", "code": "print(3)\n"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What the sandbox's judge is asked for, in a folder of its own."""
    found: dict[str, Any] = {}

    class Judge:
        def __init__(self, executor: str, jobs: int | None, **rest: Any) -> None:
            found.update(executor=executor, jobs=jobs, **rest)

    monkeypatch.setattr("sandbox.Judge", Judge)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return found


@pytest.mark.parametrize(
    ("file", "options", "executor", "image"),
    [
        ("", {}, "auto", None),
        ('executor = "docker"', {}, "docker", None),
        ('executor = "docker"', {"executor": "bubblewrap"}, "bubblewrap", None),
        ("", {"image": "slim", "executor": "docker"}, "docker", "slim"),
        # Only Docker has images, so that is what is meant.
        ("", {"image": "slim"}, "docker", "slim"),
        ('image = "full"', {}, "docker", "full"),
        ('image = "full"', {"image": "slim"}, "docker", "slim"),
        ('image = "full"\nexecutor = "gvisor"', {}, "gvisor", "full"),
        # The file's image is for where Docker is used; one that was asked for is not left out silently.
        ('image = "full"', {"executor": "bubblewrap"}, "bubblewrap", None),
        ("", {"image": "slim", "executor": "bubblewrap"}, "bubblewrap", "slim"),
    ],
)
def test_options_come_before_the_file(
    asked: dict[str, Any], tmp_path: Path, file: str, options: dict[str, Any], executor: str, image: str | None
) -> None:
    (tmp_path / "live.toml").write_text(file)
    JudgingOptions(**options).open_judge(Session(db=None, models=None, quiet=True))
    assert (asked["executor"], asked["image"], asked["jobs"]) == (executor, image, None)


def test_jobs_and_grader_are_passed_on(asked: dict[str, Any]) -> None:
    options = JudgingOptions(jobs=3, grader=GraderName.LIVECODEBENCH)
    options.open_judge(Session(db=None, models=None, quiet=True))
    assert (asked["jobs"], str(asked["grader"])) == (3, "livecodebench")


def test_an_image_in_the_file_that_is_no_text(live: Live, tmp_path: Path) -> None:
    (tmp_path / "live.toml").write_text("image = 3\n")
    ended = live("judge")
    assert ended.code == 2
    assert "live.toml: image must be a text" in ended.err


@pytest.mark.parametrize("command", [["judge"], ["eval", "--after-cutoff"], ["run", "s.py", "--problem", "n1"]])
def test_every_command_that_judges_takes_an_image(live: Live, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "s.py").write_text("print(3)\n")
    entry = '[[model]]\nname = "nova-1"\n[[model.claim]]\nkind = "training_data"\ncutoff = "2024-10"\n'
    (tmp_path / "models.toml").write_text(entry)
    (tmp_path / "live.toml").write_text('models = ["models.toml"]\n')
    assert live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl").code == 0
    path = write_lines(tmp_path / "s.jsonl", SOLUTION)
    assert live("import", "solutions", path, "-f", "jsonl", "--model", "nova-1").code == 0
    ended = live(*command, "--executor", "bubblewrap", "--image", "slim")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.splitlines() == [
        "error: bubblewrap runs programs in no image",
        "  what to do: use --executor docker",
    ]


@pytest.mark.docker
def test_an_image_that_is_not_there(live: Live, tmp_path: Path) -> None:
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    ended = live("judge", "--image", "livecut-no-such-image:0")
    assert ended.code == 4
    what, remedy = ended.err.splitlines()
    assert "livecut-no-such-image:0" in what
    assert remedy.startswith("  what to do: ")
