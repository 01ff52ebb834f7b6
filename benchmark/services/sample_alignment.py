"""The study of alignment of the sample project: tables of its run that two invented people, an expert and an annotator,
held against gold, so that a judge is calibrated; the other expert aligns nothing and may decide where they differ.

What both tables say alike they link. Whether rows that only come near each other say the same is drawn for them, so
that a judge is not always right, and each person errs there by a draw of their own, so that the two differ now and
then. The last tables are left to align.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from functools import partial

from annotation.models import Project, User
from benchmark.models import Run
from benchmark.services.alignment_tables import load_tables, origin_of, units_of
from core.messages import gettext_noop
from judge.domain.alignment import RowAnswer, Verdict
from judge.domain.proposing import propose
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.services.aligning import Change, hand_in, save_changes
from judge.services.studies import Plan, make_study

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
            _align(alignment, now)
    return study


def _align(alignment: Alignment, now: datetime) -> None:
    answers = _answers(alignment.task, alignment.annotator.username)
    begun = now - timedelta(seconds=sum(seconds for *_, seconds in answers))
    changes = []
    for row, answer, seconds in answers:
        begun += timedelta(seconds=seconds)
        key = f"{alignment.uid}-{row}"
        changes.append(Change(row, answer, key, key, begun, duration_ms=1000 * seconds))
    save_changes(alignment=alignment, changes=changes, now=now)
    hand_in(alignment=alignment, now=now)


def _answers(task: AlignmentTask, person: str) -> list[tuple[str, RowAnswer, int]]:
    """Return what a person answers about each row that no link of another row answers, and the seconds it takes."""
    drawn = random.Random(f"{person}\n{task.number}\n{task.source}")
    same = random.Random(f"{task.number}\n{task.source}")
    links = {
        f"p{proposal.prediction + 1}": f"g{proposal.gold + 1}"
        for proposal in propose(task.predictions, task.gold)
        if proposal.exact or (same.random() < NEAR_SAME) != (drawn.random() < ERRS)
    }
    rows = [row for row in task.rows.names if row not in links.values()]
    return [
        (row, RowAnswer((links[row],)) if row in links else RowAnswer(verdict=Verdict.NONE.value), drawn.randint(3, 14))
        for row in rows
    ]
