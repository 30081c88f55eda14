"""How the tests of a package are graded in groups, as rules for the sandbox.

Legacy packages (``testdata.yaml``): a setting that a group's file does not have is that of the group above, as the
format's own tool reads them. Later ones (``test_group.yaml``): from 2025-09 on the folders in ``data/secret`` are
groups, each with its own settings; in the drafts before, folders in these are groups, too, the settings stand under
``scoring``, and a group without a score shares what the others leave.

Pass-fail packages have rules only where a program may be accepted that fails a test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ingest.errors import BadRow
from ingest.package_settings import group_settings, words
from ingest.packages import Package
from sandbox.grading import SAMPLE
from sandbox.programs import Group, Groups, OnReject, ScoreRule, VerdictRule

SECRET: Final = "secret"
_HINT: Final = "The package's format says what its groups may have."
_VERDICT_FLAGS: Final = {rule.value: rule for rule in VerdictRule} | {"no_errors": VerdictRule.WORST_ERROR}
_SCORE_FLAGS: Final = {rule.value: rule for rule in ScoreRule if rule is not ScoreRule.PASS_FAIL}
_SWITCHES: Final = ("ignore_sample", "accept_if_any_accepted")
_AGGREGATIONS: Final = {rule.value: rule for rule in (ScoreRule.PASS_FAIL, ScoreRule.SUM, ScoreRule.MIN)}
_OVERALL_ON_REJECT: Final = {"first_error": "break", "grade": "continue"}


class Ungradable(BadRow):
    """Groups that the sandbox cannot grade, or whose settings say nothing that can be followed; ``reason`` says why."""


def read_groups(package: Package, names: Sequence[str]) -> Groups | None:
    """The rules for the tests with these names; None where every test must be accepted.

    Raises ``Ungradable``, and ``BadRow`` for settings that cannot be read.
    """
    if package.legacy:
        return _Legacy(package).groups(names)
    if _has_static_validator(package, names):
        raise Ungradable("its programs' sources are judged, too, by a static validator", _HINT)
    return _Modern(package, names).groups() if package.is_scoring else None


def _folders(names: Sequence[str]) -> list[str]:
    """The folders that have tests in or below them, each after the one above it; "" is the root."""
    found = {""}
    for name in names:
        parts = name.split("/")[:-1]
        found |= {"/".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return sorted(found)


def _above(folder: str) -> str:
    return folder.rpartition("/")[0]


class _Legacy:
    """The groups of a legacy package: every folder is one."""

    def __init__(self, package: Package) -> None:
        self._package = package

    def groups(self, names: Sequence[str]) -> Groups | None:
        settings: dict[str, dict[str, Any]] = {}
        rules: list[tuple[str, Group]] = []
        for folder in _folders(names):
            above = settings[_above(folder)] if folder else {}
            own = group_settings(self._package, self._package.folder / "data" / folder)
            settings[folder] = above | own
            rules.append((folder, self._rules(folder, settings[folder] | self._overall())))
        if not self._package.is_scoring:
            return Groups(tuple(rules)) if any(_forgives(group) for _, group in rules) else None
        minimise = self._package.grading.get("objective", "max") == "min"
        return Groups(tuple(rules), True, minimise, self._full_score(settings[""] | self._overall(), minimise))

    def _overall(self) -> dict[str, Any]:
        """What ``problem.yaml`` says of all groups; it comes from before groups had files, and its word goes first."""
        grading = self._package.grading
        said: dict[str, Any] = {
            key: grading[key] for key in ("accept_score", "reject_score", "range") if key in grading
        }
        on_reject = _OVERALL_ON_REJECT.get(str(grading.get("on_reject")))
        return said if on_reject is None else said | {"on_reject": on_reject}

    def _rules(self, folder: str, settings: dict[str, Any]) -> Group:
        if settings.get("grading", "default") != "default":
            raise Ungradable("the results of its groups are graded by a program of its own", _HINT)
        where = folder or "data"
        flags = words(f"the grader flags of {where}", settings.get("grader_flags", ""))
        unknown = [flag for flag in flags if flag not in (*_VERDICT_FLAGS, *_SCORE_FLAGS, *_SWITCHES)]
        if unknown:
            raise Ungradable(f"{where} has a flag for its grader that there is not: {unknown[0]!r}", _HINT)
        verdicts = [_VERDICT_FLAGS[flag] for flag in flags if flag in _VERDICT_FLAGS]
        scores = [_SCORE_FLAGS[flag] for flag in flags if flag in _SCORE_FLAGS]
        return Group(
            on_reject=_on_reject(where, settings.get("on_reject", "break")),
            verdict=verdicts[-1] if verdicts else VerdictRule.WORST_ERROR,
            score=scores[-1] if scores else ScoreRule.SUM,
            accept_if_any_accepted="accept_if_any_accepted" in flags,
            # Meant for the root alone, from which the groups below have it unless they say otherwise.
            ignore_sample="ignore_sample" in flags and not folder,
            accept_score=_number(where, "accept_score", settings.get("accept_score", "1")),
            reject_score=_number(where, "reject_score", settings.get("reject_score", "0")),
        )

    def _full_score(self, settings: dict[str, Any], minimise: bool) -> float | None:
        """The end of the root's range where the validator gives scores; None: what accepted tests come to."""
        if "score" not in self._package.validation:
            if minimise:
                raise Ungradable("its score is to be small, and nothing says how small it can be", _HINT)
            return None
        bounds = str(settings.get("range", "-inf +inf")).split()
        if len(bounds) != 2:
            raise Ungradable(f"its range is {' '.join(bounds)!r}, not two numbers", _HINT)
        full = _number("data", "range", bounds[0 if minimise else 1], finite=False)
        if not math.isfinite(full):
            raise Ungradable("its validator gives scores without a bound: no score says that it is solved", _HINT)
        return full


def _forgives(group: Group) -> bool:
    """Whether a group may be accepted though something in it is not."""
    return group.accept_if_any_accepted or group.ignore_sample or group.verdict is VerdictRule.ALWAYS_ACCEPT


def _on_reject(where: str, given: object) -> OnReject:
    for kind in OnReject:
        if given == kind:
            return kind
    raise Ungradable(f"on_reject of {where} is {given!r}, neither break nor continue", _HINT)


def _number(where: str, name: str, given: object, *, finite: bool = True) -> float:
    try:
        number = float(given) if isinstance(given, str) else math.nan
    except ValueError:
        number = math.nan
    if math.isnan(number) or (finite and math.isinf(number)):
        raise Ungradable(f"{name} of {where} is {given!r}, not a number", _HINT)
    return number


_AT_ONCE: Final = Group(on_reject=OnReject.BREAK, verdict=VerdictRule.FIRST_ERROR)
_PART_BY_PART: Final = replace(_AT_ONCE, on_reject=OnReject.CONTINUE, accept_if_any_accepted=True)
"""A group in which each part that is accepted counts. A score above zero is what the format has for accepted."""


class _Modern:
    """The groups of a scoring package from 2023-07-draft on."""

    def __init__(self, package: Package, names: Sequence[str]) -> None:
        self._package = package
        self._is_draft = "scoring" in self._settings(SECRET) or not package.version.startswith("2025")
        self._names = names
        folders = [folder for folder in _folders(names) if folder.startswith(f"{SECRET}/")]
        self._groups = [folder for folder in folders if self._is_draft or folder.count("/") == 1]
        self._n_tests = Counter(self._group_of(name) for name in names)

    def groups(self) -> Groups:
        rules = {"": replace(_PART_BY_PART, ignore_sample=True), SAMPLE: replace(_AT_ONCE, accept_score=0.0)}
        secret = self._scoring(SECRET)
        maximum = self._maximum(SECRET, secret, 100.0)
        rules[SECRET] = self._rules(SECRET, secret, maximum, ScoreRule.SUM)
        maxima = {SECRET: maximum}
        for folder in self._groups:
            scoring, above = self._scoring(folder), _above(folder)
            maxima[folder] = self._maximum(folder, scoring, self._share(above, maxima[above], rules[above].score))
            rules[folder] = self._rules(folder, scoring, maxima[folder], ScoreRule.PASS_FAIL)
        return Groups(tuple(sorted(rules.items())), scoring=True)

    def _settings(self, folder: str) -> dict[str, Any]:
        return group_settings(self._package, self._package.folder / "data" / folder)

    def _scoring(self, folder: str) -> dict[str, Any]:
        """The scoring of a group under the names of 2025-09."""
        settings = self._settings(folder)
        scoring = settings.get("scoring") or {}
        if not isinstance(scoring, dict):
            raise Ungradable(f"scoring of {folder} is not a map", _HINT)
        named = {"score": "max_score", "aggregation": "score_aggregation", "require_pass": "require_pass"}
        return settings | {named[key]: value for key, value in scoring.items() if key in named}

    def _group_of(self, name: str) -> str:
        folder = _above(name)
        while folder and folder != SECRET and folder not in self._groups:
            folder = _above(folder)
        return folder

    def _maximum(self, folder: str, scoring: dict[str, Any], default: float | None) -> float:
        given = scoring.get("max_score")
        if given == "unbounded":
            raise Ungradable(f"the score of {folder} has no bound: none says that it is solved", _HINT)
        if given is None and default is None:
            raise Ungradable(f"{folder} has no max_score", _HINT)
        maximum = default if given is None else _number(folder, "max_score", given)
        assert maximum is not None
        if maximum < 0:
            raise Ungradable(f"max_score of {folder} is {given!r}, below 0", _HINT)
        return maximum

    def _share(self, folder: str, maximum: float, rule: ScoreRule) -> float | None:
        """The most that a part of a group gets where it states nothing. None: it has to state it."""
        if rule is not ScoreRule.SUM:
            return maximum
        if not self._is_draft:
            return None
        below = [self._scoring(group).get("max_score") for group in self._groups if _above(group) == folder]
        stated = sum(_number(folder, "score", given) for given in below if given is not None)
        return (maximum - stated) / max(1, self._n_tests[folder] + below.count(None))

    def _rules(self, folder: str, scoring: dict[str, Any], maximum: float, default: ScoreRule) -> Group:
        given = scoring.get("score_aggregation", default.value)
        rule = _AGGREGATIONS.get(str(given))
        if rule is None:
            raise Ungradable(f"score_aggregation of {folder} is {given!r}", _HINT)
        required = words(f"require_pass of {folder}", scoring.get("require_pass"))
        for name in required:
            if name >= folder or not self._is_there(name):
                raise Ungradable(f"{folder} requires {name}, which is no group before it", _HINT)
        accept_score: float | None = maximum
        if rule is ScoreRule.SUM and self._n_tests[folder]:
            share = self._share(folder, maximum, rule)
            accept_score = maximum / self._n_tests[folder] if share is None else share
        group = _PART_BY_PART if rule is ScoreRule.SUM else _AT_ONCE
        return replace(group, score=rule, accept_score=accept_score, max_score=maximum, require_pass=required)

    def _is_there(self, name: str) -> bool:
        """Whether there is a group, or a test, of this name; the sample may be left out of a package."""
        return name == SAMPLE or name in self._names or (self._package.folder / "data" / name).is_dir()


def _has_static_validator(package: Package, names: Sequence[str]) -> bool:
    if not (package.folder / "static_validator").exists():
        return False
    keys = ("static_validation_score", "static_validation")
    settings = (group_settings(package, package.folder / "data" / folder) for folder in _folders(names))
    return any(said.get(key, "false") != "false" for said in settings for key in keys)
