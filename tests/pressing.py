"""Pressing a button six times at once, and which addresses tests press."""

import functools
import re
import threading
from collections.abc import Callable
from typing import Any

from django.db import connections
from django.test import Client
from django.urls import resolve

from tests.patience import PATIENCE

PRESSES = 6
KEY = re.compile(r'name="once" value="([^"]+)"')
PRESSED: set[str] = set()
"""Names of the addresses that some test presses."""
_now: set[str] = set()


def presses(*names: str) -> Callable:
    """Says of a test which addresses it presses; it fails where it does not."""

    def mark(test: Callable) -> Callable:
        PRESSED.update(names)

        @functools.wraps(test)
        def run(*given: Any, **named: Any) -> None:
            _now.clear()
            test(*given, **named)
            assert _now >= set(names), "the test presses what it says"

        return run

    return mark


def all_at_once(press: Callable[[int], Any]) -> list:
    """What six presses that start together were answered."""
    together, answers = threading.Barrier(PRESSES), [None] * PRESSES

    def send(at: int) -> None:
        try:
            together.wait(PATIENCE)
            answers[at] = press(at)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=send, args=(at,)) for at in range(PRESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert None not in answers, "every press is answered"
    _now.update(resolve(one.wsgi_request.path).view_name for one in answers)
    return answers


def press_six(person, page: str, said: dict, *, to: str = "", opened_with: dict | None = None) -> list:
    """Opens the page and sends its form six times at once, with the key that stands in it where there is one; nobody is
    logged in where `person` is None."""
    clients = [Client() for _ in range(PRESSES)]
    for client in clients:
        if person is not None:
            client.force_login(person)
    shown = clients[0].post(page, opened_with) if opened_with else clients[0].get(page)
    keys = KEY.findall(shown.content.decode())
    key = {"once": keys[-1]} if keys else {}
    return all_at_once(lambda at: clients[at].post(to or page, _fresh(said) | key))


def _fresh(said: dict) -> dict:
    return {name: value() if callable(value) else value for name, value in said.items()}
