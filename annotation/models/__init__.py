"""One aggregate a file; this module only names them for Django."""

from annotation.models.api_token import ApiToken, Scope
from annotation.models.append_only import AppendOnly
from annotation.models.assignment import Assignment
from annotation.models.audit import AuditEvent
from annotation.models.belief_table import (
    BeliefTable,
    CellComment,
    FlagKind,
    Proposition,
    PropositionFlag,
    Remark,
    TableKind,
)
from annotation.models.claim import Claim
from annotation.models.counts import AnnotatorCounts, StoryCounts
from annotation.models.draft import DraftEvent, DraftRow, Origin
from annotation.models.gold import ErrorTag, GoldEvent, GoldLabel, Method
from annotation.models.label_schema import LabelSchema, SchemaUnknown, schema_of
from annotation.models.lane import LaneEvent, LaneRow
from annotation.models.log_in_count import LogInCount
from annotation.models.prefill import Prefill, RoundKind, SuggestedRow, Suggestion
from annotation.models.project import Guideline, Invitation, Membership, Project, Role
from annotation.models.story import Category, Split, Story
from annotation.models.user import User
from annotation.models.vote import Vote, VoteEvent

__all__ = [
    "AnnotatorCounts",
    "ApiToken",
    "AppendOnly",
    "Assignment",
    "AuditEvent",
    "BeliefTable",
    "Category",
    "CellComment",
    "Claim",
    "DraftEvent",
    "DraftRow",
    "ErrorTag",
    "FlagKind",
    "GoldEvent",
    "GoldLabel",
    "Guideline",
    "Invitation",
    "LabelSchema",
    "LaneEvent",
    "LaneRow",
    "LogInCount",
    "Membership",
    "Method",
    "Origin",
    "Prefill",
    "Project",
    "Proposition",
    "PropositionFlag",
    "Remark",
    "Role",
    "RoundKind",
    "SchemaUnknown",
    "Scope",
    "Split",
    "Story",
    "StoryCounts",
    "SuggestedRow",
    "Suggestion",
    "TableKind",
    "User",
    "Vote",
    "VoteEvent",
    "schema_of",
]
