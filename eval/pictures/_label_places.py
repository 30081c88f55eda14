"""Where labels beside points go so that they hide neither a point nor each other, as far as there is room. Pure."""

from __future__ import annotations

from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

_SIDES = ((1, 0), (-1, 0), (1, 1), (-1, -1), (-1, 1), (1, -1), (0, 1), (0, -1))
"""Beside a point before over or under it, where its interval is."""


def label_places(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    gap: float,
    frame: Box,
    others: Sequence[Box] = (),
) -> list[tuple[float, float]]:
    """The middle of the label of each point. Labels are placed in order: each at the first of eight sides of its point
    where it is free, else where it covers least; ``gap`` is the distance from point to label.

    ``points`` may be more than ``sizes``: those without a label are only not to be covered, as are ``others``.
    """
    taken: list[Box] = [*((x - gap / 2, y - gap / 2, x + gap / 2, y + gap / 2) for x, y in points), *others]
    found = []
    for (x, y), (width, height) in zip(points, sizes, strict=False):
        choices = [(x + right * (gap + width / 2), y + up * (gap + height / 2)) for right, up in _SIDES]
        boxes = [(cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2) for cx, cy in choices]
        costs = [sum(_shared(box, other) for other in taken) + 10 * _outside(box, frame) for box in boxes]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        found.append(choices[best])
    return found


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _common(one: Box, other: Box) -> Box:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def _shared(one: Box, other: Box) -> float:
    return _area(_common(one, other))


def _outside(box: Box, frame: Box) -> float:
    return _area(box) - _shared(box, frame)
