"""Datasets, launching, watching, and single items."""

from django.urls import path

from benchmark.views import datasets, estimates, items, judge_test, launch, people, prompts, reruns, runs

urlpatterns = [
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/freeze/", datasets.freeze, name="freeze"),
    path("datasets/import/<slug:suite>/", datasets.import_copy, name="import_copy"),
    path("datasets/present/", datasets.present, name="dataset_present"),
    path("datasets/stale/", datasets.stale_runs, name="stale_runs"),
    path("datasets/audience/", datasets.audience, name="audience"),
    path("datasets/<int:old>/<int:new>/", datasets.difference, name="dataset_difference"),
    path("prompts/", prompts.prompt_sets, name="prompt_sets"),
    path("prompts/<slug:name>/", prompts.prompt_set, name="prompt_set"),
    path("prompts/<slug:name>/discard/", prompts.discard, name="discard_prompt_set"),
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", launch.launch, name="launch"),
    path("runs/new/estimate/", estimates.estimate, name="estimate"),
    path("runs/new/preview/", estimates.preview, name="prompt_preview"),
    path("runs/gold/", runs.gold, name="run_gold"),
    path("runs/<str:uid>/", runs.run, name="run"),
    path("runs/<str:uid>/progress/", runs.progress, name="run_progress"),
    path("runs/<str:uid>/made/", runs.provenance, name="run_made"),
    path("runs/<str:uid>/extend/", reruns.extend, name="extend_run"),
    path("runs/<str:uid>/judge/", reruns.judge_anew, name="judge_anew"),
    path("runs/<str:uid>/judge/test/", judge_test.judge_test, name="judge_test"),
    path("runs/<str:uid>/again/", reruns.again, name="run_again"),
    path("runs/<str:uid>/extend/estimate/", estimates.estimate_extension, name="estimate_extension"),
    path("runs/<str:uid>/judge/estimate/", estimates.estimate_judging, name="estimate_judging"),
    path("runs/<str:uid>/again/estimate/", estimates.estimate_again, name="estimate_again"),
    path("runs/<str:uid>/follow-up/", reruns.follow_up, name="follow_up"),
    path("runs/<str:uid>/read/", reruns.read_anew, name="read_again"),
    path("runs/<str:uid>/items/", items.items, name="run_items"),
    path("runs/<str:uid>/items/<int:pk>/", items.item, name="run_item"),
    path("runs/<str:uid>/items/<int:pk>/answer/", items.answer, name="run_item_answer"),
    path("runs/<str:uid>/people/<slug:person>/", people.person, name="run_person"),
    path("runs/<str:uid>/people/<slug:person>/<int:number>/", people.story, name="run_person_story"),
    path("runs/<str:uid>/do/<slug:action>/", runs.action, name="run_action"),
]
