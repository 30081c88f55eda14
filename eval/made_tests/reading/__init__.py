"""Reads the shape of an input, and what holds in it, from a statement. Pure."""
