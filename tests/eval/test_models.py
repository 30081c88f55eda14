"""The registry of models: what its files may hold, how names are resolved, and what it ships."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from eval.claims import ClaimKind
from eval.eligibility import NotScored, UsedCutoff, usable_cutoff
from eval.models import ModelAmbiguous, ModelEntry, RegistryError
from eval.registry_files import load_registry
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
release_date = 2024-09-12
web_access = false
notes = "..."

[[model.claim]]
kind = "training_data"
cutoff = "2023-10"
by = "Example"
source = "https://example.org"
looked_up = 2026-05-04

[[model.claim]]
kind = "estimate"
cutoff = "2023-04-30"
superseded = "2024-06-06"
"""
CLAIM = 'name = "a"\n[[model.claim]]\n'


def test_an_entry_with_every_field(tmp_path: Path) -> None:
    entry = one(tmp_path, FULL)
    assert (entry.name, entry.provider, entry.web_access) == ("example-2024-09-12", "Example", False)
    training, estimate = entry.claims
    assert (training.kind, training.cutoff.as_written, training.by) == (ClaimKind.TRAINING_DATA, "2023-10", "Example")
    assert (training.source, training.looked_up) == ("https://example.org", date(2026, 5, 4))
    assert (estimate.kind, estimate.superseded) == (ClaimKind.ESTIMATE, date(2024, 6, 6))
    assert entry.release is not None
    assert entry.release.first == date(2024, 9, 12)
    assert entry.aliases[0].end == date(2025, 1, 31)


@pytest.mark.parametrize(
    ("text", "said", "to_do"),
    [
        ('provider = "x"', "has no name", "name ="),
        ('name = "a"\nrelease = "2023-10"', 'unknown key "release"', "release_date"),
        (CLAIM + 'kind = "estimate"\ncutof = "2023-10"', 'unknown key "cutof"', "cutoff"),
        (CLAIM + 'kind = "estimate"\ncutoff = "soon"', 'cannot read the date "soon"', "2023-09"),
        (CLAIM + 'kind = "estimate"\n', "has no cut-off", "leave the claim out"),
        (CLAIM + 'cutoff = "2023-10"', "has no kind", "training_data"),
        (CLAIM + 'kind = "stated"\ncutoff = "2023-10"', "kind cannot be 'stated'", "reliable_knowledge"),
        (CLAIM + 'kind = "estimate"\ncutoff = 1.5', "must be a date", "2023-10"),
        (CLAIM + 'kind = "estimate"\ncutoff = "2023"\nlooked_up = "2026-05"', "must be a day", "2026-05-04"),
        ('name = "a"\nclaim = "2023-10"', "its claims are no tables", "[[model.claim]]"),
        ('name = "a"\nweb_access = "no"', "web_access must be true or false", "true"),
        ('name = "a"\nrolling = 1', "rolling must be true or false", "true"),
        ('name = "a"\nbase_models = "b"', "base_models must be a list of names", "base_models ="),
        ('name = "a"\naliases = ["b"]', "cannot read the alias 'b'", "aliases ="),
        ('name = "a"\naliases = [{name = "b", from = 2024-05-01, to = 2024-05-01}]', "not after", "aliases ="),
        ('name = "a"\nnotes = 3', "notes must be text", "quotes"),
        ("name = ", "not valid TOML", "quotes"),
        (
            CLAIM + 'kind = "estimate"\ncutoff = "2031-01"\nlooked_up = 2026-05-04',
            "later than 2026-05-04",
            "check both dates",
        ),
        (
            CLAIM + 'kind = "estimate"\ncutoff = "2021"\nlooked_up = 2026-05-04\nsuperseded = 2026-05-03',
            "superseded on 2026-05-03, before 2026-05-04",
            "check both dates",
        ),
        ('name = "a"\nbase_models = ["b"]', 'its base model "b" is in no file', "add an entry"),
    ],
)
def test_a_wrong_entry_is_named_with_its_file(tmp_path: Path, text: str, said: str, to_do: str) -> None:
    with pytest.raises(RegistryError) as error:
        one(tmp_path, text)
    assert "own.toml" in error.value.message
    assert said in error.value.message
    assert to_do in error.value.hint
    assert "\n" not in error.value.message


@pytest.mark.parametrize(("status", "kind"), [("stated", "training_data"), ("estimated", "estimate")])
def test_an_entry_without_claims_of_the_older_form_is_shown_the_new_one(tmp_path: Path, status: str, kind: str) -> None:
    text = f'name = "a"\ncutoff = "2023-10"\ncutoff_status = "{status}"\ncutoff_source = "https://example.org"\n'
    with pytest.raises(RegistryError) as error:
        one(tmp_path, text + "cutoff_looked_up = 2026-05-04")
    assert 'model 1 "a"' in error.value.message
    new = f'[[model.claim]] kind = "{kind}" cutoff = "2023-10" source = "https://example.org" looked_up = 2026-05-04'
    assert new in error.value.hint


def test_the_first_or_last_day_of_a_month_stands_for_the_month(tmp_path: Path) -> None:
    for day in ("2024-06-01", "2024-06-30", "2024.06.15"):
        (found,) = one(tmp_path, CLAIM + f'kind = "training_data"\ncutoff = "{day}"').claims
        assert (found.cutoff.first, found.cutoff.last) == (date(2024, 6, 1), date(2024, 6, 30)), day
    (meant,) = one(tmp_path, CLAIM + 'kind = "training_data"\ncutoff = "1 June 2024"').claims
    assert meant.cutoff.last == date(2024, 6, 1)


def test_a_missing_file_and_a_file_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="cannot be read"):
        load_registry([tmp_path / "absent.toml"], shipped=None)
    with pytest.raises(RegistryError, match=r"something else than \[\[model\]\] tables"):
        load_registry([write(tmp_path, 'title = "x"')], shipped=None)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(RegistryError, match="not UTF-8"):
        load_registry([tmp_path / "binary.toml"], shipped=None)


def test_one_file_has_each_name_once(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r'two models are called "same": Same and same, in .*own\.toml'):
        load_registry([write(tmp_path, '[[model]]\nname = "Same"\n[[model]]\nname = "same"')], shipped=None)


def test_a_model_of_several_files_has_the_claims_of_all(tmp_path: Path) -> None:
    text = (
        '[[model]]\nname = "{}"\nrelease_date = "{}"\n[[model.claim]]\nkind = "training_data"\ncutoff = "{}"\n'
        '[[model.claim]]\nkind = "estimate"\ncutoff = "2020"\n'
    )
    first = write(tmp_path, text.format("Same", "2024-03-02", "2023-10"), "first.toml")
    second = write(tmp_path, text.format("same", "2024-02", "2023-12"), "second.toml")
    found = load_registry([first, second], shipped=None)
    (entry,) = found.entries
    assert (entry.name, entry.origins) == ("Same", (str(first), str(second)))
    assert [claim.cutoff.as_written for claim in entry.claims] == ["2023-10", "2020", "2023-12"]
    assert entry.release is not None
    assert entry.release.as_written == "2024-03-02"  # the later of the two: it may stand in for a cut-off
    used = usable_cutoff(entry, found)
    assert isinstance(used, UsedCutoff)
    assert used.cutoff.as_written == "2023-12"
    own = write(tmp_path, '[[model]]\nname = "o1-mini-2024-09-12"\n[[model.claim]]\nkind = "estimate"\ncutoff = "2022"')
    added = load_registry([own]).resolve("o1-mini-2024-09-12")
    assert added is not None
    assert len(added.claims) == 3


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


def test_placeholders_are_pointed_out(tmp_path: Path) -> None:
    text = (
        '[[model]]\nname = "{}"\nrelease_date = "2024-07-23"\n'
        '[[model.claim]]\nkind = "training_data"\ncutoff = "2023-01-01"\n'
    )
    found = load_registry([write(tmp_path, "".join(text.format(name) for name in "abcde"))], shipped=None)
    assert "a: the cut-off 2023-01-01 is 18 months before the release and has no source" in found.warnings
    assert "5 models share the cut-off 2023-01-01 without a source: it looks like a placeholder" in found.warnings
    assert registry(model("a", "2023-01-01")).warnings == ()


# What is shipped


def test_everything_that_is_shipped_has_its_source_and_day() -> None:
    found = load_registry()
    assert len(found.entries) >= 60
    assert found.warnings == ()
    for entry in found.entries:
        assert entry.provider, entry.name
        assert entry.claims or entry.release or entry.rolling, entry.name
        assert (entry.release is None) == (entry.release_source is None), entry.name
        for claim in entry.claims:
            assert claim.source is not None, entry.name
            assert claim.source.startswith("https://"), entry.name
            assert claim.by, entry.name
            assert claim.looked_up is not None, entry.name


def test_both_claims_are_there_where_a_provider_names_two_dates() -> None:
    found = load_registry()
    split = {
        "claude-3-7-sonnet-20250219": ("2024.11", "2024.10"),
        "claude-sonnet-4-5-20250929": ("2025.07", "2025.01"),
        "claude-haiku-4-5-20251001": ("2025.07", "2025.02"),
        "claude-opus-4-5-20251101": ("2025.08", "2025.05"),
        "claude-sonnet-4-6": ("2026.01", "2025.08"),
        "claude-opus-4-6": ("2025.08", "2025.05"),
        "claude-opus-4-7": ("2026.01", "2026.01"),
    }
    for name, dates in split.items():
        entry = found.resolve(name)
        assert entry is not None
        used = usable_cutoff(entry, found)
        assert isinstance(used, UsedCutoff)
        assert used.cutoff.as_written == dates[0]
        own = {claim.kind: claim.cutoff.as_written for claim in entry.claims if claim.by == "Anthropic"}
        assert own == {ClaimKind.TRAINING_DATA: dates[0], ClaimKind.RELIABLE_KNOWLEDGE: dates[1]}, name


@pytest.mark.parametrize(
    ("derived", "base"),
    [
        ("ise-uiuc/Magicoder-S-DS-6.7B", "deepseek-coder-6.7b-base"),
        ("m-a-p/OpenCodeInterpreter-DS-33B", "deepseek-coder-33b-base"),
        ("WizardLM/WizardCoder-33B-V1.1", "deepseek-coder-33b-base"),
        ("deepseek-ai/deepseek-coder-33b-instruct", "deepseek-coder-33b-base"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-v3-2024-12-26"),
    ],
)
def test_derived_models_name_their_base(derived: str, base: str) -> None:
    found = load_registry()
    entry = found.resolve(derived)
    assert entry is not None
    assert base in [ancestor.name for ancestor in found.ancestors(entry)]


def test_a_name_that_was_repointed_is_not_scored() -> None:
    found = load_registry()
    for name in ("mistral-large-latest", "codestral-latest", "deepseek-chat"):
        entry = found.resolve(name)
        assert entry is not None
        assert isinstance(usable_cutoff(entry, found), NotScored), name


@pytest.mark.shared
def test_every_recorded_model_is_shipped_and_scored(shared_data: Path) -> None:
    found = load_registry()
    recorded = json.loads((shared_data / "livecodebench" / "models.json").read_text(encoding="utf-8"))
    plain = [row["model"] for row in recorded if "+" not in row["model"]]
    assert len(plain) == 10
    for name in plain:
        entry = found.resolve(name)
        assert entry is not None, name
        assert isinstance(usable_cutoff(entry, found), UsedCutoff), name


@pytest.mark.parametrize("written", ["unknown", "TBD", ""])
def test_a_cut_off_that_is_written_as_unknown_claims_nothing(tmp_path: Path, written: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text("[[model]]\n" + CLAIM + f'kind = "training_data"\ncutoff = "{written}"\n', encoding="utf-8")
    (entry,) = load_registry([path], shipped=None).entries
    assert entry.claims == ()


def test_a_claim_is_superseded_on_a_day_that_was(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        "[[model]]\n" + CLAIM + 'kind = "training_data"\ncutoff = "2024"\nsuperseded = 2030-01-01\n', encoding="utf-8"
    )
    load_registry([path], shipped=None, today=date(2030, 1, 1))
    with pytest.raises(RegistryError, match="the claim 2024 is superseded on 2030-01-01, a day to come"):
        load_registry([path], shipped=None, today=date(2029, 12, 31))
