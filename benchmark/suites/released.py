"""The released code of a benchmark and its answers: how it parses them, and the files that it reads and leaves
behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmark.suites.asked import Sample
from benchmark.suites.settings import Settings

File = tuple[str, bytes]
"""(path in a folder, content)."""
Row = tuple[str, ...]
Tables = Mapping[str, Sequence[Row]]
"""Rows that were given beside a text, by the name of their option."""


@dataclass(frozen=True, slots=True)
class Parser:
    """The official parse of one kind of answer, for `parse_outputs`.

    `parse(text, tables)` is plain data for JSON; raises ValueError with one sentence. `options` name the tables that
    may be given beside the text and say what each is; their rows have the cells `columns`, and further ones that are
    left out.
    """

    parse: Callable[[str, Tables], Mapping[str, Any]]
    options: Mapping[str, str] = field(default_factory=dict)
    columns: Row = ()


class Exchange(NamedTuple):
    """One call: what was sent and what came back."""

    system: str
    user: str
    output: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A model as it was asked. `provider` is empty for one that is gone, `hosted` says whether it is paid by the token;
    one that `reads_prompts` was sent text, with a temperature where it `sets_temperature`."""

    model: str
    provider: str
    hosted: bool
    reads_prompts: bool
    sets_temperature: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """The questions to one model of a run and its answers; of a run that asked everything several times, the first.

    `answers` are the raw answers by sample key and step, `exchanges(samples)` whole calls of some of the samples in the
    same way: those of all fill the memory. `steps` are those at which something was asked. `dataset` is what the
    published version would be called as a file, `dataset_lines()` its content, a record a line. `examples` is the
    largest number of examples in a prompt of each step, `judge` the judge's model, None without one.
    """

    asked: Asked
    samples: Sequence[Sample]
    steps: frozenset[str]
    answers: Mapping[str, Mapping[str, str]]
    exchanges: Callable[[Sequence[Sample]], Mapping[str, Mapping[str, Exchange]]]
    settings: Settings
    examples: Mapping[str, int]
    judge: str | None
    dataset: str
    dataset_lines: Callable[[], bytes]


Files = Iterable[File]
