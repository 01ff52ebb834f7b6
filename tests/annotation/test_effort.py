"""Time on task: the rule by hand, counted at once and bit by bit, by command, page and file."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.domain.effort import Activity, Outlook, TimeSheet, forecast_of, pace_of
from annotation.models import BeliefTable, DraftEvent, DraftRow, Membership, Project, TableKind, VoteEvent
from annotation.services.effort import count_effort, effort_of
from annotation.views.effort import TITLES
from core.statistics import Estimate

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_pauses_over_the_limit_are_left_out_and_what_the_page_measured_is_counted():
    sheet = TimeSheet()
    for act in (
        (1, "labelling", 7, 1000.0, 4.0),  # the first act: 4 s were measured
        (1, "labelling", 7, 1060.0),  # 60 s after it
        (1, "labelling", 8, 1260.0),  # 200 s: over two minutes, within five
        (1, "adjudication", 8, 9000.0, 30.0),  # a long pause: the 30 s that were measured
        (1, "adjudication", 8, 9600.0, 900.0),  # 600 s: within ten minutes; else the measured time, up to the limit
        (2, "labelling", 7, 1061.0),  # another person's first
        (2, "labelling", 9, 1001.0, 5.0),  # what arrives late counts what was measured and moves no later act
        (2, "labelling", 7, 1091.0),
    ):
        sheet.add(*act)
    assert {place: spent.seconds for place, spent in sheet.spent.items()} == {
        (1, "labelling", 7): [64.0, 64.0, 64.0],
        (1, "labelling", 8): [0.0, 200.0, 200.0],
        (1, "adjudication", 8): [150.0, 330.0, 630.0],
        (2, "labelling", 9): [5.0, 5.0, 5.0],
        (2, "labelling", 7): [30.0, 30.0, 30.0],
    }
    assert sheet.spent[2, "labelling", 7].acts == 2


def test_time_left_takes_the_pace_so_far():
    outlook = Outlook.of("cells", [(60, 0.5), (60, 1.5)], [40, 0, 20])
    assert (outlook.done, outlook.left, outlook.pace.value, outlook.forecast.value) == (120, 60, 60, 1)
    assert outlook.forecast.n == 2 and outlook.forecast.interval is None
    assert outlook.forecast.reason == "an interval needs at least 5 stories"
    assert pace_of([]) == Estimate(None, 0, reason="no time was measured yet")
    assert Outlook.of("cells", [(3, 0.0)], [60]).forecast == Estimate(None, 1, reason="no time was measured yet")
    for done, left in (([(3, 0.0)], [0]), ([], [])):
        assert Outlook.of("cells", done, left).forecast == Estimate(0.0, 0)


def test_the_prediction_interval_by_hand():
    # five stories of 60 cells in .6, .8, 1, 1.2 and 1.4 hours: an hour a story, squares .16 + .04 + 0 + .04 + .16 = .4
    stories = [(60, 0.6), (60, 0.8), (60, 1.0), (60, 1.2), (60, 1.4)]
    found = forecast_of(stories, [60, 60])
    # two more of them: variance .1 · 2 of the stories left, and .1 / 5 · 2² of the pace; t of 4 degrees is 2.7764
    reach = 2.776445 * (0.1 * 2 + 0.1 / 5 * 4) ** 0.5
    assert found.value == pytest.approx(2) and found.n == 2
    assert found.interval == pytest.approx([2 / np.exp(reach / 2), 2 * np.exp(reach / 2)], rel=1e-5)
    # ten cells left of one story spread as single cells do, which is more than a sixth of a story
    partly = forecast_of(stories, [10])
    assert np.log(partly.interval[1] / partly.value) > 10 / 60 * reach
    alike = forecast_of([(60, 1.0)] * 6, [60])
    assert alike.interval is None and alike.reason.startswith("all stories are alike")


def test_the_forecast_holds_what_the_rest_takes_and_the_pace_the_truth():
    """Seconds a cell vary by story. Fifty stories done and twenty left, of which the interval of the pace would hold 70
    %; and twelve stories, where the truth is that of endless stories: 12 s a cell in the mean."""
    rng, held = np.random.default_rng(6), 0
    for _ in range(300):
        cells = rng.integers(30, 150, 70)
        hours = cells * rng.gamma(6, 2, 70) / 3600
        done = [*zip(cells[:50].tolist(), hours[:50].tolist(), strict=True)]
        low, high = forecast_of(done, cells[50:].tolist()).interval
        held += low <= hours[50:].sum() <= high
    assert 0.92 <= held / 300 <= 0.98
    rng, held = np.random.default_rng(5), 0
    for trial in range(200):
        cells = rng.integers(30, 150, 12)
        hours = cells * rng.gamma(6, 2, 12) / 3600
        low, high = pace_of([*zip(cells.tolist(), hours.tolist(), strict=True)], seed=trial).interval
        held += low <= 300 <= high
    assert 0.9 <= held / 200 <= 0.99


@pytest.fixture
def acts(cast, make_story):
    """Bob votes on two stories, with a break; Esi drafts a row; a file brought a vote of Bea's."""
    first, second = make_story(1), make_story(2)

    def vote(story, seconds, who=cast.bob, **fields):
        row = story.tables.get(kind=TableKind.GOLD).propositions.first()
        at = BEGIN + timedelta(seconds=seconds)
        return VoteEvent.objects.create(
            proposition=row, annotator=who, dimension="order", label="1", idempotency_key=f"{who.pk}-{seconds}",
            changed_at=at, received_at=at, **fields,
        )  # fmt: skip

    vote(first, 0, duration_ms=6000)
    vote(first, 90)
    vote(second, 100)
    vote(second, 3000, duration_ms=2000)
    vote(first, 5, who=cast.bea, origin="import")
    table = BeliefTable.objects.create(story=second, kind=TableKind.DRAFT, author=cast.esi, slot=1)
    row = DraftRow.objects.create(table=table, actor="Ines", belief="The key is in the bag", place=1.0)
    for seconds in (20, 80):
        at = BEGIN + timedelta(seconds=seconds)
        DraftEvent.objects.create(
            table=table, row=row, kind="edit", idempotency_key=f"{seconds}", action=f"{seconds}", after={},
            changed_at=at, received_at=at,
        )  # fmt: skip
    return vote


@pytest.mark.django_db
def test_a_look_counts_what_came_since(cast, acts):
    now = timezone.now()
    first, second = cast.project.stories.order_by("number")

    def counted() -> dict:
        found = count_effort(cast.project, now=now).spent
        return {place: (spent.acts, spent.seconds[1]) for place, spent in found.items()}

    expected = {
        (cast.bob.pk, "labelling", first.pk): (2, 96.0),
        (cast.bob.pk, "labelling", second.pk): (2, 12.0),
        (cast.esi.pk, "tables", second.pk): (2, 60.0),
    }
    assert [counted(), counted()] == [expected] * 2
    acts(second, 3050)
    expected[cast.bob.pk, "labelling", second.pk] = (3, 62.0)
    assert counted() == expected
    acts(second, 3060, who=cast.bea, origin="import")
    acts(second, (now - BEGIN).total_seconds())  # of this moment: with the next look
    assert counted() == expected


@pytest.mark.django_db
def test_the_page_the_command_and_the_file_tell_the_same(cast, acts, client, capsys, django_assert_max_num_queries):
    client.force_login(cast.alice)
    empty = Project.objects.create(slug="empty")
    Membership.objects.create(project=empty, user=cast.alice, role="admin")
    assert "Nobody has begun" in client.get("/p/empty/effort/").content.decode()
    assert effort_of(empty, now=timezone.now())["total"] == 0
    with django_assert_max_num_queries(30):
        page = client.get("/p/minds/effort/")
    bob, esi = page.context["people"][0][0], page.context["people"][1][0]
    assert (bob["person"], esi["person"]) == (cast.bob, cast.esi)
    stories = re.findall(r'href="(/p/minds/stories/[^"]+)"', page.content.decode())
    assert stories and {client.get(address).status_code for address in stories} == {200}
    call_command("effort", "--project", "minds", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["people"]["bob"]["hours"]["labelling"] == pytest.approx(bob["total"]) == pytest.approx(108 / 3600)
    [drafted] = told["people"]["esi"]["outlooks"]
    assert (drafted["left"], drafted["done"], drafted["hours_left"]) == (1, 0, None)
    assert drafted["forecast"]["reason"] == "no time was measured yet"
    assert set(TITLES) == set(Activity) == set(told["hours_by_activity"])
    text = b"".join(client.get("/p/minds/effort/time-on-task.csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert sum(float(row["minutes_idle_5"]) for row in rows) == pytest.approx(60 * told["hours"], abs=0.01)
    call_command("effort", "--project", "minds")
    assert "bob: labelling 0.03 h" in capsys.readouterr().out
