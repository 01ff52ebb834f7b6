"""Writers of SQLite have their turn in the order in which they came, processes take turns, and who waits for the lock
asks for it often, and not for ever. Nothing here measures time."""

import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.db import OperationalError, connection, transaction

from annotation.models import Project
from config.sqlite import base
from config.sqlite import queue as module
from config.sqlite.queue import StillWaiting, WriterQueue, queue_of
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
def queue(tmp_path) -> WriterQueue:
    return WriterQueue(tmp_path / "queue")


@pytest.fixture
def other(tmp_path) -> Iterator[Other]:
    other = Other(tmp_path / "queue")
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


def test_threads_have_their_turn_in_the_order_in_which_they_came_whoever_gives_up(queue):
    order: list[str] = []
    names = [f"thread {number}" for number in range(8)]
    queue.enter(0)
    threads = [enters(queue, name, order) for name in names[:4]]
    with pytest.raises(StillWaiting):
        queue.enter(0)
    threads += [enters(queue, name, order) for name in names[4:]]
    queue.leave()
    for thread in threads:
        thread.join(PATIENCE)
    assert order == names and not queue.taken


def test_a_process_that_waits_comes_before_the_next_thread(queue, other):
    order: list[str] = []
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
    other.has_done_it()
    queue.enter(PATIENCE)
    other.tell("enter")
    until(other.waits)
    queue.leave()
    other.has_done_it()
    # the turn of a killed process goes to the next
    thread = threading.Thread(target=lambda: (queue.enter(0), order.append("entered"), queue.leave()))
    thread.start()
    until(lambda: queue.taken)
    assert "entered" not in order
    other.process.kill()
    thread.join(PATIENCE)
    assert order[2:] == ["entered"]
    queue.enter(PATIENCE)
    queue.leave()


# --- the lock of the test's database


def sqlite_alone(test: Callable) -> Callable:
    for mark in (
        pytest.mark.once,
        pytest.mark.django_db(transaction=True),
        pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the lock is SQLite's"),
    ):
        test = mark(test)
    return test


@pytest.fixture
def writer() -> Iterator[sqlite3.Connection]:
    """Another process's connection, which holds the lock."""
    connection.ensure_connection()
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


@sqlite_alone
def test_a_writer_asks_again_within_milliseconds_however_long_it_waited_and_gives_up_at_last(writer, monkeypatch):
    def busy_timeout() -> int:
        return connection.connection.execute("PRAGMA busy_timeout").fetchone()[0]

    pauses = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 300:  # SQLite's own waiting would ask ten times a second by now
            writer.execute("COMMIT")

    before = busy_timeout()
    with monkeypatch.context() as patch:
        patch.setattr(base.time, "sleep", sleep)
        with transaction.atomic():
            Project.objects.create(slug="hearts")
    assert len(pauses) == 300 and max(pauses) <= 0.01
    assert busy_timeout() == before == 1000 * connection.settings_dict["OPTIONS"]["timeout"]
    writer.execute("BEGIN IMMEDIATE")
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0)
    with pytest.raises(OperationalError, match="locked"), transaction.atomic():
        pass
    writer.execute("COMMIT")
    with transaction.atomic():
        Project.objects.create(slug="minds")
    assert Project.objects.count() == 2

    def broken(self) -> None:
        raise OperationalError("no such table") from sqlite3.OperationalError("no such table")

    # what is no waiting is told at once
    monkeypatch.setattr(base.time, "sleep", lambda seconds: pytest.fail("waited for nothing"))
    monkeypatch.setattr(base.base.DatabaseWrapper, "_start_transaction_under_autocommit", broken)
    with pytest.raises(OperationalError, match="no such table"), transaction.atomic():
        pass


@sqlite_alone
def test_a_transaction_has_its_turn_until_it_ends_however_it_ends():
    queue = queue_of(str(connection.settings_dict["NAME"]))
    turns = []
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        turns.append(queue.taken)
        with transaction.atomic():
            turns.append(queue.taken)
        raise ZeroDivisionError
    turns.append(queue.taken)
    alive = connection.cursor()
    alive.execute("SELECT 1")
    with transaction.atomic():
        turns.append(queue.taken)
        Project.objects.create(slug="hearts")
        connection.close()
    turns.append(queue.taken)
    assert turns == [True, True, False, True, False]
    # who is closed in it gives up the lock, though a cursor of it lives
    with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
    connection.ensure_connection()
    connection.connection.close()
    connection.close()  # nothing is left to be rolled back
    assert not Project.objects.exists() and alive
