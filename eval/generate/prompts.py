"""Prompts: versioned files, one for each form of a task, written as templates/SCENARIO/NAME/FORM.md.

A prompt is one message of the user, since not every model takes a system message. It holds the statement as the store
has it, to the character (white space at its end aside), the samples that do not stand in it already, the limits and how
the answer is to be given. Dates, contests, the platform, its id and the title are left out: they help nobody to solve a
problem, and much to remember it.

Answers are asked for in forms that can be read back: programs in the last code block of the answer, outputs and values
in a last block whose fence has the tag ``answer`` (a line ``ANSWER: ...`` could hold no output of several lines).

A file begins with its version, which all files of a prompt share. ``Prompt.digest`` covers them with the parts that
they include; what else is in a prompt (``languages.toml``, the code below) is held by a test to what the version had.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import jinja2
from jinja2 import meta

from db.asked import AskableProblem, AskedSample
from db.digests import canonical_json, sha256_hex
from db.records import IoKind
from eval.generate.questions import FailedTest, Form, Question, form_of
from eval.judging import DEFAULT_LIMITS

TEMPLATES: Final = Path(__file__).parent / "templates"
DIGEST_DIGITS: Final = 12

_HEAD = re.compile(r"---\nversion: ([1-9][0-9]*)\n---\n")
_FENCES = re.compile(r"`{3,}")
_MIB = 1024 * 1024


class UnknownPrompt(LookupError):
    """No prompt is called so, or it has no file for a question. ``message`` says what, ``hint`` what there is."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: str
    content: str

    def as_dict(self) -> dict[str, str]:
        """As a request has it."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True)
class WrittenLanguage:
    """A language as prompts name it; ``fence`` is the tag of its code blocks, ``note`` one more sentence."""

    title: str
    fence: str
    note: str = ""


@dataclass(frozen=True)
class Prompt:
    """A prompt of a scenario. ``digest`` (hex) is made of the bytes of all its forms, their parts and the version."""

    name: str
    version: int
    scenario: str
    digest: str
    forms: tuple[Form, ...]

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"

    def messages(self, question: Question, language: str) -> tuple[Message, ...]:
        """What is sent to ask a question whose answer shall be in this language; the same bytes each time.

        Raises ``UnknownPrompt`` for a question of another scenario or a form that the prompt does not have, and for a
        language that prompts have no words for.
        """
        form = form_of(question)
        if question.scenario != self.scenario or form not in self.forms:
            raise UnknownPrompt(
                f"the prompt {self} of {self.scenario} has no text for {question.scenario} in the form {form}",
                f"its forms are {', '.join(self.forms)}",
            )
        template = _environment().get_template(_file_name(self.scenario, self.name, form))
        text = template.render(_context(question, form, language))
        return (Message("user", f"{text.strip()}\n"),)


def prompts(scenario: str) -> Mapping[str, Prompt]:
    """The prompts of a scenario by name; none for a scenario that there is not."""
    folder = TEMPLATES / scenario
    names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return MappingProxyType({name: _load(name, scenario) for name in names})


def load_prompt(name: str, scenario: str) -> Prompt:
    """The prompt of this name. Raises ``UnknownPrompt``."""
    known = prompts(scenario)
    if name not in known:
        raise UnknownPrompt(f'no prompt of {scenario} is called "{name}"', f"there are: {', '.join(known) or 'none'}")
    return known[name]


def prompt_text(messages: Sequence[Message]) -> str:
    """Messages as the one text under which the store keeps what was asked: their canonical JSON."""
    return canonical_json([message.as_dict() for message in messages]).decode()


def prompt_sha256(messages: Sequence[Message]) -> str:
    """The sha256 of that text, which is also what the store calls it by."""
    return sha256_hex(prompt_text(messages).encode())


@cache
def written_languages() -> Mapping[str, WrittenLanguage]:
    """All languages that an answer can be asked for in, by the sandbox's names."""
    entries = tomllib.loads((TEMPLATES / "languages.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: WrittenLanguage(**entry) for name, entry in entries.items()})


def written_language(name: str) -> WrittenLanguage:
    """How prompts name a language. Raises ``UnknownPrompt``."""
    known = written_languages()
    if name not in known:
        raise UnknownPrompt(f'prompts have no words for the language "{name}"', f"there are: {', '.join(known)}")
    return known[name]


def _file_name(scenario: str, name: str, form: Form) -> str:
    return f"{scenario}/{name}/{form}.md"


@cache
def _load(name: str, scenario: str) -> Prompt:
    forms = tuple(form for form in Form if (TEMPLATES / _file_name(scenario, name, form)).is_file())
    files = [_file_name(scenario, name, form) for form in forms]
    versions = {_split(file)[0] for file in files}
    if len(versions) != 1 or None in versions:
        raise ValueError(f"the files of the prompt {scenario}/{name} do not begin with one and the same version")
    (version,) = versions
    assert version is not None
    digest = hashlib.sha256(f"{version}\n".encode())
    for file in _with_parts(files):
        content = (TEMPLATES / file).read_bytes()
        digest.update(f"{file} {len(content)}\n".encode() + content)
    return Prompt(name, version, scenario, digest.hexdigest()[:DIGEST_DIGITS], forms)


def _split(file: str) -> tuple[int | None, str]:
    """The version at the head of a file (None: there is none), and what follows it."""
    text = (TEMPLATES / file).read_text(encoding="utf-8")
    head = _HEAD.match(text)
    return (None, text) if head is None else (int(head[1]), text[head.end() :])


def _with_parts(files: Sequence[str]) -> list[str]:
    """The files and all that they include, in the order of their names."""
    found: set[str] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            included = meta.find_referenced_templates(_environment().parse(_split(file)[1]))
            waiting += [name for name in included if name is not None]
    return sorted(found)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda file: _split(file)[1]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # text for a model, no page
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"fenced": _fenced}
    return environment


def _context(question: Question, form: Form, language: str) -> dict[str, Any]:
    problem = question.problem
    context: dict[str, Any] = {
        "language": written_language(language),
        "statement": problem.statement.rstrip(),
        "starter_code": problem.starter_code.rstrip(),
        "entry_point": problem.entry_point,
        "signature": problem.signature,
        "samples": _samples(problem),
        "time_limit": _seconds(problem.time_limit_s or DEFAULT_LIMITS.cpu_s),
        "memory_limit": _bytes(problem.memory_limit_bytes or DEFAULT_LIMITS.memory_bytes),
        "program": question.program,
        "program_language": written_language(question.language),
        "input": question.input,
        "is_called": problem.io_kind in (IoKind.FUNCTION, IoKind.DESIGN),
    }
    if question.feedback:
        context["failed"] = FailedTest.read(question.feedback)
    return context


def _samples(problem: AskableProblem) -> tuple[AskedSample, ...]:
    """All samples, unless each of them stands in the statement: its lines, one after the other, as lines."""
    lines = [line.rstrip() for line in problem.statement.splitlines()]
    shown = all(_stands_in(lines, text) for sample in problem.samples for text in sample)
    return () if shown else problem.samples


def _stands_in(lines: list[str], text: str) -> bool:
    wanted = [line.rstrip() for line in text.rstrip().splitlines()]
    places = range(len(lines) - len(wanted) + 1)
    return any(lines[place : place + len(wanted)] == wanted for place in places)


def _seconds(seconds: float) -> str:
    return "1 second" if seconds == 1 else f"{seconds:g} seconds"


def _bytes(size: int) -> str:
    return f"{size / _MIB:.6g} MiB"


def _fenced(text: str, tag: str = "") -> str:
    """The text as a code block, with a fence that is longer than any in the text."""
    longest = max((len(run) for run in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{tag}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}"
