"""Leaderboard, comparison, reports and downloads."""

from django.urls import path

from benchmark.views import (
    compare,
    differences,
    downloads,
    figures,
    items,
    leaderboard,
    reports,
    run_results,
    side_by_side,
    structure,
)

urlpatterns = [
    path("runs/<str:uid>/results/", run_results.run_results, name="run_results"),
    path("runs/<str:uid>/report/", reports.run_report, name="run_report"),
    path("runs/<str:uid>/report/share/", reports.share_run, name="share_run"),
    path("runs/<str:uid>/tables/<slug:table>.<slug:data>", downloads.run_table, name="run_table"),
    path("runs/<str:uid>/figures/<slug:figure>.<slug:picture>", figures.run_figure, name="run_figure"),
    path("runs/<str:uid>/scores.csv", downloads.run_scores, name="run_scores"),
    path("runs/<str:uid>/output/<int:entrant>.zip", downloads.official_output, name="official_output"),
    path("results/", leaderboard.leaderboard, name="leaderboard"),
    path("results/share/", reports.share_leaderboard, name="share_leaderboard"),
    path("results/tables/<slug:table>.<slug:data>", downloads.leaderboard_table, name="leaderboard_table"),
    path("results/figures/<slug:figure>.<slug:picture>", figures.leaderboard_figure, name="leaderboard_figure"),
    path("results/differences/", differences.differences, name="differences"),
    path("results/differences/<slug:table>.<slug:data>", differences.differences_table, name="differences_table"),
    path("results/structure/", structure.structure, name="structure"),
    path("results/structure/<int:number>/", structure.structure_story, name="structure_story"),
    path("results/structure/tables/<slug:table>.<slug:data>", structure.structure_table, name="structure_table"),
    path("results/structure/figures/<slug:figure>.<slug:picture>", structure.structure_figure, name="structure_figure"),
    path("results/compare/", compare.compare, name="compare"),
    path("results/compare/share/", compare.share_comparison, name="share_comparison"),
    path("results/compare/<int:number>/", side_by_side.compare_story, name="compare_story"),
    path("results/compare/tables/<slug:table>.<slug:data>", downloads.comparison_table, name="comparison_table"),
    path("results/compare/figures/<slug:figure>.<slug:picture>", figures.comparison_figure, name="comparison_figure"),
    path("results/reports/", reports.shared_reports, name="shared_reports"),
    path("results/reports/<str:report>/", reports.shared_report, name="shared_report"),
    path("results/reports/<str:report>/items/", items.shared_items, name="shared_items"),
    path("results/reports/<str:report>/items/<int:pk>/", items.shared_item, name="shared_item"),
    path("results/reports/<str:report>/items/<int:pk>/answer/", items.shared_answer, name="shared_answer"),
    path("results/reports/<str:report>/tables/<slug:table>.<slug:data>", downloads.shared_table, name="shared_table"),
    path("results/reports/<str:report>/figures/<slug:figure>.<slug:picture>", figures.shared_figure, name="shared_figure"),
]  # fmt: skip
