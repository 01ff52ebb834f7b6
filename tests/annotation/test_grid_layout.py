"""The grid's rows keep their height under the annotator's hands, and what a cell says of its vote fits into it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from django.conf import settings

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from tests.annotation.prefilling import shares
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def chromium() -> Iterator:
    """A browser of this file's own: while it runs, no test of asynchronous code could start another event loop."""
    if not os.path.exists(CHROMIUM):
        pytest.skip("Chromium is not installed; set CHROMIUM to its path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def open_grid(cast, chromium, live_server, client):
    """Bob's grid of a story in a window: `open_grid(story, width=1280, height=800)`."""
    cast.project.speed_floor_ms = 0
    cast.project.save()
    client.force_login(cast.bob)
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies[settings.SESSION_COOKIE_NAME].value}
    contexts = []

    def make(story, **viewport):
        context = chromium.new_context(base_url=live_server.url, viewport=viewport, reduced_motion="reduce")
        contexts.append(context)
        context.add_cookies([cookie | {"url": live_server.url}])
        page = context.new_page()
        page.goto(f"/p/minds/work/{story.uid}/")
        page.wait_for_selector("html[data-grid-ready]", state="attached")
        return page

    yield make
    for context in contexts:
        context.close()


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


def test_a_row_keeps_its_height_when_its_last_suggestion_is_taken(cast, suggested, open_grid):
    shares(cast, 0, 0)
    story, _ = suggested(1, rows=[("Ines", "It rains"), ("Tomas", "It snows")])
    page = open_grid(story, width=1280, height=800)
    before = page.evaluate(HEIGHTS)
    accept_all(page)
    assert "model" not in page.inner_text("#grid tbody tr:first-child")
    assert page.evaluate(HEIGHTS) == before


def test_a_revealed_suggestion_that_agrees_adds_no_height(cast, suggested, make_story, assign, open_grid):
    shares(cast, 0, 100)
    story, _ = suggested(1, rows=[("Ines", "It rains")])
    page = open_grid(story, width=1280, height=800)
    assert page.locator(".cell-suggestion").count() == 0
    accept_all(page)
    (height,) = page.evaluate(HEIGHTS)
    page.evaluate("document.querySelectorAll('.cell-suggestion').forEach((mark) => mark.remove())")
    assert page.evaluate(HEIGHTS) == [height]


STATE = """([where, state, text]) => {
  const cell = document.querySelector(where), told = cell.querySelector(".cell-state");
  cell.dataset.state = state;
  told.textContent = text;
  return cell.getBoundingClientRect().right - told.getBoundingClientRect().right;
}"""


def test_what_a_cell_says_of_its_vote_fits_into_every_column(make_story, assign, open_grid):
    story = make_story()
    assign(story)
    page = open_grid(story, width=1920, height=800)
    words = {"saved": "saved", "saving": "saving", "failed": "not saved", "refused": "refused"}
    for width in (1920, 1710, 1510, 1440, 1366, 1345, 1280, 1210, 1024, 853):
        page.set_viewport_size({"width": width, "height": 800})
        for key in DEFAULT_SCHEMA.keys:
            for state, text in words.items():
                assert page.evaluate(STATE, [cell(1, key), state, text]) >= 0, (width, key, state)
        page.evaluate(STATE, [cell(1, "order"), "saved", "saved"])
        size = page.locator(cell(1, "order") + " .cell-state").evaluate("one => getComputedStyle(one).fontSize")
        assert size == ("11px" if width > 1200 else "0px"), "in words, on the screens that most have"
