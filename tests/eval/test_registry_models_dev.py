"""The two shapes of models.dev: api.json with many providers for one model, told from the CSV by its content."""

from __future__ import annotations

import csv
import itertools
import json
import random
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from db.importing import ImportFailure, ImportReport, Note, Refusal
from eval.models import Alias, Registry
from eval.registry_checks import FindingKind, compare_with
from eval.registry_forms import ListedModel, form_named
from eval.registry_import import import_claims
from tests.eval.facts import claim, model, registry

API = Path(__file__).parent / "data" / "models_dev_api.json"
JULY = date(2026, 7, 2)
NOBODY = registry()
BOM = b"\xef\xbb\xbf"


def read(path: Path) -> list[ListedModel | Refusal | Note]:
    return list(form_named("models.dev").read(path, str))


def listed(path: Path) -> dict[str, ListedModel]:
    return {one.name: one for one in read(path) if isinstance(one, ListedModel)}


def written(folder: Path, content: object) -> Path:
    path = folder / "api.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def served(**models: dict[str, Any]) -> dict[str, Any]:
    """An api.json of one provider that serves these."""
    return {"nova": {"id": "nova", "name": "Nova", "models": models}}


def bring(folder: Path, path: Path, known: Registry = NOBODY) -> ImportReport:
    return import_claims(path, "models.dev", folder / "own.toml", known, looked_up=None, today=JULY)


def own(folder: Path) -> list[dict[str, Any]]:
    found = tomllib.loads((folder / "own.toml").read_text(encoding="utf-8"))["model"]
    assert isinstance(found, list)
    return found


def test_entries_of_many_providers_are_one_model_of_the_latest_release_and_its_makers_knowledge() -> None:
    nova = listed(API)["nova-1-2025"]
    assert nova.provider == "nova"
    assert nova.release is not None
    assert nova.release.as_written == "2025-03-02"
    assert [(str(one.kind), one.cutoff.as_written) for one in nova.claims] == [("reliable_knowledge", "2024-10-31")]
    assert nova.conflicts == (
        "released 2025-03-02 by mirror; 2025-01-15 by attic, nova, relay: the latest counts",
        "knowledge to 2025-01 by mirror; 2024-12 by attic; 2024-10-31 (read as the month) by nova: "
        "that of its maker counts",
    )


def test_without_a_maker_dates_in_conflict_give_no_knowledge_and_no_provider() -> None:
    wisp = listed(API)["wisp-7b"]
    assert (wisp.provider, wisp.claims) == (None, ())
    assert wisp.release is not None
    # A day of November and November are no conflict: its end counts.
    assert (wisp.release.as_written, wisp.release.last) == ("2024-11", date(2024, 11, 30))
    assert wisp.conflicts == ("knowledge to 2024-09 by mirror; 2024-06 by attic: none counts",)


def test_a_provider_alone_with_a_model_is_taken_at_its_word_but_not_for_the_maker() -> None:
    tiny = listed(API)["tiny-1"]
    assert (tiny.provider, tiny.conflicts, tiny.where) == (None, (), 'provider "relay", model "tiny-1"')
    assert [one.cutoff.as_written for one in tiny.claims] == ["2024-05"]


def test_names_without_a_snapshot_are_rolling_and_those_that_do_not_say_so_are_noted() -> None:
    found = listed(API)
    assert {name for name, one in found.items() if one.rolling} == {"nova-latest", "nova-chat"}
    (note,) = (one for one in read(API) if isinstance(one, Note))
    assert str(note) == (
        'provider "nova", model "nova-chat", nova-chat: its date is later than its release: taken for an alias that '
        "was moved, not scored"
    )


def test_the_order_of_the_providers_decides_nothing(tmp_path: Path) -> None:
    providers = json.loads(API.read_text(encoding="utf-8"))

    def facts(one: ListedModel) -> tuple[object, ...]:
        dates = tuple(claim.cutoff for claim in one.claims)
        return one.name.casefold(), one.provider, one.release, dates, one.rolling, len(one.conflicts)

    expected = {facts(one) for one in listed(API).values()}
    for order in itertools.permutations(providers):
        path = written(tmp_path, {name: providers[name] for name in order})
        assert {facts(one) for one in listed(path).values()} == expected


def test_names_that_the_registry_knows_for_one_model_are_one(tmp_path: Path) -> None:
    models = {
        "nova-1": {"id": "nova-1", "release_date": "2025-02-10", "knowledge": "2024-09"},
        "nova-1-2025": {"id": "nova-1-2025", "release_date": "2025-01-15", "knowledge": "2024-10"},
    }
    known = registry(model("nova-1-2025", aliases=(Alias("nova-1"),), origins=("shipped.toml",)))
    assert bring(tmp_path, written(tmp_path, served(**models)), known).created == 1
    (entry,) = own(tmp_path)
    assert (entry["name"], entry["release_date"]) == ("nova-1-2025", "2025-02-10")
    assert "claim" not in entry


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    report = bring(tmp_path, API)
    assert (report.created, report.updated, report.unchanged, report.n_refused) == (6, 0, 0, 0)
    # What is in conflict is said where it is written down, after what else there is to note.
    assert [note.partition(":")[0] for note in report.notes] == [
        'provider "nova", model "nova-chat", nova-chat',
        "4 providers, nova-1-2025",
        "4 providers, nova-1-2025",
        "2 providers, wisp-7b",
    ]
    (nova,) = (entry for entry in own(tmp_path) if entry["name"] == "nova-1-2025")
    assert nova["claim"][0]["looked_up"] == JULY
    before = (tmp_path / "own.toml").read_bytes()
    again = bring(tmp_path, API)
    assert (again.created, again.updated, again.unchanged, again.n_refused) == (0, 0, 6, 0)
    assert (tmp_path / "own.toml").read_bytes() == before


def test_what_the_list_says_twice_is_found_in_a_comparison_too() -> None:
    ours = model("nova-1-2025", claims=(claim("2024-10", source="https://example.org"),), origins=("own.toml",))
    compared = compare_with(registry(ours), API, "models.dev")
    assert (compared.n_compared, compared.n_only_listed, compared.refused) == (1, 5, ())
    found = [finding for finding in compared.findings if finding.kind is FindingKind.LIST_DIFFERS]
    assert [finding.text.split()[0] for finding in found] == ["knowledge", "released"]
    assert not any(finding.changes_eligibility for finding in found)


def test_both_shapes_are_known_by_what_they_begin_with(tmp_path: Path) -> None:
    text = API.read_bytes()
    for content in (BOM + text, b" \r\n\t" + text, BOM + b"\n" + text):
        (tmp_path / "list.csv").write_bytes(content)
        assert listed(tmp_path / "list.csv") == listed(API)
    row = b"model,name,knowledge,release_date,source\nnova/nova-1,Nova 1,2024-10-31,2025-01-15,x\n"
    for content in (row, BOM + row):
        (tmp_path / "api.json").write_bytes(content)
        assert [one.provider for one in listed(tmp_path / "api.json").values()] == ["nova"]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"name": "Nova", "release_date": "2025-01-15"}, "has no id"),
        ({"id": "  ", "release_date": "2025-01-15"}, "has no id"),
        ({"id": 7}, "id: expected text, found a number"),
        ({"id": "nova/"}, "model: has no id after its provider"),
        ({"id": "nova\u001b[31m"}, 'model: "nova\ufffd[31m" is no name of a model'),
        ({"id": "n\ud800"}, 'model: "n\ufffd" is no name of a model'),
        ({"id": "nova", "release_date": "2025-02-31"}, 'release_date: cannot read the date "2025-02-31"'),
        ({"id": "nova", "release_date": 2025}, "release_date: expected text, found a number"),
        ({"id": "nova", "knowledge": None}, "knowledge: expected text, found null"),
        (["nova"], "expected an object, found a list"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused_alone(tmp_path: Path, entry: Any, reason: str) -> None:
    good = {"id": "good", "release_date": "2025-01-15"}
    report = bring(tmp_path, written(tmp_path, served(bad=entry, good=good)))
    assert (report.created, report.n_refused) == (1, 1)
    (refusal,) = report.refused
    assert (refusal.where, refusal.reason) == ('provider "nova", model "bad"', reason)
    assert refusal.hint


def test_a_provider_without_models_is_refused_alone(tmp_path: Path) -> None:
    good = served(good={"id": "good", "release_date": "2025-01-15"})
    path = written(tmp_path, good | {"bare": {"id": "bare"}, "list": {"models": []}, "text": "x"})
    report = bring(tmp_path, path)
    assert report.created == 1
    assert [str(refusal) for refusal in report.refused] == [
        'provider "bare": expected an object "models", found null',
        'provider "list": expected an object "models", found a list',
        'provider "text": expected an object "models", found null',
    ]


def test_a_model_without_a_date_is_noted(tmp_path: Path) -> None:
    report = bring(tmp_path, written(tmp_path, served(bare={"id": "bare"})))
    assert (report.created, report.notes) == (0, ('provider "nova", model "bare", bare: no date is given',))
    assert not (tmp_path / "own.toml").exists()


MEGABYTES = 10 << 20


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no column model"),
        (b"<!doctype html>", "has no column model"),
        (b"[]", "expected an object of providers, found a list"),
        (b"{}", "no entry of it is a provider with models"),
        (b'{"nova/nova-1": {"id": "nova/nova-1", "release_date": "2025-01-15"}}', "no entry of it is a provider"),
        (b'{"nova": {,}}', "line 1, column 11: not JSON: Expecting property name"),
        (b'{"nova":\n {"models": {"a": ', "line 2, column 19: the file ends in the middle of its JSON"),
        (API.read_bytes()[:-40], "the file ends in the middle of its JSON"),
        (b'{"nova": "\xff"}', "not UTF-8: invalid start byte at byte 10"),
        (API.read_bytes().decode().encode("utf-16"), "not UTF-8: invalid start byte at byte 0"),
        (random.Random(1).randbytes(MEGABYTES), "not UTF-8"),
        (b"{" + b"x" * MEGABYTES, "line 1, column 2: not JSON"),
        (b'{"a":' * (MEGABYTES // 5), "not readable as JSON"),
        (b"x" * MEGABYTES, "line 1: not CSV: field larger than field limit"),
        (b"\0" * MEGABYTES, "not CSV"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not readable as JSON"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_is_no_such_list_is_refused_whole_in_a_line(tmp_path: Path, content: bytes, said: str) -> None:
    csv.field_size_limit(10 * MEGABYTES)  # as another reader leaves it
    path = tmp_path / "api.json"
    path.write_bytes(content)
    with pytest.raises(ImportFailure) as error:
        bring(tmp_path, path)
    message = error.value.message
    assert said in message
    assert message.startswith(str(path))
    assert len(message.splitlines()) == 1
    assert len(message) < len(str(path)) + 180
    assert error.value.hint
    assert not (tmp_path / "own.toml").exists()


def test_long_rubbish_in_an_entry_is_shown_in_part(tmp_path: Path) -> None:
    rubbish = "2" * MEGABYTES
    path = written(tmp_path, served(**{rubbish[:5000]: {"id": rubbish}, "b": {"id": "b", "release_date": rubbish}}))
    report = bring(tmp_path, path)
    assert report.n_refused == 2
    assert all(len(str(refusal)) < 600 for refusal in report.refused)


@pytest.mark.shared
def test_recorded_conflicts_are_all_named(shared_data: Path, tmp_path: Path) -> None:
    """188 of 917 ids of models.dev carry more than one cut-off; 148 of them are 3 months and more apart."""
    with (shared_data / "cutoffs" / "modelsdev_conflicts.csv").open(encoding="utf-8", newline="") as file:
        recorded = list(csv.DictReader(file))
    providers: dict[str, Any] = {}
    for row in recorded:
        for stated in row["providers"].split("; "):
            knowledge, _, names = stated.partition(":")
            for name in names.split(","):
                entry = {"id": row["model_id"], "release_date": "2026-07-01", "knowledge": knowledge}
                providers.setdefault(name, {"id": name, "models": {}})["models"][row["model_id"]] = entry
    found = {
        one.name.casefold(): one
        for one in read(written(tmp_path, providers))
        if isinstance(one, ListedModel) and one.conflicts
    }
    # No other provider's id names a maker here, so nobody's word counts; a month and a day of it are no conflict.
    apart = [row for row in recorded if int(row["spread_months"]) >= 3]
    assert (len(recorded), len(apart)) == (188, 148)
    for row in apart:
        (conflict,) = found[row["model_id"]].conflicts
        assert all(f"{one} " in conflict for one in row["stated_cutoffs"].split("|"))
        assert not found[row["model_id"]].claims
