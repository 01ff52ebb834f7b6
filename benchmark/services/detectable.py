"""The power of a run, before it is launched: the smallest difference that its samples can tell from chance."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from statistics import fmean

from benchmark.domain.inference import DEFAULT_SD, Smallest, difference_sd, right_or_wrong_sd, smallest_difference
from benchmark.models import DatasetSample, Run, StoryScores
from benchmark.services.estimates import steps_asked
from benchmark.services.plans import Plan
from benchmark.services.reports import reports_of
from benchmark.suites.figures import columns_of, scores_by_story
from core.kept import kept_as

EARLIER = 3
"""So many of the newest runs say how far two models lie apart."""


def can_show(plan: Plan, stories: Sequence[DatasetSample]) -> list[Smallest]:
    """Return, for each metric group, the smallest difference between two of the chosen models that the stories can
    show, over all of them and corrected as the report corrects, for every pair over all stories and in each category;
    with the spread of earlier runs on the dataset if two models have scores of the group on the same stories."""
    categories = len({story.category for story in stories})
    families = 1 + categories if categories > 1 else 1
    questions = [*Counter(story.cluster for story in stories).values()]
    groups = [
        (group, models)
        for group in plan.definition.groups
        if group.scored in plan.steps
        and (models := sum(group.scored in steps_asked(plan, endpoint) for endpoint in plan.endpoints))
    ]
    spreads, shown = _spreads(plan) if groups else {}, []
    for group, models in groups:
        default_sd, tests = DEFAULT_SD, max(1, comb(models, 2) * families)
        if group.right_or_wrong and questions:
            default_sd = right_or_wrong_sd([1] * len(questions) if group.unit else questions)  # a set counts once
        spread = spreads[group.key] or None
        smallest = smallest_difference(len(questions), spread, tests=tests, default_sd=default_sd)
        shown.append(replace(smallest, name=group.score_title))
    return shown


def _spreads(plan: Plan) -> dict[str, float | None]:
    """Return how far two models of the newest runs on the dataset with the same answer format lie apart on a cluster of
    samples, in the score of each metric group, computed once for the same scores."""
    listed = Run.objects.listed().filter(dataset=plan.dataset, suite=plan.suite, answer_format=plan.answer_format)
    runs = list(listed.select_related("project", "dataset", "judge", "job").order_by("-id")[:EARLIER])
    reports_of(runs)
    rows = StoryScores.objects.current().filter(run__in=runs, entrant__isnull=False).order_by("-entrant")
    kept = list(rows.values_list("pk", "entrant__endpoint_id"))

    return kept_as(
        "spreads", kept, lambda: {group: difference_sd(means) for group, means in _earlier(plan, kept).items()}
    )


Means = dict[str, dict[int, float]]
"""The mean score of each cluster of samples, by endpoint."""


def _earlier(plan: Plan, kept: Sequence[tuple[int, int]]) -> dict[str, Means]:
    """Return the scores of each metric group, of each endpoint its newest, from what is kept of entrants as (id,
    endpoint), the newest first."""
    cluster_by_number = dict(plan.dataset.samples.order_by("position").values_list("number", "cluster"))
    index_by_cluster = {cluster: index for index, cluster in enumerate(dict.fromkeys(cluster_by_number.values()))}
    clusters = {number: index_by_cluster[cluster] for number, cluster in cluster_by_number.items()}
    earlier: dict[str, Means] = {group.key: {} for group in plan.definition.groups}
    for pk, endpoint in kept:
        lacking = [group for group in plan.definition.groups if str(endpoint) not in earlier[group.key]]
        metrics = StoryScores.objects.filter(pk=pk).values_list("metrics", flat=True).first() if lacking else None
        for group in lacking:
            columns = columns_of((metrics or {}).get(group.key), "repaired")
            scores_by_cluster: dict[int, list[float]] = defaultdict(list)
            for number, score in scores_by_story(columns, group.score).items():
                if score is not None:
                    scores_by_cluster[clusters[number]].append(score)
            if scores_by_cluster:
                means = {index: fmean(of_cluster) for index, of_cluster in scores_by_cluster.items()}
                earlier[group.key][str(endpoint)] = means
    return earlier
