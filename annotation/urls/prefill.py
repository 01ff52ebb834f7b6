from django.urls import path

from annotation.views import anchoring, draft_effect, prefill

urlpatterns = [
    path("p/<slug:slug>/prefill/", prefill.prefills, name="prefills"),
    path("p/<slug:slug>/prefill/discard/", prefill.discard, name="discard_suggestions"),
    path("p/<slug:slug>/prefill/effect/", anchoring.anchoring, name="anchoring"),
    path("p/<slug:slug>/prefill/tables/", draft_effect.draft_effect, name="draft_effect"),
    path("p/<slug:slug>/prefill/<slug:round>/", prefill.prefill, name="prefill"),
    path("p/<slug:slug>/prefill/<slug:round>/progress/", prefill.progress, name="prefill_progress"),
    path("p/<slug:slug>/prefill/<slug:round>/<slug:action>/", prefill.action, name="prefill_action"),
]
