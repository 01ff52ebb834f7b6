"""Tables and plots of results as files: the ending of the file's name says the format."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from benchmark.domain.drawn import MEDIA_TYPES
from benchmark.domain.tables import Table
from benchmark.services.downloads import WRITERS, table_file
from benchmark.services.plot_data import WIDTHS, Picture

Tables = Mapping[str, Callable[[], Table]]
Plots = Mapping[str, Picture]


def content_of(output: str, name: str | None, tables: Tables, plots: Plots, *, width: str | None = None) -> bytes:
    """Return the table or plot `name` in the format of `output`, in a `width` if it is a plot. Raises ValueError."""
    suffix = PurePath(output).suffix.removeprefix(".")
    if width and suffix not in MEDIA_TYPES:
        raise ValueError(f"--width is for plots ({', '.join(MEDIA_TYPES)}), not for a .{suffix} file.")
    if tables and suffix in WRITERS:
        return table_file(named_in(tables, name, "table")(), suffix, name or "")
    if plots and suffix in MEDIA_TYPES:
        return named_in(plots, name, "plot").draw(format=suffix, theme="light", width=width or "page")
    expected = ", ".join([*(WRITERS if tables else ()), *(MEDIA_TYPES if plots else ())])
    raise ValueError(f"--output ends in {suffix or 'nothing'!r}; expected one of {expected or 'none'}.")


def add_width(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--width", choices=WIDTHS, help="of a plot: a column of a paper (3.0 in), or its text (6.3 in), if not given"
    )


def named_in(contents: Mapping[str, Any], name: str | None, what: str) -> Any:
    """Return the table or plot of that name. Raises ValueError."""
    if name is None or name not in contents:
        wrong = f"There is no {what} {name!r}" if name else f"Name the {what}"
        raise ValueError(f"{wrong}; there are: {', '.join(contents) or 'none'}.")
    return contents[name]
