"""The grid and the editor of a project with a label schema of its own, in real Chromium."""

import io

import pytest
from django.core.management import call_command

from annotation.models import Vote
from tests.browser.driving import open_ready, press, wait_saved, wait_until
from tests.browser.test_grid import TEXT, enter
from tests.own_schema import LABELS, document, write

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def open_grid(page, login, cast, make_story, assign, tmp_path):
    """Bob's grid of a project with these dimensions."""

    def make(**changes):
        call_command("load_schema", write(tmp_path, **changes), stdout=io.StringIO())
        cast.project.schema_name, cast.project.speed_floor_ms = changes.get("name", "eight"), 0
        cast.project.save()
        story = make_story(text=TEXT)
        assign(story)
        page.set_viewport_size({"width": 1440, "height": 900})
        login(page, cast.bob)
        return enter(page, story)

    return make


def test_its_digits_choose_its_labels(open_grid, page):
    open_grid()
    for values in LABELS.values():
        page.keyboard.press(str(9 - (len(values) - 1)))  # digits run downwards: this is the last label
    wait_until(page, "document.querySelectorAll('td[data-state=saved]').length === 8")
    assert dict(Vote.objects.values_list("dimension", "label")) == {key: one[-1] for key, one in LABELS.items()}


def test_the_active_cell_of_many_columns_is_in_sight_beside_its_proposition(open_grid, page):
    more = [one | {name: f"{one[name]}2" for name in ("key", "name", "short")} for one in document()["dimensions"]]
    open_grid(name="sixteen", dimensions=document()["dimensions"] + more)  # a process reads a version once
    for key in ("End", "Home"):
        page.keyboard.press(key)
        cell, row = page.locator("td:focus").bounding_box(), page.locator("tr[data-active] > th").bounding_box()
        assert cell["x"] + cell["width"] <= 1440
        assert 0 <= row["x"] < row["x"] + row["width"] <= cell["x"]


def test_the_editor_of_a_table_takes_the_orders_of_the_schema(page, login, cast, make_story, tmp_path):
    call_command("load_schema", write(tmp_path), stdout=io.StringIO())
    cast.project.schema_name = "eight"
    cast.project.save()
    story = make_story(text=TEXT)
    story.tables.all().delete()
    login(page, cast.esi)
    open_ready(page, f"/p/minds/stories/{story.uid}/draft/", "draft")
    press(page, "Alt+1")  # the world, which has no order of its own here
    press(page, ["The key is in the bag"], "Tab")
    assert page.input_value("#rows [data-field=order]") == ""
    assert page.inner_text("#order-hint") == "Order counts minds. 1 It is 1. 2 It is 2. It may stay empty."
    press(page, "3")
    wait_saved(page, "rows")
    wait_until(page, "document.querySelector('.row-notes').textContent.includes('The order is 3; expected 1, 2.')")
    page.keyboard.insert_text("a" * 600)
    assert "The order is a number, 1, 2." in page.inner_text("#told")
