"""Sampling: what goes into a request, what into a run's identity, and what cannot be sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.generate.sampling import BadSampling, Sampling, secret_in

FULL = Sampling(
    temperature=0.2,
    top_p=0.95,
    max_tokens=4096,
    seed=7,
    effort="high",
    stop=("###",),
    extra_body={"top_k": 20, "chat_template_kwargs": {"enable_thinking": True}},
    max_tokens_field="max_completion_tokens",
)


def test_a_request_says_what_is_set() -> None:
    assert FULL.body(3) == {
        "temperature": 0.2,
        "top_p": 0.95,
        "max_completion_tokens": 4096,
        "seed": 10,
        "reasoning_effort": "high",
        "stop": ["###"],
        "top_k": 20,
        "chat_template_kwargs": {"enable_thinking": True},
    }


def test_what_is_not_set_is_neither_sent_nor_part_of_the_identity() -> None:
    assert Sampling().body(5) == {}
    assert Sampling().conditions() == {}


def test_the_identity_is_what_the_model_is_asked_for() -> None:
    assert FULL.conditions() == {
        "temperature": 0.2,
        "top_p": 0.95,
        "max_tokens": 4096,
        "seed": 7,
        "effort": "high",
        "stop": ["###"],
        "extra_body": {"top_k": 20, "chat_template_kwargs": {"enable_thinking": True}},
    }


def test_one_and_one_point_nought_are_the_same_run() -> None:
    assert json.dumps(Sampling(temperature=1, top_p=1).conditions()) == '{"temperature": 1.0, "top_p": 1.0}'


def test_zero_is_a_setting() -> None:
    assert Sampling(temperature=0, seed=0).body(0) == {"temperature": 0.0, "seed": 0}


def test_a_body_can_be_changed_without_changing_the_sampling() -> None:
    FULL.body(0)["chat_template_kwargs"]["enable_thinking"] = False
    FULL.conditions()["extra_body"]["top_k"] = 0
    assert FULL.body(0)["chat_template_kwargs"] == {"enable_thinking": True}
    assert FULL.conditions()["extra_body"]["top_k"] == 20


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"temperature": -0.1}, "temperature cannot be -0.1"),
        ({"temperature": float("nan")}, "temperature cannot be nan"),
        ({"temperature": float("inf")}, "temperature cannot be inf"),
        ({"top_p": 0}, "top_p cannot be 0"),
        ({"top_p": 1.01}, "top_p cannot be 1.01"),
        ({"max_tokens": 0}, "max_tokens cannot be 0"),
        ({"max_tokens": True}, "max_tokens cannot be True"),
        ({"seed": 2**60}, f"seed cannot be {2**60}"),
        ({"effort": " "}, "the effort is empty"),
        ({"stop": ("a", "")}, "a stop word is empty"),
        ({"max_tokens_field": "max_new_tokens"}, 'the field "max_new_tokens" cannot hold the limit of length'),
        ({"extra_body": {"model": "other"}}, 'the extra body cannot set "model"'),
        ({"extra_body": {"messages": []}}, 'the extra body cannot set "messages"'),
        ({"extra_body": {"n": 5}}, 'the extra body cannot set "n"'),
        ({"extra_body": {"stream": True}}, 'the extra body cannot set "stream"'),
        ({"temperature": 1, "extra_body": {"temperature": 0}}, '"temperature" is given twice'),
        ({"effort": "low", "extra_body": {"reasoning_effort": "high"}}, '"reasoning_effort" is given twice'),
        ({"extra_body": {"api_key": "abcdefgh"}}, 'the extra body holds a secret ("api_key")'),
        ({"extra_body": {"a": [{"Authorization": "Basic eA=="}]}}, 'the extra body holds a secret ("a.Authorization")'),
        ({"extra_body": {"user": "sk-body-0123456789"}}, 'the extra body holds a secret ("user")'),
        ({"extra_body": {"x": float("nan")}}, "the extra body is no JSON: "),
        ({"extra_body": {"x": object()}}, "the extra body is no JSON: "),
    ],
)
def test_what_cannot_be_sent_is_refused_in_one_line(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadSampling) as caught:
        Sampling(**settings)
    assert caught.value.message.startswith(said)
    assert caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"api-key": "x"}, "api-key"),
        ({"provider": {"apiKey": "x"}}, "provider.apiKey"),
        ({"headers": {"x-auth-token": ["x"]}}, "headers.x-auth-token"),
        ({"vertex_credentials": {"private_key": "x"}}, "vertex_credentials.private_key"),
        ({"client_secret": "x"}, "client_secret"),
        ({"token": "x"}, "token"),
        ({"a": {"b": ["Bearer sk-0123456789"]}}, "a.b"),
        ({"a": "Bearer our-own-key-0123"}, "a"),
        # Fields of endpoints that hold none.
        ({"stop_token_ids": [1], "skip_special_tokens": True, "max_tokens": 5, "prompt_cache_key": "live"}, None),
        ({"stop_token": "<eos>", "logit_bias": {"5": 1}, "api_key": "", "a": "sky-high", "b": "sk-"}, None),
        ({"response_format": {"schema": {"properties": {"key": {"type": "string"}, "token": {}}}}}, None),
    ],
)
def test_secrets_in_further_fields(body: dict[str, Any], where: str | None) -> None:
    assert secret_in(body, "our-own-key-0123") == where


@given(st.integers(-1000, 1000), st.lists(st.integers(0, 1000), unique=True))
def test_each_sample_has_a_seed_of_its_own(seed: int, indices: list[int]) -> None:
    seeds = [Sampling(seed=seed).body(index)["seed"] for index in indices]
    assert len(set(seeds)) == len(indices)
