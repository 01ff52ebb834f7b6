"""Mounted by the one root of the API (`config.api`)."""

from django.urls import path

from core.api import converters  # noqa: F401 - registers the one of uids
from judge.api import studies

STUDIES = "v1/projects/<slug:slug>/alignment/"

urlpatterns = [
    path(STUDIES, studies.Studies.as_view(), name="alignment_studies"),
    path(f"{STUDIES}<uid:study>/", studies.OneStudy.as_view(), name="alignment_study"),
    path(f"{STUDIES}<uid:study>/tables/", studies.Tables.as_view(), name="alignment_tables"),
]
