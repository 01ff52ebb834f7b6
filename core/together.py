"""Group commit: the writes of several threads at one moment in one transaction.

A transaction costs its statements and its commit, whether it holds the work of one or of ten. Whoever comes while a
transaction runs waits, and the first of those who wait does the work of all in the next.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence, Set
from typing import Any, Generic, TypeVar

from django.db import connection, transaction

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")

MOST = 16
"""Works in a transaction: others, in other processes, wait for it to end."""


class Together(Generic[Work, Outcome]):
    """Calls of several threads share a transaction, in the order in which they came; in a transaction of the caller's
    own a call works by itself.

    `do` gets works and returns for each its outcome, or the exception that its caller is to get; it has then written
    nothing for that one. `touches` says what a work changes: of two that touch the same, one comes after the other.
    Where `do` raises, or the transaction fails, each work is done again in a transaction of its own. A call returns
    once its work is committed.
    """

    def __init__(
        self, do: Callable[[list[Work]], Sequence[Outcome | Exception]], touches: Callable[[Work], Set[Any]]
    ) -> None:
        self._do, self._touches = do, touches
        self._guard = threading.Lock()
        self._waiting: deque[_Turn[Work, Outcome]] = deque()
        self._led = False

    def __call__(self, work: Work) -> Outcome:
        turn = _Turn[Work, Outcome](work)
        if connection.in_atomic_block:
            self._do_alone(turn)
            return turn.outcome()
        with self._guard:
            self._waiting.append(turn)
            leads, self._led = not self._led, True
        if not leads:
            turn.called.acquire()  # by one who has done its work, or for whom it now leads
        if not turn.done:
            self._lead(turn)
        return turn.outcome()

    @property
    def waiting(self) -> int:
        """Number of works that nobody has taken yet."""
        return len(self._waiting)

    def _lead(self, own: _Turn[Work, Outcome]) -> None:
        """Do the work of the first who wait, and call the next to lead. `own`, of this thread, is the very first."""
        taken: list[_Turn[Work, Outcome]] = []
        try:
            with transaction.atomic():  # those who come until it begins are in it
                taken = self._take()
                outcomes = self._do([turn.work for turn in taken])
            for turn, outcome in zip(taken, outcomes, strict=True):
                turn.ends(outcome)
        except Exception as error:
            taken = taken or self._take(most=1)
            if len(taken) == 1:
                own.ends(error)
            else:
                for turn in taken:
                    self._do_alone(turn)
        finally:
            others = [turn for turn in taken if turn is not own]
            with self._guard:
                self._waiting.extendleft(turn for turn in reversed(others) if not turn.done)  # if this thread is ending
                called = [turn for turn in others if turn.done]
                called += [self._waiting[0]] if self._waiting else []
                self._led = bool(self._waiting)
            for turn in called:
                turn.called.release()

    def _take(self, most: int = MOST) -> list[_Turn[Work, Outcome]]:
        taken: list[_Turn[Work, Outcome]] = []
        left: list[_Turn[Work, Outcome]] = []
        touched = set[Any]()
        with self._guard:
            while self._waiting and len(taken) < most:
                turn = self._waiting.popleft()
                touches = self._touches(turn.work)
                (left if touches & touched else taken).append(turn)
                touched |= touches
            self._waiting.extendleft(reversed(left))
        return taken

    def _do_alone(self, turn: _Turn[Work, Outcome]) -> None:
        try:
            with transaction.atomic():
                (outcome,) = self._do([turn.work])
            turn.ends(outcome)
        except Exception as error:
            turn.ends(error)


class _Turn(Generic[Work, Outcome]):
    def __init__(self, work: Work) -> None:
        self.work = work
        self.called = threading.Semaphore(0)
        self.done = False
        self._outcome: Any = None

    def ends(self, outcome: Outcome | Exception) -> None:
        self._outcome, self.done = outcome, True

    def outcome(self) -> Outcome:
        if isinstance(self._outcome, Exception):
            raise self._outcome
        outcome: Outcome = self._outcome
        return outcome
