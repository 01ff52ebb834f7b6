"""What of the tests the pass on PostgreSQL has to take: those that together send every statement that any test sends.

The pass on SQLite notes of each test which statements the product sends: from which of its functions, in which form,
and with what outcome; and how long a processor was at work on it. The pass on PostgreSQL takes all tests that send few,
those of several writers at once (the test itself and one worker are none, nor is who reads beside them), those that
look at which database they have, those that SQLite skipped, and of the others as many as send what none of these sends,
at the least cost. Files that hold none of them it does not read. `TEST_POSTGRESQL=all make test` takes every test that
uses the database.
"""

from __future__ import annotations

import heapq
import json
import os
import re
import resource
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

ROOT = Path(__file__).resolve().parents[1]
OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("annotation", "benchmark", "config", "core", "judge", "workers"))
UNKNOWN = -1_000_000_000
FEW = 20  # statements of a test that PostgreSQL answers in less than a twentieth of a second
A_SECOND = 400
"""Statements of a test whose seconds were not noted, in one of them."""
SERVED = 5_000
"""Statements that PostgreSQL answers in a second of a processor of its own."""
A_TEST = 0.01
"""Seconds that any test costs."""
CHEAP = 0.1
"""Seconds of a test that is not given up again where others came to send the same: it may show more than it sends."""
_VALUE = r"(?:%s|\?\d+)"
_ROW = rf"\({_VALUE}(?:, {_VALUE})*\)"
VALUES = re.compile(rf"(?:{_VALUE}|{_ROW})(?:, (?:{_VALUE}|{_ROW}))*")
CASES = re.compile(r"(WHEN \([^()]*\) THEN …)(?: \1)+")
NUMBERS = re.compile(r'(?<=LIMIT )-?\d+|(?<=OFFSET )\d+|(?<=_)\d+(?=")')
"""What Django writes into the text: how many rows are asked for, and keys in names that the product gives."""
SAVEPOINT = re.compile(r"SAVEPOINT .*")


@dataclass(frozen=True)
class Sent:
    """What a test sends: the number of its statements, of a row each where they are of many, of the threads that write
    at once, and what they are; and the seconds of a processor that it took, where they were noted."""

    number: int
    writers: int
    statements: frozenset[str]
    seconds: float | None = field(default=None, compare=False)

    @property
    def cost(self) -> float:
        """Seconds of a processor, about, the server's among them."""
        return A_TEST + (self.number / A_SECOND if self.seconds is None else self.seconds + self.number / SERVED)


@dataclass(frozen=True)
class Collected:
    """The tests that the pass on SQLite found: all their files, those that PostgreSQL may take, and of these those that
    look at which database they have."""

    files: frozenset[str]
    of_database: frozenset[str]
    looking: frozenset[str]


class Statements:
    """Notes the statements of each test, and writes them to `folder` at the end: a file a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sent: dict[str, Sent] = {}
        self.collected: list[pytest.Item] = []
        self._begin()
        connection_created.connect(self.listen)

    def listen(self, connection: BaseDatabaseWrapper, **_: Any) -> None:
        """Have a connection that opens note its statements."""
        if self.note not in connection.execute_wrappers:
            connection.execute_wrappers.append(self.note)

    def note(self, execute: Callable, sql: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        """Send a statement, and note it."""
        outcome = ""
        try:
            return execute(sql, params, many, context)
        except Exception as error:
            outcome = type(error).__name__
            raise
        finally:
            self.number += len(params) if many and isinstance(params, list) else 1
            if not sql.startswith("SELECT"):
                self._note_writer(threading.current_thread())
            if at := _function_of_ours():
                self.noted.add((*at, sql, outcome))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note what is sent while `item` is made ready, runs and is taken down."""
        self._begin()
        before = _processor()
        result = yield
        self.sent[item.nodeid] = Sent(self.number, self.writers, frozenset(self.current), _processor() - before)
        return result

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what tests there are."""
        self.collected = session.items

    def _begin(self) -> None:
        self.number, self.writers, self.writing = 0, 0, set[threading.Thread]()
        self.noted: set[tuple[str, str, str, str]] = set()

    @property
    def current(self) -> set[str]:
        """What is sent since a test began: made of what was `noted` at its end, as every statement passes there."""
        return {_statement(file, at, _form(sql), outcome) for file, at, sql, outcome in self.noted}

    def _note_writer(self, thread: threading.Thread) -> None:
        """Count a thread that writes beside those that wrote before and are there still: workers of which each came to
        its end before the next began are one."""
        if thread not in self.writing:
            self.writing = {other for other in self.writing if other.is_alive()} | {thread}
            self.writers = max(self.writers, len(self.writing))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note of what was skipped that nothing is known of it."""
        if report.skipped:
            self.number = UNKNOWN

    def pytest_sessionfinish(self) -> None:
        """Write what was noted."""
        self.folder.mkdir(parents=True, exist_ok=True)
        told = {
            test: [sent.number, sent.writers, sorted(sent.statements), sent.seconds]
            for test, sent in self.sent.items()
            if sent.number >= 0
        }
        (self.folder / f"{os.getpid()}.json").write_text(json.dumps(told), encoding="utf-8")
        of_database = [item for item in self.collected if _is_of_database(item)]
        found = [
            sorted({_file_of(item.nodeid) for item in self.collected}),
            [item.nodeid for item in of_database],
            sorted(_looking(of_database)),
        ]
        (self.folder / f"{os.getpid()}.collected").write_text(json.dumps(found), encoding="utf-8")


def sent_in(folder: Path) -> dict[str, Sent]:
    """Return what each test sent, as the processes of a pass wrote it."""
    sent: dict[str, Sent] = {}
    for path in sorted(folder.glob("*.json")):
        for test, (number, writers, statements, *seconds) in json.loads(path.read_text(encoding="utf-8")).items():
            sent[test] = Sent(number, writers, frozenset(statements), *seconds)
    return sent


def collected_in(folder: Path) -> Collected:
    """Return the tests that there were, as the processes of a pass wrote it."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.collected"))]
    return Collected(*(frozenset().union(*(one[at] for one in found)) for at in range(3)))


def unread(folder: Path) -> set[str]:
    """Return the files of which the pass on PostgreSQL takes no test: the same files as if all were read."""
    collected, told = collected_in(folder), sent_in(folder)
    sent = {test: told[test] for test in collected.of_database if test in told}
    taken = collected.of_database - _left_out(sent, collected.looking)
    return set(collected.files - {_file_of(test) for test in taken})


def left_out(items: Iterable[pytest.Item], folder: Path) -> set[str]:
    """Return the names of tests among `items` that send many statements, all of which others send too."""
    items = list(items)
    told = sent_in(folder)
    return _left_out({item.nodeid: told[item.nodeid] for item in items if item.nodeid in told}, _looking(items))


def _left_out(sent: Mapping[str, Sent], looking: Iterable[str]) -> set[str]:
    given = {test for test, told in sent.items() if told.number < FEW or told.writers > 2 or test in looking}
    return set(sent) - given - covering(sent, given)


def covering(sent: Mapping[str, Sent], given: Iterable[str] = ()) -> set[str]:
    """Return tests that together send every statement that the `given` do not send: each the one that sends most of
    what is missing for its cost; and of the dear ones none of which others, chosen later, send everything."""
    missing = _all(sent.values()) - _all(sent[test] for test in given)
    wanted = frozenset(missing)
    queue = [(-_worth(told, missing), test) for test, told in sorted(sent.items())]
    heapq.heapify(queue)
    chosen: set[str] = set()
    while missing:
        _, test = heapq.heappop(queue)
        worth = _worth(sent[test], missing)
        if queue and -worth > queue[0][0]:  # others have sent some of it since
            heapq.heappush(queue, (-worth, test))
            continue
        chosen.add(test)
        missing -= sent[test].statements
    return _without_needless(chosen, sent, wanted)


def _without_needless(chosen: set[str], sent: Mapping[str, Sent], wanted: frozenset[str]) -> set[str]:
    """Give up the dearest first of those whose statements among the `wanted` others send."""
    senders = Counter(statement for test in chosen for statement in sent[test].statements & wanted)
    kept = set(chosen)
    for test in sorted(chosen, key=lambda test: (-sent[test].cost, test)):
        needed = sent[test].statements & wanted
        if sent[test].cost > CHEAP and all(senders[statement] > 1 for statement in needed):
            senders.subtract(needed)
            kept.remove(test)
    return kept


def _worth(sent: Sent, missing: set[str]) -> float:
    return len(sent.statements & missing) / sent.cost


def _all(told: Iterable[Sent]) -> set[str]:
    return set().union(*(sent.statements for sent in told))


def _is_of_database(item: pytest.Item) -> bool:
    """Whether the pass on PostgreSQL may take it (tests/run.sh)."""
    return {"database"} == {name for name in ("database", "browser", "once") if item.get_closest_marker(name)}


def _looking(items: Iterable[pytest.Item]) -> set[str]:
    return {item.nodeid for item in items if _looks(item.function)}


def _looks(function: FunctionType) -> bool:
    """Whether a test, or a function of its file that it calls, asks which database there is."""
    waiting, met = [function], set()
    while waiting:
        one = waiting.pop()
        met.add(one)
        names = _names(one.__code__)
        if "vendor" in names:
            return True
        found = [one.__globals__.get(name) for name in names]
        called = {other for other in found if isinstance(other, FunctionType) and other.__module__ == one.__module__}
        waiting += called - met
    return False


def _names(code: CodeType) -> set[str]:
    """The names that a function asks for, those within its comprehensions among them."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return {*code.co_names}.union(*inner)


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _processor() -> float:
    """Seconds that a processor was at work for this process and those that it waited for."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _function_of_ours() -> tuple[str, str] | None:
    """Return the file and the name of the innermost function of the product on the stack, None if a test sends the
    statement itself."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if _is_ours(code.co_filename):
            return code.co_filename, code.co_qualname
        frame = frame.f_back
    return None


@cache
def _is_ours(file: str) -> bool:
    return file.startswith(OURS)


@cache
def _form(sql: str) -> str:
    """Return the statement without its values, be they one or many: parameters, rows, cases, and numbers in the
    text."""
    return SAVEPOINT.sub("SAVEPOINT", CASES.sub(r"\1", NUMBERS.sub("…", VALUES.sub("…", sql))))


@cache
def _statement(file: str, at: str, form: str, outcome: str) -> str:
    return blake2b(f"{file}:{at}\0{form}\0{outcome}".encode(), digest_size=8).hexdigest()
