"""The registry of models: what it refuses, how names are resolved, and what it ships."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from eval.models import (
    CutoffStatus,
    ModelAmbiguous,
    ModelEntry,
    NotScored,
    RegistryError,
    UsedCutoff,
    load_registry,
    usable_cutoff,
)
from tests.eval.facts import model, registry


def write(folder: Path, text: str, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def one(folder: Path, text: str) -> ModelEntry:
    (entry,) = load_registry([write(folder, "[[model]]\n" + text)], shipped=None).entries
    return entry


FULL = """
name = "example-2024-09-12"
aliases = [{name = "example", from = 2024-09-12, to = "2025-01-31"}]
provider = "Example"
cutoff = "2023-10"
cutoff_status = "stated"
cutoff_source = "https://example.org"
cutoff_looked_up = 2026-05-04
release_date = 2024-09-12
web_access = false
notes = "..."
"""


def test_an_entry_with_every_field(tmp_path: Path) -> None:
    entry = one(tmp_path, FULL)
    assert (entry.name, entry.provider, entry.cutoff_status) == ("example-2024-09-12", "Example", CutoffStatus.STATED)
    assert entry.cutoff is not None
    assert (entry.cutoff.as_written, entry.cutoff_looked_up) == ("2023-10", date(2026, 5, 4))
    assert entry.release is not None
    assert entry.release.first == date(2024, 9, 12)
    assert entry.aliases[0].end == date(2025, 1, 31)


@pytest.mark.parametrize(
    ("text", "said", "to_do"),
    [
        ('cutoff = "2023-10"', "has no name", "name ="),
        ('name = "a"\ncutof = "2023-10"', 'unknown key "cutof"', "cutoff"),
        ('name = "a"\ncutoff = "soon"\ncutoff_status = "stated"', 'cannot read the date "soon"', "2023-09"),
        ('name = "a"\ncutoff = "2023-10"', "no cutoff_status", "estimated"),
        ('name = "a"\ncutoff = "2023-10"\ncutoff_status = "sure"', "'sure'", "stated"),
        ('name = "a"\ncutoff = 1.5\ncutoff_status = "stated"', "must be a date", "2023-10"),
        ('name = "a"\nweb_access = "no"', "web_access must be true or false", ""),
        ('name = "a"\naliases = ["b"]', "cannot read the alias 'b'", "aliases ="),
        ('name = "a"\naliases = [{name = "b", from = 2024-05-01, to = 2024-05-01}]', "not after", "aliases ="),
        ('name = "a"\nnotes = 3', "notes must be text", "quotes"),
        ('name = "a"\ncutoff_looked_up = "2026-05"', "must be a day", "2026-05-04"),
        ("name = ", "not valid TOML", "quotes"),
        (
            'name = "a"\ncutoff = "2025-01-31"\ncutoff_status = "stated"\nrelease_date = "2024-12-01"',
            "later than the release",
            "check both dates",
        ),
        (
            'name = "a"\ncutoff = "2031-01"\ncutoff_status = "stated"\ncutoff_looked_up = 2026-05-04',
            "later than 2026-05-04",
            "check both dates",
        ),
    ],
)
def test_a_wrong_entry_is_named_with_its_file(tmp_path: Path, text: str, said: str, to_do: str) -> None:
    with pytest.raises(RegistryError) as error:
        one(tmp_path, text)
    assert "own.toml" in error.value.message
    assert said in error.value.message
    assert to_do in error.value.hint
    assert "\n" not in error.value.message


def test_a_missing_file_and_a_file_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="cannot be read"):
        load_registry([tmp_path / "absent.toml"], shipped=None)
    with pytest.raises(RegistryError, match=r"something else than \[\[model\]\] tables"):
        load_registry([write(tmp_path, 'title = "x"')], shipped=None)


def test_two_models_under_one_name_name_both_files(tmp_path: Path) -> None:
    first = write(tmp_path, '[[model]]\nname = "Same"', "first.toml")
    second = write(tmp_path, '[[model]]\nname = "same"', "second.toml")
    with pytest.raises(RegistryError) as error:
        load_registry([first, second], shipped=None)
    assert "first.toml" in error.value.message
    assert "second.toml" in error.value.message
    with pytest.raises(RegistryError, match=r"own\.toml"):
        load_registry([write(tmp_path, '[[model]]\nname = "o1-mini-2024-09-12"')])


ALIASED = """
[[model]]
name = "a-1"
aliases = [{{name = "a", from = 2024-01-01, to = {end}}}]
[[model]]
name = "a-2"
aliases = [{{name = "a", from = 2024-06-01}}]
"""


def test_an_alias_follows_its_periods(tmp_path: Path) -> None:
    found = load_registry([write(tmp_path, ALIASED.format(end="2024-06-01"))], shipped=None)
    on_last_day = found.resolve("A", date(2024, 5, 31))
    on_first_day = found.resolve("a", date(2024, 6, 1))
    assert on_last_day is not None
    assert on_first_day is not None
    assert (on_last_day.name, on_first_day.name) == ("a-1", "a-2")
    assert found.resolve("a", date(2023, 12, 31)) is None
    with pytest.raises(ModelAmbiguous, match=r"a-1 .* a-2"):
        found.resolve("a")


def test_aliases_must_not_overlap_nor_hide_a_model(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match='two models are called "a": a-1 and a-2'):
        load_registry([write(tmp_path, ALIASED.format(end="2024-06-02"))], shipped=None)
    text = '[[model]]\nname = "a"\n[[model]]\nname = "b"\naliases = [{name = "A"}]'
    with pytest.raises(RegistryError, match='two models are called "A"'):
        load_registry([write(tmp_path, text)], shipped=None)


def test_an_alias_that_has_ended_needs_a_day(tmp_path: Path) -> None:
    text = '[[model]]\nname = "a-1"\naliases = [{name = "a", to = 2024-06-01}]'
    with pytest.raises(ModelAmbiguous):
        load_registry([write(tmp_path, text)], shipped=None).resolve("a")


def test_unknown_names_bring_suggestions() -> None:
    found = load_registry()
    assert found.resolve("o1-mni-2024-09-12") is None
    assert found.unknown_model("o1-mni-2024-09-12").startswith(
        'unknown model "o1-mni-2024-09-12"; did you mean o1-mini-2024-09-12'
    )
    assert found.unknown_model("zzz") == 'unknown model "zzz"'


def test_the_release_date_stands_in_and_then_nothing_does(tmp_path: Path) -> None:
    released = usable_cutoff(one(tmp_path, 'name = "a"\ncutoff = "unknown"\nrelease_date = "2025-03-01"'))
    assert isinstance(released, UsedCutoff)
    assert (released.status, released.cutoff.as_written) == (CutoffStatus.ASSUMED, "2025-03-01")
    neither = usable_cutoff(one(tmp_path, 'name = "a"'))
    assert neither == NotScored("a", "no cut-off and no release date is known")
    online = usable_cutoff(one(tmp_path, FULL.replace("web_access = false", "web_access = true")))
    assert isinstance(online, NotScored)
    assert "web access" in online.reason


def test_placeholders_are_pointed_out(tmp_path: Path) -> None:
    text = '[[model]]\nname = "{}"\ncutoff = "2023-01-01"\ncutoff_status = "estimated"\nrelease_date = "2024-07-23"\n'
    found = load_registry([write(tmp_path, "".join(text.format(name) for name in "abcde"))], shipped=None)
    assert "a: the cut-off 2023-01-01 is 18 months before the release and has no source" in found.warnings
    assert "5 models share the cut-off 2023-01-01 without a source: it looks like a placeholder" in found.warnings
    assert registry(model("a", "2023-01-01")).warnings == ()


def test_every_shipped_cutoff_has_its_source_and_day() -> None:
    entries = load_registry().entries
    assert len(entries) >= 30
    for entry in entries:
        assert entry.provider, entry.name
        assert entry.cutoff or entry.release, entry.name
        if entry.cutoff is not None:
            assert entry.cutoff_source is not None, entry.name
            assert entry.cutoff_source.startswith("https://"), entry.name
            assert entry.cutoff_looked_up is not None, entry.name
        elif entry.release is not None:
            assert entry.release_source, entry.name


def test_training_data_counts_where_the_provider_names_two_dates() -> None:
    entry = load_registry().resolve("claude-3-7-sonnet-20250219")
    assert entry is not None
    assert entry.cutoff is not None
    assert entry.cutoff.as_written == "2024.11"


@pytest.mark.shared
def test_every_recorded_model_is_shipped(shared_data: Path) -> None:
    found = load_registry()
    recorded = json.loads((shared_data / "livecodebench" / "models.json").read_text(encoding="utf-8"))
    plain = [row["model"] for row in recorded if "+" not in row["model"]]
    assert len(plain) == 10
    assert [name for name in plain if found.resolve(name) is None] == []
