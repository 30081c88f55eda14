"""What a strategy decides, and what is the same for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from eval.made_tests.drawing import _letters, _policies, _shapes_of_trees, _trees
from eval.made_tests.drawing._letters import LetterPolicy
from eval.made_tests.drawing._policies import Policy
from eval.made_tests.drawing._shapes_of_trees import BinaryShape
from eval.made_tests.drawing._trees import Shape


class Size(StrEnum):
    """How large the extents, lengths and numbers of test cases are that an input gets."""

    LEAST = "least"
    SMALL = "small"
    MID = "mid"
    LARGE = "large"
    GREATEST = "greatest"


class Share(StrEnum):
    """How what a sum allows is shared out among its terms."""

    FIRST = "first"
    EVEN = "even"
    RANDOM = "random"


class Order(StrEnum):
    """The order of the elements of rows in which each is different."""

    AS_DRAWN = "as drawn"
    UP = "up"
    DOWN = "down"
    ONE_SWAP = "one swap"


@dataclass(frozen=True)
class Style:
    """A strategy's choices. ``cases`` is the size of the number of test cases, ``edges`` that of the number of edges.

    ``is_shuffled`` gives the vertices of a graph other numbers, ``leaves_out`` leaves half of them without edges where
    that is allowed. ``is_balanced``: of extents that have a product in common the first does not take it all.
    ``is_reversed``: the last extent is chosen first.
    """

    sizes: Size
    cases: Size = Size.SMALL
    edges: Size | None = None
    share: Share = Share.RANDOM
    numbers: Policy = _policies.uniform
    order: Order = Order.AS_DRAWN
    letters: LetterPolicy = _letters.any_letters
    shape: Shape = _trees.any_tree
    binary_shape: BinaryShape = _shapes_of_trees.any_binary_tree
    closes_cycle: bool = False
    is_bipartite: bool = False
    leaves_out: bool = False
    is_shuffled: bool = True
    is_balanced: bool = False
    is_reversed: bool = False
