"""Tests for problems whose platforms publish none: inputs drawn from a grammar of the statement, answers that known
programs agree on, and how strong the made tests are.

``grammar`` is the shape of an input, ``reading`` finds it in a statement, ``values`` checks and ``drawing`` draws.
``gate`` says why a problem gets no tests, ``agreement`` decides the expected outputs, ``time_limit`` the limit, and
``strength`` with ``coverage`` and ``mutants`` says what the tests are worth.
"""
