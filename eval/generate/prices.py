"""What an answer costs, by a table that the user gives.

A file in TOML, with prices for a million tokens::

    currency = "USD"

    [models."example-large"]     # the name that the endpoint is asked for
    input = 2.5
    output = 10.0
    cached_input = 1.25          # input that the endpoint had read before; as input where it is absent
    reasoning = 10.0             # as output where it is absent

A model that is not in the table has no price, and its answers no cost: not a cost of nothing.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from eval.generate.replies import Reply

_FORM = 'write currency = "USD" and for each model [models."NAME"] with input and output, for a million tokens'
_PER_TOKENS = 1_000_000


class PricesError(ValueError):
    """A table of prices that cannot be used. ``message`` says what and where, ``hint`` what to do."""

    def __init__(self, message: str, hint: str = _FORM) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Price:
    """Prices of one model for a million tokens, in the table's currency. None: as input, and as output."""

    input: float
    output: float
    cached_input: float | None = None
    reasoning: float | None = None

    def at_most(self, n_prompt_bytes: int, max_tokens: int) -> float:
        """What one reply can cost at most: no token is shorter than a byte of UTF-8."""
        dearest_in = max(self.input, self.cached_input or 0.0)
        dearest_out = max(self.output, self.reasoning or 0.0)
        return (n_prompt_bytes * dearest_in + max_tokens * dearest_out) / _PER_TOKENS

    def cost(self, reply: Reply) -> float | None:
        """What one reply cost; None where the endpoint did not say how many tokens it took.

        Cached tokens are a part of those that went in, those of reasoning a part of those that came out.
        """
        if reply.tokens_in is None or reply.tokens_out is None:
            return None
        cached = min(reply.tokens_cached or 0, reply.tokens_in)
        reasoning = min(reply.tokens_reasoning or 0, reply.tokens_out)
        parts = (
            (reply.tokens_in - cached, self.input),
            (cached, self.input if self.cached_input is None else self.cached_input),
            (reply.tokens_out - reasoning, self.output),
            (reasoning, self.output if self.reasoning is None else self.reasoning),
        )
        return math.fsum(n_tokens * price for n_tokens, price in parts) / _PER_TOKENS


@dataclass(frozen=True)
class PriceTable:
    """Prices by the name that the endpoint is asked for, in one currency."""

    currency: str
    models: Mapping[str, Price]

    def cost(self, model: str, reply: Reply) -> float | None:
        """What a reply of a model cost; None where the model has no price or the reply says nothing of tokens."""
        price = self.models.get(model)
        return None if price is None else price.cost(reply)


def load_prices(path: Path) -> PriceTable:
    """The table of a file. Raises ``PricesError`` with the place that is wrong."""
    try:
        return read_prices(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise PricesError(f"{path}: cannot be read ({error.strerror})", "check the path") from error
    except UnicodeDecodeError as error:
        raise PricesError(f"{path}: not UTF-8: {error.reason} at byte {error.start}", "save it as UTF-8") from error


def read_prices(text: str, origin: str) -> PriceTable:
    """The table of a file's text; ``origin`` names the file. Raises ``PricesError``."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PricesError(f"{origin}: not valid TOML: {error}") from error
    _check_names(content, ("currency", "models"), origin)
    currency = content.get("currency")
    if not isinstance(currency, str) or not currency.strip():
        raise PricesError(f"{origin}: names no currency", 'write currency = "USD" in its first line')
    tables = content.get("models", {})
    if not isinstance(tables, dict) or not tables:
        raise PricesError(f"{origin}: holds no model")
    return PriceTable(currency.strip(), {name: _price(table, f'{origin}, "{name}"') for name, table in tables.items()})


def _price(table: object, where: str) -> Price:
    if not isinstance(table, dict):
        raise PricesError(f"{where}: is no table")
    _check_names(table, tuple(one.name for one in fields(Price)), where)
    for name, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise PricesError(f"{where}: {name} cannot be {value!r}", "write a number, 0 or more, for a million tokens")
    for name in ("input", "output"):
        if name not in table:
            raise PricesError(f"{where}: has no price for its {name}")
    return Price(**{name: float(value) for name, value in table.items()})


def _check_names(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            dotted = 'a name with dots needs quotes: [models."NAME"]'
            hint = f'did you mean "{close[0]}"?' if close else dotted if isinstance(table[name], dict) else _FORM
            raise PricesError(f'{where}: unknown "{name}"', hint)
