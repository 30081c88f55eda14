"""Lists never make more problems count by accident: doubted dates become estimates, other earlier ones are refused."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from db.importing import ImportReport
from eval.claims import Claim, ClaimKind, page_of
from eval.eligibility import UsedCutoff, usable_cutoff
from eval.models import ModelEntry, Registry
from eval.registry_checks import FindingKind, check_registry
from eval.registry_files import load_registry, read_entries
from eval.registry_import import import_claims
from tests.eval.facts import claim, model, registry

HEADER = "section,model,cutoff_as_written,reliable_cutoff_as_written,source\n"
BY = "HaoooWang/llm-knowledge-cutoff-dates"
DAY, TODAY = date(2026, 5, 4), date(2026, 7, 2)
PAGE = "https://example.org/nova"
TRAINING, RELIABLE, ESTIMATE = ClaimKind
NOTHING = registry()


def nova(*claims: Claim, release: str | None = "2025-12-09", **changes: Any) -> ModelEntry:
    """A model of which these claims are known; its release is used where none is about training data."""
    written = None if release is None else claim(release).cutoff
    return model("nova", claims=claims, release=written, origins=("shipped",), **changes)


def bring(folder: Path, rows: str, known: Registry, *, accept: bool = False, looked_up: date = DAY) -> ImportReport:
    (folder / "list.csv").write_text(HEADER + rows, encoding="utf-8")
    target = folder / "own.toml"
    return import_claims(
        folder / "list.csv", "haooowang", target, known, looked_up=looked_up, today=TODAY, accept_earlier=accept
    )


def kinds(folder: Path) -> list[tuple[str, str]]:
    models = tomllib.loads((folder / "own.toml").read_text(encoding="utf-8"))["model"]
    return [(one["kind"], one["cutoff"]) for entry in models for one in entry.get("claim", [])]


def used(entry_name: str, *registries: ModelEntry, own: Path) -> str:
    text = own.read_text(encoding="utf-8")
    together = registry(*registries, *read_entries(text, "own"))
    entry = together.resolve(entry_name)
    assert entry is not None
    found = usable_cutoff(entry, together)
    assert isinstance(found, UsedCutoff)
    return found.cutoff.as_written


SUPERSEDED = date(2026, 1, 1)


@pytest.mark.parametrize(
    ("entry", "source", "reason"),
    [
        (nova(claim("2023.10", RELIABLE, by="N", source=PAGE)), PAGE, "as the source of reliable knowledge (2023.10)"),
        (nova(claim("2023.10", ESTIMATE, by="N", source=PAGE)), PAGE, "as the source of an estimate (2023.10)"),
        (
            nova(claim("2023.10", ESTIMATE, by="N", source=PAGE, superseded=SUPERSEDED)),
            f"https://web.archive.org/web/20260414210305/{PAGE}/#top",
            "as the source of an estimate (2023.10)",
        ),
        (
            nova(claim("2023.10", TRAINING, by="N", source=PAGE, superseded=SUPERSEDED)),
            PAGE,
            "the claim that this page is known for, 2023.10, no longer holds",
        ),
        (nova(claim("2024-12", RELIABLE, by="N")), PAGE, "reliable knowledge reaches to 2024-12 by N"),
        (nova(not_stated=True), PAGE, "its maker states no date"),
        (nova(), "https://example.org/nova/SYSTEM_PROMPT.txt", "a system prompt names the date of the knowledge"),
    ],
)
def test_a_doubted_date_is_filed_as_an_estimate(tmp_path: Path, entry: ModelEntry, source: str, reason: str) -> None:
    report = bring(tmp_path, f"N,nova,2023.10,,{source}\n", registry(entry))
    assert (report.created, report.n_refused) == (1, 0)
    assert kinds(tmp_path) == [("estimate", "2023.10")]
    (note,) = report.notes
    assert note.startswith(f"line 2, nova: 2023.10 by {BY} is filed as an estimate, which nothing is scored by: ")
    assert reason in note
    assert used("nova", entry, own=tmp_path / "own.toml") == "2025-12-09"
    again = bring(tmp_path, f"N,nova,2023.10,,{source}\n", registry(entry))
    assert (again.unchanged, again.notes) == (1, ())


@pytest.mark.parametrize(
    "entry",
    [
        # The page states both dates, or the date is no earlier than what counts already.
        nova(claim("2023.10", TRAINING, by="N", source=PAGE), claim("2023.08", RELIABLE, by="N", source=PAGE)),
        nova(claim("2023.06", TRAINING, by="N"), claim("2023.06", RELIABLE, by="N", source=PAGE)),
        nova(claim("2023.06", TRAINING, by="N"), claim("2023.12", RELIABLE, by="N"), not_stated=True),
    ],
)
def test_a_date_that_makes_no_more_problems_count_is_taken(tmp_path: Path, entry: ModelEntry) -> None:
    report = bring(tmp_path, f"N,nova,2023.10,,{PAGE}\n", registry(entry))
    assert (report.created, report.n_refused) == (1, 0)
    assert kinds(tmp_path) == [("training_data", "2023.10")]


def test_a_list_that_tells_two_dates_apart_may_change_both(tmp_path: Path) -> None:
    bring(tmp_path, f"N,nova,2024.11,2024.10,{PAGE}\n", NOTHING)
    report = bring(tmp_path, f"N,nova,2025.01,2024.12,{PAGE}\n", NOTHING, looked_up=TODAY)
    assert (report.updated, report.n_refused) == (1, 0)
    assert {kind for kind, _ in kinds(tmp_path)} == {"training_data", "reliable_knowledge"}
    bring(tmp_path, f"N,other,2024.11,2025.02,{PAGE}\n", NOTHING)
    assert kinds(tmp_path)[-2:] == [("estimate", "2024.11"), ("reliable_knowledge", "2025.02")]


ROWS = f"N,nova,2023.10,,{PAGE}\nN,other,2024.01,,{PAGE}\n"


def test_another_earlier_cut_off_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    known = registry(nova())
    report = bring(tmp_path, ROWS, known)
    assert (report.created, report.n_refused, report.notes) == (1, 1, ())
    assert report.refused[0].where == "line 2, nova"
    change = f"scored by 2025-12-09 (release date); would be scored by 2023.10 by {BY}"
    assert report.refused[0].reason == f"nova is {change}, 26 months earlier: more problems would count"
    assert report.refused[0].hint == "--accept-earlier takes it nevertheless"
    assert kinds(tmp_path) == [("training_data", "2024.01")]
    accepted = bring(tmp_path, ROWS, known, accept=True)
    assert (accepted.created, accepted.unchanged, accepted.n_refused) == (1, 1, 0)
    done = change.replace("would be", "now")
    assert accepted.notes == (f"nova: {done}, 26 months earlier: more problems count",)
    assert used("nova", nova(), own=tmp_path / "own.toml") == "2023.10"


@pytest.mark.parametrize("is_read_too", [True, False])
def test_a_list_that_takes_a_later_word_back_needs_the_same(tmp_path: Path, is_read_too: bool) -> None:
    row = "N,other,2024.{},,https://example.org/other\n"
    bring(tmp_path, row.format("12"), NOTHING)
    before = (tmp_path / "own.toml").read_bytes()
    known = load_registry([tmp_path / "own.toml"], shipped=None) if is_read_too else NOTHING
    report = bring(tmp_path, row.format("11"), known, looked_up=TODAY)
    assert report.n_refused == 1
    assert report.refused[0].reason.endswith(", 1 month earlier: more problems would count")
    assert (tmp_path / "own.toml").read_bytes() == before
    assert bring(tmp_path, row.format("11"), known, looked_up=TODAY, accept=True).updated == 1


def test_a_base_model_is_refused_for_what_it_would_do_to_its_descendants(tmp_path: Path) -> None:
    base = model("base", None, release=claim("2025-02").cutoff, origins=("shipped",))
    child = model("child", "2024-05", base_models=("base",), origins=("shipped",))
    report = bring(tmp_path, f"N,base,2023.10,,{PAGE}\nN,other,2024.01,,{PAGE}\n", registry(base, child))
    assert [refusal.where for refusal in report.refused] == ["line 2, base"]
    assert used("child", base, child, own=tmp_path / "own.toml") == "2025-02"


def test_what_was_taken_before_it_was_doubted_is_superseded(tmp_path: Path) -> None:
    row = f"N,nova,2023.10,,{PAGE}\n"
    bring(tmp_path, row, NOTHING)
    better = nova(claim("2023.10", RELIABLE, by="N", source=PAGE))
    own = tmp_path / "own.toml"
    found = check_registry(registry(better, *read_entries(own.read_text(encoding="utf-8"), "own")))
    doubted = [one for one in found if one.kind is FindingKind.TRAINING_DOUBTED]
    assert [(one.model, one.changes_eligibility) for one in doubted] == [("nova", True)]
    report = bring(tmp_path, row, registry(better, *read_entries(own.read_text(encoding="utf-8"), "own")))
    assert (report.updated, report.n_refused) == (1, 0)
    assert kinds(tmp_path) == [("training_data", "2023.10"), ("estimate", "2023.10")]
    assert used("nova", better, own=own) == "2025-12-09"


def test_one_page_is_one_page_whatever_copy_is_named() -> None:
    copies = (
        "https://web.archive.org/web/20260414210305/https://www.example.org/Nova/",
        "http://example.org/nova#cutoff",
        "https://web.archive.org/web/2026id_/http://example.org/nova",
    )
    assert {page_of(source) for source in copies} == {"example.org/nova"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('notes = "Not stated by the provider."', True),
        ('notes = "The provider states no cut-off (https://example.org), so the release stands in."', True),
        ('notes = "The id names the month."', False),
        ('[[model.claim]]\nkind = "training_data"\ncutoff = "unknown"', True),
        ('[[model.claim]]\nkind = "training_data"\ncutoff = "unknown"\nsuperseded = 2026-01-01', False),
        ('[[model.claim]]\nkind = "estimate"\ncutoff = "unknown"', False),
    ],
)
def test_an_entry_says_that_its_maker_states_nothing(text: str, expected: bool) -> None:
    (entry,) = read_entries(f'[[model]]\nname = "nova"\n{text}\n', "own")
    assert entry.not_stated is expected
    assert registry(entry, model("nova", origins=("other",))).entries[0].not_stated is expected


@pytest.mark.shared
def test_the_recorded_list_moves_no_shipped_model(shared_data: Path, tmp_path: Path) -> None:
    target, shipped = tmp_path / "own.toml", load_registry()
    listed = shared_data / "cutoffs" / "haooowang_current.csv"
    report = import_claims(listed, "haooowang", target, shipped, looked_up=None, today=TODAY)
    assert (report.created, report.n_refused) == (94, 0)
    assert [note for note in report.notes if "now scored" in note] == []
    together = load_registry([target])
    for name in (
        "deepseek-v3-2024-12-26", "deepseek-r1", "devstral-2512", "mistral-large-2512", "mistral-small-2503",
        "mistral-small-2506", "mistral-small-2603",
    ):  # fmt: skip
        entry = together.resolve(name)
        assert entry is not None
        found = usable_cutoff(entry, together)
        assert isinstance(found, UsedCutoff)
        assert found.kind == "release_date", name
        estimates = [one for one in entry.claims if one.by == BY]
        assert [one.kind for one in estimates] == [ESTIMATE]
