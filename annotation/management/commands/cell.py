from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone

from annotation.forms.adjudication import ReplyForm
from annotation.management.json_command import ProjectCommand, check_dimension, member_named
from annotation.models import GoldLabel, Project, Proposition, User, adjudication_queue
from annotation.services import adjudication, remarks
from annotation.services.decisions import last_action
from core.plain import Json
from core.wording import counted


class Command(ProjectCommand):
    help = "Does to a cell of the gold table what an expert does on its pages, beside deciding it."

    arguments = {
        "action": {"choices": ["show", "reply", "file", "unfile", "undo"]},
        "--expert": {"required": True, "metavar": "NAME", "help": "user name of who does it"},
        "--thread": {"type": int, "metavar": "NUMBER", "help": "reply: counted from 1, as show lists them"},
        "--text": {"metavar": "TEXT", "help": "reply: what is said"},
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        which = parser.add_argument_group("the cell", "all three; undo without them takes the last decision back")
        which.add_argument("--story", type=int, metavar="NUMBER")
        which.add_argument("--row", type=int, metavar="NUMBER", help="counted from 1, as `table rows` lists them")
        which.add_argument("--dimension", metavar="KEY")

    def on(self, project: Project, *, action: str, expert: str, **options: Any) -> Json:
        for name in ("thread", "text"):
            if (options[name] is not None) != (action == "reply"):
                raise ValueError(f"reply takes --{name}, and nothing else does.")
        by = member_named(project, expert)
        place = _place(project, by, options["story"], options["row"], options["dimension"])
        done: Json = {"project": project.slug, "expert": by.username, "done": action}
        if action == "undo":
            rows = last_action(by=by, project=project)
            if place is not None:
                rows = GoldLabel.objects.filter(proposition=place[0], dimension=place[1])
            cells = {(gold.proposition_id, gold.dimension): gold.revision for gold in rows}
            if place is not None:
                cells.setdefault((place[0].pk, place[1]), 0)
            adjudication.undo_decisions(by=by, project=project, cells=cells, now=timezone.now())
            return done | {"taken_back": len(cells)}
        if place is None:
            raise ValueError(f"{action} needs --story, --row and --dimension.")
        if action == "reply":
            threads, number = remarks.threads_of(*place), options["thread"]
            if not 1 <= number <= len(threads):
                raise ValueError(f"There is no thread {number} about this cell; it has {len(threads)}.")
            form = ReplyForm({"thread": threads[number - 1].uid, "text": options["text"]})
            if not form.is_valid():
                raise ValidationError(form.errors.as_data())
            about = {"proposition": place[0], "dimension": place[1], "thread_of": threads[number - 1].annotator}
            remarks.add_comment(by=by, **about, text=form.cleaned_data["text"])
        elif action != "show":
            adjudication.file_case(by=by, proposition=place[0], dimension=place[1], filed=action == "file")
        return done | _standing(by, *place)

    def say(self, result: Json) -> None:
        if "taken_back" in result:
            self.stdout.write(f"Taken back: {counted(result['taken_back'], 'decision')} of {result['expert']}.")
            return
        self.stdout.write(f"{result['label'] or 'open'}{', a case for the guideline' if result['filed'] else ''}")
        for number, thread in enumerate(result["threads"], 1):
            for message in thread:
                self.stdout.write(f"{number}. {message['by'] or 'An annotator'}: {message['text']}")


def _place(
    project: Project, by: User, number: int | None, at: int | None, dimension: str | None
) -> tuple[Proposition, str] | None:
    """Return (proposition, dimension) of the cell that is named, which the expert no longer labels; None if nothing is
    named. Raises ValueError."""
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
    check_dimension(project, dimension)
    adjudication.check_finished(by=by, story=story)
    return rows[at - 1], dimension


def _standing(by: User, proposition: Proposition, dimension: str) -> Json:
    """Return how the cell stands: its label, whether it is filed, and its threads; an annotator who may not be named is
    None."""
    gold = GoldLabel.objects.filter(proposition=proposition, dimension=dimension).first()
    voted = adjudication_queue.voted_on(by, [proposition.pk])
    named = remarks.annotators_named(gold, voted=(proposition.pk, dimension) in voted)
    threads: list[list[Json]] = []
    for thread in remarks.threads_of(proposition, dimension):
        said = [(thread.speaker(message, named=named), message.text) for message in thread.messages]
        threads.append([{"by": speaker.username if speaker else None, "text": text} for speaker, text in said])
    return {"label": gold.label if gold else "", "filed": bool(gold and gold.guideline_flag), "threads": threads}
