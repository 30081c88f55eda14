"""Which cut-off a model is scored by: the latest training-data claim, base models' data, release dates, days past."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.claims import Claim, ClaimKind
from eval.cutoffs import parse_cutoff
from eval.eligibility import CutoffStatus, NotScored, UsedCutoff, usable_cutoff
from eval.evaluation import evaluate
from eval.models import ModelEntry, RegistryError
from eval.report import row_to_dict
from eval.settings import Settings
from tests.eval.facts import NOW, claim, model, problem, registry, run

TRAINING, RELIABLE, ESTIMATE = ClaimKind
RELEASED = parse_cutoff("2024-06-20")


def used(entry: ModelEntry, *others: ModelEntry) -> UsedCutoff:
    found = usable_cutoff(entry, registry(entry, *others))
    assert isinstance(found, UsedCutoff), found
    return found


def reason(entry: ModelEntry, *others: ModelEntry) -> str:
    found = usable_cutoff(entry, registry(entry, *others))
    assert isinstance(found, NotScored), found
    return found.reason


def test_the_latest_end_among_training_claims_that_hold_counts() -> None:
    claims = (claim("2023-10", by="A"), claim("end of 2023", by="B"), claim("2023-11", by="C"))
    found = used(model("m", claims=claims))
    assert (found.cutoff.as_written, found.by, found.status) == ("end of 2023", "B", CutoffStatus.STATED)
    assert (found.kind, found.why) == ("training_data", "the latest of its training-data claims")
    gone = replace(claims[1], superseded=date(2026, 1, 1))
    assert used(model("m", claims=(claims[0], gone, claims[2]))).cutoff.as_written == "2023-11"


@pytest.mark.parametrize("kind", [RELIABLE, ESTIMATE])
def test_no_other_kind_of_claim_is_used(kind: ClaimKind) -> None:
    other = claim("2025-01", kind)
    assert used(model("m", claims=(claim("2023-10"), other))).cutoff.as_written == "2023-10"
    released = used(model("m", claims=(other,), release=RELEASED, release_source="https://example.org/r"))
    assert (released.status, released.kind, released.cutoff) == (CutoffStatus.ASSUMED, "release_date", RELEASED)
    assert (released.source, released.why) == ("https://example.org/r", "no training-data claim: release date used")
    assert "no training-data claim and no release date is known" in reason(model("m", claims=(other,)))


def test_an_estimate_alone_does_not_count_and_the_reason_says_so() -> None:
    assert reason(model("m", claims=(claim("2023-10", ESTIMATE),))).endswith("an estimate alone does not count")
    assert reason(model("m", None)) == "no cut-off and no release date is known"


def test_neither_a_rolling_name_nor_web_access_is_scored() -> None:
    assert reason(model("m-latest", rolling=True, release=RELEASED)).startswith("is an alias without a snapshot")
    assert reason(model("m", web_access=True)).startswith("has live web access")


def test_base_models_data_are_inherited_over_generations() -> None:
    root = model("root", "2024-02")
    middle = model("middle", "2023-12", base_models=("root",))
    child = model("child", "2023-05", base_models=("middle",))
    found = used(child, middle, root)
    assert (found.cutoff.as_written, found.inherited_from) == ("2024-02", "root")
    assert found.why == "the training-data claim of root, whose data it inherits"
    assert used(model("child", "2024-03", base_models=("root",)), root).inherited_from is None


def test_a_base_model_dated_by_its_release_bounds_its_descendants_too() -> None:
    base = model("base", None, release=RELEASED)
    found = used(model("child", "2023-05", base_models=("base",)), base)
    assert (found.cutoff, found.status, found.inherited_from) == (RELEASED, CutoffStatus.ASSUMED, "base")


@pytest.mark.parametrize("base", [model("base", None), model("base", "2023-01", rolling=True)])
def test_a_base_model_that_nothing_dates_leaves_the_release_date(base: ModelEntry) -> None:
    child = model("child", "2023-05", base_models=("base",))
    assert reason(child, base) == "nothing dates base, whose data it inherits, and no release date is known"
    found = used(replace(child, release=RELEASED), base)
    assert (found.cutoff, found.status, found.inherited_from) == (RELEASED, CutoffStatus.ASSUMED, None)
    assert found.why == "nothing dates base, whose data it inherits: release date used"


def test_a_cycle_of_base_models_is_refused() -> None:
    with pytest.raises(RegistryError, match="has it as base model"):
        registry(model("a", base_models=("b",)), model("b", base_models=("c",)), model("c", base_models=("a",)))
    with pytest.raises(RegistryError, match="in no file"):
        registry(model("a", base_models=("nobody",)))


# As of a day

OLD = claim("2023-10", by="A", looked_up=date(2024, 1, 10), superseded=date(2025, 3, 1))
NEW = claim("2024-04", by="A", looked_up=date(2025, 3, 1))


def test_the_registry_of_a_day_has_the_claims_of_that_day() -> None:
    entry = model("m", claims=(OLD, NEW), release=RELEASED)
    known = registry(entry)
    for day, written in {"2024-01-09": "2024-06-20", "2024-01-10": "2023-10", "2025-02-28": "2023-10"}.items():
        then = known.as_of(date.fromisoformat(day))
        (there,) = then.entries
        found = usable_cutoff(there, then)
        assert isinstance(found, UsedCutoff)
        assert (found.cutoff.as_written, then.known_on) == (written, date.fromisoformat(day))
    assert used(entry).cutoff.as_written == "2024-04"
    (there,) = known.as_of(date(2025, 3, 1)).entries
    assert [one.cutoff.as_written for one in there.claims] == ["2024-04"]


def test_an_old_table_stays_reproducible() -> None:
    problems = [problem(0, "2024-01-15"), problem(1, "2024-08-01")]
    results = [run("m", [(0, 2, 2), (1, 2, 0)])]
    before = registry(model("m", claims=(replace(OLD, superseded=None),)))
    after = registry(model("m", claims=(OLD, NEW)))

    def table(known: object) -> dict[str, object]:
        (row,) = evaluate(problems, results, known, Settings(), now=NOW).rows  # type: ignore[arg-type]
        return row_to_dict(row)

    assert table(after)["pass_at_1"] == 0.0
    assert table(before) == table(after.as_of(date(2025, 2, 28)))
    assert table(before)["cutoff_revision"] != table(after)["cutoff_revision"]
    report = evaluate(problems, results, after.as_of(date(2025, 2, 28)), Settings(), now=NOW)
    assert report.settings["cutoffs_as_of"] == "2025-02-28"


# Revisions

a_claim = st.builds(
    Claim,
    st.sampled_from(ClaimKind),
    st.sampled_from([parse_cutoff(text) for text in ("2023-10", "2024", "early 2023")]),
    st.sampled_from([None, "A", "B"]),
    st.sampled_from([None, "https://example.org/1"]),
    st.sampled_from([None, date(2025, 1, 1), date(2026, 1, 1)]),
)


@given(st.lists(a_claim, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_revision_does_not_depend_on_the_order_of_claims(claims: list[Claim], order: object) -> None:
    entry = model("m", claims=tuple(claims), release=RELEASED)
    shuffled = list(claims)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert used(entry).revision == used(replace(entry, claims=tuple(shuffled))).revision


def test_the_revision_changes_with_what_decides_and_with_nothing_else() -> None:
    base = model("base", "2023-08")
    entry = model("m", base_models=("base",), claims=(claim("2023-10", by="A"),), release=RELEASED)
    first = used(entry, base)
    assert len(first.revision) == 12
    assert int(first.revision, 16) >= 0
    unmoved = replace(entry, notes="...", claims=(*entry.claims, claim("2023-04", ESTIMATE), claim("2023", RELIABLE)))
    assert used(unmoved, base).revision == first.revision
    moved = [
        used(replace(entry, claims=(*entry.claims, claim("2023-09"))), base),
        used(replace(entry, claims=(claim("2023-10", by="B"),)), base),
        used(replace(entry, claims=(claim("2023-10", by="A", looked_up=date(2026, 1, 1)),)), base),
        used(entry, model("base", "2023-07")),
        used(replace(entry, base_models=())),
        used(replace(entry, claims=()), base),
    ]
    assert len({first.revision, *(found.revision for found in moved)}) == 1 + len(moved)


def test_a_row_carries_kind_origin_and_revision() -> None:
    base = model("base", claims=(claim("2024-01", by="Base AI", looked_up=date(2025, 5, 4)),))
    known = registry(base, model("m", "2023-10", base_models=("base",)))
    report = evaluate([problem(0)], [run("m", [(0, 1, 1)])], known, Settings(), now=NOW)
    (row,) = report.rows
    written = row_to_dict(row)
    assert (written["cutoff"], written["cutoff_kind"], written["cutoff_by"]) == ("2024-01", "training_data", "Base AI")
    assert (written["cutoff_inherited_from"], written["cutoff_looked_up"]) == ("base", "2025-05-04")
    assert written["cutoff_revision"] == used(known.entries[1], base).revision
    assert "the cut-off is that of base, whose data the model inherits" in row.warnings
