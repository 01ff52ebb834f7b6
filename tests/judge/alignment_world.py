"""A study of alignment for tests: three models' tables of a few stories, of scripted quality, without a run."""

from django.utils import timezone

from judge.domain.alignment import RowAnswer, StudyOrigin
from judge.domain.sampling import Unit
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.services.settling import Change, hand_in, save_changes
from judge.services.studies import Plan, make_study

NOW = timezone.now()
GOLD = (("world", "The key is in the drawer"), ("Ines", "The key is in the bag"), ("Tomas", "Ines is out"))
MODELS = {
    "bright-model": (("world", "The key is in the drawer."), ("Ines", "The key is still in the bag")),
    "plain-model": (("world", "The key lies in the drawer"), ("Ines", "It rains"), ("Tomas", "Ines is out")),
    "silent-model": (),
}


def frame(stories: int = 4) -> list[Unit]:
    return [
        Unit(f"{model}/{number}", f"story-{number}", (model, "False Belief Task"))
        for model in MODELS
        for number in range(1, stories + 1)
    ]


def load(keys) -> list[AlignmentTask]:
    tables = []
    for key in keys:
        model, number = key.split("/")
        text = f"Story {number}. Ines puts the key in the bag. Tomas moves it to the drawer."
        tables.append(
            AlignmentTask(
                key=key,
                cluster=f"story-{number}",
                number=int(number),
                text=text,
                predictions=MODELS[model],
                gold=GOLD,
                origin={
                    "suite": "omnitom",
                    "run": "r",
                    "dataset": "1",
                    "item": 1,
                    "entrant": 1,
                    "sample": model,
                    "answer_format": "text",
                },
            )
        )
    return tables


def new_study(cast, annotators=None, *, total: int = 6, stories: int = 4, **fields) -> AlignmentStudy:
    plan = Plan(**{"name": "First", "total": total, "overlap": 2} | fields)
    people = annotators or [cast.bob, cast.bea]
    return make_study(
        by=cast.alice, project=cast.project, plan=plan, units=frame(stories), load=load, annotators=people,
        origin=StudyOrigin(suite="omnitom"), now=NOW,
    )  # fmt: skip


def say(alignment: Alignment, **answers: str) -> Alignment:
    """p1="g1 g2" links, p2="none" is a verdict; each is an action of its own."""
    changes = []
    for at, (row, text) in enumerate(answers.items()):
        answer = RowAnswer(verdict=text) if text in ("", "none", "unclear") else RowAnswer(tuple(text.split()))
        key = f"{alignment.uid}-{row}-{alignment.revision}-{at}"
        changes.append(Change(row, answer, key, key, NOW))
    return save_changes(alignment=alignment, changes=changes, now=NOW)


def answer_all(alignment: Alignment, **answers: str) -> Alignment:
    """Say this, "none" of every other row that is not linked, and hand in."""
    linked = {row for text in answers.values() for row in text.split()}
    rest = {row: "none" for row in alignment.task.rows.names if row not in linked | answers.keys()}
    return hand_in(alignment=say(alignment, **answers, **rest), now=NOW)
