"""The formats that files come in and go out in: forms, commands, API and addresses take their choices from here, and
what a file seems to be is told by them alone."""

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from annotation.domain import votes_csv
from annotation.domain.columns import key_of
from annotation.domain.records import RECORD_FIELDS
from annotation.domain.schema import WORLD, Schema
from core.messages import gettext_noop
from core.wording import counted


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file that somebody may bring; commands, forms and the audit log call it by `key`.

    `title` is what such files hold, `so_many` says a number of them, `becomes` what is made of it. It is told by its
    fields: a file is of this format if it has all of one set of `recognised_by` and none of `not_with`, as columns of a
    spreadsheet if `in_sheet`, as fields of its first object of JSON if `in_json`. Names of fields are compared by
    `columns.key_of` unless `exact`. `needs` are the fields that an importer needs, if they are more than those that
    tell the format. `suffixes` are those of files in a folder of stories: a story
    with a number is the one of that number in its project; one without is known by its file's name and its text, and
    the first of several with one text counts.
    """

    key: str
    title: str
    so_many: Callable[[int], str]
    becomes: str
    recognised_by: tuple[frozenset[str], ...] = ()
    not_with: frozenset[str] = frozenset()
    in_sheet: bool = False
    in_json: bool = True
    exact: bool = False
    needs: frozenset[str] = frozenset()
    suffixes: tuple[str, ...] = (".jsonl", ".json")

    def fits(self, fields: Collection[str], *, in_sheet: bool) -> bool:
        """Return whether a file with these fields seems to be of this format."""
        names = self._keys(fields)
        return (
            (self.in_sheet if in_sheet else self.in_json)
            and not names & self._keys(self.not_with)
            and any(self._keys(required) <= names for required in self.recognised_by)
        )

    @property
    def needed(self) -> frozenset[str]:
        """The fields that an importer needs, as a refusal names them."""
        return self.needs or self.recognised_by[0]

    def _keys(self, fields: Collection[str]) -> set[str]:
        return set(fields) if self.exact else set(map(key_of, fields))


RECORDS = FileFormat(
    "omnitom",
    gettext_noop("OmniToM records"),
    lambda count: counted(count, "record"),
    gettext_noop("stories of this project with their belief tables"),
    recognised_by=(frozenset({"story_id", "story", "beliefs"}),),
    needs=frozenset(RECORD_FIELDS),
    exact=True,
)
QUESTIONS = FileFormat(
    "tombench",
    gettext_noop("ToMBench items"),
    lambda count: counted(count, "item"),
    gettext_noop("stories of this project"),
    recognised_by=(frozenset({"STORY", "QUESTION"}), frozenset({"故事", "问题"})),
    exact=True,
)
STORIES = FileFormat(
    "stories",
    gettext_noop("Stories in a spreadsheet or JSON"),
    lambda count: counted(count, "story", "stories"),
    gettext_noop("stories of this project"),
    recognised_by=(frozenset({"story"}), frozenset({"text"})),
    not_with=frozenset({"actor", "belief", "beliefs", "proposition", "dimension"}),
    in_sheet=True,
    suffixes=(".csv", ".tsv", ".xlsx", ".jsonl", ".json"),
)
CORPUS_FORMATS: Mapping[str, FileFormat] = {
    file_format.key: file_format for file_format in (RECORDS, QUESTIONS, STORIES)
}
TABLES = FileFormat(
    "tables",
    gettext_noop("Propositions in a spreadsheet"),
    lambda count: counted(count, "row"),
    gettext_noop("belief tables of stories that are here"),
    recognised_by=(frozenset({"actor", "belief"}), frozenset({"actor", "proposition"})),
    not_with=frozenset({"dimension", "annotator"}),
    in_sheet=True,
    in_json=False,
    needs=frozenset({"story_id", "actor", "belief"}),
)
LABELS = FileFormat(
    "votes",
    gettext_noop("Votes in a spreadsheet"),
    lambda count: counted(count, "row"),
    gettext_noop("votes on the propositions of stories that are here"),
    recognised_by=(frozenset({"dimension", "annotator", "label"}),),
    in_sheet=True,
    in_json=False,
    needs=frozenset(votes_csv.REQUIRED),
)
IMPORTED: Mapping[str, FileFormat] = {**CORPUS_FORMATS, TABLES.key: TABLES, LABELS.key: LABELS}
"""Formats that the page *Import* takes."""
WHAT_IT_SEEMS = "auto"
"""Chosen in the place of a format: the one that a file seems to be of."""


def formats_of(fields: Collection[str], *, in_sheet: bool) -> list[FileFormat]:
    """Return the formats that a file with these fields seems to be of. A file that holds more than stories is of the
    format of the more."""
    fitting = [file_format for file_format in IMPORTED.values() if file_format.fits(fields, in_sheet=in_sheet)]
    return [file_format for file_format in fitting if file_format is not STORIES] or fitting


def is_story(names: Collection[str]) -> bool:
    """Return whether an object with fields of these names is the record of a story."""
    return any(key_of(name) in _STORY_KEYS for name in names)


_STORY_KEYS = frozenset({"story", "text", "故事"})


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


_KEY = "Ines puts the key in the drawer and leaves. Omar moves the key to the shelf."
_CAKE = "Tobias bakes a cake. Nora says that she likes it, and eats nothing."
_BELIEFS = (
    (WORLD, "The key is on the shelf", "0"),
    ("Ines", "The key is in the drawer", "1"),
    ("Omar", "Ines thinks that the key is in the drawer", "2"),
)


def example_name(chosen: FileFormat) -> str:
    """Return the name of a format's example file."""
    return f"example-{chosen.key}{'.csv' if chosen.in_sheet else '.jsonl'}"


def example(chosen: FileFormat, *, schema: Schema, annotator: str) -> str:
    """Return the text of a format's example file for a project of this schema, its votes by `annotator`.

    The tables and the votes are of the first story of the spreadsheet of stories, so that the three can be tried one
    after the other in an empty project.
    """
    dimension = schema.dimensions[0]
    labels = {each.key: each.values[0] for each in schema.dimensions}
    record = {
        "story_id": 2, "story_category": "Polite words", "story": _CAKE,
        "beliefs": [
            {"actor": WORLD, "belief": "Tobias bakes a cake", "labels": labels},
            {"actor": "Nora", "belief": "The cake has not come off well", "labels": labels},
        ],
    }  # fmt: skip
    votes = [(1, actor, belief, dimension.key, annotator, dimension.values[0]) for actor, belief, _ in _BELIEFS]
    return {
        RECORDS.key: _line(record),
        QUESTIONS.key: _line({"STORY": _KEY, "QUESTION": "Where will Ines look for the key?"}),
        STORIES.key: _sheet(("story_id", "category", "story"), [(1, "Moved things", _KEY), (2, "Polite words", _CAKE)]),
        TABLES.key: _sheet(("story_id", "actor", "belief", "order"), [(1, *row) for row in _BELIEFS]),
        LABELS.key: _sheet(("story_id", "actor", "belief", "dimension", "annotator", "label"), votes),
    }[chosen.key]


def _line(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _sheet(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
