from __future__ import annotations

import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import ContestKind, Precision, TestOrigin
from ingest.errors import Absent, NotConfigured, PageChanged
from ingest.packages import open_package
from ingest.pages import Page, Request
from ingest.sources import ProblemList, ProblemRef, ReadProblem, Wanted, load_source
from ingest.sources.icpc import claimed_dates, discover, image_flags, list_problems, read_problem
from tests.ingest.reading import DATA
from tests.ingest.reading import read as read_format

CUP = DATA / "icpc" / "spring-cup"
NOW = datetime(2026, 3, 8, tzinfo=UTC)
EMBARGO = datetime(2026, 3, 7, 12, tzinfo=UTC)


def no_network(request: Request | str) -> Page:
    raise AssertionError(f"asked for {request}")


def wanted(*paths: Path, now: datetime = NOW) -> Wanted:
    window = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
    return Wanted(*window, now, {"paths": [str(path) for path in paths]})


def lists(want: Wanted) -> dict[str, ProblemList]:
    found = discover(no_network, want)
    return {one.native_id: list_problems(no_network, one, want) for one in found.contests}


def read(want: Wanted) -> dict[str, ReadProblem]:
    return {
        ref.native_id: read_problem(no_network, listed, ref, want)
        for listed in lists(want).values()
        for ref in listed.problems
    }


def package(folder: Path, yaml: str = "name: Small\n", **files: str) -> Path:
    defaults = {"data__secret__1.in": "1\n", "data__secret__1.ans": "2\n", "problem.yaml": yaml}
    for name, content in (defaults | files).items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return folder


def test_the_source_is_found_by_its_name_and_asks_no_host() -> None:
    source = load_source("icpc")
    assert (source.hosts, source.checks, source.twins) == ((), (), False)


@pytest.mark.parametrize("settings", [{}, {"paths": []}, {"paths": "a"}, {"paths": [1]}, {"paths": [""]}])
def test_without_folders_it_is_not_configured(settings: dict[str, Any]) -> None:
    with pytest.raises(NotConfigured, match="no folder of packages") as failed:
        discover(no_network, replace(wanted(), settings=settings))
    assert "[sources.icpc]" in failed.value.hint


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="absent is not a folder"):
        discover(no_network, wanted(CUP, tmp_path / "absent"))
    with pytest.raises(PageChanged, match="no problem package in"):
        discover(no_network, wanted(tmp_path))


@pytest.mark.parametrize("path", [CUP, CUP.parent])
def test_a_folder_of_packages_is_a_contest(path: Path) -> None:
    listing = discover(no_network, wanted(path))
    (contest,) = listing.contests
    assert (contest.platform, contest.native_id, contest.title) == ("icpc", "spring-cup", "Spring Cup 2026")
    assert (contest.starts_at, contest.ends_at, contest.kind) == (None, None, ContestKind.ROUND)
    assert (listing.is_complete, listing.seen, listing.notes) == (False, {"packages": 2}, ())
    assert list_problems(no_network, contest, wanted(path)).problems == (
        ProblemRef("spring-cup/lamps", "Lamps"),
        ProblemRef("spring-cup/piles", "Piles"),
    )


def test_a_package_whole() -> None:
    found = read(wanted(CUP))["spring-cup/lamps"]
    record = found.record
    assert (str(record.key), record.title, record.source) == ("icpc:spring-cup/lamps", "Lamps", "icpc")
    assert (record.language, record.translations) == ("en", (("sv", "Skriv antalet lampor.\n"),))
    assert record.statement.startswith("# Lamps\n\nPrint how many of $10^5$ lamps")
    assert record.suite is not None
    assert (record.suite.time_limit_s, record.suite.memory_limit_bytes) == (2.0, 512 * 2**20)
    assert [(test.name, test.origin) for test in record.suite.tests] == [
        ("sample/1", TestOrigin.SAMPLE),
        ("secret/1", TestOrigin.OFFICIAL),
    ]
    assert [name for name, _ in record.flags] == ["partial_tests", "needs_image"]
    assert found.notes == ("spring-cup/lamps/data/secret/2: has no answer file",)


def test_what_the_format_reads_is_what_the_source_reads() -> None:
    """Two ways to one problem: the same id and the same suite, so that neither makes a second one."""
    by_format = {problem.key.native_id: problem for problem in read_format("kattis", CUP.parent).problems}
    for native_id, found in read(wanted(CUP)).items():
        other = by_format[native_id]
        assert (found.record.key, found.record.suite, found.record.statement) == (
            other.key,
            other.suite,
            other.statement,
        )
        assert (found.record.title, found.record.translations) == (other.title, other.translations)


def test_the_package_names_its_embargo_and_its_year() -> None:
    lamps, piles = (read(wanted(CUP))[f"spring-cup/{name}"].record.dates for name in ("lamps", "piles"))
    assert [(claim.as_written, claim.earliest, claim.precision, claim.source, claim.contest) for claim in lamps] == [
        ("2026-03-07T12:00:00", EMBARGO, Precision.INSTANT, "embargo_until", ""),
        ("Spring Cup 2026", datetime(2026, 1, 1, tzinfo=UTC), Precision.YEAR, "problem.yaml", "spring-cup"),
    ]
    assert [(claim.as_written, claim.precision) for claim in piles] == [("Spring Cup 2026", Precision.YEAR)]


def test_the_day_of_a_manifest_stands_in_place_of_the_embargo(tmp_path: Path) -> None:
    shutil.copytree(CUP, tmp_path / "spring-cup")
    (tmp_path / "manifest.json").write_text('[{"dir": "spring-cup/lamps", "contest_date": "2026-02-28"}]')
    claims = read(wanted(tmp_path))["spring-cup/lamps"].record.dates
    assert [(claim.as_written, claim.precision, claim.source) for claim in claims] == [
        ("2026-02-28", Precision.DAY, "manifest.json"),
        ("Spring Cup 2026", Precision.YEAR, "problem.yaml"),
    ]


def test_a_package_is_not_shown_before_its_embargo_ends(tmp_path: Path) -> None:
    before = wanted(CUP, now=datetime(2026, 3, 7, 11, 59, tzinfo=UTC))
    assert [ref.native_id for ref in lists(before)["spring-cup"].problems] == ["spring-cup/piles"]
    assert discover(no_network, before).notes == ("1 packages of spring-cup wait for the end of their embargo",)
    assert len(lists(wanted(CUP, now=EMBARGO))["spring-cup"].problems) == 2
    package(tmp_path / "cup" / "secret", "name: A\nembargo_until: 2026-03-09\n")
    listing = discover(no_network, wanted(tmp_path))
    assert (listing.contests, len(listing.notes)) == ((), 1)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/Los_Angeles"])
def test_an_embargo_without_a_zone_is_in_utc(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        claims = read(wanted(CUP))["spring-cup/lamps"].record.dates
    finally:
        monkeypatch.undo()
        time.tzset()
    assert claims[0].earliest == EMBARGO


@pytest.mark.parametrize(
    ("source", "written", "precision"),
    [
        ("NCPC 2021", datetime(2021, 1, 1, tzinfo=UTC), Precision.YEAR),
        ("Cup of 2021-06-26", datetime(2021, 6, 26, tzinfo=UTC), Precision.DAY),
        ("2019 Cup, final of 2019", datetime(2019, 1, 1, tzinfo=UTC), Precision.YEAR),
        ("SWERC 2021-2022", None, None),
        ("CERC 2021/22", None, None),
        ("CERC 2021–22", None, None),
        ("Cup 2020, again in 2021", None, None),
        ("2021-06-26 or 2021-06-27", None, None),
        ("Contest of the 20210 lamps", None, None),
        ("Cup 2027", None, None),  # after this year: no year of a contest
        ("The 2048 Game", None, None),
        ("Cup", None, None),
    ],
)
def test_only_a_certain_year_of_the_source_is_a_date(
    tmp_path: Path, source: str, written: datetime | None, precision: Precision | None
) -> None:
    found = open_package(package(tmp_path / "a", f'name: A\nsource: "{source}"\n'))
    claims = claimed_dates(found, "cup", NOW, has_day=False)
    expected = [] if written is None else [(source, written, precision)]
    assert [(claim.as_written, claim.earliest, claim.precision) for claim in claims] == expected


def test_every_contest_that_a_package_names_is_claimed(tmp_path: Path) -> None:
    found = open_package(package(tmp_path / "a", "source: [Cup 2022, {name: Cup 2020}]\n"))
    assert [claim.earliest.year for claim in claimed_dates(found, "cup", NOW, has_day=True)] == [2022, 2020]


@given(st.text(max_size=20))
def test_any_name_of_a_contest_gives_a_past_year_or_nothing(source: str) -> None:
    found = replace(open_package(CUP / "piles"), sources=(source,))
    try:
        claims = claimed_dates(found, "cup", NOW, has_day=True)
    except ValueError as refused:
        assert "is not a date" in str(refused)
    else:
        assert all(1971 <= claim.earliest.year <= 2026 for claim in claims if claim.precision is Precision.YEAR)


def test_what_cannot_be_read_fails_alone(tmp_path: Path) -> None:
    package(tmp_path / "cup" / "good", "name: Good\n")
    package(tmp_path / "cup" / "broken", "name: [\n")
    package(tmp_path / "cup" / "unsure", "name: Unsure\nembargo_until: in spring\n")
    want = wanted(tmp_path)
    listed = lists(want)["cup"]
    assert [(ref.native_id, ref.title) for ref in listed.problems] == [
        ("cup/broken", "broken"),
        ("cup/good", "Good"),
        ("cup/unsure", "unsure"),
    ]
    for place, says in ((0, "is not YAML"), (2, "'in spring' is not a date")):
        with pytest.raises(PageChanged, match=says):
            read_problem(no_network, listed, listed.problems[place], want)
    assert read_problem(no_network, listed, listed.problems[1], want).record.title == "Good"


def test_packages_beside_other_folders_are_one_contest_under_their_own_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        package(tmp_path / "repository" / name, f"name: {name}\n")
    (tmp_path / "repository" / "slides").mkdir()
    listed = lists(wanted(tmp_path / "repository"))["repository"]
    assert [ref.native_id for ref in listed.problems] == ["one", "two"]
    record = read_problem(no_network, listed, listed.problems[0], wanted(tmp_path / "repository")).record
    assert (str(record.key), record.contest) == ("icpc:one", listed.contest)


def test_two_folders_with_one_id_are_no_two_contests(tmp_path: Path) -> None:
    for year in ("2024", "2025"):
        package(tmp_path / year / "day1" / "a", f"name: A of {year}\n")
    want = wanted(tmp_path)
    listing = discover(no_network, want)
    assert [contest.native_id for contest in listing.contests] == ["day1"]
    (note,) = listing.notes
    assert "2025/day1/a is left out" in note
    assert [ref.title for ref in lists(want)["day1"].problems] == ["A of 2024"]


def test_a_folder_named_twice_is_read_once() -> None:
    listing = discover(no_network, wanted(CUP, CUP.parent))
    assert len(listing.contests) == 1
    assert len(lists(wanted(CUP, CUP.parent))["spring-cup"].problems) == 2


def test_what_was_moved_away_is_absent(tmp_path: Path) -> None:
    package(tmp_path / "cup" / "a")
    want = wanted(tmp_path)
    listed = lists(want)["cup"]
    shutil.rmtree(tmp_path / "cup" / "a")
    package(tmp_path / "cup" / "b")
    with pytest.raises(Absent, match="cup/a"):
        read_problem(no_network, listed, listed.problems[0], want)
    shutil.rmtree(tmp_path / "cup")
    package(tmp_path / "other" / "b")
    with pytest.raises(Absent, match="cup"):
        list_problems(no_network, listed.contest, want)


@pytest.mark.parametrize(
    ("statement", "has_image"),
    [
        ("\\illustration{0.3}{cat}{A cat}\nPrint it.\n", False),
        ("% \\includegraphics{cat}\nPrint it.\n", False),
        ("Print it.\n\\includegraphics[width=2cm]{cat}\n", True),
        ("Print it.\n\n![cat](cat.png)\n", True),
        ("Print it, to 10\\% of it.\n", False),
    ],
)
def test_images_are_those_that_the_statement_includes(statement: str, has_image: bool) -> None:
    assert bool(image_flags(statement)) is has_image


@pytest.mark.parametrize("unit", ["\\includegraphics[", "\\includegraphics{", "\\ref{", "%", "~"])
def test_commands_without_an_end_are_passed_over_at_once(unit: str) -> None:
    for text in (unit * (100_000 // len(unit)), unit + " " * 100_000 + "x", "\\includegraphics" + " " * 100_000 + "x"):
        assert image_flags(text) == ()


def test_an_image_that_the_text_depends_on_keeps_the_problem_out() -> None:
    latex = "The shapes of the digits are shown in Figure~\\ref{fig:a}.\n\n\\includegraphics{digits}\n"
    assert [name for name, _ in image_flags(latex)] == ["needs_image"]
