"""The grammar of a design class, from the constraints of a LeetCode statement. Pure.

Each sentence is read for the constructor and for each method by itself: "1 <= key <= 10^5" holds for every argument of
that name, "word in search consists of ..." for those of one method, "0 <= index < n" for a number that the class was
made with. What speaks of calls is read in `eval.made_tests.reading.design_sentences`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from eval.made_tests.design_grammar import DesignGrammar, Method
from eval.made_tests.grammar import Comparison, Constraint, Grammar, Remainder, SumAtMost, Variable
from eval.made_tests.mentions import mentioned, names_in
from eval.made_tests.reading.call_bounds import left_open
from eval.made_tests.reading.call_shapes import Parameter, Shapes, parameter_of
from eval.made_tests.reading.call_statement import constraints_of, premises_of
from eval.made_tests.reading.calls import Understood, understood
from eval.made_tests.reading.design_sentences import Said, read_of_calls
from eval.made_tests.reading.terms import NotUnderstood
from eval.made_tests.wording import constraint_text

Signature = Sequence[tuple[str, str]]
"""The (name, type) pairs of a call, in order."""

_QUALIFIED = re.compile(r"^(?P<subject>\w+(?:\.length|\[i\])?) (?:in|of|for) (?P<method>\w+) (?P<rest>.+)$")
_ASSUME = re.compile(r"^.*\byou (?:may|can) assume that ")
_QUALIFIED_BOUND = re.compile(
    r"^(?P<bound>.*<=.*) (?:in|for|for calls to) (?:the )?(?P<method>\w+)(?: method| function)?$"
)


def read_design(statement: str, name: str, constructor: Signature, methods: Mapping[str, Signature]) -> DesignGrammar:
    """The grammar of the inputs of a class called `name`: (name, type) of each argument, in order."""
    types = _types(constructor, methods)
    unknown = [f"(nobody knows the type {kind})" for kinds in types.values() for kind in kinds if not _known(kind)]
    several = [f"({parameter} has several types)" for parameter, kinds in types.items() if len(kinds) > 1]
    sentences = constraints_of(statement)
    if sentences is None or unknown or several or not methods:
        reasons = [*unknown, *several, *(() if methods else ("(the class has no methods)",))]
        if sentences is None:
            reasons.append("(the statement has no list of constraints)")
        return DesignGrammar(name, Grammar((), ()), (), not_understood=tuple(dict.fromkeys(reasons)))
    return _Reader(name, _parameters(constructor), {each: _parameters(of) for each, of in methods.items()}).read(
        sentences, premises_of(statement)
    )


def _types(constructor: Signature, methods: Mapping[str, Signature]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for parameters in (constructor, *methods.values()):
        for name, kind in parameters:
            found.setdefault(name, set()).add(kind)
    return found


def _known(kind: str) -> bool:
    return parameter_of("x", kind) is not None


def _parameters(signature: Signature) -> dict[str, Parameter]:
    found = {name: parameter_of(name, kind) for name, kind in signature}
    return {name: parameter for name, parameter in found.items() if parameter}


@dataclass
class _Reader:
    """What is said of a class, sentence by sentence."""

    name: str
    constructor: dict[str, Parameter]
    methods: dict[str, dict[str, Parameter]]
    not_understood: list[str] = field(default_factory=list)

    def read(self, sentences: Sequence[str], premises: Sequence[str]) -> DesignGrammar:
        of_calls, plain = self._apart(sentences, premises)
        more, premises = self._apart([each for each in premises if "call" in each], premises, rest=premises)
        of_calls += more
        constructor = self._grammar(None, plain, premises)
        methods = tuple(Method(each, self._grammar(each, plain, premises)) for each in self.methods)
        limits = tuple(limit for said in of_calls for limit in said.limits)
        unlimited = [each for each in self.methods if not any(each in limit.methods for limit in limits)]
        self.not_understood += (f"(nothing says how often {each} is called)" for each in unlimited)
        return DesignGrammar(
            self.name,
            constructor,
            methods,
            limits,
            tuple(dict.fromkeys(rising for said in of_calls for rising in said.rising)),
            tuple(dict.fromkeys(needs for said in of_calls for needs in said.needs)),
            tuple(dict.fromkeys(different for said in of_calls for different in said.different)),
            tuple(dict.fromkeys(group for said in of_calls for group in said.required)),
            tuple(dict.fromkeys(self.not_understood)),
        )

    def _apart(
        self, sentences: Sequence[str], premises: Sequence[str], rest: Sequence[str] | None = None
    ) -> tuple[list[Said], list[str]]:
        """What sentences say of calls, and the other sentences; of premises nothing has to be understood here."""
        found, others = [], list(rest if rest is not None else ())
        for sentence in sentences:
            try:
                text = sentence if rest is None else _ASSUME.sub("", sentence)
                said = read_of_calls(text, self.name, self.methods, premises)
            except NotUnderstood:
                said = None
                if rest is None:
                    self.not_understood.append(sentence)
                    continue
            if said is not None:
                found.append(said)
                others = [each for each in others if each != sentence]
            elif rest is None:
                others.append(sentence)
        return found, others

    def _grammar(self, method: str | None, sentences: Sequence[str], premises: Sequence[str]) -> Grammar:
        """The grammar of the arguments of a method, or of the constructor (None)."""
        own = self.constructor if method is None else self.methods[method]
        others = {name: each for parameters in self.methods.values() for name, each in parameters.items()}
        typed = {**own, **{name: each for name, each in {**self.constructor, **others}.items() if name not in own}}
        if not typed:
            self.not_understood += (each for each in sentences if each not in self.not_understood)
            return Grammar((), ())
        found = understood(typed, list(self._said_of(method, sentences)), premises)
        self.not_understood += (self._original(each, method, sentences) for each in found.not_understood)
        return self._own_part(found, method, own)

    def _said_of(self, method: str | None, sentences: Iterable[str]) -> Iterator[str]:
        """The sentences without the words that they are said of this method, and without those said of others."""
        for sentence in sentences:
            of, plain = self._qualified(sentence)
            if of is None or of == method:
                yield plain

    def _qualified(self, sentence: str) -> tuple[str | None, str]:
        """The method of which alone a sentence is said, and what it says."""
        match = _QUALIFIED.match(sentence)
        if match and match["method"] in self.methods and match["method"] not in self.constructor:
            return match["method"], f"{match['subject']} {match['rest']}"
        match = _QUALIFIED_BOUND.match(sentence)
        if match and match["method"] in self.methods:
            return match["method"], match["bound"]
        return None, sentence

    def _original(self, plain: str, method: str | None, sentences: Iterable[str]) -> str:
        for sentence in sentences:
            if self._qualified(sentence) == (method, plain):
                return sentence
        return plain

    def _own_part(self, found: Understood, method: str | None, own: Mapping[str, Parameter]) -> Grammar:
        """What a method's arguments are and what holds of them; what joins those of two methods is not understood."""
        variables = _variables_of(own, found.shapes)
        made_with = _variables_of(self.constructor, found.shapes)
        constraints = []
        for constraint in found.constraints:
            names = mentioned(constraint) & found.shapes.variables.keys()
            if not names & variables.keys():
                continue
            if not names <= variables.keys() | made_with.keys():
                if method is not None or names & made_with.keys() == names:
                    self._note(constraint, names, found.shapes)
                continue
            if not names <= variables.keys() and not _may_depend(constraint, made_with, names - variables.keys()):
                self.not_understood.append(f"({constraint_text(constraint)}: calls depend on more than numbers)")
            if method is not None and isinstance(constraint, SumAtMost):
                self.not_understood.append(f"({constraint_text(constraint)}: whether in one call or in all)")
            constraints.append(constraint)
        shapes = replace(found.shapes, variables=variables, parameters=dict(own))
        self.not_understood += left_open(shapes, constraints)
        return Grammar(tuple(variables.values()), tuple(constraints), parameters=tuple(own), columns=shapes.written())

    def _note(self, constraint: Constraint, names: Iterable[str], shapes: Shapes) -> None:
        """A constraint that joins arguments of several calls, unless one method has all of them."""
        for parameters in (self.constructor, *self.methods.values()):
            own = {**self.constructor, **parameters}
            if set(names) <= _variables_of(own, shapes).keys():
                return
        self.not_understood.append(f"({constraint_text(constraint)}: arguments of several methods)")


def _variables_of(parameters: Mapping[str, Parameter], shapes: Shapes) -> dict[str, Variable]:
    """The variables of parameters, and those that say how long they are."""
    names: set[str] = set()
    for parameter in parameters.values():
        names |= set(shapes.columns.get(parameter.name, (parameter.name,)))
        names |= {parameter.places} if parameter.is_tree else set()
    while True:
        needed = names_in(extent for name in names for extent in shapes.variables[name].dimensions)
        more = (needed & shapes.helpers & shapes.variables.keys()) - names
        if not more:
            return {name: variable for name, variable in shapes.variables.items() if name in names}
        names |= more


def _may_depend(constraint: Constraint, made_with: Mapping[str, Variable], names: Iterable[str]) -> bool:
    """Whether a constraint of a call needs but numbers of what the class was made with."""
    return isinstance(constraint, Comparison | Remainder) and not any(made_with[name].dimensions for name in names)
