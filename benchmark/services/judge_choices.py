"""The one way to keep which judge of its calibration a study chose."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import User
from benchmark.models import Run
from benchmark.services.calibrating import JudgeBrief
from judge.models import AlignmentStudy
from judge.services.refused import Refused
from judge.services.studies import choose_judge


@transaction.atomic
def choose_calibrated(
    *, by: User | None, study: AlignmentStudy, judge: JudgeBrief, reason: str, now: datetime, seen: str | None = None
) -> None:
    """Keep which judge of its calibration a study chose (`judge.services.studies.choose_judge`). Raises Refused also
    where its runs were deleted meanwhile."""
    runs = Run.objects.select_for_update().filter(project=study.project_id, uid__in=judge.runs)
    if not list(runs.order_by("pk").only("pk")):
        raise Refused(_("The runs of this judge were deleted meanwhile."))
    choose_judge(
        by=by,
        study=study,
        version=judge.version,
        name=judge.name,
        verdict_count=judge.compared_rows,
        reason=reason,
        now=now,
        seen=seen,
    )
