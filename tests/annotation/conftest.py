from __future__ import annotations

import pytest

from annotation.models import Proposition
from tests.annotation.prefilling import suggest
from workers.models import Endpoint, EndpointRateLimit


@pytest.fixture
def endpoint(db):
    """A scripted model that labels everything legally."""
    made = Endpoint.objects.create(name="tiny", provider="scripted", model="tiny-1", max_concurrency=16)
    EndpointRateLimit.objects.create(endpoint=made)
    return made


@pytest.fixture
def suggested(cast, make_story, seat):
    """A story whose every cell has a suggestion (the second legal label), with its seats."""

    def make(number=1, rows=None, source="tiny"):
        story = make_story(number, rows=rows or [("Ines", f"Belief {at}") for at in range(12)])
        for at, row in enumerate(Proposition.objects.gold_of(story)):  # arms are drawn by uid: the same in every run
            Proposition.objects.filter(pk=row.pk).update(uid=f"{number:06d}{at:06d}")
        suggest(story, source)
        return story, seat(story)

    return make
