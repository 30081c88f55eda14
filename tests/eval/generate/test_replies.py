"""Replies of endpoints, in the shapes that servers were seen to give, whole and in pieces. Written by us."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.generate.replies import BadReply, Reply, ReplyStream, read_reply, without_thinking

CASES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))
CODE = "```python\nprint(1)\n```"


def chunk(delta: object = None, **more: object) -> dict[str, object]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": more.pop("finish_reason", None)}
    return {"id": "c-1", "object": "chat.completion.chunk", "model": "nova-1", "choices": [choice], **more}


def streamed(*chunks: object) -> Reply:
    stream = ReplyStream()
    for one in chunks:
        stream.feed(one)
    return stream.reply()


def bad(document: object) -> BadReply:
    with pytest.raises(BadReply) as caught:
        read_reply(document)
    assert caught.value.message == str(caught.value)
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case = CASES[name]
    if "kind" in case:
        error = bad(case["document"])
        assert error.kind == case["kind"]
        assert case["says"] in error.message
        assert error.hint
        return
    assert read_reply(case["document"]) == Reply(**{"content": "", **case["reply"]})


def test_a_stream_gives_what_the_whole_reply_would() -> None:
    usage = {
        "prompt_tokens": 90,
        "completion_tokens": 40,
        "completion_tokens_details": {"reasoning_tokens": 25},
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    reply = streamed(
        chunk({"role": "assistant", "content": ""}, system_fingerprint="fp-1"),
        chunk({"reasoning_content": "It is "}),
        chunk({"reasoning_content": "one.", "content": None}),
        chunk({"content": "```python\n"}),
        chunk({"content": "print(1)\n```"}),
        chunk(finish_reason="stop"),
        {"id": "c-1", "model": "nova-1-2026", "choices": [], "usage": usage},
    )
    assert reply == Reply(CODE, "It is one.", "", "stop", "nova-1-2026", "fp-1", "c-1", 90, 40, 25, 64)


def test_a_stream_of_text_completions() -> None:
    chunks = [{"choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in ("print", "(1)")]
    assert streamed(*chunks, {"choices": [{"text": "", "finish_reason": "length"}]}) == Reply(
        "print(1)", finish_reason="length"
    )


def test_a_stream_that_breaks_off_has_no_finish_reason() -> None:
    assert streamed(chunk({"content": "a"})) == Reply("a", served_model="nova-1", response_id="c-1")


def test_reasoning_that_comes_twice_in_one_chunk_is_taken_once() -> None:
    details = [{"type": "reasoning.text", "text": "so "}]
    reply = streamed(chunk({"reasoning": "so ", "reasoning_details": details}), chunk({"reasoning": "it is"}))
    assert reply.reasoning == "so it is"


def test_chunks_of_other_choices_are_left_out() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    assert streamed(chunk({"content": "a"}), other).content == "a"


def test_usage_of_a_chunk_without_choices_and_of_groq() -> None:
    assert streamed(chunk({"content": "a"}), {"usage": {"prompt_tokens": 3}}).tokens_in == 3
    assert streamed(chunk({"content": "a"}, x_groq={"usage": {"completion_tokens": 4}})).tokens_out == 4


def test_counts_that_grow_in_a_stream_are_the_last_ones() -> None:
    growing = [chunk({"content": "a"}, usage={"completion_tokens": number}) for number in (1, 2, 3)]
    assert streamed(*growing).tokens_out == 3


def test_an_error_in_the_middle_of_a_stream() -> None:
    stream = ReplyStream()
    stream.feed(chunk({"content": "a"}))
    with pytest.raises(BadReply) as caught:
        stream.feed({"error": {"message": "overloaded", "code": 503}})
    assert (caught.value.kind, caught.value.message) == (
        "error_body",
        "the endpoint answered with an error: overloaded",
    )


def test_a_stream_without_a_choice() -> None:
    with pytest.raises(BadReply) as caught:
        streamed({"choices": []}, {"usage": {"prompt_tokens": 1}})
    assert caught.value.kind == "no_choices"
    with pytest.raises(BadReply) as caught:
        ReplyStream().feed({"type": "message_start", "content": []})
    assert caught.value.kind == "odd_form"


def test_messages_are_short_and_without_control_characters() -> None:
    error = bad({"error": {"message": "no\n\x1b[31mluck\x00 " + "x" * 10_000}})
    assert error.message.isprintable()
    assert len(error.message) < 400


KEYS = st.sampled_from(
    [
        *("choices", "message", "delta", "content", "text", "error", "usage", "index", "type", "refusal", "x_groq"),
        *("reasoning", "reasoning_details", "thinking", "completion_tokens", "completion_tokens_details"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_reply_or_a_bad_one(document: Any) -> None:
    for read in (read_reply, streamed):
        try:
            reply = read(document)
        except BadReply as error:
            assert error.kind in ("no_choices", "error_body", "odd_form")
        else:
            assert isinstance(reply.content, str)


def test_thinking_is_told_from_the_answer() -> None:
    assert without_thinking("<think>a</think>b") == ("b", "a")
    assert without_thinking("a</think>b") == ("b", "a")
    assert without_thinking("b") == ("b", "")
    assert without_thinking("<think>a") == ("", "<think>a")
    assert without_thinking("b\n<reasoning>a</reasoning>\n") == ("b\n", "a")
    assert without_thinking("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b") == (
        "b",
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant",
    )


@given(st.text())
def test_what_counts_stands_in_the_text(text: str) -> None:
    answer, thinking = without_thinking(text)
    assert answer in text
    assert len(answer) + len(thinking) <= len(text)
