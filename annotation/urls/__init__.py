"""One module a feature; `accounts` stands outside the namespace because Django's own auth views name its URLs."""

from annotation.urls import (
    adjudication,
    agreement,
    assignments,
    corpus,
    effort,
    exports,
    grid,
    people,
    prefill,
    projects,
)

app_name = "annotation"
urlpatterns = [
    *projects.urlpatterns,
    *people.urlpatterns,
    *corpus.urlpatterns,
    *assignments.urlpatterns,
    *grid.urlpatterns,
    *adjudication.urlpatterns,
    *agreement.urlpatterns,
    *effort.urlpatterns,
    *exports.urlpatterns,
    *prefill.urlpatterns,
]
