"""Values that questions of a new dataset take from all of its samples, such as the answers of a majority, made while
they are at hand: the first estimate of a launch need not read them all."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.models import Dataset, DatasetSample
from benchmark.services.asking import DatasetResources, sample_of, settings_of
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.stored_plans import draft_of
from benchmark.suites.contract import BadQuestion, Question
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.registry import suite_named

MOST_ASKED = 20
"""Samples of which a question is made, one of each category: some derive what others do not."""


def derive_ahead(dataset: Dataset, rows: Sequence[DatasetSample]) -> None:
    """Make a question of each category and step, which keeps what it derives of `rows`, all samples of an imported
    dataset. A suite that cannot ask is told of where it is asked."""
    suite = suite_named(dataset.suite)
    if suite.prompting:
        return
    samples = [sample_of(row) for row in rows]
    resources = DatasetResources(dataset, preloaded=samples)
    first = {sample.category: sample for sample in reversed(samples)}
    try:
        steps = [step.key for step in suite.launched if not step.judged]
        plan = Plan(dataset=dataset, endpoints=[], steps=steps, suite=suite.name)
        settings = settings_of(draft_of(plan, rows))
        for sample in list(first.values())[:MOST_ASKED]:
            for step in steps:
                if not suite.needed(step, plan.steps):  # by the method that the plan goes by, not by all of them
                    suite.request(Question(sample, step, settings, resources))
    except (BadQuestion, RunRefused, SuiteFailed):
        return
