"""What goes wrong when inputs are drawn."""

from __future__ import annotations


class CannotDraw(Exception):
    """No input is found that keeps all constraints; ``message`` names the one that defeats it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
