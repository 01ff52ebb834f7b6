"""Processes that save for several annotators are killed in the middle of it: nothing acknowledged is lost, nothing is
saved twice, and who is left goes on."""

import os
import signal
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections
from django.db.models import Count

from annotation.models import GoldEvent, GoldLabel, Proposition, Vote, VoteEvent
from annotation.services.votes import Change, save_votes

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = 24
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LABELS = {"order": "1", "truth_status": "True", "context": "Neutral"}


class Saving:
    """A process with a thread for each annotator of a story, who save row after row, always the same. `acknowledged`
    are the keys of what it told that it has saved."""

    def __init__(self, assignments: list) -> None:
        self.acknowledged: set[str] = set()
        connections.close_all()  # a connection is one process's
        self._told, write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            _save_all(assignments, write)
        os.close(write)
        self._told_by_now = os.fdopen(self._told)

    def acknowledges(self, saves: int) -> None:
        """Return once so many more saves were acknowledged."""
        for _ in range(saves * len(LABELS)):
            self.acknowledged.add(self._told_by_now.readline().strip())

    def ends(self, *, killed: bool = False) -> None:
        if killed:
            os.kill(self.process, signal.SIGKILL)
        self.acknowledged |= {line.strip() for line in self._told_by_now}
        self._told_by_now.close()
        _, status = os.waitpid(self.process, 0)
        assert os.waitstatus_to_exitcode(status) == (-signal.SIGKILL if killed else 0)


def _save_all(assignments: list, write: int) -> None:
    """Never returns."""
    ended = []

    def work(assignment) -> None:
        for changes in changes_of(assignment):
            save_votes(by=assignment.annotator, assignment=assignment, changes=changes, now=NOON)
            os.write(write, "".join(f"{change.idempotency_key}\n" for change in changes).encode())
        ended.append(assignment)

    threads = [threading.Thread(target=work, args=(assignment,)) for assignment in assignments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(len(assignments) - len(ended))


def changes_of(assignment) -> list[list[Change]]:
    """What somebody saves, row by row."""
    place = f"{assignment.annotator_id}-"
    return [
        [Change(row.uid, key, label, NOON + timedelta(seconds=row.position), f"{place}{row.uid}-{key}")
         for key, label in LABELS.items()]
        for row in Proposition.objects.gold_of(assignment.story)
    ]  # fmt: skip


def keys_of(assignments: list) -> set[str]:
    return {change.idempotency_key for one in assignments for row in changes_of(one) for change in row}


def stored(assignments: list) -> set[str]:
    """The keys of all changes in the story, each of which is there once, and stands as a vote."""
    of_story = {"proposition__table__story": assignments[0].story_id}
    keys = VoteEvent.objects.filter(**of_story).values("idempotency_key").annotate(times=Count("id"))
    assert {row["times"] for row in keys} == {1}
    columns = ("annotator", "proposition", "dimension", "idempotency_key", "label")
    votes, events = (set(model.objects.filter(**of_story).values_list(*columns)) for model in (Vote, VoteEvent))
    assert votes == events
    return {row["idempotency_key"] for row in keys}


def test_what_was_acknowledged_outlives_the_process_and_is_there_once(make_story, assign):
    rows = [("Ines", f"The key is in place {number}.") for number in range(ROWS)]
    assignments = [assign(make_story(number=number, rows=rows)) for number in (1, 2)]
    other = Saving(assignments[1])
    for saves in (2, 20, 40):
        killed = Saving(assignments[0])
        killed.acknowledges(saves)
        killed.ends(killed=True)
        assert len(killed.acknowledged) < len(keys_of(assignments[0]))  # else it was not in the middle of it
        assert killed.acknowledged <= stored(assignments[0])
    other.ends()
    again = Saving(assignments[0])
    again.ends()
    assert again.acknowledged == stored(assignments[0]) == keys_of(assignments[0])
    assert other.acknowledged == stored(assignments[1]) == keys_of(assignments[1])
    cells = 2 * ROWS * len(LABELS)
    settled = set(GoldLabel.objects.values_list("method", "dimension", "label"))
    assert settled == {("unanimous", *cell) for cell in LABELS.items()}
    assert GoldLabel.objects.count() == GoldEvent.objects.count() == cells
