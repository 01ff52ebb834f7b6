"""The power of a run, before it is launched: the smallest difference that its samples can tell from chance."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from django.core.cache import cache
from django.db.models import Count

from benchmark.domain.inference import Aligned, difference_sd, smallest_difference
from benchmark.domain.inference.power import Spread
from benchmark.models import DatasetSample, Run, RunItem
from benchmark.services.estimates import steps_asked
from benchmark.services.leaderboards import KEPT_SECONDS
from benchmark.services.plans import Plan
from core.made_by import made_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """The smallest difference of a score that is found with this `power`, at `alpha`, over so many stories and by so
    many tests; None with a `reason` where none can be. `sd_is_default` where the spread is assumed."""

    name: str
    difference: float | None
    sd_is_default: bool
    stories: int
    power: float
    alpha: float
    tests: int
    reason: str

    @property
    def shown(self) -> str:
        """The difference in percentage points; empty without one, and where no two scores can be so far apart."""
        return "" if self.difference is None or self.difference >= 1 else f"{100 * self.difference:.1f}"

    @property
    def beyond(self) -> str:
        """The points that would be needed where no two scores can be so far apart; else empty."""
        return "" if self.difference is None or self.difference < 1 else f"{100 * self.difference:.1f}"


def can_show(plan: Plan, stories: Sequence[DatasetSample]) -> list[Detectable]:
    """Return, for each metric group, the smallest difference between two of the chosen models that the stories can
    show, over all of them and corrected as the report corrects, for every pair over all stories and in each category;
    with the spread of earlier runs on the dataset where two models have answered the same stories."""
    categories = len({story.category for story in stories})
    families = 1 + categories if categories > 1 else 1
    clusters = len({story.cluster for story in stories})
    out = []
    for group in plan.definition.groups:
        step = group.scored
        models = sum(step in steps_asked(plan, endpoint) for endpoint in plan.endpoints)
        if step in plan.steps and models:
            tests = max(1, comb(models, 2) * families)
            spread = _spread(plan, step)
            smallest = smallest_difference(clusters, spread.sd or None, tests=tests)
            out.append(
                Detectable(
                    name=group.score_title,
                    difference=smallest.difference,
                    sd_is_default=smallest.sd_is_default,
                    stories=smallest.stories,
                    power=smallest.power,
                    alpha=smallest.alpha,
                    tests=smallest.tests,
                    reason=smallest.reason,
                )
            )
    return out


def _spread(plan: Plan, step: str) -> Spread:
    """Return how far two models of the newest runs on the dataset with the same answer format lie apart on a story,
    computed once for the same answers."""
    listed = Run.objects.listed().filter(dataset=plan.dataset, suite=plan.suite, form=plan.answer_format)
    runs = list(listed.order_by("-id").values_list("pk", flat=True)[:3])
    scored = RunItem.objects.filter(entrant__run__in=runs, step=step).order_by().values("entrant__run")
    counts = sorted(
        scored.values_list("entrant__run").annotate(Count("repaired_score"), Count("entrant", distinct=True))
    )
    key = "spread:" + hashlib.sha256(json.dumps([made_by(), step, runs, counts]).encode()).hexdigest()
    spread: Spread | None = cache.get(key)
    if spread is None:
        spread = difference_sd(Aligned.of(_earlier(runs, step)))
        cache.set(key, spread, KEPT_SECONDS)
    return spread


def _earlier(runs: Sequence[int], step: str) -> dict[str, dict[int, float]]:
    """Return repaired scores by entrant of these runs, of each endpoint its newest."""
    items = RunItem.objects.filter(entrant__run__in=runs, step=step, repaired_score__isnull=False)
    scores_by_entrant: dict[str, dict[int, float]] = {}
    for entrant, endpoint, story, score in items.values_list(
        "entrant_id", "entrant__endpoint_id", "sample_id", "repaired_score"
    ):
        scores_by_entrant.setdefault(f"{endpoint}-{entrant}", {})[story] = score
    newest = {
        name.partition("-")[0]: name for name in sorted(scores_by_entrant, key=lambda name: int(name.partition("-")[2]))
    }
    return {name: scores_by_entrant[name] for name in newest.values()}
