"""An input as the text that a program reads, laid out by a grammar's blocks. Pure.

Tokens are exact: one space between two, no sign or zero before a number. Only white space at the ends of lines and
empty lines at the end of the text are taken as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from eval.made_tests.grammar import (
    Block,
    Cases,
    Expression,
    Grammar,
    Index,
    InputRefused,
    Kind,
    Line,
    Lines,
    Part,
    Reference,
    Repeated,
    Token,
    Value,
    Values,
    Variable,
)
from eval.made_tests.values import by_name, evaluate
from eval.made_tests.wording import KIND_NOUNS, expression_text, shown

_BLANK = re.compile(r"\s")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def render(grammar: Grammar, values: Values) -> str:
    """The text of an input, with a line end at the end of each line; InputRefused for values of another shape."""
    return "".join(f"{line}\n" for line in _Writer(grammar).lines(grammar.blocks, values, {}))


def parse(grammar: Grammar, text: str) -> Values:
    """The values that a text has; InputRefused, with the line and what is expected there, for another text.

    Whether they keep the constraints is not looked at (`eval.made_tests.values.check`).
    """
    reader = _Reader(grammar, text)
    values = reader.empty(without=grammar.per_case)
    for name in grammar.per_case:
        values[name] = []
    reader.read(grammar.blocks, values, {})
    reader.at_end()
    return values


class _Writer:
    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._variables = by_name(grammar)

    def lines(self, blocks: Sequence[Block], values: Values, indices: Mapping[str, int]) -> Iterator[str]:
        for block in blocks:
            if isinstance(block, Line):
                yield " ".join(word for part in block.parts for word in self._words(part, values, indices))
            elif isinstance(block, Lines):
                if (columns := self._columns(block, values, indices)) is not None:
                    yield from map(" ".join, zip(*columns, strict=True))
                    continue
                for at in _range(block.index, values, indices, self._variables):
                    yield from self.lines(block.blocks, values, {**indices, block.index.name: at})
            else:
                for case in range(self._count(block, values)):
                    yield from self.lines(block.blocks, self._of_case(values, case), indices)

    def _columns(self, block: Lines, values: Values, indices: Mapping[str, int]) -> list[list[str]] | None:
        """The words of lines that have an element of each of some rows, row by row; None for lines of another form.

        It is most of what is written of a large input: token by token it takes ten times as long.
        """
        if len(block.blocks) != 1 or not isinstance(block.blocks[0], Line):
            return None
        here = (Reference(block.index.name),)
        tokens = [part.of for part in block.blocks[0].parts if isinstance(part, Token) and part.of.indices == here]
        low, high = _ends(block.index, values, indices, self._variables)
        if not tokens or len(tokens) < len(block.blocks[0].parts) or high < low:
            return None
        columns = []
        for of in tokens:
            found = self._found(of, values, {}, low)
            if not isinstance(found, list) or len(found) < high - low + 1:
                raise InputRefused(f"{of.name} has too few elements")
            kind = self._variables[of.name].kind
            columns.append([_written(each, of, kind) for each in found[: high - low + 1]])
        return columns

    def _count(self, block: Cases, values: Values) -> int:
        count = evaluate(block.count, values, {}, self._variables)
        for name in self._grammar.per_case:
            found = values.get(name)
            if not isinstance(found, list) or len(found) != count:
                raise InputRefused(f"{name} is not there for {count} test cases")
        return count

    def _of_case(self, values: Values, case: int) -> Values:
        result = dict(values)
        for name in self._grammar.per_case:
            of_all = values[name]
            assert isinstance(of_all, list)
            result[name] = of_all[case]
        return result

    def _words(self, part: Part, values: Values, indices: Mapping[str, int]) -> Iterator[str]:
        if isinstance(part, Token):
            yield self._word(part.of, values, indices)
            return
        if (row := _row(part)) is not None:
            low, high = _ends(part.index, values, indices, self._variables)
            found = self._found(row, values, indices, low) if high >= low else []
            if not isinstance(found, list) or len(found) < high - low + 1:
                raise InputRefused(f"{row.name} has too few elements")
            kind = self._variables[row.name].kind
            words = [_written(each, row, kind) for each in found[: high - low + 1]]
        else:
            words = [
                word
                for at in _range(part.index, values, indices, self._variables)
                for inner in part.parts
                for word in self._words(inner, values, {**indices, part.index.name: at})
            ]
        if part.separator == " ":
            yield from words
        elif any(len(word) != 1 for word in words):
            raise InputRefused(f"{_name(part)} has elements of more than one character")
        elif words:
            yield "".join(words)

    def _found(self, row: Reference, values: Values, indices: Mapping[str, int], low: int) -> Value:
        """The elements of a row from an index on."""
        row_itself = Reference(row.name, row.indices[:-1])
        found = self._value(row_itself, values, indices)
        start = low - self._variables[row.name].first_index
        if not isinstance(found, list) or start < 0:
            raise InputRefused(f"there is no {expression_text(row)}")
        return found[start:] if start else found

    def _word(self, of: Reference, values: Values, indices: Mapping[str, int]) -> str:
        return _written(self._value(of, values, indices), of, self._variables[of.name].kind)

    def _value(self, of: Reference, values: Values, indices: Mapping[str, int]) -> Value:
        if of.name not in values:
            raise InputRefused(f"{of.name} has no value")
        found = values[of.name]
        for index in of.indices:
            place = evaluate(index, values, indices, self._variables) - self._variables[of.name].first_index
            if not isinstance(found, list) or not 0 <= place < len(found):
                raise InputRefused(f"there is no {expression_text(of)}")
            found = found[place]
        return found


def _written(value: Value, of: Reference, kind: Kind) -> str:
    if isinstance(value, int) and kind is Kind.INTEGER:
        return str(value)
    if isinstance(value, str) and kind is not Kind.INTEGER and value and not _BLANK.search(value):
        return value
    raise InputRefused(f"{expression_text(of)} is {shown(value)}, which is not {KIND_NOUNS[kind]}")


def _range(index: Index, values: Values, indices: Mapping[str, int], variables: Mapping[str, Variable]) -> range:
    low, high = _ends(index, values, indices, variables)
    return range(low, high + 1)


def _ends(
    index: Index, values: Values, indices: Mapping[str, int], variables: Mapping[str, Variable]
) -> tuple[int, int]:
    return tuple(evaluate(end, values, indices, variables) for end in (index.low, index.high))  # type: ignore[return-value]


def _row(part: Repeated) -> Reference | None:
    """The variable whose last index goes through a repeated part that has nothing else."""
    if len(part.parts) != 1 or not isinstance(part.parts[0], Token):
        return None
    of = part.parts[0].of
    here = Reference(part.index.name)
    return of if of.indices and of.indices[-1] == here and here not in of.indices[:-1] else None


def _name(part: Part) -> str:
    return part.of.name if isinstance(part, Token) else _name(part.parts[0])


class _Reader:
    """Reads lines one after the other into values; an element is put behind the one before it."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self._grammar = grammar
        self._variables = by_name(grammar)
        self._lines = [line.rstrip(" \t\r") for line in text.split("\n")]
        self._n_lines = len(self._lines)
        while self._n_lines and not self._lines[self._n_lines - 1]:
            self._n_lines -= 1
        self._place = 0

    def empty(self, without: frozenset[str] = frozenset(), only: frozenset[str] | None = None) -> Values:
        """Rows without elements for the variables that have dimensions."""
        return {
            name: []
            for name, variable in self._variables.items()
            if variable.dimensions and name not in without and (only is None or name in only)
        }

    def read(self, blocks: Sequence[Block], values: Values, indices: dict[str, int]) -> None:
        """Read blocks into values."""
        for block in blocks:
            if isinstance(block, Line):
                self._read_line(block, values, indices)
            elif isinstance(block, Lines):
                self._open_rows(block.blocks, block.index.name, values, indices)
                for at in self._range(block.index, values, indices):
                    self.read(block.blocks, values, {**indices, block.index.name: at})
            else:
                self._read_cases(block, values, indices)

    def at_end(self) -> None:
        """Refuse a text that goes on."""
        if self._place < self._n_lines:
            raise InputRefused(f"line {self._place + 1}: the end is expected, not {shown(self._lines[self._place])}")

    def _read_cases(self, block: Cases, values: Values, indices: dict[str, int]) -> None:
        per_case = self._grammar.per_case
        columns: dict[str, list[Value]] = {}
        for name in per_case:
            column = values[name]
            assert isinstance(column, list)
            columns[name] = column
        outside = {name: value for name, value in values.items() if name not in per_case}
        count = evaluate(block.count, values, indices, self._variables)
        if count < 0:
            raise InputRefused(f"line {self._place}: there are no {count} test cases")
        for _ in range(count):
            inside = {**outside, **self.empty(only=per_case)}
            self.read(block.blocks, inside, indices)
            for name, column in columns.items():
                column.append(inside[name])

    def _range(self, index: Index, values: Values, indices: Mapping[str, int]) -> range:
        return _range(index, values, indices, self._variables)

    def _open_rows(self, blocks: Sequence[Block | Part], name: str, values: Values, indices: Mapping[str, int]) -> None:
        """Make the rows that an index goes through, so that they are there where it goes through nothing."""
        for block in blocks:
            if isinstance(block, Token):
                places = [place for place, index in enumerate(block.of.indices) if index == Reference(name)]
                if places and places[0] > 0:
                    self._row_of(Reference(block.of.name, block.of.indices[: places[0]]), values, indices)
            elif not isinstance(block, Cases):
                self._open_rows(block.blocks if isinstance(block, Lines) else block.parts, name, values, indices)

    def _row_of(self, of: Reference, values: Values, indices: Mapping[str, int]) -> list[Value]:
        """The row at a place, made anew where it is the next one."""
        found = values[of.name]
        for index in of.indices:
            assert isinstance(found, list)
            place = evaluate(index, values, indices, self._variables) - self._variables[of.name].first_index
            if place == len(found):
                found.append([])
            if not 0 <= place < len(found):
                raise InputRefused(f"line {self._place}: {expression_text(of)} comes before the one that precedes it")
            found = found[place]
        assert isinstance(found, list)
        return found

    def _read_line(self, line: Line, values: Values, indices: dict[str, int]) -> None:
        if self._place >= self._n_lines + 1 and self._place >= len(self._lines):
            raise InputRefused(f"line {self._place + 1}: {_expected(line.parts)} is expected, not the end")
        text = self._lines[self._place] if self._place < self._n_lines else ""
        words = text.split(" ") if text else []
        self._place += 1
        if "" in words:
            raise InputRefused(f"line {self._place}: there is more than one space between two tokens")
        left = self._read_parts(line.parts, words, values, indices)
        if left:
            raise InputRefused(f"line {self._place}: the end of the line is expected, not {shown(left[0])}")

    def _read_parts(
        self, parts: Sequence[Part], words: list[str], values: Values, indices: dict[str, int]
    ) -> list[str]:
        """Read parts from the words, and give back what is left of them."""
        for part in parts:
            if isinstance(part, Token):
                self._put(part.of, [self._first(part, words)], values, indices)
                words = words[1:]
                continue
            low, high = _ends(part.index, values, indices, self._variables)
            row = _row(part)
            if part.separator != " ":
                words = self._read_characters(part, row, max(0, high - low + 1), words, values, indices)
            elif row is not None:
                words = self._read_row(part, row, max(0, high - low + 1), words, values, indices)
            else:
                self._open_rows(part.parts, part.index.name, values, indices)
                for at in range(low, high + 1):
                    words = self._read_parts(part.parts, words, values, {**indices, part.index.name: at})
        return words

    def _first(self, part: Part, words: list[str]) -> str:
        if not words:
            ends = self._place > self._n_lines
            raise InputRefused(
                f"line {self._place}: {_expected((part,))} is expected, not the end{'' if ends else ' of the line'}"
            )
        return words[0]

    def _read_row(
        self, part: Repeated, row: Reference, count: int, words: list[str], values: Values, indices: dict[str, int]
    ) -> list[str]:
        if count > len(words):
            raise InputRefused(
                f"line {self._place}: {count} elements of {row.name} are expected, not the end of the line after "
                f"{len(words)}"
            )
        self._extend(row, words[:count], values, indices)
        return words[count:]

    def _read_characters(
        self,
        part: Repeated,
        row: Reference | None,
        count: int,
        words: list[str],
        values: Values,
        indices: dict[str, int],
    ) -> list[str]:
        if row is None:
            raise InputRefused(f"line {self._place}: characters of several variables")
        if count == 0:
            self._extend(row, [], values, indices)
            return words
        word = self._first(part, words)
        if len(word) != count:
            raise InputRefused(f"line {self._place}: {count} characters of {row.name} are expected, not {shown(word)}")
        self._extend(row, list(word), values, indices)
        return words[1:]

    def _extend(self, row: Reference, words: list[str], values: Values, indices: Mapping[str, int]) -> None:
        elements = self._row_of(Reference(row.name, row.indices[:-1]), values, indices)
        elements += self._values(row.name, words)

    def _put(self, of: Reference, words: list[str], values: Values, indices: Mapping[str, int]) -> None:
        (value,) = self._values(of.name, words)
        if not of.indices:
            values[of.name] = value
            return
        row = self._row_of(Reference(of.name, of.indices[:-1]), values, indices)
        place = self._evaluated(of.indices[-1], values, indices) - self._variables[of.name].first_index
        if place != len(row):
            raise InputRefused(f"line {self._place}: {expression_text(of)} comes before the one that precedes it")
        row.append(value)

    def _evaluated(self, expression: Expression, values: Values, indices: Mapping[str, int]) -> int:
        if isinstance(expression, Reference) and not expression.indices and expression.name in indices:
            return indices[expression.name]
        return evaluate(expression, values, indices, self._variables)

    def _values(self, name: str, words: list[str]) -> list[Value]:
        """What words stand for; refused where they are not written as values of a variable are."""
        kind = self._variables[name].kind
        if kind is Kind.STRING:
            return list(words)
        if kind is Kind.INTEGER:
            try:
                numbers: list[Value] = [int(word) for word in words]
            except ValueError:
                numbers = []
            if [str(number) for number in numbers] == words:
                return numbers
            wrong = next(word for word in words if not re.fullmatch(r"-?[1-9][0-9]*|0", word) or len(word) > 4000)
        else:
            wrong = next((word for word in words if not _DECIMAL.fullmatch(word)), "")
            if not wrong:
                return list(words)
        raise InputRefused(f"line {self._place}: {name} has {shown(wrong)}, which is not {KIND_NOUNS[kind]}")


def _expected(parts: Sequence[Part]) -> str:
    return expression_text(parts[0].of) if isinstance(parts[0], Token) else _name(parts[0])
