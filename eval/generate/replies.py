"""What an OpenAI-compatible endpoint said, read from its JSON: whole, or in the pieces of a stream. Pure.

Read are chat completions and the older text completions. Of several choices the first is taken (never more than one is
asked for). Servers differ in where reasoning goes; each of these places is read: ``reasoning_content``, ``reasoning``,
``thinking``, ``reasoning_details``, parts of type "thinking" in a list of parts, and tags in the text itself (see
`eval.generate.thinking`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, cast

from eval.generate.thinking import without_thinking

__all__ = ["BadReply", "Reply", "ReplyStream", "read_reply", "without_thinking"]

# Where servers put the reasoning, the first that holds any counts: some send the same text in two of them.
_REASONING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
# What a part of a list, or an entry of reasoning_details, keeps its text in.
_PART_TEXTS = ("text", "thinking", "summary", "content", "reasoning")
_SHOWN = 300

_Object = Mapping[str, object]


@dataclass(frozen=True)
class Reply:
    """One answer. Counts of tokens are None where the server said nothing; ``tokens_reasoning`` is a part of
    ``tokens_out``, ``tokens_cached`` of ``tokens_in``."""

    content: str
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    tokens_cached: int | None = None


class BadReply(Exception):
    """JSON that is no answer. ``kind`` is "no_choices", "error_body" or "odd_form"; ``message`` is one line."""

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint


def read_reply(document: object) -> Reply:
    """The answer in a chat completion (or a text completion). Raises :class:`BadReply`."""
    whole = _checked(document)
    choice = _first_choice(whole)
    if choice is None:
        _no_choices(whole)
    heard = _Heard()
    heard.add_message(_message(choice))
    heard.add_choice(choice)
    heard.add_envelope(whole)
    return heard.reply()


class ReplyStream:
    """An answer that comes in ``chat.completion.chunk`` pieces.

    Whether the stream came to its end is for the caller to know; ``finish_reason`` is None where no chunk gave one.
    """

    def __init__(self) -> None:
        self._heard = _Heard()
        self.has_begun = False
        """Whether a chunk had a choice."""

    @property
    def is_ended(self) -> bool:
        """Whether a chunk gave a finish reason. There are servers that give one in every chunk."""
        return self._heard.finish_reason is not None

    def feed(self, document: object) -> bool:
        """Take one chunk; whether it has text of the answer. Raises :class:`BadReply` for an error in its place, and
        for what is no chunk."""
        whole = _checked(document)
        self._heard.add_envelope(whole)
        choice = _first_choice(whole, is_chunk=True)
        if choice is None:
            return False  # the chunk with the usage, or one that only keeps the connection open
        self.has_begun = True
        message = _message(choice)
        self._heard.add_message(message)
        self._heard.add_choice(choice)
        return any(_all_text(message.get(name)) for name in ("content", "refusal", *_REASONING))

    def reply(self) -> Reply:
        """What was said so far. Raises :class:`BadReply` when no chunk had a choice."""
        if not self.has_begun:
            raise BadReply("no_choices", "the stream ended without a single choice", _ASK_AGAIN)
        return self._heard.reply()


_IS_IT = "is the endpoint OpenAI-compatible?"
_ASK_AGAIN = "run the same command again: it asks for what is missing"
_OTHER_FORMS = (
    (("candidates",), "Gemini's own form", "use its OpenAI-compatible address (…/v1beta/openai/)"),
    (("type", "content"), "the form of Anthropic's Messages", "use an OpenAI-compatible address (…/v1/)"),
    (("output",), "the form of the Responses API", "use the address of chat completions (…/v1)"),
    (("message", "done"), "Ollama's own form", "use its OpenAI-compatible address (…/v1)"),
    (("response", "done"), "Ollama's own form", "use its OpenAI-compatible address (…/v1)"),
    (("generated_text",), "the form of text-generation-inference", "use its OpenAI-compatible address (…/v1)"),
)


def _checked(document: object) -> _Object:
    """The document as an object that tells of no error."""
    if isinstance(document, list) and document and isinstance(document[0], dict):
        document = document[0]  # Gemini's compatible address wraps its errors in a list
    if not isinstance(document, dict):
        kind = type(document).__name__
        raise BadReply("odd_form", f"the reply is no JSON object but a {kind}", "is this the address of an API?")
    whole = cast(_Object, document)
    error = whole.get("error")
    if error or whole.get("object") == "error":
        _error_body(error or whole)
    if "choices" not in whole and ("detail" in whole or whole.get("type") == "error"):
        _error_body(whole.get("detail") or whole)
    return whole


def _error_body(error: object) -> NoReturn:
    message = error
    if isinstance(error, dict):
        message = next((error[key] for key in ("message", "detail", "msg", "code", "type") if error.get(key)), error)
    raise BadReply("error_body", f"the endpoint answered with an error: {_one_line(message)}", _ASK_AGAIN)


def _first_choice(whole: _Object, *, is_chunk: bool = False) -> _Object | None:
    """The first choice, None where there is none. A chunk may be of another choice, where several come unasked."""
    choices = whole.get("choices")
    if not choices:
        _refuse_other_forms(whole)
        return None
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise BadReply("odd_form", "'choices' is no list of objects", _IS_IT)
    other: _Object | None = None if is_chunk else choices[0]
    choice = next((one for one in choices if one.get("index") in (0, None)), other)
    if choice is not None and choice.get("error"):
        _error_body(choice["error"])
    return choice


def _refuse_other_forms(whole: _Object) -> None:
    for keys, form, hint in _OTHER_FORMS:
        if "choices" not in whole and all(key in whole for key in keys):
            raise BadReply("odd_form", f"the reply has {form}, not that of a chat completion", hint)


def _no_choices(whole: _Object) -> NoReturn:
    keys = ", ".join(map(repr, list(whole)[:8])) or "none"
    raise BadReply("no_choices", f"the reply has no choices (its keys: {_one_line(keys)})", _ASK_AGAIN)


def _message(choice: _Object) -> _Object:
    """What a choice says: its message, its delta, or itself where it has the older form with ``text``."""
    for key in ("message", "delta"):
        found = choice.get(key)
        if isinstance(found, dict):
            return cast(_Object, found)
        if found is not None:
            raise BadReply("odd_form", f"'{key}' of the choice is no object", _IS_IT)
    return {"content": choice.get("text")}


class _Heard:
    """What was heard of one answer so far."""

    def __init__(self) -> None:
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def add_message(self, message: _Object) -> None:
        content = message.get("content")
        if isinstance(content, str):
            self._content.append(content)
        elif isinstance(content, list):
            for kind, text in _parts(content):
                target = {"refusal": self._refusal, "thinking": self._reasoning, "text": self._content}.get(kind)
                if target is not None:
                    target.append(text)
        elif content is not None:
            raise BadReply("odd_form", f"'content' is neither text nor parts but {_one_line(content)}", _IS_IT)
        self._reasoning.append(next(filter(None, (_all_text(message.get(key)) for key in _REASONING)), ""))
        self._refusal.append(_all_text(message.get("refusal")))

    def add_choice(self, choice: _Object) -> None:
        finish_reason = choice.get("finish_reason")
        if finish_reason != "null":  # DashScope's way to say that there is more
            self._name("finish_reason", finish_reason)

    @property
    def finish_reason(self) -> str | None:
        return self._names.get("finish_reason")

    def add_envelope(self, whole: _Object) -> None:
        """What stands around the choices. Of what comes several times in a stream, the last counts."""
        self._name("served_model", whole.get("model"))
        self._name("fingerprint", whole.get("system_fingerprint"))
        self._name("response_id", whole.get("id"))
        groq = whole.get("x_groq")
        usage = whole.get("usage") or (groq.get("usage") if isinstance(groq, dict) else None)
        if isinstance(usage, dict):
            self._counts |= dict(_token_counts(usage))

    def _name(self, name: str, value: object) -> None:
        if isinstance(value, str) and value:
            self._names[name] = value

    def reply(self) -> Reply:
        content, reasoning, refusal = ("".join(parts) for parts in (self._content, self._reasoning, self._refusal))
        counts, name = self._counts, self._names.get
        return Reply(
            content=content,
            reasoning=reasoning,
            refusal=refusal,
            finish_reason=name("finish_reason"),
            served_model=name("served_model"),
            fingerprint=name("fingerprint"),
            response_id=name("response_id"),
            tokens_in=counts.get("tokens_in"),
            tokens_out=counts.get("tokens_out"),
            tokens_reasoning=counts.get("tokens_reasoning"),
            tokens_cached=counts.get("tokens_cached"),
        )


def _token_counts(usage: _Object) -> Iterator[tuple[str, int]]:
    """The counts of a ``usage`` object under our names; both generations of OpenAI's names are read."""

    def count(*names: str) -> int | None:
        for part_of in (usage, *details):
            for name in names:
                found = part_of.get(name)
                if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
                    return found
        return None

    details = [cast(_Object, found) for name in _DETAILS if isinstance(found := usage.get(name), dict)]
    tokens_in, tokens_out = count("prompt_tokens", "input_tokens"), count("completion_tokens", "output_tokens")
    reasoning, total = count("reasoning_tokens"), count("total_tokens")
    if tokens_out is not None and reasoning and total == (tokens_in or 0) + tokens_out + reasoning:
        tokens_out += reasoning  # xAI counts them apart, everyone else as a part of the output
    cached = count("cached_tokens", "prompt_cache_hit_tokens")
    said = {"tokens_in": tokens_in, "tokens_out": tokens_out, "tokens_reasoning": reasoning, "tokens_cached": cached}
    yield from ((name, number) for name, number in said.items() if number is not None)


_DETAILS = ("completion_tokens_details", "output_tokens_details", "prompt_tokens_details", "input_tokens_details")


def _parts(parts: list[object]) -> Iterator[tuple[str, str]]:
    """Kind and text of each part of a content; kinds other than "text", "thinking" and "refusal" are no answer."""
    for part in parts:
        if isinstance(part, str):
            yield "text", part
        elif isinstance(part, dict):
            kind = str(part.get("type", "text"))
            kind = {"output_text": "text", "reasoning": "thinking"}.get(kind, kind)
            yield kind, _all_text(part.get(kind) or part)


def _all_text(value: object, depth: int = 0) -> str:
    """The text of a text, of a part, or of a list of parts."""
    if isinstance(value, str):
        return value
    if depth > 4:
        return ""
    if isinstance(value, list):
        return "".join(_all_text(one, depth + 1) for one in value)
    if isinstance(value, dict):
        return next(filter(None, (_all_text(value.get(key), depth + 1) for key in _PART_TEXTS)), "")
    return ""


def _one_line(value: object) -> str:
    """A value for a message: one line of printable characters, not too long."""
    text = " ".join(str(value)[: 4 * _SHOWN].split())
    return "".join(char if char.isprintable() else "\ufffd" for char in text)[:_SHOWN]
