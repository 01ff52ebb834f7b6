"""The labelling grid in real Chromium: keyboard, autosave, undo, what happens when saving fails."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import CellComment, Proposition, PropositionFlag, Vote, VoteEvent
from tests.browser.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROWS = [("world", "The key is in the drawer")] + [
    (actor, f"The key is in the {place}")
    for actor in ("Ines", "Tomas", "Helena", "Mr. Varga")
    for place in ("bag", "drawer", "pocket", "cabin", "box", "ferry")
]
TEXT = (
    "Ines puts the key in the bag. Tomas, her brother, moves it; Ines does not see it. Inesita is somebody "
    "else.\n\nInes' bag."
)


@pytest.fixture
def story(cast, make_story, assign):
    cast.project.speed_floor_ms = 0
    cast.project.save()
    story = make_story(rows=ROWS, text=TEXT)
    assign(story)
    return story


@pytest.fixture
def grid(page, login, cast, story):
    """Bob's page on the story of 25 propositions, ready."""
    login(page, cast.bob)
    return enter(page, story)


def enter(page, story, tail=""):
    page.goto(f"/p/minds/work/{story.uid}/{tail}")
    page.wait_for_selector("html[data-grid-ready]", state="attached")
    return page


def cell(page, row: int, dimension: str):
    return page.locator(f'#grid tbody tr:nth-child({row}) td[data-dimension="{dimension}"]')


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def wait_saved(page) -> None:
    wait_until(page, "document.getElementById('save-state').textContent === 'all saved'")
    wait_until(page, "!Object.keys(localStorage).some((name) => name.startsWith('credence:votes'))")


def labels(row: Proposition) -> dict[str, str]:
    return dict(Vote.objects.cast().filter(proposition=row).values_list("dimension", "label"))


def focused(page) -> tuple[int, str]:
    return tuple(
        page.evaluate("[document.activeElement.parentElement.rowIndex, document.activeElement.dataset.dimension]")
    )


def break_saving(page) -> None:
    page.context.route("**/votes/", lambda route: route.fulfill(status=503, body="busy"))


@pytest.mark.path
def test_a_story_is_labelled_by_keyboard_alone(grid, story, cast):
    for at in range(len(ROWS)):
        digits = ["0" if at == 0 else "1", "1", "2", "1", str(1 + at % 8), "1" if at == 0 else "2", "4"]
        press(grid, *digits)
    grid.wait_for_selector("#finished:not([hidden])")
    wait_saved(grid)
    assert grid.inner_text("#progress-text") == "175 / 175"
    votes = Vote.objects.cast().filter(annotator=cast.bob)
    assert votes.count() == 175 == VoteEvent.objects.count()
    content = DEFAULT_SCHEMA["content_type"].values
    for at, row in enumerate(Proposition.objects.gold_of(story)):
        assert labels(row)["content_type"] == content[at % 8]
        assert labels(row)["context"] == "Neutral"
    assert not votes.filter(duration_ms=None).exists()
    press(grid, "s")
    grid.wait_for_url("**/p/minds/work/")
    assert "Every story that was given to you is labelled." in grid.inner_text("main")


def test_keys_move_as_a_grid_does(grid):
    assert focused(grid) == (1, "order")
    press(grid, "ArrowDown", "ArrowDown", "ArrowRight")
    assert focused(grid) == (3, "truth_status")
    press(grid, "End")
    assert focused(grid) == (3, "context")
    press(grid, "Home", "ArrowLeft", "ArrowUp")
    assert focused(grid) == (2, "order")
    press(grid, "Control+End")
    assert focused(grid) == (25, "context")
    press(grid, "ArrowDown", "ArrowRight", "PageUp")
    assert focused(grid) == (17, "context")
    assert grid.locator('#grid [tabindex="0"]').count() == 1
    press(grid, "Tab")
    assert not grid.evaluate("document.getElementById('grid').contains(document.activeElement)")
    press(grid, "Shift+Tab")
    assert focused(grid) == (17, "context")


def test_enter_keeps_delete_withdraws_and_n_finds_the_next_open_cell(grid, story):
    press(grid, "1", "2", "ArrowLeft", "Delete", "Enter", "1")
    wait_saved(grid)
    row = Proposition.objects.gold_of(story).first()
    assert labels(row) == {"order": "1", "knowledge_access": "Private"}
    press(grid, "Home", "n")
    assert focused(grid) == (1, "truth_status")


def test_an_option_is_chosen_with_the_mouse(grid, story):
    cell(grid, 2, "representation").click()
    grid.locator('.options[data-active] .option[data-value="Implicit"]').click()
    wait_saved(grid)
    assert labels(Proposition.objects.gold_of(story)[1]) == {"representation": "Implicit"}
    assert focused(grid) == (2, "content_type")


@pytest.mark.path
def test_undo_goes_back_vote_by_vote_also_after_a_reload(grid, story):
    press(grid, "1", "2", "3")
    press(grid, "Home", "2")
    wait_saved(grid)
    grid.reload()
    grid.wait_for_selector("html[data-grid-ready]", state="attached")
    row = Proposition.objects.gold_of(story).first()
    expected = [
        {"order": "1", "truth_status": "False", "knowledge_access": "Public"},
        {"order": "1", "truth_status": "False"},
        {"order": "1"},
        {},
    ]
    for state in expected:
        count = VoteEvent.objects.count()
        press(grid, "Control+z")
        wait_until(grid, "document.getElementById('announce').textContent.startsWith('Undone')")
        grid.evaluate("document.getElementById('announce').textContent = ''")
        wait_saved(grid)
        assert labels(row) == state
        assert VoteEvent.objects.count() == count + 1
    press(grid, "Control+z")
    wait_until(grid, "document.getElementById('announce').textContent.startsWith('There is nothing to undo')")


def test_undo_right_after_undo_and_a_new_vote_keeps_the_order(grid, story):
    press(grid, "1", "2", "Control+z", "Control+z", "3")
    wait_until(grid, "document.querySelectorAll('td[data-label=\"3\"]').length === 1")
    wait_saved(grid)
    assert labels(Proposition.objects.gold_of(story).first()) == {"order": "3"}


@pytest.mark.path
def test_a_failed_save_is_shown_kept_over_a_reload_and_sent_afterwards(grid, story):
    break_saving(grid)
    press(grid, "1", "2")
    grid.wait_for_selector('td[data-state="failed"]')
    assert cell(grid, 1, "order").inner_text().split() == ["1", "not", "saved"]
    assert grid.inner_text("#save-state") == "2 votes not saved, trying again"
    assert "does not answer" in grid.inner_text("#trouble")
    press(grid, "Control+z")
    wait_until(grid, "document.getElementById('progress-text').textContent === '1 / 175'")
    asked = []
    grid.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    grid.reload()
    assert asked == ["beforeunload"]
    grid.wait_for_selector("html[data-grid-ready]", state="attached")
    assert cell(grid, 1, "order").get_attribute("data-label") == "1"
    assert not Vote.objects.exists()
    grid.context.unroute("**/votes/")
    wait_saved(grid)  # tried again by itself
    assert labels(Proposition.objects.gold_of(story).first()) == {"order": "1"}
    assert VoteEvent.objects.count() == 3
    assert grid.is_hidden("#trouble")


def test_nothing_is_asked_on_leaving_when_all_is_saved(grid):
    press(grid, "1")
    wait_saved(grid)
    grid.on("dialog", lambda dialog: pytest.fail(f"asked: {dialog.type}"))
    grid.goto("/p/minds/work/")


def test_votes_of_a_crashed_page_are_sent_from_the_list_of_stories(grid, story, away):
    with away("/votes/"):
        press(grid, "1", "1")
        grid.wait_for_selector('td[data-state="failed"]')
        context = grid.context
        grid.close()  # as a crash: nobody is asked
        assert not Vote.objects.exists()
    after = context.new_page()
    after.goto("/p/minds/work/")
    wait_until(after, "document.getElementById('leftovers').textContent.startsWith('All your votes are saved')")
    assert Vote.objects.count() == 2


def test_an_answer_that_was_lost_does_no_harm(grid, story):
    def lose(route):
        route.fetch()  # the server saves, the browser hears nothing
        route.abort()

    grid.context.route("**/votes/", lose, times=1)
    press(grid, "1")
    grid.wait_for_selector('td[data-state="failed"]')
    wait_saved(grid)
    assert (Vote.objects.count(), VoteEvent.objects.count()) == (1, 1)


def test_a_log_out_meanwhile_loses_nothing(grid, login, cast, story):
    grid.context.clear_cookies()
    press(grid, "1")
    grid.wait_for_selector("#trouble-login:not([hidden])")
    assert "You are logged out" in grid.inner_text("#trouble")
    assert unquote(grid.get_attribute("#trouble-login", "href")) == f"/login/?next=/p/minds/work/{story.uid}/"
    grid.click("#trouble-login")
    grid.fill("input[name=username]", "bob")
    grid.fill("input[name=password]", "correct-horse-battery")
    press(grid, "Enter")
    grid.wait_for_selector("html[data-grid-ready]", state="attached")
    wait_saved(grid)
    assert labels(Proposition.objects.gold_of(story).first()) == {"order": "1"}


def test_votes_are_not_sent_under_another_name(grid, login, cast, story):
    login(grid, cast.bea)
    grid.context.add_cookies([])
    press(grid, "1")
    grid.wait_for_selector("#trouble:not([hidden])")
    assert not Vote.objects.exists()
    login(grid, cast.bob)
    grid.click("#trouble-retry")
    wait_saved(grid)
    assert Vote.objects.get().annotator == cast.bob


def test_a_refused_vote_says_why_and_holds_nothing_up(grid, story):
    gone = Proposition.objects.gold_of(story)[0]
    Proposition.objects.filter(pk=gone.pk).update(removed_at=timezone.now())
    break_saving(grid)
    press(grid, "1", "ArrowDown", "1")
    wait_until(grid, "document.querySelectorAll('td[data-state=\"failed\"]').length === 2")
    grid.context.unroute("**/votes/")
    wait_saved(grid)
    assert "There is no proposition" in grid.inner_text(".row-refusal")
    assert cell(grid, 1, "order").get_attribute("data-label") == ""
    assert [vote.dimension for vote in Vote.objects.all()] == ["truth_status"]


@pytest.mark.path
def test_two_tabs_on_one_story_lose_nothing(grid, story):
    other = enter(grid.context.new_page(), story)
    press(grid, "1", "1")
    press(other, "ArrowDown", "ArrowDown", "2", "2")
    press(grid, "3")
    press(other, "Home", "3")
    for tab in (grid, other):
        wait_saved(tab)
    rows = list(Proposition.objects.gold_of(story))
    assert labels(rows[0]) == {"order": "1", "truth_status": "True", "knowledge_access": "Public"}
    assert labels(rows[2]) == {"order": "3", "truth_status": "False"}
    assert cell(grid, 3, "order").get_attribute("data-label") == "3"
    assert cell(other, 1, "knowledge_access").get_attribute("data-label") == "Public"


@pytest.mark.parametrize(("answer", "after"), [("Enter", ["truth_status", "True"]), ("Escape", ["order", "2"])])
def test_a_vote_faster_than_reading_is_questioned_and_nothing_typed_meanwhile_goes_elsewhere(
    page, login, cast, story, answer, after
):
    cast.project.speed_floor_ms = 60_000
    cast.project.save()
    login(page, cast.bob)
    enter(page, story)
    press(page, "3", "2", "9", "3")
    page.wait_for_selector("#quick:not([hidden])")
    assert "3 (Order, " in page.inner_text("#quick")
    wait_saved(page)
    first = {"order": "3", "truth_status": "False", "knowledge_access": "Public"}
    assert labels(Proposition.objects.gold_of(story).first()) == first
    press(page, answer)
    assert page.is_hidden("#quick")
    press(page, "Control+Home", "ArrowRight") if answer == "Enter" else None
    press(page, "1" if answer == "Enter" else "2")
    wait_saved(page)
    dimension, label = after
    assert labels(Proposition.objects.gold_of(story).first()) == first | {dimension: label}


HIDDEN_BY_THE_QUESTION = """() => {
    const box = (one) => one.getBoundingClientRect();
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const quick = box(document.querySelector('#quick'));
    const table = box(document.querySelector('.grid-scroll'));
    const active = box(document.activeElement);
    const options = [...document.querySelectorAll('.options[data-active] .option')];
    return [
        quick.height < 20, quick.bottom > innerHeight, over(quick, table), options.some((one) => over(quick, box(one))),
        active.bottom > table.bottom || active.top < table.top,
    ];
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (853, 533), (390, 844)])
def test_the_question_about_a_fast_vote_hides_neither_options_nor_cells(new_page, login, cast, story, width, height):
    cast.project.speed_floor_ms = 60_000
    cast.project.save()
    page = new_page(width=width, height=height)
    login(page, cast.bob)
    enter(page, story)
    press(page, "3")
    page.wait_for_selector("#quick:not([hidden])")
    assert page.evaluate(HIDDEN_BY_THE_QUESTION) == [False] * 5


def test_the_question_about_a_fast_vote_goes_when_all_cells_are_done(page, login, cast, story):
    cast.project.speed_floor_ms = 60_000
    cast.project.save()
    for row in Proposition.objects.gold_of(story)[1:]:
        row.delete()
    Proposition.objects.create(table=story.tables.get(), position=9, actor="Ines", belief="All is well")
    login(page, cast.bob)
    enter(page, story)
    press(page, "1")
    page.wait_for_selector("#quick:not([hidden])")
    press(page, *["1"] * (2 * len(DEFAULT_SCHEMA.keys) - 1))
    page.wait_for_selector("#finished:not([hidden])")
    assert page.is_hidden("#quick")


def test_a_digit_that_is_no_option_is_said_and_moves_nothing(grid):
    press(grid, "9")
    assert "has no option 9" in grid.inner_text("#told")
    assert cell(grid, 1, "order").get_attribute("tabindex") == "0"
    press(grid, "ArrowRight")
    assert grid.is_hidden("#told")


def test_an_actor_is_marked_wherever_the_story_mentions_it(grid):
    marked = "[...(CSS.highlights.get('actor') ?? [])].map(String)"
    assert grid.evaluate(marked) == []
    press(grid, "ArrowDown")
    assert grid.evaluate(marked) == ["Ines", "Ines", "Ines"]
    grid.hover("#grid tbody tr:nth-child(9) th")
    assert grid.evaluate(marked) == ["Tomas"]
    grid.hover("#story-text")
    assert grid.evaluate(marked) == ["Ines", "Ines", "Ines"]


def test_cross_checks_appear_and_go_beside_the_row(grid):
    press(grid, "2")
    grid.wait_for_selector('.row-warning:text("World facts have order 0.")')
    assert cell(grid, 1, "order").get_attribute("data-warned") is not None
    press(grid, "Home", "0")
    grid.wait_for_selector(".row-warning", state="detached")


def test_the_guideline_stays_beside_the_grid_and_follows_the_column(grid):
    press(grid, "g")
    grid.wait_for_selector("#panel-body :text('How many minds deep')")
    press(grid, "1")
    assert focused(grid) == (1, "truth_status")
    grid.wait_for_selector("#panel-body :text('Does the story bear')")
    press(grid, "Escape")
    assert grid.is_hidden("#panel")
    assert focused(grid) == (1, "truth_status")


@pytest.mark.path
def test_a_comment_and_a_flag_are_written_without_the_mouse(grid, story, cast):
    press(grid, "ArrowDown", "c")
    grid.wait_for_selector("#panel-body textarea:focus")
    grid.keyboard.type("Is this 1 or 2?")
    press(grid, "Escape", "c")
    wait_until(grid, "document.querySelector('#panel-body textarea')?.value === 'Is this 1 or 2?'")
    press(grid, "Control+Enter")
    grid.wait_for_selector("#panel-body :text('Bob')")
    assert CellComment.objects.get().text == "Is this 1 or 2?"
    assert "comment" in cell(grid, 2, "order").inner_text()
    press(grid, "Escape", "x")
    grid.wait_for_selector("#panel-body textarea:focus")
    grid.keyboard.type("Two claims in one")
    press(grid, "Control+Enter")
    grid.wait_for_selector("#panel-body .timeline :text('Two claims in one')")
    assert PropositionFlag.objects.get().kind == "split"
    press(grid, "Escape", "Control+End", "f")
    assert focused(grid) == (2, "order")


def test_news_opens_the_thread_at_its_cell(page, login, cast, story):
    row = Proposition.objects.gold_of(story)[4]
    place = {"proposition": row, "dimension": "context", "thread_of": cast.bob}
    CellComment.objects.create(**place, author=cast.esi, text="Look at the last line again.")
    login(page, cast.bob)
    page.goto("/p/minds/work/")
    assert page.is_visible(".badge-new")
    page.click("#news a")
    page.wait_for_selector("#panel-body :text('Look at the last line again.')")
    press(page, "Escape")
    assert focused(page) == (5, "context")
    page.goto("/p/minds/work/")
    assert page.is_hidden(".badge-new")


def test_the_keys_are_listed(grid):
    press(grid, "?")
    shown = grid.inner_text("#help")
    for words in ("undo the last vote", "next flagged proposition", "guideline of this dimension"):
        assert words in shown
    press(grid, "Escape", "1")
    assert focused(grid) == (1, "truth_status")


def test_the_first_load_is_small(new_page, login, cast, story):
    page = new_page()
    login(page, cast.bob)
    enter(page, story)
    size = page.evaluate(
        "performance.getEntries().filter((one) => 'encodedBodySize' in one).reduce((sum, one) => sum + "
        "one.encodedBodySize, 0)"
    )
    assert 50_000 < size < 300_000
    assert page.get_attribute("html", "data-grid-ready") is not None


@pytest.mark.path
def test_work_and_grid_are_accessible_in_all_their_states(grid, assert_accessible, story):
    assert_accessible(grid)
    press(grid, "2", "m")
    wait_saved(grid)
    press(grid, "g")
    grid.wait_for_selector("#panel-body h2")
    assert_accessible(grid)
    press(grid, "x")
    grid.wait_for_selector("#panel-body textarea")
    break_saving(grid)
    press(grid, "Escape", "1")
    grid.wait_for_selector('td[data-state="failed"]')
    assert_accessible(grid)
    press(grid, "?")
    assert_accessible(grid)
    press(grid, "Escape")
    grid.context.unroute("**/votes/")
    wait_saved(grid)
    grid.goto("/p/minds/work/")
    assert_accessible(grid)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (853, 533)])
def test_story_options_and_table_fit_the_window(new_page, login, cast, story, width, height):
    page = new_page(width=width, height=height)
    login(page, cast.bob)
    enter(page, story)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.body.scrollHeight") <= height
    for place in ("#story-text", "#options", ".grid-scroll"):
        box = page.locator(place).bounding_box()
        assert box["y"] < height - 80, place
    assert page.locator(".grid-scroll").bounding_box()["height"] > 150
    assert re.fullmatch(r"\d+ / 175", page.inner_text("#progress-text"))
