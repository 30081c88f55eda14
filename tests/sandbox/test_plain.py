"""Signatures, checkers and groups as plain values: they come back as they were, and what is wrong in them is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.plain import (
    checker_as_plain,
    groups_as_plain,
    read_checker,
    read_groups,
    read_signature,
    signature_as_plain,
)
from sandbox.programs import (
    Checker,
    Group,
    Groups,
    Limits,
    OnReject,
    Program,
    Protocol,
    ScoreRule,
    Signature,
    VerdictRule,
)

WORD = st.text(max_size=8)
FILE_NAME = st.text("abcdef", min_size=1, max_size=8)
WORDS = st.lists(WORD, max_size=3).map(tuple)
SCORE = st.floats(-1e6, 1e6)
BARE = st.builds(Signature, parameters=WORDS, returns=WORD, answer=st.none() | st.integers(0, 5))
SIGNATURE = st.builds(
    Signature,
    parameters=WORDS,
    returns=WORD,
    answer=st.none() | st.integers(0, 5),
    methods=st.dictionaries(WORD, BARE, max_size=3).map(lambda methods: tuple(sorted(methods.items()))),
)
CHECKER = st.builds(
    Checker,
    program=st.builds(
        Program,
        source=WORD,
        language=WORD,
        files=st.dictionaries(FILE_NAME, WORD, max_size=3).map(lambda files: tuple(sorted(files.items()))),
    ),
    protocol=st.sampled_from(Protocol),
    flags=WORDS,
    limits=st.builds(
        Limits,
        cpu_s=st.floats(0.1, 1e3),
        memory_bytes=st.integers(1, 2**40),
        output_bytes=st.integers(1, 2**40),
        wall_s=st.none() | st.floats(0.1, 1e3),
    ),
)
GROUP = st.builds(
    Group,
    on_reject=st.sampled_from(OnReject),
    verdict=st.sampled_from(VerdictRule),
    score=st.sampled_from([rule for rule in ScoreRule if rule is not ScoreRule.PASS_FAIL]),
    accept_if_any_accepted=st.booleans(),
    ignore_sample=st.booleans(),
    accept_score=st.none() | SCORE,
    reject_score=SCORE,
    max_score=st.none() | SCORE,
    require_pass=WORDS,
)
GROUPS = st.builds(
    Groups,
    rules=st.dictionaries(WORD, GROUP, max_size=3).map(lambda rules: tuple(sorted(rules.items()))),
    scoring=st.booleans(),
    minimise=st.booleans(),
    full_score=st.none() | SCORE,
)


def through_json(plain: dict[str, Any]) -> Any:
    return json.loads(json.dumps(plain))


@given(SIGNATURE)
def test_signatures_come_back(signature: Signature) -> None:
    assert read_signature(through_json(signature_as_plain(signature))) == signature


@given(CHECKER)
def test_checkers_come_back(checker: Checker) -> None:
    assert read_checker(through_json(checker_as_plain(checker))) == checker


@given(GROUPS)
def test_groups_come_back(groups: Groups) -> None:
    assert read_groups(through_json(groups_as_plain(groups))) == groups


def test_what_is_left_out_has_its_default() -> None:
    assert read_signature({}) == Signature()
    assert read_checker({"program": {"source": "x"}}) == Checker(Program("x"))
    assert read_groups({"rules": {"secret": {}}}) == Groups((("secret", Group()),))


def test_the_plain_forms() -> None:
    signature = Signature(("ListNode",), "void", 0, (("push", Signature(("integer",), "void")),))
    push: dict[str, Any] = {"parameters": ["integer"], "returns": "void", "answer": None, "methods": {}}
    assert signature_as_plain(signature) == {
        "parameters": ["ListNode"],
        "returns": "void",
        "answer": 0,
        "methods": {"push": push},
    }
    checker = Checker(Program("a", "cpp17", (("b.h", "c"),)), Protocol.TESTLIB, ("d",), Limits(1.0, 2, 3))
    assert checker_as_plain(checker) == {
        "program": {"source": "a", "language": "cpp17", "files": {"b.h": "c"}},
        "protocol": "testlib",
        "flags": ["d"],
        "limits": {"cpu_s": 1.0, "memory_bytes": 2, "output_bytes": 3, "wall_s": None},
    }


@pytest.mark.parametrize(
    ("plain", "says"),
    [
        ({"parameter": []}, "a signature has no field 'parameter'"),
        ({"parameters": "integer"}, "parameters must be a list of texts, not 'integer'"),
        ({"parameters": [1]}, "parameters must be a list of texts"),
        ({"returns": None}, "returns must be a text, not None"),
        ({"answer": -1}, "answer must be a whole number of at least 0, not -1"),
        ({"answer": True}, "answer must be a whole number of at least 0, not True"),
        ({"methods": []}, "methods must be an object"),
        ({"methods": {"push": 1}}, "push must be an object, not 1"),
        ({"methods": {"push": {"answer": "0"}}}, "answer must be a whole number"),
    ],
)
def test_signatures_that_cannot_be_read(plain: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_signature(plain)


PROGRAM = {"program": {"source": "x"}}


@pytest.mark.parametrize(
    ("plain", "says"),
    [
        ({}, "program must be an object, not None"),
        ({"program": {}}, "source must be a text, not None"),
        ({"program": {"source": "x", "file": {}}}, "a checker's program has no field 'file'"),
        ({"program": {"source": "x", "files": {"a": 1}}}, "a must be a text, not 1"),
        (PROGRAM | {"protocol": "exit"}, "protocol must be one of kattis, testlib, not 'exit'"),
        (PROGRAM | {"flags": None}, "flags must be a list of texts"),
        ({"program": {"source": "", "files": {"../x": ""}}}, "cannot be called '../x'"),
        ({"program": {"source": "", "files": {"a/../x": ""}}}, "cannot be called 'a/../x'"),
        ({"program": {"source": "", "files": {"/etc/x": ""}}}, "cannot be called '/etc/x'"),
        ({"program": {"source": "", "files": {"": ""}}}, "cannot be called ''"),
        ({"program": {"source": "", "files": {".": ""}}}, "cannot be called '.'"),
        ({"program": {"source": "", "files": {"a/": ""}}}, "cannot be called 'a/'"),
        ({"program": {"source": "", "files": {"a\0": ""}}}, "cannot be called"),
        ({"program": {"source": "", "files": {"a": "", "a/b": ""}}}, "one is the other's folder"),
        ({"program": {"source": "", "files": {"feedback/score.txt": ""}}}, "cannot be 'feedback/score.txt'"),
        ({"program": {"source": "", "files": {"feedback": ""}}}, "cannot be 'feedback'"),
        (PROGRAM | {"limits": {"cpu": 1}}, "limits has no field 'cpu'"),
        (PROGRAM | {"limits": {"cpu_s": "1"}}, "cpu_s must be a number, not '1'"),
        (PROGRAM | {"limits": {"cpu_s": 0}}, "limits must be above 0"),
        (PROGRAM | {"limits": {"memory_bytes": 1.5}}, "memory_bytes must be a whole number"),
    ],
)
def test_checkers_that_cannot_be_read(plain: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_checker(plain)


@pytest.mark.parametrize(
    ("plain", "says"),
    [
        ({"scores": True}, "groups has no field 'scores'"),
        ({"scoring": 1}, "scoring must be true or false, not 1"),
        ({"full_score": float("nan")}, "full_score must be a number, not nan"),
        ({"rules": {"secret": []}}, "group 'secret' must be an object"),
        ({"rules": {"secret": {"grading": "sum"}}}, "group 'secret' has no field 'grading'"),
        ({"rules": {"secret": {"score": "median"}}}, "score must be one of sum, avg, min, max, pass-fail"),
        ({"rules": {"secret": {"reject_score": None}}}, "reject_score of group 'secret' must be a number"),
        ({"rules": {"secret": {"accept_score": "1"}}}, "accept_score must be a number, not '1'"),
        ({"rules": {"secret": {"score": "pass-fail", "accept_score": None}}}, "needs the score that it gives"),
        ({"rules": {"secret": {"require_pass": "sample"}}}, "require_pass must be a list of texts"),
    ],
)
def test_groups_that_cannot_be_read(plain: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_groups(plain)
