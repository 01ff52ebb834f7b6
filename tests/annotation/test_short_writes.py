"""Imports write in short transactions and read their files outside of them."""

import io
import json
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import AuditEvent, GoldLabel, Project, Proposition, Story, Vote, VoteEvent
from annotation.services import corpus_import, short_writes, vote_import
from annotation.services.corpus_import import ImportRefused, import_corpus
from annotation.services.short_writes import ShortWrites
from annotation.services.vote_import import import_votes
from tests.annotation.writing import small_steps, watched_transactions

pytestmark = pytest.mark.django_db(transaction=True)


def records(count: int, propositions: int = 3) -> list[str]:
    beliefs = [{"actor": "Ines", "belief": f"Belief {at}"} for at in range(propositions)]
    return [
        json.dumps({"story_id": number, "story_category": "C", "story": f"Story {number}.", "beliefs": beliefs})
        for number in range(1, count + 1)
    ]


def import_lines(lines: list[str], **options):
    raw = "\n".join(lines).encode()
    sources = [("records.jsonl", lambda: io.BytesIO(raw))]
    return import_corpus(by=None, project_slug="minds", format="omnitom", sources=sources, **options)


def test_a_slow_transaction_makes_the_next_one_smaller_and_quick_ones_larger(monkeypatch):
    # two transactions of 0.8 s and 0.01 s, each timed at its beginning and its end
    clock, pauses = iter([0.0, 0.8, 0.9, 0.91]), []
    fake = SimpleNamespace(monotonic=lambda: next(clock), thread_time=lambda: 0.0, sleep=pauses.append)
    monkeypatch.setattr(short_writes, "time", fake)
    writes = ShortWrites()
    with writes.transaction(2_000):
        pass
    assert (writes.rows, pauses) == (200, [])  # 2,000 rows × 0.08 s / 0.8 s
    with writes.transaction(200):
        pass
    assert (writes.rows, pauses) == (300, [0.02])


def outside_of_transactions(monkeypatch, module, name) -> None:
    """Have a reader of files, which yields what it reads, be asked outside of every transaction."""
    read = getattr(module, name)

    def checked(*args, **options):
        for item in read(*args, **options):
            assert not connection.in_atomic_block
            yield item

    monkeypatch.setattr(module, name, checked)


def test_a_corpus_is_written_in_short_transactions_and_read_outside_of_them(monkeypatch):
    outside_of_transactions(monkeypatch, corpus_import, "read_file")
    small_steps(monkeypatch, 40)
    with watched_transactions(monkeypatch) as written:
        result = import_lines(records(60))  # four rows a story and one table: 300 rows
    assert (result.created, result.propositions, Story.objects.count()) == (60, 180, 60)
    assert len(written) == 6
    if connection.vendor == "sqlite":
        assert max(written) <= 60
    for lines in (["{"] * 3_000, records(60)):  # broken ones, and what is known
        with watched_transactions(monkeypatch) as written:
            import_lines(lines)
            import_lines(lines, dry_run=True)
        assert not any(written)


def test_an_import_that_broke_off_is_resumed_by_starting_it_again(monkeypatch):
    small_steps(monkeypatch, 40)
    with pytest.raises(ImportRefused, match=r"records\.jsonl, line 61"):
        import_lines([*records(60), "{"], strict=True)
    assert not Project.objects.exists(), "strict keeps nothing where a late line is broken"

    def breaking(model, most: int, write):
        def write_until(*args):
            if model.objects.count() >= most:
                raise OSError("the machine was switched off")
            write(*args)

        return write_until

    with monkeypatch.context() as broken, pytest.raises(OSError, match="switched off"):
        broken.setattr(corpus_import, "insert_stories", breaking(Story, 30, corpus_import.insert_stories))
        import_lines(records(60))
    assert 0 < Story.objects.count() < 60
    assert set(AuditEvent.objects.values_list("action", flat=True)) == {"project.created", "corpus.import_started"}
    again = import_lines(records(60))
    assert (again.stories, again.created + again.unchanged, Story.objects.count()) == (60, 60, 60)
    assert Proposition.objects.count() == 180
    assert AuditEvent.objects.filter(action="corpus.imported").count() == 1
    lines = votes(6, 3)
    with monkeypatch.context() as broken, pytest.raises(OSError, match="switched off"):
        broken.setattr(vote_import._Plan, "write", breaking(Vote, 120, vote_import._Plan.write))
        import_rows(lines)
    assert 0 < Vote.objects.count() < 378
    assert AuditEvent.objects.filter(action="votes.import_started").count() == 1
    again = import_rows(lines)
    assert (again.created + again.unchanged, Vote.objects.count(), VoteEvent.objects.count()) == (378, 378, 378)
    assert GoldLabel.objects.count() == 126


def votes(stories: int, propositions: int) -> list[str]:
    return [
        f"{story},Ines,Belief {at},{one.key},{name},{one.values[at % 2]}"
        for story in range(1, stories + 1)
        for at in range(propositions)
        for one in DEFAULT_SCHEMA.dimensions
        for name in ("ada", "bruno", "chidi")
    ]


def import_rows(lines: list[str], **options):
    import_lines(records(6))
    handle = io.BytesIO("\n".join(["story_id,actor,belief,dimension,annotator,label", *lines]).encode())
    project = Project.objects.get()
    return import_votes(by=None, project=project, handle=handle, file="v.csv", now=timezone.now(), **options)


def test_votes_are_written_in_short_transactions(monkeypatch):
    import_lines(records(6))
    outside_of_transactions(monkeypatch, vote_import, "read_votes")
    small_steps(monkeypatch, 100)
    lines = votes(6, 3)  # 63 a story
    with watched_transactions(monkeypatch) as written:
        result = import_rows(lines)
    assert (result.created, result.problems, Vote.objects.count()) == (378, [], 378)
    assert GoldLabel.objects.count() == 6 * 3 * 7  # every cell of three votes is settled
    assert len(written) == 7  # one compares the corpus, which is here
    if connection.vendor == "sqlite":
        # 63 votes with their events, 21 gold labels with theirs, three assignments, three people, one audit row
        assert max(written) == 63 * 2 + 21 * 2 + 3 + 3 + 1
    for given, unchanged, problems in (
        (lines, 378, 0),
        (["1,Ines,No such thing,order,ada,1"] * 3_000, 0, 3_000),
        (["x"] * 3_000, 0, 3_000),
    ):
        with watched_transactions(monkeypatch) as written:
            result = import_rows(given)
        assert not any(written)
        assert (result.created, result.unchanged, result.problems.total) == (0, unchanged, problems)
    assert len(result.problems) == 1_000
    assert result.as_dict()["problems"][-1]["message"] == "2000 more problems are not listed."


def test_one_story_of_very_many_rows_is_divided(monkeypatch):
    small_steps(monkeypatch, 10)
    with watched_transactions(monkeypatch) as written:
        assert import_rows(votes(1, 3)).created == 63
    assert GoldLabel.objects.count() == 21
    assert len(written) >= 7


@pytest.mark.parametrize(("very_many", "tables"), [(1, ["proposition", "vote", "goldlabel"]), (10_000, [])])
def test_postgresql_is_told_of_very_many_new_rows(monkeypatch, very_many, tables):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's planner needs no look at the tables.")
    monkeypatch.setattr(short_writes, "VERY_MANY", very_many)
    with CaptureQueriesContext(connection) as captured:
        import_lines(records(2))
        import_rows(votes(2, 3))
    looks = " ".join(sql for query in captured if (sql := query["sql"] or "").startswith("ANALYZE"))
    assert [name for name in tables if f'"annotation_{name}"' in looks] == tables
    assert bool(looks) == bool(tables)


def test_what_came_between_comparing_and_writing_is_seen(monkeypatch):
    """Another import gives the same cells other labels just before the transaction begins: the later time stands."""
    head = "story_id,actor,belief,dimension,annotator,label,created_at"
    import_lines(records(1))
    project = Project.objects.get()

    def rows(dimension: str, label: str, moment: str):
        lines = [f"1,Ines,Belief {at},{dimension},ada,{label},{moment}" for at in range(3)]
        handle = io.BytesIO("\n".join([head, *lines]).encode())
        return import_votes(by=None, project=project, handle=handle, file="v.csv", now=timezone.now())

    rows("order", "1", "2026-03-02T08:00:00Z")  # makes Ada
    begin, between = ShortWrites.transaction, []

    def overtaken(self, size):
        if not between:
            between.append("once")
            rows("truth_status", "True", "2026-03-02T10:00:00Z")
        return begin(self, size)

    monkeypatch.setattr(ShortWrites, "transaction", overtaken)
    result = rows("truth_status", "False", "2026-03-02T09:00:00Z")
    assert (result.created, result.unchanged) == (0, 3)
    assert set(Vote.objects.filter(dimension="truth_status").values_list("label", flat=True)) == {"True"}
    assert VoteEvent.objects.count() == 6
