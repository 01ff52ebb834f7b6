from django.contrib.auth.decorators import login_not_required
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from annotation.api import views
from annotation.api.errors import not_found

PROJECT = "v1/projects/<slug:slug>/"

app_name = "api"
# DRF authenticates by itself and answers 401 where a page would send to the log-in.
urlpatterns = [
    path("v1/schema/", login_not_required(SpectacularAPIView.as_view()), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api:schema"), name="docs"),
    path("v1/projects/", login_not_required(views.Projects.as_view()), name="projects"),
    path(PROJECT, login_not_required(views.OneProject.as_view()), name="project"),
    path(PROJECT + "stories/", login_not_required(views.Stories.as_view()), name="stories"),
    path(
        PROJECT + "stories/<str:story>/propositions/",
        login_not_required(views.Propositions.as_view()),
        name="propositions",
    ),
    path(PROJECT + "stories/<str:story>/votes/", login_not_required(views.Votes.as_view()), name="votes"),
    path(PROJECT + "assignments/", login_not_required(views.Assignments.as_view()), name="assignments"),
    path(PROJECT + "gold/", login_not_required(views.Gold.as_view()), name="gold"),
    path(
        PROJECT + "gold/<str:proposition>/<slug:dimension>/",
        login_not_required(views.Decision.as_view()),
        name="decision",
    ),
    path(PROJECT + "agreement/", login_not_required(views.Agreement.as_view()), name="agreement"),
    path(PROJECT + "export/<slug:kind>/", login_not_required(views.Export.as_view()), name="export"),
    re_path(r"^(?P<path>.*)$", csrf_exempt(login_not_required(not_found)), name="nothing"),
]
