"""Twelve stories, three models and two judges that err at known rates; two people aligned a random part of the tables,
and could not tell of some rows."""

from __future__ import annotations

from dataclasses import dataclass

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run
from benchmark.services.runs import launched_with
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.studies import Plan, make_study
from tests.benchmark.protocol import Protocol, finished, truth_of
from tests.cast import Cast, new_cast
from tests.judge.alignment_world import answer_all

STORIES, ROWS, TABLES = 13, 6, 23


@dataclass
class CalibratedWorld:
    cast: Cast
    run: Run
    judged: list[Run]
    study: AlignmentStudy

    @property
    def base(self) -> str:
        return f"/p/{self.cast.project.slug}"


def calibrated_world(monkeypatch, *, stories: int = STORIES, rows: int | None = ROWS, tables: int = TABLES):
    cast = new_cast()
    protocol = Protocol(stories, rows)
    run = protocol.run(cast, monkeypatch)
    study = make_study(
        by=cast.alice, project=cast.project, plan=Plan("First", tables, overlap=2), units=units_of([run]),
        load=lambda keys: load_tables(keys, project=cast.project), annotators=[cast.bob, cast.bea],
        origin=origin_of([run]), now=timezone.now(),
    )  # fmt: skip
    for own in Alignment.objects.waiting().select_related("task__study").order_by("pk"):
        answer_all(own, **said_of(protocol, own.task))
    return CalibratedWorld(cast, run, judge_anew(cast, run), study)


def said_of(protocol: Protocol, task: AlignmentTask) -> dict[str, str]:
    """The truth; of the second row of every fourth story's tables nobody can tell, unless it is linked."""
    truth = truth_of(protocol, task)
    unclear = task.number % 4 == 0 and "p2" not in truth and len(task.predictions) > 1
    return truth | {"p2": "unclear"} if unclear else truth


def judge_anew(cast: Cast, run: Run) -> list[Run]:
    client = Client()
    client.force_login(cast.alice)
    chosen = {
        "judge": "sharp",
        "judges": ["blunt"],
        "judge_level": 2,
        "shots": 3,
        "title": "",
        "budget": "",
        "judge_answer_format": "same",
        "passes": "1",
        "settle": "none",
    }
    page = client.post(reverse("benchmark:judge_anew", args=[run.project.slug, run.uid]), chosen)
    first = Run.objects.get(uid=page.url.rstrip("/").rpartition("/")[2])
    return [finished(one) for one in launched_with(first)]
