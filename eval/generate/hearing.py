"""The events of a stream as they come: pieces of an answer, an error in their place, the answer's end. Pure."""

from __future__ import annotations

import json

from eval.generate.failures import FailureKind
from eval.generate.replies import BadReply, Reply, ReplyStream
from eval.generate.server_errors import ServerError, error_in
from eval.generate.wire import Taken


class Hearing:
    """Takes the events of a stream and tells when the answer is whole: by its finish reason, or by [DONE]."""

    def __init__(self) -> None:
        self._stream = ReplyStream()
        self._is_done = False
        self.error: ServerError | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a piece of an answer has come."""
        return self._stream.has_begun

    def take(self, data: str) -> Taken:
        """Take the data of one event. Raises ``BadReply`` for an error in its place, and for what cannot be read."""
        if data.strip() == "[DONE]":
            self._is_done = True
            return Taken.DONE
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            raise BadReply(FailureKind.BROKEN_OFF, "a part of the stream is no JSON") from None
        self.error = error_in(document)
        if self.error is not None:
            raise BadReply(FailureKind.ERROR_BODY, self.error.message)
        has_text = self._stream.feed(document)
        was_done = self._is_done
        self._is_done |= self._stream.is_ended
        if was_done and not has_text:
            return Taken.AFTER
        return Taken.LAST if self._is_done else Taken.PART

    def so_far(self) -> Reply:
        """What was said so far, whole or not."""
        return self._stream.reply() if self.has_begun else Reply("")

    def reply(self) -> Reply:
        """The whole answer. Raises ``BadReply`` when the stream ended before it did: half an answer is none."""
        if not self._is_done:
            raise BadReply(FailureKind.BROKEN_OFF, "the stream broke off before the answer was whole")
        return self._stream.reply()
