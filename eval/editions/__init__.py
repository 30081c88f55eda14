"""Editions: a table frozen with everything that it rests on, under one digest, and what moved between two of them.

``document`` is the shape and its one byte form, ``numbers`` computes what it says (pure), ``freezing`` reads it out of
a store, ``difference`` sets two beside each other, ``verifying`` computes one again.
"""
