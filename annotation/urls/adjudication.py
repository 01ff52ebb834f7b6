from django.urls import path

from annotation.views import adjudication as views
from annotation.views import adjudication_cases as cases
from annotation.views import adjudication_cells as cells

CELL = "p/<slug:slug>/adjudication/cell/<str:proposition>/<slug:dimension>/"

urlpatterns = [
    path("p/<slug:slug>/adjudication/", views.queue, name="adjudication"),
    path("p/<slug:slug>/adjudication/next/", views.next_open, name="next_open"),
    path("p/<slug:slug>/adjudication/similar/", views.similar, name="similar"),
    path("p/<slug:slug>/adjudication/alike/", views.alike, name="alike"),
    path("p/<slug:slug>/adjudication/save/", cells.save_decisions, name="save_decisions"),
    path("p/<slug:slug>/adjudication/undo/", cells.undo_decisions, name="undo_decisions"),
    path("p/<slug:slug>/adjudication/claims/", cells.keep_claims, name="keep_claims"),
    path("p/<slug:slug>/adjudication/majorities/", views.majorities, name="majorities"),
    path("p/<slug:slug>/adjudication/flags/", cases.flags, name="flags"),
    path("p/<slug:slug>/adjudication/guideline-cases/", cases.guideline_cases, name="guideline_cases"),
    path("p/<slug:slug>/adjudication/story/<str:story>/", views.screen, name="adjudicate"),
    path(CELL, cells.decide, name="decide"),
    path(f"{CELL}guideline/", cells.file_case, name="file_case"),
    path(f"{CELL}history/", cases.history, name="cell_history"),
    path("p/<slug:slug>/overruled/", cases.overruled, name="overruled"),
]
