"""The grid's rows keep their height under the annotator's hands, and what a cell says of its vote fits into it."""

from __future__ import annotations

import pytest

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from tests.annotation.conftest import suggested  # noqa: F401  (fixture)
from tests.annotation.prefilling import shares
from tests.browser.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def open_grid(cast, new_page, login):
    """Bob's grid of a story in a window: `open_grid(story, width=1280, height=800)`."""
    cast.project.speed_floor_ms = 0
    cast.project.save()

    def make(story, **window):
        page = new_page(**window)
        login(page, cast.bob)
        page.goto(f"/p/minds/work/{story.uid}/")
        page.wait_for_selector("html[data-grid-ready]", state="attached")
        return page

    return make


def cell(row: int, dimension: str) -> str:
    return f'#grid tbody tr:nth-child({row}) td[data-dimension="{dimension}"]'


HEIGHTS = "[...document.querySelectorAll('#grid tbody tr')].map((row) => row.getBoundingClientRect().height)"


def accept_all(page) -> None:
    """Gives every cell of the first row the label that is suggested, by mouse."""
    for one in DEFAULT_SCHEMA.dimensions:
        page.click(cell(1, one.key))
        page.click(f'.options[data-active] .option[data-value="{one.values[1]}"]')
    wait_until(page, "document.querySelectorAll('#grid tbody tr:first-child .cell-suggestion').length === 7")
    wait_until(page, "document.getElementById('save-state').textContent === 'all saved'")


def test_a_row_keeps_its_height_when_its_last_suggestion_is_taken(cast, suggested, open_grid):  # noqa: F811
    shares(cast, 0, 0)
    story, _ = suggested(1, rows=[("Ines", "It rains"), ("Tomas", "It snows")])
    page = open_grid(story, width=1280, height=800)
    before = page.evaluate(HEIGHTS)
    accept_all(page)
    assert "model" not in page.inner_text("#grid tbody tr:first-child")
    assert page.evaluate(HEIGHTS) == before


def test_a_revealed_suggestion_that_agrees_adds_no_height(cast, suggested, make_story, assign, open_grid):  # noqa: F811
    shares(cast, 0, 100)
    story, _ = suggested(1, rows=[("Ines", "It rains")])
    page = open_grid(story, width=1280, height=800)
    assert page.locator(".cell-suggestion").count() == 0
    accept_all(page)
    (height,) = page.evaluate(HEIGHTS)
    page.evaluate("document.querySelectorAll('.cell-suggestion').forEach((mark) => mark.remove())")
    assert page.evaluate(HEIGHTS) == [height]


STATES = """(asked) => asked.map(([where, state, text]) => {
  const cell = document.querySelector(where), told = cell.querySelector(".cell-state");
  cell.dataset.state = state;
  told.textContent = text;
  return cell.getBoundingClientRect().right - told.getBoundingClientRect().right;
})"""


def test_what_a_cell_says_of_its_vote_fits_into_every_column(make_story, assign, open_grid):
    story = make_story()
    assign(story)
    page = open_grid(story, width=1920, height=800)
    words = {"saved": "saved", "saving": "saving", "failed": "not saved", "refused": "refused"}
    for width in (1920, 1710, 1510, 1440, 1366, 1345, 1280, 1210, 1024, 853):
        page.set_viewport_size({"width": width, "height": 800})
        asked = [(cell(1, key), *state) for key in DEFAULT_SCHEMA.keys for state in words.items()]
        beyond = [one for one, left in zip(asked, page.evaluate(STATES, asked), strict=True) if left < 0]
        assert beyond == [], width
        page.evaluate(STATES, [(cell(1, "order"), "saved", "saved")])
        size = page.locator(cell(1, "order") + " .cell-state").evaluate("one => getComputedStyle(one).fontSize")
        assert size == ("11px" if width > 1200 else "0px"), "in words, on the screens that most have"
