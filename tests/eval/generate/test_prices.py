"""Prices: what an answer costs, and what a table cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.generate.prices import Price, PricesError, load_prices, read_prices
from eval.generate.replies import Reply

TABLE = """
currency = "USD"

[models."gpt-4o-2024-08-06"]
input = 2.5
output = 10
cached_input = 1.25

[models.plain]
input = 0.5
output = 2.0
reasoning = 3.0
"""


def reply(
    tokens_in: int | None, tokens_out: int | None, reasoning: int | None = None, cached: int | None = None
) -> Reply:
    return Reply("", tokens_in=tokens_in, tokens_out=tokens_out, tokens_reasoning=reasoning, tokens_cached=cached)


def test_a_million_tokens_in_and_out_cost_their_prices() -> None:
    table = read_prices(TABLE, "prices.toml")
    assert table.currency == "USD"
    assert table.cost("gpt-4o-2024-08-06", reply(1_000_000, 1_000_000)) == 12.5


def test_cached_input_has_its_price() -> None:
    # 1,000 in, 400 of them cached: 600 x 2.5 + 400 x 1.25 + 200 x 10 = 4,000 millionths
    assert read_prices(TABLE, "x").cost("gpt-4o-2024-08-06", reply(1000, 200, cached=400)) == pytest.approx(0.004)


def test_reasoning_costs_as_output_unless_it_has_its_price() -> None:
    table = read_prices(TABLE, "x")
    assert table.cost("gpt-4o-2024-08-06", reply(0, 1000, reasoning=800)) == pytest.approx(0.01)
    # 200 x 2 + 800 x 3 = 2,800 millionths
    assert table.cost("plain", reply(0, 1000, reasoning=800)) == pytest.approx(0.0028)


def test_cached_input_costs_as_input_where_no_price_is_given() -> None:
    assert read_prices(TABLE, "x").cost("plain", reply(1000, 0, cached=1000)) == pytest.approx(0.0005)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_no_reply_costs_more_than_it_can(
    n_bytes: int, most: int, tokens: float, out: float, cached: float, reasoning: float
) -> None:
    taken = reply(int(tokens * n_bytes), int(out * most), int(reasoning * out * most), int(cached * tokens * n_bytes))
    for price in (Price(2.5, 10.0), Price(2.5, 10.0, 3.0, 20.0), Price(2.5, 10.0, 0.5, 5.0)):
        cost = price.cost(taken)
        assert cost is not None
        assert cost <= price.at_most(n_bytes, most) + 1e-9


def test_what_a_reply_can_cost() -> None:
    # 2,000 bytes x 2.5 + 4,096 x 10 = 45,960 millionths
    assert Price(2.5, 10.0).at_most(2000, 4096) == pytest.approx(0.04596)


@pytest.mark.parametrize(("tokens_in", "tokens_out"), [(None, 5), (5, None), (None, None)])
def test_a_reply_that_says_nothing_of_tokens_has_no_cost(tokens_in: int | None, tokens_out: int | None) -> None:
    assert read_prices(TABLE, "x").cost("plain", reply(tokens_in, tokens_out)) is None


def test_a_model_without_a_price_has_no_cost() -> None:
    assert read_prices(TABLE, "x").cost("gpt-4o", reply(5, 5)) is None


def test_a_free_model_costs_nothing() -> None:
    assert Price(0, 0).cost(reply(5, 5)) == 0


@given(*[st.integers(0, 10**7)] * 4, *[st.floats(0, 1000)] * 4)
def test_no_reply_costs_less_than_nothing(
    tokens_in: int, tokens_out: int, reasoning: int, cached: int, a: float, b: float, c: float, d: float
) -> None:
    cost = Price(a, b, c, d).cost(reply(tokens_in, tokens_out, reasoning, cached))
    assert cost is not None
    assert 0 <= cost <= (tokens_in + tokens_out) * max(a, b, c, d) / 1e6 + 1e-9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("currency = ", "prices.toml: not valid TOML: Invalid value (at end of document)"),
        ("", "prices.toml: names no currency"),
        ('currency = " "', "prices.toml: names no currency"),
        ('currency = "USD"', "prices.toml: holds no model"),
        ('currency = "USD"\n[models]\n', "prices.toml: holds no model"),
        ('currency = "USD"\n[model.a]\ninput = 1\noutput = 1', 'prices.toml: unknown "model"'),
        ('currency = "USD"\n[models.a]\ninput = 1', 'prices.toml, "a": has no price for its output'),
        ('currency = "USD"\n[models.a]\ninput = "1"\noutput = 1', "prices.toml, \"a\": input cannot be '1'"),
        ('currency = "USD"\n[models.a]\ninput = -1\noutput = 1', 'prices.toml, "a": input cannot be -1'),
        ('currency = "USD"\n[models.a]\ninput = true\noutput = 1', 'prices.toml, "a": input cannot be True'),
        ('currency = "USD"\n[models.a]\ninput = nan\noutput = 1', 'prices.toml, "a": input cannot be nan'),
        ('currency = "USD"\n[models.a]\ninput = 1\noutputs = 1', 'prices.toml, "a": unknown "outputs"'),
        ('currency = "USD"\n[models]\na = 1', 'prices.toml, "a": is no table'),
        ('currency = "USD"\n[models.gpt-4.1]\ninput = 1\noutput = 1', 'prices.toml, "gpt-4": unknown "1"'),
    ],
)
def test_a_table_that_cannot_be_used_names_the_place(text: str, said: str) -> None:
    with pytest.raises(PricesError) as caught:
        read_prices(text, "prices.toml")
    assert caught.value.message == said
    assert caught.value.hint


def test_a_name_with_a_dot_needs_quotes_and_is_told_so() -> None:
    with pytest.raises(PricesError) as caught:
        read_prices('currency = "USD"\n[models.gpt-4.1]\ninput = 1\noutput = 1', "prices.toml")
    assert caught.value.hint == 'a name with dots needs quotes: [models."NAME"]'


def test_a_file_is_read_and_one_that_cannot_be_is_told(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(TABLE, encoding="utf-8-sig")
    assert set(load_prices(path).models) == {"gpt-4o-2024-08-06", "plain"}
    path.write_bytes(b'currency = "\xff"')
    with pytest.raises(PricesError, match="not UTF-8"):
        load_prices(path)
    with pytest.raises(PricesError, match="cannot be read"):
        load_prices(tmp_path / "absent.toml")
