"""Threads that write at one moment share a transaction, and none of them waits for ever or gets what is another's."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection, connections, transaction

from annotation.models import Project
from core.together import Together
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


class Writing:
    """Makes projects named by the works, and notes which came together; `gate` holds up whoever is first."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate = threading.Event()
        self.begun = threading.Event()
        self.fails: dict[str, BaseException] = {}
        self.together = Together[str, str](self.write, touches=lambda name: {name[0]})
        self.outcomes: dict[str, object] = {}

    def write(self, names: list[str]) -> list[str | Exception]:
        self.batches.append(list(names))
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        for name in names:
            Project.objects.create(slug=name)
            if name in self.fails:
                raise self.fails[name]
        return [ValueError(name) if name.endswith("refused") else name.upper() for name in names]

    def start(self, name: str) -> threading.Thread:
        """Start a thread that writes `name`; return when it waits, or holds up the others."""
        waiting = self.together.waiting
        thread = threading.Thread(target=self._call, args=(name,))
        thread.start()
        if not self.begun.wait(PATIENCE):
            raise AssertionError("nobody began")
        while waiting == self.together.waiting and len(self.batches[0]) and self.batches[0] != [name]:
            threading.Event().wait(0.001)
        return thread

    def _call(self, name: str) -> None:
        try:
            self.outcomes[name] = self.together(name)
        except BaseException as error:
            self.outcomes[name] = error
        finally:
            connections.close_all()

    def finish(self, threads: list[threading.Thread]) -> None:
        self.gate.set()
        for thread in threads:
            thread.join(PATIENCE)


def run(writing: Writing, *names: str) -> Callable[[str], object]:
    writing.finish([writing.start(name) for name in names])
    assert not writing.together.waiting
    return writing.outcomes.__getitem__


def slugs() -> set[str]:
    return set(Project.objects.values_list("slug", flat=True))


def test_those_who_come_during_a_transaction_share_the_next_in_their_order():
    writing = Writing()
    outcome = run(writing, "a", "b", "c", "d")
    assert writing.batches == [["a"], ["b", "c", "d"]]
    assert [outcome(name) for name in "abcd"] == ["A", "B", "C", "D"]
    assert slugs() == {"a", "b", "c", "d"}


def test_works_that_touch_the_same_come_one_after_the_other():
    writing = Writing()
    run(writing, "a", "b1", "c", "b2", "b3")
    assert writing.batches == [["a"], ["b1", "c"], ["b2"], ["b3"]]


def test_a_refusal_is_its_callers_alone():
    writing = Writing()
    outcome = run(writing, "a", "b-refused", "c")
    assert writing.batches == [["a"], ["b-refused", "c"]]
    assert isinstance(outcome("b-refused"), ValueError) and outcome("c") == "C"


def test_what_fails_together_is_done_one_by_one():
    writing = Writing()
    writing.fails["c"] = trouble = RuntimeError("c cannot be written")
    outcome = run(writing, "a", "b", "c", "d")
    assert writing.batches == [["a"], ["b", "c", "d"], ["b"], ["c"], ["d"]]
    assert outcome("c") is trouble
    assert [outcome(name) for name in "abd"] == ["A", "B", "D"]
    assert slugs() == {"a", "b", "d"}


def test_a_thread_that_ends_while_it_leads_holds_nobody_up():
    writing = Writing()
    writing.fails["b"] = SystemExit()
    outcome = run(writing, "a", "b", "c")
    assert isinstance(outcome("b"), SystemExit) and outcome("c") == "C"
    assert slugs() == {"a", "c"}


def test_where_no_transaction_can_begin_each_caller_is_told(monkeypatch):
    writing = Writing()
    thread = writing.start("a")
    others = [writing.start(name) for name in "bc"]

    def broken(*_: object) -> None:
        raise RuntimeError("no database")

    monkeypatch.setattr(transaction.Atomic, "__enter__", broken)
    writing.finish([thread, *others])
    assert writing.outcomes["a"] == "A"
    assert [str(writing.outcomes[name]) for name in "bc"] == ["no database"] * 2


def test_within_a_transaction_a_work_is_part_of_it():
    writing = Writing()
    writing.gate.set()
    with pytest.raises(RuntimeError), transaction.atomic():
        assert writing.together("a") == "A"
        assert connection.in_atomic_block
        raise RuntimeError
    assert slugs() == set()
