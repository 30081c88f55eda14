"""What can be a problem's id: lists hold odd entries, and one must not cost all others. Pure."""

from __future__ import annotations

from db.records import require_text


def is_native_id(text: str) -> bool:
    """Whether the store can keep `text` as an id: it is not empty, and has no NUL and no lone surrogate."""
    try:
        require_text("native_id", text, allow_empty=False)
    except ValueError:
        return False
    return True
