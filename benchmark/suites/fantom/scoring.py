"""Answers made elsewhere, scored as the released code scores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.suites.answers import AnswerScores, BadAnswers, ParsedScores, read_answers
from benchmark.suites.fantom.analyses import analyses_of
from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom.outcomes import parsed_of, scored
from benchmark.suites.fantom.parses import parses_of
from benchmark.suites.fantom.released_metrics import Released, scenario_metrics
from benchmark.suites.fantom.samples import SHORT, samples_of
from benchmark.suites.fantom_questions.data import file_of, read_fantom
from benchmark.suites.fantom_questions.flattening import in_full
from benchmark.suites.fantom_questions.official import after_marker
from benchmark.suites.fantom_questions.outcomes import Scored
from benchmark.suites.fantom_questions.released import without_absent
from benchmark.suites.fantom_questions.rows import ACCESSIBLE, DISTANCE, INACCESSIBLE, QuestionSet
from benchmark.suites.fantom_questions.units import Read, wholes_of
from benchmark.suites.questions import Sample
from core.incoming.thoughts import without_thoughts
from core.plain import Json, plain

RUNS = (("short", "set"), ("full", "set"), ("short", "part"), ("full", "conversation"))
"""The conversation that the questions are about, and what must be right as a whole."""


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The metrics of a scenario under the released code's names, with what it says of the run."""

    conversation_input_type: str
    metrics: Released

    def as_json(self) -> Json:
        return {"model": "fake", "conversation_input_type": self.conversation_input_type, **plain(self.metrics)}


@dataclass(frozen=True, slots=True)
class ReleasedScenarios:
    """Metrics of false belief, and of the control."""

    fantom: RunMetrics
    control_task: RunMetrics


def score_answers(data: Path, answers: Path, *, embedder: str = "toy") -> ParsedScores:
    """Return both parses of answers `{"QUESTION_ID": "text"}`, ids as `Row.id` has them: official metrics of each of
    RUNS under `<conversation>/<group>/<embedder>`, repaired ones, as fractions, of sets in the short conversation. Only
    questions with an answer are scored, and in the repaired parse only sets all of whose questions have one. Raises
    ValueError."""
    copy = read_fantom(file_of(data))
    sets = copy.sets
    texts = read_answers(answers)
    rows = [row for question_set in sets.values() for row in question_set.rows]
    ids = {row.id for row in rows}
    for name, text in texts.items():
        if name not in ids:
            raise BadAnswers(f"{answers} answers {name[:60]!r}, which is not a question of {data.name}.")
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    rated = scored(rows, texts, embedder_named(embedder))
    metrics = {f"{mode}/{grouping}/{embedder}": _metrics(rated, sets, mode, grouping) for mode, grouping in RUNS}
    parsed = {row.row.id: {embedder: parsed_of(row)} if row.row.kind == DISTANCE else parsed_of(row) for row in rated}
    repaired = _repaired(list(samples_of(copy, SHORT)), texts, embedder)
    return ParsedScores(AnswerScores(parsed, metrics), repaired)


def _repaired(samples: Sequence[Sample], texts: Mapping[str, str], embedder: str) -> AnswerScores:
    reads = []
    for sample in samples:
        if sample.key in texts:
            answer = after_marker(without_thoughts(texts[sample.key]))
            parse = parses_of(sample, answer, embedder_named(embedder))[1]
            reads.append(Read(sample, 0, parse))
    analyses = analyses_of(reads, wholes_of(samples), "repaired", embedder, seed=1)
    scenarios = {
        scenario: {name: metric.value for name, metric in metrics.items()} | plain(analyses.reasons[scenario])
        for scenario, metrics in analyses.scenarios.items()
    }
    answers = {read.sample.key: read.parse for read in reads}
    return AnswerScores(answers, {f"short/set/{embedder}": scenarios | {"fact": analyses.fact.value}})


def _metrics(rated: Sequence[Scored], sets: Mapping[str, QuestionSet], mode: str, grouping: str) -> ReleasedScenarios:
    rows = without_absent(rated) if mode == "short" else _in_full(rated, sets)
    return ReleasedScenarios(
        RunMetrics(mode, scenario_metrics(rows, INACCESSIBLE, grouping)),
        RunMetrics(mode, scenario_metrics(rows, ACCESSIBLE, grouping)),
    )


def _in_full(rated: Sequence[Scored], sets: Mapping[str, QuestionSet]) -> list[Scored]:
    labelled = {row.id: row for question_set in sets.values() for row in in_full(question_set.rows)}
    return [replace(answer, row=labelled[answer.row.id]) for answer in rated]
