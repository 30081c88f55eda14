"""When a run is unhealthy, and when going on with it is no use."""

from __future__ import annotations

import pytest

from db.records import AnswerStatus
from eval.generate.failures import FailureKind
from eval.generate.health import RunHealth, Watch, failed_text, is_failing, without_program


@pytest.mark.parametrize(
    ("statuses", "failures", "reasons"),
    [
        ({"ok": 100}, {}, ()),
        ({}, {}, ()),
        ({"ok": 95, "truncated": 5}, {}, ()),  # 5 % is not more than 5 %
        ({"ok": 94, "truncated": 6}, {}, ("6 of 100 answers are cut off",)),
        ({"ok": 94, "truncated": 3, "suspicious_stop": 3}, {}, ("6 of 100 answers are cut off",)),
        ({"ok": 51, "no_code": 49}, {}, ()),  # what a model does not solve is no fault of the asking
        ({"ok": 50, "no_code": 50}, {}, ("50 of 100 answers are not what was asked for (no_code 50)",)),
        (
            {"ok": 1, "no_code": 60, "wrong_language": 38},
            {},
            ("98 of 99 answers are not what was asked for (no_code 60, wrong_language 38)",),
        ),
        ({"ok": 95}, {"timed_out": 5}, ()),
        ({"ok": 94}, {"timed_out": 4, "not_json": 2}, ("6 of 100 samples have no answer (failed requests)",)),
        ({}, {"timed_out": 1}, ("1 of 1 samples have no answer (failed requests)",)),
    ],
)
def test_thresholds(statuses: dict[str, int], failures: dict[str, int], reasons: tuple[str, ...]) -> None:
    health = RunHealth(statuses, failures)
    assert health.reasons == reasons
    assert health.is_unhealthy == bool(reasons)


def test_shares() -> None:
    document = RunHealth({"ok": 3, "truncated": 1}, {"timed_out": 1}).as_dict()
    assert document["shares"] == {"ok": 0.75, "truncated": 0.25, "failed": 0.2}
    assert document["answers"] == {"ok": 3, "truncated": 1}
    assert document["failed_requests"] == {"timed_out": 1}
    assert RunHealth({}, {}).shares() == {"failed": None}


def test_failed_samples() -> None:
    assert failed_text(3, 7) == "3 of 10 samples have no answer (failed requests)"
    assert is_failing(1, 18)
    assert not is_failing(1, 19)
    assert not is_failing(0, 0)


def test_statuses_without_a_program_are_named_also_those_of_newer_versions() -> None:
    counted = {"ok": 5, "ok_unfenced": 1, "no_code": 2, "truncated": 3, "refused": 0, "of_tomorrow": 3}
    assert without_program(counted) == {"of_tomorrow": 3, "truncated": 3, "no_code": 2}


def heard(*kinds: str) -> Watch:
    watch = Watch()
    for kind in kinds:
        watch.add(kind)
    return watch


@pytest.mark.parametrize(
    ("kinds", "says"),
    [
        (["truncated"] * 19, None),
        (["ok"] * 4 + ["truncated"] * 16, "16 of the last 20 replies are of no use (truncated 16)"),
        (["ok"] * 5 + ["truncated"] * 15, None),
        (["no_code"] * 15 + ["ok"] * 5, None),
        (["no_code"] * 20, "20 of the last 20 replies are of no use (no_code 20)"),
        (["ok"] * 4 + ["wrong_language"] * 16, "16 of the last 20 replies are of no use (wrong_language 16)"),
        (["ok"] * 200 + ["timed_out"] * 39, None),
        (["ok"] * 200 + ["timed_out"] * 40, "40 of the last 50 replies are of no use (timed_out 40)"),
        (["empty_content"] * 12 + ["rate_limited"] * 8, "20 of the last 20 replies"),
    ],
)
def test_when_to_stop(kinds: list[str], says: str | None) -> None:
    alarm = heard(*kinds).alarm()
    assert (alarm is None) == (says is None)
    if alarm is not None and says is not None:
        assert alarm.message.startswith(says)


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        (AnswerStatus.TRUNCATED, "--max-tokens"),
        (AnswerStatus.SUSPICIOUS_STOP, "--stop"),
        (AnswerStatus.NO_CODE, "live prompts MODEL --show"),
        (AnswerStatus.WRONG_LANGUAGE, "--language"),
        (FailureKind.EMPTY_CONTENT, "--reasoning-is-answer"),
        (FailureKind.TIMED_OUT, "--timeout"),
        (FailureKind.RATE_LIMITED, "--concurrency"),
        (FailureKind.SERVER_ERROR, "asks again"),
    ],
)
def test_the_hint_is_about_what_is_wrong(kind: str, remedy: str) -> None:
    alarm = heard(*[kind] * 19, "ok").alarm()
    assert alarm is not None
    assert remedy in alarm.hint
    assert "--keep-going" in alarm.hint
