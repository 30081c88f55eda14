"""How a model is made to answer: temperature, limits, seed, effort, stop words and what else a request carries."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")
_OURS = {
    "model": "the model's name is given by itself",
    "messages": "the messages come from the prompt",
    "n": "each sample is asked for by itself; ask for more samples instead",
    "stream": "how the answer comes over is not a matter of sampling",
    "stream_options": "how the answer comes over is not a matter of sampling",
}
_LARGEST_SEED = 2**53
"""Larger integers change on their way through JSON readers that make floating-point numbers of them."""


_SECRET_NAME = re.compile(
    r"secret|password|passwd|credentials?$|authorization$|(?:api|access|private|subscription|account)key$"
    r"|(?:access|auth|bearer|session|refresh|id)token$|^x?(?:key|token|auth|bearer|signature|sig)$"
)
"""Of names in small letters without what stands between their words. Not "token" anywhere: ``stop_token_ids``."""
_SECRET_VALUE = re.compile(r"(?:Bearer +)?sk-[A-Za-z0-9_-]{5}")
_SHORTEST_KEY = 8
_DEEPEST = 100


class BadSampling(ValueError):
    """Settings that cannot be sent. ``message`` says what, ``hint`` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Sampling:
    """What a request says beyond the model and the messages; what is None is not sent. Raises ``BadSampling``.

    `effort` is sent as ``reasoning_effort``. `extra_body` is sent as it is. `max_tokens_field` is the name under which
    the endpoint wants the limit of an answer's length.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    effort: str | None = None
    stop: tuple[str, ...] = ()
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    max_tokens_field: str = "max_tokens"

    def __post_init__(self) -> None:
        _check_number("temperature", self.temperature, "0 or more", lambda value: value >= 0)
        _check_number("top_p", self.top_p, "above 0 and at most 1", lambda value: 0 < value <= 1)
        _check_whole("max_tokens", self.max_tokens, least=1, most=_LARGEST_SEED)
        _check_whole("seed", self.seed, least=-_LARGEST_SEED, most=_LARGEST_SEED)
        if self.effort is not None and not self.effort.strip():
            raise BadSampling("the effort is empty", "name one that the endpoint knows, such as low, medium or high")
        if "" in self.stop:
            raise BadSampling("a stop word is empty", "leave it out")
        if self.max_tokens_field not in MAX_TOKENS_FIELDS:
            raise BadSampling(
                f'the field "{self.max_tokens_field}" cannot hold the limit of length',
                f"it is one of {', '.join(MAX_TOKENS_FIELDS)}",
            )
        self._check_extra_body()

    def body(self, sample_index: int) -> dict[str, Any]:
        """The fields of a request for one sample. Each sample of a problem (from 0) has a seed of its own."""
        seed = {} if self.seed is None else {"seed": self.seed + sample_index}
        return copy.deepcopy(dict(self.extra_body)) | self._own_fields() | seed

    def conditions(self) -> dict[str, Any]:
        """What of it is part of a run's identity, as JSON values; what is not set is absent.

        The name of the field that holds the limit of length is not: the model is asked for the same.
        """
        named = {
            "temperature": _float(self.temperature),
            "top_p": _float(self.top_p),
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "effort": self.effort,
            "stop": list(self.stop) or None,
            "extra_body": copy.deepcopy(dict(self.extra_body)) or None,
        }
        return {name: value for name, value in named.items() if value is not None}

    def _own_fields(self) -> dict[str, Any]:
        named = {
            "temperature": _float(self.temperature),
            "top_p": _float(self.top_p),
            self.max_tokens_field: self.max_tokens,
            "seed": self.seed,
            "reasoning_effort": self.effort,
            "stop": list(self.stop) or None,
        }
        return {name: value for name, value in named.items() if value is not None}

    def _check_extra_body(self) -> None:
        own = self._own_fields()
        for name in self.extra_body:
            if name in _OURS:
                raise BadSampling(f'the extra body cannot set "{name}"', _OURS[name])
            if name in own:
                raise BadSampling(f'"{name}" is given twice', "give it by its option or in the extra body, not both")
        secret = secret_in(self.extra_body)
        if secret is not None:
            raise BadSampling(*held_secret(secret))
        try:
            json.dumps(dict(self.extra_body), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadSampling(f"the extra body is no JSON: {error}", "give a JSON object") from error


def secret_in(extra_body: Mapping[str, Any], key: str | None = None) -> str | None:
    """Where further fields of a request hold a secret, as names with dots; None where they hold none.

    They are part of a run's identity, so that they are stored and shown. A secret is a text under the name of one, one
    that begins as keys do, and one that has the user's `key` in it.
    """
    for where, name, value in _texts(extra_body, ""):
        is_named = _SECRET_NAME.search(re.sub(r"[^a-z]", "", name.lower())) is not None
        has_key = key is not None and len(key) >= _SHORTEST_KEY and key in value
        if value.strip() and (is_named or has_key or _SECRET_VALUE.match(value.strip())):
            return where
    return None


def held_secret(where: str) -> tuple[str, str]:
    """What is said of further fields that hold a secret: what, and what to do."""
    return (
        f'the extra body holds a secret ("{where}"), and would be stored and shown with the run',
        "leave it out: name the variable that holds the key by --key-variable",
    )


def _texts(value: object, where: str, name: str = "", depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """All texts in a JSON value: where each stands, under which name, and what it is."""
    if isinstance(value, str):
        yield where, name, value
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{where}.{key}" if where else str(key), str(key), depth + 1)
    elif depth < _DEEPEST and isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, where, name, depth + 1)


def _check_number(name: str, value: float | None, wanted: str, holds: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not math.isfinite(value) or not holds(value):
        raise BadSampling(f"{name} cannot be {value}", f"give a number, {wanted}")


def _check_whole(name: str, value: int | None, least: int, most: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or value != int(value) or not least <= value <= most:
        raise BadSampling(f"{name} cannot be {value}", f"give a whole number from {least} to {most}")


def _float(value: float | None) -> float | None:
    """1 and 1.0 are one setting, and one run."""
    return None if value is None else float(value)
