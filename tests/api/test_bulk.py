"""Many open cells at once over the API."""

from __future__ import annotations

import pytest

from annotation.models import GoldLabel, Proposition


@pytest.fixture
def voted(cast, story, cast_vote):
    """Open: order of both propositions 2:1, truth_status of the first 1:1:1."""
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    first, second = Proposition.objects.gold_of(story)
    for one, order, truth in zip(story.assignments.all(), ("1", "1", "2"), ("True", "False", "Unknown"), strict=True):
        cast_vote(one, first, "order", order)
        cast_vote(one, second, "order", order)
        cast_vote(one, first, "truth_status", truth)
    return first, second


def test_majorities_are_previewed_and_accepted(cast, api, address, voted):
    esi, path = api(cast.esi), address("majorities")
    seen = esi.get(path).json()
    assert (seen["total"], seen["by_dimension"], seen["tied"], seen["voted_on"]) == (2, {"order": 2}, 1, 0)
    assert esi.get(path, {"dimension": "truth_status"}).json()["total"] == 0
    assert not GoldLabel.objects.filter(method="adjudicated").exists()
    until = {"seen_until": seen["seen_until"]}
    assert esi.post(path, until | {"dimension": "truth_status"}, format="json").json() == {"settled": 0}
    early = {"seen_until": "2020-01-01T00:00:00Z"}
    assert esi.post(path, early, format="json").json() == {"settled": 0}  # all of it came later
    assert esi.post(path, until, format="json").json() == {"settled": 2}
    assert set(GoldLabel.objects.filter(method="adjudicated").values_list("label", "decided_by")) == {
        ("1", cast.esi.pk)
    }
    assert api(cast.bob).get(path).status_code == api(cast.bob).post(path, until, format="json").status_code == 403


def test_cells_that_are_alike_are_decided_all_or_none(cast, api, address, voted):
    esi, path = api(cast.esi), address("alike")
    rows = esi.get(address("gold"), {"method": "open", "dimension": "order"}).json()["results"]
    cells = [{"proposition": row["proposition"], "version": row["version"]} for row in rows]
    body = {"dimension": "order", "label": "2", "reason": "Two minds.", "cells": cells}
    stale = [cells[0], cells[1] | {"version": "0" * 20}]
    assert esi.post(path, body | {"cells": stale}, format="json").status_code == 409
    for wrong, status in (({"label": "True"}, 422), ({"dimension": "depth"}, 422), ({"reason": " "}, 400)):
        assert esi.post(path, body | wrong, format="json").status_code in (status, 409), wrong
    assert not GoldLabel.objects.filter(method="adjudicated").exists()
    assert esi.post(path, body, format="json").json() == {"settled": 2}
    assert set(GoldLabel.objects.filter(dimension="order").values_list("label", "reason")) == {("2", "Two minds.")}
    assert api(cast.bob).post(path, body, format="json").status_code == 403
