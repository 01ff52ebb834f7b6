"""Reconciliation in real Chromium: two tables become one by keyboard, saved row by row."""

import pytest
from django.utils import timezone

from annotation.domain.tables import TableRow
from annotation.models import BeliefTable, DraftRow, Membership, Pair, Proposition
from annotation.services import drafts
from annotation.services.reconciliation import link, pairs_of
from tests.annotation.drafting import write_draft
from tests.browser.driving import FITS, press, wait_saved, wait_until

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
MOVED = "Tomas has moved the key"


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


@pytest.fixture
def pairs(page, login, cast, story):
    """Esi's page with the pairs open."""
    login(page, cast.esi)
    return enter(page, story)


def enter(page, story):
    page.goto(f"/p/minds/stories/{story.uid}/reconcile/")
    if page.locator("text=Open the reconciliation").count():
        page.wait_for_selector("button[name=open]:focus")  # it is drawn before it is focused
        page.keyboard.press("Enter")
    page.wait_for_selector("html[data-pairs-ready]", state="attached")
    return page


def statuses(story) -> dict[str, str]:
    return dict(pairs_of(story).values_list("belief", "status"))


def own_rows_of_b(page, count: int) -> None:
    page.wait_for_selector(f"[data-kind=only-b] .count:text-is('{count}')")


def active(page) -> str:
    return page.evaluate("document.querySelector('[data-active] [data-field=belief]').value")


@pytest.mark.path
def test_two_tables_become_one_by_keyboard_alone(pairs, story):
    assert pairs.inner_text("#count") == "6 of 7 rows to decide"
    assert active(pairs) == "The key is still in the bag"
    press(pairs, "b")  # reworded: B's words
    assert active(pairs) == "Ines thinks that the key is in the bag"
    press(pairs, "2")  # only the orders differ
    assert active(pairs) == "Tomas is out"
    press(pairs, "x")
    assert active(pairs) == MOVED
    press(pairs, "l", "ArrowDown", "l")  # the same as B's first own row
    own_rows_of_b(pairs, 1)
    wait_until(pairs, f"document.querySelector('[data-active] [data-field=belief]').value === '{MOVED}'")
    press(pairs, "Enter", [" away"], "Enter")
    assert active(pairs) == "It rains"
    press(pairs, "r", ["narrated"], "Escape", "b", "i", ["Ines is in the room"], "Escape")
    wait_saved(pairs, "pairs")
    kept = [
        ("The key is in the bag", "0", "", ""),
        ("The key is still lying in the bag", "1", "revised", ""),
        (f"{MOVED} away", "1", "revised", ""),
        ("Ines thinks that the key is in the bag", "2", "revised", ""),
        ("It rains", "1", "added", "narrated"),
        ("Ines is in the room", "1", "added", ""),
    ]
    assert statuses(story) == {row[0]: "kept" for row in kept} | {"Tomas is out": "dropped"}
    press(pairs, "f", "Enter")
    pairs.wait_for_selector("text=Where the table of story 1 comes from")
    gold = Proposition.objects.gold_of(story)
    assert list(gold.values_list("belief", "order_text", "remark", "remark_text")) == kept


def test_another_decision_on_a_decided_row_asks_first(pairs, story):
    page = pairs
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
    page.wait_for_selector("#replace", state="hidden")
    wait_saved(page, "pairs")
    assert pairs_of(story).get(belief="Ines thinks that the key is in the bag").order_text == "2"
    assert statuses(story)[first] == "kept"


def test_a_late_answer_keeps_the_question_open(pairs, story):
    page, saves = pairs, []
    page.route("**/reconcile/save/", lambda route: saves.append(route), times=1)
    press(page, "b")  # on its way while the others are made, which then go together
    while not saves:
        page.wait_for_timeout(20)
    press(page, "1", "ArrowUp", "o", "1", "ArrowUp", "2")
    saves[0].continue_()
    wait_saved(page, "pairs")
    assert page.locator("#replace").is_visible()
    press(page, "Enter")
    wait_saved(page, "pairs")
    assert pairs_of(story).get(belief="Ines thinks that the key is in the bag").order_text == "2"


def test_enter_twice_keeps_the_words_as_they_stand(pairs, story):
    page = pairs
    press(page, "Enter", "Enter")
    assert active(page) == "Ines thinks that the key is in the bag"
    press(page, "r", ["ask Tomas"], "Enter")  # a remark decides nothing
    wait_saved(page, "pairs")
    assert statuses(story)["The key is still in the bag"] == "kept"
    assert statuses(story)["Ines thinks that the key is in the bag"] == ""


def test_an_order_that_one_left_out_is_decided_by_a_person(page, login, cast, story):
    DraftRow.objects.filter(table__author=cast.ben, actor="world").update(order_text="")
    login(page, cast.esi)
    enter(page, story)
    assert page.inner_text("#count") == "7 of 7 rows to decide"
    row = page.locator("[data-kind=order] .pair-row").first
    assert row.locator(".pair-order").all_inner_texts() == ["order 0", "order not given"]
    press(page, "ArrowDown", "b")  # as Ben wrote it
    press(page, "a")  # the next one, as Esi did
    wait_saved(page, "pairs")
    decided = pairs_of(story).filter(a__isnull=False, b__isnull=False, status="kept")
    assert list(decided.values_list("belief", "order_text")) == [
        ("The key is in the bag", ""), ("Ines thinks that the key is in the bag", "1"),
    ]  # fmt: skip


def test_decisions_and_links_survive_a_server_that_is_away_and_are_undone_after_a_reload(pairs, cast, story):
    def away() -> None:
        pairs.context.route("**/reconcile/save/", lambda route: route.abort())

    away()
    press(pairs, "b", "2")
    pairs.wait_for_selector("#trouble:not([hidden])")
    assert not Pair.objects.filter(decided_by=cast.esi).exists()
    pairs.context.unroute("**/reconcile/save/")
    wait_saved(pairs, "pairs")
    assert statuses(story)["The key is still lying in the bag"] == "kept"
    enter(pairs, story)
    for left in (5, 6):
        press(pairs, "Control+z")
        wait_until(pairs, f"document.querySelector('#count').textContent.startsWith('{left} ')")
    wait_saved(pairs, "pairs")
    assert statuses(story)["The key is still in the bag"] == ""
    enter(pairs, story)
    press(pairs, "n", "n", "n")
    assert active(pairs) == MOVED
    before = list(pairs_of(story).values_list("uid", flat=True))
    press(pairs, "l", "ArrowDown", "l")
    own_rows_of_b(pairs, 1)
    press(pairs, "Control+z")
    own_rows_of_b(pairs, 2)
    wait_until(pairs, f"document.querySelector('[data-active] [data-field=belief]')?.value === '{MOVED}'")
    press(pairs, "Control+y")
    own_rows_of_b(pairs, 1)
    wait_saved(pairs, "pairs")
    away()
    enter(pairs, story)
    press(pairs, "Control+z")
    pairs.wait_for_selector("#trouble:not([hidden])")
    assert pairs_of(story).count() == len(before) - 1
    enter(pairs, story)  # what was not sent waits in the browser
    pairs.context.unroute("**/reconcile/save/")
    own_rows_of_b(pairs, 2)
    wait_saved(pairs, "pairs")
    assert list(pairs_of(story).values_list("uid", flat=True)) == before


def test_a_row_is_linked_by_dragging_and_a_link_of_another_tab_taken_back(pairs, cast, story):
    source = pairs.locator("[data-kind=only-a] .pair-row", has_text="Tomas has moved").locator("[data-handle]")
    source.drag_to(pairs.locator("[data-kind=only-b] .pair-row").first)
    own_rows_of_b(pairs, 1)
    assert pairs_of(story).filter(a__isnull=False, b__isnull=False).count() == 4
    a, b = (pairs_of(story).get(belief=belief).uid for belief in ("Tomas is out", "It rains"))
    link(by=cast.esi, story=story, first=a, second=b, key="other-tab", now=timezone.now())
    press(pairs, "Control+z")
    wait_until(pairs, "document.querySelector('#announce').textContent === 'Undone.'")
    wait_saved(pairs, "pairs")
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
    wait_saved(page, "pairs")
    press(other, "b")  # Esi decided that row meanwhile, in the same way
    press(other, "n", "n", "n", "b", "b", "b", "b")
    wait_saved(other, "pairs")
    pairs_of(story).filter(status="").update(status="kept")
    enter(other, story)
    press(other, "y")
    other.wait_for_selector("text=agreed: Ben")
    press(other, "r", "x")
    wait_saved(other, "pairs")
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


def test_pages_of_tables_are_whole_and_accessible_on_a_small_window(new_page, login, cast, story, assert_accessible):
    for width, height in ((1280, 800), (853, 533), (390, 844)):
        page = new_page(width=width, height=height)
        login(page, cast.esi)
        enter(page, story)
        assert page.evaluate(FITS)
        assert_accessible(page)
    login(page, cast.alice)
    for address in ("/p/minds/tables/", "/p/minds/tables/figures/"):
        page.goto(address)
        assert page.evaluate(FITS)
        assert_accessible(page)
