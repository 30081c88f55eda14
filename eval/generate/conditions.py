"""What tells a generated run from another one of its model, and how it is read back from the store. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from db.asked import AskableProblem
from eval.generate.extraction import extraction_digest
from eval.generate.prompts import Message, Prompt, UnknownPrompt, load_prompt
from eval.generate.questions import Question
from eval.generate.sampling import Sampling

LABEL = "generate"
"""The label of generated runs, unless the user gives another."""


class OtherVersion(ValueError):
    """A run that this version cannot go on with. ``message`` says why, ``hint`` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Asking:
    """How a run asks: prompt, language of the answers, and whether reasoning counts where an answer has no text.

    ``repairs`` names the run that is repaired, by the first digits of its digest; None in other scenarios.
    """

    prompt: Prompt
    language: str
    reasoning_is_answer: bool = False
    repairs: str | None = None

    def messages(self, question: Question) -> tuple[Message, ...]:
        """What is sent for a question. Raises ``UnknownPrompt``."""
        return self.prompt.messages(question, self.language)

    def question(self, problem: AskableProblem) -> Question:
        """A problem as its own question, with nothing more to be asked about it."""
        return Question(problem, self.prompt.scenario)

    def conditions(self, asked_as: str, sampling: Sampling) -> dict[str, Any]:
        """The conditions of a run that asks so, under the name that is sent to the endpoint. No key, address or time,
        and not how many samples: a run may get more of them."""
        named = {
            "scenario": self.prompt.scenario,
            "prompt": str(self.prompt),
            "prompt_digest": self.prompt.digest,
            "language": self.language,
            "extraction": extraction_digest(),
            "asked_as": asked_as,
        }
        named |= {} if self.repairs is None else {"repairs": self.repairs}
        return named | sampling.conditions() | ({"reasoning_is_answer": True} if self.reasoning_is_answer else {})


def read_asking(conditions: Mapping[str, Any]) -> Asking:
    """How a run with these conditions asks. Raises ``OtherVersion`` for one that was not generated, or by a prompt or
    rules of extraction that this version does not have."""
    scenario, written, language = (conditions.get(name) for name in ("scenario", "prompt", "language"))
    if not (isinstance(scenario, str) and isinstance(written, str) and isinstance(language, str)):
        raise OtherVersion("the run was not asked by this command", "import its programs in another format")
    try:
        prompt = load_prompt(written.rpartition("-")[0], scenario)
    except UnknownPrompt as error:
        raise OtherVersion(error.message, "use the version of this command that asked") from error
    for what, had, have in (
        ("the prompt", f"{written} ({conditions.get('prompt_digest')})", f"{prompt} ({prompt.digest})"),
        ("rules of extraction", conditions.get("extraction"), extraction_digest()),
    ):
        if had != have:
            raise OtherVersion(
                f"the run goes by {what} {had}, this version has {have}",
                "use the version of this command that asked, or ask anew",
            )
    repairs = conditions.get("repairs")
    return Asking(
        prompt, language, conditions.get("reasoning_is_answer") is True, repairs if isinstance(repairs, str) else None
    )
