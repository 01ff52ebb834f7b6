"""Pages of accounts, people, assignments, settings and agreement in real Chromium: by keyboard, light, dark, empty and
full."""

import pytest

from annotation.models import Assignment, Membership, User, Vote
from annotation.services.sample import PASSWORD
from tests.browser.driving import FITS, press, wait_until
from tests.sample import sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ADMIN_PAGES = [
    "/", "/account/", "/account/password/", "/projects/new/", "/p/{slug}/", "/p/{slug}/people/",
    "/p/{slug}/assignments/",
    "/p/{slug}/settings/", "/p/{slug}/guidelines/", "/p/{slug}/audit/", "/p/{slug}/agreement/", "/p/{slug}/work/",
    "/p/{slug}/stories/", "/p/{slug}/import/", "/p/{slug}/export/", "/p/{slug}/adjudication/",
]  # fmt: skip


def test_every_admin_page_is_accessible_with_the_sample_project(page, login, assert_accessible, db):
    sample()
    login(page, User.objects.get(username="admin"))
    for address in ADMIN_PAGES:
        page.goto(address.format(slug="sample"))
        if "agreement" in address:
            page.wait_for_selector("text=Second opinion on annotators")
        assert_accessible(page)


def test_an_empty_project_says_what_to_do(page, login, cast):
    login(page, cast.alice)
    page.goto("/p/minds/")
    assert page.locator("[aria-current=step]").inner_text().startswith("Import")
    assert "0 / 0" not in page.content()
    for width in (853, 1024, 1100, 1280):  # an admin has most to choose from, and all of it stands in one line
        page.set_viewport_size({"width": width, "height": 533})
        assert page.locator(".topbar").evaluate("bar => bar.offsetHeight") < 50, width


@pytest.mark.path
def test_logging_in_by_keyboard(page, db):
    sample()
    page.goto("/")
    page.focus("[name=username]")
    press(page, ["ada"], "Tab", [PASSWORD], "Enter")
    page.wait_for_url("**/p/sample/work/")


@pytest.mark.path
def test_releasing_and_removing_ask_first(page, login, cast, make_story, assign, cast_vote, assert_accessible):
    story = make_story()
    for one in assign(story)[:2]:
        cast_vote(one, story.tables.get().propositions.first(), "order", "0")
    login(page, cast.alice)
    page.goto("/p/minds/assignments/")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="release", exact=True).first.press("Enter")
    dialog.get_by_role("button", name="release").press("Enter")
    page.wait_for_selector("text=1 vote was withdrawn")
    assert Assignment.objects.active().count() == 2 and Vote.objects.cast().get().annotator == cast.bea
    page.goto("/p/minds/people/")
    row, membership = page.locator("tr", has_text="esi"), Membership.objects.filter(user=cast.esi)
    for answer in ("Go back", "Remove"):
        assert membership.exists()
        row.get_by_role("button", name="Remove").press("Enter")
        dialog.get_by_role("button", name=answer).press("Enter")
    row.wait_for(state="detached")
    assert not membership.exists()
    page.locator("tr", has_text="bea").get_by_role("button", name="Remove").press("Enter")
    assert "1 story is assigned to this person, 1 of them not finished" in dialog.inner_text()
    assert_accessible(page)
    assert dialog.get_by_role("checkbox").is_checked()
    dialog.get_by_role("button", name="Remove the member").press("Enter")
    page.wait_for_selector("text=1 assignment released")
    assert Assignment.objects.active().count() == 1 and not Vote.objects.cast().exists()


def test_a_change_of_rules_is_shown_before_it_is_saved(
    page, login, cast, make_story, assign, cast_vote, assert_accessible
):
    story = make_story()
    for at, one in enumerate(assign(story)):
        cast_vote(one, story.tables.get().propositions.first(), "order", "1" if at else "0")
    login(page, cast.alice)
    page.goto("/p/minds/settings/")
    page.get_by_label("Order").check()
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    page.wait_for_selector("text=1 would be open for adjudication")
    assert_accessible(page)
    page.get_by_role("button", name="Save and change 1 cell").press("Enter")
    page.wait_for_selector("text=Saved.")
    cast.project.refresh_from_db()
    assert cast.project.unanimity_dimensions == ["order"]


@pytest.mark.parametrize("name", ["W" * 120, "ن" * 120], ids=["Latin", "Arabic"])
def test_no_page_scrolls_sideways_for_a_long_name(page, login, cast, make_story, assign, name):
    cast.alice.is_superuser = True
    cast.alice.save()
    cast.project.name, cast.project.description = name, name * 5
    cast.project.save()
    cast.bob.display_name = name[:80]
    cast.bob.save()
    for number in (1, 2):
        story = make_story(number, category=name, text=name * 4, rows=[(name, name * 5)])
    assign(story)
    login(page, cast.alice)
    addresses = [address.format(slug="minds") for address in ADMIN_PAGES]
    for address in [*addresses, f"/p/minds/stories/{story.uid}/table/", f"/p/minds/stories/{story.uid}/"]:
        page.goto(address)
        assert page.evaluate(FITS), address
    style = "e => [getComputedStyle(e).direction, getComputedStyle(e).textAlign]"
    for place in (".story-text", "tbody td"):
        direction = "ltr" if name[0] == "W" else "rtl"
        assert page.locator(place).first.evaluate(style) == [direction, "start"], "each text begins where it is read"
    page.goto("/")
    assert page.evaluate("[...document.querySelectorAll('.card')].every(c => c.scrollWidth <= c.clientWidth + 2)")


def test_a_refusal_that_says_why_is_shown_and_any_other_answer_changes_nothing(page, login, cast, tmp_path):
    """What htmx does with the statuses of an answer is said in `htmx-config` of every page."""
    (tmp_path / "copy.zip").write_bytes(b"")
    login(page, cast.alice)
    page.goto("/p/minds/datasets/import/tombench/")
    page.set_input_files("input[type=file]", tmp_path / "copy.zip")
    answers: list[int] = []

    def answer(route) -> None:
        if not answers:
            return route.abort("connectionrefused")
        return route.fulfill(status=answers[0], body=f"<div id='check'>Answer {answers[0]}</div>")

    page.route("**/datasets/import/tombench/", answer)
    swapped, toasts = page.locator("#check"), page.locator("#toasts > p")
    for status in (200, 422, 409):
        answers[:] = [status]
        page.get_by_role("button", name="Check").click()
        page.locator("#check", has_text=f"Answer {status}").wait_for()
    assert toasts.count() == 0
    for status in (403, 404, 500, 503, 0):
        answers[:] = [status] if status else []
        page.get_by_role("button", name="Check").click()
        trouble = f"The server refused this ({status})" if status else "The server cannot be reached"
        page.get_by_text(f"{trouble}; nothing was changed.").wait_for()
    assert toasts.count() == 5 and swapped.inner_text() == "Answer 409"
    answers[:] = [204]
    with page.expect_response("**/datasets/import/tombench/"):
        page.get_by_role("button", name="Check").click()
    wait_until(page, "!document.querySelector('[data-busy], .htmx-request')")
    assert toasts.count() == 5 and swapped.inner_text() == "Answer 409"
