from django.urls import path

from annotation.views import effort

urlpatterns = [
    path("p/<slug:slug>/effort/", effort.effort, name="effort"),
    path("p/<slug:slug>/effort/time-on-task.csv", effort.effort_csv, name="effort_csv"),
]
