"""What makes a new version of gold, how two versions differ, and which version the present gold is."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import GoldLabel, Project, Proposition, Story, StoryCounts, User
from annotation.services.adjudication import adjudicate, undo_decision
from annotation.services.belief_tables import reword
from annotation.services.projects import change_settings
from annotation.services.stories import put_in_split
from benchmark.models import Dataset
from benchmark.services import gold_samples
from benchmark.services.datasets import difference, gold_is_published, publish_version, version_of
from benchmark.services.gold_samples import present_digest
from tests.benchmark.settled import published, settle

pytestmark = pytest.mark.django_db


@pytest.fixture
def first(cast, make_story) -> Dataset:
    """Four stories of two propositions with imported labels."""
    return published(cast, make_story)


@pytest.fixture
def stories(cast, first) -> dict:
    return {story.number: story for story in cast.project.stories.all()}


def again(cast) -> tuple[Dataset, bool]:
    return publish_version(by=cast.alice, project=Project.objects.get(pk=cast.project.pk))


def rows(story) -> list[Proposition]:
    return list(Proposition.objects.gold_of(story))


def decide(person, proposition, key="context", label="Neutral") -> GoldLabel:
    held = GoldLabel.objects.filter(proposition=proposition, dimension=key).first()
    told = {"label": label, "revision": held.revision if held else 0, "reason": "The text says so."}
    return adjudicate(by=person, proposition=proposition, dimension=key, now=timezone.now(), **told)


def take_back(person, proposition) -> None:
    held = GoldLabel.objects.get(proposition=proposition, dimension="context")
    told = {"proposition": proposition, "dimension": "context", "revision": held.revision}
    undo_decision(by=person, **told, now=timezone.now())


def test_what_a_run_can_be_made_on_makes_a_version_and_earlier_ones_stay(cast, first, stories):
    before = list(Dataset.objects.values()), list(first.samples.values())
    put_in_split(by=cast.alice, project=cast.project, stories=[stories[1].pk, stories[2].pk], name="calibration")
    split, fresh = again(cast)
    assert fresh and [row.number for row in split.samples.selected(split="calibration")] == [1, 2]
    found = difference(first, split)
    assert found["moved"] == [(1, "", "calibration"), (2, "", "calibration")]
    assert not (found["changed"] or found["labels"] or found["settled"] or found["votes"][0])
    # a decision for the same label
    decide(cast.esi, rows(stories[1])[0])
    decided, fresh = again(cast)
    assert fresh and decided.methods == {"adjudicated": 1, "imported": 55}
    found = difference(split, decided)
    assert found["settled"] == {("imported", "adjudicated"): 1} and found["adjudications"][0] == {"new": 1}
    assert not found["labels"]
    # propositions in another order
    top, below = rows(stories[3])
    for row, position in ((top, 99), (below, top.position), (top, below.position)):
        Proposition.objects.filter(pk=row.pk).update(position=position)
    ordered, _ = again(cast)
    found = difference(decided, ordered)
    assert (found["reordered"], found["changed"]) == ([3], [])
    Project.objects.update(rule_version="2")
    new, fresh = again(cast)
    assert fresh and new.rule_version == "2"
    assert difference(ordered, new)["rules"] == [("Rules that settle labels", "1", "2")]
    settle(stories[2], context="Deceptive")
    again(cast)
    assert (list(Dataset.objects.filter(pk=first.pk).values()), list(first.samples.values())) == before


def test_votes_make_a_version_and_are_kept_where_there_are_some(cast, first, stories, assign, cast_vote):
    bob, bea, _ = assign(stories[1])
    top, below = rows(stories[1])
    cast_vote(bob, top, "context", "Neutral")
    cast_vote(bob, below, "order", "2")
    cast_vote(bea, top, "context", "Deceptive")
    new, fresh = again(cast)
    # 4 stories × 2 propositions × 7, not settled by two votes
    assert fresh and new.methods == first.methods == {"imported": 56}
    keys = list(DEFAULT_SCHEMA.keys)
    expected = [[""] * 7, [""] * 7]
    expected[0][keys.index("context")], expected[1][keys.index("order")] = "Neutral", "2"
    assert new.samples.get(number=1).votes["bob"] == expected
    assert not new.samples.exclude(number=1).exclude(votes={}).exists()
    found = difference(first, new)
    assert (found["votes"][0], found["votes"][1]) == ({"new": 3}, [1]) and not found["changed"]
    cast_vote(bob, top, "context", "Deceptive")
    cast_vote(bea, top, "context", "")
    newest, fresh = again(cast)
    assert fresh and difference(new, newest)["votes"][0] == {"changed": 1, "gone": 1}


def test_an_experts_last_decision_is_kept_though_another_overruled_it(cast, first, stories):
    top, below = rows(stories[1])
    decide(cast.esi, top, label="Deceptive")
    decide(cast.esi, below, label="Deceptive")
    decide(cast.alice, top, label="Temporal")
    take_back(cast.esi, below)
    at = DEFAULT_SCHEMA.keys.index("context")
    story = again(cast)[0].samples.get(number=1)
    kept = {name: [labels[at] for labels in said] for name, said in story.adjudications.items()}
    assert kept == {"esi": ["Deceptive", ""], "alice": ["Temporal", ""]}  # what Esi took back counts for nobody
    assert story.beliefs[0]["labels"]["context"] == "Temporal"


def test_gold_that_returns_is_the_earlier_version_and_published_where_every_story_is_in_it(
    cast, first, stories, make_story
):
    def present_version():
        return version_of(cast.project, present_digest(cast.project))

    assert present_version() == first and first.digest == present_digest(cast.project)
    change_settings(by=cast.alice, project=cast.project, changes={"description": "Other words"}, now=timezone.now())
    assert again(cast) == (first, False) and gold_is_published(cast.project), "equal gold is one version"
    top = rows(stories[1])[0]
    decide(cast.esi, top, label="Deceptive")
    assert not gold_is_published(cast.project)
    second, _ = again(cast)
    assert present_version() == second and gold_is_published(cast.project)
    take_back(cast.esi, top)
    assert present_version() == first and again(cast) == (first, False)
    story = make_story(5)  # nothing is settled in it
    assert not gold_is_published(cast.project)
    settle(story)
    assert not gold_is_published(cast.project)
    again(cast)
    assert gold_is_published(cast.project)


def test_the_present_digest_reads_those_stories_anew_that_changed(cast, first, stories, assign, cast_vote, monkeypatch):
    seen, samples = [], gold_samples.samples_of

    def samples_of(project, stories):
        seen.extend(Story.objects.filter(pk__in=stories).order_by("number").values_list("number", flat=True))
        return samples(project, stories)

    monkeypatch.setattr(gold_samples, "samples_of", samples_of)
    assert present_digest(cast.project) == first.digest and not seen  # as it was published
    reworded = {"by": cast.alice, "actor": "Ines", "now": timezone.now()}
    changes = (
        lambda: cast_vote(assign(stories[1])[0], rows(stories[1])[0], "context", "Neutral"),
        lambda: decide(cast.esi, rows(stories[2])[0], label="Deceptive"),
        lambda: put_in_split(by=cast.alice, project=cast.project, stories=[stories[3].pk], name="test"),
        lambda: reword(proposition=rows(stories[4])[0], belief="Something else.", **reworded),
    )
    digests = {first.digest}
    for number, change in enumerate(changes, 1):
        change()
        digests.add(present_digest(cast.project))
        assert seen == [number] and len(digests) == number + 1
        seen.clear()
        cache.clear()
        assert present_digest(cast.project) in digests and len(digests) == number + 1  # as when all are read
        seen.clear()
    User.objects.filter(username="bob").update(username="robert")
    assert present_digest(cast.project) not in digests and seen == [1], "a renamed account: the stories with its votes"


def test_a_look_at_the_present_gold_costs_as_many_statements_with_more_stories(cast, make_story, alice):
    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            present_digest(cast.project)
        return len(asked)

    published(cast, make_story)
    few = statements()
    for number in range(10, 18):
        settle(make_story(number))
    present_digest(cast.project)
    assert statements() == few
    for fragment in ("dataset_present", "stale_runs", "run_gold"):
        with CaptureQueriesContext(connection) as asked:
            page = alice.get(reverse(f"benchmark:{fragment}", args=["minds"]))
        assert page.status_code == 200
        kept = [one["sql"] for one in asked if "version" in one["sql"] and StoryCounts._meta.db_table in one["sql"]]
        assert len(kept) == 1, (fragment, kept)  # what is kept is read once


def test_stories_that_changed_are_read_in_parts_behind_a_bar(cast, first, alice, monkeypatch):
    cache.clear()
    monkeypatch.setattr("benchmark.views.datasets.AT_ONCE", 1)
    looks = [alice.get(reverse("benchmark:dataset_present", args=["minds"])).content.decode() for _ in range(4)]
    assert ["aria-busy" in look for look in looks] == [True, True, True, False]
    assert "The present gold is" in looks[-1]
