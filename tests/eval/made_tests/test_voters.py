"""Which completions are asked: those of the strongest models, until they could decide."""

from __future__ import annotations

import pytest

from db.records import ProgramRole
from eval.made_tests.agreement import VoterKind
from eval.made_tests.material import KnownProgram
from eval.made_tests.voters import as_voter, chosen_voters, is_quorum
from sandbox import Program


def completion(model: str, family: str | None, standing: float, name: str = "") -> KnownProgram:
    return KnownProgram(name or f"{model} #0", Program(model), model=model, family=family, standing=standing)


STRONG = [completion("oak-1", "oak", 0.8), completion("oak-2", "oak", 0.7), completion("elm-1", "elm", 0.6)]
WEAK = [completion(f"fir-{number}", f"fir {number}", 0.2) for number in range(4)]


def names(programs: tuple[KnownProgram, ...]) -> list[str]:
    return [one.name for one in programs]


def test_the_strongest_are_asked_and_few_others() -> None:
    assert names(chosen_voters([*WEAK, *STRONG])) == ["oak-1 #0", "oak-2 #0", "elm-1 #0", "fir-0 #0"]
    assert names(chosen_voters([*WEAK, *STRONG[:2]])) == ["oak-1 #0", "oak-2 #0", "fir-0 #0", "fir-1 #0"]


def test_another_one_of_at_least_half_the_best_standing_is_strong() -> None:
    others = [completion("ash", "ash", 0.4), completion("yew", "yew", 0.4), completion("box", "box", 0.39)]
    assert names(chosen_voters([*STRONG, *others]))[3:] == ["ash #0", "yew #0"]


def test_a_model_is_asked_with_up_to_three_different_programs() -> None:
    oaks = [KnownProgram(f"oak-1 #{number}", Program(f"{number}"), model="oak-1", standing=0.8) for number in range(5)]
    assert names(chosen_voters([*oaks, *STRONG[1:]])) == [
        "oak-1 #0",
        "oak-1 #1",
        "oak-1 #2",
        "oak-2 #0",
        "elm-1 #0",
    ]
    same = [completion("oak-1", "oak", 0.8, f"oak-1 #{number}") for number in (1, 0, 2)]
    assert names(chosen_voters([*same, *STRONG[1:]])) == ["oak-1 #0", "oak-2 #0", "elm-1 #0"]


def test_a_name_in_other_letters_is_the_same_model() -> None:
    written = [completion("OAK-1", "oak", 0.8), completion("oak-1", "oak", 0.8), completion("elm-1", "elm", 0.6)]
    assert chosen_voters(written) == ()


@pytest.mark.parametrize(
    "completions",
    [
        [],
        STRONG[:2],
        [completion(f"oak-{number}", "oak", 0.5) for number in range(12)],
        [completion("oak-1", None, 0.5), completion("elm-1", None, 0.5)],
    ],
)
def test_without_a_quorum_nobody_is_asked(completions: list[KnownProgram]) -> None:
    assert chosen_voters(completions) == ()
    assert not is_quorum(completions)


def test_many_of_one_family_leave_room_for_another() -> None:
    many = [completion(f"oak-{number:02}", "oak", 0.8) for number in range(12)]
    found = chosen_voters([*many, completion("elm-1", "elm", 0.1)])
    assert names(found) == [f"oak-{number:02} #0" for number in range(8)] + ["elm-1 #0"]


def test_no_more_than_eight_are_asked_where_they_are_a_quorum() -> None:
    assert len(chosen_voters([completion(f"m{number}", None, 0.5) for number in range(20)])) == 8


def test_what_a_program_is_as_a_voter() -> None:
    official = KnownProgram("a.py", Program("a"), ProgramRole.ACCEPTED, is_official=True)
    given = KnownProgram("b.py", Program("b"), ProgramRole.ACCEPTED)
    assert as_voter(official).kind is VoterKind.OFFICIAL
    assert as_voter(given, passes_samples=False).kind is VoterKind.GIVEN
    assert as_voter(STRONG[0]).bloc == "oak"
    assert as_voter(completion("m", None, 0.1)).bloc == "m"


def test_a_program_is_a_completion_or_has_a_role() -> None:
    for role, model in ((None, None), (ProgramRole.ACCEPTED, "oak-1")):
        with pytest.raises(ValueError, match="not both"):
            KnownProgram("a", Program("a"), role, model=model)
