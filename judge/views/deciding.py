"""The page on which an expert decides the rows of a table that have no majority."""

from __future__ import annotations

from collections import Counter
from random import Random

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.access import open_work
from annotation.forms.votes import MAX_DURATION_MS
from annotation.services.open_work import Work
from annotation.views.saving import saved
from core.plain import Json, plain
from core.views.pages import Context
from judge.access import StudyAccess, study_of, table_of
from judge.domain.alignment import RowAnswer, Verdict, answers_as_json, both_sides
from judge.domain.settling import Method, standing
from judge.forms.alignments import LONGEST_REASON, RowDecisionsIn
from judge.models import AlignmentTask, SettledAlignment
from judge.services.deciding import next_open, take_story, taken_by_others
from judge.services.refused import Refused
from judge.services.settling import decide
from judge.views.rows import rows_of


@require_GET
def decide_table(request: HttpRequest, slug: str, uid: str, table: str) -> HttpResponse:
    """Both tables as the majority has them; open rows show what people said, without names and in no order."""
    access = study_of(request.user, slug, uid)
    task = table_of(access, table)
    settled = SettledAlignment.objects.filter(task=task).first()
    taken = take_story(by=request.user, task=task, now=timezone.now()) if settled and settled.open_rows else ""
    editable = settled is not None and not taken
    context = {
        "task": task,
        "navigation": "judge:studies",
        "settled": settled,
        "taken": taken,
        "editable": editable,
        "compound": access.study.most_links > 1,
        "settings": _settings(access, task, settled, editable),
        "longest": LONGEST_REASON,
    }
    return render(request, "judge/decide.html", access.context | context)


def _settings(access: StudyAccess, task: AlignmentTask, settled: SettledAlignment | None, editable: bool) -> Context:
    place = [access.project.project.slug, access.study.uid, task.uid]
    rows = settled.answers if settled else {}
    return {
        "annotator": access.project.user.pk,
        "story": task.uid,
        "editable": editable,
        "most": access.study.most_links,
        "longestDuration": MAX_DURATION_MS,
        "rows": plain(rows_of(task)),
        "proposals": {},
        "answers": answers_as_json(standing(rows)),
        "methods": {row: settled_row.method for row, settled_row in rows.items()},
        "votes": _votes(task, [row for row, settled_row in rows.items() if settled_row.method == Method.OPEN]),
        "revision": settled.revision if settled else 0,
        "urls": {
            "save": reverse("judge:save_decisions", args=place),
            "next": reverse("judge:study", args=place[:2]),
            "login": reverse("login"),
        },
    }


def _votes(task: AlignmentTask, open_rows: list[str]) -> dict[str, str]:
    """Return what people said of each open row, most often first and else in an order that names nobody."""
    people = [both_sides(alignment.answers_by_row, task.rows) for alignment in task.alignments.handed_in()]
    votes = {}
    for row in open_rows:
        answers = [_answer_text(person[row]) for person in people]
        Random(f"{task.uid} {row}").shuffle(answers)
        votes[row] = "; ".join(f"{count} × {text}" for text, count in Counter(answers).most_common())
    return votes


def _answer_text(answer: RowAnswer) -> str:
    if answer.links:
        return ", ".join(link.upper() for link in answer.links)
    return _("cannot tell") if answer.verdict == Verdict.UNCLEAR else _("no match")


@require_POST
def save_decisions(request: HttpRequest, slug: str, uid: str, table: str) -> JsonResponse:
    """Take an expert's decisions, all or none; the answer says where the next open table is."""
    access = study_of(request.user, slug, uid)
    task = table_of(access, table)

    def save(posted: RowDecisionsIn) -> Json:
        now = timezone.now()
        if name := take_story(by=request.user, task=task, now=now):
            raise Refused(_("{name} decides on this story now; look again in a few minutes.").format(name=name))
        settled = decide(
            by=request.user, task=task, revision=posted.revision, reason=posted.reason, now=now,
            decisions=[entry.decision for entry in posted.decisions],
        )  # fmt: skip
        others = taken_by_others(access.project.project, request.user, now)
        following = next_open(
            access.study, request.user, after=task, but={*open_work(access.project, before=Work.ALIGNED_ROWS), *others}
        )
        place = [slug, access.study.uid]
        address = (
            reverse("judge:decide", args=[*place, following.uid]) if following else reverse("judge:study", args=place)
        )
        return {"next": address, "open_rows": settled.open_rows}

    return saved(request, RowDecisionsIn, save, made="made these decisions", refused=Refused)
