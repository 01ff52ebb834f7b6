"""Which tests the pass on PostgreSQL takes."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest

from tests.patience import PATIENCE
from tests.statements import FEW, ROOT, Sent, Statements, covering, left_out, sent_in


def sent(number: int, statements: str) -> Sent:
    return Sent(number, 1, frozenset(statements))


def test_every_statement_is_sent_by_a_test_that_is_taken():
    tests = {"short": sent(3, "ab"), "long": sent(500, "abc"), "longer": sent(900, "abc"), "other": sent(400, "d")}
    assert covering(tests) == {"short", "long", "other"}
    assert covering(tests, ["longer"]) == {"other"}
    assert covering({}) == set()


@pytest.fixture
def noted(tmp_path):
    """A folder of what two processes noted: `noted({"test": (number, writers, statements)}, …)`."""

    def write(*processes):
        for at, told in enumerate(processes):
            (tmp_path / f"{at}.json").write_text(
                json.dumps({name: [n, writers, [*keys]] for name, (n, writers, keys) in told.items()})
            )
        return tmp_path

    return write


def looking(connection):
    return connection.vendor


def plain():
    pass


def test_what_is_long_and_sends_nothing_of_its_own_is_left_out(noted):
    folder = noted(
        {"short": (FEW - 1, 1, "ab"), "long": (FEW, 2, "ab")},
        {"own": (FEW, 1, "abc"), "looks": (FEW, 1, "ab"), "at once": (FEW, 3, "ab")},
    )
    items = [
        SimpleNamespace(nodeid=name, function=looking if name == "looks" else plain)
        for name in ("short", "long", "own", "looks", "at once", "skipped on SQLite")
    ]
    assert left_out(items, folder) == {"long"}
    assert left_out(items[1:2], folder) == set(), "where nothing else runs it is the one that sends its statements"


def test_statements_of_the_product_are_noted_by_function_form_and_outcome(tmp_path):
    of_product: dict = {}
    lines = "def first(send):\n    return send()\ndef second(send):\n    return send()\n"
    exec(compile(lines, str(ROOT / "core" / "of_no_file.py"), "exec"), of_product)
    first, second = of_product["first"], of_product["second"]
    notes = Statements(tmp_path)

    def sending(sql: str, error: Exception | None = None):
        def execute(*_):
            if error:
                raise error
            return "rows"

        return lambda: notes.note(execute, sql, None, False, {})

    assert sending("SELECT 1")() == "rows"
    assert (notes.number, notes.current) == (1, set()), "a test's own"
    for send in (first, second):
        assert send(sending("SELECT 1 WHERE x IN (%s, %s)")) == "rows"
    assert len(notes.current) == 2
    first(sending("SELECT 1 WHERE x IN (%s, %s, %s, %s)"))
    assert len(notes.current) == 2, "the same with more values"
    first(sending('SAVEPOINT "s140_x1"'))
    first(sending('SAVEPOINT "s141_x2"'))
    assert len(notes.current) == 3
    with pytest.raises(ValueError, match="no such"):
        first(sending("SELECT 1 WHERE x IN (%s, %s)", ValueError("no such")))
    assert (notes.number, len(notes.current)) == (7, 4)


def test_threads_count_that_write_at_once(tmp_path):
    def noted(*rounds: list[str]) -> int:
        """How many writers a test has whose threads send one statement each, those of a round at once."""
        notes = Statements(tmp_path)
        notes.note(lambda *_: None, "INSERT", None, False, {})
        for statements in rounds:
            together = threading.Barrier(len(statements), timeout=PATIENCE)

            def send(sql: str, together: threading.Barrier = together) -> None:
                notes.note(lambda *_: together.wait(), sql, None, False, {})
                together.wait()

            threads = [threading.Thread(target=send, args=(sql,)) for sql in statements]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return notes.writers

    assert noted() == 1
    assert noted(["UPDATE"], ["UPDATE"], ["UPDATE"]) == 2, "one worker after another"
    assert noted(["UPDATE", "SELECT", "SELECT"]) == 2
    assert noted(["UPDATE"], ["UPDATE", "DELETE"]) == 3


def test_what_was_skipped_is_not_known(tmp_path):
    notes = Statements(tmp_path / "notes")
    for name, skipped in (("ran", False), ("skipped", True)):
        protocol = notes.pytest_runtest_protocol(SimpleNamespace(nodeid=name))
        next(protocol)
        notes.pytest_runtest_logreport(SimpleNamespace(skipped=skipped))
        with pytest.raises(StopIteration):
            protocol.send(True)
    notes.pytest_sessionfinish()
    assert sent_in(tmp_path / "notes") == {"ran": Sent(0, 0, frozenset())}
