"""Votes that another process makes ready come in as those that are made ready here."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import (
    AnnotatorCounts,
    Assignment,
    AuditEvent,
    GoldEvent,
    GoldLabel,
    Project,
    Proposition,
    StoryCounts,
    Vote,
    VoteEvent,
)
from annotation.services import vote_import, vote_parts
from annotation.services.corpus_import import import_corpus
from annotation.services.vote_import import ImportBroken, import_votes
from core import beside
from core.beside import made_beside
from tests.annotation.writing import small_steps

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)
HEAD = "story_id,actor,belief,dimension,annotator,label,created_at"
DIMENSIONS = DEFAULT_SCHEMA.dimensions[:3]


@pytest.fixture(autouse=True)
def very_many(monkeypatch):
    """Every import is of very many votes, and the parts of these few are as large to a pipe as others are."""
    monkeypatch.setattr(vote_import, "VERY_MANY", 1)
    packed = vote_parts.packed
    monkeypatch.setattr(vote_parts, "packed", lambda rows: packed(rows) + bytes(2_000_000))


def new_project(slug: str) -> Project:
    beliefs = [{"actor": "Ines", "belief": f"Belief {at}"} for at in range(4)]
    lines = [
        json.dumps({"story_id": number, "story_category": "C", "story": f"Story {number}.", "beliefs": beliefs})
        for number in range(1, 5)
    ]
    raw = "\n".join(lines).encode()
    import_corpus(by=None, project_slug=slug, format="omnitom", sources=[("r.jsonl", lambda: io.BytesIO(raw))])
    return Project.objects.get(slug=slug)


def votes(*annotators: str, shift: int = 0, moment: str = "") -> list[str]:
    """Return votes of every cell, in an order that tears stories apart."""
    return [
        f"{story},Ines,Belief {at},{dimension.key},{name},"
        f"{dimension.values[(story + at + shift + number // 2) % len(dimension.values)]},{moment}"
        for at in range(4)
        for dimension in DIMENSIONS
        for story in range(1, 5)
        for number, name in enumerate(annotators)
    ]


FILES = {
    "new": votes("ada", "bo", "cy"),
    "with rows that cannot be used": [
        *votes("ada", "bo", "cy")[:60], "9,Ines,Belief 1,order,ada,1,", "2,Ines,No belief,order,ada,1,",
        "1,Ines,Belief 1,order,ada,1,2036-01-01T00:00:00Z", *votes("ada", "bo", "cy")[60:], "1,Ines,Belief 1,order,,1,",
    ],
    "the same": votes("ada", "bo", "cy"),
    "other labels, later, and one annotator too many": [
        *votes("ada", "bo", shift=1, moment="2026-10-20T11:00:00Z"), *votes("dee"),
    ],
    "nothing that can be used": ["9,Ines,Belief 1,order,eve,1,", "9,Ines,Belief 2,order,eve,1,"],
}  # fmt: skip


def imported(project: Project, lines: list[str], **options) -> dict:
    handle = io.BytesIO("\n".join([HEAD, *lines]).encode())
    return import_votes(by=None, project=project, handle=handle, file="v.csv", now=NOW, **options).as_dict()


def held(project: Project) -> dict[str, list]:
    """Return what the project holds, without ids and keys, which no two projects share."""
    story = "proposition__table__story"
    cell = (f"{story}__number", "proposition__position", "dimension")
    vote = (*cell, "annotator__display_name", "label", "changed_at")

    def rows(model, path: str, *columns: str) -> list:
        return sorted(model.objects.filter(**{f"{path}__project": project}).values_list(*columns), key=repr)

    return {
        "assignments": rows(Assignment, "story", "story__number", "annotator__display_name", "slot", "overlap"),
        "votes": rows(Vote, story, *vote),
        "events": rows(VoteEvent, story, *vote, "previous", "received_at", "origin"),
        "gold": rows(GoldLabel, story, *cell, "label", "method", "agreement", "disturbed", "revision"),
        "gold events": rows(GoldEvent, story, *cell, "after"),
        "counts": rows(StoryCounts, "story", "story__number", "unanimous", "majority", "open", "patterns"),
        "by annotator": rows(
            AnnotatorCounts, "story", "story__number", "annotator__display_name", "cells", "first", "last"
        ),
    }


def test_what_another_process_makes_ready_is_what_is_made_ready_here(monkeypatch):
    here, there = new_project("here"), new_project("there")
    small_steps(monkeypatch, 25)  # 36 votes a story
    processes = []

    def watched(make):
        def noted() -> Iterator:
            for part in make():
                yield os.getpid(), part

        for pid, part in made_beside(noted):
            processes.append(pid)
            yield part

    monkeypatch.setattr(vote_parts, "made_beside", watched)
    for name, lines in FILES.items():
        assert imported(there, lines, beside=True) == imported(here, lines), name
        assert held(there) == held(here), name
    assert len(processes) > 20 and os.getpid() not in processes
    assert Vote.objects.count() == 2 * 144


def test_an_annotator_whom_the_project_lacked_is_made_once(monkeypatch):
    project = new_project("minds")
    small_steps(monkeypatch, 40)
    anew, remade = [], vote_import.made_ready
    monkeypatch.setattr(vote_import, "made_ready", lambda *args: anew.append(1) or remade(*args))
    result = imported(project, votes("ada", "bo", "cy"), beside=True)
    assert result["created"] == 144 and {one["name"] for one in result["annotators"]} == {"ada", "bo", "cy"}
    assert AuditEvent.objects.get(action="votes.imported").details["imported_annotators"] == ["ada", "bo", "cy"]
    assert 1 <= len(anew) <= 2  # of four: the other process is one ahead, and then sees who is there


def test_where_the_other_process_is_killed_the_file_goes_on_from_there(monkeypatch):
    project, lines = new_project("minds"), votes("ada", "bo", "cy")
    small_steps(monkeypatch, 25)
    take, pids = beside._take, []

    def killing(taking):
        part = take(taking)
        if Vote.objects.count() > 50:
            os.kill(pids[0], signal.SIGKILL)
        return part

    started = beside.get_context("fork").Process.start
    monkeypatch.setattr(
        beside.get_context("fork").Process, "start", lambda process: (started(process), pids.append(process.pid))
    )
    with monkeypatch.context() as broken:
        broken.setattr(beside, "_take", killing)
        with pytest.raises(ImportBroken, match="was ended; import the file again"):
            imported(project, lines, beside=True)
    assert 50 < Vote.objects.count() < 144
    again = imported(project, lines, beside=True)
    assert (again["created"] + again["unchanged"], Vote.objects.count(), VoteEvent.objects.count()) == (144, 144, 144)


def test_what_came_between_comparing_and_writing_is_seen(monkeypatch):
    """While the other process is ahead, all rows of one story leave its table."""
    project = new_project("minds")
    small_steps(monkeypatch, 25)
    write, times = vote_import._write_part, []

    def overtaken(*args):
        times.append(1)
        if len(times) == 2:
            Proposition.objects.filter(table__story__number=4).update(removed_at=NOW)
        write(*args)

    monkeypatch.setattr(vote_import, "_write_part", overtaken)
    result = imported(project, votes("ada", "bo", "cy"), beside=True)
    assert (result["created"], Vote.objects.count()) == (108, 108)
    assert {problem["line"] for problem in result["problems"]} and "left the table" in result["problems"][0]["message"]
