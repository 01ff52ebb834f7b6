"""The audit log: its rows, the words for its actions and details, which rows hold as codes, and the changes of gold.

An app above adds its own words by `register` when it is ready. A code without words is shown as it is; so are names
that people gave.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy

from annotation.models import AuditEvent, GoldEvent, Method, Project, Proposition, Role, Story, User
from annotation.models.gold import DECIDED
from core.joints import clauses, labelled, listed, noted
from core.messages import gettext_noop


def record(*, by: User | None, project: Project | None, action: str, target: str = "", **details: Any) -> AuditEvent:
    """Write one row of the audit log; call it inside the transaction of the change that it tells of.

    `action` is `noun.verb` (membership.changed); `details` must be JSON-serialisable and hold no secret.
    """
    return AuditEvent.objects.create(project=project, actor=by, action=action, target=target[:200], details=details)


def record_on(story: Story, action: str, *, by: User | None, **details: Any) -> None:
    """Write the row of a change to one story."""
    record(by=by, project=story.project, action=action, target=f"story {story.number}", **details)


MOST = 100
"""The most entries of a list that are told."""
_ACTIONS: dict[str, Promise] = {
    "account.changed": pgettext_lazy("audit log", "account changed"),
    "archive.imported": pgettext_lazy("audit log", "archive imported"),
    "assignment.created": pgettext_lazy("audit log", "stories assigned"),
    "assignment.due": pgettext_lazy("audit log", "deadline set"),
    "assignment.released": pgettext_lazy("audit log", "assignment released"),
    "corpus.import_started": pgettext_lazy("audit log", "import of stories begun"),
    "corpus.imported": pgettext_lazy("audit log", "stories imported"),
    "draft.released": pgettext_lazy("audit log", "table of an expert freed"),
    "draft.submitted": pgettext_lazy("audit log", "table handed in"),
    "draft.taken_back": pgettext_lazy("audit log", "table taken back"),
    "flag.accepted": pgettext_lazy("audit log", "flag accepted"),
    "flag.declined": pgettext_lazy("audit log", "flag declined"),
    "guideline_case.filed": pgettext_lazy("audit log", "guideline case filed"),
    "guideline_case.removed": pgettext_lazy("audit log", "guideline case removed"),
    "guideline.changed": pgettext_lazy("audit log", "guideline changed"),
    "invitation.created": pgettext_lazy("audit log", "invitation made"),
    "invitation.revoked": pgettext_lazy("audit log", "invitation withdrawn"),
    "pairs.linked": pgettext_lazy("audit log", "rows linked as a pair"),
    "pairs.opened": pgettext_lazy("audit log", "reconciliation opened"),
    "pairs.reopened": pgettext_lazy("audit log", "reconciliation opened again"),
    "pairs.separated": pgettext_lazy("audit log", "rows of a pair separated"),
    "membership.changed": pgettext_lazy("audit log", "role changed"),
    "membership.created": pgettext_lazy("audit log", "member added"),
    "membership.removed": pgettext_lazy("audit log", "member removed"),
    "prefill.discarded": pgettext_lazy("audit log", "suggestions discarded"),
    "prefill.started": pgettext_lazy("audit log", "pre-filling started"),
    "project.changed": pgettext_lazy("audit log", "settings changed"),
    "project.created": pgettext_lazy("audit log", "project made"),
    "proposition.moved": pgettext_lazy("audit log", "proposition moved"),
    "proposition.removed": pgettext_lazy("audit log", "proposition taken out"),
    "proposition.reworded": pgettext_lazy("audit log", "proposition reworded"),
    "sample.completed": pgettext_lazy("audit log", "example project completed"),
    "sample.loaded": pgettext_lazy("audit log", "example project loaded"),
    "schema.loaded": pgettext_lazy("audit log", "label schema loaded"),
    "split.changed": pgettext_lazy("audit log", "split changed"),
    "split.made": pgettext_lazy("audit log", "split drawn"),
    "stories.withdrawn": pgettext_lazy("audit log", "stories withdrawn"),
    "stories.taken_back": pgettext_lazy("audit log", "stories taken back into use"),
    "table.reconciled": pgettext_lazy("audit log", "tables reconciled"),
    "table.rows_added": pgettext_lazy("audit log", "rows added to a table"),
    "table.written": pgettext_lazy("audit log", "table written"),
    "tables.given": pgettext_lazy("audit log", "tables given to experts"),
    "votes.import_started": pgettext_lazy("audit log", "import of votes begun"),
    "votes.imported": pgettext_lazy("audit log", "votes imported"),
}
_DETAILS: dict[str, Promise] = {
    "accounts": pgettext_lazy("audit log", "accounts"),
    "actor": pgettext_lazy("audit log", "actor"),
    "added": pgettext_lazy("audit log", "added"),
    "admin": pgettext_lazy("audit log", "admin"),
    "after": pgettext_lazy("audit log", "after"),
    "arms_unit": pgettext_lazy("audit log", "arms are drawn for"),
    "attached": pgettext_lazy("audit log", "given their table"),
    "before": pgettext_lazy("audit log", "before"),
    "belief": pgettext_lazy("audit log", "belief"),
    "blind_share": pgettext_lazy("audit log", "blind share"),
    "categories": pgettext_lazy("audit log", "categories"),
    "decides_and_goes_on": pgettext_lazy("audit log", "a decision opens the next cell"),
    "description": pgettext_lazy("audit log", "description"),
    "due": pgettext_lazy("audit log", "deadline"),
    "expert": pgettext_lazy("audit log", "expert"),
    "fields": pgettext_lazy("audit log", "fields"),
    "format": pgettext_lazy("audit log", "format"),
    "imported_annotators": pgettext_lazy("audit log", "imported annotators"),
    "kept": pgettext_lazy("audit log", "kept"),
    "kind": pgettext_lazy("audit log", "kind"),
    "language": pgettext_lazy("audit log", "language"),
    "level": pgettext_lazy("audit log", "prompt level"),
    "licence": pgettext_lazy("audit log", "licence"),
    "model": pgettext_lazy("audit log", "model"),
    "name": pgettext_lazy("audit log", "name"),
    "numbers": pgettext_lazy("audit log", "numbers"),
    "overlap": pgettext_lazy("audit log", "overlap"),
    "problems": pgettext_lazy("audit log", "problems"),
    "propositions": pgettext_lazy("audit log", "propositions"),
    "reason": pgettext_lazy("audit log", "reason"),
    "removed": pgettext_lazy("audit log", "removed"),
    "reveal_share": pgettext_lazy("audit log", "share revealed afterwards"),
    "revised": pgettext_lazy("audit log", "revised"),
    "role": pgettext_lazy("audit log", "role"),
    "rows": pgettext_lazy("audit log", "rows"),
    "rule_version": pgettext_lazy("audit log", "rule version"),
    "schema": pgettext_lazy("audit log", "label schema"),
    "assignments": pgettext_lazy("audit log", "assignments"),
    "seed": pgettext_lazy("audit log", "seed"),
    "stories": pgettext_lazy("audit log", "stories"),
    "story": pgettext_lazy("audit log", "story"),
    "suggestions": pgettext_lazy("audit log", "suggestions"),
    "table_blind_share": pgettext_lazy("audit log", "share of tables without a draft"),
    "table_experts": pgettext_lazy("audit log", "experts a table"),
    "tables": pgettext_lazy("audit log", "tables"),
    "tables_agreed": pgettext_lazy("audit log", "both experts agree"),
    "unanimity_dimensions": pgettext_lazy("audit log", "dimensions that need unanimity"),
    "unchanged": pgettext_lazy("audit log", "unchanged"),
    "up": pgettext_lazy("audit log", "upwards"),
    "votes": pgettext_lazy("audit log", "votes"),
}
_STORY = re.compile(r"story (\d+)")
_VERSION = re.compile(r"version (\d+)")


def register(actions: Mapping[str, Promise], details: Mapping[str, Promise]) -> None:
    """Add the words that an app above has for actions and details of its own."""
    _ACTIONS.update(actions)
    _DETAILS.update({name: word for name, word in details.items() if name not in _DETAILS})


def action_text(action: str) -> str:
    """Return an action in words, in the language of the reader."""
    return str(_ACTIONS[action]) if action in _ACTIONS else action


def target_text(event: AuditEvent) -> str:
    """Return what an event was about, in the language of the reader where that is not a name."""
    if story := _STORY.fullmatch(event.target):
        return gettext("story {number}").format(number=story[1])
    if version := _VERSION.fullmatch(event.target):
        return gettext("version {number}").format(number=version[1])
    return gettext("by a link") if event.action.startswith("invitation.") and event.target == "link" else event.target


_FIRST = {"before": 0, "after": 1}
"""PostgreSQL does not keep the order in which details were written."""


def details_text(details: Mapping[str, Any]) -> str:
    """Return the details of an event with their values, `rows: 3; story: 7`, in the language of the reader; without
    those that say nothing."""
    texts = []
    for name, value in sorted(details.items(), key=lambda item: _FIRST.get(item[0], len(_FIRST))):
        if value not in (None, "", [], {}):
            shown = str(_DETAILS.get(name, name))
            is_group = isinstance(value, dict)
            texts.append(noted(shown, details_text(value)) if is_group else labelled(shown, _value(value)))
    return clauses(*texts)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        more = [] if len(value) <= MOST else ["…"]
        return listed([*map(_value, value[:MOST]), *more])
    if isinstance(value, dict):
        return details_text(value)
    return str(Role(value).label).lower() if value in Role.values else str(value)


PAGE = 50
_BY = {"decision": DECIDED, "rule": ~DECIDED}
"""What changed a label: somebody's decision (or taking one back), or the rule, when a vote or the rules changed."""


def gold_changes(project: Project, *, unfinished: Iterable[int] = (), **filters: Any) -> QuerySet[GoldEvent]:
    """Return the changes of gold that match, newest first, without those of the stories `unfinished`.

    `filters`: by (decision or rule), who (a user name), story (its number), dimension, method (what it became), reason
    (words of it).
    """
    # A condition on each event and no join: the newest events are read until a page is full, not the whole project.
    own = Proposition.objects.filter(pk=OuterRef("proposition_id"), table__story__project=project)
    rows = GoldEvent.objects.filter(Exists(own))
    if unfinished := set(unfinished):
        rows = rows.exclude(proposition__table__story_id__in=unfinished)
    if filters.get("by"):
        rows = rows.filter(_BY[filters["by"]])
    if filters.get("story") is not None:
        # The story first, by its index: its few rows and not the whole history are looked through.
        story = Story.objects.filter(project=project, number=filters["story"]).values("id")
        rows = rows.filter(proposition__table__story_id__in=story)
    same = {"who": "by__username", "dimension": "dimension", "method": "after_method", "reason": "reason__icontains"}
    rows = rows.filter(**{same[name]: value for name, value in filters.items() if value and name in same})
    return rows.select_related("by", "proposition__table__story").order_by("-id")


def page_of(rows: QuerySet[GoldEvent], *, before: int | None) -> tuple[list[GoldEvent], int | None]:
    """Return (up to PAGE events older than the event `before`, the event that the next page begins before, None at the
    end)."""
    events = list((rows.filter(pk__lt=before) if before else rows)[: PAGE + 1])
    return events[:PAGE], events[PAGE - 1].pk if len(events) > PAGE else None


def method_name(method: str) -> str:
    """Return how a label was settled, in words; a cell without gold has the empty method."""
    return Method(method).label.lower() if method else gettext_noop("no gold")
