"""The characters and values that words name."""

from __future__ import annotations

import string

import pytest

from eval.made_tests.reading.alphabets import alphabet_of, values_of

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("lowercase English letters", LOWER),
        ("English lowercase letters", LOWER),
        ("a lowercase English letter", LOWER),
        ("lowercase English alphabets", LOWER),
        ("upper case and lower case English letters", UPPER + LOWER),
        ("letters of the English alphabet in uppercase and lowercase", UPPER + LOWER),
        ("lowercase English letters and digits", DIGITS + LOWER),
        ("English uppercase and lowercase letters, digits, '@', '#', and '$'", "#$" + DIGITS + "@" + UPPER + LOWER),
        ("digits from '1' to '9'", "123456789"),
        ("numeric digits", DIGITS),
        ("the characters '0' and '1'", "01"),
        ("characters 'L', 'R' and '_'", "LR_"),
        ("either a lowercase English letter or '?'", "?" + LOWER),
        ("'N', 'S', 'E', and 'W'", "ENSW"),
        ('digits or "?" characters', DIGITS + "?"),
        ('characters from the string ".,|$#@" (excluding the quotes)', "#$,.@|"),
    ],
)
def test_words_name_characters(text: str, characters: str) -> None:
    assert alphabet_of(text) == characters


@pytest.mark.parametrize(
    "text",
    [
        "",
        "letters",
        "distinct lowercase English letters",
        "lowercase English letters which are at most k",
        "digits in descending order",
        "'ab'",
        "lowercase English letters, ",
        "and digits",
        "the string 'a'",
        "0 and 1",
    ],
)
def test_other_words_name_no_characters(text: str) -> None:
    assert alphabet_of(text) is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("either 0's or 1's", ("0", "1")),
        ("0, 1 or 2", ("0", "1", "2")),
        ("-1, 0, and 1", ("-1", "0", "1")),
        ('"UP", "RIGHT", and "LEFT"', ("UP", "RIGHT", "LEFT")),
        ("1", ("1",)),
        ("0 and x", None),
        ('"UP" and 1', None),
        ("1 to 5", None),
        ('"a b"', None),
        ("", None),
    ],
)
def test_words_list_values(text: str, values: tuple[str, ...] | None) -> None:
    assert values_of(text) == values
