from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from django.core.exceptions import ValidationError
from django.utils import timezone

from annotation.forms.adjudication import ReplyForm
from annotation.management.commands._scope import member_named
from annotation.management.json_command import JsonCommand
from annotation.models import GoldLabel, Project, Proposition, Role, User, adjudication_queue
from annotation.services import adjudication, remarks
from annotation.services.last_decisions import last_action
from core.wording import counted


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell that an expert acts on; `by` no longer labels its story."""

    by: User
    proposition: Proposition
    dimension: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for: an action, the cell, where one is named, and what only a reply has."""

    action: str
    story: int | None
    row: int | None
    dimension: str | None
    thread: int | None
    text: str | None


@dataclass(frozen=True, slots=True)
class _Message:
    """What somebody said, `by` None for an annotator who may not be named."""

    by: str | None
    text: str


@dataclass(frozen=True, slots=True)
class _Standing:
    """A cell as it stands after an action."""

    project: str
    expert: str
    done: str
    label: str
    filed: bool
    threads: Sequence[Sequence[_Message]]


@dataclass(frozen=True, slots=True)
class _Undone:
    """How many decisions were taken back."""

    project: str
    expert: str
    done: str
    taken_back: int


def _show(cell: _Cell, asked: _Asked) -> None:
    """Change nothing: what stands is said after each action."""


def _reply(cell: _Cell, asked: _Asked) -> None:
    threads, number = remarks.threads_of(cell.proposition, cell.dimension), asked.thread or 0
    if not 1 <= number <= len(threads):
        raise ValueError(f"There is no thread {number} about this cell; it has {len(threads)}.")
    thread = threads[number - 1]
    form = ReplyForm({"thread": thread.uid, "text": asked.text})
    if not form.is_valid():
        raise ValidationError(form.errors.as_data())
    remarks.add_comment(
        by=cell.by,
        proposition=cell.proposition,
        dimension=cell.dimension,
        thread_of=thread.annotator,
        text=form.cleaned_data["text"],
    )


def _file(cell: _Cell, asked: _Asked) -> None:
    filed = asked.action == "file"
    adjudication.file_case(by=cell.by, proposition=cell.proposition, dimension=cell.dimension, filed=filed)


ACTIONS: dict[str, Callable[[_Cell, _Asked], None]] = {
    "show": _show,
    "reply": _reply,
    "file": _file,
    "unfile": _file,
}


class Command(JsonCommand):
    help = "Does to a cell of the gold table what an expert does on its pages, beside deciding it."

    def add_arguments(self, parser) -> None:
        parser.add_argument("action", choices=[*ACTIONS, "undo"])
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--expert", required=True, metavar="NAME", help="user name of who does it")
        which = parser.add_argument_group("the cell", "all three; undo without them takes the last decision back")
        which.add_argument("--story", type=int, metavar="NUMBER")
        which.add_argument("--row", type=int, metavar="NUMBER", help="counted from 1, as `table rows` lists them")
        which.add_argument("--dimension", metavar="KEY")
        parser.add_argument("--thread", type=int, metavar="NUMBER", help="reply: counted from 1, as show lists them")
        parser.add_argument("--text", metavar="TEXT", help="reply: what is said")

    def work(self, **options) -> _Standing | _Undone:
        project = self.project(options["project"])
        asked = _Asked(*(options[field.name] for field in fields(_Asked)))
        for name, value in (("thread", asked.thread), ("text", asked.text)):
            if (value is not None) != (asked.action == "reply"):
                raise ValueError(f"reply takes --{name}, and nothing else does.")
        by = member_named(project, options["expert"], noun="expert", roles=(Role.EXPERT, Role.ADMIN))
        cell = _cell(project, by, asked)
        if asked.action == "undo":
            return _Undone(project.slug, by.username, asked.action, _undo(project, by, cell))
        if cell is None:
            raise ValueError(f"{asked.action} needs --story, --row and --dimension.")
        ACTIONS[asked.action](cell, asked)
        return _standing(project, cell, asked.action)

    def say(self, result: _Standing | _Undone) -> None:
        if isinstance(result, _Undone):
            self.stdout.write(f"Taken back: {counted(result.taken_back, 'decision')} of {result.expert}.")
            return
        filed = ", a case for the guideline" if result.filed else ""
        self.stdout.write(f"{result.label or 'open'}{filed}")
        for number, thread in enumerate(result.threads, 1):
            for message in thread:
                self.stdout.write(f"{number}. {message.by or 'An annotator'}: {message.text}")


def _cell(project: Project, by: User, asked: _Asked) -> _Cell | None:
    """Return the cell that is named, None where none is. Raises ValueError."""
    number, at, dimension = asked.story, asked.row, asked.dimension
    if number is None and at is None and dimension is None:
        return None
    if number is None or at is None or dimension is None:
        missing = "story" if number is None else "row" if at is None else "dimension"
        raise ValueError(f"A cell needs --{missing}, too.")
    story = project.stories.filter(number=number).first()
    if story is None:
        raise ValueError(f"There is no story {number} in {project.slug}.")
    rows = list(Proposition.objects.gold_of(story).select_related("table__story__project"))
    if not 1 <= at <= len(rows):
        raise ValueError(f"There is no row {at}; expected 1 to {len(rows)}.")
    if dimension not in project.schema:
        raise ValueError(f"{project.slug} has no dimension {dimension!r}; it has: {', '.join(project.schema.keys)}.")
    adjudication.check_finished(by=by, story=story)
    return _Cell(by, rows[at - 1], dimension)


def _standing(project: Project, cell: _Cell, done: str) -> _Standing:
    gold = GoldLabel.objects.filter(proposition=cell.proposition, dimension=cell.dimension).first()
    voted = adjudication_queue.voted_on(cell.by, [cell.proposition.pk])
    named = remarks.annotators_named(gold, voted=(cell.proposition.pk, cell.dimension) in voted)
    threads = remarks.threads_of(cell.proposition, cell.dimension)
    return _Standing(
        project=project.slug,
        expert=cell.by.username,
        done=done,
        label=gold.label if gold else "",
        filed=bool(gold and gold.guideline_flag),
        threads=[_messages_of(thread, named=named) for thread in threads],
    )


def _messages_of(thread: remarks.Thread, *, named: bool) -> list[_Message]:
    speakers = [(thread.speaker(message, named=named), message.text) for message in thread.messages]
    return [_Message(by.username if by else None, text) for by, text in speakers]


def _undo(project: Project, by: User, cell: _Cell | None) -> int:
    """Take the expert's decision on the cell back, or all that they took last; returns how many."""
    if cell is None:
        cell_keys = {(event.proposition_id, event.dimension) for event in last_action(by=by, project=project)}
    else:
        cell_keys = {(cell.proposition.pk, cell.dimension)}
    rows = GoldLabel.objects.filter(proposition__in={proposition for proposition, _ in cell_keys})
    revisions = {(gold.proposition_id, gold.dimension): gold.revision for gold in rows}
    cells = {key: revisions.get(key, 0) for key in cell_keys}
    adjudication.undo_decisions(by=by, project=project, cells=cells, now=timezone.now())
    return len(cells)
