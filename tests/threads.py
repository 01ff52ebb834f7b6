"""Work that begins in several threads at the same moment, each with a connection of its own."""

import threading
from collections.abc import Callable, Sequence

from django.db import connections

from tests.patience import PATIENCE


def at_once(works: Sequence[Callable]) -> list:
    """Return what each of the functions returned or raised."""
    outcomes: list = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def run(at: int, work: Callable) -> None:
        try:
            barrier.wait(PATIENCE)
            outcomes[at] = work()
        except Exception as error:
            outcomes[at] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(at, work)) for at, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    return outcomes
