"""Judges of a study beside people: their calibration reports, a panel of them, and the change from one to another."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import SLUG, answers
from benchmark.access import calibrated_study
from benchmark.api.requests import BridgeFilter, PanelFilter
from benchmark.api.shapes.calibration import BridgeOut, CalibrationOut, PanelOut
from benchmark.services.calibrated_panels import bridge_report, panel_report
from benchmark.services.calibrating import StudyJudge, calibrated, reports_of
from benchmark.services.calibration_documents import (
    bridge_document,
    calibration_document,
    panel_document,
)
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.plain import plain
from judge.api.studies import STUDY
from judge.domain.calibration.panels import FEWEST

_FEW = {422: ("There are too few judges.", "A panel wants at least two judges; this study has fewer.")}
_NONE = {422: ("One of the two is not to be had.", "No judge of version 1f2e judged tables of this study.")}


class Calibration(GenericAPIView):
    @extend_schema(
        operation_id="calibration_read",
        tags=["alignment"],
        parameters=[SLUG, STUDY],
        responses=answers(CalibrationOut, 400, 403),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """The calibration report of every version of a judge that judged tables of the study: agreement with people,
        MatchCount by MatchCount, and every model's corrected scores. Admins who align no table of it any more."""
        alignment_study = calibrated_study(request.user, slug, study)
        read_query(request, Strict)
        kept = reports_of(alignment_study)
        document = calibration_document(alignment_study, alignment_study.uid, kept.settled, kept.reports)
        return Response(CalibrationOut(plain(document)).data)


class PanelOfJudges(GenericAPIView):
    @extend_schema(
        operation_id="calibration_panel_read",
        tags=["alignment"],
        parameters=[SLUG, STUDY, PanelFilter],
        responses=answers(PanelOut, 400, 403, 422, why=_FEW),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """All judges of the study together, beside people: each alone, their majority, and their vote weighted by
        calibration. Admins who align no table of it any more."""
        alignment_study = calibrated_study(request.user, slug, study)
        own = read_query(request, PanelFilter).get("own")
        judges, _settled = calibrated(alignment_study)
        if len(judges) < FEWEST:
            raise CannotBeDone(_FEW[422][1])
        document = panel_document(panel_report(alignment_study, judges, apart=not own), alignment_study)
        return Response(PanelOut(plain(document)).data)


class ChangeOfJudge(GenericAPIView):
    @extend_schema(
        operation_id="calibration_bridge_read",
        tags=["alignment"],
        parameters=[SLUG, STUDY, BridgeFilter],
        responses=answers(BridgeOut, 400, 403, 422, why=_NONE),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """What changes from one version of a judge to another, on all tables that both judged, aligned or not. Admins
        who align no table of the study any more."""
        alignment_study = calibrated_study(request.user, slug, study)
        asked = read_query(request, BridgeFilter)
        judges, _settled = calibrated(alignment_study)
        old, new = (_of_version(judges, asked[name]) for name in ("old", "new"))
        return Response(BridgeOut(bridge_document(bridge_report(alignment_study, old, new)).as_json()).data)


def _of_version(judges: list[StudyJudge], beginning: str) -> StudyJudge:
    matches = [judge for judge in judges if judge.version.startswith(beginning)]
    if len(matches) != 1:
        count = "No judge" if not matches else "More than one judge"
        raise CannotBeDone(f"{count} of version {beginning} judged tables of this study.")
    return matches[0]
