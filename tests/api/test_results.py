from __future__ import annotations

import csv
import io
import json

import pytest

from annotation.models import Proposition


@pytest.fixture
def labelled(story, cast_vote):
    proposition = Proposition.objects.gold_of(story).first()
    for assignment in story.assignments.all():
        cast_vote(assignment, proposition, "order", "0")
    return story


def _text(response) -> str:
    return b"".join(response.streaming_content).decode()


def test_agreement_is_for_experts_and_admins(cast, api, address, labelled):
    assert api(cast.bob).get(address("agreement")).status_code == 403
    for person in (cast.esi, cast.alice):
        body = api(person).get(address("agreement")).json()
        assert body["dimensions"]["order"]["agree"] == body["dimensions"]["order"]["cells"] == 1
        assert body["overall"]["reason"]


def test_agreement_of_a_split_that_is_not_there(cast, api, address, labelled):
    response = api(cast.esi).get(address("agreement"), {"split": "none"})
    assert response.status_code == 404 and "no split 'none'" in response.json()["error"]["message"]
    assert api(cast.esi).get(address("agreement"), {"category": "False Belief Task"}).status_code == 200


def test_annotators_are_compared_without_themselves_and_with(cast, api, address, labelled):
    assert api(cast.bob).get(address("annotators")).status_code == 403
    body = api(cast.esi).get(address("annotators")).json()
    assert body["against_others"]["bob"]["order"] == {
        "annotator": "bob", "cells": 1, "agree": 1, "votes": 1, "expert": 0, "open": 0,
    }  # fmt: skip
    assert body["against_resolved"]["bob"]["order"] == {"annotator": "bob", "cells": 1, "agree": 1}
    assert body["pairs"][0]["cells"] == 1
    assert api(cast.esi).get(address("annotators"), {"split": "none"}).status_code == 404


@pytest.mark.parametrize("kind", ["omnitom", "long-csv"])
def test_export_is_for_admins(cast, api, address, labelled, kind):
    for person in (cast.bob, cast.esi):
        assert api(person).get(address("export", kind=kind)).status_code == 403


def test_export_of_gold_records(cast, api, address, labelled):
    response = api(cast.alice).get(address("export", kind="omnitom"))
    assert response["Content-Type"].startswith("application/jsonlines")
    (record,) = [json.loads(line) for line in _text(response).splitlines()]
    assert record["story_id"] == 1
    assert _text(api(cast.alice).get(address("export", kind="omnitom"), {"complete": "true"})) == ""


def test_export_of_votes(cast, api, address, labelled):
    response = api(cast.alice).get(address("export", kind="long-csv"), {"pseudonyms": "true"}, HTTP_ACCEPT="text/csv")
    rows = list(csv.DictReader(io.StringIO(_text(response))))
    assert {row["annotator"] for row in rows} == {"A1", "A2", "A3"}


def test_a_format_that_is_not_there(cast, api, address, labelled):
    assert api(cast.alice).get(address("export", kind="xlsx")).status_code == 404
