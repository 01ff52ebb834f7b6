"""Doubtful gold: what experts look at again, blind, and what comes of it."""

import csv
import io
import json

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.access import open_work, project_access
from annotation.models import Assignment, GoldEvent, GoldLabel, Vote
from annotation.services import claims
from annotation.services.adjudication import AdjudicationRefused, adjudicate
from annotation.services.archive_import import import_archive
from benchmark.models import Audience, RunItem, SecondLook
from benchmark.services.doubtful_gold import REASON, doubtful_gold, look_again, take_back
from benchmark.services.gold_kinds import labelling_of
from tests.annotation.test_archive import packed
from tests.benchmark.doubtful_world import AT, KEY, MODELS, PLANTED, doubtful_world, other_label
from tests.benchmark.test_run_commands import told

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path):
    """`page` is the address of doubtful gold."""
    held = doubtful_world(tmp_path)
    held.page = f"{held.base}/results/gold/doubtful/"
    return held


def doubts(world):
    return doubtful_gold(labelling_of(world.dataset))


def the(cell, world):
    """The doubt about the same cell as it is now."""
    [found] = [one for one in doubts(world).cells if one.id == cell.id]
    return found


def look(world, by, cell, label, **more):
    said = {
        "proposition": cell.proposition, "dimension": cell.dimension, "label": label, "revision": cell.revision,
        "row": cell.label, "now": timezone.now(),
    }  # fmt: skip
    return look_again(by=by, labelling=labelling_of(world.dataset), **said, **more)


def taken_back(by, cell):
    return take_back(by=by, proposition=cell.proposition, dimension=KEY, now=timezone.now())


def decided(by, cell, label, revision=0):
    how = {"dimension": KEY, "label": label, "revision": revision, "now": timezone.now(), "reason": "Clear."}
    adjudicate(by=by, proposition=cell.proposition, **how)


def test_planted_cells_come_first_and_nothing_tells_what_models_said(world, client):
    found = doubts(world)
    assert {cell.story for cell in found.cells[:3]} == set(PLANTED)
    assert {(cell.row, cell.dimension) for cell in found.cells} == {(1, KEY)}
    first = found.cells[0]
    assert (first.families, first.heard) == (("alpha", "beta", "gamma"), 3)
    assert (first.now, first.proposed) == (first.gold, other_label(AT, first.gold))
    client.force_login(world.esi)
    slug = world.project.slug
    page = client.get(world.page).content.decode()
    assert page.count("3 of\n") + page.count("3 of 3") >= 3
    for text in (page, client.get(f"{world.page}doubtful-gold.csv").content.decode()):
        assert not any(name in text for name in (*MODELS, first.gold, first.proposed))
    rows = client.get(reverse("api:doubtful_gold", args=[slug])).json()["rows"]
    assert [(row["story"], row["gold"], row["proposed"]) for row in rows[:1]] == [(first.story, "", "")]
    assert told("results", "doubtful-gold", "--project", slug)["rows"] == rows
    shown = client.get(f"{world.page}look/")
    [cell] = [one for one in shown.context["cells"] if one["doubt"].id == first.id]
    assert {chip["label"] for chip in cell["chips"][:2]} == {first.gold, first.proposed}
    assert len(cell["chips"]) == len(AT.values) and not any(chip["chosen"] for chip in cell["chips"])
    assert not any(name in shown.content.decode() for name in (*MODELS, "alpha", "Gold was"))
    history = client.get(f"{world.page}cell/{first.proposition.uid}/{KEY}/?history=1").content.decode()
    assert "once you have looked" in history and first.gold not in history


def test_gold_that_stands_has_a_record_and_is_asked_about_again_for_new_evidence_alone(world):
    def waits() -> bool:
        return cell.id in {one.id for one in doubts(world).waiting}

    cell, events = doubts(world).cells[0], GoldEvent.objects.count()
    kept = look(world, world.esi, cell, cell.gold, reason="It says so.")
    assert kept.stands and (GoldEvent.objects.count(), GoldLabel.objects.count()) == (events, 0)
    assert look(world, world.esi, cell, cell.gold) == kept and SecondLook.objects.count() == 1
    assert not waits() and doubts(world).looked_at[0].stands
    with pytest.raises(AdjudicationRefused, match="esi looked at this cell"):
        look(world, world.eva, cell, cell.gold)
    # two families said so then, three do now
    SecondLook.objects.update(families=["alpha", "beta"])
    assert waits()
    assert look(world, world.eva, cell, cell.gold).by == world.eva
    assert taken_back(world.eva, cell) and waits()
    assert taken_back(world.eva, cell) is None


def test_a_changed_label_goes_through_adjudication_and_comes_back(world):
    cell, other = doubts(world).cells[:2]
    decided(world.alice, other, other.gold)  # another expert decided it, as gold has it
    other = the(other, world)
    for one in (cell, other):
        assert not look(world, world.esi, one, one.proposed).stands
        gold = GoldLabel.objects.get(proposition=one.proposition, dimension=KEY)
        assert (gold.label, gold.method) == (one.proposed, "adjudicated")
        assert (gold.decided_by, gold.reason) == (world.esi, REASON)
        after = the(one, world)
        assert after.changed and not after.waits
        # a reason that is given afterwards is the decision's, too
        look(world, world.esi, after, one.proposed, reason="Line 2.")
        gold.refresh_from_db()
        assert gold.reason == "Line 2." and SecondLook.objects.filter(proposition=one.proposition).count() == 1
        taken_back(world.esi, one)
        again = the(one, world)
        assert again.waits and again.now == one.gold
    now = GoldLabel.objects.get(proposition=other.proposition, dimension=KEY)
    assert now.decided_by == world.alice
    assert world.dataset.samples.get(number=cell.story).beliefs[0]["labels"][KEY] == cell.gold
    # what is decided elsewhere is no longer this doubt
    decided(world.eva, other, other_label(AT, other.gold, 2), now.revision)
    assert other.id not in {one.id for one in doubts(world).cells} and doubts(world).left_out == 1
    # an archive has the decision of a second look and not the look
    look(world, world.esi, cell, cell.proposed)
    import_archive(by=None, source=packed(world.project), slug="copy", now=timezone.now())
    copied = GoldEvent.objects.filter(proposition__table__story__project__slug="copy", reason=REASON)
    event = copied.order_by("pk").last()
    assert (event.after, event.after_method, str(event.by)) == (cell.proposed, "adjudicated", "copy:esi")
    assert not SecondLook.objects.filter(proposition__table__story__project__slug="copy").exists()


def test_pages_save_and_undo_by_the_script_and_without_it(world, client):
    client.force_login(world.esi)
    first, second = doubts(world).cells[:2]
    page = client.get(f"{world.page}look/?cell={second.id}")
    assert page.context["cells"][0]["doubt"].id == second.id
    urls = page.context["settings"]["urls"]

    def post(address, document):
        return client.post(address, json.dumps(document), content_type="application/json").json()

    change = {
        "proposition": first.proposition.uid, "dimension": KEY, "label": first.proposed, "revision": 0, "row": 0,
        "reason": "", "error_tag": "", "replaces": "", "idempotency_key": "k" * 12,
        "changed_at": timezone.now().isoformat(),
    }  # fmt: skip
    for _ in range(2):  # sent again, it is one look
        saved = post(urls["save"], {"annotator": world.esi.pk, "changes": [change]})["saved"][0]["html"]
        assert "Gold changed" in saved and first.gold in saved
    assert SecondLook.objects.count() == 1
    other = change | {"label": first.gold}
    assert "Say that you replace" in post(urls["save"], {"changes": [other]})["error"]
    answer = post(urls["save"], {"changes": [other | {"replaces": first.proposed}]})
    assert "Gold stands" in answer["saved"][0]["html"]
    assert not GoldLabel.objects.filter(label=first.proposed).exists()
    done = client.get(f"{world.page}?show=looked-at").content.decode()
    assert first.gold in done and first.proposed in done
    lines = csv.DictReader(io.StringIO(client.get(f"{world.page}doubtful-gold.csv").content.decode()))
    [row] = [one for one in lines if one["Second look"]]
    assert (row["Second look"], row["Models"], row["State"]) == (first.gold, first.proposed, "Gold stands")
    undo = client.get(urls["undo"]).json()["undo"]
    assert undo["label"] == first.gold and undo["story"] == first.story
    assert 'data-todo="1"' in post(urls["undo"], {"cells": undo["cells"]})["cells"][0]["html"]
    assert client.get(urls["undo"]).json()["undo"] is None
    address = f"{world.page}cell/{second.proposition.uid}/{KEY}/"
    assert client.post(address, {"label": second.gold, "revision": 0, "row": 0}).status_code == 302
    assert SecondLook.objects.standing().get().proposition == second.proposition
    assert client.get(f"{address}?history=1")["Location"].endswith("/history/")


def test_who_may_look(world, client):
    first, second = doubts(world).cells[:2]
    story = first.proposition.table.story

    def refused(cell, why: str) -> None:
        with pytest.raises(AdjudicationRefused, match=why):
            look(world, world.esi, cell, cell.gold)
        assert cell.id not in {one["doubt"].id for one in client.get(f"{world.page}look/").context["cells"]}

    client.force_login(world.bob)
    assert client.get(world.page).status_code == 403
    client.force_login(world.esi)
    claims.claim(by=world.eva, stories=[story.pk], now=timezone.now())
    refused(first, "decides story")  # another expert has the story
    vote = {"label": second.gold, "changed_at": timezone.now()}
    Vote.objects.create(proposition=second.proposition, dimension=KEY, annotator=world.esi, **vote)
    refused(second, "voted")  # who voted on a cell leaves it to others
    # who still labels a story sees nothing before that is done
    Assignment.objects.create(story=story, annotator=world.esi, slot=1, overlap=3)
    page = client.get(world.page).content.decode()
    assert "you still have work to do" in page and first.proposition.belief not in page
    for address in (f"{world.page}doubtful-gold.csv", reverse("api:doubtful_gold", args=[world.project.slug])):
        assert client.get(address).status_code == 403


def test_a_doubt_that_waits_closes_the_story_to_experts(world, client):
    """Whoever may look at a cell again sees neither its gold nor what models said of the story, until somebody has."""
    cell = doubts(world).waiting[0]
    item = RunItem.objects.filter(entrant__run=world.doubted, sample__number=cell.story).first()
    pages = [
        f"{world.base}/runs/{world.doubted.uid}/items/{item.pk}/",
        reverse("api:run_item", args=[world.project.slug, world.doubted.uid, item.pk]),
    ]
    story = f"{world.base}/stories/{cell.proposition.table.story.uid}/"

    def seen(person) -> tuple[set[int], bool]:
        client.force_login(person)
        return {client.get(page).status_code for page in pages}, cell.gold in client.get(story).content.decode()

    assert seen(world.alice) == ({200}, True), "admins launch runs and see them"
    assert seen(world.esi) == seen(world.eva) == ({403}, False)
    for one in doubts(world).waiting:
        if one.story == cell.story:
            look(world, world.esi, one, one.gold)
    assert seen(world.esi) == seen(world.eva) == ({200}, True)
    # experts who see no results have no second looks
    world.show_to(Audience.ADMINS)
    assert open_work(project_access(world.eva, world.project.slug)) == set()
