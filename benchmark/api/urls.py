"""Mounted by the one root of the API (`config.api`)."""

from django.urls import path

from benchmark.api import datasets, gold, items, launching, results, runs, structure
from core.api import converters  # noqa: F401 - registers the one of uids

PROJECT = "v1/projects/<slug:slug>/"
RUN = f"{PROJECT}runs/<uid:run>/"

urlpatterns = [
    path(f"{PROJECT}benchmarks/", datasets.Benchmarks.as_view(), name="benchmarks"),
    path(f"{PROJECT}datasets/", datasets.Datasets.as_view(), name="datasets"),
    path(f"{PROJECT}datasets/<int:version>/", datasets.OneDataset.as_view(), name="dataset"),
    path(f"{PROJECT}runs/", launching.LaunchableRuns.as_view(), name="runs"),
    path(f"{PROJECT}runs/estimate/", launching.EstimateOfRun.as_view(), name="estimate"),
    path(f"{PROJECT}runs/import/", launching.ImportedRuns.as_view(), name="import_answers"),
    path(f"{PROJECT}runs/import/preview/", launching.ImportPreview.as_view(), name="import_preview"),
    path(RUN, runs.OneRun.as_view(), name="run"),
    path(f"{RUN}items/", items.Items.as_view(), name="run_items"),
    path(f"{RUN}items/<int:item>/", items.OneItem.as_view(), name="run_item"),
    path(f"{RUN}scores/", items.Scores.as_view(), name="run_scores"),
    path(f"{RUN}report/", results.Report.as_view(), name="run_report"),
    path(f"{RUN}tables/<slug:table>/", results.RunTable.as_view(), name="run_table"),
    path(f"{RUN}extend/", launching.Extend.as_view(), name="extend_run"),
    path(f"{RUN}judge/", launching.Judge.as_view(), name="judge_anew"),
    path(f"{RUN}sweep/", results.Sweep.as_view(), name="run_sweep"),
    path(f"{RUN}again/", launching.Again.as_view(), name="run_again"),
    path(f"{RUN}actions/<slug:action>/", launching.RunAction.as_view(), name="run_action"),
    path(f"{PROJECT}leaderboard/", results.Leaderboard.as_view(), name="leaderboard"),
    path(f"{PROJECT}leaderboard/tables/<slug:table>/", results.LeaderboardTable.as_view(), name="leaderboard_table"),
    path(f"{PROJECT}gold-kinds/", gold.GoldKinds.as_view(), name="gold_kinds"),
    path(f"{PROJECT}gold-kinds/tables/<slug:table>/", gold.GoldKindsTable.as_view(), name="gold_kinds_table"),
    path(f"{PROJECT}structure/", structure.Structure.as_view(), name="structure"),
    path(f"{PROJECT}structure/tables/<slug:table>/", structure.StructureTable.as_view(), name="structure_table"),
    path(f"{PROJECT}doubtful-gold/", gold.DoubtfulGold.as_view(), name="doubtful_gold"),
    path(f"{PROJECT}comparison/", results.ComparisonOfTwo.as_view(), name="comparison"),
    path(f"{PROJECT}comparison/tables/<slug:table>/", results.ComparisonTable.as_view(), name="comparison_table"),
]
