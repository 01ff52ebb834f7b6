"""The files that pages of benchmarks take, so that the page *Import* can tell them and say where they belong."""

from __future__ import annotations

from annotation.domain.formats import FileFormat, register_format
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suites
from core.messages import Sentence, gettext_noop
from core.wording import counted

ANSWERS = FileFormat(
    "answers",
    gettext_noop("Answers of a model"),
    lambda count: counted(count, "answer"),
    gettext_noop("a run beside the others"),
    recognised_by=(
        frozenset({"doc_id", "resps"}),
        frozenset({"doc_id", "filtered_resps"}),
        frozenset({"eval", "samples"}),
    ),
    exact=True,
    page="benchmark:import_answers",
)


def register_formats() -> None:
    """Register the copies that suites take, and answers that were made elsewhere."""
    register_format(ANSWERS)
    for suite in suites().values():
        if suite.copied.load is not None and suite.copied.recognised_by:
            register_format(_copy_of(suite))


def _copy_of(suite: Suite) -> FileFormat:
    return FileFormat(
        f"copy of {suite.name}",
        Sentence("{suite} questions", suite=suite.title),
        lambda count: counted(count, "question"),
        gettext_noop("the question suite"),
        recognised_by=suite.copied.recognised_by,
        in_sheet=suite.copied.in_sheet,
        in_json=not suite.copied.in_sheet,
        exact=not suite.copied.in_sheet,
        page="benchmark:import_copy",
        page_needs=(suite.name,),
    )
