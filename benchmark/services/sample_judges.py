"""The scripted models of the sample as judges, and a watch of one that answers worse from a certain repeat on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from annotation.domain.scripted_readers import FURTHER_READERS, READERS, Reader
from annotation.models import Project
from benchmark.domain.sample_judges import SAMPLE_JUDGES
from benchmark.models import AnchorWatch, Run
from benchmark.services.anchor_charts import read_watch
from benchmark.services.anchor_plans import WatchPlan, watchable_of
from benchmark.services.anchors import ask_again, start_watch
from benchmark.suites.registry import suite_of_gold
from workers.providers.contract import Body
from workers.providers.scripted.functions import FUNCTIONS
from workers.services.run_to_end import run_to_end

STORIES, DROP, SEED = 15, 0.1, 1
DAYS_AGO = (14, 7)
"""When the repeats after the start of the watch were due; the last of them finds the drop."""
WAVERS, WORSE = 0.03, 0.35
"""The share of pairs that the watched judge misses in one turn and not in another, and once it has changed."""
_turns: dict[str, tuple[int, float]] = {}
"""What is so of a judge just now, by name: the turn in which it is asked, and how much it wavers."""


def register_judges() -> None:
    """Have the scripted models of the sample answer as judges, too."""
    FUNCTIONS.update({reader.name: _answering(reader) for reader in (*READERS, *FURTHER_READERS)})


def _answering(reader: Reader) -> Callable[[Body], str]:
    def answer(body: Body) -> str:
        if body["task"].get("kind") != "judge":
            return reader.answer(body)
        turn, wavers = _turns.get(reader.name, (0, 0.0))
        judge, task = replace(SAMPLE_JUDGES[reader.name], turn=turn, wavers=wavers), body["task"]
        return suite_of_gold().judge.written(task, judge.pairs(task["predictions"], task["gold"]))

    return answer


@contextmanager
def _in_turn(name: str, turn: int, wavers: float) -> Iterator[None]:
    _turns[name] = turn, wavers
    try:
        yield
    finally:
        del _turns[name]


def add_watch(project: Project, judged: Run, now: datetime) -> AnchorWatch:
    """Watch the judge of a run: it is asked again at the start and three times since, and at the last it has changed.
    What is there already is gone on with."""
    watch = AnchorWatch.objects.filter(project=project, run=judged).first() or _started(judged, now)
    for days in DAYS_AGO[watch.repeats.count() - watch.rounds - 1 :]:
        ask_again(by=None, watch=watch, now=now - timedelta(days=days))
    *steady, changed = watch.repeats.select_related("run__job")
    for repeat, wavers in [*((each, WAVERS) for each in steady), (changed, WORSE)]:
        with _in_turn(watch.asked.name, repeat.number, wavers):
            run_to_end(job=repeat.run.job)
    watch.go_on(now + timedelta(days=watch.every))
    read_watch(watch, now=now)
    return watch


def _started(judged: Run, now: datetime) -> AnchorWatch:
    what = next(watchable for watchable in watchable_of(judged) if watchable.judges and len(watchable.models) == 1)
    plan = WatchPlan(judged, what, stories=STORIES, drop=DROP, seed=SEED, budget=Decimal(1))
    return start_watch(by=None, plan=plan, now=now - timedelta(days=DAYS_AGO[0] + plan.every))
