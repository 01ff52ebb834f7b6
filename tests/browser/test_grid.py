"""The labelling grid in real Chromium: keyboard, autosave, undo, what happens when saving fails."""

import re
from urllib.parse import unquote

import pytest
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import CellComment, Proposition, PropositionFlag, Vote, VoteEvent
from tests.annotation.conftest import suggested  # noqa: F401  (fixture)
from tests.annotation.prefilling import shares
from tests.browser.driving import open_ready, press, wait_saved, wait_until

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


def enter(page, story):
    return open_ready(page, f"/p/minds/work/{story.uid}/", "grid")


def cell(page, row: int, dimension: str):
    return page.locator(f'#grid tbody tr:nth-child({row}) td[data-dimension="{dimension}"]')


def labels(row: Proposition) -> dict[str, str]:
    return dict(Vote.objects.cast().filter(proposition=row).values_list("dimension", "label"))


def focused(page) -> tuple[int, str]:
    return tuple(
        page.evaluate("[document.activeElement.parentElement.rowIndex, document.activeElement.dataset.dimension]")
    )


def break_saving(page) -> None:
    page.context.route("**/votes/", lambda route: route.fulfill(status=503, body="busy"))


def test_keys_move_as_a_grid_does_and_the_mouse_chooses_too(grid, story):
    for keys, place in (
        ((), (1, "order")),
        (("ArrowDown", "ArrowDown", "ArrowRight"), (3, "truth_status")),
        (("End",), (3, "context")),
        (("Home", "ArrowLeft", "ArrowUp"), (2, "order")),
        (("Control+End",), (25, "context")),
        (("ArrowDown", "ArrowRight", "PageUp"), (17, "context")),
    ):
        press(grid, *keys)
        assert focused(grid) == place
    assert grid.locator('#grid [tabindex="0"]').count() == 1
    press(grid, "Tab")
    assert not grid.evaluate("document.getElementById('grid').contains(document.activeElement)")
    press(grid, "Shift+Tab")
    assert focused(grid) == (17, "context")
    press(grid, "Control+Home", "9")
    assert "has no option 9" in grid.inner_text("#told"), "a digit that is no option moves nothing"
    assert focused(grid) == (1, "order")
    press(grid, "1", "2", "ArrowLeft", "Delete", "Enter", "1")  # Enter keeps, Delete withdraws
    assert grid.is_hidden("#told")
    wait_saved(grid, "votes")
    first, second, *_ = Proposition.objects.gold_of(story)
    assert labels(first) == {"order": "1", "knowledge_access": "Private"}
    press(grid, "Home", "n")
    assert focused(grid) == (1, "truth_status"), "the next open cell"
    cell(grid, 2, "representation").click()
    grid.locator('.options[data-active] .option[data-value="Implicit"]').click()
    wait_saved(grid, "votes")
    assert labels(second) == {"representation": "Implicit"} and focused(grid) == (2, "content_type")
    grid.on("dialog", lambda dialog: pytest.fail(f"asked: {dialog.type}"))
    grid.goto("/p/minds/work/")  # nothing is asked on leaving when all is saved


def test_what_the_page_says_beside_the_cells(grid):
    marked = "[...(CSS.highlights.get('actor') ?? [])].map(String)"
    assert grid.evaluate(marked) == []
    press(grid, "ArrowDown")
    assert grid.evaluate(marked) == ["Ines", "Ines", "Ines"], "wherever the story mentions the actor"
    grid.hover("#grid tbody tr:nth-child(9) th")
    assert grid.evaluate(marked) == ["Tomas"]
    grid.hover("#story-text")
    assert grid.evaluate(marked) == ["Ines", "Ines", "Ines"]
    press(grid, "Control+Home", "2")
    grid.wait_for_selector('.row-warning:text("World facts have order 0.")')
    assert cell(grid, 1, "order").get_attribute("data-warned") is not None
    press(grid, "Home", "0")
    grid.wait_for_selector(".row-warning", state="detached")
    press(grid, "Home", "g")
    grid.wait_for_selector("#panel-body :text('How many minds deep')")
    press(grid, "1")
    assert focused(grid) == (1, "truth_status")
    grid.wait_for_selector("#panel-body :text('Does the story bear')")
    press(grid, "Escape")
    assert grid.is_hidden("#panel") and focused(grid) == (1, "truth_status")
    press(grid, "?")
    shown = grid.inner_text("#help")
    for words in ("undo the last vote", "next flagged proposition", "guideline of this dimension"):
        assert words in shown
    press(grid, "Escape", "1")
    assert focused(grid) == (1, "knowledge_access")


@pytest.mark.path
def test_undo_goes_back_vote_by_vote_also_after_a_reload(grid, story):
    press(grid, "1", "2", "3", "Home", "2")
    wait_saved(grid, "votes")
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
        wait_saved(grid, "votes")
        assert labels(row) == state
        assert VoteEvent.objects.count() == count + 1
    press(grid, "Control+z")
    wait_until(grid, "document.getElementById('announce').textContent.startsWith('There is nothing to undo')")
    press(grid, "Control+Home", "1", "2", "Control+z", "Control+z", "3")
    wait_until(grid, "document.querySelectorAll('td[data-label=\"3\"]').length === 1")
    wait_saved(grid, "votes")
    assert labels(row) == {"order": "3"}, "undo right after undo, and a new vote, keep the order"


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
    wait_saved(grid, "votes")  # tried again by itself
    assert labels(Proposition.objects.gold_of(story).first()) == {"order": "1"}
    assert VoteEvent.objects.count() == 3
    assert grid.is_hidden("#trouble")


def test_votes_of_a_crashed_page_and_of_a_lost_answer_are_there_once(grid, away):
    def lose(route):
        route.fetch()  # the server saves, the browser hears nothing
        route.abort()

    grid.context.route("**/votes/", lose, times=1)
    press(grid, "1")
    grid.wait_for_selector('td[data-state="failed"]')
    wait_saved(grid, "votes")
    assert (Vote.objects.count(), VoteEvent.objects.count()) == (1, 1)
    with away("/votes/"):
        press(grid, "1", "1")
        grid.wait_for_selector('td[data-state="failed"]')
        context = grid.context
        grid.close()  # as a crash: nobody is asked
        assert Vote.objects.count() == 1
    after = context.new_page()
    after.goto("/p/minds/work/")
    wait_until(after, "document.getElementById('leftovers').textContent.startsWith('All your votes are saved')")
    assert Vote.objects.count() == 3


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
    wait_saved(grid, "votes")
    row = Proposition.objects.gold_of(story).first()
    assert labels(row) == {"order": "1"}
    login(grid, cast.bea)
    press(grid, "Control+Home", "2")
    grid.wait_for_selector("#trouble:not([hidden])")
    assert labels(row) == {"order": "1"}, "votes are not sent under another name"
    login(grid, cast.bob)
    grid.click("#trouble-retry")
    wait_saved(grid, "votes")
    assert labels(row) == {"order": "2"} and not Vote.objects.exclude(annotator=cast.bob).exists()


def test_a_refused_vote_says_why_and_holds_nothing_up(grid, story):
    gone = Proposition.objects.gold_of(story)[0]
    Proposition.objects.filter(pk=gone.pk).update(removed_at=timezone.now())
    break_saving(grid)
    press(grid, "1", "ArrowDown", "1")
    wait_until(grid, "document.querySelectorAll('td[data-state=\"failed\"]').length === 2")
    grid.context.unroute("**/votes/")
    wait_saved(grid, "votes")
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
        wait_saved(tab, "votes")
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
    wait_saved(page, "votes")
    first = {"order": "3", "truth_status": "False", "knowledge_access": "Public"}
    assert labels(Proposition.objects.gold_of(story).first()) == first
    press(page, answer)
    assert page.is_hidden("#quick")
    press(page, *(("Control+Home", "ArrowRight", "1") if answer == "Enter" else ("2",)))
    wait_saved(page, "votes")
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


def test_the_question_about_a_fast_vote_hides_nothing_and_goes_when_all_is_done(new_page, login, cast, story):
    cast.project.speed_floor_ms = 60_000
    cast.project.save()
    Proposition.objects.filter(table__story=story, position__gt=2).delete()
    for width, height in ((390, 844), (853, 533), (1280, 800)):
        page = new_page(width=width, height=height)
        login(page, cast.bob)
        enter(page, story)
        press(page, "3")
        page.wait_for_selector("#quick:not([hidden])")
        assert page.evaluate(HIDDEN_BY_THE_QUESTION) == [False] * 5, width
    press(page, *["1"] * (2 * len(DEFAULT_SCHEMA.keys) - 1))
    page.wait_for_selector("#finished:not([hidden])")
    assert page.is_hidden("#quick") and page.inner_text("#progress-text") == "14 / 14"
    wait_saved(page, "votes")
    assert Vote.objects.cast().exclude(duration_ms=None).count() == 14
    press(page, "s")
    page.wait_for_url("**/p/minds/work/")
    assert "Every story that was given to you is labelled." in page.inner_text("main")


@pytest.mark.path
def test_a_comment_and_a_flag_are_written_without_the_mouse(grid, story, cast):
    press(grid, "ArrowDown", "c")
    grid.wait_for_selector("#panel-body textarea:focus")
    press(grid, ["Is this 1 or 2?"], "Escape", "c")
    wait_until(grid, "document.querySelector('#panel-body textarea')?.value === 'Is this 1 or 2?'")
    press(grid, "Control+Enter")
    grid.wait_for_selector("#panel-body :text('Bob')")
    assert CellComment.objects.get().text == "Is this 1 or 2?"
    assert "comment" in cell(grid, 2, "order").inner_text()
    press(grid, "Escape", "x")
    grid.wait_for_selector("#panel-body textarea:focus")
    press(grid, ["Two claims in one"], "Control+Enter")
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


@pytest.mark.path
def test_work_and_grid_are_accessible_in_all_their_states(grid, assert_accessible, story):
    assert_accessible(grid)
    press(grid, "2", "m")
    wait_saved(grid, "votes")
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
    wait_saved(grid, "votes")
    grid.goto("/p/minds/work/")
    assert_accessible(grid)


# --- layout
# ----------------------------------------------------------------------------------------------------------------------
def test_the_first_load_is_small_and_fits_the_window(new_page, login, cast, story):
    for width, height in ((1280, 800), (853, 533)):
        page = new_page(width=width, height=height)
        login(page, cast.bob)
        enter(page, story)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.body.scrollHeight") <= height
        for place in ("#story-text", "#options", ".grid-scroll"):
            assert page.locator(place).bounding_box()["y"] < height - 80, place
        assert page.locator(".grid-scroll").bounding_box()["height"] > 150
        assert re.fullmatch(r"\d+ / 175", page.inner_text("#progress-text"))
        if width == 1280:
            entries = "performance.getEntries().filter((one) => 'encodedBodySize' in one)"
            assert 50_000 < page.evaluate(f"{entries}.reduce((sum, one) => sum + one.encodedBodySize, 0)") < 300_000


HEIGHTS = "[...document.querySelectorAll('#grid tbody tr')].map((row) => row.getBoundingClientRect().height)"


def accept_all(page) -> None:
    """Gives every cell of the first row the label that is suggested, by mouse."""
    for one in DEFAULT_SCHEMA.dimensions:
        cell(page, 1, one.key).click()
        page.click(f'.options[data-active] .option[data-value="{one.values[1]}"]')
    wait_until(page, "document.querySelectorAll('#grid tbody tr:first-child .cell-suggestion').length === 7")
    wait_saved(page, "votes")


def test_a_row_keeps_its_height_when_suggestions_are_taken_or_revealed(cast, suggested, page, login):  # noqa: F811
    cast.project.speed_floor_ms = 0
    cast.project.save()
    login(page, cast.bob)
    shares(cast, 0, 0)
    story, _ = suggested(1, rows=[("Ines", "It rains"), ("Tomas", "It snows")])
    enter(page, story)
    before = page.evaluate(HEIGHTS)
    accept_all(page)
    assert "model" not in page.inner_text("#grid tbody tr:first-child")
    assert page.evaluate(HEIGHTS) == before
    shares(cast, 0, 100)
    story, _ = suggested(2, rows=[("Ines", "It rains")])
    enter(page, story)
    assert page.locator(".cell-suggestion").count() == 0
    accept_all(page)
    (height,) = page.evaluate(HEIGHTS)
    page.evaluate("document.querySelectorAll('.cell-suggestion').forEach((mark) => mark.remove())")
    assert page.evaluate(HEIGHTS) == [height]


STATES = """(asked) => asked.map(([key, state, text]) => {
  const cell = document.querySelector(`#grid tbody td[data-dimension="${key}"]`);
  const told = cell.querySelector(".cell-state");
  cell.dataset.state = state;
  told.textContent = text;
  return cell.getBoundingClientRect().right - told.getBoundingClientRect().right;
})"""


def test_what_a_cell_says_of_its_vote_fits_into_every_column(grid):
    words = {"saved": "saved", "saving": "saving", "failed": "not saved", "refused": "refused"}
    for width in (1920, 1710, 1510, 1440, 1366, 1345, 1280, 1210, 1024, 853):
        grid.set_viewport_size({"width": width, "height": 800})
        asked = [(key, *state) for key in DEFAULT_SCHEMA.keys for state in words.items()]
        beyond = [one for one, left in zip(asked, grid.evaluate(STATES, asked), strict=True) if left < 0]
        assert beyond == [], width
        grid.evaluate(STATES, [("order", "saved", "saved")])
        told = grid.locator('#grid tbody td[data-dimension="order"] .cell-state').first
        size = told.evaluate("one => getComputedStyle(one).fontSize")
        assert size == ("11px" if width > 1200 else "0px"), "in words, on the screens that most have"
