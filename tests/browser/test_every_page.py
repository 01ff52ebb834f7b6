"""Every page of the URLconf under axe, light and dark, and at 150 % zoom and on a phone without scrolling sideways."""

from urllib.parse import urljoin

import pytest
from django.test import Client

from tests.test_urlconf import PAGES, addresses, cast, held, opener  # noqa: F401  (fixtures)

pytestmark = [pytest.mark.browser, pytest.mark.dear, pytest.mark.once, pytest.mark.django_db(transaction=True)]

ZOOMED = (853, 533)
"""1280 × 800 at 150 %."""
BEYOND = """() => {
  const screen = document.documentElement.clientWidth, width = document.scrollingElement.scrollWidth;
  if (width <= screen) return "";
  const parts = [...document.body.querySelectorAll("*")]
    .filter((part) => part.getBoundingClientRect().right > screen + 0.5)
    .map((part) => part.tagName.toLowerCase() + (part.className ? "." + part.className : ""));
  return `${width} px wide: ${parts.slice(0, 6).join(", ")}`;
}"""


def _is_page(person, address: str) -> bool:
    """True where the address answers with a whole page, not with a fragment, a file or a redirect."""
    client = Client()
    if person is not None:
        client.force_login(person)
    response = client.get(address)
    return response.status_code == 200 and not response.streaming and b"<!DOCTYPE html>" in response.content[:200]


def _too_wide(page) -> list[str]:
    """What scrolls the page itself sideways on a screen zoomed to 150 % and on a phone: its parts that reach beyond the
    screen, or the page's own width where none does."""
    found = []
    for width, height in ((390, 844), ZOOMED):
        page.set_viewport_size({"width": width, "height": height})
        if beyond := page.evaluate(BEYOND):
            found.append(f"at {width} px: {beyond}")
    return found


def test_every_page_is_accessible_and_fits(new_page, login, addresses, cast, assert_accessible):  # noqa: F811
    """The list of pages is the URLconf: none can be forgotten."""
    looked_at, wrong = [], []
    for least in dict.fromkeys(PAGES.values()):
        page, person = new_page(width=ZOOMED[0], height=ZOOMED[1]), opener(least, cast)
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
            wrong += [(name, why) for why in _too_wide(page)]
            looked_at.append(name)
    assert wrong == []
    assert len(looked_at) > 60, looked_at


STACKED = """() => [...document.querySelectorAll(".table thead th:not(:has(.visually-hidden))")]
  .filter((head) => head.textContent.trim().length > 1)
  .filter((head) => {
    const text = document.createRange();
    text.selectNodeContents(head);
    return text.getBoundingClientRect().width < 1.5 * parseFloat(getComputedStyle(head).fontSize);
  })
  .map((head) => head.textContent.trim())"""


def test_pages_on_a_phone(new_page, login, addresses, cast):  # noqa: F811
    page = new_page(width=390, height=844)
    login(page, cast.esi)
    page.goto(addresses["annotation:table_edit"])
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    login(page, cast.alice)
    page.context.add_cookies([{"name": "language", "value": "zh-hans", "url": urljoin(page.url, "/")}])
    for name in ("annotation:assignments", "annotation:effort"):
        page.goto(addresses[name])
        assert page.locator("html").get_attribute("lang") == "zh-hans"
        assert page.locator(".table thead th").count() > 0
        assert page.evaluate(STACKED) == [], "no Chinese heading stacks its characters"
