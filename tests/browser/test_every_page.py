"""Every page of the URLconf under axe, light and dark, and at 150 % zoom without scrolling sideways."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.test_urlconf import PAGES, addresses, cast, held, opener  # noqa: F401  (fixtures)

pytestmark = [pytest.mark.browser, pytest.mark.dear, pytest.mark.once, pytest.mark.django_db(transaction=True)]


def _is_page(person, address: str) -> bool:
    """True where the address answers with a whole page, not with a fragment, a file or a redirect."""
    client = Client()
    if person is not None:
        client.force_login(person)
    response = client.get(address)
    return response.status_code == 200 and not response.streaming and b"<!DOCTYPE html>" in response.content[:200]


def test_every_page_is_accessible_and_fits(new_page, login, addresses, cast, assert_accessible):  # noqa: F811
    """The list of pages is the URLconf: none can be forgotten."""
    looked_at, wrong = [], []
    for least in dict.fromkeys(PAGES.values()):
        page, person = new_page(width=853, height=533), opener(least, cast)
        if person is not None:
            login(page, person)
        for name in (name for name, role in PAGES.items() if role == least and name in addresses):
            if not _is_page(person, addresses[name]):
                continue
            page.goto(addresses[name])
            try:
                assert_accessible(page)
            except AssertionError as error:
                wrong.append((name, str(error)))
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > 853:
                wrong.append((name, wide))
            looked_at.append(name)
    assert wrong == []
    assert len(looked_at) > 60, looked_at
