"""Signatures, checkers and groups as plain JSON values, fields by name, and back: for stores and files. Pure.

Readers raise ``ValueError`` that says what cannot be read; what is left out has its default.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from enum import StrEnum
from math import isfinite
from typing import Any, TypeVar

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

Choice = TypeVar("Choice", bound=StrEnum)


def signature_as_plain(signature: Signature) -> dict[str, Any]:
    """A signature: ``{"parameters": [...], "returns", "answer", "methods": {name: a signature}}``."""
    return {
        "parameters": list(signature.parameters),
        "returns": signature.returns,
        "answer": signature.answer,
        "methods": {name: signature_as_plain(method) for name, method in signature.methods},
    }


def read_signature(plain: dict[str, Any]) -> Signature:
    """Undo ``signature_as_plain``."""
    _refuse_unknown("a signature", plain, ("parameters", "returns", "answer", "methods"))
    answer = plain.get("answer")
    methods = _an_object("methods", plain.get("methods", {}))
    return Signature(
        parameters=_words("parameters", plain.get("parameters", [])),
        returns=_a_text("returns", plain.get("returns", "")),
        answer=None if answer is None else _a_count("answer", answer),
        methods=tuple((name, read_signature(_an_object(name, method))) for name, method in sorted(methods.items())),
    )


def checker_as_plain(checker: Checker) -> dict[str, Any]:
    """A checker: ``{"program": {"source", "language", "files": {name: text}}, "protocol", "flags", "limits"}``."""
    program = checker.program
    return {
        "program": {"source": program.source, "language": program.language, "files": dict(program.files)},
        "protocol": checker.protocol.value,
        "flags": list(checker.flags),
        "limits": asdict(checker.limits),
    }


def read_checker(plain: dict[str, Any]) -> Checker:
    """Undo ``checker_as_plain``."""
    _refuse_unknown("a checker", plain, ("program", "protocol", "flags", "limits"))
    program = _an_object("program", plain.get("program"))
    _refuse_unknown("a checker's program", program, ("source", "language", "files"))
    files = _an_object("files", program.get("files", {}))
    read = Checker(
        program=Program(
            source=_a_text("source", program.get("source")),
            language=_a_text("language", program.get("language", "python3")),
            files=tuple((name, _a_text(name, text)) for name, text in sorted(files.items())),
        ),
        protocol=_one_of(Protocol, "protocol", plain.get("protocol", Protocol.KATTIS)),
        flags=_words("flags", plain.get("flags", [])),
    )
    if "limits" not in plain:
        return read
    return Checker(read.program, read.protocol, read.flags, _limits(_an_object("limits", plain["limits"])))


def groups_as_plain(groups: Groups) -> dict[str, Any]:
    """Groups: ``{"rules": {folder: rule}, "scoring", "minimise", "full_score"}``, a rule with the fields of a group."""
    return asdict(groups) | {"rules": {name: _group_as_plain(group) for name, group in groups.rules}}


def _group_as_plain(group: Group) -> dict[str, Any]:
    return asdict(group) | {
        "on_reject": group.on_reject.value,
        "verdict": group.verdict.value,
        "score": group.score.value,
        "require_pass": list(group.require_pass),
    }


def read_groups(plain: dict[str, Any]) -> Groups:
    """Undo ``groups_as_plain``."""
    _refuse_unknown("groups", plain, tuple(entry.name for entry in fields(Groups)))
    rules = _an_object("rules", plain.get("rules", {}))
    return Groups(
        rules=tuple((name, _group(name, _an_object(f"group {name!r}", rule))) for name, rule in sorted(rules.items())),
        scoring=_a_switch("scoring", plain.get("scoring", False)),
        minimise=_a_switch("minimise", plain.get("minimise", False)),
        full_score=_a_score("full_score", plain.get("full_score")),
    )


def _group(name: str, plain: dict[str, Any]) -> Group:
    _refuse_unknown(f"group {name!r}", plain, tuple(entry.name for entry in fields(Group)))
    reject_score = _a_score("reject_score", plain.get("reject_score", 0.0))
    if reject_score is None:
        raise ValueError(f"reject_score of group {name!r} must be a number")
    return Group(
        on_reject=_one_of(OnReject, "on_reject", plain.get("on_reject", OnReject.BREAK)),
        verdict=_one_of(VerdictRule, "verdict", plain.get("verdict", VerdictRule.WORST_ERROR)),
        score=_one_of(ScoreRule, "score", plain.get("score", ScoreRule.SUM)),
        accept_if_any_accepted=_a_switch("accept_if_any_accepted", plain.get("accept_if_any_accepted", False)),
        ignore_sample=_a_switch("ignore_sample", plain.get("ignore_sample", False)),
        accept_score=_a_score("accept_score", plain.get("accept_score", 1.0)),
        reject_score=reject_score,
        max_score=_a_score("max_score", plain.get("max_score")),
        require_pass=_words("require_pass", plain.get("require_pass", [])),
    )


def _limits(plain: dict[str, Any]) -> Limits:
    _refuse_unknown("limits", plain, tuple(entry.name for entry in fields(Limits)))
    read: dict[str, Any] = {}
    for name, value in plain.items():
        if name.endswith("_bytes"):
            read[name] = _a_count(name, value)
        elif value is not None or name != "wall_s":
            read[name] = _a_number(name, value)
    return Limits(**read)


def _one_of(kinds: type[Choice], name: str, given: object) -> Choice:
    for kind in kinds:
        if kind == given:
            return kind
    raise ValueError(f"{name} must be one of {', '.join(kinds)}, not {given!r}")


def _a_number(name: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        raise ValueError(f"{name} must be a number, not {given!r}")
    return float(given)


def _a_score(name: str, given: object) -> float | None:
    return None if given is None else _a_number(name, given)


def _a_switch(name: str, given: object) -> bool:
    if not isinstance(given, bool):
        raise ValueError(f"{name} must be true or false, not {given!r}")
    return given


def _refuse_unknown(what: str, plain: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in plain:
        if name not in known:
            raise ValueError(f"{what} has no field {name!r}; its fields are {', '.join(known)}")


def _an_object(name: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{name} must be an object, not {given!r}")
    return given


def _a_text(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise ValueError(f"{name} must be a text, not {given!r}")
    return given


def _a_count(name: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ValueError(f"{name} must be a whole number of at least 0, not {given!r}")
    return given


def _words(name: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(word, str) for word in given):
        raise ValueError(f"{name} must be a list of texts, not {given!r}")
    return tuple(given)
