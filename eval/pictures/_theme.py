"""The colours of pictures, and what becomes of matplotlib's SVG: small, fit for dark pages, read aloud by title. Pure.

Every colour here is drawn in its light form, which stands for it in the SVG that matplotlib writes; `themed` turns
styles into classes and gives those classes their dark form where the reader prefers that. An SVG in an ``<img>`` does
not know the page's style, so it carries its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

PAPER, INK, MUTED, LINE = "#ffffff", "#1c2127", "#59636e", "#d4d9de"
AFTER, BEFORE, BROKEN = "#0a62b4", "#a64e08", "#b01058"
SEEN, SEEN_MORE = "#faf1e4", "#f0d6b4"
EASY, MEDIUM, HARD, OTHER = "#a5cdea", "#4488c2", "#0c4478", "#b4bac1"

DARK = {
    PAPER: "#14181d",
    INK: "#e8ebee",
    MUTED: "#a7b0ba",
    LINE: "#3b434c",
    AFTER: "#6eb5ff",
    BEFORE: "#f2a65f",
    BROKEN: "#ff8cc0",
    SEEN: "#271f16",
    SEEN_MORE: "#4a3822",
    EASY: "#c8e4f8",
    MEDIUM: "#6ba9dc",
    HARD: "#3476b4",
    OTHER: "#7b848e",
}
"""The dark form of each colour. The light forms differ from each other, since each stands for itself in the SVG."""

TAG = "live-"
"""What the ids begin with that stay in a picture: groups of marks that a program or a test may look for."""

FONTS = 'system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif'
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d*\.\d+(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_GEOMETRY = ("d", "x", "y", "width", "height", "transform")


def themed(svg: bytes, title: str, description: str) -> bytes:
    """matplotlib's SVG with a title, a description, colours for light and dark, and nothing that is not needed.

    Lengths are rounded to a tenth of a pixel (in definitions of marks to a hundredth). Ids stay where something refers
    to them or they begin with ``TAG``. Title and description must be text that XML can hold.
    """
    from lxml import etree  # type: ignore[import-untyped]

    root = etree.fromstring(svg)
    _strip(root)
    _shorten(root)
    rules = _classes(root)
    _unwrap(root, set(_REFERENCE.findall(" ".join(rules.values()))))
    named = etree.Element(f"{_SVG}title", id="title")
    described = etree.Element(f"{_SVG}desc", id="desc")
    style = etree.Element(f"{_SVG}style")
    named.text, described.text, style.text = title, description, "".join(_sheet(rules))
    for place, child in enumerate((named, described, style)):
        root.insert(place, child)
    width, height = root.get("viewBox", "").split()[2:]
    root.set("width", width)
    root.set("height", height)
    root.set("role", "img")
    root.set("aria-labelledby", "title desc")
    etree.cleanup_namespaces(root)
    body: bytes = etree.tostring(root, encoding="utf-8")
    return body + b"\n"


def _strip(root: _Element) -> None:
    """Drop metadata, the style of its own, comments, and white space between elements."""
    for one in list(root.iter()):
        if not isinstance(one.tag, str) or one.tag in {f"{_SVG}metadata", f"{_SVG}style"}:
            parent = one.getparent()
            if parent is not None:
                parent.remove(one)
            continue
        one.tail = None
        if one.tag not in {f"{_SVG}text", f"{_SVG}tspan"}:
            one.text = None


def _shorten(root: _Element) -> None:
    """Round lengths, write paths closely, and refer as SVG 2 does."""
    for one in root.iter():
        digits = 2 if any(True for _ in one.iterancestors(f"{_SVG}defs")) else 1
        for name in _GEOMETRY:
            if name in one.attrib:
                one.set(name, _rounded(one.attrib[name], digits))
        if "d" in one.attrib:
            one.set("d", re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(one.attrib["d"].split())))
        if one.get("transform", "").startswith("rotate(-0 "):
            del one.attrib["transform"]
        if _HREF in one.attrib:
            one.set("href", one.attrib.pop(_HREF))


def _rounded(text: str, digits: int) -> str:
    return _NUMBER.sub(lambda match: f"{round(float(match[0]), digits) + 0.0:g}", text)


def _classes(root: _Element) -> dict[str, str]:
    """Put a class in the place of each style; the styles by class. Marks keep only what their definition lacks."""
    rules: dict[str, str] = {}
    defined = {one.get("id"): one.get("style") for one in root.iter(f"{_SVG}path") if one.get("id")}
    for one in root.iter():
        style = one.attrib.pop("style", None) or _hatched(one)
        if style is None or (one.tag == f"{_SVG}use" and style == defined.get(one.get("href", "")[1:])):
            continue
        wanted = _plain_style(style)
        if wanted:
            one.set("class", rules.setdefault(wanted, f"s{len(rules)}"))
    return {name: style for style, name in rules.items()}


def _hatched(one: _Element) -> str | None:
    """The ground of hatching, whose colour is no style as matplotlib writes it."""
    colour = one.attrib.pop("fill", None) if one.tag == f"{_SVG}rect" else None
    return None if colour is None else f"fill: {colour}"


def _plain_style(style: str) -> str:
    """A style without fonts' names, which are the same for all text, and without white space."""
    kept = []
    for part in style.split(";"):
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name == "font":
            value = value.split("'")[0].strip() + " sans-serif"
        if name and name != "font-family":
            kept.append(f"{name}:{value}")
    return ";".join(kept)


def _sheet(rules: dict[str, str]) -> Iterator[str]:
    """The style sheet of the picture."""
    yield "*{stroke-linejoin:round}"
    yield f"text{{font-family:{FONTS}!important;white-space:pre}}"
    yield from (f".{name}{{{style}}}" for name, style in rules.items())
    yield "@media(prefers-color-scheme:dark){"
    for name, style in rules.items():
        dark = [
            f"{part.partition(':')[0]}:{DARK[part.partition(':')[2]]}" for part in style.split(";") if _has_dark(part)
        ]
        if dark:
            yield f".{name}{{{';'.join(dark)}}}"
    yield "}"


def _has_dark(part: str) -> bool:
    return part.partition(":")[2] in DARK


def _unwrap(root: _Element, used: set[str]) -> None:
    """Drop ids that nothing refers to (``used`` are those of styles), and groups that say nothing but a tag of one."""
    used = used | {one.get("href", "")[1:] for one in root.iter()}
    for one in list(root.iter()):
        name = one.get("id")
        if name is not None and not name.startswith(TAG) and name not in used:
            del one.attrib["id"]
    for one in list(root.iter(f"{_SVG}g")):
        parent = one.getparent()
        if parent is None:
            continue
        if set(one.attrib) == {"id"} and len(one) == 1 and "id" not in one[0].attrib:
            one[0].set("id", one.attrib.pop("id"))
        if not one.attrib:
            place = parent.index(one)
            parent[place : place + 1] = list(one)
    for one in list(root.iter(f"{_SVG}defs")):
        parent = one.getparent()
        if parent is not None and not len(one):
            parent.remove(one)
