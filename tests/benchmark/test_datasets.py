"""Versions of gold on their pages: publishing, what changed, stale runs, and who sees results."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import AuditEvent, GoldLabel, Project, Proposition
from annotation.services.adjudication import adjudicate
from annotation.services.stories import put_in_split
from benchmark.models import Audience, Dataset, ResultsVisibility
from benchmark.services.datasets import publish_version
from tests.benchmark.settled import published, settle, started, written

pytestmark = pytest.mark.django_db

BASE = "/p/minds/datasets/"


def publish(cast) -> Dataset:
    return publish_version(by=cast.alice, project=Project.objects.get(pk=cast.project.pk))[0]


def page(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response.content[:300]
    return written(response)


def test_the_button_publishes_once_and_says_where_nothing_is_settled(alice, make_story):
    def press(note: str) -> str:
        return alice.post(f"{BASE}publish/", {"note": note}, follow=True).content.decode()

    assert "Nothing is published yet" in page(alice, BASE)
    assert "No story has a gold table" in page(alice, f"{BASE}present/")
    story = make_story(1)
    assert "No story of Minds has a gold table with every label settled." in press("first")
    settle(story)
    make_story(2)  # without labels: left out
    assert "can be published" in page(alice, f"{BASE}present/")
    assert "at most 200 characters" in press("x" * 201) and not Dataset.objects.exists()
    assert "Gold is published as version 1." in press("first")
    made = Dataset.objects.get()
    assert (made.note, made.stories_count, made.left_out, made.methods) == ("first", 1, 1, {"imported": 14})
    for note in ("again", ""):
        told = press(note)
        assert "Gold is as in version 1, so there is no new one." in told
        assert ("The note was not kept" in told) == bool(note)
    assert Dataset.objects.count() == 1


def test_the_picture_counts_how_labels_were_settled_and_queries_do_not_grow_with_versions(
    alice, cast, make_story, django_assert_max_num_queries
):
    story = make_story(1)
    settle(story)
    row = Proposition.objects.gold_of(story).first()
    for key, method in (("order", "unanimous"), ("context", "majority"), ("representation", "adjudicated")):
        GoldLabel.objects.create(
            proposition=row, dimension=key, label="1", method=method, rule_version="1", decided_at=timezone.now(),
            decided_by=cast.esi if method == "adjudicated" else None,
        )  # fmt: skip
    publish(cast)
    shown = page(alice, BASE)
    assert 'class="legend"' in shown
    assert 'aria-label="1 unanimous, 1 majority, 1 adjudicated, 11 imported"' in shown
    # the colour of the empty track is the track's alone, so that gold that was imported does not look like none
    assert shown.count("fill-rest") == 1 and shown.count("fill-imported") == 2
    with CaptureQueriesContext(connection) as few:
        page(alice, BASE)
    for label in ("Deceptive", "Temporal", "Counterfactual"):
        settle(story, context=label)
        publish(cast)
    with django_assert_max_num_queries(len(few)):
        page(alice, BASE)


@pytest.fixture
def two_versions(cast, make_story):
    """Of stories 1 to 4: 1 changes two labels, 2 is reworded, 3 loses its labels, 5 is new."""
    first = published(cast, make_story)
    stories = {story.number: story for story in cast.project.stories.all()}
    settle(stories[1], context="Deceptive")
    row = Proposition.objects.gold_of(stories[2]).first()
    Proposition.objects.filter(pk=row.pk).update(belief="The key is elsewhere")
    Proposition.objects.gold_of(stories[3]).update(imported_labels=None)
    settle(make_story(5))
    return first, publish(cast)


def test_the_difference_names_stories_and_labels_and_stale_runs(client, alice, cast, models, two_versions, assign):
    stale, fresh = (started(cast, version, [models["majority"]]) for version in two_versions)
    told = page(alice, f"{BASE}1/2/")
    assert "<dt>Added</dt><dd>5</dd>" in told and "<dt>Removed</dt><dd>3</dd>" in told
    assert told.count("<del>Neutral</del>") == told.count("<ins>Deceptive</ins>") == 2  # both propositions of story 1
    assert "1 proposition added, 1 proposition removed" in told
    assert 'aria-label="Context: 2"' in told and f"{BASE}stale/" in told
    listed = page(alice, f"{BASE}stale/")
    assert stale.uid in listed and fresh.uid not in listed
    assert "The two versions are the same." in page(alice, f"{BASE}2/2/")
    client.force_login(cast.esi)  # results are for admins only, and a run's title can name its models
    told = page(client, f"{BASE}stale/")
    assert "1 run." in told and stale.uid not in told and stale.title not in told
    # an expert sees no change of a story that she still labels
    assert "<ins>Deceptive</ins>" in page(client, f"{BASE}1/2/")
    for number, change in ((1, "<ins>Deceptive</ins>"), (3, "<dt>Removed</dt>")):
        (assignment,) = assign(cast.project.stories.get(number=number), [cast.esi])
        told = page(client, f"{BASE}1/2/")
        assert "1 story that you still have work to do on is left out, changed or not." in told
        assert change not in told and "Nothing that the two versions hold differs" not in told
        assignment.delete()
    client.force_login(cast.alice)
    Dataset.objects.filter(version=2).update(project=Project.objects.create(slug="other", name="Other"))
    assert client.get(f"{BASE}1/2/").status_code == 404


def test_runs_on_gold_that_returned_are_not_stale(alice, cast, models, make_story):
    story, present, stale = make_story(1), f"{BASE}present/", f"{BASE}stale/"
    settle(story)
    first = publish(cast)
    assert "The present gold is version 1." in page(alice, present)
    settle(story, context="Deceptive")
    cache.clear()  # an import would be logged; this test writes past the log
    assert "Gold has changed since version 1" in page(alice, present)
    old, new = (started(cast, one, [models["majority"]]) for one in (first, publish(cast)))
    assert old.uid in (told := page(alice, stale)) and new.uid not in told
    settle(story)
    cache.clear()
    assert "that of version 1 again" in page(alice, present)
    assert new.uid in (told := page(alice, stale)) and old.uid not in told
    marks = page(alice, "/p/minds/runs/gold/?mark=1&mark=2")
    assert "The present gold is version 1." in marks and ".gold-2" in marks and ".gold-1" not in marks
    settle(story, context="Temporal")
    cache.clear()
    told = page(alice, stale)
    assert old.uid in told and new.uid in told and "not a published version" in told
    marks = page(alice, "/p/minds/runs/gold/?mark=1&mark=2")
    assert "not a published version" in marks and ".gold-2" in marks and ".gold-1" in marks


def test_the_difference_tells_in_words_how_gold_was_made(alice, cast, make_story, assign, cast_vote):
    published(cast, make_story)
    stories = {story.number: story for story in cast.project.stories.all()}
    put_in_split(by=cast.alice, project=cast.project, stories=[stories[1].pk], name="calibration")
    row = Proposition.objects.gold_of(stories[2]).first()
    assignments = assign(stories[2])
    for one in assignments:
        cast_vote(one, row, "context", "Neutral")
    cast_vote(assignments[0], row, "order", "2")
    row = Proposition.objects.gold_of(stories[3]).first()
    told = {"label": "Neutral", "revision": 0, "now": timezone.now(), "reason": "It says so."}
    adjudicate(by=cast.esi, proposition=row, dimension="context", **told)
    Project.objects.update(rule_version="2")
    publish(cast)
    told = page(alice, f"{BASE}1/2/")
    for sentence in (
        "Rules that settle labels: 1 became 2.",
        "1 cell: imported before, unanimous now.",
        "1 cell: imported before, decided by an expert now.",
        "4 new votes, in 1 story.",
        "1 new decision by an expert, in 1 story.",
        '<dt>Moved to another split</dt><dd>1: 1<span class="muted"> (no split → calibration)</span></dd>',
    ):
        assert sentence in told, sentence
    assert "Changed labels by dimension" not in told and "bob" not in told and "esi" not in told


def test_admins_say_who_sees_results(client, cast, gold, models):
    run = started(cast, gold, [models["majority"]])
    seen = {Audience.ADMINS: "alice", Audience.EXPERTS: "alice esi", Audience.EVERYONE: "alice esi bob"}
    for audience, names in seen.items():
        client.force_login(cast.alice)
        told = client.post(f"{BASE}audience/", {"audience": audience}, follow=True).content.decode()
        assert f"shown to: {audience.label.lower()}" in told
        for name in ("alice", "esi", "bob"):
            client.force_login(getattr(cast, name))
            expected = 200 if name in names.split() else 403
            for address in (f"/p/minds/runs/{run.uid}/", "/p/minds/runs/"):
                assert client.get(address).status_code == expected, (name, audience)
    client.force_login(cast.alice)
    client.post(f"{BASE}audience/", {"audience": "nobody"})
    assert ResultsVisibility.objects.get().audience == Audience.EVERYONE
    events = AuditEvent.objects.filter(action="results.shown").order_by("id")
    assert [one.details["after"] for one in events] == ["expert", "annotator"]  # admins only was so already
