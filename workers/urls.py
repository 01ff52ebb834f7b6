from django.urls import path

from workers.views import endpoints, ledger, work

app_name = "workers"
urlpatterns = [
    path("models/", endpoints.endpoints, name="endpoints"),
    path("models/new/", endpoints.endpoint, name="new_endpoint"),
    path("models/ledger/", ledger.ledger, name="ledger"),
    path("models/ledger/<slug:uid>/", ledger.call, name="call"),
    path("models/spending/", ledger.spending, name="spending"),
    path("models/work/", work.work, name="work"),
    path("models/work/state/", work.work_state, name="work_state"),
    path("models/jobs/<slug:uid>/", work.job, name="job"),
    path("models/jobs/<slug:uid>/progress/", work.job_progress, name="job_progress"),
    path("models/jobs/<slug:uid>/<slug:action>/", work.job_action, name="job_action"),
    path("models/endpoint/<slug:name>/", endpoints.endpoint, name="endpoint"),
    path("models/endpoint/<slug:name>/try/", endpoints.try_it, name="try_endpoint"),
    path("models/endpoint/<slug:name>/tried/", endpoints.tried, name="tried"),
]
