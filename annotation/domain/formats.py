"""The formats that stories come in and gold goes out in: forms, commands, API and addresses take their choices from
here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """Files that stories are imported from; commands, forms and the audit log call it by `key`.

    Where records are `numbered`, a number is one story of a project. Where they are not, a story is known by its file's
    name and its text, and of the lines that hold one text the first counts.
    """

    key: str
    title: str
    suffix: str
    numbered: bool


RECORDS = CorpusFormat("omnitom", "OmniToM records", ".jsonl", numbered=True)
QUESTIONS = CorpusFormat("tombench", "ToMBench items", ".jsonl", numbered=False)
CORPUS_FORMATS: Mapping[str, CorpusFormat] = {file_format.key: file_format for file_format in (RECORDS, QUESTIONS)}


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
"""Those that are lines of text."""
