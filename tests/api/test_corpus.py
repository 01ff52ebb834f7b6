"""Projects, stories, tables, agreement and exports over the API."""

import csv
import io
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Membership, Project, Proposition, Split

PROJECTS = "/api/v1/projects/"


@pytest.fixture
def other(cast) -> Project:
    return Project.objects.create(slug="other", name="Other")


def test_people_see_their_own_projects_and_the_site_admin_all(cast, api, address, story, other):
    def listed(person) -> list[tuple]:
        return [(row["slug"], row["role"]) for row in api(person).get(PROJECTS).json()["results"]]

    assert listed(cast.bob) == [("minds", "annotator")] and listed(cast.charlie) == []
    for name in ("project", "stories", "assignments", "gold", "agreement"):
        assert api(cast.charlie).get(address(name)).status_code == 404, name
    for name in ("story", "propositions", "votes"):
        assert api(cast.charlie).get(address(name, story)).status_code == 404, name
    Membership.objects.create(project=other, user=cast.bob, role="admin")
    assert api(cast.bob).get(address("story", story, slug="other")).status_code == 404, "of another project"
    cast.charlie.is_superuser = True
    cast.charlie.save()
    assert set(listed(cast.charlie)) == {("minds", "admin"), ("other", "admin")}


def test_a_project_tells_its_dimensions_and_its_stories_filtered_and_by_pages(cast, api, address, make_story):
    dev = Split.objects.create(project=cast.project, name="dev")
    make_story(1, split=dev)
    make_story(2, category="Hinting")
    make_story(3)
    bob = api(cast.bob)
    body = bob.get(address("project")).json()
    assert len(body["dimensions"]) == 7 and body["dimensions"][1]["labels"][0]["value"] == "True"
    assert (body["splits"], body["categories"]) == (["dev"], ["False Belief Task", "Hinting"])
    for query, numbers in (
        ({}, [1, 2, 3]),
        ({"split": "dev"}, [1]),
        ({"category": "Hinting"}, [2]),
        ({"split": "no"}, []),
    ):
        rows = bob.get(address("stories"), query).json()["results"]
        assert [row["number"] for row in rows] == numbers, query
    first = bob.get(address("stories"), {"page_size": 2}).json()
    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    assert [row["number"] for row in bob.get(first["next"]).json()["results"]] == [3]


def test_propositions_come_in_order_without_labels_or_removed_rows(cast, api, address, story):
    first, second = Proposition.objects.gold_of(story)
    Proposition.objects.filter(pk=first.pk).update(imported_labels={"order": "0"})
    Proposition.objects.filter(pk=second.pk).update(removed_at=story.created_at)
    rows = api(cast.bob).get(address("propositions", story)).json()["results"]
    assert rows == [{"uid": first.uid, "position": 1, "actor": "world", "belief": "The key is in the drawer"}]


def test_statements_do_not_grow_with_the_rows(cast, api, address, make_story, assign):
    client = api(cast.alice)

    def statements(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path).status_code == 200
        return len(captured)

    paths = [*map(address, ("stories", "assignments", "gold")), PROJECTS]
    assign(make_story(1))
    few = [*map(statements, paths)]
    for number in range(2, 12):
        assign(make_story(number))
        project = Project.objects.create(slug=f"p{number}", name="P")
        Membership.objects.create(project=project, user=cast.alice, role="admin")
    many = [*map(statements, paths)]
    assert few == many and max(many) <= 8


ROWS = [{"actor": "world", "belief": "It rains", "order": "0"}, {"actor": "Ines", "belief": "It rains"}]


def test_an_expert_writes_a_table_once(cast, api, address, make_story):
    story = make_story(9)
    story.tables.all().delete()
    path = address("propositions", story)

    def write(person, **body):
        return api(person).post(path, body, format="json")

    for rows in ([], [{"actor": "Ines"}], [{"actor": "Ines", "belief": " "}], [{**ROWS[0], "x": 1}]):
        assert write(cast.esi, rows=rows).status_code == 400, rows
    for person, status in ((cast.bob, 403), (cast.charlie, 404)):
        assert write(person, rows=ROWS).status_code == status
    assert not story.tables.exists()
    first, again = (write(cast.esi, rows=ROWS) for _ in range(2))
    assert (first.status_code, first.json()["added"], again.json()["added"], again.json()["kept"]) == (200, 2, 0, 2)
    assert first.json()["propositions"] == again.json()["propositions"]
    assert write(cast.esi, rows=ROWS[1:]).status_code == 422
    replaced = write(cast.esi, rows=ROWS[1:], replace=True).json()
    assert (replaced["kept"], replaced["removed"], replaced["reopened"]) == (1, 1, [])


@pytest.fixture
def labelled(story, cast_vote):
    for assignment in story.assignments.all():
        cast_vote(assignment, Proposition.objects.gold_of(story).first(), "order", "0")


def test_agreement_is_for_experts_and_admins(cast, api, address, labelled):
    for name in ("agreement", "annotators"):
        assert api(cast.bob).get(address(name)).status_code == 403
        for query, status in (({"split": "none"}, 404), ({"category": "False Belief Task"}, 200)):
            response = api(cast.esi).get(address(name), query)
            assert response.status_code == status, (name, query)
            assert status == 200 or "no split 'none'" in response.json()["error"]["message"]
    for person in (cast.esi, cast.alice):
        body = api(person).get(address("agreement")).json()
        assert body["dimensions"]["order"]["agree"] == body["dimensions"]["order"]["cells"] == 1
        assert body["overall"]["reason"]
    body, own = api(cast.esi).get(address("annotators")).json(), {"annotator": "bob", "cells": 1, "agree": 1}
    assert body["against_others"]["bob"]["order"] == own | {"votes": 1, "expert": 0, "open": 0}
    assert body["against_resolved"]["bob"]["order"] == own and body["pairs"][0]["cells"] == 1


def test_exports_are_for_admins(cast, api, address, labelled):
    def text(kind: str, *query, **headers) -> str:
        response = api(cast.alice).get(address("export", kind=kind), *query, **headers)
        assert kind != "omnitom" or response["Content-Type"].startswith("application/jsonlines")
        return b"".join(response.streaming_content).decode()

    for kind in ("omnitom", "long-csv"):
        for person in (cast.bob, cast.esi):
            assert api(person).get(address("export", kind=kind)).status_code == 403
    (record,) = map(json.loads, text("omnitom").splitlines())
    assert record["story_id"] == 1 and text("omnitom", {"complete": "true"}) == ""
    rows = csv.DictReader(io.StringIO(text("long-csv", {"pseudonyms": "true"}, HTTP_ACCEPT="text/csv")))
    assert {row["annotator"] for row in rows} == {"A1", "A2", "A3"}
    assert api(cast.alice).get(address("export", kind="xlsx")).status_code == 404
