"""Threads that write at one moment share a transaction, and none of them waits for ever or gets what is another's."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, connections, transaction

from annotation.models import Project
from core.together import Together
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


class Writing:
    """Makes projects named by the works, and notes which came together; `gate` holds up whoever is first."""

    def __init__(self, fails: dict[str, BaseException] | None = None) -> None:
        self.batches: list[list[str]] = []
        self.gate, self.begun = threading.Event(), threading.Event()
        self.fails = fails or {}
        self.together = Together[str, str](self.write, touches=lambda name: {name[0]})
        self.outcomes: dict[str, object] = {}
        self.threads: list[threading.Thread] = []

    def write(self, names: list[str]) -> list[str | Exception]:
        self.batches.append(list(names))
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        for name in names:
            Project.objects.create(slug=name)
            if name in self.fails:
                raise self.fails[name]
        return [ValueError(name) if name.endswith("refused") else name.upper() for name in names]

    def start(self, *names: str) -> Writing:
        """Start a thread for each name, which writes it; each waits, or holds up the others, before the next begins."""
        for name in names:
            waiting = self.together.waiting
            self.threads.append(threading.Thread(target=self._call, args=(name,)))
            self.threads[-1].start()
            assert self.begun.wait(PATIENCE), "nobody began"
            while waiting == self.together.waiting and self.batches[0] and self.batches[0] != [name]:
                threading.Event().wait(0.001)
        return self

    def _call(self, name: str) -> None:
        try:
            self.outcomes[name] = self.together(name)
        except BaseException as error:
            self.outcomes[name] = error
        finally:
            connections.close_all()

    def finish(self) -> list[object]:
        """What came of each name, in the order of their start."""
        self.gate.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        assert not self.together.waiting
        return [self.outcomes[name] for name in sorted(self.outcomes)]


def slugs() -> str:
    return " ".join(sorted(Project.objects.values_list("slug", flat=True)))


def test_those_who_come_during_a_transaction_share_the_next_in_their_order():
    writing = Writing().start("a", "b", "c", "d")
    assert writing.finish() == ["A", "B", "C", "D"] and slugs() == "a b c d"
    assert writing.batches == [["a"], ["b", "c", "d"]]
    same = Writing().start("e", "f1", "g", "f2", "f3")  # works that touch the same come one after the other
    same.finish()
    assert same.batches == [["e"], ["f1", "g"], ["f2"], ["f3"]]


def test_what_is_refused_or_fails_is_its_callers_alone():
    writing = Writing().start("a", "b-refused", "c")
    _, refused, other = writing.finish()
    assert writing.batches == [["a"], ["b-refused", "c"]] and isinstance(refused, ValueError) and other == "C"
    Project.objects.all().delete()
    writing = Writing({"c": RuntimeError("c cannot be written")}).start("a", "b", "c", "d")
    assert writing.finish() == ["A", "B", writing.fails["c"], "D"] and slugs() == "a b d"
    assert writing.batches == [["a"], ["b", "c", "d"], ["b"], ["c"], ["d"]], "what fails together is done one by one"
    Project.objects.all().delete()
    writing = Writing({"b": SystemExit()}).start("a", "b", "c")  # a thread that ends while it leads
    assert writing.finish() == ["A", writing.fails["b"], "C"] and slugs() == "a c"


def test_where_no_transaction_can_begin_each_caller_is_told(monkeypatch):
    writing = Writing().start("a", "b", "c")

    def broken(*_: object) -> None:
        raise RuntimeError("no database")

    monkeypatch.setattr(transaction.Atomic, "__enter__", broken)
    assert list(map(str, writing.finish())) == ["A", "no database", "no database"]


def test_within_a_transaction_a_work_is_part_of_it():
    writing = Writing()
    writing.gate.set()
    with pytest.raises(RuntimeError), transaction.atomic():
        assert writing.together("a") == "A"
        assert connection.in_atomic_block
        raise RuntimeError
    assert slugs() == ""
