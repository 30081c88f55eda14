"""The words of a statement whatever its markup, and finding texts that are alike by their fingerprints."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.fingerprints import (
    KIND,
    FingerprintIndex,
    character_shingles,
    fingerprint,
    is_long_enough,
    numbers,
    plain_text,
    plain_words,
)
from tests.ingest.reading import DATA

STATEMENTS = DATA / "duplicates"
WORDS = tuple(f"word{number}" for number in range(100))


def words_of(name: str) -> tuple[str, ...]:
    return plain_words((STATEMENTS / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", ["html", "tex", "txt"])
def test_one_statement_has_the_same_words_in_every_form(form: str) -> None:
    assert words_of(f"lanterns.{form}") == words_of("lanterns.md")


def test_numbers_stand_as_they_are_written_with_their_signs_and_exponents() -> None:
    found = numbers(words_of("lanterns.tex"))
    assert found == {"10^5": 1, "1": 1, "150000": 1, "-10^9": 1, "10^9": 1, "-1": 1}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("10⁵", "10^5"),
        ("10<sup>5</sup>", "10^5"),
        ("$10^{5}$", "10^5"),
        ("$10^{-6}$ or 10⁻⁶", "10^-6 or 10^-6"),
        ("105", "105"),
        (r"1 \leq N \le 2 \times 10^5", "1 <= n <= 2 10^5"),
        ("1≤N≤2×10⁵", "1 <= n <= 2 10^5"),
        (r"200\,000 and 200 000", "200000 and 200 000"),
        ("2*3 and *two* and **three**", "2 3 and two and three"),
        ("$11$*$3$", "11 3"),
        ("n-1, n - 1, n\n- 1 and -1", "n 1 n 1 n 1 and -1"),
        ("pages 1–10 — all", "pages 1 10 all"),
        ("a_1, $a_{1}$, a<sub>1</sub>, a\\_1", "a1 a1 a1 a1"),
        ("if a<b and c>d then", "if a < b and c > d then"),
        ("x &lt; y &amp;&amp; y &gt;= z", "x < y y >= z"),
        ('<p class="x">One</p><b>T</b>wo', "one two"),
        (r"$\frac{n}{2}$ of \texttt{abc}", "frac n 2 of abc"),
        (r"100% of them", "100 of them"),
        (r"\section{Task} half % of a remark", "task half"),
        ("Ｎ ＡＢＣ １２", "n abc 12"),
        ("don’t STOP", "don t stop"),
        ("[here](https://a.example/b?c=1) and <https://a.example/d>", "here and"),
        ("![a picture](/img/1.png)", ""),
        ("f[i](x)", "f i x"),
        ("整数Nと配列A", "整 数 n と 配 列 a"),
        ("one\r\ntwo", "one two"),
        ("", ""),
    ],
)
def test_words_of(written: str, words: str) -> None:
    assert " ".join(plain_words(written)) == words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("before\n```\n1 2\n```\nafter", "before after"),
        ("before\n~~~text\n1 2\n~~~\nafter", "before after"),
        ("before\n- ````\n  ```\n  1 2\n  ````\n\nafter", "before after"),
        ("before\n> ```\n> 1 2\n> ```\nafter", "before after"),
        ("before\n```\n1 2\nafter", "before 1 2 after"),
        ("before <pre>1 2\n</pre> after", "before after"),
        ("before <pre>1 2\nafter", "before < pre > 1 2 after"),
        ("before <!-- 1\n2 --> after", "before after"),
    ],
)
def test_code_is_left_out_where_it_ends(written: str, words: str) -> None:
    assert " ".join(plain_words(written)) == words


@given(st.lists(st.sampled_from(["a", "tree", "10^5", "-1", "$x$", "n,", "最", "(b)"]), min_size=1), st.data())
def test_white_space_changes_no_word(parts: list[str], data: st.DataObject) -> None:
    gaps = st.sampled_from([" ", "\n", "  ", "\t", "\n\n", "\r\n"])
    rewrapped = "".join(part + data.draw(gaps) for part in parts)
    assert plain_words(rewrapped) == plain_words(" ".join(parts))


@given(st.text())
def test_any_text_has_words(text: str) -> None:
    words = plain_words(text)
    assert all(words)
    assert bool(fingerprint(words)) == is_long_enough(words)


@pytest.mark.parametrize(
    "piece", ["![", "[a](/", "```\n", "<pre>", "\\begin{verbatim}", "<a href=", "$", "{", "\\href{"]
)
def test_what_never_ends_is_read_in_one_pass(piece: str) -> None:
    plain_words(piece * 30_000)  # with quadratic time this would take many minutes


def test_characters_of_a_language_without_spaces_are_not_set_apart() -> None:
    assert plain_text(plain_words("整数 N と配列")) == "整数 n と配列"
    assert character_shingles(plain_words("整数を一つ")) == {"整数を一つ"}


def test_short_texts_have_no_fingerprint() -> None:
    assert fingerprint(WORDS[:29]) == b""
    assert len(fingerprint(WORDS[:30])) == 4 * 128
    assert fingerprint(("港",) * 59) == b""
    assert fingerprint(("港",) * 60) != b""


def test_a_fingerprint_is_what_its_kind_says() -> None:
    # Stored fingerprints are compared with new ones. If this fails, whatever changed it must change KIND as well.
    assert KIND == "words2-char5-minhash128-affine32-seed1"
    data = fingerprint(words_of("lanterns.md"))
    assert hashlib.sha256(data).hexdigest() == "1d6ceb0c8a7d8ea07ec14aa104fc46687f95d36c0b0b1dfa1e017ad646aa7d6c"


def test_texts_that_are_alike_are_found_with_the_share_that_agrees() -> None:
    other = tuple(f"another{number}" for number in range(100))
    reworded = (*WORDS[:50], "changed", *WORDS[51:])
    index = FingerprintIndex()
    for number, words in enumerate((WORDS, other, reworded)):
        index.add(number, fingerprint(words))
    (same, share), (alike, likeness) = index.near(fingerprint(WORDS))
    assert (same, share) == (0, 1.0)
    one, two = character_shingles(WORDS), character_shingles(reworded)
    assert alike == 2
    assert likeness == pytest.approx(len(one & two) / len(one | two), abs=0.1)
    assert index.near(fingerprint(other)) == [(1, 1.0)]


def test_a_number_is_kept_once_and_an_empty_fingerprint_is_never_found() -> None:
    index = FingerprintIndex()
    index.add(7, fingerprint(WORDS))
    index.add(7, fingerprint(WORDS))
    index.add(8, b"")
    assert index.near(fingerprint(WORDS)) == [(7, 1.0)]
    assert index.near(b"") == []
