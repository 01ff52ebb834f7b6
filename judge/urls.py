"""Pages on alignment, calibration and watches, all below a project's address."""

from django.urls import include, path

from judge.views import aligning, calibration, judges_beside, studies, watches

app_name = "judge"
PAGES = [
    path("alignment/", studies.studies, name="studies"),
    path("alignment/next/", aligning.next_table, name="next"),
    path("alignment/tables/<str:uid>/", aligning.align, name="align"),
    path("alignment/tables/<str:uid>/save/", aligning.save, name="save"),
    path("alignment/tables/<str:uid>/answers/", aligning.answers, name="answers"),
    path("alignment/tables/<str:uid>/undo/", aligning.undo, name="undo"),
    path("alignment/<str:uid>/", studies.study, name="study"),
    path("alignment/<str:uid>/answers.csv", studies.download_csv, name="download_csv"),
    path("alignment/<str:uid>/answers.json", studies.download_json, name="download_json"),
    path("alignment/<str:uid>/<str:table>/", aligning.decide_table, name="decide"),
    path("alignment/<str:uid>/<str:table>/decide/", aligning.save_decisions, name="save_decisions"),
    path("calibration/<str:uid>/", calibration.calibration, name="calibration"),
    path("calibration/<str:uid>/rows/", calibration.rows, name="calibration_rows"),
    path("calibration/<str:uid>/<slug:table>.<slug:data>", calibration.table_file, name="calibration_table"),
    path("calibration/<str:uid>/panel/", calibration.panel, name="calibration_panel"),
    path(
        "calibration/<str:uid>/panel/<slug:table>.<slug:data>", calibration.panel_file, name="calibration_panel_table"
    ),
    path("watches/", watches.watches, name="watches"),
    path("watches/<str:uid>/", watches.watch, name="watch"),
    path("runs/align/", studies.align_runs, name="align_runs"),
    path("runs/align/<str:uid>/", studies.grow_alignment, name="grow_alignment"),
    path("runs/<str:uid>/watch/", watches.new_watch, name="new_watch"),
    path("runs/<str:uid>/watch/estimate/", watches.estimate_watch, name="estimate_watch"),
    path("runs/<str:uid>/judges/", judges_beside.judges, name="run_judges"),
    path("runs/<str:uid>/judges/<slug:table>.<slug:data>", judges_beside.judges_file, name="run_judges_table"),
]
urlpatterns = [path("p/<slug:slug>/", include(PAGES))]
