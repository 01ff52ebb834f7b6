"""Pages on which people align tables, all below a project's address."""

from django.urls import path

from judge.views import aligning, deciding, studies

app_name = "judge"
urlpatterns = [
    path("p/<slug:slug>/alignment/", studies.studies, name="studies"),
    path("p/<slug:slug>/alignment/next/", aligning.next_table, name="next"),
    path("p/<slug:slug>/alignment/tables/<str:uid>/", aligning.align, name="align"),
    path("p/<slug:slug>/alignment/tables/<str:uid>/save/", aligning.save, name="save"),
    path("p/<slug:slug>/alignment/tables/<str:uid>/answers/", aligning.answers, name="answers"),
    path("p/<slug:slug>/alignment/tables/<str:uid>/undo/", aligning.undo, name="undo"),
    path("p/<slug:slug>/alignment/<str:uid>/", studies.study, name="study"),
    path("p/<slug:slug>/alignment/<str:uid>/answers.csv", studies.download_csv, name="download_csv"),
    path("p/<slug:slug>/alignment/<str:uid>/answers.json", studies.download_json, name="download_json"),
    path("p/<slug:slug>/alignment/<str:uid>/<str:table>/", deciding.decide_table, name="decide"),
    path("p/<slug:slug>/alignment/<str:uid>/<str:table>/decide/", deciding.save_decisions, name="save_decisions"),
]
