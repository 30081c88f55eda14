"""How a model is made to answer: temperature, limits, seed, effort, stop words and what else a request carries."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
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
        try:
            json.dumps(dict(self.extra_body), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadSampling(f"the extra body is no JSON: {error}", "give a JSON object") from error


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
