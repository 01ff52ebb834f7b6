"""Matplotlib's SVG made fit for a page with a strict Content-Security-Policy, and readable by a screen reader."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from benchmark.domain.plots.theme import STACK
from core.digests import text_digest

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_REFERENCE = re.compile(r"#([A-Za-z][\w-]*)")
_LONG = re.compile(r"-?\d+\.\d{3,}")
"""Hundredths of a point are fine enough for any screen."""
_LEFT_OUT = {"font-family"}

ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", _XLINK)


def for_the_web(data: bytes, title: str, description: str) -> bytes:
    """Return the same drawing with attributes in the place of style rules, a title, a description and the page's fonts.

    Nothing outside the file is referred to, and only ids that something refers to are kept.
    """
    root = ElementTree.fromstring(data)
    for parent in root.iter():
        for child in [element for element in parent if element.tag in {f"{{{_SVG}}}style", f"{{{_SVG}}}metadata"}]:
            parent.remove(child)
    used: set[str] = set()
    for element in root.iter():
        _plain(element)
        used.update(name for key, value in element.attrib.items() if key != "id" for name in _REFERENCE.findall(value))
    for element in root.iter():
        _hoist(element)
        if element.get("id") not in used:
            element.attrib.pop("id", None)
    _named(root, title, description)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _shorter(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")


def _plain(element: ElementTree.Element) -> None:
    for rule in filter(None, map(str.strip, element.attrib.pop("style", "").split(";"))):
        name, _, value = rule.partition(":")
        if name.strip() not in _LEFT_OUT:
            element.set(name.strip(), value.strip())
    for name in ("d", "x", "y"):
        if name in element.attrib:
            element.set(name, _LONG.sub(_shorter, element.attrib[name]))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]


def _hoist(group: ElementTree.Element) -> None:
    """State once what all marks of a group have in common: a scatter plot shrinks to a third."""
    marks = list(group)
    if len(marks) < 2 or any(mark.tag != f"{{{_SVG}}}use" for mark in marks):
        return
    common = {name: value for name, value in marks[0].items() if name not in {"x", "y"} and not name.startswith("{")}
    for name, value in common.items():
        if name not in group.attrib and all(mark.get(name) == value for mark in marks):
            group.set(name, value)
            for mark in marks:
                del mark.attrib[name]


def _named(root: ElementTree.Element, title: str, description: str) -> None:
    mark = text_digest(f"{title}\n{description}")[:12]
    root.attrib |= {"role": "img", "aria-labelledby": f"t{mark} d{mark}", "font-family": STACK}
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    for at, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{tag[0]}{mark}"})
        element.text = text
        root.insert(at, element)
