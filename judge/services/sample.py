"""Answers of the sample's scripted models as judges: pairs by their wording, with errors at rates of their own.

What a judge errs in is drawn from its name and the rows alone, so that it always answers the same.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from annotation.domain.scripted_readers import FURTHER_READERS, READERS, Reader, share_drawn
from annotation.models import Project, User
from benchmark.models import Run
from benchmark.suites.registry import suite_of_gold
from core.messages import gettext_noop
from judge.domain.alignment import RowAnswer, Verdict
from judge.domain.lexical import align
from judge.domain.proposing import propose
from judge.models import Alignment, AlignmentStudy, AlignmentTask, AnchorWatch
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.settling import Change, hand_in, save_changes
from judge.services.studies import Plan, make_study
from judge.services.watch_reports import read_watch
from judge.services.watches import WatchPlan, ask_again, start_watch, watchable_of
from workers.providers.contract import Body
from workers.providers.scripted.functions import FUNCTIONS
from workers.services.run_to_end import run_to_end

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class SampleJudge:
    """A scripted judge: the share of pairs that it `misses`, and of predictions without a pair that it `confuses` with
    another row of the same actor. The `turn` that it is asked in makes it miss `wavers` more, other pairs each turn."""

    name: str
    misses: float
    confuses: float
    wavers: float = 0.0
    turn: int = 0

    def pairs(self, predictions: Rows, gold: Rows) -> list[tuple[int, int]]:
        """Return (prediction, gold) of the rows that it takes to say the same, one to one."""
        meant = align(predictions, gold)
        kept = []
        for pair in meant:
            row, turn = predictions[pair[0]][:2], f"turn {self.turn}"
            if share_drawn(self.name, *row) >= self.misses and share_drawn(self.name, turn, *row) >= self.wavers:
                kept.append(pair)
        taken = {at for pair in meant for at in (("p", pair[0]), ("g", pair[1]))}
        for at, row in enumerate(predictions):
            if ("p", at) in taken or share_drawn(self.name, "instead", *row[:2]) >= self.confuses:
                continue
            other = next(
                (to for to, gold_row in enumerate(gold) if gold_row[0] == row[0] and ("g", to) not in taken), None
            )
            if other is not None:
                taken.add(("g", other))
                kept.append((at, other))
        return sorted(kept)


SAMPLE_JUDGES = {
    sample_judge.name: sample_judge
    for sample_judge in (
        SampleJudge("sample-careful", misses=0.02, confuses=0.1),
        SampleJudge("sample-hasty", misses=0.15, confuses=0.4),
        SampleJudge("sample-literal", misses=0.3, confuses=0.05),
        SampleJudge("sample-steady", misses=0.06, confuses=0.15),
        SampleJudge("sample-brisk", misses=0.1, confuses=0.25),
        SampleJudge("sample-plain", misses=0.2, confuses=0.3),
    )
}


NAME = gettext_noop("Baselines and scripted models beside gold")
PEOPLE = ("ada", "dalia")
TABLES, LEFT = 24, 2
BLIND = 30
"""The per cent of alignments whose people see no proposals, so that the study's page says what these do to links."""
NEAR_SAME, ERRS = 0.6, 0.15
"""The share of near rows that say the same, and of those about which a person errs."""


def add_alignment(project: Project, run: Run, now: datetime) -> AlignmentStudy:
    """Make the study and have its people align it, but for the last tables. Call it in a transaction."""
    people = User.objects.filter(username__in=PEOPLE, memberships__project=project)
    study = make_study(
        by=None, project=project, plan=Plan(NAME, TABLES, blind_share=BLIND), units=units_of([run]),
        load=partial(load_tables, project=project), annotators=list(people), origin=origin_of([run], split=""), now=now,
    )  # fmt: skip
    given = Alignment.objects.in_order().filter(task__study=study).select_related("task__study", "annotator")
    left = set(study.tasks.in_order().reverse().values_list("pk", flat=True)[:LEFT])
    for alignment in given:
        if alignment.task_id not in left:
            answers = _answers(alignment.task, alignment.annotator.username)
            begun = now - timedelta(seconds=sum(seconds for *_, seconds in answers))
            changes = []
            for row, answer, seconds in answers:
                begun += timedelta(seconds=seconds)
                key = f"{alignment.uid}-{row}"
                changes.append(Change(row, answer, key, key, begun, duration_ms=1000 * seconds))
            save_changes(alignment=alignment, changes=changes, now=now)
            hand_in(alignment=alignment, now=now)
    return study


def _answers(task: AlignmentTask, person: str) -> list[tuple[str, RowAnswer, int]]:
    """Return what a person answers about each row that no link of another row answers, and the seconds it takes."""
    drawn = random.Random(f"{person}\n{task.number}\n{task.source}")
    same = random.Random(f"{task.number}\n{task.source}")
    links = {
        f"p{at + 1}": f"g{other + 1}"
        for at, other, exact in propose(task.predictions, task.gold)
        if exact or (same.random() < NEAR_SAME) != (drawn.random() < ERRS)
    }
    rows = [row for row in task.rows.names if row not in links.values()]
    return [
        (row, RowAnswer((links[row],)) if row in links else RowAnswer(verdict=Verdict.NONE.value), drawn.randint(3, 14))
        for row in rows
    ]


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
        asked = suite_of_gold().judge
        assert asked and asked.written, "gold is judged"
        return asked.written(task, judge.pairs(task["predictions"], task["gold"]))

    return answer


def add_watch(project: Project, judged: Run, now: datetime) -> AnchorWatch:
    """Watch the judge of a run: it is asked again at the start and three times since, and at the last it has changed.
    What is there already is gone on with."""
    watch = AnchorWatch.objects.filter(project=project, run=judged).first()
    if watch is None:
        what = next(watchable for watchable in watchable_of(judged) if watchable.judges and len(watchable.models) == 1)
        plan = WatchPlan(judged, what, stories=STORIES, drop=DROP, seed=SEED, budget=Decimal(1))
        watch = start_watch(by=None, plan=plan, now=now - timedelta(days=DAYS_AGO[0] + plan.every))
    for days in DAYS_AGO[watch.repeats.count() - watch.rounds - 1 :]:
        ask_again(by=None, watch=watch, now=now - timedelta(days=days))
    *steady, changed = watch.repeats.select_related("run__job")
    for repeat, wavers in [*((each, WAVERS) for each in steady), (changed, WORSE)]:
        assert repeat.run, "every repeat of the sample begins"
        _turns[watch.asked.name] = repeat.number, wavers
        try:
            run_to_end(job=repeat.run.job)
        finally:
            del _turns[watch.asked.name]
    watch.go_on(now + timedelta(days=watch.every))
    read_watch(watch, now=now)
    return watch
