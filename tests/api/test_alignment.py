from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Role
from judge.api.calibration import CalibrationOut
from judge.api.studies import AlignedTableOut, StudyDetailOut
from judge.models import Alignment
from tests.judge.alignment_world import answer_all, new_study


@pytest.mark.django_db
def test_studies_are_read_as_their_pages_show_them(cast, api, client):
    study = new_study(cast, [cast.bob, cast.alice])
    hidden = new_study(cast, name="Second", audience=Role.ADMIN)
    everyone = Alignment.objects.select_related("task__study").filter(task__study=study)
    for own in everyone.filter(annotator=cast.bob):
        answer_all(own, **({"p1": "g1"} if own.task.predictions else {}))

    def address(one=None, more=""):
        bare = reverse("api:alignment_studies", args=["minds"])
        return bare if one is None else f"{bare}{one.uid}/{more}"

    seen = {
        name: [row["name"] for row in api(getattr(cast, name)).get(address()).json()["results"]]
        for name in ("bob", "esi", "alice")
    }
    assert seen == {"bob": [], "esi": ["First"], "alice": ["Second", "First"]}
    for person, one, more, status in (
        (cast.bob, study, "", 403), (cast.esi, study, "", 200), (cast.esi, hidden, "", 403),
        (cast.esi, study, "tables/", 403), (cast.alice, hidden, "tables/", 200), (cast.charlie, study, "tables/", 404),
    ):  # fmt: skip
        assert api(person).get(address(one, more)).status_code == status
        client.force_login(person)
        page = reverse(f"judge:{'download_json' if more else 'study'}", args=["minds", one.uid])
        assert client.get(page).status_code == status

    alice, download = api(cast.alice), reverse("judge:download_json", args=["minds", study.uid])
    client.force_login(cast.alice)
    assert not any(
        {"model", "key", "origin"} & row.keys() for row in alice.get(address(study, "tables/")).json()["results"]
    )
    for own in everyone.filter(annotator=cast.alice, state="open"):
        answer_all(own)
    whole, told = client.get(download).json(), alice.get(address(study)).json()
    assert (told["progress"], told["agreement"]) == (whole["progress"], whole["agreement"])
    assert told["open"] == {
        "tables": [],
        "own": told["progress"]["open_tables"],
        "busy": 0,
        "deciders": ["Esi"],
        "stuck": 0,
    }
    assert [one["may_decide"] for one in whole["open"]] == [["esi"]] * told["open"]["own"] and told["open"]["own"]
    seen_by_esi = api(cast.esi).get(address(study)).json()["open"]
    assert sorted(seen_by_esi["tables"]) == sorted(one["table"] for one in whole["open"]) and not seen_by_esi["own"]
    with CaptureQueriesContext(connection) as few:
        first = alice.get(address(study, "tables/") + "?page_size=1").json()["results"]
    with CaptureQueriesContext(connection) as many:
        tables = alice.get(address(study, "tables/")).json()["results"]
    assert tables[:1] == first and len(tables) == 6 and len(many) == len(few)
    times = [
        [one.pop("at")[:19] for table in rows for one in table["alignments"]] for rows in (tables, whole["tables"])
    ]
    assert tables == whole["tables"] and times[0] == times[1]
    assert any(answer["links"] for table in tables for one in table["alignments"] for answer in one["answers"].values())
    assert {table["model"] for table in tables} <= {"bright-model", "plain-model", "silent-model"}


@pytest.mark.parametrize("shape", [AlignedTableOut, StudyDetailOut, CalibrationOut])
def test_descriptions_are_of_every_suite(shape):
    """Not of stories alone: other suites have tables of questions and resample conversations."""

    def help_texts(serializer):
        for field in getattr(serializer, "child", serializer).fields.values():
            yield str(field.help_text or "")
            if hasattr(getattr(field, "child", field), "fields"):
                yield from help_texts(field)

    of_stories = [text for text in help_texts(shape()) if "stor" in text]
    assert of_stories and all("some suites" in text for text in of_stories)
