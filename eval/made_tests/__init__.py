"""Tests for problems whose platforms publish none: inputs drawn from a grammar of the statement, answers that known
programs agree on, and how strong the made tests are.

``grammar`` is the shape of an input, ``reading`` finds it in a statement, ``values`` checks and ``drawing`` draws;
``designs`` draws the calls of a class, ``design_grammar`` is the shape of them. ``inputs`` puts these together.
``gate`` says why a problem gets no tests, ``voters`` and ``agreement`` decide the expected outputs, ``time_limit`` the
limit, and ``proving`` with ``strength``, ``coverage`` and ``mutants`` says what the tests are worth. ``building`` does
it all for one problem, ``making`` for those of a store.
"""
