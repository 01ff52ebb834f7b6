"""Questions of a judge's self-test: pairs made of gold by rule, asked and read as the run's suite does it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from benchmark.models import DatasetSample, JudgeTest, JudgeTestItem, Run
from benchmark.services.asking import question_of, sample_of, settings_of
from benchmark.suites import judges
from benchmark.suites.judges import AskedPair, Pairs
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from core.plain import read_as
from judge.domain.contrast import Pair, Row, contrast_calls
from workers.providers.contract import Request

SEED = 1
Calls = list[tuple[DatasetSample, list[AskedPair]]]
"""(sample, its pairs) of each call."""


def test_of(suite: str) -> judges.JudgeTest | None:
    """Return how the judge of a suite is tested, None where there is no judge or no test."""
    judge = suite_named(suite).judge
    return judge.test if judge else None


def calls_of(run: Run) -> Calls:
    """Return what the run's judge is tested with: samples of the whole version, but for those that serve prompts as
    examples. Empty without a test."""
    test = test_of(run.suite)
    if test is None:
        return []
    return _calls(run.suite, run.dataset.pk, run.dataset.digest, test.examples(settings_of(run)))


@lru_cache(8)
def _calls(suite: str, dataset: int, digest: str, examples: tuple[int, ...]) -> Calls:
    """Return the calls of a dataset's test, kept by its digest too, as another database's dataset may have the same
    id."""
    test = test_of(suite)
    if test is None:
        return []
    candidates = DatasetSample.objects.filter(dataset=dataset).exclude(number__in=examples)
    candidates = candidates.exclude(split=test.spared) if test.spared else candidates
    samples = {sample.number: sample for sample in candidates.defer("votes", "methods", "adjudications")}
    rows = {number: list(test.rows(sample_of(sample))) for number, sample in samples.items()}
    unlike = {number: list(test.unlike(sample_of(sample))) for number, sample in samples.items()} if test.unlike else {}
    calls = contrast_calls(rows, most=test.most_calls, least=test.least_pairs, seed=SEED, unlike=unlike)
    return [(samples[number], [_asked(pair, rows[number]) for pair in pairs]) for number, pairs in calls.items()]


def _asked(pair: Pair, rows: Sequence[Row]) -> AskedPair:
    actor, belief = pair.prediction
    return AskedPair(pair.kind.value, actor, belief, rows.index(pair.gold))


def pairs_of(item: JudgeTestItem) -> list[AskedPair]:
    """Return the pairs that a call is about."""
    return [read_as(AskedPair, pair) for pair in item.pairs]


def request_of(sample: DatasetSample, pairs: Pairs, run: Run) -> Request:
    """The call about the pairs of a sample, of a run whose suite tests its judge."""
    return _described(run).request(_question(sample, run), pairs)


def counts_of(item: JudgeTestItem, answer: str) -> list[int | None]:
    """Return how many gold rows the judge matched with each made row, None where the answer gives none."""
    run = draft_run(item.test)
    return _described(run).counts(_question(item.sample, run), pairs_of(item), answer)


def draft_run(test: JudgeTest) -> Run:
    """The run that asks as the test's judge is asked; it is not saved."""
    return Run(
        project=test.project, dataset=test.dataset, answer_format=test.answer_format, level=test.params["level"],
        prompt_set=test.prompt_set, judge=test.judge, params=test.params, suite=test.suite,
    )  # fmt: skip


def _question(sample: DatasetSample, run: Run) -> Question:
    step = suite_named(run.suite).judging
    return question_of(run, sample, step.key if step else "")


def _described(run: Run) -> judges.JudgeTest:
    test = test_of(run.suite)
    if test is None:
        raise ValueError(f"The judge of {run.suite} has no self-test.")
    return test
