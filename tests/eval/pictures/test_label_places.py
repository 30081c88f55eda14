from __future__ import annotations

from itertools import combinations

from eval.pictures._label_places import Box, label_places

FRAME = (0.0, 0.0, 600.0, 400.0)
SIZE = (20.0, 12.0)


def box(middle: tuple[float, float]) -> Box:
    """The label about its middle."""
    return middle[0] - SIZE[0] / 2, middle[1] - SIZE[1] / 2, middle[0] + SIZE[0] / 2, middle[1] + SIZE[1] / 2


def meet(one: Box, other: Box) -> bool:
    """Whether two boxes share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_a_label_stands_to_the_right_where_there_is_room() -> None:
    assert label_places([(100, 100)], [SIZE], 8, FRAME) == [(118, 100)]


def test_a_label_stays_inside_the_frame() -> None:
    assert label_places([(599, 100)], [SIZE], 8, FRAME) == [(581, 100)]


def test_labels_of_near_points_hide_neither_each_other_nor_a_point() -> None:
    points = [(200.0, 200.0), (222.0, 200.0), (211.0, 214.0), (205.0, 185.0)]
    found = [box(one) for one in label_places(points, [SIZE] * 4, 8, FRAME)]
    assert not any(meet(one, other) for one, other in combinations(found, 2))
    assert not any(left < x < right and low < y < high for left, low, right, high in found for x, y in points)


def test_a_label_makes_way_for_what_else_is_there() -> None:
    line = (110.0, 50.0, 114.0, 150.0)
    (middle,) = label_places([(100, 100)], [SIZE], 8, FRAME, [line])
    assert not meet(box(middle), line)


def test_points_without_a_label_are_not_covered() -> None:
    (middle,) = label_places([(100, 100), (118, 100)], [SIZE], 8, FRAME)
    assert middle == (82, 100)
