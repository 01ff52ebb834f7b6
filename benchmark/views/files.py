"""The formats of tables and plots, with the addresses that give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Address = Callable[[str, str, str], str]
"""(kind "table" or "plot", name, suffix) → the address of the file."""
SUFFIXES = {"table": ("csv", "json", "tex"), "plot": ("svg", "pdf", "png")}
NAMES = {"csv": "CSV", "json": "JSON", "tex": "LaTeX", "svg": "SVG", "pdf": "PDF", "png": "PNG"}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of a table or plot; `column` is the address of a plot as wide as a column of a paper, empty of tables."""

    href: str
    label: str
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlot:
    """Context of _picture.html: `join` is what stands between `svg` and a further parameter, `lead` what is to be read
    first; one that is `alone` in its part of a page has no heading."""

    title: str
    svg: str
    files: Sequence[PageFile]
    name: str = ""
    alone: bool = False
    lead: Sequence[str] = ()

    @property
    def join(self) -> str:
        return joined_by(self.svg)


def joined_by(address: str) -> str:
    return "&" if "?" in address else "?"


def files_of(kind: str, name: str, address: Address) -> list[PageFile]:
    return [_file(kind, address(kind, name, suffix), suffix) for suffix in SUFFIXES[kind]]


def _file(kind: str, href: str, suffix: str) -> PageFile:
    return PageFile(href, NAMES[suffix], f"{href}{joined_by(href)}width=column" if kind == "plot" else "")


def plot_of(name: str, title: str, address: Address, *, alone: bool = False, lead: Sequence[str] = ()) -> PagePlot:
    svg, files = address("plot", name, "svg"), files_of("plot", name, address)
    return PagePlot(name=name, title=title, svg=svg, files=files, alone=alone, lead=lead)
