from django.urls import path

from annotation.views import adjudication as views

urlpatterns = [
    path("p/<slug:slug>/adjudication/", views.queue, name="adjudication"),
    path("p/<slug:slug>/adjudication/flags/", views.flags, name="flags"),
    path("p/<slug:slug>/adjudication/guideline-cases/", views.guideline_cases, name="guideline_cases"),
    path("p/<slug:slug>/adjudication/story/<str:story>/", views.screen, name="adjudicate"),
    path("p/<slug:slug>/adjudication/cell/<str:proposition>/<slug:dimension>/", views.decide, name="decide"),
    path(
        "p/<slug:slug>/adjudication/cell/<str:proposition>/<slug:dimension>/history/",
        views.history,
        name="cell_history",
    ),
    path("p/<slug:slug>/overruled/", views.overruled, name="overruled"),
]
