"""Integer expressions and what stands between them, from the plain text that `tex` makes. Pure.

``2 * 10^5``, ``N(N-1)/2``, ``min(N^3, 5 * 10^5)``, ``|S_i|``, ``A_{i,j}``, ``nums[i].length``, ``sum_{i=1}^{N} A_i``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from eval.made_tests.grammar import Constant, Expression, Extreme, Index, Length, Operation, Reference, Sum
from eval.made_tests.reading.terms import (
    NotUnderstood,
    difference,
    first_difference,
    has_quotient,
    operation,
    references,
    replaced,
    simplified,
    spanned,
)
from eval.made_tests.reading.tex import SET_CLOSE, SET_OPEN
from eval.made_tests.reading.tokens import ELLIPSIS, Token, tokens

Atom: TypeAlias = Callable[[Reference, bool], Expression]
"""What a name with its indices stands for, or (True) its length; ``NotUnderstood`` for one that may not be there."""

_OPERATORS = frozenset({"<", "<=", "==", "=", "!=", ">", ">="})
_OPENING = {"(": ")", "{": "}", SET_OPEN: SET_CLOSE, "[": "]"}
_MAX_DEPTH = 30
_HERE = "#"
_MAX_NAMES_TOGETHER = 6


@dataclass(frozen=True)
class Operand:
    """One side of a comparison. ``rounds`` says that a quotient in it may be no integer and was not rounded there."""

    value: Expression
    rounds: bool = False


def as_it_is(reference: Reference, is_length: bool) -> Expression:
    """The atom of statements that write references as grammars do."""
    return Length(reference) if is_length else reference


def parse_expression(text: str, names: Collection[str], atom: Atom = as_it_is) -> Expression:
    """One expression; ``names`` are all that may stand in a product without a sign between them (``HW``)."""
    parser = Parser(text, names, atom)
    operand = parser.operand()
    parser.at_end()
    if operand.rounds:
        raise NotUnderstood("this is no integer expression")
    return operand.value


def parse_list(text: str, names: Collection[str], atom: Atom = as_it_is) -> tuple[Expression | str, ...]:
    """Expressions with commas between them, ``ELLIPSIS`` where some are left out."""
    parser = Parser(text, names, atom)
    found = [parser.listed()]
    while parser.accept(","):
        found.append(parser.listed())
    parser.at_end()
    return tuple(found)


class Parser:
    """A parser of one text; it stands at a token and moves on."""

    def __init__(self, text: str, names: Collection[str], atom: Atom = as_it_is) -> None:
        self.tokens = tokens(text)
        self.names = names
        self.atom = atom
        self.place = 0
        self._depth = 0
        self._rounds = False

    def peek(self) -> str:
        """The text of the token at which the parser stands, empty at the end."""
        return self.tokens[self.place].text if self.place < len(self.tokens) else ""

    def kind(self) -> str:
        """The kind of that token, empty at the end."""
        return self.tokens[self.place].kind if self.place < len(self.tokens) else ""

    def accept(self, text: str) -> bool:
        """Move on where the parser stands at this sign."""
        if self.kind() == "sign" and self.peek() == text:
            self.place += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Move on; ``NotUnderstood`` where another sign stands there."""
        if not self.accept(text):
            raise NotUnderstood(f"{self.peek()!r} stands where {text!r} is expected")

    def at_end(self) -> None:
        """``NotUnderstood`` where something is left."""
        if self.place < len(self.tokens):
            raise NotUnderstood(f"{self.peek()!r} is left")

    def operator(self) -> str | None:
        """An operator of comparisons, "=" as "=="; None where none stands here."""
        if self.kind() == "sign" and self.peek() in _OPERATORS:
            self.place += 1
            found = self.tokens[self.place - 1].text
            return "==" if found == "=" else found
        return None

    def listed(self) -> Expression | str:
        """An expression, or an ellipsis."""
        if self.accept(ELLIPSIS):
            return ELLIPSIS
        operand = self.operand()
        if operand.rounds:
            raise NotUnderstood("this is no integer expression")
        return operand.value

    def operand(self) -> Operand:
        """One side of a comparison."""
        self._rounds = False
        return Operand(simplified(self._expression()), self._rounds)

    def _expression(self) -> Expression:
        """A sum; also one with an ellipsis: ``A_1 + A_2 + ... + A_N``."""
        self._deeper()
        result = self._signed_term()
        run: list[Expression] | None = [result]
        while self.kind() == "sign" and self.peek() in ("+", "-"):
            sign = self.peek()
            self.place += 1
            if run and sign == "+" and self.accept(ELLIPSIS):
                self.expect("+")
                result, run = _sum_of_run(run, self._term()), None
                continue
            term = self._term()
            run = [*run, term] if run and sign == "+" else None
            result = operation(sign, result, term)
        self._depth -= 1
        return result

    def _signed_term(self) -> Expression:
        if self.accept("-"):
            return simplified(Operation("-", Constant(0), self._term()))
        self.accept("+")
        return self._term()

    def _term(self) -> Expression:
        product: Expression | Fraction = self._factor()
        while True:
            if self.accept("*"):
                product = _multiplied(product, self._factor())
            elif self.accept("/"):
                product = self._divided(product, self._factor())
            elif self._starts_factor():
                product = _multiplied(product, self._factor())
            else:
                break
        if isinstance(product, Fraction):
            if product.denominator != 1:
                raise NotUnderstood("a number is no integer")
            return Constant(product.numerator)
        return product

    def _starts_factor(self) -> bool:
        return self.kind() == "word" or (self.kind() == "sign" and self.peek() in ("(", "{"))

    def _divided(self, over: Expression | Fraction, under: Expression | Fraction) -> Expression | Fraction:
        if isinstance(over, Fraction) or isinstance(under, Fraction):
            raise NotUnderstood("a quotient of numbers that are no integers")
        if isinstance(over, Constant) and isinstance(under, Constant) and under.value != 0:
            return Fraction(over.value, under.value)
        if not _divides(over, under):
            self._rounds = True
        return Operation("/", over, under)

    def _factor(self) -> Expression | Fraction:
        base = self._base()
        if not self.accept("^"):
            return base
        exponent = self._exponent()
        if isinstance(base, Fraction):
            raise NotUnderstood("a power of a number that is no integer")
        return operation("^", base, exponent)

    def _exponent(self) -> Expression:
        if self.accept("{"):
            exponent = self._expression()
            self.expect("}")
            return exponent
        base = self._base()
        if isinstance(base, Fraction):
            raise NotUnderstood("an exponent that is no integer")
        return base

    def _base(self) -> Expression | Fraction:
        if self.kind() == "number":
            number = Fraction(self.peek())
            self.place += 1
            return Constant(number.numerator) if number.denominator == 1 else number
        if self.kind() == "word":
            return self._word()
        if self.accept("|"):
            return self._length()
        for opening, closing in (("(", ")"), ("{", "}")):
            if self.accept(opening):
                inner = self._expression()
                self.expect(closing)
                return inner
        raise NotUnderstood(f"{self.peek() or 'the end'!r} stands where an expression is expected")

    def _length(self) -> Expression:
        atom, self.atom = self.atom, as_it_is
        inner = self._expression()
        self.atom = atom
        self.expect("|")
        if not isinstance(inner, Reference):
            raise NotUnderstood("the length of what is no name")
        return atom(inner, True)

    def _word(self) -> Expression:
        word = self.peek()
        if word in self.names or f"{word}_{self._label_ahead()}" in self.names:
            return self._atom()
        if word in ("min", "max"):
            return self._extreme()
        if word == "sum":
            return self._sum()
        if word in ("floor", "ceil"):
            return self._rounded()
        return self._atom()

    def _extreme(self) -> Expression:
        which = self.peek()
        self.place += 1
        closing = _OPENING.get(self.peek())
        if closing is None or self.kind() != "sign":
            raise NotUnderstood(f"{which} of what?")
        self.place += 1
        of = [simplified(self._expression())]
        while self.accept(","):
            of.append(simplified(self._expression()))
        self.expect(closing)
        return Extreme(which, tuple(of)) if len(of) > 1 else of[0]

    def _rounded(self) -> Expression:
        which = self.peek()
        self.place += 1
        self.expect("(")
        before = self._rounds
        inner = self._expression()
        self.expect(")")
        if not isinstance(inner, Operation) or inner.operator != "/" or has_quotient(inner.left):
            raise NotUnderstood("what is rounded is no quotient")
        self._rounds = before
        if which == "floor":
            return inner
        return Operation(
            "/", simplified(Operation("-", Operation("+", inner.left, inner.right), Constant(1))), inner.right
        )

    def _atom(self) -> Expression:
        base = self._name()
        indices: list[Expression] = []
        while True:
            if self.accept("_"):
                label = self._subscript(base, indices)
                base = label or base
            elif self.peek() == "[" and self.kind() == "sign":
                self.place += 1
                indices.append(simplified(self._expression()))
                self.expect("]")
            else:
                break
        reference = Reference(base, tuple(indices))
        if self.peek() == "." and self._next_text() in ("length", "size"):
            self.place += 2
            return self.atom(reference, True)
        return self.atom(reference, False)

    def _next_text(self) -> str:
        return self.tokens[self.place + 1].text if self.place + 1 < len(self.tokens) else ""

    def _name(self) -> str:
        """The name at the parser's place; of names that stand together it takes the first and leaves the others."""
        word = self.peek()
        stem = word.rstrip("'")
        if word in self.names or len(stem) == 1 or f"{word}_{self._label_ahead()}" in self.names:
            self.place += 1
            return word
        for length in range(len(word) - 1, 0, -1):
            if word[:length] in self.names and _splits(word[length:], self.names):
                self._split(length)
                return word[:length]
        raise NotUnderstood(f"{word!r} is no name of the input")

    def _label_ahead(self) -> str:
        following = [token.text for token in self.tokens[self.place + 1 : self.place + 5]]
        if following[:1] != ["_"]:
            return ""
        if following[1:2] == ["{"] and following[3:4] == ["}"]:
            return following[2]
        return following[1] if len(following) > 1 else ""

    def _subscript(self, base: str, indices: list[Expression]) -> str | None:
        """Read what follows "_": indices are added to the list; a label that belongs to the name gives the new name."""
        label = self._label()
        if label and not indices and f"{base}_{label}" in self.names:
            return f"{base}_{label}"
        if self.accept("{"):
            indices.append(simplified(self._expression()))
            while self.accept(","):
                indices.append(simplified(self._expression()))
            self.expect("}")
            return None
        if self.kind() == "number":
            indices.append(Constant(int(self.peek()[:9])))
            if len(self.peek()) > 9:
                raise NotUnderstood("an index is too large")
            self.place += 1
            return None
        if self.kind() == "word":
            indices.append(Reference(self._letter()))
            return None
        raise NotUnderstood("an index is missing")

    def _label(self) -> str:
        """The label after "_" where names have such ones: the parser moves on only if a name has it."""
        label = self.peek()
        base = self.tokens[self.place - 2].text
        if label == "{" and self.place + 2 < len(self.tokens) and self.tokens[self.place + 2].text == "}":
            label = self.tokens[self.place + 1].text
            if f"{base}_{label}" in self.names:
                self.place += 3
                return label
            return ""
        if f"{base}_{label}" in self.names:
            self.place += 1
            return label
        return ""

    def _letter(self) -> str:
        """One letter as TeX takes it after "_"; what follows it in a word stays."""
        word = self.peek()
        if len(word) == 1 or word in self.names:
            self.place += 1
            return word
        self._split(1)
        return word[0]

    def _split(self, length: int) -> None:
        """Make two words of one, and move on behind the first."""
        token = self.tokens[self.place]
        middle = token.start + length
        self.tokens[self.place : self.place + 1] = [
            Token("word", token.text[:length], token.start, middle),
            Token("word", token.text[length:], middle, token.end),
        ]
        self.place += 1

    def _sum(self) -> Expression:
        """``sum_{i=1}^{N} A_i``, ``sum_{i=1}^3 sum_{j=1}^3 A_{i,j}``."""
        self._deeper()
        self.place += 1
        self.expect("_")
        self.expect("{")
        index = self.peek()
        if self.kind() != "word" or len(index) != 1:
            raise NotUnderstood("the index of a sum is missing")
        self.place += 1
        self.expect("=")
        low = simplified(self._expression())
        self.expect("}")
        self.expect("^")
        high = simplified(self._exponent())
        of = simplified(self._term())
        self._depth -= 1
        return Sum(of, Index(index, low, high))

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NotUnderstood("the expression is nested too deeply")


def _multiplied(left: Expression | Fraction, right: Expression | Fraction) -> Expression | Fraction:
    if isinstance(left, Fraction) or isinstance(right, Fraction):
        numbers = [Fraction(each.value) if isinstance(each, Constant) else each for each in (left, right)]
        if not isinstance(numbers[0], Fraction) or not isinstance(numbers[1], Fraction):
            raise NotUnderstood("a multiple that may be no integer")
        product = numbers[0] * numbers[1]
        return Constant(product.numerator) if product.denominator == 1 else product
    return operation("*", left, right)


def _divides(over: Expression, under: Expression) -> bool:
    """Whether a quotient is an integer whatever the names stand for: neighbours by 2."""
    if under != Constant(2) or not isinstance(over, Operation) or over.operator != "*":
        return False
    return difference(over.left, over.right) in (1, -1)


def _splits(word: str, names: Collection[str]) -> bool:
    """Whether a word is names in a row; what is left of it may carry an index."""
    if not word or word in names:
        return True
    if len(word) > _MAX_NAMES_TOGETHER:
        return False
    return any(word[:length] in names and _splits(word[length:], names) for length in range(1, len(word)))


def _sum_of_run(terms: list[Expression], last: Expression) -> Expression:
    ends = first_difference(terms[0], last)
    if ends is None:
        raise NotUnderstood("the terms of a sum do not differ")
    start, end = ends
    term = spanned(terms[0], last, start, end, _HERE)
    if term == Reference(_HERE):
        raise NotUnderstood("the terms of a sum are no elements of one row")
    for place, middle in enumerate(terms[1:], start=1):
        here = simplified(operation("+", start, Constant(place)))
        if simplified(spanned(terms[0], middle, start, here, _HERE)) != simplified(term):
            raise NotUnderstood("the terms of a sum have different shapes")
    used = {each.name for each in references(term)}
    letter = next((each for each in "ijkpqxyz" if each not in used), _HERE)
    return Sum(replaced(term, {_HERE: Reference(letter)}), Index(letter, start, end))
