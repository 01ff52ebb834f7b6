"""Mounted by the one root of the API (`config.api`)."""

from django.urls import path

from core.api import converters  # noqa: F401 - registers the one of uids
from judge.api import calibration, studies, watches

PROJECT = "v1/projects/<slug:slug>/"
STUDIES = f"{PROJECT}alignment/"
CALIBRATION = f"{STUDIES}<uid:study>/calibration/"

urlpatterns = [
    path(STUDIES, studies.Studies.as_view(), name="alignment_studies"),
    path(f"{STUDIES}<uid:study>/", studies.OneStudy.as_view(), name="alignment_study"),
    path(f"{STUDIES}<uid:study>/tables/", studies.Tables.as_view(), name="alignment_tables"),
    path(f"{PROJECT}watches/", watches.Watches.as_view(), name="watches"),
    path(f"{PROJECT}watches/<uid:watch>/", watches.OneWatch.as_view(), name="watch"),
    path(CALIBRATION, calibration.Calibration.as_view(), name="calibration"),
    path(f"{CALIBRATION}panel/", calibration.PanelOfJudges.as_view(), name="calibration_panel"),
    path(f"{CALIBRATION}bridge/", calibration.ChangeOfJudge.as_view(), name="calibration_bridge"),
]
