from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.starter_code import Function, node_kind, read_functions

# LeetCode's functions end with a line of nothing but blanks.
CLASS = """# Definition for a lantern.
# class Lantern:
#     def __init__(self, val=0):
#         self.val = val
class Harbour:

    def __init__(self, places: int):
        BODY

    def enter(self, boats: List[Optional['ListNode']], at: "int" = 0) -> None:
        BODY

    def first(self):
        BODY


# Your Harbour object will be instantiated and called as such:
# obj = Harbour(places)
""".replace("BODY", "")


def test_the_types_of_all_functions_are_read() -> None:
    assert read_functions(CLASS) == {
        "__init__": Function(("integer",), "any"),
        "enter": Function(("ListNode[]", "integer"), "void"),
        "first": Function((), "any"),
    }


@pytest.mark.parametrize("code", ["", "def f(a:\n", "def f(a)) -> int:\n", "def f(x=" + "(" * 300 + "):\n", "def :\n"])
def test_what_cannot_be_read_is_left_out(code: str) -> None:
    assert read_functions(f"{code}\ndef g(n: int) -> bool:\n    ") == {"g": Function(("integer",), "boolean")}


def test_a_node_is_known_by_its_fields_in_a_text_or_in_comments() -> None:
    fields = (
        "    def __init__(self, x: int, next: 'Node' = None):\n        self.val = int(x)\n        self.next = next\n"
    )
    random = fields + "        self.random: 'Node' = None\n"
    text = f'"""\n# Definition for a Node.\nclass Node:\n{random}"""\n\nclass Solution:\n    pass\n'
    comments = "# class Node:\n" + "".join(f"#{line}\n" for line in random.splitlines())
    assert node_kind(text) == node_kind(comments) == "Node.random"
    assert node_kind(f"class Node:\n{fields}\nclass Other:\n    self.random = None\n") is None
    assert node_kind("class Nodes:\n    self.children = self.val = []\n") is None


@given(st.text("def class Node():\n\t#self.val=->,[]'\"\\d", max_size=300))
def test_any_text_is_read(code: str) -> None:
    read_functions(code)
    node_kind(code)
