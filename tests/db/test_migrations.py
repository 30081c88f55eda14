"""The migrations lead to exactly the tables that the code has, from wherever the program is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store, open_store
from db.judgements import (
    EnvironmentRecord,
    JudgementRecord,
    count_pending,
    iter_pending,
    save_environment,
    save_judgements,
)
from db.made_suites import MadeSuiteRecord, base_suite_id, save_made_suite
from db.migrate import MIGRATIONS, known_revisions
from db.problems import list_problems, save_problem
from db.records import MadeStrength, ProgramRole, ReferenceRecord, TestOrigin
from db.references import list_references, save_references
from db.tables import Base
from tests.db.builders import NOW, case, completion, problem, suite_of

SEEN = "2026-01-01 00:00:00"
A_PROBLEM = (
    "INSERT INTO problem (id, platform, native_id, title, status, first_source, first_seen_at, last_seen_at)"
    " VALUES (1, 'p', 'a', 'A', 'active', 's', :seen, :seen)"
)
# (kind, rules, whether version 0002 can judge it)
KINDS = [
    ("stdin", None, True),
    ("function", None, True),
    ("stdin", "sha", False),
    ("design", None, False),
    ("interactive", None, False),
]


def config() -> Config:
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    return made


def test_autogenerate_finds_nothing_to_do(store: Store) -> None:
    with store.read() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_the_revisions_read_from_file_names_are_alembics_own() -> None:
    scripts = ScriptDirectory.from_config(config())
    assert [script.revision for script in scripts.walk_revisions()][::-1] == known_revisions()
    assert scripts.get_heads() == [known_revisions()[-1]]


def test_every_step_can_be_taken_back(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'steps.db'}")
    with engine.begin() as connection:
        steps = config()
        steps.attributes["connection"] = connection
        command.upgrade(steps, "head")
        assert set(Base.metadata.tables) < set(inspect(connection).get_table_names())
        command.downgrade(steps, "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    engine.dispose()


@pytest.mark.parametrize(("io_kind", "rules", "is_kept"), KINDS)
def test_suites_that_an_older_version_cannot_judge_go(
    tmp_path: Path, io_kind: str, rules: str | None, is_kept: bool
) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'steps.db'}")
    with engine.begin() as connection:
        steps = config()
        steps.attributes["connection"] = connection
        command.upgrade(steps, "0003")
        connection.execute(text(A_PROBLEM), {"seen": SEEN})
        connection.execute(
            text(
                "INSERT INTO test_suite (id, problem_id, digest, io_kind, comparison, n_tests, samples_only, source,"
                " first_seen_at, rules_sha256) VALUES (7, 1, 'd', :io_kind, '{}', 1, 0, 's', :seen, :rules)"
            ),
            {"io_kind": io_kind, "seen": SEEN, "rules": rules},
        )
        connection.execute(text("UPDATE problem SET current_suite_id = 7"))
        command.downgrade(steps, "0002")
        left = connection.execute(text("SELECT id FROM test_suite")).scalars().all()
        current = connection.execute(text("SELECT current_suite_id FROM problem")).scalar_one()
    engine.dispose()
    assert (left, current) == (([7], 7) if is_kept else ([], None))


def test_flags_that_were_of_one_environment_go(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'steps.db'}")
    with engine.begin() as connection:
        steps = config()
        steps.attributes["connection"] = connection
        command.upgrade(steps, "0005")
        connection.execute(text(A_PROBLEM), {"seen": SEEN})
        for by in ("reference solutions", "maintainer"):
            connection.execute(
                text(
                    "INSERT INTO flag (problem_id, name, reason, flagged_by, since)"
                    " VALUES (1, 'reference_fails', 'r', :by, :seen)"
                ),
                {"by": by, "seen": SEEN},
            )
        command.upgrade(steps, "head")
        assert connection.execute(text("SELECT flagged_by FROM flag")).scalars().all() == ["maintainer"]
    engine.dispose()


def test_tallies_keep_rows_indexes_and_ids_when_they_get_a_scenario(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'steps.db'}")
    insert = (
        "INSERT INTO tally (id, problem_id, model, origin, n_samples, n_correct) VALUES (:id, 1, :model, 'o', 4, 3)"
    )
    with engine.begin() as connection:
        steps = config()
        steps.attributes["connection"] = connection
        command.upgrade(steps, "0006")
        connection.execute(text(A_PROBLEM), {"seen": SEEN})
        connection.execute(text(insert), [{"id": 5, "model": "m"}, {"id": 9, "model": "n"}])
        before = inspect(connection).get_indexes("tally")
        command.upgrade(steps, "head")
        inspector = inspect(connection)
        assert inspector.get_indexes("tally") == before
        assert [one["column_names"] for one in inspector.get_unique_constraints("tally")] == [
            ["problem_id", "model", "origin", "scenario"]
        ]
        assert connection.execute(text("SELECT * FROM tally ORDER BY id")).all() == [
            (5, 1, "m", "o", 4, 3, "code_generation"),
            (9, 1, "n", "o", 4, 3, "code_generation"),
        ]
        connection.execute(
            text(
                "INSERT INTO tally (problem_id, model, origin, n_samples, n_correct, scenario)"
                " VALUES (1, 'm', 'o', 4, 4, 'self_repair')"
            )
        )
        # An older version would take the result of another scenario for one of code generation.
        command.downgrade(steps, "0006")
        assert inspect(connection).get_indexes("tally") == before
        assert connection.execute(text("SELECT id, n_correct FROM tally ORDER BY id")).all() == [(5, 3), (9, 3)]
    engine.dispose()


def test_completions_of_an_older_store_came_as_programs(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'steps.db'}")
    with engine.begin() as connection:
        steps = config()
        steps.attributes["connection"] = connection
        command.upgrade(steps, "0006")
        connection.execute(text(A_PROBLEM), {"seen": SEEN})
        connection.execute(text("INSERT INTO blob (sha256, size, zstd) VALUES ('c', 1, 'z')"))
        connection.execute(
            text(
                "INSERT INTO run (id, digest, model, label, conditions, created_at) VALUES (1, 'd', 'm', '', '{}', :at)"
            ),
            {"at": SEEN},
        )
        connection.execute(
            text(
                "INSERT INTO completion (run_id, problem_id, sample_index, language, code_sha256)"
                " VALUES (1, 1, 0, 'python3', 'c')"
            )
        )
        command.upgrade(steps, "head")
        rows = connection.execute(text("SELECT code_sha256, status, rule FROM completion")).all()
    engine.dispose()
    assert rows == [("c", None, None)]


def at_revision(url: str, revision: str) -> None:
    """Take the store at `url` back to an older revision."""
    engine = create_engine(url)
    with engine.begin() as connection:
        steps = config()
        steps.attributes["connection"] = connection
        command.downgrade(steps, revision)
    engine.dispose()


SAMPLE = case("s", "2 3\n", "5\n", TestOrigin.SAMPLE)
SUITES = {
    "samples": suite_of(SAMPLE),
    "again": suite_of(case("1", "2 3\n", "5\n"), SAMPLE, case("2", "7\n", None)),
    "official": suite_of(SAMPLE, case("1", "4 5\n", "9\n"), case("2", "2 3\n", "6\n")),
    "mixed": suite_of(case("1", "1\n", "1\n", TestOrigin.RECOVERED), case("2", "4 5\n", "9\n")),
}


def test_suites_of_an_older_store_say_where_their_tests_come_from(store_url: str) -> None:
    with open_store(store_url) as store, store.write() as session:
        for native_id, suite in SUITES.items():
            save_problem(session, problem(native_id, suite=suite), now=NOW)
        before = list_problems(session)
        (references,) = [one.problem_id for one in before if one.key.native_id == "samples"]
        save_references(session, references, [ReferenceRecord("a.py", "python3", "print(5)\n")], source="list")
    at_revision(store_url, "0008")
    with open_store(store_url) as store, store.read() as session:
        assert list_problems(session) == before
        assert {one.key.native_id: ",".join(one.hidden_origins) for one in before} == {
            "samples": "",
            "again": "",
            "official": "official",
            "mixed": "official,recovered",
        }
        assert [one.role for one in list_references(session, references)] == [ProgramRole.ACCEPTED]


def test_an_older_version_takes_nothing_made_for_something_else(store_url: str) -> None:
    with open_store(store_url) as store, store.write() as session:
        problem_id = save_problem(session, problem(suite=SUITES["samples"]), now=NOW).problem_id
        run = save_run(session, RunRecord("model"), now=NOW)
        save_completions(session, run, [completion()])
        environment = save_environment(session, EnvironmentRecord("sha", "docker", {}), now=NOW)

        def judge_all() -> None:
            waiting = iter_pending(session, environment)
            records = [JudgementRecord(one.completion_id, one.suite_id, "accepted", [], NOW) for one in waiting]
            save_judgements(session, environment, records)

        judge_all()
        base = base_suite_id(session, problem_id)
        assert base is not None
        suite = suite_of(SAMPLE, case("m", "0 0\n", "0\n", TestOrigin.GENERATED))
        save_made_suite(session, problem_id, MadeSuiteRecord(suite, base, None, "r", 0, MadeStrength()), now=NOW)
        judge_all()
        programs = [ReferenceRecord(f"{role}.py", "python3", f"# {role}", role) for role in ProgramRole]
        save_references(session, problem_id, programs, source="user")
    at_revision(store_url, "0008")
    with open_store(store_url) as store, store.read() as session:
        (listed,) = list_problems(session)
        assert (listed.suite_id, listed.samples_only, listed.strength) == (base, True, None)
        assert count_pending(session, environment) == 0, "the verdict of before is there"
        assert [one.name for one in list_references(session, problem_id)] == ["accepted.py"]


def test_a_store_is_made_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alembic.ini").write_text("[alembic]\nscript_location = nowhere\n")
    open_store("store.db").close()
    assert (tmp_path / "store.db").is_file()


def test_opening_again_migrates_nothing(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(store_url).close()
    monkeypatch.setattr("db.migrate._upgrade", lambda *_: pytest.fail("migrated again"))
    open_store(store_url).close()
