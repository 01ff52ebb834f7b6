"""Mounted by the one root of the API (`config.api`)."""

from django.urls import path

from annotation.api import corpus, gold, people, prefill, remarks, results, tables, votes
from core.api import converters  # noqa: F401 - registers the one of uids

PROJECT = "v1/projects/<slug:slug>/"
CELL = f"{PROJECT}gold/<uid:proposition>/<slug:dimension>/"
ROUND = f"{PROJECT}prefills/<uid:round>/"
STORY = f"{PROJECT}stories/<uid:story>/"

urlpatterns = [
    path("v1/projects/", corpus.Projects.as_view(), name="projects"),
    path(PROJECT, corpus.OneProject.as_view(), name="project"),
    path(f"{PROJECT}stories/", corpus.Stories.as_view(), name="stories"),
    path(STORY, corpus.OneStory.as_view(), name="story"),
    path(f"{STORY}propositions/", corpus.Propositions.as_view(), name="propositions"),
    path(f"{STORY}draft/", tables.Draft.as_view(), name="draft"),
    path(f"{STORY}draft/actions/<slug:action>/", tables.DraftAction.as_view(), name="draft_action"),
    path(f"{STORY}pairs/", tables.Pairs.as_view(), name="pairs"),
    path(f"{STORY}pairs/link/", tables.PairLink.as_view(), name="link_pairs"),
    path(f"{STORY}pairs/actions/<slug:action>/", tables.PairAction.as_view(), name="pairs_action"),
    path(f"{STORY}votes/", votes.Votes.as_view(), name="votes"),
    path(f"{STORY}comments/", remarks.Comments.as_view(), name="comments"),
    path(f"{STORY}flags/", remarks.OwnFlags.as_view(), name="own_flags"),
    path(f"{PROJECT}flags/", remarks.Flags.as_view(), name="flags"),
    path(f"{PROJECT}flags/<uid:flag>/", remarks.OneFlag.as_view(), name="flag"),
    path(f"{PROJECT}members/", people.Members.as_view(), name="members"),
    path(f"{PROJECT}members/remove/", people.Removal.as_view(), name="remove_member"),
    path(f"{PROJECT}invitations/", people.Invitations.as_view(), name="invitations"),
    path(f"{PROJECT}invitations/<int:invitation>/withdraw/", people.Withdrawal.as_view(), name="withdraw_invitation"),
    path(f"{PROJECT}guidelines/", people.Guidelines.as_view(), name="guidelines"),
    path(f"{PROJECT}assignments/", votes.Assignments.as_view(), name="assignments"),
    path(f"{PROJECT}gold/", gold.Gold.as_view(), name="gold"),
    path(f"{PROJECT}gold/majorities/", gold.Majorities.as_view(), name="majorities"),
    path(f"{PROJECT}gold/alike/", gold.Alike.as_view(), name="alike"),
    path(f"{PROJECT}gold/undo/", gold.Undo.as_view(), name="undo_decisions"),
    path(CELL, gold.OneCell.as_view(), name="cell"),
    path(f"{CELL}guideline/", gold.GuidelineCase.as_view(), name="file_case"),
    path(f"{CELL}comments/", gold.Threads.as_view(), name="threads"),
    path(f"{PROJECT}agreement/", results.Agreement.as_view(), name="agreement"),
    path(f"{PROJECT}agreement/annotators/", results.Annotators.as_view(), name="annotators"),
    path(f"{PROJECT}export/<slug:kind>/", results.Export.as_view(), name="export"),
    path(f"{PROJECT}prefills/", prefill.Rounds.as_view(), name="prefills"),
    path(f"{PROJECT}prefills/discard/", prefill.Discarding.as_view(), name="discard_suggestions"),
    path(ROUND, prefill.OneRound.as_view(), name="prefill"),
    path(f"{ROUND}<slug:action>/", prefill.RoundAction.as_view(), name="prefill_action"),
]
