"""The choice of the in-context examples that a prompt shows: from the sample corpus or from calibration stories, never
a story that the run asks about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

from annotation.domain.sample_corpus import sample_records
from annotation.domain.schema import Schema
from benchmark.suites.omnitom.labels import scheme_of
from benchmark.suites.omnitom.prompting.examples import Example, examples_for
from benchmark.suites.omnitom.records import Record, record_of, record_of_sample
from benchmark.suites.omnitom.step_keys import JUDGE
from benchmark.suites.questions import Resources, Sample
from benchmark.suites.settings import Settings
from core.messages import gettext_noop

WITH_EXAMPLES = 4
"""The prompt level that has in-context examples."""
SAMPLE, CALIBRATION = "sample", "calibration"
SOURCES = {SAMPLE: gettext_noop("the sample corpus"), CALIBRATION: gettext_noop("calibration stories")}
CALIBRATION_SPLIT = "calibration"
"""The split of a project whose stories may serve as examples."""


def level_of(step: str, level: int, judge_level: int) -> int:
    return judge_level if step == JUDGE else level


def example_count(step: str, *, level: int, judge_level: int, shots: int, examples: int) -> int:
    """Return how many examples a prompt of the step is to have: none below level 4."""
    count = shots if step == JUDGE else examples
    return count if level_of(step, level, judge_level) == WITH_EXAMPLES else 0


def example_count_of(settings: Settings, step: str) -> int:
    """Return how many examples a prompt of a run with these settings is to have; none for a judge that reads no
    prompt."""
    if step == JUDGE and not settings.judge_reads_prompts:
        return 0
    chosen = {name: settings.options[name] for name in ("level", "judge_level", "shots", "examples")}
    return example_count(step, **chosen)


def examples_of(sample: Sample, step: str, settings: Settings, resources: Resources) -> tuple[Example, ...]:
    """Return what the prompt about the story shows: of the run's source, and of the other one where that has none for
    the category."""
    count = example_count_of(settings, step)
    return sourced_examples(sample, step, settings, resources, count)[1] if count else ()


def sourced_examples(
    sample: Sample, step: str, settings: Settings, resources: Resources, count: int
) -> tuple[str, tuple[Example, ...]]:
    """Return (the source that was used, its examples), both empty where neither has any."""
    chosen = settings.options["examples_from"]
    for source in (chosen, *(source for source in SOURCES if source != chosen)):
        pool = sample_corpus()
        if source == CALIBRATION:
            numbers = settings.example_stories
            pool = resources.derived(("examples", numbers), partial(_pool, numbers, resources.schema))
        elif not sample_serves(step, resources.schema):
            continue
        if examples := _examples(sample.category, step, sample.content["story"], count, pool):
            return source, examples
    return "", ()


def sample_serves(step: str, schema: Schema) -> bool:
    """Return whether the sample corpus can show how a step is answered: it is labelled by OmniToM's own schema, and
    judges read no labels."""
    return step == JUDGE or scheme_of(schema).official


@lru_cache(8192)
def _examples(category: str, step: str, text: str, count: int, pool: Pool) -> tuple[Example, ...]:
    return examples_for(category, step, text, pool.records, count)


class Pool:
    """Records that may serve; itself the key of what was found among them, as hashing every row would take longer than
    finding."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = tuple(records)


@lru_cache(1)
def sample_corpus() -> Pool:
    return Pool(record_of(sample.as_json()) for sample in sample_records())


def _pool(numbers: Sequence[int], schema: Schema, samples: Sequence[Sample]) -> Pool:
    keys = set(map(str, numbers))
    return Pool(record_of_sample(sample, schema) for sample in samples if sample.key in keys)
