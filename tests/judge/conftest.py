"""A run with a judge, and a study in which people settled its tables."""

import pytest
from django.test import Client
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.judges import judged_at
from core.ids import new_uid
from judge.domain.alignment import Method, RowAnswer, SettledRow, StudyOrigin
from judge.domain.judgements import StoryJudgement
from judge.domain.sampling import Unit
from judge.models import AlignmentStudy, AlignmentTask, SettledAlignment
from judge.services.judgements import judgements_of
from judge.services.studies import Plan, make_study
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import ResultsWorld, results_world
from workers.models import Job


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def admin(world) -> Client:
    client = Client()
    client.force_login(world.alice)
    return client


@pytest.fixture
def study(world) -> AlignmentStudy:
    """People agree with the judge, but for the first row of each table that it matched, which they leave, and the
    second, of which they cannot tell in the first story."""
    items = RunItem.objects.filter(entrant__run=world.run, step="extract", call__isnull=False)
    keys = {
        call: f"{world.run.uid}:{model}:{number}"
        for call, model, number in items.values_list("call__uid", "entrant__position", "sample__number")
    }
    judged = {keys[one.judged_call]: one for one in judgements_of(world.run) if one.judged_call in keys}
    units = [Unit(key, f"story {one.number}", (one.model, one.category)) for key, one in judged.items()]

    def load(chosen) -> list[AlignmentTask]:
        text = "Ines puts the key in the bag."
        return [
            AlignmentTask(
                key=key, cluster=f"story {judged[key].number}", number=judged[key].number, text=text,
                predictions=[
                    ("world" if at % 2 else "Ines", f"prediction {at}") for at in range(len(judged[key].predicted))
                ],
                gold=[("Ines", f"gold {at}") for at in range(len(judged[key].gold))],
            )
            for key in chosen
        ]  # fmt: skip

    made = make_study(
        by=world.alice, project=world.dataset.project, plan=Plan("First", len(units), overlap=1), units=units,
        load=load, annotators=[world.bob], origin=StudyOrigin(suite="omnitom", runs=[world.run.uid]),
        now=timezone.now(),
    )  # fmt: skip
    for task in made.tasks.filter(settled=None):
        SettledAlignment(task=task).take(settled_rows(judged[task.key]), timezone.now())
    return made


@pytest.fixture
def base(world, study) -> str:
    """The address of the calibration of the study."""
    return f"{world.base}/calibration/{study.uid}/"


def settled_rows(judgement: StoryJudgement) -> dict[str, SettledRow]:
    rows, left = {}, False
    for letter, other, side in (("p", "g", judgement.predicted), ("g", "p", judgement.gold)):
        for at, row in enumerate(side, 1):
            links = tuple(f"{other}{place + 1}" for place in row.links or ()) or ((f"{other}1",) if row.matched else ())
            answer = RowAnswer(links) if links else RowAnswer(verdict="none")
            if letter == "p" and row.matched and not left:
                answer, left = RowAnswer(verdict="none"), True
            rows[f"{letter}{at}"] = SettledRow(answer, Method.SINGLE.value)
    if judgement.number == 1 and "p2" in rows:
        rows["p2"] = SettledRow(RowAnswer(verdict="unclear"), Method.SINGLE.value)
    return rows


def aligns_again(study: AlignmentStudy, person) -> None:
    """Give a table of the study to somebody, who still aligns it then."""
    study.tasks.first().alignments.all().delete()
    study.tasks.first().alignments.create(annotator=person, slot=1)


def copied_run(run: Run, **changed) -> Run:
    """A run of the same models with the same calls of the step that is judged."""
    items = list(RunItem.objects.filter(entrant__run=run, step="extract").select_related("entrant"))
    job = Job.objects.get(pk=run.job_id)
    job.pk, job.uid = None, new_uid()
    job.save()
    copied = Run.objects.get(pk=run.pk)
    copied.pk, copied.uid, copied.job, copied.judge = None, new_uid(), job, None
    for name, value in changed.items():
        setattr(copied, name, value)
    copied.save()
    for entrant in run.entrants.all():
        own = [item for item in items if item.entrant_id == entrant.pk]
        entrant.pk, entrant.run = None, copied
        entrant.save()
        for item in own:
            item.pk, item.entrant, item.item = None, entrant, None
            item.save()
    return copied


def add_judgements(run: Run, of: Run, verdict: int | None = None, *, changed: bool = False) -> None:
    """Give a copied run the judgements of another one; if they are `changed`, with one verdict on all rows."""
    entrants = dict(run.entrants.values_list("name", "pk"))
    for item in RunItem.objects.filter(entrant__run=of, step=judged_at(of)).select_related("entrant"):
        item.pk, item.entrant_id, item.item = None, entrants[item.entrant.name], None
        if changed:
            kept = item.repaired or {}
            item.repaired = kept | {side: [verdict] * len(kept.get(side) or ()) for side in ("pred", "gold")}
        item.save()


def second_judge(world, name="strict", verdict: int | None = 0) -> Run:
    """A judge next to the same answers that has one verdict on every row."""
    run = copied_run(world.run)
    run.judge = endpoint(name, model=f"acme/{'Omni' if name == 'strict' else name}-7b")
    run.spec = run.spec | {"judge": {"name": name, "model": run.judge.model}}
    run.save()
    add_judgements(run, world.run, verdict, changed=True)
    return run
