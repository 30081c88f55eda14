"""Which problems runs have answered, and what lies unanswered between."""

from __future__ import annotations

from db.answered import Gaps, find_gaps, problems_of_runs, problems_of_tallies
from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.problems import problem_ids, save_problem
from db.records import TallyRecord
from db.tallies import save_tallies
from tests.db.builders import NOW, claim, completion, key_of, problem


def test_gaps_lie_between_the_first_and_the_last_answer_of_a_platform(store: Store) -> None:
    days = {"p1": "2024-05-01", "p2": "2024-05-04", "p3": "2024-05-04", "p4": "2024-05-07", "p5": "2024-05-09"}
    with store.write() as session:
        for native, day in days.items():
            save_problem(session, problem(native, dates=(claim(day),)), now=NOW)
        save_problem(session, problem("undated", dates=()), now=NOW)
        run, idle = (save_run(session, RunRecord(name), now=NOW) for name in ("a", "idle"))
        save_completions(
            session, run, [completion("p2", 0), completion("p2", 1), completion("p5"), completion("undated")]
        )
        save_tallies(session, [TallyRecord(key_of("p3"), "b", 10, 4, "a board")])
        ids = problem_ids(session, [key_of(name) for name in (*days, "undated")])
    with store.read() as session:
        answered = problems_of_runs(session, [run, idle])
        assert answered == {run: {ids[key_of(name)] for name in ("p2", "p5", "undated")}}
        assert problems_of_tallies(session, ["b", "c"]) == {("b", "a board"): {ids[key_of("p3")]}}
        assert find_gaps(session, [answered[run], set(), {ids[key_of("undated")]}]) == [
            Gaps(4, (key_of("p3"), key_of("p4"))),
            Gaps(0, ()),
            Gaps(0, ()),
        ]
