"""Files of answers that were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.domain.parameters import Options
from benchmark.suites.settings import Setting
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


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Scores of a file of answers in one parse: `answers` by id as they were read, and `metrics` by name."""

    answers: Mapping[str, object]
    metrics: object


@dataclass(frozen=True, slots=True)
class ParsedScores:
    """The scores of a file of answers in both parses: dataclasses whose fields are the keys of what score_outputs
    prints, or which say themselves how JSON has them."""

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
