from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.domain.tables import TableRow
from annotation.models import AuditEvent, Membership, Proposition
from annotation.services import drafts
from annotation.services.agreement import extraction_report
from annotation.services.reconciliation import Refused, lanes_of, state_of


@pytest.fixture
def story(make_story):
    made = make_story()
    made.tables.all().delete()
    return made


@pytest.fixture
def experts(cast):
    Membership.objects.filter(user=cast.ben).update(role="expert")
    return cast.esi, cast.ben


def hand_in(story, expert, *rows, submit=True):
    rows = [TableRow(*row) for row in rows]
    drafts.write_draft(by=expert, story=story, rows=rows, now=timezone.now(), origin="pasted")
    if submit:
        drafts.hand_in(by=expert, story=story, now=timezone.now())


FIRST = (("world", "The key is in the bag"), ("Ines", "The key is still in the bag"), ("Ines", "Tomas is out"))
SECOND = (("world", "The key is in the bag"), ("Ines", "The key is still lying in the bag"), ("Tomas", "It rains"))


def test_neither_expert_sees_the_others_table_before_both_are_in(story, experts, client):
    first, second = experts
    hand_in(story, first, *FIRST)
    hand_in(story, second, ("Ines", "Half a table"), submit=False)
    with pytest.raises(Refused):
        lanes_of(state_of(story=story, expert=first))
    for expert, hidden in ((second, "Tomas is out"), (first, "Half a table")):
        client.force_login(expert)
        page = client.get(reverse("annotation:reconcile", args=["minds", story.uid]), follow=True).content.decode()
        assert hidden not in page
        assert hidden not in client.get(reverse("annotation:story", args=["minds", story.uid])).content.decode()


def test_a_table_that_is_handed_in_stays(story, experts):
    hand_in(story, experts[0], *FIRST)
    with pytest.raises(Refused, match="handed in; take it back"):
        hand_in(story, experts[0], ("Ines", "Another"))
    with pytest.raises(Refused, match="no row"):
        hand_in(story, experts[1])


def test_a_third_table_is_refused(story, experts, cast):
    for expert in experts:
        hand_in(story, expert, *FIRST)
    with pytest.raises(Refused, match="no further table"):
        hand_in(story, cast.alice, *FIRST)


def test_the_lanes_make_the_gold_table_with_remarks(story, experts, client):
    hand_in(story, experts[0], *FIRST)
    hand_in(story, experts[1], *SECOND)
    client.force_login(experts[0])
    address = reverse("annotation:reconcile", args=["minds", story.uid])
    page = client.get(address).content.decode()
    assert "lane-same" in page and "lane-reworded" in page and "lane-only-a" in page and "lane-only-b" in page
    # rows: 0 same, 1 reworded, 2 only A, 3 only B
    choices = {"choice-0": "a", "choice-1": "b", "choice-2": "none", "choice-3": "b", "remark-2": "not in the text"}
    choices["words-3"] = "It is raining"
    response = client.post(address, choices)
    assert response.status_code == 302
    live = Proposition.objects.gold_of(story)
    assert list(live.values_list("actor", "belief", "remark", "reviewed")) == [
        ("world", "The key is in the bag", "", True),
        ("Ines", "The key is still lying in the bag", "revised", True),
        ("Tomas", "It is raining", "revised", True),
    ]
    removed = Proposition.objects.get(removed_at__isnull=False)
    assert (removed.belief, removed.remark, removed.remark_text) == ("Tomas is out", "removed", "not in the text")
    # four rows were reviewed, one needed no remark: 1 / 4
    assert extraction_report(project=story.project)["overlap"] == 0.25
    assert AuditEvent.objects.get(action="table.reconciled").details == {
        "unchanged": 1,
        "added": 0,
        "removed": 1,
        "revised": 2,
    }
    assert "has its gold table" in client.post(address, choices, follow=True).content.decode()
    assert Proposition.objects.gold_of(story).count() == 3


def test_both_rows_of_a_wrong_pair_can_be_kept(story, experts, client):
    hand_in(story, experts[0], *FIRST[1:2])
    hand_in(story, experts[1], *SECOND[1:2])
    client.force_login(experts[1])
    client.post(reverse("annotation:reconcile", args=["minds", story.uid]), {"choice-0": "both"})
    assert list(Proposition.objects.gold_of(story).values_list("remark", flat=True)) == ["added", "added"]


def test_leaving_everything_out_is_refused(story, experts, client):
    for expert in experts:
        hand_in(story, expert, *FIRST[:1])
    client.force_login(experts[0])
    response = client.post(reverse("annotation:reconcile", args=["minds", story.uid]), {"choice-0": "none"})
    assert "Keep at least one row" in response.content.decode()
