"""Files of answers that were made elsewhere."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmark.domain.parameters import Options
from benchmark.suites.questions import Sample
from benchmark.suites.settings import Setting, Settings
from core.incoming.text import NotJson, json_of
from core.plain import Json, plain


@dataclass(frozen=True, slots=True)
class Answered:
    """The question of an answer: the samples of these `keys`, which are several where one call is about a story, in a
    `repetition` from 0, at a `step`, empty where that is the one that is answered otherwise."""

    keys: tuple[str, ...]
    step: str = ""
    repetition: int = 0


@dataclass(frozen=True, slots=True)
class AnswerIds:
    """The names in the answers file that a suite scores, where those names are not the keys of samples.

    `named(samples, answers, **options)` says of what each id is that such a file may have; `samples` are all of a
    dataset, `answers` what the file has by id, and `options` the choices of `options`. What it does not name is taken
    for the key of a sample. Answers that it names are read by `settings` of the suite. It raises BadAnswers, whose
    sentence goes on from the name of the file, where it cannot be told what these ids are of.
    """

    named: Callable[..., Mapping[str, Answered]]
    options: tuple[Setting, ...] = ()
    settings: Options = field(default_factory=dict)


def answer_scores(answers: Mapping[str, object], metrics: object) -> Json:
    """Return the scores of a file of answers in one parse: `answers` by id as they were read, and `metrics` by name."""
    return {"answers": dict(answers), "metrics": metrics}


@dataclass(frozen=True, slots=True)
class ParsedScores:
    """The scores of a file of answers in both parses, as `score_outputs` prints them once they are plain."""

    official: object
    repaired: object

    def as_json(self) -> Json:
        return {"official": plain(self.official), "repaired": plain(self.repaired)}


class BadAnswers(ValueError):
    """The fault in a file of answers, as one sentence."""


def read_answers(path: Path) -> Json:
    """The JSON object of a file of answers. Raises BadAnswers."""
    try:
        answers = json_of(path.read_bytes())
    except NotJson as error:
        raise BadAnswers(error.message_for(str(path))) from error
    if not isinstance(answers, dict) or not answers:
        raise BadAnswers(f"{path} holds no answers; expected one JSON object that is not empty.")
    return answers


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
