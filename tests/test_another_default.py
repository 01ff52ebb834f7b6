"""The default schema becomes another version: what is there already stays what it was."""

import io
import json
import sys
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.domain.formats import GOLD
from annotation.domain.labelling import OMNITOM_PROMPTS, prompts_of
from annotation.domain.schema import Dimension, Label
from annotation.domain.shipped_schemas import OMNITOM, SHIPPED
from annotation.models import Project, User
from annotation.services.archive_export import export_archive
from annotation.services.archive_import import import_archive
from annotation.services.gold_export import export_lines
from annotation.services.prefill_rounds import example_of, sample_counts
from annotation.services.projects import create_project
from annotation.services.sample import load_sample
from benchmark.services.datasets import publish_version
from tests.annotation.test_archive import contents, repacked

pytestmark = pytest.mark.django_db

MOOD = Dimension("mood", "Mood", "Mood", "How?", (Label("Good", 0, "Good."), Label("Bad", 1, "Bad.")))
NEXT = replace(OMNITOM, version="2", dimensions=(*OMNITOM.dimensions, MOOD))


@pytest.fixture
def old(cast, make_story, assign, cast_vote) -> Project:
    """A project of today's default, with a settled story."""
    for row in (assignments := assign(make_story()))[0].story.tables.get().propositions.all():
        for dimension in OMNITOM.dimensions:
            for assignment in assignments:
                cast_vote(assignment, row, dimension.key, dimension.values[0])
    return cast.project


@pytest.fixture
def another_default(monkeypatch) -> None:
    """Version 2 comes with the program and is the default, wherever the default is read."""
    monkeypatch.setitem(SHIPPED, (NEXT.name, NEXT.version), NEXT)
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("annotation", "benchmark", "judge", "workers") and hasattr(module, "DEFAULT_SCHEMA"):
            monkeypatch.setattr(module, "DEFAULT_SCHEMA", NEXT)


def archived(project: Project) -> dict[str, bytes]:
    target = io.BytesIO()
    export_archive(project=project, target=target, now=timezone.now())
    return contents(target)


def test_an_old_project_and_its_archive_stay_what_they_were(old, request, cast, client):
    publish_version(by=cast.alice, project=old)
    parts, exported = archived(old), list(export_lines(old, GOLD))
    client.force_login(cast.bob)
    address = reverse("annotation:grid", args=[old.slug, old.stories.get().uid])
    grid = client.get(address).content.decode()
    request.getfixturevalue("another_default")
    import_archive(by=cast.alice, source=repacked(parts), slug="since", now=timezone.now())
    copy = Project.objects.get(slug="since")
    assert copy.schema is OMNITOM and list(export_lines(copy, GOLD)) == exported
    assert json.loads(archived(copy)["project.jsonl"])["schema"]["version"] == "1"
    again = client.get(address).content.decode()
    for part in ('role="gridcell"', "grid--"):
        assert again.count(part) == grid.count(part) and "Mood" not in again
    client.force_login(cast.alice)
    for name in ("project", "settings", "stories", "adjudication", "agreement", "export", "prefills"):
        page = client.get(reverse(f"annotation:{name}", args=[old.slug]))
        assert page.status_code == 200 and "Mood" not in page.content.decode()
    for name in ("datasets", "launch", "leaderboard"):
        assert client.get(reverse(f"benchmark:{name}", args=[old.slug])).status_code == 200
    assert old.datasets.get().schema is OMNITOM
    assert publish_version(by=cast.alice, project=old)[1] is False


def test_what_was_made_for_omnitom_stays_its_own(another_default):
    assert prompts_of(OMNITOM) == OMNITOM_PROMPTS != prompts_of(NEXT)
    category = "False Belief Task"
    assert example_of(category, OMNITOM, "") and example_of(category, NEXT, "") is None
    assert sample_counts(OMNITOM) and sample_counts(NEXT) == {}
    assert load_sample().schema is OMNITOM
    assert create_project(by=User.objects.get(username="admin"), slug="new", name="New").schema is NEXT
