"""AtCoder's recorded pages and kenkoooo's recorded files parse to what stands in them; each is accounted for."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from db.records import ContestRecord
from ingest.errors import PageChanged
from ingest.pages import Fetch, Page
from ingest.sources import ProblemList, ProblemRef, ReadProblem, Wanted, load_source
from ingest.sources._atcoder_pages import (
    ContestRow,
    read_archive,
    read_overview,
    read_tasks,
    read_times,
)
from ingest.sources._kenkoooo import Place, home_contests, read_contests, read_problems

pytestmark = pytest.mark.shared

NOW = datetime(2026, 8, 1, tzinfo=UTC)
SOURCE = load_source("atcoder")

ARCHIVES = {"contests_archive_2019-06.html": 12, "contests_archive_2019-10.html": 13}
OVERVIEW = "contests_page_2021-04.html"
HOME = "home_atgo.html"
NOT_FAITHFUL = {
    "contests_archive_2026-01_trimmed.html": "three rows of 2019, simplified by hand: no marks, no links around times",
    "contests_permanent_2026-01_trimmed.html": "one table of four rows, simplified by hand",
    "task_logged_out_atgo.html": "task_logged_in_atgo.html without its menu of the user, by hand",
}
TASKS: dict[str, tuple[str, str, list[tuple[str, str, str]]]] = {
    "tasks_abc107_2019.html": (
        "abc107",
        "2018-08-25 21:00",
        [
            ("A", "abc107_a", "Train"),
            ("B", "abc107_b", "Grid Compression"),
            ("C", "arc101_a", "Candles"),
            ("D", "arc101_b", "Median of Medians"),
        ],
    ),
    "abc153_tasks_2020.html": (
        "abc153",
        "2020-01-26 21:00",
        [
            ("A", "abc153_a", "Serval vs Monster"),
            ("B", "abc153_b", "Common Raccoon vs Monster"),
            ("C", "abc153_c", "Fennec vs Monster"),
            ("D", "abc153_d", "Caracal vs Monster"),
            ("E", "abc153_e", "Crested Ibis vs Monster"),
            ("F", "abc153_f", "Silver Fox vs Monster"),
        ],
    ),
    "tasks_atgo.html": (
        "abc234",
        "2022-01-08 21:00",
        [
            ("A", "abc234_a", "Weird Function"),
            ("B", "abc234_b", "Longest Segment"),
            ("C", "abc234_c", "Happy New Year!"),
            ("D", "abc234_d", "Prefix K-th Max"),
            ("E", "abc234_e", "Arithmetic Number"),
            ("F", "abc234_f", "Reordering"),
            ("G", "abc234_g", "Divide a Sequence"),
            ("Ex", "abc234_h", "Enumerate Pairs"),
        ],
    ),
    "tasks_atc002_2022.html": (
        "atc002",
        "2016-04-10 21:00",
        [("A", "abc007_3", "幅優先探索"), ("B", "atc002_b", "n^p mod m"), ("C", "atc002_c", "最適二分探索木")],
    ),
    "tasks_abc308_2025-12.html": (
        "abc308",
        "2023-07-01 21:00",
        [
            ("A", "abc308_a", "New Scheme"),
            ("B", "abc308_b", "Default Price"),
            ("C", "abc308_c", "Standings"),
            ("D", "abc308_d", "Snuke Maze"),
            ("E", "abc308_e", "MEX"),
            ("F", "abc308_f", "Vouchers"),
            ("G", "abc308_g", "Minimum Xor Pair Query"),
            ("Ex", "abc308_h", "Make Q"),
        ],
    ),
    "tasks_abc399_2025-04.html": (
        "abc399",
        "2025-03-29 21:00",
        [
            ("A", "abc399_a", "Hamming Distance"),
            ("B", "abc399_b", "Ranking with Ties"),
            ("C", "abc399_c", "Make it Forest"),
            ("D", "abc399_d", "Switch Seats"),
            ("E", "abc399_e", "Replace"),
            ("F", "abc399_f", "Range Power Sum"),
            ("G", "abc399_g", "Colorful Spanning Tree"),
        ],
    ),
    "tasks_codequeen2023_2025-12.html": (
        "codequeen2023-final-open",
        "2023-08-06 13:30",
        [
            ("A", "codequeen2023_final_a", "QUEN"),
            ("B", "codequeen2023_final_b", "N-Queens Problem"),
            ("C", "codequeen2023_final_c", "Path Intersection"),
            ("D", "codequeen2023_final_d", "Moving Queen"),
            ("E", "codequeen2023_final_e", "Good Partition"),
            ("F", "codequeen2023_final_f", "Queen's Crown"),
        ],
    ),
}
STATEMENTS = ("abc153_a_2020.html", "abc153_b_2020.html", "task_logged_in_atgo.html", "task_logged_out_atgo.html")
FRAGMENTS = ("statement_fragment_abc173_c_during-contest_2020-07.html", "statement_fragment_old_no-lang_vowels.html")
COMPANION = (
    "companion_expected_interactive.json",
    "companion_expected_normal.json",
    "companion_expected_normal_ja.json",
)
KENKOOOO_CONTESTS = {
    "kenkoooo_contests_2024-11_subset.json": 100,
    "kenkoooo_contests_newer_subset.json": 100,
    "kenkoooo_hidden_contests.json": 6,
}
KENKOOOO_PROBLEMS = ("kenkoooo_problems_2024-11_subset.json", "kenkoooo_problems_newer_subset.json")
LOGIN, TOP = "login_atgo.html", "contest_top_atgo.html"
ACCOUNTED_FOR = {
    *ARCHIVES,
    OVERVIEW,
    HOME,
    *NOT_FAITHFUL,
    *TASKS,
    *STATEMENTS,
    *FRAGMENTS,
    *COMPANION,
    *KENKOOOO_CONTESTS,
    *KENKOOOO_PROBLEMS,
    LOGIN,
    TOP,
}


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Path:
    return shared_data.parent / "sources" / "recorded" / "atcoder"


def page_of(folder: Path, name: str) -> Page:
    return Page(f"https://atcoder.jp/{name}", (folder / name).read_bytes(), NOW)


def instant(tokyo: str) -> datetime:
    return datetime.fromisoformat(f"{tokyo}+09:00").astimezone(UTC)


def test_every_recorded_file_is_accounted_for(recorded: Path) -> None:
    with (recorded.parent / "MANIFEST.tsv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["site"] == "atcoder"]
    names = {row["file"].removeprefix("atcoder/") for row in rows}
    assert names == ACCOUNTED_FOR
    assert len(names) == 29
    by_hand = {row["file"].removeprefix("atcoder/") for row in rows if "hand-" in row["note"].lower()}
    assert by_hand - {"kenkoooo_hidden_contests.json"} == set(NOT_FAITHFUL)


def rows_by_pattern(text: str) -> list[tuple[str, datetime, timedelta]]:
    """Id, start and duration of each row, by patterns over the source of a page as the site sends it."""
    found = []
    for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL):
        if moment := re.search(r"iso=(\d{8})T(\d{4})&p1=248", row):
            name = re.findall(r"""href=['"]/contests/([^'"]+)""", row)[-1]
            hours, minutes = re.findall(r">(\d+):(\d\d)<", row)[0]
            start = datetime.strptime(moment[1] + moment[2] + "+0900", "%Y%m%d%H%M%z")
            found.append((name, start.astimezone(UTC), timedelta(hours=int(hours), minutes=int(minutes))))
    return found


def as_found(rows: tuple[ContestRow, ...]) -> list[tuple[str, datetime, timedelta]]:
    return [
        (row.contest_id, row.starts_at, row.ends_at - row.starts_at) for row in rows if row.starts_at and row.ends_at
    ]


@pytest.mark.parametrize(("name", "last_page"), ARCHIVES.items())
def test_an_archive_has_fifty_contests(recorded: Path, name: str, last_page: int) -> None:
    page = page_of(recorded, name)
    archive = read_archive(page)
    assert as_found(archive.rows) == rows_by_pattern(page.text())
    assert (len(archive.rows), archive.menus, archive.last_page) == (50, (), last_page)
    assert all(row.title for row in archive.rows)


def test_the_archive_was_sorted_by_the_end_and_later_by_the_start(recorded: Path) -> None:
    """So neither can be relied on: a long contest stands elsewhere."""
    by_end, by_start = (read_archive(page_of(recorded, name)).rows for name in ARCHIVES)
    ends = [row.ends_at for row in by_end if row.ends_at]
    starts = [row.starts_at for row in by_start if row.starts_at]
    assert is_falling(ends)
    assert is_falling(starts)
    assert not is_falling([row.starts_at for row in by_end if row.starts_at])
    assert not is_falling([row.ends_at for row in by_start if row.ends_at])


def is_falling(instants: list[datetime]) -> bool:
    return instants == sorted(instants, reverse=True)


def test_the_page_of_current_contests_has_four_tables(recorded: Path) -> None:
    page = page_of(recorded, OVERVIEW)
    overview = read_overview(page)
    dated = (*overview.running, *overview.upcoming, *overview.recent)
    assert as_found(dated) == rows_by_pattern(page.text())
    assert page.text().count("<time") == len(dated) == 57
    assert [len(table) for table in (overview.running, overview.upcoming, overview.recent)] == [1, 6, 50]
    assert [row.contest_id for row in overview.permanent] == ["practice", "APG4b", "abs", "practice2"]
    (running,) = overview.running
    assert (running.contest_id, running.starts_at) == ("typical90", instant("2021-04-20 19:20"))
    assert running.ends_at == instant("2021-04-20 19:20") + timedelta(hours=1992, minutes=40)


def test_pages_simplified_by_hand_are_read_although_they_are_not_faithful(recorded: Path) -> None:
    archive = read_archive(page_of(recorded, "contests_archive_2026-01_trimmed.html"))
    assert [(row.contest_id, row.starts_at, row.ends_at) for row in archive.rows] == [
        ("kupc2019", instant("2019-10-13 13:00"), instant("2019-10-13 18:00")),
        ("agc039", instant("2019-10-05 21:00"), instant("2019-10-05 23:30")),
        ("abc142", instant("2019-09-28 21:00"), instant("2019-09-28 22:40")),
    ]
    assert archive.last_page is None
    overview = read_overview(page_of(recorded, "contests_permanent_2026-01_trimmed.html"))
    assert [row.contest_id for row in overview.permanent] == ["practice", "APG4b", "abs", "practice2"]


def test_the_home_page_has_tables_of_contests_too(recorded: Path) -> None:
    overview = read_overview(page_of(recorded, HOME))
    assert [row.contest_id for row in overview.permanent] == ["practice", "practice2"]
    assert (overview.running, overview.upcoming, overview.recent) == ((), (), ())


def test_the_contests_own_page_has_its_times(recorded: Path) -> None:
    times = read_times(page_of(recorded, TOP))
    assert (times.starts_at, times.ends_at) == (instant("2022-01-08 21:00"), instant("2022-01-08 22:40"))


@pytest.mark.parametrize("reader", [read_archive, read_overview, read_times, lambda page: read_tasks(page, "abc234")])
def test_the_login_page_is_taken_for_nothing(recorded: Path, reader: Callable[[Page], object]) -> None:
    with pytest.raises(PageChanged):
        reader(page_of(recorded, LOGIN))


def test_the_login_page_is_no_task(recorded: Path) -> None:
    with pytest.raises(PageChanged):
        read(page_of(recorded, LOGIN), "abc234_h", "Ex")


@pytest.mark.parametrize("name", TASKS)
def test_tasks_with_their_own_ids(recorded: Path, name: str) -> None:
    contest_id, start, tasks = TASKS[name]
    record = ContestRecord("atcoder", contest_id, starts_at=instant(start))
    listed = SOURCE.list_problems(shows(page_of(recorded, name)), record, wanted())
    assert [(ref.index, ref.native_id, ref.title) for ref in listed.problems] == tasks
    assert listed.contest.starts_at == instant(start)
    assert listed.contest.ends_at is not None


def shows(page: Page) -> Fetch:
    return lambda request: page


def wanted() -> Wanted:
    return Wanted(datetime(2012, 1, 1, tzinfo=UTC), NOW, NOW)


def read(page: Page, task_id: str, index: str) -> ReadProblem:
    contest = ContestRecord("atcoder", task_id.rpartition("_")[0])
    ref = ProblemRef(task_id, "", index)
    return SOURCE.read_problem(shows(page), ProblemList(contest, (ref,)), ref, wanted())


def samples_of(problem: ReadProblem) -> list[tuple[str, str]]:
    assert problem.record.suite is not None
    return [(test.input.decode(), (test.expected or b"").decode()) for test in problem.record.suite.tests]


def test_statements_of_2020(recorded: Path) -> None:
    first = read(page_of(recorded, "abc153_a_2020.html"), "abc153_a", "A")
    assert first.record.title == "Serval vs Monster"
    assert samples_of(first) == [("10 4\n", "3\n"), ("1 10000\n", "1\n"), ("10000 1\n", "10000\n")]
    second = read(page_of(recorded, "abc153_b_2020.html"), "abc153_b", "B")
    assert second.record.title == "Common Raccoon vs Monster"
    assert samples_of(second) == [
        ("10 3\n4 5 6\n", "Yes\n"),
        ("20 3\n4 5 6\n", "No\n"),
        ("210 5\n31 41 59 26 53\n", "Yes\n"),
        ("211 5\n31 41 59 26 53\n", "No\n"),
    ]
    for problem in (first, second):
        suite = problem.record.suite
        assert suite is not None
        assert (suite.time_limit_s, suite.memory_limit_bytes, problem.notes) == (2.0, 2**30, ())
        (claim,) = problem.record.dates
        assert (claim.as_written, claim.earliest) == ("2020-01-26T21:00:00+09:00", instant("2020-01-26 21:00"))
        assert problem.record.language == "en"
        assert [language for language, _ in problem.record.translations] == ["ja"]
        assert "10^4" in problem.record.statement


def test_a_statement_is_the_same_for_those_who_are_logged_in(recorded: Path) -> None:
    inside, outside = (
        read(page_of(recorded, f"task_logged_{way}_atgo.html"), "abc234_h", "Ex") for way in ("in", "out")
    )
    assert replace(inside.record, page_sha256=None) == replace(outside.record, page_sha256=None)
    assert inside.notes == outside.notes
    assert inside.record.title == "Enumerate Pairs"
    samples = samples_of(inside)
    assert samples[0] == ("6 5\n2 0\n2 2\n3 4\n0 0\n5 5\n8 3\n", "9\n1 2\n1 3\n1 4\n2 3\n2 4\n2 5\n3 4\n3 5\n5 6\n")
    assert samples[1] == ("2 1414213562\n0 0\n1000000000 1000000000\n", "0\n")
    assert (samples[2][0].split()[:2], samples[2][1].count("\n"), len(samples)) == (["10", "150"], 30, 3)
    assert inside.record.suite is not None
    assert inside.record.suite.time_limit_s == 4.0


def framed(folder: Path, name: str, limits: str = "") -> Page:
    """A recorded statement in a page: only the statement was recorded."""
    frame = (
        '<script>var startTime = moment("2020-07-05T21:00:00+09:00");'
        'var endTime = moment("2020-07-05T22:40:00+09:00");</script>'
        f'<span class="h2">C - Fragment</span>{limits}'
    )
    return Page(f"https://atcoder.jp/{name}", frame.encode() + (folder / name).read_bytes() + b"</html>", NOW)


def test_a_statement_recorded_while_its_contest_ran_has_no_warning_in_it(recorded: Path) -> None:
    problem = read(framed(recorded, FRAGMENTS[0]), "abc173_c", "C")
    assert [output for _, output in samples_of(problem)] == ["5\n", "1\n", "0\n", "208\n"]
    assert samples_of(problem)[0][0] == "2 3 2\n..#\n###\n"
    texts = [problem.record.statement, *(text for _, text in problem.record.translations)]
    assert not any("22:40" in text or "SNS" in text for text in texts)
    assert problem.record.suite is not None
    assert (problem.record.suite.time_limit_s, problem.record.suite.memory_limit_bytes) == (1.0, 2**30)


def test_an_old_statement_is_japanese_and_has_its_samples(recorded: Path) -> None:
    page = framed(recorded, FRAGMENTS[1], "<p>Time Limit: 2 sec / Memory Limit: 64 MB</p>")
    problem = read(page, "abc020_x", "B")
    assert (problem.record.language, problem.record.translations) == ("ja", ())
    assert samples_of(problem) == [
        ("chokudai\n", "chkd\n"),
        ("okanemochi\n", "knmch\n"),
        ("aoki\n", "k\n"),
        ("mazushii\n", "mzsh\n"),
    ]


def test_the_pages_that_companion_has_expectations_for_are_not_recorded(recorded: Path) -> None:
    """Their urls are of other tasks than the recorded pages, so there is nothing to compare."""
    expected = [json.loads((recorded / name).read_text(encoding="utf-8"))["url"] for name in COMPANION]
    pages = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(recorded.glob("*.html"))]
    for url in expected:
        task = url.rpartition("/")[2]
        assert not any(f"/{task}" in page for page in pages)


def kenkoooo(recorded: Path) -> dict[str, datetime | None]:
    return {
        contest_id: contest.starts_at
        for name in KENKOOOO_CONTESTS
        for contest_id, contest in read_contests(page_of(recorded, name)).items()
    }


@pytest.mark.parametrize(("name", "size"), KENKOOOO_CONTESTS.items())
def test_contests_of_kenkoooo(recorded: Path, name: str, size: int) -> None:
    page = page_of(recorded, name)
    contests = read_contests(page)
    assert len(contests) == size
    for row in page.json():
        contest = contests[row["id"]]
        start, duration = row["start_epoch_second"], row["duration_second"]
        assert contest.starts_at == (datetime.fromtimestamp(start, UTC) if start else None)
        assert contest.ends_at == (datetime.fromtimestamp(start + duration, UTC) if start else None)


def test_a_contest_of_start_0_dates_no_task(recorded: Path) -> None:
    """It ran from 2021-04-20 on and became permanent: its start was overwritten, and its tasks have none left."""
    starts = kenkoooo(recorded)
    assert [contest_id for contest_id, start in starts.items() if start is None] == ["typical90"]
    places = [place for name in KENKOOOO_PROBLEMS for place in read_problems(page_of(recorded, name))]
    assert len(places) == 200
    homes = home_contests(starts, places)
    assert {place.task_id for place in places if place.contest_id == "typical90"} == {"typical90_j", "typical90_by"}
    assert not [task for task in homes if task.startswith("typical90")]
    assert homes["codefestival_2016_final_a"].contest_id == "cf16-final"
    assert homes["abc308_b"].starts_at == instant("2023-07-01 21:00")


def test_a_training_is_never_the_home_of_a_task(recorded: Path) -> None:
    starts = kenkoooo(recorded)
    trainings = [contest_id for contest_id, start in starts.items() if contest_id.startswith("adt_") and start]
    assert len(trainings) == 16
    places = [Place(contest_id, "abc308_b") for contest_id in trainings]
    assert home_contests(starts, places) == {}
    assert home_contests(starts, [*places, Place("abc308", "abc308_b")])["abc308_b"].contest_id == "abc308"


def test_tasks_whose_prefix_is_another_contests(recorded: Path) -> None:
    """The places are those of the recorded pages, with the starts that these embed."""
    places, starts = [], kenkoooo(recorded)
    for name, (contest_id, _, _) in TASKS.items():
        page = page_of(recorded, name)
        starts[contest_id] = read_times(page).starts_at
        places += [Place(contest_id, task.task_id) for task in read_tasks(page, contest_id)]
    homes = home_contests(starts, places)
    assert homes["arc101_b"].contest_id == "abc107"
    assert homes["arc101_b"].starts_at == instant("2018-08-25 21:00")
    together = home_contests(starts | {"arc101": starts["abc107"]}, [*places, Place("arc101", "arc101_b")])
    assert together["arc101_b"].contest_id == "arc101"
    # abc007 is not recorded: any start before atc002's shows the rule
    earlier = home_contests(starts | {"abc007": instant("2014-04-19 21:00")}, [*places, Place("abc007", "abc007_3")])
    assert (homes["abc007_3"].contest_id, earlier["abc007_3"].contest_id) == ("atc002", "abc007")
    assert homes["codequeen2023_final_a"].contest_id == "codequeen2023-final-open"


def test_kenkoooo_and_the_recorded_lists_agree_but_for_a_move_and_a_permanent_contest(recorded: Path) -> None:
    """21 contests stand in both: arc118, announced for 21:00, began at 22:05; typical90 lost its start."""
    rows = [row for name in ARCHIVES for row in read_archive(page_of(recorded, name)).rows]
    overview = read_overview(page_of(recorded, OVERVIEW))
    rows += [*overview.running, *overview.upcoming, *overview.recent]
    starts = kenkoooo(recorded)
    shared = {row.contest_id: row.starts_at for row in rows if row.contest_id in starts}
    assert len(shared) == 21
    assert {name: (start, starts[name]) for name, start in shared.items() if start != starts[name]} == {
        "arc118": (instant("2021-05-09 21:00"), instant("2021-05-09 22:05")),
        "typical90": (instant("2021-04-20 19:20"), None),
    }
