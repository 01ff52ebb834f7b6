"""Alignment studies as a part of a project's archive; what an archive claims of their rows is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _

from annotation.domain.archive_format import BadArchive, file_of
from annotation.models import Project
from annotation.services.archive_sections import Further, Section, register
from core.messages import gettext_noop
from judge.domain.alignment import (
    Answers,
    Method,
    Rows,
    SettledRow,
    Verdict,
    answers_from_json,
    misfit,
    open_rows,
    standing,
)
from judge.models import Alignment, AlignmentEvent, AlignmentStudy, AlignmentTask, SettledAlignment, SettledEvent
from judge.services.studies import MOST_ROWS

_OF_TABLE = "task__study__project"
SECTIONS = (
    Section("alignment_studies", AlignmentStudy, "project", numbered=True),
    Section("alignment_tables", AlignmentTask, "study__project", numbered=True),
    Section("alignments", Alignment, _OF_TABLE, numbered=True),
    Section("alignment_events", AlignmentEvent, f"alignment__{_OF_TABLE}"),
    Section("settled_alignments", SettledAlignment, _OF_TABLE),
    Section("settled_alignment_events", SettledEvent, _OF_TABLE),
)
LEFT_OUT = gettext_noop(
    "Runs, watches, second looks and what judges said are not part of an archive: its alignment studies have people’s "
    "answers and agreement, but no judge is calibrated by them here, and they draw no further tables."
)
AT_ONCE = 500


def register_archive() -> None:
    """Have archives of projects hold their alignment studies."""
    register(Further(SECTIONS, check_imported, LEFT_OUT))


def check_imported(project: Project) -> None:
    """Raise BadArchive for the first row whose content pages and reports could not read."""
    checks: dict[type[Model], Callable[[Any], str]] = {
        AlignmentStudy: _misfit_of_study,
        AlignmentTask: _misfit_of_table,
        Alignment: _misfit_of_alignment,
        AlignmentEvent: _misfit_of_event,
        SettledAlignment: _misfit_of_settled,
        SettledEvent: _misfit_of_event,
    }
    for section in SECTIONS:
        rows = section.rows(project)
        if section.model in (Alignment, SettledAlignment):
            rows = rows.select_related("task__study").defer("task__text", "task__study__frame")
        for number, row in enumerate(rows.iterator(AT_ONCE), 1):
            if sentence := checks[section.model](row):
                raise BadArchive(
                    _("{file}, line {number}: {sentence}").format(
                        file=file_of(section.name), number=number, sentence=sentence
                    )
                )


def _expected(field: str, what: str) -> str:
    return _("field {field}: expected {what}.").format(field=field, what=what)


def _misfit_of_study(study: AlignmentStudy) -> str:
    if not _are_texts(study.frame, 4) or len({row[0] for row in study.frame}) < len(study.frame):
        return _expected("frame", _("a list of distinct tables as [key, story, model, category]"))
    if not isinstance(study.origin, dict) or not _are_texts([study.origin.get("runs", [])]):
        return _expected("origin", _("an object with a list of runs"))
    return ""


def _misfit_of_table(task: AlignmentTask) -> str:
    for name in ("predictions", "gold"):
        rows = getattr(task, name)
        if not _are_texts(rows, 2) or len(rows) > MOST_ROWS:
            return _expected(name, _("at most {most} rows as [actor, belief]").format(most=f"{MOST_ROWS:,}"))
    return "" if isinstance(task.origin, dict) else _expected("origin", _("an object"))


def _are_texts(rows: Any, width: int | None = None) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, list) and width in (None, len(row)) and all(isinstance(cell, str) for cell in row)
        for row in rows
    )


def _misfit_of_alignment(alignment: Alignment) -> str:
    kept = alignment.answers
    if not isinstance(kept, dict) or not all(map(_is_answer, kept.values())):
        return _expected("answers", _("the answer about each row"))
    return _unlinked(answers_from_json(kept), alignment.task.rows)


def _misfit_of_settled(settled: SettledAlignment) -> str:
    kept, rows = settled.rows, settled.task.rows
    are_rows = isinstance(kept, dict) and set(kept) == set(rows.names)
    if not are_rows or not all(_is_answer(row) and row.get("method") in list(Method) for row in kept.values()):
        return _expected("rows", _("the settled answer about each row of both tables"))
    answers = {name: SettledRow.from_json(value) for name, value in kept.items()}
    if settled.open_rows != len(open_rows(answers)):
        return _expected("open_rows", str(len(open_rows(answers))))
    return _unlinked(standing(answers), rows)


def _unlinked(answers: Answers, rows: Rows) -> str:
    return next(filter(None, (misfit(answers, row, rows) for row in answers)), "")


def _misfit_of_event(event: AlignmentEvent | SettledEvent) -> str:
    for name in ("before", "after"):
        state = getattr(event, name)
        fits = _is_answer(state) if event.row else isinstance(state, dict)
        if not fits and not (state is None and name == "before"):
            return _expected(name, _("the answer about the row"))
    return ""


def _is_answer(value: Any) -> bool:
    """Return whether this is an answer whose links are names of rows; `misfit` says whether the table has them."""
    return (
        isinstance(value, dict)
        and _are_texts([value.get("links", [])])
        and all(map(Rows(99_999, 99_999).has, value.get("links", [])))
        and value.get("verdict", "") in list(Verdict)
    )
