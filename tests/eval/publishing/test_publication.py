"""File names of runs and problems: safe, all different, and the same whatever else comes."""

from __future__ import annotations

import hashlib
from itertools import permutations

from eval.publishing.publication import slugs


def digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def test_a_name_that_is_a_file_name_keeps_it_whatever_comes() -> None:
    assert slugs(["gpt-4o"]) == {"gpt-4o": "gpt-4o"}
    more = ["GPT 4o", "gpt-4o", "GPT-4o", "steady (a)"]
    for names in permutations(more):
        assert slugs(names) == {
            "gpt-4o": "gpt-4o",
            "GPT 4o": f"gpt-4o-{digest('GPT 4o')}",
            "GPT-4o": f"gpt-4o-{digest('GPT-4o')}",
            "steady (a)": "steady-a",
        }


def test_a_name_that_looks_like_anothers_with_its_digest_is_no_others() -> None:
    taken = f"gpt-4o-{digest('GPT 4o')}"
    found = slugs(["GPT 4o", "gpt-4o", taken])
    assert found[taken] == taken
    assert len({slug.casefold() for slug in found.values()}) == 3
    assert found["GPT 4o"].startswith(taken)


def test_names_that_lost_something_carry_their_digest() -> None:
    assert slugs(["é", "..", "a<b"]) == {
        "é": f"x-{digest('é')}",
        "..": f"x-{digest('..')}",
        "a<b": f"a-b-{digest('a<b')}",
    }
