"""The formats that files come in and go out in: forms, commands, API and addresses take their choices from here, and
what a file seems to be is told by them alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from core.language import gettext_noop
from core.wording import counted


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file that somebody may bring; commands, forms and the audit log call it by `key`.

    `title` is what such files hold, `so_many` says a number of them, `becomes` what is made of it. It is told by its
    fields: a file is of this format if it has all of one set of `recognised_by` and none of `not_with`, as columns of a
    spreadsheet where `in_sheet`, else as keys of its first JSON object. `page` is the name of the address that takes
    it, with what it needs beside the project; empty for the page *Import*.
    """

    key: str
    title: str
    so_many: Callable[[int], str]
    becomes: str
    recognised_by: tuple[frozenset[str], ...] = ()
    not_with: frozenset[str] = frozenset()
    in_sheet: bool = False
    page: str = ""
    page_needs: tuple[str, ...] = ()

    def fits(self, fields: Collection[str], *, in_sheet: bool) -> bool:
        """Return whether a file with these fields seems to be of this format."""
        names = set(fields)
        return (
            in_sheet == self.in_sheet
            and not names & self.not_with
            and any(required <= names for required in self.recognised_by)
        )


@dataclass(frozen=True, slots=True)
class CorpusFormat(FileFormat):
    """Files that stories are imported from.

    Where records are `numbered`, a number is one story of a project. Where they are not, a story is known by its file's
    name and its text, and of the lines that hold one text the first counts. Rows of a spreadsheet are of either kind.
    """

    suffixes: tuple[str, ...] = (".jsonl",)
    numbered: bool = False


RECORDS = CorpusFormat(
    "omnitom",
    gettext_noop("OmniToM records"),
    lambda count: counted(count, "record"),
    gettext_noop("stories of this project with their belief tables"),
    recognised_by=(frozenset({"story_id", "story", "beliefs"}),),
    numbered=True,
)
QUESTIONS = CorpusFormat(
    "tombench",
    gettext_noop("ToMBench items"),
    lambda count: counted(count, "item"),
    gettext_noop("stories of this project"),
    recognised_by=(frozenset({"STORY", "QUESTION"}), frozenset({"故事", "问题"})),
)
STORIES = CorpusFormat(
    "stories",
    gettext_noop("Stories in a spreadsheet"),
    lambda count: counted(count, "row"),
    gettext_noop("stories of this project"),
    recognised_by=(frozenset({"story"}), frozenset({"text"})),
    not_with=frozenset({"actor", "belief", "proposition", "label", "question"}),
    in_sheet=True,
    suffixes=(".csv", ".tsv", ".xlsx"),
)
CORPUS_FORMATS: Mapping[str, CorpusFormat] = {
    file_format.key: file_format for file_format in (RECORDS, QUESTIONS, STORIES)
}
TABLES = FileFormat(
    "tables",
    gettext_noop("Propositions in a spreadsheet"),
    lambda count: counted(count, "row"),
    gettext_noop("belief tables of stories that are here"),
    recognised_by=(frozenset({"actor", "belief"}), frozenset({"actor", "proposition"})),
    not_with=frozenset({"dimension"}),
    in_sheet=True,
)
LABELS = FileFormat(
    "votes",
    gettext_noop("Votes in a spreadsheet"),
    lambda count: counted(count, "row"),
    gettext_noop("votes on the propositions of stories that are here"),
    recognised_by=(frozenset({"dimension", "annotator", "label"}),),
    in_sheet=True,
)
IMPORTED: Mapping[str, FileFormat] = {**CORPUS_FORMATS, TABLES.key: TABLES, LABELS.key: LABELS}
"""Formats that the page *Import* takes."""
WHAT_IT_SEEMS = "auto"
"""Chosen in the place of a format: the one that a file seems to be of."""

_elsewhere: dict[str, FileFormat] = {}


def register_format(file_format: FileFormat) -> None:
    """Register a format that a page of another app takes, as apps do when they are ready."""
    _elsewhere[file_format.key] = file_format


def formats_of(fields: Collection[str], *, in_sheet: bool) -> list[FileFormat]:
    """Return the formats that a file with these fields seems to be of, those of the page *Import* first."""
    every_format = (*IMPORTED.values(), *_elsewhere.values())
    return [file_format for file_format in every_format if file_format.fits(fields, in_sheet=in_sheet)]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A file that gold leaves in; commands and addresses call it by `key`. A download's name is that of its project and
    `ending`."""

    key: str
    ending: str
    media_type: str

    def file_name(self, project: str) -> str:
        return f"{project}-{self.ending}"


GOLD = ExportFormat(RECORDS.key, "gold.jsonl", "application/jsonlines")
VOTES = ExportFormat("long-csv", "votes.csv", "text/csv")
DATA_SET = ExportFormat("croissant", "croissant.zip", "application/zip")
"""A folder with a description: the command writes it, a page packs it."""
EXPORT_FORMATS: Mapping[str, ExportFormat] = {file_format.key: file_format for file_format in (GOLD, VOTES, DATA_SET)}
STREAMED: Mapping[str, ExportFormat] = {file_format.key: file_format for file_format in (GOLD, VOTES)}
"""Export formats that are lines of text."""
