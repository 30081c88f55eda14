"""What the pages say: the numbers of the edition and no others, each with its reason where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from eval.editions.document import RankedWindow
from eval.publishing.publication import OtherEdition, Published
from eval.render import to_markdown
from eval.sheets import Sheet, Table, count, text
from eval.site.pages import site_files
from tests.eval.editions.built import (
    FROZEN_AT,
    HOSTILE,
    edition_problem,
    edition_run,
    freeze_built,
    invented,
    published,
)
from tests.eval.facts import model, registry
from tests.eval.site.reading import KINDS, Site, cell_text, empty_cells, invented_site, rows_of, small_pictures

WITHOUT_MEANING_WHEN_EMPTY = {"note", "remark", "flags", "0 to 100 %"}
"""Columns whose cells say something only where there is something to say."""


@pytest.fixture(scope="module")
def site() -> Site:
    return invented_site()


@pytest.fixture(scope="module")
def source() -> Published:
    return published(invented())


def _markdown_rows(source: Published) -> dict[str, dict[str, str]]:
    """The table that `live eval --md` shows, by model: another way to the same texts."""
    lines = to_markdown(source.edition.numbers.own).splitlines()
    split = [
        [cell.strip() for cell in line.strip("|").replace("\\|", "\0").split("|")] for line in lines if line[:1] == "|"
    ]
    heads = split[0]
    rows = source.edition.numbers.own.rows
    return {row.run: dict(zip(heads, cells, strict=True)) for row, cells in zip(rows, split[2:], strict=True)}


def test_the_own_table_has_the_texts_of_the_command_line(site: Site, source: Published) -> None:
    shown = rows_of(site.page("index.html"), "own")
    expected = _markdown_rows(source)
    assert set(shown) == {run.name for run in source.edition.runs}
    for name, cells in expected.items():
        on_page = shown[name]
        assert on_page["pass@1"] == cells["pass@1"]
        assert on_page["95 %"] == cells["95 % interval"]
        assert [on_page["judged"], on_page["of eligible"], on_page["samples"]] == [
            cells["judged"],
            cells["eligible"],
            cells["samples"],
        ]
        assert on_page["cut-off"].splitlines()[0] == cells["cut-off"].strip("[").split("]")[0]
        if cells["by difficulty"]:
            assert ", ".join(on_page["by difficulty"].split("\n")) == cells["by difficulty"]
        start = cells["window (UTC)"].strip("[").split(",")[0]
        assert on_page["counts from (UTC)"].replace("\n", "T") == start[:16]


def test_a_handful_of_problems_is_a_count_and_no_rate(site: Site) -> None:
    frugal = rows_of(site.page("index.html"), "own")["frugal"]
    assert (frugal["pass@1"], frugal["95 %"]) == ("4 of 5", "–")
    assert frugal["note"] == "fewer than 10 problems (5): read it as a list, not as a rate"
    assert frugal["0 to 100 %"] == ""
    assert frugal["cut-off"].split("\n") == ["2025-02-18?", "release date"]


def test_a_model_without_a_score_has_its_row_and_the_reason(site: Site) -> None:
    page = site.page("index.html")
    for table in ("own", "common"):
        row = rows_of(page, table)["nameless"]
        assert row["pass@1"] == "–"
        assert row["note"].endswith("no cut-off and no release date is known")
    said = page.find(id="own-section")
    assert said is not None
    assert "nameless is not scored: no cut-off and no release date is known" in said.get_text()
    assert "ghost-1 was withdrawn: asked by its provider" in said.get_text()


def _sheet_rows(sheet: Sheet) -> dict[str, dict[str, str]]:
    found = {}
    for table in sheet.tables:
        columns = table.shown()
        for place, name in enumerate(columns[0].cells):
            found[name] = {column.heading: column.cells[place] for column in columns}
    return found


@pytest.mark.parametrize(
    ("table", "same"),
    [
        ("common", ("rank", "all at once", "tier", "lacks", "95 %", "cut-off")),
        ("equated", ("cut-off", "own problems", "95 %")),
        ("saturation", ("cut-off", "saturated n", "fresh n", "left out", "95 %")),
    ],
)
def test_other_tables_have_the_texts_of_their_sheets(
    site: Site, source: Published, table: str, same: tuple[str, ...]
) -> None:
    sheet = getattr(source.edition.numbers, table)
    shown = rows_of(site.page("index.html"), table)
    rows = _sheet_rows(sheet)
    assert rows
    for name, cells in rows.items():
        assert {heading: shown[name][heading] for heading in same} == {heading: cells[heading] for heading in same}


@pytest.mark.shared
def test_the_recorded_board_has_the_texts_of_its_sheets(recorded_edition: Published) -> None:
    index = BeautifulSoup(next(site_files(recorded_edition, small_pictures(recorded_edition))).body, "lxml")
    shown = rows_of(index, "common")
    expected = _sheet_rows(recorded_edition.edition.numbers.common)
    assert len(expected) == 16
    for name, cells in expected.items():
        assert shown[name]["pass@1"] == f"{cells['pass@1']} %"
        for heading in ("95 %", "rank", "all at once", "tier", "lacks", "cut-off"):
            assert shown[name][heading] == cells[heading]
    own = rows_of(index, "own")
    for name, cells in _markdown_rows(recorded_edition).items():
        assert (own[name]["pass@1"], own[name]["95 %"]) == (cells["pass@1"], cells["95 % interval"])
    assert own["DeepSeek-V3"]["broken months"].split("\n") == ["2 of 23", "2025-01", "2025-03"]
    files = {file.path: file.body for file in site_files(recorded_edition, {}) if file.path.startswith("models/deep")}
    (broken,) = (BeautifulSoup(body, "lxml").get_text() for body in files.values())
    assert "results of 2025-01, 2025-03 look broken" in broken
    assert own["Claude-3.5-Sonnet-20241022"]["gap at the cut-off"] == "gap found on leetcode"
    assert own["O4-Mini (High)"]["gap at the cut-off"].split("\n") == [
        "gap not found on leetcode",
        "12.4 points would show",
    ]


def test_every_empty_cell_has_a_reason_in_words(site: Site) -> None:
    found = 0
    for path in site.pages:
        page = site.page(path)
        for table, cell in empty_cells(page):
            mark = cell.select_one("[role=doc-noteref]")
            assert mark is not None, f"{path}: {table} has an empty cell without a reason: {cell.parent}"
            reason = page.find("li", id=str(mark["href"])[1:])
            assert reason is not None
            assert len(reason.get_text().split()) >= 2
            found += 1
    assert found > 50


def test_no_cell_is_blank_where_a_number_belongs(site: Site) -> None:
    for path in site.pages:
        for table in site.page(path).find_all("table"):
            heads = [cell_text(head) for head in table.select("thead th")]
            for row in table.select("tbody tr:not(.group)"):
                for head, cell in zip(heads, row.find_all(["th", "td"]), strict=True):
                    assert cell_text(cell).strip() or head in WITHOUT_MEANING_WHEN_EMPTY, f"{path}: {head}: {row}"


def test_private_problems_are_told_of_in_aggregate_alone(site: Site) -> None:
    private = rows_of(site.page("index.html"), "private")
    assert private["steady"] == {"model": "steady", "pass@1": "–", "95 %": "–", "n": "1"}
    for path, body in site.files.items():
        assert b"hush" not in body, path
        assert b"Secret Garden" not in body, path


def test_conditions_stand_on_the_index(site: Site) -> None:
    said = " ".join(site.page("index.html").get_text().split())
    for words in (
        "2025-05-02 03:17 UTC",
        "strictly after the end of the model's cut-off at UTC−12",
        "e" * 64,
        "contest_t: standard error clustered by contest",
        "A note of <em>the</em> maintainer",
        "livecut 0.1.0",
    ):
        assert words in said


def test_what_was_left_out_adds_up(site: Site, source: Published) -> None:
    left_out = rows_of(site.page("index.html"), "left-out")
    for cells in left_out.values():
        counts = [int(number) for head, number in cells.items() if head not in ("model", "problems", "judged")]
        assert int(cells["problems"]) == int(cells["judged"]) + sum(counts)
    assert left_out["steady"]["published before the cut-off"] == "22"


def test_a_problem_counts_where_the_rows_say_that_it_does(site: Site, source: Published) -> None:
    counted = dict.fromkeys((run.name for run in source.edition.runs), 0)
    for path in site.pages:
        if path.startswith("problems/"):
            for name, cells in rows_of(site.page(path), "results").items():
                counted[name] += cells["counts in its row"] == "yes"
                assert cells["counts in its row"] != "yes" or cells["published"] == "after the cut-off"
    assert counted == {
        **dict.fromkeys(counted, 0),
        **{row.run: row.n_judged for row in source.edition.numbers.own.rows},
    }
    for row in source.edition.numbers.own.rows:
        page = site.page(f"models/{source.run_slugs[row.run]}.html")
        listed = rows_of(page, "results") if row.n_judged else {}
        assert len(listed) == row.n_judged


def test_a_model_page_says_what_its_cutoff_rests_on(site: Site) -> None:
    page = site.page(KINDS["scored model"])
    claims = rows_of(page, "claims")
    assert claims["used"]["as written"] == "2024-06"
    assert claims["used"]["read as"] == "2024-06-01 to 2024-06-30"
    assert claims["used"]["said by"] == "–"
    failing = site.page("models/failing.html").find_all("table", id="claims")[0]
    used = [row.get_text(" ") for row in failing.select("tbody tr") if cell_text(row.find_all("th")[0]) == "used"]
    assert len(used) == 1
    assert "steady" in used[0]


def test_failures_are_shown_as_text_with_their_test(site: Site) -> None:
    page = site.page(KINDS["scored model"])
    programs = [block.get_text() for block in page.select("#main pre code")]
    assert programs == ["print('</pre><script>')\n", "while True:\n    pass\n"]
    said = " ".join(page.get_text().split())
    assert "atcoder:p31: time limit on test 11; python; the program is longer than what is shown" in said
    assert rows_of(page, "verdicts") == {
        name: {"verdict": name, "samples": number}
        for name, number in (("accepted", "40"), ("wrong answer", "12"), ("time limit", "3"))
    }


def test_an_imported_run_says_that_there_are_no_programs(site: Site) -> None:
    said = " ".join(site.page(KINDS["imported model"]).get_text().split())
    assert "imported from site: there are no programs here" in said


def test_a_problem_page_shows_the_evidence_and_who_may_have_seen_it(site: Site) -> None:
    page = site.page(KINDS["problem of odd dates"])
    said = " ".join(page.get_text().split())
    assert "2024-04-08 00:00 UTC, to the day; certainly public by 2024-04-09 00:00 UTC" in said
    evidence = rows_of(page, "evidence")
    assert [cells["decides"] for cells in evidence.values()] == ["this one"]
    results = rows_of(page, "results")
    assert results["steady"]["published"] == "before the cut-off: may have seen it"
    assert results["nameless"]["published"] == "no cut-off is known: may have seen it"
    link = page.select_one('#main a[href^="https://atcoder.example/tasks/"]')
    assert link is not None


def test_flags_say_what_they_do(site: Site) -> None:
    flags = site.page("problems/atcoder-p7.html").select("section[aria-labelledby=flags] :is(dt, dd)")
    assert [flag.get_text() for flag in flags] == [
        "bad tests",
        "two right programs fail <test 3>: keeps it out of every score",
    ]


def test_the_list_of_problems_has_each_one_once(site: Site, source: Published) -> None:
    assert set(rows_of(site.page("problems.html"), "problems")) == {one.written_id for one in source.edition.problems}


def _long(n: int) -> Published:
    problems = [
        edition_problem(
            place, exposed_at=f"{2022 + place % 3}-05-{1 + place % 28:02d}T12:00", title="A title of usual length"
        )
        for place in range(n)
    ]
    runs = [edition_run("steady", [(place, 10, place % 11) for place in range(n)])]
    return published(freeze_built(problems, runs, registry(model("steady", "2022-06"))))


def test_a_long_list_is_split_by_year_into_pages_below_a_megabyte() -> None:
    lists = {
        file.path: file.body
        for file in site_files(_long(1_600), {})
        if file.path.startswith("problems") and "/" not in file.path
    }
    assert set(lists) == {"problems.html", "problems-2022.html", "problems-2023.html", "problems-2024.html"}
    assert max(map(len, lists.values())) < 1_000_000
    ids = [name for path in sorted(lists)[:-1] for name in rows_of(BeautifulSoup(lists[path], "lxml"), "problems")]
    assert len(ids) == len(set(ids)) == 1_600
    overview = BeautifulSoup(lists["problems.html"], "lxml").select("ul.parts a")
    assert [str(link["href"]) for link in overview] == [
        "problems-2024.html",
        "problems-2023.html",
        "problems-2022.html",
    ]


def _others() -> tuple[OtherEdition, ...]:
    return tuple(OtherEdition(name, FROZEN_AT, name * 8, 5, 2, f"note of {name}") for name in ("2025-04", "2025-03"))


def test_editions_lead_to_each_other(source: Published) -> None:
    several = replace(source, others=_others())
    at_root = BeautifulSoup(_body(several, "editions.html"), "lxml").select("tbody a")
    assert [str(link["href"]) for link in at_root] == [
        "index.html",
        "editions/2025-04/index.html",
        "editions/2025-03/index.html",
    ]
    below = BeautifulSoup(_body(several, "editions.html", root="../../", at_root="2025-04"), "lxml").select("tbody a")
    assert [str(link["href"]) for link in below] == [
        "index.html",
        "../../index.html",
        "../../editions/2025-03/index.html",
    ]


def test_changes_since_the_edition_before_are_shown(source: Published) -> None:
    moved = Table("Scores that moved", (text("model"), count("problems")), (("steady", 3), ("gone", None)), ("a note",))
    changed = replace(source, changes=Sheet("2025-04 to 2025-05", ("2 weeks apart",), (moved,), ("all told",)))
    page = BeautifulSoup(_body(changed, "index.html"), "lxml")
    assert rows_of(page, "changes-1")["steady"] == {"model": "steady", "problems": "3"}
    said = page.find(id="changes")
    assert said is not None
    for words in ("2 weeks apart", "all told", "a note"):
        assert words in said.get_text()


def _body(source: Published, path: str, *, root: str = "", at_root: str = "") -> bytes:
    files = site_files(source, {}, root=root, at_root=at_root)
    return next(file.body for file in files if file.path == path)


def test_an_edition_of_nothing_has_pages_all_the_same(source: Published) -> None:
    nothing = published(freeze_built([], [], registry()))
    files = {file.path for file in site_files(nothing, {})}
    assert {"index.html", "problems.html", "limits.html", "editions.html", "static/style.css"} <= files
    emptied = replace(source.edition.numbers, common=Sheet("", (), ()), equated=Sheet("", (), ()), saturation=None)
    assert _body(replace(source, edition=replace(source.edition, numbers=emptied)), "index.html")


def test_limits_name_the_thresholds_of_the_code(site: Site) -> None:
    thresholds = rows_of(site.page("limits.html"), "thresholds")
    assert thresholds["a rate in percent"]["needed"] == "10 problems"
    assert thresholds["ranks"]["needed"] == "30 common problems and 5 models"
    said = " ".join(site.page("limits.html").get_text().split())
    assert "of the 58 public problems here: 30 official tests, 23 made tests, 1 no tests" in said
    assert "1 official and made tests, 1 recovered tests, 1 sample tests only, 1 tests of origin not" in said
    assert "Part of the problems is private" in said


def test_what_scripts_need_is_there(site: Site, source: Published) -> None:
    page = site.page("index.html")
    form = page.find("form", id="view")
    assert form is not None
    assert form.has_attr("hidden")
    assert form["data-build"] == source.build_id
    assert {str(box["value"]) for box in form.select('input[name="platform"]')} == {"atcoder", "codeforces"}
    assert [str(field["name"]) for field in form.select('input[type="month"]')] == ["from", "to"]
    assert form.select_one('button[type="reset"]') is not None
    said = page.find(id="view-said")
    assert said is not None
    assert said["aria-live"] == "polite"
    for table in ("own", "common"):
        rows = page.select(f'table[data-table="{table}"] tr[data-run]')
        assert {str(row["data-run"]) for row in rows} == set(source.run_slugs.values())
        sorted_by = page.select(f'table[data-table="{table}"] th[aria-sort] button[data-sort]')
        assert {str(button["data-sort"]) for button in sorted_by} == {"number", "text"}
    steady = page.select_one('#own tr[data-run="steady"] [data-column="score"]')
    assert steady is not None
    assert float(str(steady["data-value"])) == pytest.approx(0.303922, abs=1e-6)
    unscored = page.select_one('#own tr[data-run="nameless"] [data-column="score"]')
    assert unscored is not None
    assert not unscored.has_attr("data-value")


def test_files_are_named_with_their_sizes(site: Site) -> None:
    listed = [" ".join(item.get_text().split()) for item in site.page("index.html").select("#files li")]
    assert listed == [
        "results.csv 12 kB, results.json 54 kB: Every run in every table",
        "feed.xml 999 bytes: editions and new problems as an Atom feed",
        "badges/RUN.json: a badge for each run",
    ]


def test_ranked_windows_change_no_page(source: Published) -> None:
    """Ranks of other windows are for the script alone."""
    window = RankedWindow(FROZEN_AT, None, ())
    numbers = replace(source.edition.numbers, ranked_windows=(window,))
    changed = replace(source, edition=replace(source.edition, numbers=numbers))
    assert _body(changed, "index.html") == _body(source, "index.html")


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_text_is_text(site: Site, kind: str) -> None:
    page = site.page(KINDS[kind])
    assert not page.select("script:not([src]), em, i, b, iframe, object")
    assert not [tag for tag in page.find_all(True) for name in tag.attrs if name.startswith("on") or name == "style"]


def test_a_hostile_title_is_shown_whole(site: Site) -> None:
    heading = site.page("problems/atcoder-p3.html").find("h1")
    assert heading is not None
    assert heading.get_text() == HOSTILE
