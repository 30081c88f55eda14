"""Statements from HTML to Markdown, with the mathematics kept. Pure."""

from __future__ import annotations

from bs4 import Tag


def to_markdown(element: Tag, *, base_url: str = "") -> str:
    """The element's content as Markdown; ``base_url`` makes addresses of images and links absolute."""
    raise NotImplementedError(element, base_url)


def pre_text(element: Tag) -> str:
    """The text of a sample's ``<pre>``, byte for byte as a browser shows it, with exactly one newline at its end."""
    raise NotImplementedError(element)
