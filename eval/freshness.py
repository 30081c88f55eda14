"""Why nobody is ranked on problems that some models may have seen and others not: that is no common ground. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def not_fresh(names: Sequence[str], n_exposed: Sequence[int | None], n_problems: int) -> str | None:
    """Who may have seen how many of the problems, as a sentence; None where nobody may have seen any.

    ``n_exposed`` are the problems that may have been public before the cut-off of each run; None: no cut-off is known.
    """
    exposed = [(name, n) for name, n in zip(names, n_exposed, strict=True) if n != 0]
    if not exposed:
        return None
    worst, most = max(exposed, key=lambda pair: n_problems if pair[1] is None else pair[1])
    seen = "is not known to have a cut-off" if most is None else f"may have seen {most}"
    return f"{len(exposed)} of {len(names)} models may have seen problems ({worst} {seen})"
