"""The languages in jails of the other kinds: over frames, without a switch of users, in a kernel of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import Judge, Program, SandboxUnavailable, Suite, Test, Verdict, languages
from tests.sandbox.conftest import OTHER_EXECUTORS


@pytest.fixture(scope="module", params=OTHER_EXECUTORS)
def elsewhere(request: pytest.FixtureRequest) -> Iterator[Judge]:
    """A judge with one worker on each of the other executors."""
    try:
        judge = Judge(str(request.param), jobs=1)
    except SandboxUnavailable as error:
        pytest.skip(f"{error.message} ({error.hint})")
    with judge:
        yield judge


@pytest.mark.slow
@pytest.mark.parametrize("language", languages.names())
def test_a_language_passes_its_self_test(elsewhere: Judge, language: str) -> None:
    if language not in elsewhere.languages:
        pytest.skip(f"the {elsewhere.environment.executor} jails here have no {language}")
    suite = Suite((Test("1", b"41\n", b"42\n"), Test("2", b"-1\n", b"0\n")))
    outcome = elsewhere.judge(Program(languages.find(language).self_test, language), suite)
    assert outcome.verdict is Verdict.ACCEPTED, outcome
