"""Pages of every registered suite in real Chromium: none scrolls sideways at 150 % zoom, none keeps anybody from
reading it, no script of any fails."""

from collections.abc import Iterator

import pytest
from django.db.models.functions import Length

from benchmark.models import Run, RunItem
from benchmark.suites.registry import suites
from core import kept
from tests.benchmark.suites_world import SuitesWorld, suites_world
from tests.browser.driving import apart
from tests.browser.test_every_page import BEYOND, ZOOMED

pytestmark = [pytest.mark.browser, pytest.mark.dear, pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def made(db, tmp_path) -> SuitesWorld:
    return apart(suites_world, tmp_path)


def _items(run: Run) -> Iterator[RunItem]:
    """The longest item of each step."""
    items = RunItem.objects.filter(entrant__run=run, repetition=0).annotate(length=Length("sample__content"))
    for step in run.steps:
        yield items.filter(step=step).order_by("-length", "pk")[0]


def _of_suite(base: str, name: str, run: Run) -> Iterator[str]:
    first, second = (f"{run.uid}.{pk}" for pk in run.entrants.order_by("pk").values_list("pk", flat=True)[:2])
    yield f"{base}/datasets/import/{name}/"
    yield f"{base}/datasets/{run.dataset.version}/"
    yield f"{base}/results/?version={run.dataset.version}"
    yield f"{base}/results/compare/?a={first}&b={second}"
    yield f"{base}/runs/{run.uid}/report/"
    yield from (f"{base}/runs/{run.uid}/items/{item.pk}/" for item in _items(run))


def test_every_page_of_every_suite_is_accessible_and_fits(made, login, new_page, assert_accessible):
    world = made.world
    assert {*made.runs} == {name for name, suite in suites().items() if suite.copied.load}
    addresses = [address for name, run in made.runs.items() for address in _of_suite(world.base, name, run)]
    page = new_page(width=ZOOMED[0], height=ZOOMED[1])
    login(page, world.alice)
    page.goto(f"{world.base}/results/across/")
    across = page.locator("main a[href*='?model=']").first.get_attribute("href")
    addresses += [page.url, across, f"{world.base}/results/structure/"]
    assert [(address, why) for address in addresses for why in _wrong(page, address, assert_accessible)] == []


def _wrong(page, address: str, assert_accessible) -> Iterator[str]:
    if (status := page.goto(address).status) != 200:
        yield str(status)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    if beyond := page.evaluate(BEYOND):
        yield beyond
    try:
        assert_accessible(page)
    except AssertionError as error:
        yield str(error)


def test_figures_come_to_the_page_that_did_not_wait_for_them(made, login, page, monkeypatch):
    monkeypatch.setattr(kept, "WAIT_SECONDS", 0)
    login(page, made.world.alice)
    page.goto(f"{made.world.base}/results/structure/?cut=50")
    page.get_by_text("This is being computed").wait_for()
    page.locator(".verdict").wait_for()
    assert "computed" not in page.url


def test_pages_of_results_are_those_of_the_suite(made, client):
    """So that none of the addresses above shows another suite's."""
    world = made.world
    client.force_login(world.alice)
    for name, run in made.runs.items():
        addresses = [address for address in _of_suite(world.base, name, run) if "/compare/" not in address]
        pages = {address: client.get(address).content.decode() for address in addresses}
        assert [address for address, page in pages.items() if suites()[name].title not in page] == []
        board = next(page for address, page in pages.items() if "/results/?" in address)
        assert any(f'id="{group.key}"' in board for group in suites()[name].groups)
