"""A report as a table, Markdown, CSV and JSON: nothing breaks out, nothing is invented, nothing is hidden."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from eval.cutoffs import parse_cutoff
from eval.evaluation import RunOutcomes, evaluate
from eval.models import ModelEntry
from eval.render import print_table, score_text, to_csv, to_json, to_markdown
from eval.report import Report, Score
from eval.settings import Settings
from tests.eval.facts import NOW, claim, model, problem, registry, run

HOSTILE = "m|x<script>[red]*\u2028`b`"


def report_of(*entries: ModelEntry, runs: list[RunOutcomes] | None = None, ks: tuple[int, ...] = (1,)) -> Report:
    problems = [problem(number, contest=str(number // 2)) for number in range(40)]
    if runs is None:
        runs = [run(entry.name, [(n, 2, n % 3) for n in range(36)]) for entry in entries]
    return evaluate(problems, runs, registry(*entries), Settings(ks=ks), now=NOW, environment_digest="e" * 64)


def printed(report: Report, width: int = 80, **options: Any) -> str:
    out = io.StringIO()
    print_table(report, Console(file=out, width=width, **options))
    return out.getvalue()


EMPTY = model("empty", "2025-12")
ASSUMED = replace(model("assumed", None), release=parse_cutoff("2024-01-15"), release_source="https://example.org/r")
LONG_NAMED = model("derived-with-quite-a-long-name-2024-01-31", "2023-03", base_models=("m",))


def test_the_table_fits_80_columns_and_names_everything_below() -> None:
    text = printed(report_of(model("m"), EMPTY, ASSUMED, LONG_NAMED, model("online", web_access=True)))
    assert max(len(line) for line in text.splitlines()) <= 80
    in_one_line = " ".join(text.split())
    for said in (
        "cut-off 2023-10 (stated, training data, precision month, revision ",
        "cut-off 2023-10 (inherited from m, stated,",
        "note: the cut-off is that of m, whose data the model inherits",
        "cut-off 2024-01-15 (assumed, release date, precision day,",
        "window [2023-11-01T12:00:00Z, ...)",
        "36/40",
        "pass@1: 50.0 %, 95 %",
        "(contest_t, 18 contests)",
        "left out: 4 no completion",
        "no problem of the window was judged, so there is no number",
        "left out: 40 published before the cut-off",
        "note: cut-off unknown: release date used (2024-01-15)",
        "2024-01-15?",
        "Cut-offs marked ? are release dates, used where nothing is stated",
        "online: has live web access",
        "do not rank them",
        "Problem set",
        "environment eeeeeeeeeeee, made 2026-01-15T12:00Z.",
    ):
        assert said in in_one_line
    assert " 0.0 %" not in text


def test_links_stay_whole_however_long() -> None:
    link = "https://example.org/" + "a" * 200
    assert link in printed(report_of(model("m", claims=(claim("2023-10", source=link),))))


def test_colour_is_left_to_the_console(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1m" in printed(report_of(model("m")), force_terminal=True, color_system="standard")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in printed(report_of(model("m")), force_terminal=True)
    assert "\x1b" not in printed(report_of(model("m")))


def test_a_table_without_rows_still_says_why() -> None:
    text = printed(report_of(model("online", web_access=True)))
    assert "online: has live web access" in text
    assert "pass@1" not in text


def test_a_handful_of_problems_is_a_count() -> None:
    report = report_of(model("m"), runs=[run("m", [(n, 2, 1) for n in range(7)])])
    assert "3.5 of 7" in printed(report)
    assert "50.0 %" not in printed(report)


def test_a_score_without_a_number_says_why() -> None:
    nothing = Score(1, None, None, None, "none", 0, 0)
    assert score_text(nothing) == "no number: no problem was judged"
    assert score_text(replace(nothing, k=5, n_too_few=3)) == "no number: 3 problems have fewer than 5 samples"


def test_names_cannot_break_out_of_markdown_or_markup() -> None:
    report = report_of(model(HOSTILE))
    lines = to_markdown(report).splitlines()
    cells = lines[2].replace("\\|", "").count("|")
    assert cells == lines[0].count("|") == lines[1].count("|")
    assert "<script>" not in to_markdown(report)
    assert "[red]" in printed(report, width=200)


def test_markdown_has_link_window_strata_and_notes() -> None:
    text = to_markdown(report_of(model("m"), EMPTY, model("online", web_access=True)))
    assert "[2023-10](https://example.org/cutoffs)" in text
    assert "[2023-11-01T12:00:00Z, ...)" in text
    assert "easy 50.0 % of 36" in text
    assert "| – | – |" in text
    assert "- not scored: **online**: has live web access" in text
    assert "Problem set" in text
    unsafe = model("m", claims=(claim("2023-10", source="javascript:alert(1)"),))
    assert "javascript" not in to_markdown(report_of(unsafe)).splitlines()[2]


def test_csv_has_one_row_a_model() -> None:
    report = report_of(model("m"), EMPTY, ks=(1, 2))
    first, second = csv.DictReader(io.StringIO(to_csv(report)))
    assert (first["model"], first["pass_at_1"], first["n_eligible"], first["window_to"]) == ("m", "0.5", "40", "")
    assert first["pass_at_2"] != ""
    assert json.loads(first["left_out"]) == {"no completion": 4}
    assert (second["model"], second["pass_at_1"], second["ci_low"]) == ("empty", "", "")
    assert first["table_problem_set_digest"] == report.problem_set_digest
    assert to_csv(report_of()).splitlines()[0].startswith("model,")


def test_json_has_the_promised_shape() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    document = json.loads(to_json(report_of(model("m"), EMPTY, model(HOSTILE, None))), parse_constant=refuse)
    assert {"rows", "problem_set_digest", "environment_digest", "generated_at"} <= document.keys()
    assert document["generated_at"] == "2026-01-15T12:00:00Z"
    first, second = document["rows"]
    promised = {
        "model", "cutoff", "cutoff_precision", "cutoff_status", "cutoff_source", "cutoff_kind",
        "cutoff_inherited_from", "cutoff_revision", "window_from", "window_to",
        "n_eligible", "n_judged", "n_samples", "pass_at_1", "ci_low", "ci_high", "left_out",
    }  # fmt: skip
    assert promised <= first.keys()
    assert first.keys() == second.keys()
    assert (second["pass_at_1"], second["ci_low"], second["interval_method"]) == (None, None, "none")
    assert document["not_scored"] == [{"model": HOSTILE, "reason": "no cut-off and no release date is known"}]


def test_every_form_is_the_same_whatever_the_order_of_its_input() -> None:
    entries = [model("b"), model("a"), EMPTY]
    runs = [run(entry.name, [(n, 2, n % 3) for n in range(36)]) for entry in entries]
    one, other = report_of(*entries, runs=runs), report_of(*entries[::-1], runs=runs[::-1])
    for form in (to_markdown, to_csv, to_json, printed):
        assert form(one) == form(other)


def test_two_scores_fit_80_columns_whole() -> None:
    text = printed(report_of(model("m"), LONG_NAMED, ks=(1, 2)))
    assert max(len(line) for line in text.splitlines()) <= 80
    header = text.splitlines()[1]
    assert header.split()[-3:] == ["95", "%", "pass@2"]


@pytest.mark.parametrize("width", [40, 60, 70, 80])
@pytest.mark.parametrize("ks", [(1,), (1, 2, 5, 10), tuple(range(1, 11))])
def test_no_column_is_cut_however_narrow(ks: tuple[int, ...], width: int) -> None:
    """All numbers of ten columns are there, with the model beside each part, or the wide table has them not either."""
    report = report_of(
        model("m"),
        LONG_NAMED,
        runs=[run(name, [(n, 10, n % 11) for n in range(36)]) for name in ("m", LONG_NAMED.name)],
        ks=ks,
    )
    narrow, wide = (printed(report, columns).split("\n\n") for columns in (width, 200))
    parts = [part for part in narrow if part.lstrip().startswith(("model", "judged/")) or "\nmodel " in part]
    shown = " ".join(" ".join(parts).split())
    for word in wide[0].split():
        if "%" in word or "pass@" in word or "–" in word:
            assert word in shown, word
    assert all(max(map(len, part.splitlines())) <= width for part in parts)
    assert all("\nm " in part for part in parts)
