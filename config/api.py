"""The one root of the API: its description, the operations of every app, and an answer for every other address."""

from django.urls import path, re_path

from annotation.api import urls as annotation
from benchmark.api import urls as benchmark
from core.api import docs
from core.api.errors import Nothing
from judge.api import urls as judge
from workers.api import urls as workers

app_name = "api"
urlpatterns = [
    path("docs/", docs.docs, name="docs"),
    path("v1/schema/", docs.Schema.as_view(), name="schema"),
    *annotation.urlpatterns,
    *judge.urlpatterns,
    *benchmark.urlpatterns,
    *workers.urlpatterns,
    re_path("", Nothing.as_view(), name="nothing"),
]
