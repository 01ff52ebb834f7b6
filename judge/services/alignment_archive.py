"""Alignment studies as a part of a project's archive; what an archive claims of their rows is checked."""

from typing import Annotated, Any

from django.db.models import Model
from django.utils.translation import gettext as _
from pydantic import Field, TypeAdapter, ValidationError

from annotation.domain.archive_format import BadArchive, file_of
from annotation.models import Project
from annotation.services.archive_sections import Section
from core.incoming.shapes import Among, Open
from core.messages import gettext_noop
from judge.domain.alignment import Answers, Method, Rows, Verdict, misfit, open_rows, standing
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


class _Answer(Open):
    """The answer about a row, or what became of a whole table."""

    links: list[Annotated[str, Field(pattern=r"^[pg][1-9][0-9]{0,4}$")]] = []
    verdict: Annotated[str, Among([*Verdict])] = ""


class _Settled(_Answer):
    method: Annotated[str, Among([*Method])]


class _Origin(Open):
    runs: list[str] = []


_TABLE = Annotated[list[tuple[str, str]], Field(max_length=MOST_ROWS)]
_EVENT = {"before": _Answer | None, "after": _Answer}
_SHAPES: dict[type[Model], dict[str, Any]] = {
    AlignmentStudy: {"frame": list[tuple[str, str, str, str]], "origin": _Origin},
    AlignmentTask: {"predictions": _TABLE, "gold": _TABLE, "origin": dict[str, Any]},
    Alignment: {"answers": dict[str, _Answer]},
    AlignmentEvent: _EVENT,
    SettledAlignment: {"rows": dict[str, _Settled]},
    SettledEvent: _EVENT,
}
"""The JSON fields of each model as pages and reports read them."""


def check_imported(project: Project) -> None:
    """Raise BadArchive for the first row whose content pages and reports could not read."""
    for section in SECTIONS:
        rows = section.rows(project)
        if section.model in (Alignment, SettledAlignment):
            rows = rows.select_related("task__study").defer("task__text", "task__study__frame")
        adapters = {field: TypeAdapter(shape) for field, shape in _SHAPES[section.model].items()}
        for number, row in enumerate(rows.iterator(AT_ONCE), 1):
            if sentence := _misfit(row, adapters):
                text, file = _("{file}, line {number}: {sentence}"), file_of(section.name)
                raise BadArchive(text.format(file=file, number=number, sentence=sentence))


def _misfit(row: Any, adapters: dict[str, TypeAdapter[Any]]) -> str:
    unread = _("field {field}: its content cannot be read.")
    for field, adapter in adapters.items():
        try:
            adapter.validate_python(getattr(row, field))
        except ValidationError:
            return unread.format(field=field)
    match row:
        case AlignmentStudy() if len({unit.key for unit in row.units}) < len(row.frame):
            return unread.format(field="frame")
        case Alignment():
            return _unlinked(row.answers_by_row, row.task.rows)
        case SettledAlignment() if set(row.rows) != set(row.task.rows.names):
            return unread.format(field="rows")
        case SettledAlignment() if row.open_rows != len(open_rows(row.answers)):
            return unread.format(field="open_rows")
        case SettledAlignment():
            return _unlinked(standing(row.answers), row.task.rows)
    return ""


def _unlinked(answers: Answers, rows: Rows) -> str:
    return next(filter(None, (misfit(answers, row, rows) for row in answers)), "")


PART = SECTIONS, check_imported, LEFT_OUT
"""What archives of projects hold of their alignment studies."""
