"""Packages of real contests, and the example packages of the format, through the source and through the import."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from db.engine import Store, open_store
from db.problems import list_problems as stored_problems
from db.problems import save_problem
from db.records import Precision, ProblemRecord, SaveOutcome, TestOrigin
from ingest.importing import import_problems
from ingest.packages import open_package
from ingest.pages import Page, Request
from ingest.sources import Wanted, load_source

pytestmark = pytest.mark.shared

NOW = datetime(2026, 9, 1, tzinfo=UTC)
EVERY = (datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Path:
    return shared_data.parent / "sources" / "recorded"


# Example packages of the format


@pytest.fixture
def examples(recorded: Path, tmp_path: Path) -> Path:
    """The recorded files of the two example packages at their places."""
    for file in (recorded / "kattis").glob("package_*"):
        place = tmp_path / "examples" / file.name.removeprefix("package_").replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.read_bytes())
    return tmp_path / "examples"


def test_the_example_packages_of_2025_09(examples: Path) -> None:
    passfail, maximal = (open_package(examples / name) for name in ("passfail", "maximal"))
    assert {found.version for found in (passfail, maximal)} == {"2025-09"}
    assert (passfail.title, maximal.title) == ("Sample problem", "Sample Problem")
    assert (passfail.sources, maximal.sources) == (("My Contest 2024",), ("My Contest 2024",))
    assert (passfail.language, passfail.statement.splitlines()[0]) == ("en", "\\problemname{Sample Problem}")
    assert (passfail.time_limit_s, maximal.time_limit_s) == (None, 10.0)
    assert (passfail.flags, maximal.flags, maximal.statements) == ((), (), ())
    found = {record.key.native_id: record for record in packages_of(examples)}
    suite = found["examples/passfail"].suite
    assert suite is not None
    assert [(test.name, test.input, test.expected, test.origin) for test in suite.tests] == [
        ("sample/1", b"41\n", b"42\n", TestOrigin.SAMPLE),
        ("secret/1", b"7\n", b"8\n", TestOrigin.OFFICIAL),
    ]
    assert found["examples/maximal"].suite is None  # its data was not recorded
    assert [claim.earliest.year for claim in found["examples/passfail"].dates] == [2024]


# Packages of real contests


def no_network(request: Request | str) -> Page:
    raise AssertionError(f"asked for {request}")


def packages_of(*folders: Path) -> list[ProblemRecord]:
    """All packages of the folders, through the source."""
    source, fetch = load_source("icpc"), no_network
    wanted = Wanted(*EVERY, NOW, {"paths": [str(folder) for folder in folders]})
    found: list[ProblemRecord] = []
    for contest in source.discover(fetch, wanted).contests:
        listed = source.list_problems(fetch, contest, wanted)
        found += [source.read_problem(fetch, listed, ref, wanted).record for ref in listed.problems]
    return found


@pytest.fixture(scope="module")
def packages(shared_data: Path) -> dict[str, ProblemRecord]:
    return {record.key.native_id: record for record in packages_of(shared_data / "packages")}


@pytest.fixture(scope="module")
def manifest(shared_data: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((shared_data / "packages" / "manifest.json").read_bytes())
    return entries


def test_every_package_has_the_tests_that_are_on_the_disk(
    shared_data: Path, packages: dict[str, ProblemRecord], manifest: list[dict[str, Any]]
) -> None:
    assert len(packages) == 29
    counts: Counter[TestOrigin] = Counter()
    for native_id, record in packages.items():
        data = shared_data / "packages" / native_id / "data"
        given = {file.relative_to(data).with_suffix("").as_posix(): file for file in data.rglob("*.in")}
        assert record.suite is not None
        tests = {test.name: test for test in record.suite.tests}
        assert tests.keys() == given.keys()
        for name, test in tests.items():
            answer = given[name].with_suffix(".ans").read_bytes()
            assert (test.input, test.expected) == tuple(
                text.replace(b"\r\n", b"\n") for text in (given[name].read_bytes(), answer)
            )
            assert (test.origin is TestOrigin.SAMPLE) == name.startswith("sample/")
        counts.update(test.origin for test in record.suite.tests)
    assert counts == {
        TestOrigin.SAMPLE: sum(entry["sample"] for entry in manifest),
        TestOrigin.OFFICIAL: sum(entry["secret"] for entry in manifest),
    }
    assert counts.total() == 913


def test_every_package_is_dated_by_its_day_else_by_its_year(
    packages: dict[str, ProblemRecord], manifest: list[dict[str, Any]]
) -> None:
    days = years = 0
    for entry in manifest:
        claims = packages[entry["dir"]].dates
        best = min(claims, key=lambda claim: (list(Precision).index(claim.precision), claim.earliest))
        year = int(entry["source"][-4:])
        if entry["contest_date"]:
            days += 1
            assert (best.as_written, best.precision) == (entry["contest_date"], Precision.DAY)
            assert best.earliest.year == year  # what the package itself says agrees
        else:
            years += 1
            assert (best.as_written, best.precision) == (entry["source"], Precision.YEAR)
            assert best.earliest == datetime(year, 1, 1, tzinfo=UTC)
    assert (days, years) == (14, 15)


def test_limits_and_validators_flags(
    shared_data: Path, packages: dict[str, ProblemRecord], manifest: list[dict[str, Any]]
) -> None:
    plain = {"case_sensitive": False, "assume_tolerance": False}
    tolerances = {
        "float_absolute_tolerance 1e-8": {"absolute_tolerance": 1e-8},
        "float_tolerance 1e-4": {"absolute_tolerance": 1e-4, "relative_tolerance": 1e-4},
        None: {},
    }
    for entry in manifest:
        suite = packages[entry["dir"]].suite
        assert suite is not None
        assert suite.comparison == plain | tolerances[entry["validator_flags"]]
        assert {test.comparison is None for test in suite.tests} == {True}
        # Not one of them states a limit of time or memory.
        limits = yaml.safe_load((shared_data / "packages" / entry["dir"] / "problem.yaml").read_text()).get("limits")
        assert not {"time_limit", "memory"} & (limits or {}).keys()
        assert (suite.time_limit_s, suite.memory_limit_bytes) == (None, None)
        assert open_package(shared_data / "packages" / entry["dir"]).time_limit_s is None


def test_statements_languages_and_images(packages: dict[str, ProblemRecord]) -> None:
    assert {record.language for record in packages.values()} == {"en"}
    assert all("\\problemname" in record.statement for record in packages.values())
    translated = {native_id for native_id, record in packages.items() if record.translations}
    assert translated == {f"po-2021-skolkval/{name}" for name in ("hundraelva", "klockan", "kodlas", "lavapaddling")}
    images = {
        native_id for native_id, record in packages.items() if {"has_image", "needs_image"} & dict(record.flags).keys()
    }
    assert images == {
        "gcpc-2021/lookingforwaldo",
        "kth-challenge-2014/tomosynthesis",
        "kth-challenge-2014/vonwalken",
        "kth-challenge-2015/proteins",
        "kth-challenge-2015/xortris",
        "nwerc-2023/arrangingadapters",
        "po-2021-skolkval/klockan",
    }
    others = {name for record in packages.values() for name, _ in record.flags}
    assert others <= {"scoring", "has_image", "needs_image"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def test_the_import_and_the_source_make_one_problem_of_each(
    shared_data: Path, packages: dict[str, ProblemRecord], store: Store
) -> None:
    report = import_problems(store, shared_data / "packages", "kattis", now=NOW)
    assert (report.created, report.n_refused, report.notes) == (29, 0, ())
    with store.read() as session:
        imported = {row.key: row.suite_digest for row in stored_problems(session)}
    outcomes: Counter[SaveOutcome] = Counter()
    with store.write() as session:
        outcomes.update(save_problem(session, record, now=NOW).outcome for record in packages.values())
    assert outcomes == {SaveOutcome.UPDATED: 29}  # the year that each package names is new
    with store.write() as session:
        again = Counter(save_problem(session, record, now=NOW).outcome for record in packages.values())
    assert again == {SaveOutcome.UNCHANGED: 29}
    assert import_problems(store, shared_data / "packages", "kattis", now=NOW).unchanged == 29
    with store.read() as session:
        rows = stored_problems(session)
    assert {row.key: row.suite_digest for row in rows} == imported
    assert imported.keys() == {record.key for record in packages.values()}
    assert Counter(row.released_precision for row in rows) == {Precision.DAY: 14, Precision.YEAR: 15}
