"""The judge of extractions: what makes it what it is, its self-test, and what it is asked once more."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.suites.contract import Question, Sample
from benchmark.suites.judged import FollowUp, Judge, JudgeTest, Pairs, Settings
from benchmark.suites.omnitom.parsing.extraction import PredictedRow
from benchmark.suites.omnitom.parsing.judgement import parse_counts
from benchmark.suites.omnitom.prompting.choosing import CALIBRATION_SPLIT, wanted_by
from benchmark.suites.omnitom.prompting.follow_up import DIGEST
from benchmark.suites.omnitom.records import GoldRow, record_of_sample
from benchmark.suites.omnitom.steps import FOLLOW_UP, JUDGE, STRUCTURED, judge_request
from benchmark.suites.reasons import JUDGE_NOT_STRUCTURED, NOT_WHOLE, REFUSED
from core.plain import Json
from judge.domain.contrast import Row
from workers.providers.contract import Request


def instrument(settings: Settings) -> Json:
    """Return the settings that a judge goes by, none of one that reads no prompt. The longest answer and the seed are
    no part of it: a longer answer loses fewer rows, and another seed is a repetition."""
    if not settings["judge_reads_prompts"]:
        return {}
    chosen = {name: settings.get(name) for name in ("judge_level", "with_story")}
    if shots := wanted_by(settings, JUDGE):
        chosen |= {"shots": shots, "examples_from": settings.get("examples_from")}
    return chosen


def _rows(sample: Sample) -> Sequence[Row]:
    return [(belief["actor"], belief["belief"]) for belief in sample.gold["beliefs"]]


def _request(question: Question, pairs: Pairs) -> Request:
    """The made rows as predictions, the rows that they were made of, in the order of the story, as gold."""
    return judge_request(question, [(pair["actor"], pair["belief"]) for pair in pairs], _gold(question.sample, pairs))


def _counts(question: Question, pairs: Pairs, answer: str) -> list[int | None]:
    predicted = [PredictedRow(pair["actor"], pair["belief"], "") for pair in pairs]
    structured = question.settings["form"] == STRUCTURED
    return parse_counts(answer, predicted, _gold(question.sample, pairs), structured=structured)[0]


def _gold(sample: Sample, pairs: Pairs) -> list[GoldRow]:
    rows = record_of_sample(sample).rows
    return [rows[at] for at in sorted(pair["gold"] for pair in pairs)]


def _examples(settings: Settings) -> tuple[int, ...]:
    return tuple(settings.get("example_stories", ()))


JUDGED = Judge(
    instrument=instrument,
    test=JudgeTest(
        rows=_rows,
        request=_request,
        counts=_counts,
        spared=CALIBRATION_SPLIT,
        examples=_examples,
        settings=(
            "judge_level", "with_story", "max_tokens", "seed", "shots", "examples", "examples_from", "example_stories",
        ),
    ),
    follow_up=FollowUp(
        step=FOLLOW_UP, wording=DIGEST, characters_a_row=90, hopeless=(REFUSED, JUDGE_NOT_STRUCTURED, NOT_WHOLE)
    ),
)  # fmt: skip
