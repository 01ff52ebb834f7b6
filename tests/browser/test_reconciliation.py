"""Reconciliation in real Chromium: two tables become one by keyboard, saved row by row."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.domain.tables import TableRow
from annotation.models import BeliefTable, DraftRow, Membership, Pair, Proposition
from annotation.services import drafts
from annotation.services.reconciliation import link, pairs_of
from tests.annotation.drafting import write_draft
from tests.browser.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FIRST = (
    ("world", "The key is in the bag", "0"),
    ("Ines", "The key is still in the bag", "1"),
    ("Ines", "Tomas is out", "1"),
    ("Ines", "Tomas has moved the key", "1"),
    ("Tomas", "Ines thinks that the key is in the bag", "1"),
)
SECOND = (
    ("world", "The key is in the bag", "0"),
    ("Ines", "The key is still lying in the bag", "1"),
    ("Tomas", "Ines thinks that the key is in the bag", "2"),
    ("Ines", "It was Tomas who took it away", "1"),
    ("Tomas", "It rains", "1"),
)


@pytest.fixture
def story(make_story, cast):
    Membership.objects.filter(user=cast.ben).update(role="expert")
    story = make_story(translations={"zh": "小红把钥匙放进包里。"})
    story.tables.all().delete()
    for expert, rows in ((cast.esi, FIRST), (cast.ben, SECOND)):
        rows = [TableRow(*row) for row in rows]
        write_draft(by=expert, story=story, rows=rows, now=timezone.now(), origin="pasted")
        drafts.hand_in(by=expert, story=story, now=timezone.now())
    return story


def enter(page, story):
    page.goto(f"/p/minds/stories/{story.uid}/reconcile/")
    if page.locator("text=Open the lanes").count():
        page.wait_for_selector("button[name=open]:focus")  # it is drawn before it is focused
        page.keyboard.press("Enter")
    page.wait_for_selector("html[data-lanes-ready]", state="attached")
    return page


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def wait_saved(page) -> None:
    wait_until(page, "!Object.keys(localStorage).some((name) => name.startsWith('credence:lanes'))")
    wait_until(page, "document.getElementById('save-state').textContent === 'all saved'")


def statuses(story) -> dict[str, str]:
    return dict(pairs_of(story).values_list("belief", "status"))


def active(page) -> str:
    return page.evaluate("document.querySelector('[data-active] [data-field=belief]').value")


@pytest.mark.path
def test_two_tables_become_one_by_keyboard_alone(page, login, cast, story):
    login(page, cast.esi)
    enter(page, story)
    assert page.inner_text("#count") == "6 of 7 rows to decide"
    assert active(page) == "The key is still in the bag"
    press(page, "b")  # reworded: B's words
    assert active(page) == "Ines thinks that the key is in the bag"
    press(page, "2")  # only the orders differ
    assert active(page) == "Tomas is out"
    press(page, "x")
    assert active(page) == "Tomas has moved the key"
    press(page, "l", "ArrowDown", "l")  # the same as B's first own row
    page.wait_for_selector("[data-lane=only-b] .count:text-is('1')")
    wait_until(page, "document.querySelector('[data-active] [data-field=belief]').value === 'Tomas has moved the key'")
    press(page, "Enter")
    page.keyboard.type(" away")
    press(page, "Enter")
    assert active(page) == "It rains"
    press(page, "r")
    page.keyboard.type("narrated")
    press(page, "Escape", "b", "i")
    page.keyboard.type("Ines is in the room")
    press(page, "Escape")
    wait_saved(page)
    assert statuses(story) == {
        "The key is in the bag": "kept",
        "The key is still lying in the bag": "kept",
        "Ines thinks that the key is in the bag": "kept",
        "Tomas is out": "dropped",
        "Tomas has moved the key away": "kept",
        "It rains": "kept",
        "Ines is in the room": "kept",
    }
    press(page, "f", "Enter")
    page.wait_for_selector("text=Where the table of story 1 comes from")
    gold = Proposition.objects.gold_of(story)
    assert list(gold.values_list("belief", "order_text", "remark", "remark_text")) == [
        ("The key is in the bag", "0", "", ""),
        ("The key is still lying in the bag", "1", "revised", ""),
        ("Tomas has moved the key away", "1", "revised", ""),
        ("Ines thinks that the key is in the bag", "2", "revised", ""),
        ("It rains", "1", "added", "narrated"),
        ("Ines is in the room", "1", "added", ""),
    ]


def test_another_decision_on_a_decided_row_asks_first(page, login, cast, story):
    login(page, cast.esi)
    enter(page, story)
    press(page, "b")
    first = "The key is still lying in the bag"
    press(page, "ArrowUp")
    assert active(page) == first
    press(page, "b")  # the same again only goes on
    press(page, "ArrowUp", "a")
    assert page.inner_text("#replace-text").startswith("This row is decided (B’s words).")
    press(page, "Escape")
    assert page.locator("#replace").is_hidden() and active(page) == first
    press(page, "x")
    assert "left out" in page.inner_text("#replace-text")
    press(page, "ArrowDown")  # another row: nothing is asked any more
    assert page.locator("#replace").is_hidden()
    press(page, "1", "ArrowUp", "2")
    assert "order 2" in page.inner_text("#replace-text")
    press(page, "o")  # nothing is decided there any more
    assert page.locator("#replace").is_hidden()
    press(page, "1", "ArrowUp", "2")
    assert "order 2" in page.inner_text("#replace-text")
    press(page, "Enter")
    wait_saved(page)
    assert dict(pairs_of(story).values_list("belief", "order_text"))["Ines thinks that the key is in the bag"] == "2"
    assert statuses(story)[first] == "kept"


def test_enter_twice_keeps_the_words_as_they_stand(page, login, cast, story):
    login(page, cast.esi)
    enter(page, story)
    press(page, "Enter", "Enter")
    assert active(page) == "Ines thinks that the key is in the bag"
    press(page, "r")
    page.keyboard.type("ask Tomas")
    press(page, "Enter")  # a remark decides nothing
    wait_saved(page)
    assert statuses(story)["The key is still in the bag"] == "kept"
    assert statuses(story)["Ines thinks that the key is in the bag"] == ""


def test_an_order_that_one_left_out_is_decided_by_a_person(page, login, cast, story):
    DraftRow.objects.filter(table__author=cast.ben, actor="world").update(order_text="")
    login(page, cast.esi)
    enter(page, story)
    assert page.inner_text("#count") == "7 of 7 rows to decide"
    row = page.locator("[data-lane=order] .lane-row").first
    assert row.locator(".lane-order").all_inner_texts() == ["order 0", "order not given"]
    press(page, "ArrowDown", "b")  # as Ben wrote it
    press(page, "a")  # the next one, as Esi did
    wait_saved(page)
    decided = pairs_of(story).filter(a__isnull=False, b__isnull=False, status="kept")
    assert list(decided.values_list("belief", "order_text")) == [
        ("The key is in the bag", ""), ("Ines thinks that the key is in the bag", "1"),
    ]  # fmt: skip


def test_decisions_survive_a_server_that_is_away_and_undo_a_reload(page, login, cast, story):
    login(page, cast.esi)
    enter(page, story)
    page.context.route("**/reconcile/save/", lambda route: route.abort())
    press(page, "b", "2")
    page.wait_for_selector("#trouble:not([hidden])")
    assert not Pair.objects.filter(decided_by=cast.esi).exists()
    page.context.unroute("**/reconcile/save/")
    wait_saved(page)
    assert statuses(story)["The key is still lying in the bag"] == "kept"
    enter(page, story)
    press(page, "Control+z")
    wait_until(page, "document.querySelector('#count').textContent.startsWith('5 ')")
    press(page, "Control+z")
    wait_until(page, "document.querySelector('#count').textContent.startsWith('6 ')")
    wait_saved(page)
    assert statuses(story)["The key is still in the bag"] == ""


def test_a_link_is_taken_back_and_made_again_also_after_a_reload_and_a_lost_server(page, login, cast, story):
    login(page, cast.esi)
    enter(page, story)
    press(page, "n", "n", "n")
    assert active(page) == "Tomas has moved the key"
    before = list(pairs_of(story).values_list("uid", flat=True))
    press(page, "l", "ArrowDown", "l")
    page.wait_for_selector("[data-lane=only-b] .count:text-is('1')")
    press(page, "Control+z")
    page.wait_for_selector("[data-lane=only-b] .count:text-is('2')")
    wait_until(page, "document.querySelector('[data-active] [data-field=belief]')?.value === 'Tomas has moved the key'")
    press(page, "Control+y")
    page.wait_for_selector("[data-lane=only-b] .count:text-is('1')")
    wait_saved(page)
    page.context.route("**/reconcile/save/", lambda route: route.abort())
    enter(page, story)
    press(page, "Control+z")
    page.wait_for_selector("#trouble:not([hidden])")
    assert pairs_of(story).count() == len(before) - 1
    enter(page, story)  # what was not sent waits in the browser
    page.context.unroute("**/reconcile/save/")
    page.wait_for_selector("[data-lane=only-b] .count:text-is('2')")
    wait_saved(page)
    assert list(pairs_of(story).values_list("uid", flat=True)) == before


def test_a_link_made_in_another_tab_is_taken_back_here(page, login, cast, story):
    login(page, cast.esi)
    enter(page, story)
    a, b = (pairs_of(story).get(belief=belief).uid for belief in ("Tomas is out", "It rains"))
    link(by=cast.esi, story=story, first=a, second=b, key="other-tab", now=timezone.now())
    press(page, "Control+z")
    wait_until(page, "document.querySelector('#announce').textContent === 'Undone.'")
    wait_saved(page)
    assert set(pairs_of(story).filter(uid__in=[a, b]).values_list("uid", flat=True)) == {a, b}


@pytest.mark.path
def test_both_experts_see_each_other_and_agree(page, login, cast, story, new_page):
    cast.project.tables_agreed = True
    cast.project.save()
    login(page, cast.esi)
    enter(page, story)
    other = new_page()
    login(other, cast.ben)
    enter(other, story)
    press(other, "y")  # rows are open: nothing is sent
    other.wait_for_selector("#told:text-is('6 rows are still to decide.')")
    press(page, "b", "2", "a", "a")
    wait_saved(page)
    press(other, "b")  # Esi decided that row meanwhile, in the same way
    press(other, "n", "n", "n", "b", "b", "b", "b")
    wait_saved(other)
    pairs_of(story).filter(status="").update(status="kept")
    enter(other, story)
    press(other, "y")
    other.wait_for_selector("text=agreed: Ben")
    press(other, "r", "x")
    wait_saved(other)
    other.wait_for_selector("#agree-word:text-is('Agree')")  # the remark took it back
    press(other, "Escape", "y")
    other.wait_for_selector("#agree-word:text-is('Agree no more')")
    enter(page, story)
    pairs_of(story).filter(belief="It rains").update(remark="drizzle")  # nobody agrees to what they have not seen
    press(page, "y")
    page.wait_for_selector("#told:has-text('Rows were changed meanwhile')")
    press(page, "y")
    page.wait_for_selector("text=agreed: Esi, Ben")
    press(page, "f", "Enter")
    page.wait_for_selector("text=Where the table of story 1 comes from")
    assert BeliefTable.objects.filter(story=story, agreed_at__isnull=False).count() == 2


def test_a_row_is_linked_by_dragging(page, login, cast, story):
    login(page, cast.esi)
    enter(page, story)
    source = page.locator("[data-lane=only-a] .lane-row", has_text="Tomas has moved").locator("[data-handle]")
    source.drag_to(page.locator("[data-lane=only-b] .lane-row").first)
    page.wait_for_selector("[data-lane=only-b] .count:text-is('1')")
    assert pairs_of(story).filter(a__isnull=False, b__isnull=False).count() == 4


def test_the_lanes_are_whole_and_accessible_on_a_small_window(new_page, login, cast, story, assert_accessible):
    for width, height in ((1280, 800), (853, 533), (390, 844)):
        page = new_page(width=width, height=height)
        login(page, cast.esi)
        enter(page, story)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert_accessible(page)


def test_the_queue_and_the_figures_are_whole_and_accessible(new_page, login, cast, story, assert_accessible):
    page = new_page(width=390, height=844)
    login(page, cast.alice)
    for address in ("/p/minds/tables/", "/p/minds/tables/figures/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert_accessible(page)
