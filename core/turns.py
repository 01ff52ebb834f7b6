"""Long work beside other threads of the process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
_ITEMS, _SECONDS = 250, 0.0005
"""Items between two pauses, a millisecond's work or so, and how long a pause is at least."""


def taking_turns(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, and pause every few of them where the process has other threads.

    Python lets a thread that only computes go on until another has waited for a while (sys.setswitchinterval), and who
    asks a database waits that long after each step: saving one click took up to a second while a file was read.
    """
    if threading.active_count() == 1:
        yield from items
        return
    for number, item in enumerate(items, 1):
        yield item
        if number % _ITEMS == 0:
            time.sleep(_SECONDS)
