"""Pages of accounts, people, assignments, settings and agreement in real Chromium: by keyboard, light, dark, empty and full."""

from __future__ import annotations

import pytest

from annotation.models import Assignment, Membership, User, Vote
from annotation.services.sample import PASSWORD, load_sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ADMIN_PAGES = [
    "/", "/account/", "/account/password/", "/projects/new/", "/p/{slug}/", "/p/{slug}/people/", "/p/{slug}/assignments/",
    "/p/{slug}/settings/", "/p/{slug}/guidelines/", "/p/{slug}/audit/", "/p/{slug}/agreement/", "/p/{slug}/work/",
    "/p/{slug}/stories/", "/p/{slug}/import/", "/p/{slug}/export/", "/p/{slug}/adjudication/",
]  # fmt: skip


def test_every_admin_page_is_accessible_with_the_sample_project(page, login, assert_accessible, db):
    load_sample()
    login(page, User.objects.get(username="admin"))
    for address in ADMIN_PAGES:
        page.goto(address.format(slug="sample"))
        if "agreement" in address:
            page.wait_for_selector("text=Second opinion on annotators", timeout=20000)
        assert_accessible(page)


def test_empty_pages_are_accessible_and_say_what_to_do(page, login, cast, assert_accessible):
    cast.alice.is_superuser = True
    cast.alice.save()
    login(page, cast.alice)
    for address in ADMIN_PAGES:
        page.goto(address.format(slug="minds"))
        assert_accessible(page)
    page.goto("/p/minds/")
    assert "Import a corpus" in page.content()


def test_public_and_error_pages_are_accessible(page, cast, assert_accessible):
    for address in ("/login/", "/password/reset/", "/invitation/nonsense/"):
        page.goto(address)
        assert_accessible(page)


def test_logging_in_by_keyboard(page, db):
    load_sample()
    page.goto("/login/")
    page.focus("[name=username]")
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Your projects", level=1).wait_for()


def test_removing_a_member_asks_first(page, login, cast):
    login(page, cast.alice)
    page.goto("/p/minds/people/")
    row = page.locator("tr", has_text="bob")
    row.get_by_role("button", name="Remove").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").press("Enter")
    assert Membership.objects.filter(user=cast.bob).exists()
    row.get_by_role("button", name="Remove").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Yes, do it").press("Enter")
    row.wait_for(state="detached")
    assert not Membership.objects.filter(user=cast.bob).exists()


def test_releasing_a_seat_asks_first_and_withdraws_its_votes(page, login, cast, make_story, seat, cast_vote):
    story = make_story()
    seats = seat(story)
    cast_vote(seats[0], story.tables.get().propositions.first(), "order", "0")
    login(page, cast.alice)
    page.goto("/p/minds/assignments/")
    page.get_by_role("button", name="release").first.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Yes, do it").press("Enter")
    page.wait_for_selector("text=1 votes were withdrawn")
    assert Assignment.objects.active().count() == 2
    assert not Vote.objects.cast().exists()
