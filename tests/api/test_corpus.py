from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Membership, Project, Proposition, Split


def _statements(client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_a_member_lists_the_own_projects_with_role(cast, api):
    Project.objects.create(slug="other", name="Other")
    rows = api(cast.bob).get("/api/v1/projects/").json()
    assert [(row["slug"], row["role"]) for row in rows["results"]] == [("minds", "annotator")]
    assert api(cast.charlie).get("/api/v1/projects/").json()["count"] == 0


def test_the_site_admin_is_admin_of_every_project(cast, api):
    Project.objects.create(slug="other", name="Other")
    cast.bob.is_superuser = True
    cast.bob.save()
    rows = api(cast.bob).get("/api/v1/projects/").json()["results"]
    assert {(row["slug"], row["role"]) for row in rows} == {("minds", "admin"), ("other", "admin")}


def test_a_project_tells_its_dimensions_splits_and_categories(cast, api, address, story):
    Split.objects.create(project=cast.project, name="dev")
    body = api(cast.bob).get(address("project")).json()
    assert len(body["dimensions"]) == 7
    assert body["dimensions"][1]["labels"][0]["value"] == "True"
    assert (body["splits"], body["categories"]) == (["dev"], ["False Belief Task"])


def test_stories_filter_by_split_and_category(cast, api, address, make_story):
    dev = Split.objects.create(project=cast.project, name="dev")
    make_story(1, split=dev)
    make_story(2, category="Hinting")
    client = api(cast.bob)

    def numbers(**query) -> list[int]:
        return [row["number"] for row in client.get(address("stories"), query).json()["results"]]

    assert numbers() == [1, 2]
    assert (numbers(split="dev"), numbers(category="Hinting"), numbers(split="none")) == ([1], [2], [])


def test_pages_are_bounded_and_linked(cast, api, address, make_story):
    for number in range(1, 4):
        make_story(number)
    client = api(cast.bob)
    first = client.get(address("stories"), {"page_size": 2}).json()
    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    assert [row["number"] for row in client.get(first["next"]).json()["results"]] == [3]
    assert client.get(address("stories"), {"page_size": 501}).status_code == 400


def test_propositions_come_in_order_without_labels_or_removed_rows(cast, api, address, story):
    first, second = Proposition.objects.gold_of(story)
    Proposition.objects.filter(pk=first.pk).update(imported_labels={"order": "0"})
    Proposition.objects.filter(pk=second.pk).update(removed_at=story.created_at)
    rows = api(cast.bob).get(address("propositions", story)).json()["results"]
    assert rows == [{"uid": first.uid, "position": 1, "actor": "world", "belief": "The key is in the drawer"}]


@pytest.mark.parametrize("name", ["project", "stories", "assignments", "gold", "agreement"])
def test_strangers_see_no_project(cast, api, address, name):
    assert api(cast.charlie).get(address(name)).status_code == 404


def test_strangers_see_no_story(cast, api, address, story):
    for name in ("story", "propositions", "votes"):
        assert api(cast.charlie).get(address(name, story)).status_code == 404


def test_a_story_of_another_project_is_not_there(cast, api, address, story):
    other = Project.objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=cast.bob, role="admin")
    assert api(cast.bob).get(address("story", story, slug="other")).status_code == 404


def test_statements_do_not_grow_with_the_rows(cast, api, address, make_story, assign):
    client = api(cast.alice)
    assign(make_story(1))
    names = ("stories", "assignments", "gold")
    few = [_statements(client, address(name)) for name in names] + [_statements(client, "/api/v1/projects/")]
    for number in range(2, 12):
        assign(make_story(number))
        Membership.objects.create(
            project=Project.objects.create(slug=f"p{number}", name="P"), user=cast.alice, role="admin"
        )
    many = [_statements(client, address(name)) for name in names] + [_statements(client, "/api/v1/projects/")]
    assert few == many and max(many) <= 8


ROWS = [{"actor": "world", "belief": "It rains", "order": "0"}, {"actor": "Ines", "belief": "It rains"}]


def test_an_expert_writes_a_table_once(cast, api, address, make_story):
    story = make_story(9)
    story.tables.all().delete()
    esi = api(cast.esi)
    first, again = (esi.post(address("propositions", story), {"rows": ROWS}, format="json") for _ in range(2))
    assert (first.status_code, first.json()["added"], again.json()["added"], again.json()["kept"]) == (200, 2, 0, 2)
    assert first.json()["propositions"] == again.json()["propositions"]
    other = {"rows": ROWS[1:]}
    assert esi.post(address("propositions", story), other, format="json").status_code == 422
    replaced = esi.post(address("propositions", story), other | {"replace": True}, format="json").json()
    assert (replaced["kept"], replaced["removed"], replaced["reopened"]) == (1, 1, [])


@pytest.mark.parametrize(("person", "status"), [("bob", 403), ("charlie", 404)])
def test_who_is_no_expert_writes_no_table(cast, api, address, story, person, status):
    response = api(getattr(cast, person)).post(address("propositions", story), {"rows": ROWS}, format="json")
    assert response.status_code == status


@pytest.mark.parametrize(
    ("rows", "status"),
    [([], 400), ([{"actor": "Ines"}], 400), ([{"actor": "Ines", "belief": " "}], 400), ([{**ROWS[0], "x": 1}], 400)],
)
def test_a_table_that_says_nothing_is_refused(cast, api, address, make_story, rows, status):
    story = make_story(9)
    story.tables.all().delete()
    response = api(cast.esi).post(address("propositions", story), {"rows": rows}, format="json")
    assert response.status_code == status
    assert not story.tables.exists()
