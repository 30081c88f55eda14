"""The tables as Markdown for READMEs: what was measured is said, and text from outside breaks nothing."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from eval.exports.markdown import table_markdown
from eval.publishing.publication import Published
from tests.eval.editions.built import HOSTILE, edition_problem, edition_run, freeze_built, published
from tests.eval.exports.reading import bodies, csv_rows, group_of, ranked, small, with_common
from tests.eval.facts import model, registry

OWN_COLUMNS = ["run", "cut-off", "from (UTC)", "judged", "eligible", "samples", "pass@1, %", "95 % interval"]


class _Tables(HTMLParser):
    """Reads the cells of all tables, and the names of all elements."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.elements: set[str] = set()
        self.links: dict[str, str] = {}
        self._inside = False
        self._address: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
            self._inside = True
        if tag == "a":
            self._address = dict(attrs)["href"]

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._inside = False
        if tag == "a":
            self._address = None

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data
        if self._address is not None:
            self.links[data] = self._address


def read(text: str) -> _Tables:
    """The tables as a reader of Markdown shows them; HTML in it would be taken for HTML."""
    found = _Tables()
    found.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    return found


def rows_of(text: str) -> dict[str, list[str]]:
    return {row[0]: row[1:] for row in read(text).rows}


def test_the_own_table_is_in_the_order_of_cutoffs_with_the_numbers_counted_by_hand() -> None:
    rows = read(table_markdown(small(), "own")).rows
    assert rows[0] == OWN_COLUMNS
    shown = HOSTILE.replace("\u2028", "")
    assert [row[0] for row in rows[1:]] == [shown, "failing", "steady", "memoriser", "frugal", "late", "nameless"]
    assert rows[3] == ["steady", "2024-06", "2024-07-01T12:00:00Z", "34", "35", "102", "30.4", "17.2–43.6"]
    assert rows[5] == ["frugal", "2025-02-18?", "2025-02-19T12:00:00Z", "5", "5", "5", "4 of 5", "–"]
    assert rows[6] == ["late", "2025-04", "2025-05-01T12:00:00Z", "0", "0", "0", "–", "–"]
    assert rows[7] == ["nameless", "–", "–", "–", "–", "–", "–", "–"]


def test_where_there_is_no_number_the_reason_stands_under_the_table() -> None:
    text = table_markdown(small(), "own")
    assert "\n- late: no number: no problem was judged\n" in text
    assert "\n- nameless: no number: no cut-off and no release date is known\n" in text
    assert "\n- withdrawn: ghost-1: asked by its provider\n" in text


@pytest.mark.parametrize("which", ["own", "common", "equated"])
def test_the_caption_says_what_was_measured(which: str) -> None:
    of = with_common(small(), group_of([ranked("steady", 0.75)]), window_from="2025-05-01T12:00:00Z", n_eligible=66)
    caption = table_markdown(of, which).partition("\n")[0]
    assert caption.startswith(f"Edition 2025-05 (digest {small().digest[:12]}; data as of 2025-05-02T03:17:00Z; ")
    assert "built 2025-05-03T09:00:30Z by livecut 0.1.0" in caption
    assert "published strictly later than the end of the cut-off" in caption
    assert "margin 0 h, platforms all, difficulties all, flagged problems left out" in caption
    said = {
        "own": ["from the instant in the row on", small().edition.numbers.own.problem_set_digest[:12], "Student's t"],
        "common": ["66 problems published in \\[2025-05-01T12:00:00Z, ...)", "c" * 12, "clustered by contest"],
        "equated": ["37 problems published at any date", "they were not measured"],
    }
    assert [words for words in said[which] if words not in caption] == []


def test_hostile_names_break_no_table_and_are_no_markup() -> None:
    for which in ("own", "common", "equated"):
        of = with_common(small(), group_of([ranked(HOSTILE, 0.5), ranked("steady", 0.75)]))
        found = read(table_markdown(of, which))
        assert "script" not in found.elements
        assert {len(row) for row in found.rows} <= {len(found.rows[0])} if found.rows else True
        assert len(table_markdown(of, which).splitlines()) == table_markdown(of, which).count("\n")


@pytest.mark.parametrize(
    "name", ["a|b", "[x](javascript:alert(1))", "*b*", "`c`", "\\|", "a\r\nb", "<img src=x onerror=y>", "# x", "- y"]
)
def test_any_name_stays_in_its_cell(name: str) -> None:
    problems = [edition_problem(place, contest=f"c{place}") for place in range(12)]
    runs = [edition_run(name, [(place, 1, 1) for place in range(12)])]
    of = published(freeze_built(problems, runs, registry(model(name)), name=name))
    found = read(table_markdown(of, "own"))
    assert found.rows[1][0] == " ".join(name.split())
    assert found.rows[1][3:6] == ["12", "12", "12"]
    assert not found.elements - {"p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "a"}
    assert all(address.startswith("https://example.org/") for address in found.links.values())


def test_runs_are_ranked_in_their_group_best_first_and_equal_ones_by_name() -> None:
    first = group_of(
        [ranked("late", 0.5, 2, 3), ranked("failing", 0.5, 2, 3), ranked("steady", 0.75, 1, 1)], settings="b"
    )
    second = group_of([ranked("frugal", 0.9, ranks=None)], settings="a", refusal="ranks need at least 5 models")
    text = table_markdown(with_common(small(), first, second), "common")
    rows = read(text).rows
    head = ["run", "cut-off", "pass@1, %", "95 % interval", "rank", "all at once", "tier", "lacks", "samples"]
    assert rows[0] == rows[2] == head
    assert rows[1] == ["frugal", "2025-02-18?", "90.0", "80.0–100.0", "–", "–", "–", "0", "120"]
    assert rows[3] == ["steady", "2024-06", "75.0", "65.0–85.0", "1", "1–2", "1", "0", "120"]
    assert [row[0] for row in rows[3:]] == ["steady", "failing", "late"]
    assert "60 problems of 20 contests, runs with b:" in text
    assert "- frugal: no rank: ranks need at least 5 models\n" in text


def test_a_table_without_a_finished_run_says_no_run() -> None:
    nobody = published(freeze_built([edition_problem(0)], [], registry()))
    waiting = published(freeze_built([edition_problem(0)], [edition_run("steady", [])], registry(model("steady"))))
    for which in ("own", "common", "equated"):
        text = table_markdown(nobody, which)
        assert text.splitlines()[2] == "no run"
        assert "|" not in text
        text = table_markdown(waiting, which)
        assert text.splitlines()[2] == "no run has a number in this table"
        assert "\n- steady: no number: " in text
        assert "|" not in text


def test_links_lead_to_the_site_where_it_is_known_and_else_to_the_sources() -> None:
    found = read(table_markdown(replace(small(), base_url="https://example.org/board/"), "own"))
    assert found.links["Edition 2025-05"] == "https://example.org/board/"
    assert found.links["steady"] == "https://example.org/board/models/steady.html"
    assert "2024-06" not in found.links
    found = read(table_markdown(small(), "own"))
    assert found.links["2025-02-18?"] == "https://example.org/frugal"
    assert "steady" not in found.links


@pytest.mark.parametrize("source", ["javascript:alert(1)", "ftp://x", "https://e.org/a b)|<x>"])
def test_a_source_is_a_link_only_where_it_can_be_one(source: str) -> None:
    numbers = small().edition.numbers
    rows = tuple(replace(row, cutoff_source=source) for row in numbers.own.rows)
    numbers = replace(numbers, own=replace(numbers.own, rows=rows))
    found = read(table_markdown(replace(small(), edition=replace(small().edition, numbers=numbers)), "own"))
    expected = {"https://e.org/a%20b%29%7C%3Cx%3E"} if source.startswith("https") else set()
    assert set(found.links.values()) == expected
    assert {len(row) for row in found.rows} == {8}


def test_the_files_are_the_tables_and_agree_with_the_csv_file() -> None:
    found = bodies(small(), "markdown", "results")
    for which in ("own", "common", "equated"):
        assert found[f"tables/{which}.md"].decode() == table_markdown(small(), which)
    counts = {row["run"]: row["n_judged"] for row in csv_rows(found["data/results.csv"]) if row["table"] == "own"}
    shown = rows_of(table_markdown(small(), "own"))
    assert {run: shown[run][2] for run in ("steady", "memoriser", "failing")} == {
        run: counts[run] for run in ("steady", "memoriser", "failing")
    }


def test_a_table_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r'no table "best": write own, common, equated'):
        table_markdown(small(), "best")


@pytest.mark.shared
@pytest.mark.slow
def test_the_recorded_board_has_a_row_for_each_run_in_each_table(recorded_edition: Published) -> None:
    for which in ("own", "common", "equated"):
        rows = rows_of(table_markdown(recorded_edition, which))
        assert len(rows) == 17
        assert len(table_markdown(recorded_edition, which)) < 10_000
    rows = rows_of(table_markdown(recorded_edition, "common"))
    assert rows["O4-Mini (High)"][1:4] == ["73.0", "63.4–82.5", "1–5"]
    assert "DeepSeek-V3: results of 2025-01, 2025-03 look broken" in table_markdown(recorded_edition, "own")
