"""Inputs of design classes as text: a JSON list of names, the class first, and one of lists of arguments. Pure.

The form is that of a suite's design tests (`sandbox.Test`).
"""

from __future__ import annotations

from eval.made_tests.call_text import parse_arguments, read_json, render_arguments
from eval.made_tests.design_grammar import Call, Calls, DesignGrammar
from eval.made_tests.grammar import Grammar, InputRefused, Values
from eval.made_tests.wording import shown


def render(grammar: DesignGrammar, calls: Calls) -> str:
    """The two lines of an input, without a line end at the last; InputRefused where a value is missing."""
    names = ", ".join(f'"{name}"' for name in (grammar.name, *(call.method for call in calls.calls)))
    arguments = [_arguments(grammar.constructor, calls.constructor)]
    for call in calls.calls:
        arguments.append(_arguments(grammar_of(grammar, call.method), call.values))
    return f"[{names}]\n[{', '.join(arguments)}]"


def _arguments(grammar: Grammar, values: Values) -> str:
    return f"[{', '.join(render_arguments(grammar, values))}]"


def grammar_of(grammar: DesignGrammar, method: str) -> Grammar:
    """The grammar of a method; InputRefused where there is none of that name."""
    found = grammar.by_name.get(method)
    if found is None:
        raise InputRefused(f"{grammar.name} has no method {shown(method)}")
    return found


def parse(grammar: DesignGrammar, text: str) -> Calls:
    """The calls that an input makes; InputRefused where it is none of this class.

    Whether they keep what the statement says is not looked at (`eval.made_tests.design_checks`).
    """
    lines = text.removesuffix("\n").split("\n")
    if len(lines) != 2:
        raise InputRefused(f"the input has {len(lines)} lines, not one of names and one of arguments")
    names, arguments = (_read_list(what, line) for what, line in zip(("names", "arguments"), lines, strict=True))
    if len(names) != len(arguments):
        raise InputRefused(f"the input has {len(names)} names and arguments for {len(arguments)}")
    if names[:1] != [grammar.name]:
        raise InputRefused(f"the first name is not {grammar.name}")
    made_with = _values(grammar.name, grammar.constructor, arguments[0])
    calls = []
    for name, given in zip(names[1:], arguments[1:], strict=True):
        method = name if isinstance(name, str) else shown(name)
        calls.append(Call(method, _values(method, grammar_of(grammar, method), given)))
    return Calls(made_with, tuple(calls))


def _read_list(what: str, line: str) -> list[object]:
    read = read_json(f"the line of {what}", line)
    if not isinstance(read, list):
        raise InputRefused(f"the line of {what} is no list: {shown(read)}")
    return read


def _values(name: str, grammar: Grammar, arguments: object) -> Values:
    if not isinstance(arguments, list) or len(arguments) != len(grammar.parameters):
        raise InputRefused(f"{name} takes {len(grammar.parameters)} arguments, not {shown(arguments)}")
    try:
        return parse_arguments(grammar, arguments)
    except InputRefused as error:
        raise InputRefused(f"{name}: {error}") from None
