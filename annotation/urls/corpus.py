from django.urls import path

from annotation.views import corpus, drafts, imports, reconciliation, table_queue, tables

urlpatterns = [
    path("p/<slug:slug>/stories/", corpus.stories, name="stories"),
    path("p/<slug:slug>/stories/<str:story>/", corpus.story, name="story"),
    path("p/<slug:slug>/stories/<str:story>/table/", tables.table_edit, name="table_edit"),
    path("p/<slug:slug>/propositions/<str:proposition>/", tables.proposition_edit, name="proposition_edit"),
    path("p/<slug:slug>/stories/<str:story>/reconcile/", reconciliation.reconcile, name="reconcile"),
    path("p/<slug:slug>/stories/<str:story>/reconcile/rows/", reconciliation.lane_rows, name="lane_rows"),
    path("p/<slug:slug>/stories/<str:story>/reconcile/save/", reconciliation.save_lanes, name="save_lanes"),
    path("p/<slug:slug>/stories/<str:story>/reconcile/links/", reconciliation.link_lanes, name="link_lanes"),
    path("p/<slug:slug>/stories/<str:story>/reconcile/undo/", reconciliation.undo_lanes, name="undo_lanes"),
    path("p/<slug:slug>/stories/<str:story>/draft/", drafts.draft, name="draft"),
    path("p/<slug:slug>/stories/<str:story>/draft/rows/", drafts.save_draft, name="save_draft"),
    path("p/<slug:slug>/stories/<str:story>/draft/undo/", drafts.undo_draft, name="undo_draft"),
    path("p/<slug:slug>/stories/<str:story>/draft/versions/", drafts.draft_versions, name="draft_versions"),
    path("p/<slug:slug>/tables/", table_queue.tables, name="tables"),
    path("p/<slug:slug>/tables/figures/", table_queue.report, name="table_figures"),
    path("p/<slug:slug>/tables/next/", table_queue.next_table, name="next_table"),
    path("p/<slug:slug>/tables/<str:story>/release/<int:expert>/", table_queue.release_table, name="release_table"),
    path("p/<slug:slug>/import/", imports.import_page, name="import"),
]
