"""What holds for every format of others: the same bytes from the same edition, nothing private, safe names."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from eval.exports import all_exports
from eval.publishing.publication import Published
from tests.eval.editions.built import PRIVATE_ID, invented, published
from tests.eval.exports.small_editions import FORMATS, by_path, duel, empty, odd, odd_on_a_site, strict_json

_BY_MODULE = pytest.mark.parametrize("module", FORMATS, ids=lambda module: module.NAME)

_PRINTS_DIGESTS = """
import hashlib
from tests.eval.exports.small_editions import FORMATS, odd
for module in FORMATS:
    for file in module.files(odd()):
        print(file.path, hashlib.sha256(file.body).hexdigest())
"""


@_BY_MODULE
def test_each_is_found_by_its_file_name(module: ModuleType) -> None:
    assert module.__name__ == f"eval.exports.{module.NAME}"
    found = all_exports()[module.NAME]
    assert found.files is module.files
    assert found.description == module.DESCRIPTION != ""


def test_no_two_write_the_same_file_and_paths_are_safe() -> None:
    paths = [path for module in FORMATS for path in by_path(module.files(odd()))]
    assert len({path.casefold() for path in paths}) == len(paths)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*", path) for path in paths)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_same_edition_gives_the_same_bytes_in_another_process(seed: str, root: Path) -> None:
    here = [
        f"{file.path} {hashlib.sha256(file.body).hexdigest()}" for module in FORMATS for file in module.files(odd())
    ]
    there = subprocess.run(
        [sys.executable, "-c", _PRINTS_DIGESTS],
        env={**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    assert there.stdout.splitlines() == here


@_BY_MODULE
def test_the_order_of_runs_and_of_their_settings_changes_nothing(module: ModuleType) -> None:
    for edition in (odd(), published(duel())):
        turned = [
            replace(run, conditions=dict(reversed(list(run.conditions.items()))))
            for run in reversed(edition.edition.runs)
        ]
        other = replace(edition, edition=replace(edition.edition, runs=tuple(turned)))
        assert by_path(module.files(other)) == by_path(module.files(edition))


@_BY_MODULE
def test_nothing_private_is_named(module: ModuleType) -> None:
    hidden = (PRIVATE_ID, "Secret Garden")
    assert any(PRIVATE_ID in one.written_id for one in invented().edition.problems)
    for path, body in by_path(module.files(odd_on_a_site())).items():
        assert not any(word in body.decode() or word in path for word in hidden), path


@_BY_MODULE
def test_an_edition_without_runs_is_no_fault(module: ModuleType) -> None:
    for path, body in by_path(module.files(published(empty()))).items():
        assert body.endswith((b"\n", b">")), path
        if path.endswith(".json"):
            strict_json(body)


@_BY_MODULE
def test_json_is_strict(module: ModuleType) -> None:
    for path, body in by_path(module.files(odd())).items():
        body.decode("utf-8")
        if path.endswith(".json"):
            strict_json(body)


@pytest.mark.shared
@_BY_MODULE
def test_the_recorded_board_is_written_in_every_format(module: ModuleType, recorded_edition: Published) -> None:
    on_the_hub = replace(recorded_edition, base_url="https://huggingface.co/datasets/acme/live-board/resolve/main/")
    files = by_path(module.files(on_the_hub if module.NAME == "eval_results" else recorded_edition))
    assert files
    slugs = recorded_edition.run_slugs.values()
    if module.NAME in {"badges", "eval_results", "every_eval_ever", "lm_eval"}:
        assert sum(Path(path).stem in slugs for path in files) == 16
