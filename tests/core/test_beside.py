"""Items made by another process come in order, with its errors, and it ends with whoever takes them."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator

import pytest
from django.db import DatabaseError, connection, connections

from annotation.models import User
from core.beside import EndedEarly, made_beside
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def has_ended(pid: int) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_items_come_in_order_from_another_process():
    first, *others = made_beside(lambda: ((os.getpid(), number) for number in range(5)))
    assert first[0] != os.getpid() and [number for _, number in others] == [1, 2, 3, 4]
    assert has_ended(first[0])
    assert list(made_beside(lambda: iter(()))) == []


def test_each_of_both_asks_the_database_by_a_connection_of_its_own():
    def names() -> Iterator[list[str]]:
        for _ in range(2):
            yield list(User.objects.order_by("username").values_list("username", flat=True))

    User.objects.create(username="ada")
    seen = []
    for found in made_beside(names):
        seen.append(found)
        User.objects.create(username=f"later {len(seen)}")
    assert seen[0] == ["ada"]
    assert User.objects.count() == 3


def failing() -> Iterator[int]:
    yield 1
    raise ValueError("Line 2 is no number.")


def refused_by_the_database() -> Iterator[int]:
    yield 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT no_such_column FROM annotation_user")


@pytest.mark.parametrize(("make", "error"), [(failing, ValueError), (refused_by_the_database, DatabaseError)])
def test_an_error_of_the_other_process_is_raised_here(make, error):
    items = made_beside(make)
    assert next(items) == 1
    with pytest.raises(error, match=r"no number|no_such_column"):
        next(items)


def endless() -> Iterator[int]:
    while True:
        yield os.getpid()


def test_a_killed_process_is_told():
    items = made_beside(endless)
    os.kill(next(items), signal.SIGKILL)
    with pytest.raises(EndedEarly):
        for _ in items:
            pass


def test_the_other_process_ends_where_nobody_takes_its_items_any_more():
    items = made_beside(endless)
    pid = next(items)
    items.close()
    assert has_ended(pid)


def test_the_other_process_ends_where_this_one_is_killed():
    told, telling = os.pipe()
    connections.close_all()  # a connection is one process's
    parent = os.fork()
    if not parent:
        for _ in made_beside(endless):
            os.write(telling, b".")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(parent, 0)
    os.close(telling)
    assert os.read(told, 1) == b"."
    ended, _, _ = select.select([told], [], [], PATIENCE)  # the other process holds the end for writing, too
    assert ended and os.read(told, 1) == b""
    os.close(told)
