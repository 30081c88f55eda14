"""What a picture's SVG draws, read back: marks, lines, boxes and words with where they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from eval.pictures import Picture

SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]

LEFT, RIGHT = 66.0, 684.0
"""Where diagrams with an axis at their side begin and end, in pixels of a picture 700 wide."""


@dataclass(frozen=True)
class Drawn:
    """The SVG of a picture. A tag is the id of a group of marks, without what all of them begin with."""

    picture: Picture

    @cached_property
    def root(self) -> Any:
        """The SVG as a tree."""
        return etree.fromstring(self.picture.svg)

    @property
    def style(self) -> str:
        """Its style sheet."""
        return str(self.root.find(f"{SVG}style").text)

    @property
    def words(self) -> list[str]:
        """All its texts."""
        return ["".join(one.itertext()) for one in self.root.iter(f"{SVG}text")]

    def tagged(self, tag: str) -> list[Any]:
        """The element of a tag with all that is in it; empty where there is none."""
        found = self.root.xpath("//*[@id=$tag]", tag=f"live-{tag}")
        return [inner for one in found for inner in one.iter()]

    def has(self, tag: str) -> bool:
        """Whether anything is drawn under the tag."""
        return bool(self.tagged(tag))

    def marks(self, tag: str) -> list[Point]:
        """Where its marks are, in pixels from the left and from the top."""
        uses = [one for one in self.tagged(tag) if one.tag == f"{SVG}use"]
        return [(float(one.get("x")), float(one.get("y"))) for one in uses]

    def paths(self, tag: str) -> list[list[Point]]:
        """The corners of its lines and boxes; marks are none."""
        found = [
            one.get("d") for one in self.tagged(tag) if one.tag == f"{SVG}path" and one.getparent().tag != f"{SVG}defs"
        ]
        parts = [part for path in found for part in re.split(r"(?=M)", path) if part]
        numbers = [[float(number) for number in re.findall(r"-?[\d.]+", part)] for part in parts]
        return [list(zip(one[::2], one[1::2], strict=True)) for one in numbers]

    def boxes(self, tag: str) -> list[tuple[float, float, float, float]]:
        """Left, top, right and bottom of its boxes."""
        return [
            (min(x for x, _ in path), min(y for _, y in path), max(x for x, _ in path), max(y for _, y in path))
            for path in self.paths(tag)
        ]

    def styles(self, tag: str) -> str:
        """The light styles of what is under the tag, joined."""
        names = [one.get("class") for one in self.tagged(tag) if one.get("class")]
        return ";".join(re.findall(rf"\.{name}{{([^}}]*)}}", self.style)[0] for name in dict.fromkeys(names))

    def word(self, text: str) -> Point:
        """Where a text begins, is centred or ends."""
        (one,) = [one for one in self.root.iter(f"{SVG}text") if "".join(one.itertext()) == text]
        return float(one.get("x")), float(one.get("y"))


def share_at(drawn: Drawn, panel: str, y: float) -> float:
    """The share that a height stands for, by the lines at 0 % and 100 % of a month picture's panel."""
    heights = [path[0][1] for path in drawn.paths(f"{panel}-grid")]
    bottom, top = max(heights), min(heights)
    return (bottom - y) / (bottom - top)
