"""Expected outputs from programs that agree: by the rules written down, on invented votes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.made_tests.agreement import Agreement, Answer, Expected, Finding, FindingKind, Voter, VoterKind, agree
from sandbox.comparison import first_difference
from sandbox.programs import Comparison
from sandbox.verdicts import Verdict

CRASH, SLOW = Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT


def tokens(expected: bytes, got: bytes) -> bool:
    return first_difference(expected, got, Comparison()) is None


def official(name: str, *, passes: bool = True) -> Voter:
    return Voter(name, VoterKind.OFFICIAL, passes_samples=passes)


def completion(name: str, family: str, *, passes: bool = True, evaluated: bool = False) -> Voter:
    model = f"{family}-{name}"
    return Voter(name, VoterKind.COMPLETION, model, family, passes_samples=passes, is_under_evaluation=evaluated)


def answer(given_: str | Verdict | None) -> Answer | None:
    if given_ is None:
        return None
    return Answer(failure=given_) if isinstance(given_, Verdict) else Answer(given_.encode())


def vote(voters: Sequence[Voter], *inputs: Sequence[str | Verdict | None]) -> Agreement:
    return agree(voters, [[answer(each) for each in row] for row in inputs], tokens)


def expected(agreement: Agreement, number: int = 0) -> Expected:
    found = agreement.inputs[number]
    assert isinstance(found, Expected), found
    return found


def finding(agreement: Agreement, number: int = 0) -> Finding:
    found = agreement.inputs[number]
    assert isinstance(found, Finding), found
    return found


THREE = [completion("a", "amber"), completion("b", "birch"), completion("c", "cedar")]
FIVE = [*THREE, completion("d", "delta"), completion("e", "elm")]


def test_references_decide_alone() -> None:
    voters = [official("o.cpp"), Voter("g.py", VoterKind.GIVEN), *THREE]
    found = expected(vote(voters, ["7", "7", "8", "8", "8"]))
    assert (found.output, found.voters, found.blocs) == (b"7", ("g.py", "o.cpp"), ("g.py", "o.cpp"))
    assert found.differing == ()


def test_one_reference_is_enough() -> None:
    assert expected(vote([official("o.cpp")], ["7"])).output == b"7"


def test_references_that_differ() -> None:
    found = finding(vote([official("o.cpp"), Voter("g.py", VoterKind.GIVEN), *THREE], ["7", "8", "7", "7", "7"]))
    assert found.kind is FindingKind.SEVERAL_ANSWERS
    assert found.sentence == "the references give 2 different answers: o.cpp against g.py"
    assert (found.voters, found.input) == (("g.py", "o.cpp"), 0)


def test_long_lists_of_voters_are_cut() -> None:
    found = finding(vote([official(name) for name in "abcdef"], ["7", "7", "7", "7", "7", "8"]))
    assert found.sentence == "the references give 2 different answers: a, b, c and 2 more against f"


def test_reference_that_crashes_where_others_answer() -> None:
    found = finding(
        vote([official("o.cpp"), official("p.cpp"), official("q.cpp"), official("r.cpp")], ["7", CRASH, "7", "7"])
    )
    assert (found.kind, found.voters) == (FindingKind.REFERENCE_FAILS, ("p.cpp",))
    assert found.sentence == "of the references p.cpp gets runtime_error"


def test_all_crash_alike() -> None:
    found = finding(vote([official("o.cpp"), official("p.cpp")], [CRASH, CRASH]))
    assert (found.kind, found.sentence) == (
        FindingKind.INVALID_INPUT_SUSPECTED,
        "all 2 programs crash: the input may not be valid",
    )
    assert finding(vote(THREE, [CRASH, CRASH, CRASH])).kind is FindingKind.INVALID_INPUT_SUSPECTED
    # One that answers, one that is slow, or a single program, make the input no suspect.
    assert finding(vote([official("o.cpp"), *THREE], [CRASH, CRASH, CRASH, "7"])).kind is FindingKind.REFERENCE_FAILS
    assert finding(vote(THREE, [CRASH, CRASH, SLOW])).kind is FindingKind.NO_QUORUM
    assert finding(vote([official("o.cpp")], [CRASH])).kind is FindingKind.REFERENCE_FAILS


def test_reference_that_fails_the_samples_has_no_vote_and_is_a_finding() -> None:
    found = vote([official("o.cpp"), official("p.cpp", passes=False)], ["7", "8"])
    assert expected(found).voters == ("o.cpp",)
    assert [(each.kind, each.sentence, each.input) for each in found.findings] == [
        (FindingKind.REFERENCE_FAILS, "the official reference p.cpp does not pass the samples", None)
    ]


def test_completions_do_not_take_the_place_of_references_that_fail() -> None:
    found = vote([official("o.cpp", passes=False), *THREE], ["8", "7", "7", "7"])
    assert finding(found).kind is FindingKind.NO_QUORUM
    assert found.expected == ()
    assert len(found.all_findings) == 2


def test_reference_that_is_slow_on_one_input_abstains() -> None:
    voters = [official("o.cpp"), official("p.cpp"), official("q.py")]
    found = vote(voters, ["1", "1", "1"], ["2", "2", SLOW])
    assert (expected(found, 1).voters, expected(found, 1).failing) == (("o.cpp", "p.cpp"), ("q.py",))  # 1 of 3
    pair = vote(voters[1:], ["1", "1"], ["2", SLOW])
    assert finding(pair, 1).sentence == "1 of 2 programs that otherwise agree fail on this input"
    assert finding(vote(voters, [SLOW, SLOW, SLOW])).kind is FindingKind.REFERENCE_FAILS


def test_three_models_must_agree() -> None:
    found = expected(vote(THREE, ["7", "7", "7"]))
    assert (found.output, found.voters, found.blocs) == (b"7", ("a", "b", "c"), ("amber", "birch", "cedar"))
    two = finding(vote(THREE, ["7", "7", SLOW]))
    assert (two.kind, two.sentence) == (
        FindingKind.NO_QUORUM,
        "2 models of 2 families answered, 3 models of 2 families must agree",
    )
    split = finding(vote(THREE, ["7", "7", "8"]))
    assert (split.kind, split.sentence) == (
        FindingKind.NO_QUORUM,
        "only 2 models of 2 families agree, 3 models of 2 families must",
    )


OTHERS = (("f", "birch"), ("g", "cedar"), ("h", "delta"))


def test_no_family_decides_alone() -> None:
    alone = [completion(name, "amber") for name in "abcde"]
    assert finding(vote(alone, ["7"] * 5)).sentence.startswith("5 models of 1 family answered")
    # Where there are two families, both have to agree.
    two = [*alone[:2], completion("f", "birch")]
    assert expected(vote(two, ["7"] * 3)).blocs == ("amber", "birch")
    assert finding(vote(two, ["7", "7", "8"])).kind is FindingKind.SEVERAL_ANSWERS


def test_family_counts_once() -> None:
    # Amber gives 8 five times: it is still one voice of four.
    voters = [completion(name, "amber") for name in "abcde"] + [completion(*each) for each in OTHERS]
    found = expected(vote(voters, ["8"] * 5 + ["7"] * 3))
    assert (found.output, found.blocs, found.differing) == (b"7", ("birch", "cedar", "delta"), tuple("abcde"))


def test_the_vote_of_a_family_is_shared_by_its_models() -> None:
    amber = [completion(f"a{number}", "amber") for number in range(4)]
    # 3/4 + 1 + 1 of 3, then 1/4 + 1 + 1 of 3.
    assert expected(vote([*amber, *THREE[1:]], ["7", "7", "7", "8", "7", "7"])).differing == ("a3",)
    assert expected(vote([*amber, *THREE[1:]], ["8", "8", "8", "7", "7", "7"])).output == b"7"
    # 1/2 + 1 of 2 are more than half, and 1/2 + 1/2 of 2 are not.
    pair = [*amber[:2], completion("b1", "birch"), completion("b2", "birch")]
    assert expected(vote(pair, ["7", "8", "7", "7"])).differing == ("a1",)
    assert finding(vote(pair, ["7", "8", "7", "8"])).sentence == (
        "2 families of models give 2 different answers; the most frequent has 1"
    )
    assert finding(vote(pair, ["7", "8", "9", "6"])).sentence.endswith("4 different answers; the most frequent has 0.5")


def test_the_part_of_a_model_is_shared_by_its_completions() -> None:
    samples = [Voter(f"a{number}", VoterKind.COMPLETION, "amber-1", "amber") for number in range(3)]
    voters = [*samples, completion("x", "amber"), completion("b", "birch")]
    # amber-1 has half of amber's vote, and two thirds of it are for 7: 1/3 + 1/2 + 1 of 2 against 1/6.
    assert expected(vote(voters, ["7", "7", "8", "7", "7"])).differing == ("a2",)
    # 1/2 + 1/3 of 2 against 1/6 + 1: the majority is of two models.
    found = finding(vote(voters, ["8", "8", "7", "8", "7"]))
    assert (found.kind, found.sentence) == (
        FindingKind.NO_QUORUM,
        "only 2 models of 2 families agree, 3 models of 2 families must",
    )


def test_model_without_a_family_is_one_by_itself() -> None:
    voters = [Voter(name, VoterKind.COMPLETION, f"model {name}") for name in "abc"]
    assert expected(vote(voters, ["7", "7", "7"])).blocs == ("model a", "model b", "model c")


def test_no_majority_is_a_finding_of_several_answers() -> None:
    found = finding(vote(FIVE, ["7", "7", "8", "8", "9"]))
    assert (found.kind, found.sentence) == (
        FindingKind.SEVERAL_ANSWERS,
        "5 families of models give 3 different answers; the most frequent has 2",
    )
    # A majority of 4 of 7, but the other answer has a quorum of its own.
    seven = [*FIVE, completion("f", "fir"), completion("g", "gum")]
    assert finding(vote(seven, ["7"] * 4 + ["8"] * 3)).kind is FindingKind.SEVERAL_ANSWERS
    assert expected(vote(seven, ["7"] * 5 + ["8"] * 2)).output == b"7"


def test_family_under_evaluation_may_help_but_not_decide() -> None:
    evaluated = [completion("a", "amber", evaluated=True), *FIVE[1:]]
    # 3 of 5 without anyone under evaluation; with amber among the three, the others are 2 of 4.
    assert expected(vote(FIVE, ["7", "7", "7", "8", "9"])).output == b"7"
    found = finding(vote(evaluated, ["7", "7", "7", "8", "9"]))
    assert found.sentence == "amber, which is under evaluation, decides: without it 2 of 4 agree"
    assert (found.kind, found.voters) == (FindingKind.NO_QUORUM, ("a",))
    assert expected(vote(evaluated, ["7", "7", "7", "7", "9"])).output == b"7"  # 3 of 4
    assert expected(vote(evaluated, ["9", "7", "7", "7", "8"])).output == b"7"  # it is not among them
    assert expected(vote(evaluated[:3], ["7", "7", "7"])).output == b"7"  # 2 of 2


def test_completions_that_fail_the_samples_have_no_vote() -> None:
    voters = [*THREE[:2], completion("c", "cedar", passes=False)]
    found = vote(voters, ["7", "7", "7"])
    assert finding(found).kind is FindingKind.NO_QUORUM
    assert found.findings == ()  # a completion that is wrong is no news


def test_input_on_which_more_than_a_third_of_those_that_agree_fail() -> None:
    first = ["1"] * 5
    kept = vote(FIVE, first, ["2", "2", "2", "2", SLOW])  # 1 of 5
    assert expected(kept, 1).failing == ("e",)
    aside = vote(FIVE, first, ["2", "2", "2", SLOW, Verdict.MEMORY_LIMIT])  # 2 of 5
    assert finding(aside, 1).sentence == "2 of 5 programs that otherwise agree fail on this input"
    assert finding(aside, 1).voters == ("d", "e")
    # Those that are wrong elsewhere, or never answered, do not count.
    wrong = vote(FIVE, ["1", "1", "1", "1", "9"], ["2", "2", "2", SLOW, SLOW])  # 1 of 4
    assert expected(wrong, 1).output == b"2"
    never = vote(FIVE, ["1", "1", "1", SLOW, SLOW])
    assert expected(never).output == b"1"


def test_brute_force_must_agree_where_it_ran() -> None:
    brute = Voter("brute.py", VoterKind.BRUTE_FORCE)
    voters = [official("o.cpp"), brute]
    found = vote(voters, ["7", "7"], ["7", "8"], ["7", None], ["7", SLOW], ["7", CRASH])
    assert [type(each) for each in found.inputs] == [Expected, Finding, Expected, Expected, Finding]
    assert finding(found, 1).kind is FindingKind.SEVERAL_ANSWERS
    assert finding(found, 1).sentence == "the brute force brute.py gives another answer than the others agree on"
    assert finding(found, 4).kind is FindingKind.REFERENCE_FAILS
    assert expected(found).voters == ("o.cpp",)  # it has no vote
    assert finding(vote([*THREE[:2], brute], ["7", "7", "7"])).kind is FindingKind.NO_QUORUM


def test_outputs_are_compared_by_the_problems_own_comparison() -> None:
    assert expected(vote([official("o"), official("p")], ["1  2\n", "1 2"])).output == b"1  2\n"


def test_group_is_that_of_the_representative_that_gathers_the_most() -> None:
    # With a tolerance of 1e-6: the middle one is near both, the outer ones are not near each other.
    outputs = ["1.0000000", "1.0000009", "1.0000018"]
    assert not tokens(outputs[0].encode(), outputs[2].encode())
    found = expected(vote([official("o"), official("p"), official("q")], outputs))
    assert (found.output, found.voters) == (b"1.0000009", ("o", "p", "q"))


def test_output_that_takes_the_others_is_expected() -> None:
    # "1" is right where "1.0" is expected; "1.0" is wrong where "1" is.
    assert tokens(b"1.0", b"1")
    assert not tokens(b"1", b"1.0")
    assert expected(vote([official("o"), official("p")], ["1", "1.0"])).output == b"1.0"


def test_output_that_is_not_equal_to_itself_is_no_answer() -> None:
    found = finding(vote([official("o"), official("p")], ["nan", "nan"]))
    assert found.kind is FindingKind.REFERENCE_FAILS
    assert finding(vote(THREE, ["nan", "nan", "nan"])).kind is FindingKind.NO_QUORUM


def test_nobody_votes() -> None:
    assert finding(agree([], [[]], tokens)).kind is FindingKind.NO_QUORUM
    assert vote([official("o")]).inputs == ()
    assert finding(vote([official("o")], [None])).sentence == "no reference that passes the samples was run"


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="another number of answers"):
        vote(THREE, ["7"])
    with pytest.raises(ValueError, match="the same name"):
        vote([official("o"), official("o")], ["7", "7"])
    with pytest.raises(ValueError, match="has no model"):
        Voter("a", VoterKind.COMPLETION)
    with pytest.raises(ValueError, match="no way to fail"):
        Answer(failure=Verdict.WRONG_ANSWER)
    with pytest.raises(ValueError, match="an output or a failure"):
        Answer()


def test_sentences_are_one_line() -> None:
    found = finding(vote([official("o\n\x1b[1m" + "x" * 200), official("p")], ["7", "8"]))
    assert found.sentence.isprintable()
    assert len(found.sentence) < 200


KINDS = st.sampled_from([VoterKind.OFFICIAL, VoterKind.GIVEN, VoterKind.BRUTE_FORCE, *[VoterKind.COMPLETION] * 5])
ANSWERS = st.sampled_from(["1", "1.0", "1.0000009", "1.0000018", "2", "nan", CRASH, SLOW, None])


@st.composite
def elections(draw: st.DrawFn) -> tuple[list[Voter], list[list[Answer | None]]]:
    voters = [
        Voter(
            f"program {number}",
            draw(KINDS),
            model=f"model {number}",
            family=draw(st.sampled_from(["amber", "birch", "cedar", "delta", None])),
            passes_samples=draw(st.integers(0, 5)) > 0,
            is_under_evaluation=draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 8)))
    ]
    rows = st.lists(ANSWERS.map(answer), min_size=len(voters), max_size=len(voters))
    return voters, draw(st.lists(rows, min_size=1, max_size=4))


@given(elections(), st.randoms(use_true_random=False))
def test_order_of_the_voters_does_not_matter(
    election: tuple[list[Voter], list[list[Answer | None]]], random: object
) -> None:
    voters, outcomes = election
    order = list(range(len(voters)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = agree([voters[at] for at in order], [[row[at] for at in order] for row in outcomes], tokens)
    assert shuffled == agree(voters, outcomes, tokens)


@given(elections())
def test_every_vote_for_an_expected_output_passes_its_test(
    election: tuple[list[Voter], list[list[Answer | None]]],
) -> None:
    voters, outcomes = election
    found = agree(voters, outcomes, tokens)
    assert len(found.inputs) == len(outcomes)
    answers = [{v.name: each for v, each in zip(voters, row, strict=True)} for row in outcomes]
    for number, each in enumerate(found.inputs):
        assert each.input == number
        if isinstance(each, Expected):
            given_ = [answers[number][name] for name in each.voters]
            assert given_
            assert all(one is not None and one.output is not None and tokens(each.output, one.output) for one in given_)
            references = [v for v in voters if v.kind.is_reference]
            models = {v.model for v in voters if v.name in each.voters}
            assert references or (len(models) >= 3 and len(each.blocs) >= 2)
            assert not (references and each.differing)
