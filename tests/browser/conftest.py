"""Real headless Chromium against pytest-django's live server, with the Content-Security-Policy of production.

`page` is a light 1280 × 800 page whose addresses are relative to the live server; `new_page` makes others (dark,
narrower, another person). `login(page, user)` signs a page in without the form. `assert_accessible(page)` runs axe in
light and dark. Wait for a condition with `tests.browser.driving.wait_until`.
"""

import contextlib
import os
import shutil
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings as django_settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer
from django.http import HttpResponse
from django.test import Client

from tests.patience import PATIENCE

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium") or ""
"""The browser without its window takes a third less time than the whole one."""
SLOWED = float(os.environ.get("TEST_BROWSER_SLOWED") or 1)
"""How many times slower than it could scripts and drawing go: tests that hurry before a page is ready fail then."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--renderer-process-limit=1",  # a page otherwise has a second one started, in reserve, and ended unused
    "--js-flags=--single-threaded",  # threads that compile and collect beside a page take more than they save it
]


def pytest_itemcollected(item: pytest.Item) -> None:
    """One process takes all these tests: others would each start the browser, and what it keeps, too. Every push
    walks the paths that people take (`path`); the others belong to `make test-all`."""
    item.add_marker(pytest.mark.xdist_group("browser"))
    if not item.get_closest_marker("path"):
        item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="package")
def browser() -> Iterator:
    """One Chromium for this folder. It ends with the folder: while it runs, its event loop is this thread's own, and
    no test of asynchronous code could start another."""
    if not os.path.exists(CHROMIUM):
        pytest.skip("Chromium is not installed; set CHROMIUM to its path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(autouse=True)
def figures_are_drawn_once(nothing_of_another_test, settings) -> None:
    """What a picture shows and what drew it is all of its key, whichever test asks for it: half of what the server of
    these tests does is drawing."""
    kept = settings.CACHES["plots"] | {"LOCATION": "plots of all pages", "OPTIONS": {"MAX_ENTRIES": 2_000}}
    settings.CACHES = settings.CACHES | {"plots": kept}


@pytest.fixture(scope="package")
def spare_contexts() -> dict[tuple, list]:
    """Contexts that no test uses, by what they were made with: to start one takes longer than to empty one."""
    return defaultdict(list)


@pytest.fixture
def new_page(browser, live_server, spare_contexts, connections) -> Iterator[Callable]:
    """Makes a page of a browser context that no other page of the test has: `new_page(scheme="dark", width=853,
    height=533)`. Nothing of another test is left in it."""
    used, problems = [], []

    def note_error(error) -> None:
        problems.append(str(error.error))

    def note_message(message) -> None:
        if "Content Security Policy" in message.text:
            problems.append(message.text)

    def make(*, scheme: str = "light", width: int = 1280, height: int = 800):
        spare = spare_contexts[scheme, width, height]
        context = spare.pop() if spare else _new_context(browser, live_server.url, scheme, width, height)
        used.append((context, spare))
        context.on("weberror", note_error)
        context.on("console", note_message)
        made = context.new_page()
        if SLOWED > 1:
            context.new_cdp_session(made).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        return made

    yield make
    for context, _ in used:
        for opened in context.pages[1:]:
            opened.close()
    _hang_up(connections)
    for context, spare in used:
        context.remove_listener("weberror", note_error)
        context.remove_listener("console", note_message)
        _empty(context, live_server.url)
        spare.append(context)
    assert problems == [], "scripts failed, or the page broke its own Content-Security-Policy"


def _new_context(browser, url: str, scheme: str, width: int, height: int):
    """A context with a page that stays: without one, the process that draws its pages would end with each test."""
    context = browser.new_context(
        base_url=url, color_scheme=scheme, viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    context.set_default_timeout(1000 * PATIENCE)
    context.new_page()
    return context


def _empty(context, url: str) -> None:
    """Leave nothing in a context of what a test did with it."""
    context.unroute_all(behavior="ignoreErrors")
    context.set_offline(False)
    context.set_extra_http_headers({})
    context.clear_cookies()
    session = context.new_cdp_session(context.pages[0])
    session.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
    session.detach()


@pytest.fixture(scope="package")
def connections() -> Iterator[dict[threading.Thread, socket.socket]]:
    """The connections of the live server, by the threads that answer what comes over them."""
    found: dict[threading.Thread, socket.socket] = {}
    answer = ThreadedWSGIServer.process_request_thread

    def noting(self, request, client_address) -> None:
        found[threading.current_thread()] = request
        try:
            answer(self, request, client_address)
        finally:
            del found[threading.current_thread()]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ThreadedWSGIServer, "process_request_thread", noting)
        yield found


def _hang_up(connections: dict[threading.Thread, socket.socket]) -> None:
    """End what closed pages left behind, once their requests are answered: one that is still being answered when the
    next test begins would read that test's rows as if they were its own, and keep in memory what it makes of them."""
    for thread, connection in list(connections.items()):
        with contextlib.suppress(OSError):  # has ended meanwhile
            connection.shutdown(socket.SHUT_RD)
        thread.join(PATIENCE)


@pytest.fixture
def page(new_page):
    return new_page()


@pytest.fixture
def login(live_server) -> Callable:
    """Signs a page in: `login(page, user)`."""

    def sign_in(page, user) -> None:
        client = Client()
        client.force_login(user)
        name = django_settings.SESSION_COOKIE_NAME
        page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])

    return sign_in


@pytest.fixture
def away(monkeypatch) -> Callable:
    """`with away("/votes/"):` the server answers 503 to requests with this in their path. A page that is closed sends
    once more what waits, and no route of the browser catches that."""
    answered = WSGIHandler.get_response

    @contextlib.contextmanager
    def answer_503(part: str) -> Iterator[None]:
        def get_response(self, request):
            return HttpResponse("busy", status=503) if part in request.path else answered(self, request)

        with monkeypatch.context() as patched:
            patched.setattr(WSGIHandler, "get_response", get_response)
            yield

    return answer_503


@pytest.fixture
def assert_accessible(settings) -> Callable:
    """Asserts that axe finds no serious or critical violation on the page as it stands, light and dark."""
    from tests.browser import accessible

    settings.STATICFILES_DIRS = [*settings.STATICFILES_DIRS, accessible.SERVED]
    return accessible.assert_accessible
