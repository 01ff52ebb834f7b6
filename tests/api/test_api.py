from __future__ import annotations

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from annotation.models import GoldLabel, Proposition, Vote


@pytest.fixture
def api(db):
    """A client with the token of somebody: `api(cast.bob)`."""

    def make(person) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {Token.objects.get_or_create(user=person)[0].key}")
        return client

    return make


@pytest.fixture
def story(make_story, seat):
    story = make_story()
    seat(story)
    return story


def _address(name: str, story=None, **more: str) -> str:
    kwargs = {"slug": "minds"} | ({"story": story.uid} if story else {}) | more
    return reverse(f"api:{name}", kwargs=kwargs)


def _change(proposition, label="0", key="k1", **more) -> dict:
    return {
        "proposition": proposition.uid,
        "dimension": "order",
        "label": label,
        "changed_at": timezone.now().isoformat(),
        "client_key": key,
    } | more


def test_without_a_token_the_answer_is_401_in_the_one_shape(cast, story):
    response = APIClient().get(_address("project"))
    assert response.status_code == 401 and response["WWW-Authenticate"] == "Token"
    assert set(response.json()["error"]) == {"status", "message", "fields"}


@pytest.mark.parametrize("name", ["project", "stories", "assignments", "gold", "agreement"])
def test_strangers_see_no_project(cast, api, name):
    response = api(cast.charlie).get(_address(name))
    assert response.status_code == 404 and response.json()["error"]["status"] == 404


@pytest.mark.parametrize("name", ["gold", "agreement"])
def test_annotators_see_neither_gold_nor_agreement(cast, api, name):
    assert api(cast.bob).get(_address(name)).status_code == 403


def test_experts_may_not_export(cast, api):
    assert api(cast.esi).get(_address("export", kind="omnitom")).status_code == 403
    assert api(cast.alice).get(_address("export", kind="omnitom")).status_code == 200


def test_votes_are_saved_once_and_only_ones_own_are_shown(cast, api, story):
    proposition = Proposition.objects.gold_of(story).first()
    bob, bea = api(cast.bob), api(cast.bea)
    body = {"changes": [_change(proposition)]}
    for _ in range(2):
        response = bob.post(_address("votes", story), body, format="json")
        assert response.json() == {
            "saved": [
                {
                    "client_key": "k1",
                    "proposition": proposition.uid,
                    "dimension": "order",
                    "label": "0",
                    "applied": True,
                }
            ]
        }
    assert Vote.objects.count() == 1
    assert len(bob.get(_address("votes", story)).json()) == 1
    assert bea.get(_address("votes", story)).json() == []
    assert api(cast.esi).get(_address("votes", story)).status_code == 404


def test_a_batch_is_all_or_nothing(cast, api, story):
    first, second = Proposition.objects.gold_of(story)
    changes = [_change(first), _change(second, label="9", key="k2")]
    response = api(cast.bob).post(_address("votes", story), {"changes": changes}, format="json")
    assert response.status_code == 400
    assert "'9' is no label of order" in str(response.json()["error"]["fields"])
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"label": "0\x00"},
        {"client_key": "a\x00b"},
        {"dimension": "mood"},
        {"changed_at": "yesterday"},
        {"duration_ms": -1},
        {"duration_ms": 10**30},
        {"proposition": "x" * 13},
    ],
)
def test_a_bad_field_is_named(cast, api, story, change):
    proposition = Proposition.objects.gold_of(story).first()
    body = {"changes": [_change(proposition) | change]}
    response = api(cast.bob).post(_address("votes", story), body, format="json")
    assert response.status_code == 400 and "changes" in response.json()["error"]["fields"]


def test_a_decision_is_refused_where_the_cell_changed_meanwhile(cast, api, story, cast_vote):
    proposition = Proposition.objects.gold_of(story).first()
    for seat, label in zip(story.assignments.all(), ["True", "False", "Unknown"], strict=True):
        cast_vote(seat, proposition, "truth_status", label)
    address = _address("decision", proposition=proposition.uid, dimension="truth_status")
    esi = api(cast.esi)
    revision = GoldLabel.objects.get().revision
    decided = esi.post(address, {"label": "True", "revision": revision, "reason": "line 2"}, format="json")
    assert (decided.status_code, decided.json()["decided_by"], decided.json()["method"]) == (200, "esi", "adjudicated")
    late = esi.post(address, {"label": "False", "revision": revision}, format="json")
    assert late.status_code == 409 and "Nothing was overwritten" in late.json()["error"]["message"]
    assert GoldLabel.objects.get().label == "True"
    listed = esi.get(_address("gold")).json()
    assert listed["count"] == 1 and len(listed["results"][0]["votes"]) == 3


def test_unknown_addresses_and_methods_answer_in_the_one_shape(cast, api):
    bob = api(cast.bob)
    for response, status in (
        (bob.get("/api/v1/nothing/"), 404),
        (bob.delete(_address("project")), 405),
        (bob.post(_address("stories"), "{", content_type="application/json"), 405),
    ):
        assert response.status_code == status and response.json()["error"]["status"] == status


def test_lists_take_as_many_statements_for_many_rows(cast, api, make_story, django_assert_max_num_queries):
    for number in range(1, 30):
        make_story(number)
    client = api(cast.bob)
    with django_assert_max_num_queries(6):
        assert client.get(_address("stories"), {"page_size": 25}).json()["count"] == 29


def test_the_description_is_valid_and_without_warnings(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))


def test_the_docs_page_needs_no_inline_script(cast, client):
    client.force_login(cast.bob)
    page = client.get(reverse("api:docs"))
    assert page.status_code == 200 and "cdn" not in page.content.decode()
