"""What tests of pages share: the cast's project with settled gold, the baselines, and a run worked off in this
process."""

import re

from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone

from annotation.models import Proposition
from annotation.services.counts import recount
from benchmark.models import Run
from benchmark.services.datasets import publish_version
from benchmark.services.launches import start_run
from tests.benchmark.planning import planned
from workers.models import Endpoint, EndpointRateLimit
from workers.services.run_to_end import run_to_end

LABELS = {
    "order": "1", "truth_status": "True", "knowledge_access": "Private", "representation": "Implicit",
    "content_type": "Location", "mental_source": "Inference", "context": "Neutral",
}  # fmt: skip
BASELINES = ("majority", "random", "omniscient", "lexical-judge")
CATEGORIES = ("False Belief Task", "Hinting Task Test")


def settle(story, **labels) -> None:
    """Gives every cell of a story's gold table a label that came with its record."""
    with transaction.atomic():
        Proposition.objects.gold_of(story).update(imported_labels=LABELS | labels)
        recount([story.pk])


def published(cast, make_story, count: int = 4, **fields):
    """`count` settled stories of two categories in turn, published."""
    for number in range(1, count + 1):
        settle(make_story(number, category=CATEGORIES[number % 2], **fields))
    return publish_version(by=cast.alice, project=cast.project)[0]


def make_endpoint(name: str, **fields) -> Endpoint:
    made = Endpoint.objects.create(name=name, **{"provider": "scripted", "model": "tiny-1", **fields})
    EndpointRateLimit.objects.create(endpoint=made)
    return made


def baselines() -> dict[str, Endpoint]:
    return {name: make_endpoint(name, provider="baseline", model=name) for name in BASELINES}


def started(cast, dataset, models, steps=("label",), **plan) -> Run:
    made = planned(dataset, models, steps, **plan)
    return start_run(by=cast.alice, plan=made, now=timezone.now())


def work_off(run: Run) -> Run:
    run.job.refresh_from_db()
    run_to_end(job=run.job)
    return Run.objects.select_related("job", "dataset").get(pk=run.pk)


def written(response: HttpResponse) -> str:
    """A page in one line, with no blank where a tag ends or beside the tags of a definition: however its template is
    laid out."""
    line = " ".join(response.content.decode().split())
    return re.sub(r" (?=>)| ?(</?d[dt]>) ?", lambda found: found[1] or "", line)


def words(drawn: str) -> str:
    """What an SVG shows as text, its lines together."""
    return " ".join(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn)).split())
