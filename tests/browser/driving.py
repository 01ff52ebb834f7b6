"""What walks through pages share: keys, waiting for a condition, and work beside the page."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import connections

from tests.patience import PATIENCE
from workers.models import Job
from workers.services.run_to_end import run_to_end
from workers.services.runner import Runner

Made = TypeVar("Made")
FITS = "document.documentElement.scrollWidth <= innerWidth"
FOCUSED = """(() => { const at = document.activeElement; if (!at) return "";
  const label = at.labels?.[0]?.innerText ?? ""; return (at.getAttribute("aria-label") ?? (label || at.innerText || "")).trim(); })()"""  # noqa: E501
"""What the element that has the focus is called."""


def wait_until(page, expression: str, *, seconds: float = PATIENCE) -> None:
    """Waits until the JavaScript `expression` is true in `page`: playwright's own `wait_for_function` needs the eval
    that our policy forbids. Raises AssertionError after `seconds`."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(40)


def wait_saved(page, kept: str) -> None:
    """Waits until nothing of a kind (`votes`, `rows`, `pairs` …) waits in the browser, and the page says so."""
    wait_until(page, f"!Object.keys(localStorage).some((name) => name.startsWith('credence:{kept}'))")
    wait_until(page, "document.getElementById('save-state').textContent === 'all saved'")


def press(page, *keys: str | list[str]) -> None:
    """Presses one key after the other; a text in a list is typed."""
    for key in keys:
        page.keyboard.type(*key) if isinstance(key, list) else page.keyboard.press(key)


def tab_to(page, name: str) -> None:
    """Presses Tab until what has the focus is called `name`."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED).startswith(name):
            return
    raise AssertionError(f"no Tab reaches {name!r}")


def open_ready(page, address: str, ready: str):
    """Opens a page whose script says that it is ready."""
    page.goto(address)
    page.wait_for_selector(f"html[data-{ready}-ready]", state="attached")
    return page


def apart(make: Callable[..., Made], *given) -> Made:
    """What `make` makes in a thread of its own: the page's event loop is this thread's."""

    def alone() -> Made:
        try:
            return make(*given)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(alone).result()


def work_off() -> None:
    apart(Runner(stop=threading.Event()).run)


@contextmanager
def working(job: Job | None = None) -> Iterator[None]:
    """A worker beside the page, as another process would be, of one job or of all; it ends with what there is to do or
    the block."""
    stop = threading.Event()
    work = (lambda: run_to_end(job=Job.objects.get(pk=job.pk), stop=stop)) if job else Runner(stop=stop).run
    thread = threading.Thread(target=lambda: apart(work))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
