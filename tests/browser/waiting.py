"""Waiting for a condition in the page: playwright's own `wait_for_function` needs the eval that our policy forbids."""

from __future__ import annotations

import time

from tests.patience import PATIENCE


def wait_until(page, expression: str, *, seconds: float = PATIENCE) -> None:
    """Waits until the JavaScript `expression` is true in `page`. Raises AssertionError after `seconds`."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(40)
