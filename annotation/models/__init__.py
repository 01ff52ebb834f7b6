"""One aggregate a file; this module only names them for Django."""

from annotation.models.append_only import AppendOnly
from annotation.models.assignment import Assignment
from annotation.models.belief_table import (
    BeliefTable,
    CellComment,
    FlagKind,
    Proposition,
    PropositionFlag,
    Remark,
    TableKind,
)
from annotation.models.drafts import DraftEvent, DraftRow, Origin
from annotation.models.gold import ErrorTag, GoldEvent, GoldLabel, Method
from annotation.models.label_schema import LabelSchema, SchemaUnknown, schema_of
from annotation.models.prefill import Prefill, RoundKind, SuggestedRow, Suggestion
from annotation.models.project import AuditEvent, Guideline, Invitation, Membership, Project, Role
from annotation.models.reconciliation import Pair, PairEvent
from annotation.models.story import AnnotatorCounts, Category, Claim, Split, Story, StoryCounts
from annotation.models.user import ApiToken, LogInCount, Scope, User
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
    "LogInCount",
    "Membership",
    "Method",
    "Origin",
    "Pair",
    "PairEvent",
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
