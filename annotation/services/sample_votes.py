"""The votes of the sample project: of some stories they were cast beside a model's suggestions, each cell drawn to be
seen or not; those of the others are imported."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from annotation.domain.sample_corpus import FOLDER
from annotation.domain.scripted_readers import Reader
from annotation.domain.tasks import LabelTask, Row
from annotation.models import Assignment, Project, Proposition, Suggestion, User
from annotation.services.arms import draw_for
from annotation.services.vote_import import import_votes
from annotation.services.votes import MAX_CHANGES, Change, save_votes

PREFILLED = range(1, 8)
"""The stories, by number, that were labelled beside suggestions: one of each category."""
FILE = "votes.csv"
MOST_SECONDS = 60
"""A longer pause before a vote is not time spent on it."""
VoteRow = Mapping[str, str]


def add_votes(*, by: User, project: Project, reader: Reader) -> None:
    """Have the invented annotators vote; `reader` is the model that suggests. Call it in a transaction."""
    with (FOLDER / FILE).open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    for number in PREFILLED:
        _suggest(project, number, reader)
    cast = defaultdict(list)
    for row in rows:
        if int(row["story_id"]) in PREFILLED:
            cast[int(row["story_id"]), row["annotator"]].append(row)
    for (number, name), votes in cast.items():
        _cast(project, number, name, votes)
    others = [row for row in rows if int(row["story_id"]) not in PREFILLED]
    import_votes(by=by, project=project, handle=_file_of(others), file=FILE, now=datetime(2026, 10, 20, tzinfo=UTC))


def _file_of(rows: Sequence[VoteRow]) -> io.BytesIO:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return io.BytesIO(text.getvalue().encode())


def _suggest(project: Project, number: int, reader: Reader) -> None:
    """Keep what the model says of every proposition of a story."""
    propositions = list(_propositions(project, number))
    rows = [Row(at, proposition.actor, proposition.belief) for at, proposition in enumerate(propositions)]
    task = LabelTask(rows=rows, dimensions=project.schema.labels)
    labels_by_row = json.loads(reader.answer({"task": task.as_task()}))["rows"]
    moment = datetime(2026, 10, 2, 9, 0, tzinfo=UTC)
    Suggestion.objects.bulk_create([
        Suggestion(proposition=proposition, dimension=key, label=label, source=reader.name, created_at=moment)
        for at, proposition in enumerate(propositions)
        for key, label in labels_by_row[str(at)].items()
    ])  # fmt: skip


def _propositions(project: Project, number: int):
    live = Proposition.objects.live_gold().filter(table__story__project=project, table__story__number=number)
    return live.order_by("position")


def _cast(project: Project, number: int, name: str, votes: Sequence[VoteRow]) -> None:
    """Save one annotator's votes on a story as the grid does, with the arms that are drawn when it is opened."""
    assignment = Assignment.objects.select_related("story__project", "annotator").get(
        story__project=project, story__number=number, annotator__username=name
    )
    draw_for(assignment=assignment, now=datetime.fromisoformat(votes[0]["created_at"]))
    uids = {(proposition.actor, proposition.belief): proposition.uid for proposition in _propositions(project, number)}
    changes = list(_changes(votes, uids))
    for first in range(0, len(changes), MAX_CHANGES):
        some = changes[first : first + MAX_CHANGES]
        save_votes(by=assignment.annotator, assignment=assignment, changes=some, now=some[-1].changed_at)


def _changes(votes: Sequence[VoteRow], uids: Mapping[tuple[str, str], str]) -> Iterator[Change]:
    moments = [datetime.fromisoformat(vote["created_at"]) for vote in votes]
    pauses = [0.0, *((after - before).total_seconds() for before, after in pairwise(moments))]
    for vote, moment, pause in zip(votes, moments, pauses, strict=True):
        uid, key = uids[vote["actor"], vote["belief"]], vote["dimension"]
        spent = int(1000 * pause) if 0 < pause <= MOST_SECONDS else None
        yield Change(uid, key, vote["label"], moment, f"{uid}-{key}", duration_ms=spent, saw=True)
