"""Plans of runs that start from another run."""

from __future__ import annotations

from dataclasses import replace

from benchmark.models import Run, Stage
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.runs import plan_of
from workers.models import Endpoint


def judging_plan(source: Run, *, judge: Endpoint, judge_level: int, shots: int, with_story: bool, **other) -> Plan:
    """The extractions of `source` judged anew: same dataset, models, form and prompts, every story that has one."""
    extracted = set(source.entrants.filter(items__stage=Stage.EXTRACT).values_list("endpoint", flat=True))
    if not extracted:
        raise RunRefused(f"{source.title} has no extraction to be judged.", "source")
    held = plan_of(source)
    chosen = other | {"title": other.get("title") or f"{source.title}, judged by {judge.name}"[:200]}
    return replace(
        held,
        endpoints=[one for one in held.endpoints if one.pk in extracted],
        stages=[Stage.JUDGE],
        judge=judge,
        judge_level=judge_level,
        shots=shots,
        with_story=with_story,
        source=source.source or source,
        split="",
        category="",
        limit=0,
        **chosen,
    )
