from functools import partial

import pytest

from annotation.domain.anchoring.randomisation import randomisation_p
from annotation.models import Membership, Proposition
from tests.annotation.prefilling import suggest
from workers.models import Endpoint, EndpointRateLimit


@pytest.fixture
def bare(make_story):
    """Makes a story without a table."""

    def make(number=1, **fields):
        story = make_story(number, **fields)
        story.tables.all().delete()
        return story

    return make


@pytest.fixture
def experts(cast):
    """Two experts of the project: Esi, and Ben instead of annotating."""
    Membership.objects.filter(user=cast.ben).update(role="expert")
    return cast.esi, cast.ben


@pytest.fixture
def endpoint(db):
    """A scripted model that labels everything legally."""
    made = Endpoint.objects.create(name="tiny", provider="scripted", model="tiny-1", max_concurrency=16)
    EndpointRateLimit.objects.create(endpoint=made)
    return made


@pytest.fixture
def suggested(cast, make_story, assign):
    """A story whose every cell has a suggestion (the second legal label), with its assignments."""

    def make(number=1, rows=None, source="tiny"):
        story = make_story(number, rows=rows or [("Ines", f"Belief {at}") for at in range(12)])
        for at, row in enumerate(Proposition.objects.gold_of(story)):  # arms are drawn by uid: the same in every run
            Proposition.objects.filter(pk=row.pk).update(uid=f"{number:06d}{at:06d}")
        suggest(story, source)
        return story, assign(story)

    return make


@pytest.fixture
def few_draws(monkeypatch) -> None:
    """Reports of anchoring draw the arms anew 1,999 times: more make a p-value finer, and change its level in
    nothing."""
    monkeypatch.setattr("annotation.domain.anchoring.report.randomisation_p", partial(randomisation_p, draws=1_999))
