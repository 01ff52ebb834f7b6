"""The audit log of a project: what was changed in it, and every change of its gold."""

import csv
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import UserRequest, closed_gold, project_access
from annotation.domain.columns import Echo, defused
from annotation.forms.filters import GoldLogFilter
from annotation.models import AuditEvent, GoldEvent, Method, Role
from annotation.services import audit
from core.views.pages import streamed


@require_GET
def audit_log(request: UserRequest, slug: str) -> HttpResponseBase:
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = access.project.audit_events.select_related("actor")
    action, who = request.GET.get("action", "")[:60], request.GET.get("who", "")[:150]
    if action:
        rows = rows.filter(action=action)
    if who:
        rows = rows.filter(actor__username=who)
    if "csv" in request.GET:
        return _csv(_lines(rows), f"{slug}-audit")
    page = Paginator(rows, audit.PAGE).get_page(request.GET.get("page"))
    actions = access.project.audit_events.order_by("action").values_list("action", flat=True).distinct()
    named = sorted(((name, audit.action_text(name)) for name in actions), key=lambda pair: pair[1])
    rows_text = [
        {
            "event": event,
            "action": audit.action_text(event.action),
            "target": audit.target_text(event),
            "details": audit.details_text(event.details),
        }
        for event in page
    ]
    context = {"page": page, "rows": rows_text, "actions": named, "action": action, "who": who}
    context["query"] = urlencode({name: value for name, value in (("action", action), ("who", who)) if value})
    return render(request, "annotation/projects/audit.html", access.context | context)


@require_GET
def gold_audit(request: UserRequest, slug: str) -> HttpResponseBase:
    """List the changes of gold, without those of stories that the reader has open work on.

    Pages go by the event that they begin after: counting a history of hundreds of thousands would cost more than
    reading a page of it.
    """
    access = project_access(request.user, slug, role=Role.ADMIN)
    form, schema = GoldLogFilter(request.GET, project=access.project), access.project.schema
    waiting = closed_gold(access)
    rows = audit.gold_changes(access.project, unfinished=waiting, **form.chosen)
    if "csv" in request.GET:
        return _csv(_gold_lines(rows), f"{slug}-gold-audit")
    before = request.GET.get("before", "")
    before_id = int(before) if before.isdecimal() and len(before) < 19 else None
    events, older = audit.page_of(rows, before=before_id)
    context = {
        "form": form,
        "events": [
            {
                "event": event,
                "decided": bool(event.undoes) or event.after_method == Method.ADJUDICATED,
                "dimension": schema[event.dimension].name if event.dimension in schema else event.dimension,
                "before": audit.method_name(event.before_method),
                "after": audit.method_name(event.after_method),
            }
            for event in events
        ],
        "older": older,
        "before": before,
        "withheld": len(waiting),
        "query": urlencode(form.chosen),
    }
    return render(request, "annotation/projects/audit_gold.html", access.context | context)


def _lines(rows: QuerySet[AuditEvent]) -> Iterable[list[Any]]:
    yield ["at", "actor", "action", "target", "details"]
    for event in rows.iterator(2000):
        actor = event.actor.username if event.actor else ""
        yield [event.at.isoformat(), actor, event.action, event.target, event.details]


def _gold_lines(rows: QuerySet[GoldEvent]) -> Iterable[list[Any]]:
    yield [
        "at", "by", "story", "position", "actor", "belief", "dimension", "before", "before_method", "after",
        "after_method", "reason", "error_tag", "revision",
    ]  # fmt: skip
    for event in rows.defer("votes").iterator(2000):
        row, by = event.proposition, event.by.username if event.by else ""
        yield [
            event.at.isoformat(), by, row.table.story.number, row.position, row.actor, row.belief, event.dimension,
            event.before, event.before_method, event.after, event.after_method, event.reason, event.error_tag,
            event.revision,
        ]  # fmt: skip


def _csv(lines: Iterable[list[Any]], name: str) -> StreamingHttpResponse:
    writer = csv.writer(Echo())
    rows = (writer.writerow([defused(str(cell)) for cell in line]) for line in lines)
    return streamed(rows, f"{name}.csv", "text/csv")
