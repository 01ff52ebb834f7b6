"""Reports that were frozen: the whole document as it was, for members who may see results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Run, SharedReport
from benchmark.services.comparisons import Comparison
from benchmark.services.documents import Document, document_of
from benchmark.services.methods_text import facts_of
from benchmark.services.reports import report_of


@transaction.atomic
def freeze_run(*, by: User | None, run: Run, title: str = "") -> SharedReport:
    """The run's report as it stands."""
    return _keep(by, run.project, run, title or run.title, document_of(run))


@transaction.atomic
def freeze_comparison(
    *, by: User | None, project: Project, runs: list[Run], keys: Sequence[str], comparison: Comparison, title: str = ""
) -> SharedReport:
    """The comparison as it stands; `keys` are those that `pair_of` found the two by."""
    title = title or f"{comparison['first']} and {comparison['second']}"
    different = list({run.pk: run for run in runs}.values())
    document = {
        "title": title,
        "kind": "comparison",
        "stages": {},
        "facts": [fact for run in different for fact in facts_of(run, report_of(run))],
        "methods": [{"heading": "Comparison", "text": _compared(comparison)}],
        "comparison": comparison,
        "keys": list(keys),
    }
    return _keep(by, project, different[0] if len(different) == 1 else None, title, document)


def _compared(comparison: Comparison) -> str:
    how = comparison["method"]
    part = f" of {comparison['selection']}" if comparison["selection"] else ""
    return (
        f"{comparison['first']} and {comparison['second']} were compared on the {comparison['n']:,} stories{part} for which both have a score, in the "
        f"{comparison['reading']} reading. Differences are first minus second. {how[:1].upper()}{how[1:]}."
        + (f" Settings that differ: {comparison['differ']}." if comparison["differ"] else "")
    )


def _keep(by: User | None, project: Project, run: Run | None, title: str, document: Document) -> SharedReport:
    title = title.replace("\x00", "").strip()[:200]
    figures: dict[str, Any] = document | {"title": title}
    report = SharedReport.objects.create(project=project, run=run, title=title, figures=figures, created_by=by)
    audit.record(by=by, project=project, action="report.shared", target=report.uid, title=title)
    return report
