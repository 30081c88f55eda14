"""What starter code says of a function that is called."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from eval.made_tests.reading.starter_code import parameters_of


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "class Solution:\n    def solve(self, nums: List[int], k: int) -> int:\n        ",
            [("nums", "List[int]"), ("k", "int")],
        ),
        (
            "# Definition for singly-linked list.\n# class ListNode:\n#     def __init__(self, val=0, next=None):\n"
            "#         self.val = val\nclass Solution:\n"
            "    def solve(self, head: Optional[ListNode]) -> Optional[ListNode]:\n",
            [("head", "Optional[ListNode]")],
        ),
        (
            "class Solution:\n    def other(self, a: int) -> int:\n        \n    def solve(\n        self,\n"
            "        grid: List[List[str]],\n    ) -> None:  # in place\n",
            [("grid", "List[List[str]]")],
        ),
        ("def solve(a, b: int = 3):\n    pass", [("a", "any"), ("b", "int")]),
        ("class Solution:\n    def solver(self, a: int) -> int:\n", []),
        ("class Solution:\n    def solve(self, a: int b) -> int:\n", []),
        ("", []),
    ],
)
def test_the_parameters_of_starter_code(code: str, expected: Sequence[tuple[str, str]]) -> None:
    assert list(parameters_of(code, "solve")) == expected
