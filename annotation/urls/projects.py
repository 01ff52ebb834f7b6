from django.urls import path

from annotation.views import audit, projects

urlpatterns = [
    path("", projects.home, name="home"),
    path("projects/new/", projects.new_project, name="new_project"),
    path("p/<slug:slug>/", projects.project, name="project"),
    path("p/<slug:slug>/settings/", projects.settings, name="settings"),
    path("p/<slug:slug>/guidelines/", projects.guidelines, name="guidelines"),
    path("p/<slug:slug>/guidelines/<slug:dimension>/", projects.guideline, name="guideline"),
    path("p/<slug:slug>/audit/", audit.audit_log, name="audit"),
    path("p/<slug:slug>/audit/gold/", audit.gold_audit, name="gold_audit"),
]
