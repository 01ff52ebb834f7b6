"""Real headless Chromium against pytest-django's live server, with the Content-Security-Policy of production.

`page` is a light 1280 × 800 page whose addresses are relative to the live server; `new_page` makes others (dark,
narrower, another person). `login(page, user)` signs a page in without the form. `assert_accessible(page)` runs axe in
light and dark. Wait for a condition with `tests.browser.waiting.wait_until`.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings as django_settings
from django.core.handlers.wsgi import WSGIHandler
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
]


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
def figures_are_drawn_once(quick_and_local, settings) -> None:
    """What a picture shows and what drew it is all of its key, whichever test asks for it: half of what the server of
    these tests does is drawing."""
    kept = settings.CACHES["figures"] | {"LOCATION": "figures of all pages", "OPTIONS": {"MAX_ENTRIES": 2_000}}
    settings.CACHES = settings.CACHES | {"figures": kept}


@pytest.fixture
def new_page(browser, live_server) -> Iterator[Callable]:
    """Makes a page of its own browser context: `new_page(scheme="dark", width=853, height=533)`."""
    contexts, problems = [], []

    def make(*, scheme: str = "light", width: int = 1280, height: int = 800):
        context = browser.new_context(
            base_url=live_server.url,
            color_scheme=scheme,
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
        )
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        context.on("weberror", lambda error: problems.append(str(error.error)))
        context.on("console", lambda message: _note(message, problems))
        made = context.new_page()
        if SLOWED > 1:
            context.new_cdp_session(made).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        return made

    yield make
    for context in contexts:
        context.close()
    _wait_until_answered()
    assert problems == [], "scripts failed, or the page broke its own Content-Security-Policy"


def _wait_until_answered() -> None:
    """Wait for the requests that closed pages left behind: one that is still being answered when the next test begins
    would read that test's rows as if they were its own, and keep in memory what it makes of them."""
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(PATIENCE)


def _note(message, problems: list[str]) -> None:
    if "Content Security Policy" in message.text:
        problems.append(message.text)


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

    @contextmanager
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
