"""Tables and plots of results as files: the ending of the file's name says the format."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from annotation.management.commands._output import file_output
from benchmark.domain.tables import Table
from benchmark.services.downloads import WRITERS, table_file
from benchmark.services.plot_data import WIDTHS, Picture

PICTURES = ("svg", "pdf", "png")

Tables = Mapping[str, Callable[[], Table]]
Plots = Mapping[str, Picture]


def content_of(
    output: str, name: str | None, tables: Tables | None, plots: Plots | None, *, width: str | None = None
) -> bytes:
    """Return the table or plot `name` in the format of `output`, in a `width` if it is a plot. Raises ValueError."""
    suffix = PurePath(output).suffix.removeprefix(".")
    if width and suffix not in PICTURES:
        raise ValueError(f"--width is for plots ({', '.join(PICTURES)}), not for a .{suffix} file.")
    if tables is not None and suffix in WRITERS:
        return table_file(_named(tables, name, "table")(), suffix, name or "")
    if plots is not None and suffix in PICTURES:
        return _named(plots, name, "plot").draw(format=suffix, theme="light", width=width or "page")
    suffixes = (*(WRITERS if tables is not None else ()), *(PICTURES if plots is not None else ()))
    raise ValueError(f"--output ends in {suffix or 'nothing'!r}; expected one of {', '.join(suffixes)}.")


def add_width(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--width", choices=WIDTHS, help="of a plot: a column of a paper (3.0 in), or its text (6.3 in), if not given"
    )


def check_output(options: Mapping[str, Any]) -> None:
    """Raise ValueError for a name or a width of something that is not to be written."""
    for option in ("name", "width"):
        if options[option] and not options["output"]:
            raise ValueError(f"--{option} says what to write: say where, too, with --output PATH.")


def _named(contents: Mapping[str, Any], name: str | None, what: str) -> Any:
    if name is None or name not in contents:
        wrong = f"There is no {what} {name!r}" if name else f"Name the {what} with --name"
        raise ValueError(f"{wrong}; there are: {', '.join(contents) or 'none'}.")
    return contents[name]


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a command wrote, and its size."""

    path: str
    bytes: int


def written(output: str, data: bytes) -> WrittenFile:
    """Write the file and return what a command says of it."""
    with file_output(output, mode="wb") as handle:
        return WrittenFile(output, handle.write(data))
