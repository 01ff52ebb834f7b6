"""The editor of belief tables in real Chromium: keyboard, autosave, undo, what happens when saving fails."""

import pytest
from django.utils import timezone

from annotation.models import BeliefTable, DraftEvent, DraftRow, SuggestedRow
from annotation.services.drafts import live_rows, own_draft
from tests.browser.driving import FITS, open_ready, press, wait_saved, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXT = "In the evening Ines puts the key in the bag. Then Tomas moves it, and Ines does not see Tomas."


@pytest.fixture
def story(make_story):
    made = make_story(text=TEXT, translations={"zh": "小红把钥匙放进包里。"})
    made.tables.all().delete()
    return made


@pytest.fixture
def editor(page, login, cast, story):
    """Esi's page on a story without a table, ready."""
    login(page, cast.esi)
    return enter(page, story)


def enter(page, story):
    return open_ready(page, f"/p/minds/stories/{story.uid}/draft/", "draft")


def table(story, expert) -> list[tuple[str, str, str]]:
    rows = live_rows(own_draft(story=story, expert=expert))
    return list(rows.values_list("actor", "belief", "order_text"))


def shown(page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('#rows [data-field=belief]')].map((field) => field.value)")


def write(page) -> None:
    """Three rows: of the world, of Ines, and again of Ines."""
    press(page, "Alt+1", ["The key is in the bag"], "Enter", "Alt+2", ["Tomas left and Tomas has the key"], "Enter")
    press(page, ["It rains"])


def names(page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('#names [data-actor]')].map((chip) => chip.dataset.actor)")


def test_the_number_of_an_actor_stays_while_one_writes_and_a_misspelt_name_takes_none(editor):
    assert names(editor) == ["world", "Ines", "Tomas"]
    press(editor, "Alt+3", ["The bag is heavy"], "Enter", "Shift+Tab")
    for name in ("Ins", "Ines and Tomas", "Ines and Tomaso", "key"):
        press(editor, "Control+a")
        editor.keyboard.insert_text(name)
        press(editor, "Tab", "Shift+Tab")
    assert names(editor) == ["world", "Ines", "Tomas", "Ines and Tomas", "key"]
    press(editor, "Alt+2")
    wait_saved(editor, "rows")
    assert editor.input_value("#rows tr:nth-child(2) [data-field=actor]") == "Ines"
    press(editor, "Alt+t")
    assert editor.evaluate("document.querySelector('[data-language=zh]').textContent") == "小红把钥匙放进包里。"


def test_a_sentence_in_place_of_the_order_goes_to_the_remark_whole(editor, story, cast):
    sentence = "Ines is sure of this because she has looked twice"
    press(editor, "Alt+2", ["The key is in the bag"], "Tab", [f"{sentence} today"])
    wait_saved(editor, "rows")
    assert editor.input_value("#rows [data-field=remark]") == f"{sentence} today"
    row = live_rows(own_draft(story=story, expert=cast.esi)).get()
    assert (row.order_text, row.remark) == ("", f"{sentence} today")
    press(editor, "Shift+Tab")
    editor.keyboard.insert_text("a" * 600)
    assert editor.input_value("#rows [data-field=order]") == ""
    assert "nothing of it was taken" in editor.inner_text("#told")


@pytest.mark.path
def test_a_table_is_written_and_handed_in_by_keyboard_alone(editor, story, cast):
    write(editor)
    wait_saved(editor, "rows")
    assert table(story, cast.esi) == [
        ("world", "The key is in the bag", "0"), ("Ines", "Tomas left and Tomas has the key", "1"),
        ("Ines", "It rains", "1"),
    ]  # fmt: skip
    assert DraftEvent.objects.values("action").distinct().count() == 3  # a step of undo a row, whatever was sent
    press(editor, "Alt+ArrowUp", "Alt+d", ["It snows"], "ArrowDown", "Home", *["Control+ArrowRight"] * 2, "Alt+Enter")
    wait_saved(editor, "rows")
    beliefs = ["The key is in the bag", "It rains", "It snows", "Tomas left", "Tomas has the key"]
    assert [row[1] for row in table(story, cast.esi)] == beliefs
    press(editor, "Alt+Backspace", "ArrowUp", "Alt+Delete")
    wait_saved(editor, "rows")
    assert [row[1] for row in table(story, cast.esi)] == [*beliefs[:2], "Tomas left Tomas has the key"]
    press(editor, "Alt+h")
    editor.wait_for_selector("#hand-in[open]")
    assert editor.inner_text("#hand-in-text").startswith("3 rows")
    press(editor, "Enter")
    editor.wait_for_url("**/draft/")
    editor.wait_for_selector("text=Your table is handed in.")
    assert BeliefTable.objects.get(author=cast.esi).submitted_at
    editor.get_by_role("button", name="Take it back").press("Enter")
    editor.wait_for_selector("html[data-draft-ready]", state="attached")
    assert len(shown(editor)) == 3


def test_an_order_taken_over_is_not_kept_for_another_actor_before_anything_is_typed(editor, story, cast):
    press(editor, "Alt+2", ["Tomas has not seen it"], "Tab", "2", "Enter")
    order = "#rows tr:nth-child(2) [data-field=order]"
    for key, begins in (("Alt+2", "2"), ("Alt+3", "1"), ("Alt+1", "0"), ("Alt+2", "1")):
        press(editor, key)
        assert editor.input_value(order) == begins
    assert editor.inner_text("#announce") == "New row with actor Ines and order 1."
    press(editor, ["It rains"], "Tab", "Control+a", "2", "Alt+3")  # an order that was typed stays
    press(editor, "Enter", "Shift+Tab", "Control+a", ["Ben"], "Tab", ["It snows"])
    wait_saved(editor, "rows")
    assert [(row[0], row[2]) for row in table(story, cast.esi)] == [("Ines", "2"), ("Tomas", "2"), ("Ben", "1")]


def test_undo_goes_back_row_by_row_also_after_a_reload(editor, story, cast):
    write(editor)
    press(editor, "Alt+Delete")
    wait_saved(editor, "rows")
    enter(editor, story)
    for expected in (3, 2, 1):
        press(editor, "Control+z")
        wait_until(editor, f"document.querySelectorAll('#rows tr').length === {expected}")
    wait_saved(editor, "rows")
    assert [row[1] for row in table(story, cast.esi)] == ["The key is in the bag"]
    for expected in (2, 3):
        press(editor, "Control+y")
        wait_until(editor, f"document.querySelectorAll('#rows tr').length === {expected}")
    wait_saved(editor, "rows")
    assert len(table(story, cast.esi)) == 3


def test_what_is_typed_while_the_server_is_away_is_kept_and_sent_once(editor, story, cast, away):
    with away("/draft/rows/"):
        write(editor)
        editor.wait_for_selector("#trouble:not([hidden])")
        assert "kept in this browser" in editor.inner_text("#trouble-text")
        press(editor, "Control+z")
        wait_until(editor, "document.querySelectorAll('#rows tr').length === 2")
        context = editor.context
        editor.close()  # as a crash: nobody is asked
        assert not DraftRow.objects.exists()
    after = enter(context.new_page(), story)
    wait_saved(after, "rows")
    beliefs = ["The key is in the bag", "Tomas left and Tomas has the key"]
    assert [row[1] for row in table(story, cast.esi)] == shown(after) == beliefs

    def lose(route):
        route.fetch()  # the server saves, the browser hears nothing
        route.abort()

    context.route("**/draft/rows/", lose, times=1)
    press(after, "Enter", ["It rains"])
    wait_saved(after, "rows")
    assert [row[1] for row in table(story, cast.esi)] == [*beliefs, "It rains"]


def test_rows_are_pasted_from_a_spreadsheet(editor, story, cast):
    rows = 'Actor\tBelief\tOrder\nworld\tThe key is in the bag\t0\nInes\t"It says ""no"""\t1\nXiao\tIt rains\t'
    paste = """(text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }"""  # noqa: E501
    editor.evaluate(paste, rows)
    wait_saved(editor, "rows")
    expected = [("world", "The key is in the bag", "0"), ("Ines", 'It says "no"', "1"), ("Xiao", "It rains", "")]
    assert table(story, cast.esi) == expected
    assert editor.inner_text("#rows tr:nth-child(3) .row-notes") == "The story does not name Xiao."
    press(editor, "Control+z")
    wait_until(editor, "document.querySelectorAll('#rows tr').length === 1")
    wait_saved(editor, "rows")
    assert table(story, cast.esi) == []
    for lost, sentence in (
        ("Ines\tIt rains\t1\t\tmore\n", "Nothing was pasted: row 1 has cells without a column."),
        ("Actor\tBelief\tComment\nInes\tIt rains\twhy\n", "columns that have no place here: Comment."),
        (f"Ines\tIt rains\t1\nInes\t{'x' * 2001}\t1", "Nothing was pasted: row 2 has a text that is too long."),
    ):
        editor.evaluate(paste, lost)
        assert sentence in editor.inner_text("#notice")
    editor.evaluate(paste, "Order\tProposition\tACTOR\n1\tIt rains\tInes\n")
    wait_saved(editor, "rows")
    assert table(story, cast.esi) == [("Ines", "It rains", "1")] and editor.is_hidden("#notice")


@pytest.mark.parametrize("joint", [" and ", "/"])
def test_names_are_completed_also_in_groups(editor, story, cast, joint):
    press(editor, ["ine"], "End", [f"{joint}to"], "Tab", ["They are friends"])
    wait_saved(editor, "rows")
    assert table(story, cast.esi) == [(f"Ines{joint}Tomas", "They are friends", "")]
    marked = editor.evaluate("[...CSS.highlights.get('actor')].map((range) => range.toString())")
    assert sorted(marked) == ["Ines", "Ines", "Tomas", "Tomas"]
    press(editor, "Alt+t")
    assert editor.is_visible("text=小红把钥匙放进包里。") and not editor.is_visible("#story-text")


@pytest.mark.path
def test_two_windows_see_each_other_and_keep_both_wordings(editor, story, cast, new_page, login):
    write(editor)
    wait_saved(editor, "rows")
    second = enter(editor.context.new_page(), story)
    press(second, "End", [" today"])
    wait_until(editor, "document.querySelectorAll('#rows [data-field=belief]')[2].value === 'It rains today'")
    wait_saved(second, "rows")
    other = new_page()  # another computer: no channel between them
    login(other, cast.esi)
    enter(other, story)
    other.context.route("**/draft/rows/", lambda route: route.abort())
    press(other, "End", [" in May"])
    other.wait_for_selector("#trouble:not([hidden])")
    press(second, [" again"])
    wait_saved(second, "rows")
    other.context.unroute("**/draft/rows/")
    wait_saved(other, "rows")
    assert [row[1] for row in table(story, cast.esi)][2:] == ["It rains today again", "It rains today in May"]
    assert shown(other)[2:] == ["It rains today again", "It rains today in May"]


def test_a_refused_row_waits_in_its_own_editor_whichever_page_is_open(editor, story, cast, make_story):
    other = make_story(2, text=TEXT + " It is night.")
    other.tables.all().delete()
    write(editor)
    wait_saved(editor, "rows")
    draft = BeliefTable.objects.filter(author=cast.esi)
    draft.update(submitted_at=timezone.now())
    press(editor, [" again"])
    editor.wait_for_selector("#kept:not([hidden])")
    assert "It rains again" in editor.inner_text("#kept-rows")
    draft.update(submitted_at=None)
    enter(editor, story)
    editor.get_by_role("button", name="Put them in again").press("Enter")
    wait_saved(editor, "rows")
    assert [row[1] for row in table(story, cast.esi)][2:] == ["It rains", "It rains again"]
    for address, words in ((f"/p/minds/stories/{other.uid}/draft/", "It hails"), ("/p/minds/tables/", "It snows")):
        enter(editor, story)
        editor.context.route("**/draft/rows/", lambda route: route.abort())
        press(editor, "Enter", [words])
        wait_until(editor, f"Object.values(localStorage).some((value) => value.includes({words!r}))")
        draft.filter(story=story).update(submitted_at=timezone.now())
        editor.goto(address)  # from now on only that page can send
        editor.context.unroute("**/draft/rows/")
        wait_until(editor, "!Object.keys(localStorage).some((name) => name.startsWith('credence:rows'))")
        draft.filter(story=story).update(submitted_at=None)
        enter(editor, story)
        assert words in editor.inner_text("#kept-rows")


def test_the_editor_is_whole_and_accessible_on_a_small_window(new_page, login, cast, story, assert_accessible):
    for width, height in ((1280, 800), (853, 533), (390, 844)):
        page = new_page(width=width, height=height)
        login(page, cast.esi)
        enter(page, story)
        if width == 1280:
            write(page)
            wait_saved(page, "rows")
        assert page.evaluate(FITS)
        told = "getComputedStyle(document.querySelector('[data-field=belief]'), '::placeholder').opacity"
        assert page.evaluate(told) == ("1" if width == 390 else "0")  # a phone's rows have no heads above them
        assert_accessible(page)


def test_a_models_rows_are_marked_row_by_row_and_what_became_of_them_is_told(page, login, story, cast):
    cast.project.table_blind_share = 0
    cast.project.save()
    beliefs = ("The key is in the bag", "The key is in the bag and Tomas left", "It rains")
    SuggestedRow.objects.bulk_create(
        SuggestedRow(story=story, number=at, actor="Ines", belief=belief, source="tiny", created_at=timezone.now())
        for at, belief in enumerate(beliefs, 1)
    )
    login(page, cast.esi)
    enter(page, story)
    marks = "[...document.querySelectorAll('#rows tr')].map((line) => line.querySelector('.row-origin').textContent)"
    told = "document.getElementById('model-count').textContent"
    assert page.evaluate(marks) == ["model"] * 3
    assert page.get_by_label("Proposition of row 3, model", exact=True).count() == 1
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 1
    press(
        page, "ArrowDown", "ArrowDown", "Alt+Delete", "End", *["Control+ArrowLeft"] * 3, "Alt+Enter"
    )  # deletes the third, splits the second
    wait_until(page, "document.querySelectorAll('#rows tr').length === 3")
    assert page.evaluate(marks) == ["model", "model, edited", "model, edited"]
    press(page, "Enter", ["It is late"])
    sentence = "Rows of the model: 1 as it wrote them, 2 edited, 1 deleted. Your own rows: 1."
    wait_until(page, f"{told} === {sentence!r}")
    wait_saved(page, "rows")
    enter(page, story)
    assert page.evaluate(marks) == ["model", "model, edited", "model, edited", ""] and page.evaluate(told) == sentence
    page.click("#model-deleted summary")
    page.click("text=Put back")
    wait_until(page, "document.querySelectorAll('#rows tr').length === 5")
    wait_saved(page, "rows")
    assert page.evaluate("document.getElementById('model-deleted').hidden")
    for _ in range(4):  # the model's rows are no step of the expert's
        press(page, "Control+z")
    wait_until(page, f"({marks}).join() === 'model,model,model'")
