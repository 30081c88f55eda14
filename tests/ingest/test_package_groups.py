"""How a package grades its tests in groups becomes rules for the sandbox, or a flag that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.records import ProblemRecord, SuiteRecord
from ingest.package_groups import Ungradable, read_groups
from ingest.package_tests import read_tests
from ingest.packages import open_package
from sandbox import Verdict
from sandbox.grading import Grade, Grading
from sandbox.plain import read_groups as groups_of
from sandbox.programs import Group, Groups, OnReject, ScoreRule, VerdictRule
from tests.ingest.package_folders import flags_of, judged_problems, package, suite_of
from tests.ingest.reading import read

MODERN = "name: A\nproblem_format_version: 2025-09\n"
V = "output_validators__"


@pytest.fixture(scope="module")
def problems() -> dict[str, ProblemRecord]:
    return judged_problems()


def graded(suite: SuiteRecord, **results: tuple[Verdict, float | None, float | None]) -> Grade:
    """The grade of a program to which these tests (their last folder and name, "_" between) came to these results."""
    assert suite.groups is not None
    names = [test.name for test in suite.tests]
    grading = Grading(names, groups_of(suite.groups))
    while grading.next_test is not None:
        key = "_".join(names[grading.next_test].split("/")[-2:])
        grading.record(*results.get(key, (Verdict.ACCEPTED, None, None)))
    return grading.grade


WRONG = (Verdict.WRONG_ANSWER, None, None)


def test_groups_of_a_legacy_package(problems: dict[str, ProblemRecord]) -> None:
    suite = suite_of(problems["stairs"])
    assert suite.groups is not None
    assert groups_of(suite.groups) == Groups(
        rules=(
            ("", Group(OnReject.CONTINUE, ignore_sample=True)),
            ("sample", Group(OnReject.CONTINUE, VerdictRule.FIRST_ERROR, accept_score=0.0)),
            ("secret", Group(OnReject.CONTINUE, VerdictRule.FIRST_ERROR, accept_if_any_accepted=True)),
            ("secret/small", Group(score=ScoreRule.MIN, accept_score=30.0)),
            ("secret/tall", Group(score=ScoreRule.MIN, accept_score=70.0)),
        ),
        scoring=True,
    )
    grade = graded(suite)
    assert (grade.verdict, grade.score, grade.full_score) == (Verdict.ACCEPTED, 100, 100)
    grade = graded(suite, tall_1=WRONG)
    assert (grade.verdict, grade.aggregate, grade.score) == (Verdict.WRONG_ANSWER, Verdict.ACCEPTED, 30)
    grade = graded(suite, small_2=WRONG, tall_2=WRONG, sample_1=WRONG)
    assert (grade.aggregate, grade.score) == (Verdict.WRONG_ANSWER, None)


def test_groups_of_2025_09(problems: dict[str, ProblemRecord]) -> None:
    suite = suite_of(problems["divisors"])
    assert [test.checker_flags for test in suite.tests] == [("all",), ("all",), ("all",), None, None]
    grade = graded(suite)
    assert (grade.verdict, grade.score, grade.full_score) == (Verdict.ACCEPTED, 100, 100)
    grade = graded(suite, all_2=WRONG)
    assert (grade.verdict, grade.aggregate, grade.score) == (Verdict.WRONG_ANSWER, Verdict.ACCEPTED, 60)
    # 40 for the first group; a quarter of 30 and 30 in the second.
    grade = graded(suite, some_1=(Verdict.ACCEPTED, None, 0.25))
    assert (grade.verdict, grade.aggregate, grade.score) == (Verdict.WRONG_ANSWER, Verdict.ACCEPTED, 77.5)
    # The second group requires the sample.
    grade = graded(suite, sample_1=WRONG)
    assert (grade.aggregate, grade.score) == (Verdict.ACCEPTED, 40)
    assert [group.name for group in grade.groups if not group.was_run] == ["secret/some"]


SCORING = "name: A\ntype: scoring\n"


def rules_of(folder: Path) -> Groups | None:
    opened = open_package(folder)
    return read_groups(opened, [case.name for case in read_tests(opened, "here").cases])


def group(folder: Path, name: str) -> Group:
    groups = rules_of(folder)
    assert groups is not None
    return dict(groups.rules)[name]


def test_a_scoring_package_without_settings(tmp_path: Path) -> None:
    groups = rules_of(package(tmp_path, SCORING))
    assert groups == Groups((("", Group()), ("secret", Group())), scoring=True)


def test_settings_are_inherited_one_by_one(tmp_path: Path) -> None:
    files = {
        "data__testdata.yaml": "on_reject: continue\ngrader_flags: max always_accept ignore_sample\n",
        "data__secret__testdata.yaml": "accept_score: 2.5\nreject_score: -1\n",
        "data__secret__a__b__1.in": "",
        "data__secret__a__b__1.ans": "",
        "data__secret__a__b__testdata.yaml": "grader_flags: min\nrange: 0 7\n",
    }
    groups = rules_of(package(tmp_path, SCORING, **files))
    assert groups is not None
    inherited = Group(OnReject.CONTINUE, VerdictRule.ALWAYS_ACCEPT, ScoreRule.MAX, accept_score=2.5, reject_score=-1.0)
    assert dict(groups.rules) == {
        "": Group(OnReject.CONTINUE, VerdictRule.ALWAYS_ACCEPT, ScoreRule.MAX, ignore_sample=True),
        "secret": inherited,
        "secret/a": inherited,
        "secret/a/b": Group(OnReject.CONTINUE, score=ScoreRule.MIN, accept_score=2.5, reject_score=-1.0),
    }


def test_of_conflicting_flags_the_last_one_counts(tmp_path: Path) -> None:
    flags = "grader_flags: min sum avg first_error always_accept worst_error\n"
    found = group(package(tmp_path, SCORING, **{"data__testdata.yaml": flags}), "secret")
    assert (found.score, found.verdict) == (ScoreRule.AVERAGE, VerdictRule.WORST_ERROR)


def test_grading_in_the_metadata_goes_first(tmp_path: Path) -> None:
    yaml = f"{SCORING}grading:\n  on_reject: grade\n  accept_score: 10\n  reject_score: 1\n"
    found = group(package(tmp_path, yaml, **{"data__testdata.yaml": "accept_score: 5\n"}), "secret")
    assert found == Group(OnReject.CONTINUE, accept_score=10.0, reject_score=1.0)


@pytest.mark.parametrize(
    ("objective", "bounds", "full"), [("max", "0 100", 100.0), ("max", "-inf 12.5", 12.5), ("min", "3 +inf", 3.0)]
)
def test_the_full_score_where_a_validator_gives_scores(
    tmp_path: Path, objective: str, bounds: str, full: float
) -> None:
    yaml = f"{SCORING}validation: custom score\ngrading: {{objective: {objective}}}\n"
    groups = rules_of(package(tmp_path, yaml, **{"data__testdata.yaml": f"range: {bounds}\n"}))
    assert groups is not None
    assert (groups.scoring, groups.minimise, groups.full_score) == (True, objective == "min", full)


@pytest.mark.parametrize(
    ("flags", "is_needed"),
    [
        ("worst_error", False),
        ("first_error", False),
        ("accept_if_any_accepted", True),
        ("always_accept", True),
        ("ignore_sample", True),
    ],
)
def test_pass_fail_packages_have_groups_where_a_failure_may_pass(tmp_path: Path, flags: str, is_needed: bool) -> None:
    settings = f"on_reject: continue\ngrader_flags: {flags}\n"
    groups = rules_of(package(tmp_path, "name: A\n", **{"data__testdata.yaml": settings}))
    assert (groups is not None) is is_needed
    assert groups is None or not groups.scoring


@pytest.mark.parametrize(
    ("yaml", "settings", "says"),
    [
        (SCORING, "grading: custom\n", "graded by a program of its own"),
        (SCORING, "grader_flags: median\n", "data has a flag for its grader that there is not: 'median'"),
        (SCORING, "on_reject: stop\n", "on_reject of data is 'stop', neither break nor continue"),
        (SCORING, "accept_score: much\n", "accept_score of data is 'much', not a number"),
        (SCORING, "reject_score: [0]\n", "reject_score of data is ['0'], not a number"),
        (SCORING, "accept_score: inf\n", "accept_score of data is 'inf', not a number"),
        (f"{SCORING}grading: {{objective: min}}\n", "", "nothing says how small it can be"),
        (f"{SCORING}validation: custom score\n", "", "gives scores without a bound"),
        (f"{SCORING}validation: custom score\n", "range: 0\n", "its range is '0', not two numbers"),
        (f"{SCORING}validation: custom score\n", "range: 0 all\n", "range of data is 'all', not a number"),
    ],
)
def test_legacy_groups_that_cannot_be_graded(tmp_path: Path, yaml: str, settings: str, says: str) -> None:
    folder = package(tmp_path, yaml, **{"data__testdata.yaml": settings, f"{V}v.py": ""})
    with pytest.raises(Ungradable) as failed:
        rules_of(folder)
    assert says in failed.value.reason
    assert flags_of(folder) == {"scoring": failed.value.reason}


def test_a_grader_of_its_own_is_flagged_in_a_pass_fail_package_too(tmp_path: Path) -> None:
    folder = package(tmp_path, "name: A\n", **{"data__secret__testdata.yaml": "grading: custom\n"})
    assert list(flags_of(folder)) == ["test_groups"]


MODERN_SCORING = f"{MODERN}type: scoring\n"
DRAFT = "name: A\nproblem_format_version: 2023-07-draft\ntype: scoring\n"


def scored(folder: Path, yaml: str, **groups: str) -> Path:
    """A package whose groups have these settings: "secret" itself, and groups in it with two tests each."""
    files: dict[str, str] = {}
    for name, settings in groups.items():
        place = "data__secret" if name == "secret" else f"data__secret__{name}"
        files[f"{place}__test_group.yaml"] = settings
        if name != "secret":
            files |= {f"{place}__{test}.{kind}": "" for test in (1, 2) for kind in ("in", "ans")}
    root = package(folder, yaml, **files)
    if len(groups) > ("secret" in groups):
        for name in ("1.in", "1.ans"):
            (root / "data" / "secret" / name).unlink()
    return root


def test_the_tests_of_secret_share_a_hundred(tmp_path: Path) -> None:
    files = {f"data__secret__{test}.{kind}": "" for test in (2, 3, 4) for kind in ("in", "ans")}
    groups = rules_of(package(tmp_path, MODERN_SCORING, **files))
    assert groups is not None
    part_by_part = Group(OnReject.CONTINUE, VerdictRule.FIRST_ERROR, accept_if_any_accepted=True)
    assert dict(groups.rules) == {
        "": Group(OnReject.CONTINUE, VerdictRule.FIRST_ERROR, accept_if_any_accepted=True, ignore_sample=True),
        "sample": Group(verdict=VerdictRule.FIRST_ERROR, accept_score=0.0),
        "secret": Group(**vars(part_by_part) | {"accept_score": 25.0, "max_score": 100.0}),
    }


def test_groups_pass_or_fail_unless_they_say_otherwise(tmp_path: Path) -> None:
    folder = scored(
        tmp_path,
        MODERN_SCORING,
        a="max_score: 30\n",
        b="max_score: 50\nscore_aggregation: sum\nrequire_pass: secret/a\n",
        c="max_score: 20\nscore_aggregation: min\nrequire_pass: [sample, secret/a]\n",
    )
    a, b, c = (group(folder, f"secret/{name}") for name in "abc")
    assert (a.on_reject, a.score, a.accept_score, a.max_score) == (OnReject.BREAK, ScoreRule.PASS_FAIL, 30, 30)
    assert (b.on_reject, b.score, b.accept_score, b.max_score) == (OnReject.CONTINUE, ScoreRule.SUM, 25, 50)
    assert (c.on_reject, c.score, c.accept_score, c.max_score) == (OnReject.BREAK, ScoreRule.MIN, 20, 20)
    assert (a.require_pass, b.require_pass, c.require_pass) == ((), ("secret/a",), ("sample", "secret/a"))


def test_folders_in_a_group_are_no_groups_from_2025_09_on(tmp_path: Path) -> None:
    folder = scored(tmp_path, MODERN_SCORING, a="max_score: 100\nscore_aggregation: sum\n", a__deep="")
    groups = rules_of(folder)
    assert groups is not None
    assert [name for name, _ in groups.rules] == ["", "sample", "secret", "secret/a"]
    assert dict(groups.rules)["secret/a"].accept_score == 25


def test_secret_that_passes_or_fails_as_a_whole(tmp_path: Path) -> None:
    folder = scored(tmp_path, MODERN_SCORING, secret="score_aggregation: pass-fail\nmax_score: 7\n", a="", b="")
    suite = suite_of(read("kattis", folder).one)
    assert graded(suite).score == 7
    assert graded(suite, b_2=WRONG).score is None


def test_drafts_have_their_settings_under_scoring_and_share_what_is_left(tmp_path: Path) -> None:
    folder = scored(
        tmp_path,
        DRAFT,
        secret="scoring: {score: 120}\n",
        a="scoring: {score: 30}\n",
        b="scoring: {aggregation: sum, require_pass: secret/a}\n",
        b__deep="scoring: {score: 5}\n",
        c="",
    )
    groups = rules_of(folder)
    assert groups is not None
    rules = dict(groups.rules)
    # 120 - 30 for two groups without a score; of the 45 for b its folder has 5, and its two tests share the rest.
    assert [rules[f"secret/{name}"].max_score for name in ("a", "b", "b/deep", "c")] == [30, 45, 5, 45]
    assert (rules["secret/b"].accept_score, rules["secret/b"].require_pass) == (20, ("secret/a",))
    suite = suite_of(read("kattis", folder).one)
    assert graded(suite).score == 120
    assert graded(suite, deep_2=WRONG).score == 115


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ({"secret": "max_score: unbounded\n"}, "the score of secret has no bound"),
        ({"a": "max_score: unbounded\n"}, "the score of secret/a has no bound"),
        ({"a": ""}, "secret/a has no max_score"),
        ({"a": "max_score: -1\n"}, "max_score of secret/a is '-1', below 0"),
        ({"a": "max_score: many\n"}, "max_score of secret/a is 'many', not a number"),
        ({"a": "max_score: 1\nscore_aggregation: avg\n"}, "score_aggregation of secret/a is 'avg'"),
        ({"a": "max_score: 1\nrequire_pass: secret/b\n"}, "secret/a requires secret/b, which is no group before it"),
        ({"b": "max_score: 1\nrequire_pass: secret/a\n"}, "secret/b requires secret/a, which is no group before it"),
        ({"secret": "scoring: 100\n"}, "scoring of secret is not a map"),
    ],
)
def test_later_groups_that_cannot_be_graded(tmp_path: Path, groups: dict[str, str], says: str) -> None:
    flags = flags_of(scored(tmp_path, MODERN_SCORING, **groups))
    assert list(flags) == ["scoring"]
    assert says in flags["scoring"]


@pytest.mark.parametrize(
    ("yaml", "settings", "flags"),
    [
        (MODERN_SCORING, "static_validation_score: 10\n", ["scoring"]),
        (MODERN, "static_validation_score: pass-fail\n", ["test_groups"]),
        (DRAFT, "static_validation: true\n", ["scoring"]),
        (DRAFT, "static_validation: false\n", []),
        (MODERN, "", []),
    ],
)
def test_a_static_validator_is_flagged_where_it_is_asked(
    tmp_path: Path, yaml: str, settings: str, flags: list[str]
) -> None:
    files = {"static_validator__v.py": "", "data__secret__test_group.yaml": settings}
    assert list(flags_of(package(tmp_path, yaml, **files))) == flags


def test_pass_fail_packages_of_later_forms_want_every_test(tmp_path: Path) -> None:
    assert rules_of(package(tmp_path, MODERN)) is None


def test_a_group_whose_programs_get_arguments_is_refused(tmp_path: Path) -> None:
    files = {"data__secret__a__1.in": "", "data__secret__a__1.ans": "", "data__secret__a__test_group.yaml": "args: [x]"}
    found = read("kattis", package(tmp_path, MODERN, **files))
    assert str(found.refusal) == "small/data/secret/a/1: gives its program arguments, which is not supported"


@pytest.mark.shared
def test_each_group_of_the_shared_packages_gives_what_its_range_says(shared_data: Path) -> None:
    folders = [folder for folder in (shared_data / "packages" / "po-2021-skolkval").iterdir() if folder.is_dir()]
    assert len(folders) == 4
    for folder in folders:
        suite = suite_of(read("kattis", folder).one)
        assert graded(suite).score == graded(suite).full_score == 100
        ranges = {
            file.parent.name: float(next(line for line in file.read_text().splitlines() if "range" in line).split()[-1])
            for file in (folder / "data" / "secret").glob("*/testdata.yaml")
        }
        for name, points in ranges.items():
            first = next(test.name for test in suite.tests if f"/{name}/" in test.name).split("/")[-1]
            grade = graded(suite, **{f"{name}_{first}": WRONG})
            assert (grade.score, grade.is_partial, grade.verdict) == (100 - points, True, Verdict.WRONG_ANSWER)
