"""Doubtful gold: what experts look at again, blind, and what comes of it."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import call_command
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

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path):
    return doubtful_world(tmp_path)


def doubts(world):
    return doubtful_gold(labelling_of(world.dataset))


def said(cell, label, **more):
    """What a page posts of a cell."""
    return {
        "proposition": cell.proposition, "dimension": cell.dimension, "label": label, "revision": cell.revision,
        "row": cell.label, "now": timezone.now(), **more,
    }  # fmt: skip


def look(world, by, cell, label, **more):
    return look_again(by=by, labelling=labelling_of(world.dataset), **said(cell, label, **more))


def test_planted_cells_come_first_and_nothing_tells_what_models_said(world, client):
    found = doubts(world)
    assert {cell.story for cell in found.cells[:3]} == set(PLANTED)
    assert {(cell.row, cell.dimension) for cell in found.cells} == {(1, KEY)}
    first = found.cells[0]
    assert (first.families, first.heard) == (("alpha", "beta", "gamma"), 3)
    assert (first.now, first.proposed) == (first.gold, other_label(AT, first.gold))
    client.force_login(world.esi)
    slug, base = world.project.slug, f"{world.base}/results/gold/doubtful/"
    page = client.get(base).content.decode()
    assert page.count("3 of\n") + page.count("3 of 3") >= 3
    for text in (page, client.get(f"{base}doubtful-gold.csv").content.decode()):
        assert not any(name in text for name in (*MODELS, first.gold, first.proposed))
    rows = client.get(reverse("api:doubtful_gold", args=[slug])).json()["rows"]
    assert [(row["story"], row["gold"], row["proposed"]) for row in rows[:1]] == [(first.story, "", "")]
    out = io.StringIO()
    call_command("results", "doubtful-gold", "--project", slug, "--json", stdout=out)
    assert json.loads(out.getvalue())["rows"] == rows
    shown = client.get(f"{base}look/")
    [cell] = [one for one in shown.context["cells"] if one["doubt"].id == first.id]
    assert {chip["label"] for chip in cell["chips"][:2]} == {first.gold, first.proposed}
    assert len(cell["chips"]) == len(AT.values) and not any(chip["chosen"] for chip in cell["chips"])
    assert not any(name in shown.content.decode() for name in (*MODELS, "alpha", "Gold was"))
    history = client.get(f"{base}cell/{first.proposition.uid}/{KEY}/?history=1").content.decode()
    assert "once you have looked" in history and first.gold not in history


def test_gold_that_stands_has_a_record_and_is_asked_about_again_for_new_evidence_alone(world):
    cell, events = doubts(world).cells[0], GoldEvent.objects.count()
    kept = look(world, world.esi, cell, cell.gold, reason="It says so.")
    assert kept.stands and (GoldEvent.objects.count(), GoldLabel.objects.count()) == (events, 0)
    assert look(world, world.esi, cell, cell.gold) == kept and SecondLook.objects.count() == 1
    after = doubts(world)
    assert cell.id not in {one.id for one in after.waiting} and after.looked_at[0].stands
    with pytest.raises(AdjudicationRefused, match="esi looked at this cell"):
        look(world, world.eva, cell, cell.gold)
    # two families said so then, three do now
    SecondLook.objects.update(families=["alpha", "beta"])
    assert cell.id in {one.id for one in doubts(world).waiting}
    assert look(world, world.eva, cell, cell.gold).by == world.eva
    assert take_back(by=world.eva, proposition=cell.proposition, dimension=KEY, now=timezone.now())
    assert cell.id in {one.id for one in doubts(world).waiting}
    assert take_back(by=world.eva, proposition=cell.proposition, dimension=KEY, now=timezone.now()) is None


def test_a_changed_label_goes_through_adjudication_and_comes_back(world):
    cell, decided = doubts(world).cells[:2]
    # a cell that another expert decided, as gold has it
    told = {"dimension": KEY, "label": decided.gold, "revision": 0, "now": timezone.now(), "reason": "Clear."}
    adjudicate(by=world.alice, proposition=decided.proposition, **told)
    [decided] = [one for one in doubts(world).cells if one.id == decided.id]
    for one in (cell, decided):
        changed = look(world, world.esi, one, one.proposed)
        gold = GoldLabel.objects.get(proposition=one.proposition, dimension=KEY)
        assert not changed.stands
        assert (gold.label, gold.method, gold.decided_by, gold.reason) == (
            one.proposed, "adjudicated", world.esi, REASON,
        )  # fmt: skip
        [after] = [here for here in doubts(world).cells if here.id == one.id]
        assert after.changed and not after.waits
        # a reason that is given afterwards is the decision's, too
        look(world, world.esi, after, one.proposed, reason="Line 2.")
        gold.refresh_from_db()
        assert gold.reason == "Line 2." and SecondLook.objects.filter(proposition=one.proposition).count() == 1
        take_back(by=world.esi, proposition=one.proposition, dimension=KEY, now=timezone.now())
        [again] = [here for here in doubts(world).cells if here.id == one.id]
        assert again.waits and again.now == one.gold
    assert GoldLabel.objects.get(proposition=decided.proposition, dimension=KEY).decided_by == world.alice
    assert world.dataset.samples.get(number=cell.story).beliefs[0]["labels"][KEY] == cell.gold
    # what is decided elsewhere is no longer this doubt
    now = GoldLabel.objects.get(proposition=decided.proposition, dimension=KEY)
    other = other_label(AT, decided.gold, 2)
    adjudicate(
        by=world.eva, proposition=decided.proposition, dimension=KEY, label=other, revision=now.revision,
        now=timezone.now(), reason="No.",
    )  # fmt: skip
    assert decided.id not in {one.id for one in doubts(world).cells} and doubts(world).left_out == 1


def test_pages_save_and_undo_by_the_script_and_without_it(world, client):
    client.force_login(world.esi)
    base = f"{world.base}/results/gold/doubtful/"
    first, second = doubts(world).cells[:2]
    page = client.get(f"{base}look/?cell={second.id}")
    assert page.context["cells"][0]["doubt"].id == second.id
    urls = page.context["settings"]["urls"]

    def post(address, document):
        return client.post(address, json.dumps(document), content_type="application/json")

    change = {
        "proposition": first.proposition.uid, "dimension": KEY, "label": first.proposed, "revision": 0, "row": 0,
        "reason": "", "error_tag": "", "replaces": "", "idempotency_key": "k" * 12,
        "changed_at": timezone.now().isoformat(),
    }  # fmt: skip
    for _ in range(2):  # sent again, it is one look
        answer = post(urls["save"], {"annotator": world.esi.pk, "changes": [change]}).json()
        assert "Gold changed" in answer["saved"][0]["html"] and first.gold in answer["saved"][0]["html"]
    assert SecondLook.objects.count() == 1
    other = change | {"label": first.gold}
    assert "Say that you replace" in post(urls["save"], {"changes": [other]}).json()["error"]
    answer = post(urls["save"], {"changes": [other | {"replaces": first.proposed}]}).json()
    assert "Gold stands" in answer["saved"][0]["html"]
    assert not GoldLabel.objects.filter(label=first.proposed).exists()
    done = client.get(f"{base}?show=looked-at").content.decode()
    assert first.gold in done and first.proposed in done
    [row] = [
        one
        for one in csv.DictReader(io.StringIO(client.get(f"{base}doubtful-gold.csv").content.decode()))
        if one["Second look"]
    ]
    assert (row["Second look"], row["Models"], row["State"]) == (first.gold, first.proposed, "Gold stands")
    undo = client.get(urls["undo"]).json()["undo"]
    assert undo["label"] == first.gold and undo["story"] == first.story
    assert 'data-todo="1"' in post(urls["undo"], {"cells": undo["cells"]}).json()["cells"][0]["html"]
    assert client.get(urls["undo"]).json()["undo"] is None
    form = {"label": second.gold, "revision": 0, "row": 0}
    address = f"{base}cell/{second.proposition.uid}/{KEY}/"
    assert client.post(address, form).status_code == 302
    assert SecondLook.objects.standing().get().proposition == second.proposition
    assert client.get(f"{address}?history=1")["Location"].endswith("/history/")


def test_who_may_look(world, client):
    first, second = doubts(world).cells[:2]
    story = first.proposition.table.story
    base = f"{world.base}/results/gold/doubtful/"
    client.force_login(world.bob)
    assert client.get(base).status_code == 403
    # another expert has the story
    claims.claim(by=world.eva, stories=[story.pk], now=timezone.now())
    with pytest.raises(AdjudicationRefused, match="decides story"):
        look(world, world.esi, first, first.gold)
    client.force_login(world.esi)
    assert first.id not in {cell["doubt"].id for cell in client.get(f"{base}look/").context["cells"]}
    # who voted on a cell leaves it to others
    Vote.objects.create(
        proposition=second.proposition, dimension=KEY, annotator=world.esi, label=second.gold,
        changed_at=timezone.now(),
    )  # fmt: skip
    with pytest.raises(AdjudicationRefused, match="voted"):
        look(world, world.esi, second, second.gold)
    assert second.id not in {cell["doubt"].id for cell in client.get(f"{base}look/").context["cells"]}
    # who still labels a story sees nothing before that is done
    Assignment.objects.create(story=story, annotator=world.esi, slot=1, overlap=3)
    page = client.get(base).content.decode()
    assert "you still have work to do" in page and first.proposition.belief not in page
    assert client.get(f"{base}doubtful-gold.csv").status_code == 403
    assert client.get(reverse("api:doubtful_gold", args=[world.project.slug])).status_code == 403


def test_an_archive_has_the_decision_of_a_second_look_and_not_the_look(world):
    cell = doubts(world).cells[0]
    look(world, world.esi, cell, cell.proposed)
    import_archive(by=None, source=packed(world.project), slug="copy", now=timezone.now())
    [event] = GoldEvent.objects.filter(proposition__table__story__project__slug="copy", reason=REASON)
    assert (event.after, event.after_method) == (cell.proposed, "adjudicated")
    assert str(event.by) == "copy:esi" and SecondLook.objects.count() == 1


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


def test_experts_who_see_no_results_have_no_second_looks(world):
    world.show_to(Audience.ADMINS)
    assert open_work(project_access(world.esi, world.project.slug)) == set()
