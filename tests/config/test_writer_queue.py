"""Writers have their turn in the order in which they came, and processes take turns. Nothing here measures time."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.sqlite import queue as module
from config.sqlite.queue import StillWaiting, WriterQueue
from tests.patience import PATIENCE

OTHER = """
import runpy, sys
from pathlib import Path
queue = runpy.run_path(sys.argv[1])["WriterQueue"](Path(sys.argv[2]))
for line in sys.stdin:
    queue.enter(60) if line == "enter\\n" else queue.leave()
    print("done", flush=True)
"""


class Other:
    """A process that enters and leaves the queue as it is told."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-I", "-c", OTHER, module.__file__, str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, what: str) -> None:
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()

    def has_done_it(self) -> None:
        assert self.process.stdout.readline() == "done\n"

    def waits(self) -> bool:
        blocked = rf"-> POSIX +ADVISORY +WRITE +{self.process.pid} "
        return bool(re.search(blocked, Path("/proc/locks").read_text()))


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "queue"


@pytest.fixture
def other(path) -> Iterator[Other]:
    other = Other(path)
    with other.process:
        yield other
        other.process.kill()


def until(true: Callable[[], bool]) -> None:
    turn = threading.Event()
    for _ in range(PATIENCE * 1000):
        if true():
            return
        turn.wait(0.001)
    raise AssertionError("it did not come about")


def enters(queue: WriterQueue, name: str, order: list[str]) -> threading.Thread:
    """Start a thread that enters, notes its name and leaves; return when it waits."""

    def enter() -> None:
        queue.enter(PATIENCE)
        order.append(name)
        queue.leave()

    ahead = queue.waiting
    thread = threading.Thread(target=enter)
    thread.start()
    until(lambda: queue.waiting == ahead + 1)
    return thread


def test_threads_have_their_turn_in_the_order_in_which_they_came(path):
    queue, order = WriterQueue(path), []
    names = [f"thread {number}" for number in range(8)]
    queue.enter(0)
    threads = [enters(queue, name, order) for name in names]
    queue.leave()
    for thread in threads:
        thread.join(PATIENCE)
    assert order == names and not queue.taken


def test_who_gives_up_leaves_the_order_of_the_others(path):
    queue, order = WriterQueue(path), []
    queue.enter(0)
    first = enters(queue, "first", order)
    with pytest.raises(StillWaiting):
        queue.enter(0)
    second = enters(queue, "second", order)
    queue.leave()
    first.join(PATIENCE)
    second.join(PATIENCE)
    assert order == ["first", "second"]


def test_a_process_that_waits_comes_before_the_next_thread_of_the_one_that_writes(path, other):
    queue, order = WriterQueue(path), []
    queue.enter(0)
    thread = enters(queue, "thread", order)
    other.tell("enter")
    until(other.waits)
    queue.leave()
    other.has_done_it()
    order.append("other process")
    other.tell("leave")
    thread.join(PATIENCE)
    assert order == ["other process", "thread"]


def test_the_turn_of_a_killed_process_goes_to_the_next(path, other):
    queue, order = WriterQueue(path), []
    other.tell("enter")
    other.has_done_it()
    thread = threading.Thread(target=lambda: (queue.enter(0), order.append("entered"), queue.leave()))
    thread.start()
    until(lambda: queue.taken)
    assert not order
    other.process.kill()
    thread.join(PATIENCE)
    assert order == ["entered"]


def test_who_has_the_turn_is_told_whether_a_thread_or_a_process_waits_for_it(path, other):
    queue, order = WriterQueue(path), []
    queue.enter(0)
    assert not queue.is_wanted()
    thread = enters(queue, "thread", order)
    assert queue.is_wanted()
    queue.leave()
    thread.join(PATIENCE)
    queue.enter(PATIENCE)
    assert not queue.is_wanted()
    other.tell("enter")
    until(queue.is_wanted)
    queue.leave()
    other.has_done_it()
    other.tell("leave")
    other.has_done_it()
    queue.enter(PATIENCE)
    assert not queue.is_wanted()
    queue.leave()
