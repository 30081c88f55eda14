"""Why models have no number, said once for all that share the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MAX_NAMES = 12


def grouped(reasons: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    """From pairs of a name and its reason (None: it has its number) a line for each reason, with the names."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason is not None:
            names.setdefault(reason, []).append(name)
    for reason, of_reason in names.items():
        yield f"{named(of_reason)}: {reason}"


def named(names: list[str], most: int = MAX_NAMES) -> str:
    """Names joined by commas, up to a number that can be read."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
