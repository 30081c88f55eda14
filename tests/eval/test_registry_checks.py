"""Conflicts between claims: each kind found, what changes eligibility told from what does not."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from eval.claims import Claim, ClaimKind, page_of
from eval.cutoffs import is_unknown, parse_cutoff
from eval.models import ModelEntry
from eval.registry_checks import Finding, FindingKind, check_registry, compare_with
from eval.registry_files import load_registry
from tests.eval.facts import claim, model, registry

_, RELIABLE, ESTIMATE = ClaimKind
DAY = date(2026, 5, 4)


def sourced(cutoff: str, kind: ClaimKind = ClaimKind.TRAINING_DATA, by: str = "A") -> Claim:
    return claim(cutoff, kind, by=by, looked_up=DAY, source=f"https://example.org/{by}")


def found(*claims: Claim, **changes: Any) -> list[Finding]:
    return check_registry(registry(model("m", claims=claims, **changes)))


def test_a_model_that_is_in_order_has_no_finding() -> None:
    same = sourced("2023-10-31", RELIABLE, by="B")
    assert found(sourced("2023-10"), same, release=parse_cutoff("2024-06-20")) == []


def test_training_claims_that_differ_are_measured_in_months() -> None:
    (finding,) = found(sourced("2023-10"), sourced("2024-03", by="B"), sourced("2023", by="C"))
    assert (finding.kind, finding.model, finding.months) == (FindingKind.TRAINING_CLAIMS_DIFFER, "m", 5)
    assert finding.text == "2024-03 by B; 2023 by C; 2023-10 by A: the latest counts"
    assert finding.sources == tuple(f"https://example.org/{by}" for by in "BCA")
    assert finding.changes_eligibility


@pytest.mark.parametrize(
    ("other", "kind", "expected", "months", "serious"),
    [
        ("2023-04", ESTIMATE, FindingKind.ESTIMATE_EARLIER, 6, False),
        ("2024-01", ESTIMATE, FindingKind.ESTIMATE_LATER, 3, False),
        ("2023-08", RELIABLE, FindingKind.RELIABLE_EARLIER, 2, False),
        # Nobody knows reliably what is not in the training data.
        ("2024-01", RELIABLE, FindingKind.RELIABLE_LATER, 3, True),
    ],
)
def test_other_claims_are_held_against_the_training_claim(
    other: str, kind: ClaimKind, expected: FindingKind, months: int, serious: bool
) -> None:
    (finding,) = found(sourced("2023-10"), sourced(other, kind, by="B"))
    assert (finding.kind, finding.months, finding.changes_eligibility) == (expected, months, serious)
    assert finding.text == f"{other} by B, training data 2023-10 by A"


def test_a_cutoff_later_than_the_release_is_a_moved_name_or_a_wrong_date() -> None:
    released = parse_cutoff("2024-01-25")
    (finding,) = found(sourced("2024-04"), release=released)
    assert (finding.kind, finding.months) == (FindingKind.CUTOFF_AFTER_RELEASE, 3)
    assert finding.changes_eligibility
    assert found(sourced("2024-01"), release=released) == []  # a month that the release lies in
    moved, rolling = found(sourced("2024-04"), release=released, rolling=True)
    assert (moved.changes_eligibility, rolling.kind) == (False, FindingKind.ROLLING)


def test_what_lacks_evidence_is_listed() -> None:
    kinds = [finding.kind for finding in found(claim("2023-10", source=None))]
    assert kinds == [FindingKind.NO_SOURCE, FindingKind.NO_LOOK_UP_DAY]
    (finding,) = found(release=parse_cutoff("2024-06-20"))
    assert (finding.kind, finding.text) == (FindingKind.NO_TRAINING_CLAIM, "release date used: 2024-06-20")
    (finding,) = found(sourced("2023-10", ESTIMATE))
    assert finding.text.startswith("not scored: no training-data claim and no release date")


def test_superseded_claims_are_no_conflict() -> None:
    old = claim("2022-01", looked_up=DAY, superseded=date(2026, 6, 1), by="A")
    assert found(sourced("2023-10"), old) == []


def test_models_of_several_files_are_named_with_them(tmp_path: Path) -> None:
    text = '[[model]]\nname = "m"\nrolling = true\n'
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    findings = check_registry(load_registry([tmp_path], shipped=None))
    assert [finding.kind for finding in findings] == [FindingKind.ROLLING, FindingKind.SEVERAL_FILES]
    assert findings[1].sources == (str(tmp_path / "a.toml"), str(tmp_path / "b.toml"))


def test_the_shipped_registry_has_no_conflict_that_changes_eligibility() -> None:
    findings = check_registry(load_registry())
    assert [finding for finding in findings if finding.changes_eligibility] == []
    assert {finding.kind for finding in findings} >= {FindingKind.ESTIMATE_EARLIER, FindingKind.RELIABLE_EARLIER}


def test_placeholders_and_days_to_come_are_listed() -> None:
    unsourced = claim("2023-01", source=None, looked_up=DAY, by="A")
    (doubt, source) = found(unsourced, release=parse_cutoff("2024-07-23"))
    assert (doubt.kind, doubt.changes_eligibility) == (FindingKind.PLACEHOLDER, True)
    assert "18 months before the release" in doubt.text
    assert source.kind is FindingKind.NO_SOURCE
    many = registry(*(model(f"m{number}", claims=(unsourced,)) for number in range(5)))
    shared = [one for one in check_registry(many) if one.kind is FindingKind.PLACEHOLDER]
    assert [one.model for one in shared] == [f"m{number}" for number in range(5)]
    assert {one.text for one in shared} == {"5 models have the cut-off 2023-01 without a source"}
    few = registry(*many.entries[:4])
    assert FindingKind.PLACEHOLDER not in {one.kind for one in check_registry(few)}
    to_come = registry(model("m", claims=(claim("2031-01", by="A", source="https://example.org/A"),)))
    kinds = [one.kind for one in check_registry(to_come, DAY)]
    assert kinds == [FindingKind.CUTOFF_IN_FUTURE, FindingKind.NO_LOOK_UP_DAY]


def test_a_model_is_named_for_the_impossible_cut_off_that_it_inherits() -> None:
    base = model("base", claims=(sourced("2024-10"),), release=parse_cutoff("2024-03-05"))
    child = model("child", claims=(sourced("2024-01"),), base_models=("base",), release=parse_cutoff("2024-12-05"))
    findings = check_registry(registry(base, child))
    assert [(one.kind, one.model) for one in findings] == [
        (FindingKind.CUTOFF_AFTER_RELEASE, "base"),
        (FindingKind.CUTOFF_AFTER_RELEASE, "child"),
    ]
    assert all(one.changes_eligibility for one in findings)


# Against a public list

LIST = """section,model,cutoff_as_written,reliable_cutoff_as_written,granularity,source,registry_commit
A,same,2023.10,,month,https://example.org/A,x
A,later,2024.03,,month,https://example.org/B,x
A,earlier,2023.06,,month,https://example.org/B,x
A,undated,2024.01,,month,https://example.org/B,x
A,stranger,2024.01,,month,https://example.org/B,x
A,broken,soon,,month,https://example.org/B,x
"""


def listed(folder: Path) -> Path:
    path = folder / "list.csv"
    path.write_text(LIST, encoding="utf-8")
    return path


def known() -> list[ModelEntry]:
    origins = ("own.toml",)
    dated = [model(name, claims=(sourced("2023-10"),), origins=origins) for name in ("same", "later", "earlier")]
    return [*dated, model("undated", None, release=parse_cutoff("2024-06-20"), origins=origins)]


def test_a_list_is_compared_without_being_brought_in(tmp_path: Path) -> None:
    compared = compare_with(registry(*known()), listed(tmp_path), "haooowang")
    assert (compared.n_compared, compared.n_only_listed, len(compared.refused)) == (4, 1, 1)
    by = "HaoooWang/llm-knowledge-cutoff-dates"
    assert [(finding.kind, finding.model, finding.text) for finding in compared.findings] == [
        (FindingKind.WOULD_CHANGE, "later", f"scored by 2023-10 by A; would be scored by 2024.03 by {by}"),
        (
            FindingKind.WOULD_CHANGE,
            "undated",
            f"scored by 2024-06-20 (release date); would be scored by 2024.01 by {by}, 5 months earlier: more problems "
            "would count",
        ),
        (FindingKind.TRAINING_CLAIMS_DIFFER, "later", f"2024.03 by {by}; 2023-10 by A: the latest counts"),
        (FindingKind.TRAINING_CLAIMS_DIFFER, "earlier", f"2023-10 by A; 2023.06 by {by}: the latest counts"),
    ]
    assert all(finding.changes_eligibility for finding in compared.findings)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.csv"]


def test_another_release_date_matters_where_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    rows = "a/{0},{0},,none,2024-05-01,2024-05-01,x\n"
    header = "model,name,knowledge,granularity,release_date,last_updated,source\n"
    path.write_text(header + rows.format("undated") + rows.format("dated"), encoding="utf-8")
    released = parse_cutoff("2024-06-20")
    entries = [
        model(name, cutoff, release=released, origins=("own.toml",))
        for name, cutoff in (("undated", None), ("dated", "2023-10"))
    ]
    findings = compare_with(registry(*entries), path, "models.dev").findings
    assert [(finding.kind, finding.model, finding.changes_eligibility) for finding in findings] == [
        (FindingKind.RELEASE_DATES_DIFFER, "dated", False),
        (FindingKind.RELEASE_DATES_DIFFER, "undated", True),
    ]


@pytest.mark.shared
def test_the_shipped_registry_against_the_recorded_lists(shared_data: Path) -> None:
    shipped = load_registry()
    ours = compare_with(shipped, shared_data / "cutoffs" / "haooowang_current.csv", "haooowang")
    assert (ours.n_compared, ours.n_only_listed, ours.refused) == (62, 32, ())
    # Where we keep a third party's date or a system prompt's from deciding, bringing the list in does not let it.
    assert FindingKind.WOULD_CHANGE not in {finding.kind for finding in ours.findings}
    assert {finding.model for finding in ours.findings if finding.kind is FindingKind.FILED_AS_ESTIMATE} == {
        "deepseek-v3-2024-12-26", "deepseek-r1", "devstral-2512", "mistral-large-2512", "mistral-small-2503",
        "mistral-small-2506", "mistral-small-2603",
    }  # fmt: skip
    assert FindingKind.TRAINING_CLAIMS_DIFFER not in {finding.kind for finding in ours.findings}
    theirs = compare_with(shipped, shared_data / "cutoffs" / "modelsdev_base.csv", "models.dev")
    assert (theirs.n_compared, theirs.n_only_listed) == (77, 154)
    assert [finding.model for finding in theirs.findings if finding.changes_eligibility] == [
        "o3-mini-2025-01-31",  # knowledge of 2024-05, seven months beyond what its maker states
        "mistral-large-2512",  # released 2024-11-01, a year before the month in its name
    ]


def test_what_would_be_filed_as_an_estimate_is_said_as_what_would_be(tmp_path: Path) -> None:
    text = LIST.splitlines()[0] + "\nA,m,2023.10,,month,https://example.org/A,x\n"
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    entry = model("m", claims=(sourced("2023-10", RELIABLE),), release=parse_cutoff("2024-06"), origins=("own.toml",))
    (finding,) = compare_with(registry(entry), tmp_path / "list.csv", "haooowang").findings
    assert (finding.kind, finding.changes_eligibility) == (FindingKind.FILED_AS_ESTIMATE, False)
    assert "2023.10 by HaoooWang/llm-knowledge-cutoff-dates would be filed as an estimate" in finding.text


LIST_PAGE = "github.com/haooowang/llm-knowledge-cutoff-dates"
# What Meta's model card says under "Data Freshness": tuning data up to July 2023.
NOT_ON_RECORD = {"github.com/meta-llama/llama/blob/main/model_card.md": date(2023, 7, 31)}
# Snapshots that models.dev does not have; the list has one date for all of their name.
SNAPSHOTS = {"gemini-2.5-pro-exp-03-25", "gemini-2.5-flash-preview-04-17"}


@pytest.mark.shared
def test_every_training_date_of_the_shipped_registry_is_on_record(shared_data: Path) -> None:
    on_record: dict[str, set[date]] = {page: {last} for page, last in NOT_ON_RECORD.items()}
    for name, columns in (
        ("haooowang_current.csv", ("cutoff_as_written", "reliable_cutoff_as_written")),
        ("haooowang_revisions.csv", ("cutoff", "reliable")),
    ):
        for row in rows(shared_data / "cutoffs" / name):
            dates = {parse_cutoff(row[one], from_registry=True).last for one in columns if not is_unknown(row[one])}
            on_record.setdefault(page_of(row["source"]), set()).update(dates)
    by_models_dev = {
        row["model"].rpartition("/")[2]: parse_cutoff(row["knowledge"], from_registry=True).last
        for row in rows(shared_data / "cutoffs" / "modelsdev_base.csv")
        if row["knowledge"]
    }
    for entry in load_registry().entries:
        for one in entry.claims:
            if one.kind is ClaimKind.TRAINING_DATA:
                assert one.source is not None
                if page_of(one.source) != LIST_PAGE:
                    assert one.cutoff.last in on_record[page_of(one.source)], entry.name
                elif entry.name not in SNAPSHOTS:  # a page of another model: the other list must have the same
                    assert one.cutoff.last == by_models_dev[entry.name], entry.name


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
