"""Requests as OpenAI's batch API and vLLM's ``run-batch`` read them, one JSON object a line, and the ids that join the
answers to them.

An id is ``live-RUN-PROBLEM-QUESTION-SAMPLE-PROMPT``: 16 hex digits of the run's digest, three numbers of the store,
and 12 hex digits of the sha256 of what was asked.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final

from db.records import Place
from eval.generate.choosing import AT_ONCE
from eval.generate.conditions import Asking
from eval.generate.places import questions_at
from eval.generate.prompts import Message, prompt_sha256
from eval.generate.sampling import Sampling

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

URL: Final = "/v1/chat/completions"
MAX_REQUESTS: Final = 50_000
MAX_BYTES: Final = 200_000_000
"""What OpenAI takes in one file."""

_LONGEST: Final = 64
_RUN_DIGITS, _PROMPT_DIGITS = 16, 12
_NUMBER = "(0|[1-9][0-9]*)"
_CUSTOM_ID = re.compile(
    rf"live-([0-9a-f]{{{_RUN_DIGITS}}})-{_NUMBER}-{_NUMBER}-{_NUMBER}-([0-9a-f]{{{_PROMPT_DIGITS}}})", re.ASCII
)


class ForeignId(ValueError):
    """An id that is none of ours. ``message`` says what, ``hint`` what to do."""

    def __init__(self, custom_id: str) -> None:
        super().__init__(custom_id)
        self.message = f"the custom_id {custom_id!r:.80} is none that `live prompts` has written"
        self.hint = "Give the answers to a file of `live prompts`, with their ids as they are."

    def __str__(self) -> str:
        return self.message


class NotOurFile(ValueError):
    """A file in the way that holds something else. ``message`` says which, ``hint`` what to do."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.message = f"{path} is there already and holds no requests"
        self.hint = "write to another file, or remove this one"

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class CustomId:
    """What an id says: the beginning of the run's digest, the place, the beginning of the prompt's sha256."""

    run: str
    place: Place
    prompt: str


def custom_id(run_digest: str, place: Place, messages: Sequence[Message]) -> str:
    """The id of a request. ``ValueError`` for numbers that together have more than 27 digits: no id may be longer."""
    prompt = prompt_sha256(messages)[:_PROMPT_DIGITS]
    numbers = f"{place.problem_id}-{place.question_id}-{place.sample_index}"
    written = f"live-{run_digest[:_RUN_DIGITS]}-{numbers}-{prompt}"
    if len(written) > _LONGEST:
        raise ValueError(f"the custom_id {written} is longer than {_LONGEST} characters")
    return written


def read_custom_id(text: str) -> CustomId:
    """What an id says. Raises ``ForeignId``."""
    found = _CUSTOM_ID.fullmatch(text)
    if found is None or len(text) > _LONGEST:
        raise ForeignId(text)
    run, problem_id, question_id, sample, prompt = found.groups()
    try:
        return CustomId(run, Place(int(problem_id), int(question_id), int(sample)), prompt)
    except ValueError:
        raise ForeignId(text) from None


def is_run(digest: str, beginning: str) -> bool:
    """Whether a run's digest is the one that an id names."""
    return digest[:_RUN_DIGITS] == beginning


def matches(name: CustomId, messages: Sequence[Message]) -> bool:
    """Whether an id was made of these messages."""
    return prompt_sha256(messages)[:_PROMPT_DIGITS] == name.prompt


def request_line(name: str, messages: Sequence[Message], asked_as: str, body: Mapping[str, Any]) -> bytes:
    """One request under its id, as a line in ASCII; ``body`` is what it says beyond model and messages."""
    asked = {"model": asked_as, "messages": [message.as_dict() for message in messages], **body}
    document = {"custom_id": name, "method": "POST", "url": URL, "body": asked}
    return json.dumps(document, allow_nan=False).encode() + b"\n"


def request_lines(
    session: Session, run_digest: str, places: Iterable[Place], asking: Asking, asked_as: str, sampling: Sampling
) -> Iterator[bytes]:
    """The requests for these places of a run, which stand problem by problem; few statements are held at a time."""
    for some in _chunks(places):
        questions = questions_at(session, asking.prompt.scenario, some)
        for target, group in groupby(some, key=lambda place: (place.problem_id, place.question_id)):
            messages = asking.messages(questions[target])
            for place in group:
                name = custom_id(run_digest, place, messages)
                yield request_line(name, messages, asked_as, sampling.body(place.sample_index))


def _chunks(places: Iterable[Place]) -> Iterator[list[Place]]:
    """The places in lists of so many problems."""
    some: list[Place] = []
    problems: set[int] = set()
    for place in places:
        if place.problem_id not in problems and len(problems) == AT_ONCE:
            yield some
            some, problems = [], set()
        some.append(place)
        problems.add(place.problem_id)
    if some:
        yield some


def write_requests(
    path: Path, lines: Iterable[bytes], run_digest: str, *, max_requests: int = MAX_REQUESTS, max_bytes: int = MAX_BYTES
) -> list[Path]:
    """Write the lines to this file, or to numbered ones beside it (``NAME-1.jsonl``) where one would be too large.

    All files are written or none; they are for their owner alone to read, since they hold statements. Requests of the
    same run that stand under these names are gone afterwards, so that none is sent twice: nothing is left for no lines.
    Raises ``NotOurFile`` for a file in the way that holds no requests, ``OSError``.
    """
    with ExitStack() as stack:
        parts: list[IO[bytes]] = []
        n_requests = n_bytes = 0
        for line in lines:
            if not parts or n_requests == max_requests or n_bytes + len(line) > max_bytes:
                parts.append(_open_beside(path, stack))
                n_requests = n_bytes = 0
            parts[-1].write(line)
            n_requests, n_bytes = n_requests + 1, n_bytes + len(line)
        targets = [path] if len(parts) == 1 else [_numbered(path, place + 1) for place in range(len(parts))]
        for target in targets[: len(parts)]:
            _refuse_other_file(target)
        for part in parts:
            part.flush()
            os.fsync(part.fileno())
        for part, target in zip(parts, targets, strict=False):
            os.replace(part.name, target)
        _remove_former(path, run_digest, keep=targets[: len(parts)])
        return targets[: len(parts)]


def _remove_former(path: Path, run_digest: str, *, keep: Collection[Path]) -> None:
    """Remove what an earlier call has written under these names for this run."""
    own = _BEGINNING + run_digest[:_RUN_DIGITS].encode() + b"-"
    for former in {path, *path.parent.glob(f"{path.stem}-[0-9]*{path.suffix}")}.difference(keep):
        if former.is_file() and _begins(former, len(own)) == own:
            former.unlink()


def _open_beside(path: Path, stack: ExitStack) -> IO[bytes]:
    """A file of our own in the same folder, which is gone afterwards unless it got another name."""
    temporary = NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)  # noqa: SIM115 - the stack's
    file = stack.enter_context(temporary)
    stack.callback(Path(file.name).unlink, missing_ok=True)
    return file


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number}{path.suffix}")


def _refuse_other_file(path: Path) -> None:
    if not path.exists():
        return
    if _begins(path, len(_BEGINNING)) not in (b"", _BEGINNING):
        raise NotOurFile(path)


def _begins(path: Path, length: int) -> bytes:
    with path.open("rb") as file:
        return file.read(length)


_BEGINNING: Final = b'{"custom_id": "live-'
