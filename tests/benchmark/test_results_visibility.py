"""A project may show results of models to experts and annotators only while its gold is published.

Every page and file of results asks `results_access`: tests/test_urlconf.py opens each as every role.
"""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.access import project_access
from annotation.models import AuditEvent, GoldLabel, Proposition
from annotation.services.adjudication import adjudicate, undo_decision
from benchmark.access import sees_results
from benchmark.models import Audience, ResultsVisibility, Snapshot
from benchmark.services.datasets import publish_version
from benchmark.services.visibility import set_audience

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(world):
    """Shows results to everyone while its gold is published."""
    cache.clear()
    project = world.dataset.project
    set_audience(by=world.alice, project=project, audience=Audience.EVERYONE, once_published=True)
    return project


def decide(world) -> GoldLabel:
    row = Proposition.objects.filter(table__story__project=world.dataset.project).first()
    label = "Deceptive" if row.imported_labels["context"] != "Deceptive" else "Neutral"
    told = {"label": label, "revision": 0, "now": timezone.now(), "reason": "The text says so."}
    return adjudicate(by=world.alice, proposition=row, dimension="context", **told)


def test_who_sees_results_follows_gold_and_the_audience(world, project):
    def seeing() -> list[str]:
        return [name for name in ("alice", "esi", "bob") if sees_results(project_access(getattr(world, name), "om"))]

    assert seeing() == ["alice", "esi", "bob"], "gold is what was published"
    access = project_access(world.bob, "om")
    with CaptureQueriesContext(connection) as asked:
        assert sees_results(access)
    assert len(asked) <= 6, "the digest of the present gold is read once, not at every page"
    decision = decide(world)
    assert seeing() == ["alice"]
    told = {"proposition": decision.proposition, "dimension": "context", "revision": decision.revision}
    undo_decision(by=world.alice, **told, now=timezone.now())
    assert seeing() == ["alice", "esi", "bob"], "gold that returns shows results again"
    set_audience(by=world.alice, project=project, audience=Audience.EXPERTS)
    assert ResultsVisibility.objects.get().once_published  # a change of the audience leaves the rest
    assert seeing() == ["alice", "esi"]
    decide(world)
    assert seeing() == ["alice"]
    publish_version(by=world.alice, project=project)
    assert seeing() == ["alice", "esi"]


def test_admins_choose_it_and_pages_say_what_they_wait_for(world, project, client):
    address = f"{world.base}/results/"
    client.force_login(world.bob)
    assert "Stage 2: labelling" in client.get(address).content.decode()
    decide(world)
    page = client.get(address).content.decode()
    assert "Stage 2: labelling" not in page and "majority" not in page
    assert "admins, and every member while gold is published" in page
    assert "an admin has published the gold as it is" in page
    client.force_login(world.esi)
    page = client.get(world.live)
    assert page.status_code == 403
    assert "om shows results of models to admins, and every member while gold is published." in page.content.decode()
    assert client.post(f"{world.live}report/snapshot/", {"title": "x"}).status_code == 403
    assert not Snapshot.objects.exists()
    client.force_login(world.alice)
    for chosen, sentence in (
        ({"audience": "expert"}, "shown to: admins and experts."),
        ({"audience": "expert", "once_published": "on"}, "shown to: admins, and experts while gold is published."),
    ):
        assert sentence in client.post(f"{world.base}/datasets/audience/", chosen, follow=True).content.decode()
        assert ResultsVisibility.objects.get().once_published == ("once_published" in chosen)
    events = AuditEvent.objects.filter(action="results.shown")
    told, count = events.first().details, events.count()
    assert told == {"before": "expert", "after": "expert", "once_published": True}
    client.post(f"{world.base}/datasets/audience/", chosen)
    assert events.count() == count, "nothing changed"
