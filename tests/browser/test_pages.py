"""Pages of accounts, people, assignments, settings and agreement in real Chromium: by keyboard, light, dark, empty and
full."""

from __future__ import annotations

import pytest

from annotation.models import Assignment, Membership, User, Vote
from annotation.services.sample import PASSWORD
from tests.browser.waiting import wait_until
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
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/sample/work/")


def test_removing_a_member_asks_first(page, login, cast):
    login(page, cast.alice)
    page.goto("/p/minds/people/")
    row = page.locator("tr", has_text="bob")
    row.get_by_role("button", name="Remove").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Go back").press("Enter")
    assert Membership.objects.filter(user=cast.bob).exists()
    row.get_by_role("button", name="Remove").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Remove").press("Enter")
    row.wait_for(state="detached")
    assert not Membership.objects.filter(user=cast.bob).exists()


@pytest.mark.path
def test_releasing_an_assignment_asks_first_and_withdraws_its_votes(page, login, cast, make_story, assign, cast_vote):
    story = make_story()
    assignments = assign(story)
    cast_vote(assignments[0], story.tables.get().propositions.first(), "order", "0")
    login(page, cast.alice)
    page.goto("/p/minds/assignments/")
    page.get_by_role("button", name="release", exact=True).first.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="release").press("Enter")
    page.wait_for_selector("text=1 vote was withdrawn")
    assert Assignment.objects.active().count() == 2
    assert not Vote.objects.cast().exists()


def test_removing_a_member_with_assignments_offers_to_release_them(
    page, login, cast, make_story, assign, cast_vote, assert_accessible
):
    story = make_story()
    assignments = assign(story)
    cast_vote(assignments[0], story.tables.get().propositions.first(), "order", "0")
    login(page, cast.alice)
    page.goto("/p/minds/people/")
    page.locator("tr", has_text="bob").get_by_role("button", name="Remove").press("Enter")
    dialog = page.get_by_role("dialog")
    assert "1 story is assigned to this person, 1 of them not finished" in dialog.inner_text()
    assert_accessible(page)
    assert dialog.get_by_role("checkbox").is_checked()
    dialog.get_by_role("button", name="Remove the member").press("Enter")
    page.wait_for_selector("text=1 assignment released")
    assert Assignment.objects.active().count() == 2 and not Vote.objects.cast().exists()


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


@pytest.mark.parametrize("name", ["W" * 120, "ن" * 120])
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
    for address in [*addresses, f"/p/minds/stories/{story.uid}/", f"/p/minds/stories/{story.uid}/table/"]:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, address
    page.goto("/")
    assert page.evaluate("[...document.querySelectorAll('.card')].every(c => c.scrollWidth <= c.clientWidth + 2)")


def test_right_to_left_text_begins_at_the_right(page, login, cast, make_story):
    story = make_story(text="وضعت إيناس المفتاح في الحقيبة.", rows=[("إيناس", "المفتاح في الحقيبة.")])
    login(page, cast.alice)
    page.goto(f"/p/minds/stories/{story.uid}/")
    for place in (".story-text", "tbody td"):
        style = page.locator(place).first.evaluate(
            "e => [getComputedStyle(e).direction, getComputedStyle(e).textAlign]"
        )
        assert style == ["rtl", "start"]


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
