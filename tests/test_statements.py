"""Which tests the pass on PostgreSQL takes."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest

from tests.patience import PATIENCE
from tests.statements import (
    A_SECOND,
    CHEAP,
    FEW,
    ROOT,
    SERVED,
    Collected,
    Sent,
    Statements,
    _form,
    collected_in,
    covering,
    left_out,
    sent_in,
    unread,
)


def sent(number: int, statements: str) -> Sent:
    return Sent(number, 1, frozenset(statements))


def test_every_statement_is_sent_by_a_test_that_is_taken():
    tests = {"short": sent(3, "ab"), "long": sent(500, "abc"), "longer": sent(900, "abc"), "other": sent(400, "d")}
    assert covering(tests) == {"short", "long", "other"}
    assert covering(tests, ["longer"]) == {"other"}
    assert covering({}) == set()


def test_what_costs_least_is_taken_for_a_statement():
    quick, slow = Sent(900, 1, frozenset("ab"), 0.2), Sent(500, 1, frozenset("ab"), 2.0)
    assert covering({"quick": quick, "slow": slow}) == {"quick"}
    assert covering({"quick": sent(3 * A_SECOND, "ab"), "slow": slow}) == {"slow"}, "not noted: by its statements"
    assert covering({"quick": sent(A_SECOND, "ab"), "slow": slow}) == {"quick"}


def test_what_the_server_takes_is_a_cost():
    tests = {"few": Sent(SERVED // 10, 1, frozenset("ab"), 0.9), "many": Sent(SERVED, 1, frozenset("ab"), 0.8)}
    assert covering(tests) == {"few"}


def test_what_is_dear_is_given_up_where_others_came_to_send_the_same():
    first = Sent(90, 1, frozenset("abcd"), CHEAP + 0.1)
    others = {"one": Sent(90, 1, frozenset("abe"), 0.3), "other": Sent(90, 1, frozenset("cdf"), 0.3)}
    assert covering({"first": first, **others}) == {"one", "other"}
    assert covering({"first": Sent(90, 1, first.statements, CHEAP / 2), **others}) == {"first", "one", "other"}


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


def calling(connection):
    return [looking(one) for one in [connection]]


def plain():
    pass


def test_what_is_long_and_sends_nothing_of_its_own_is_left_out(noted):
    folder = noted(
        {"short": (FEW - 1, 1, "ab"), "long": (FEW, 2, "ab")},
        {"own": (FEW, 1, "abc"), "looks": (FEW, 1, "ab"), "calls": (FEW, 1, "ab"), "at once": (FEW, 3, "ab")},
    )
    items = [
        SimpleNamespace(nodeid=name, function={"looks": looking, "calls": calling}.get(name, plain))
        for name in ("short", "long", "own", "looks", "calls", "at once", "skipped on SQLite")
    ]
    assert left_out(items, folder) == {"long"}
    assert left_out(items[1:2], folder) == set(), "where nothing else runs it is the one that sends its statements"


def test_files_are_read_of_which_a_test_is_taken(noted):
    folder = noted(
        {"a.py::short": (FEW - 1, 1, "ab"), "a.py::long": (FEW, 1, "ab"), "b.py::long": (FEW, 1, "ab")},
        {"c.py::looks": (FEW, 1, "ab"), "d.py::browser": (FEW - 1, 1, "ab"), "e.py::own": (FEW, 1, "abc")},
    )
    assert unread(folder) == set(), "where it is not known which files there are"
    of_database = ["a.py::short", "a.py::long", "b.py::long", "c.py::looks", "e.py::own", "f.py::skipped on SQLite"]
    files = ["a.py", "b.py", "c.py", "d.py", "e.py", "f.py", "g.py"]
    (folder / "0.collected").write_text(json.dumps([files, of_database, ["c.py::looks"]]))
    assert unread(folder) == {"b.py", "d.py", "g.py"}


def test_the_tests_are_noted_that_there_are(tmp_path):
    def item(name: str, *marks: str, function=plain):
        return SimpleNamespace(nodeid=name, function=function, get_closest_marker=lambda mark: mark in marks or None)

    notes = Statements(tmp_path)
    items = [
        item("a.py::one", "database", "dear"),
        item("b.py::two", "database", "once"),
        item("c.py::three"),
        item("d.py::four", "database", function=looking),
        item("e.py::five", "database", "browser", function=looking),
    ]
    notes.pytest_collection_finish(SimpleNamespace(items=items))
    notes.pytest_sessionfinish()
    assert collected_in(tmp_path) == Collected(
        frozenset({"a.py", "b.py", "c.py", "d.py", "e.py"}),
        frozenset({"a.py::one", "d.py::four"}),
        frozenset({"d.py::four"}),
    )


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
    for values in ("IN (%s)", "IN (%s, %s)"):
        first(sending(f"SELECT 1 WHERE x {values}"))
    assert len(notes.current) == 2, "one value is not another form"
    first(sending('SAVEPOINT "s140_x1"'))
    first(sending('SAVEPOINT "s141_x2"'))
    assert len(notes.current) == 3
    with pytest.raises(ValueError, match="no such"):
        first(sending("SELECT 1 WHERE x IN (%s, %s)", ValueError("no such")))
    assert (notes.number, len(notes.current)) == (9, 4)


@pytest.mark.parametrize(
    "same",
    [
        ("SELECT 1 LIMIT 5", "SELECT 1 LIMIT 21"),
        ("SELECT 1 LIMIT 5 OFFSET 5", "SELECT 1 LIMIT 5 OFFSET 10"),
        ("INSERT INTO a (b, c) VALUES (?1, %s)", "INSERT INTO a (b, c) VALUES (?1, %s), (?1, %s), (?1, %s)"),
        ("INSERT INTO a (b) VALUES (%s)", "INSERT INTO a (b) VALUES (%s), (%s)"),
        (
            "UPDATE a SET b = CASE WHEN (id = %s) THEN %s ELSE NULL END",
            "UPDATE a SET b = CASE WHEN (id = %s) THEN %s WHEN (id = %s) THEN %s ELSE NULL END",
        ),
        ('SELECT EXISTS(SELECT 1) AS "of_7"', 'SELECT EXISTS(SELECT 1) AS "of_12"'),
    ],
)
def test_values_make_no_form(same):
    one, other = same
    assert _form(one) == _form(other)


@pytest.mark.parametrize(
    "forms",
    [
        ("SELECT 1 LIMIT 5", "SELECT 1", "SELECT 1 LIMIT 5 OFFSET 5"),
        ('SELECT 1 AS "a1"', 'SELECT 1 AS "a2"'),
        (
            "UPDATE a SET b = CASE WHEN (id = %s) THEN %s END",
            "UPDATE a SET b = CASE WHEN (id = %s) THEN %s WHEN (id = %s) THEN c END",
        ),
        ("SELECT 1 WHERE x = %s", "SELECT 1 WHERE x = %s OR x = %s", "SELECT 1 WHERE x IN (%s)"),
    ],
)
def test_what_asks_otherwise_is_a_form(forms):
    assert len({_form(sql) for sql in forms}) == len(forms)


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
    told = sent_in(tmp_path / "notes")
    assert told == {"ran": Sent(0, 0, frozenset())}
    assert told["ran"].seconds is not None and told["ran"].seconds >= 0
