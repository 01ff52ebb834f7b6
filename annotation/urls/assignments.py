from django.urls import path

from annotation.views import assignments

urlpatterns = [
    path("p/<slug:slug>/assignments/", assignments.assignments, name="assignments"),
    path("p/<slug:slug>/assignments/<str:assignment>/release/", assignments.release, name="release"),
]
