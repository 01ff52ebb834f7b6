from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from annotation.access import project_access, proposition_of, story_of
from annotation.domain.schema import SCHEMAS
from annotation.forms.corpus import ImportForm, RewordForm, RowsForm, SplitForm, StoryFilter
from annotation.models import GoldLabel, Proposition, Role, workload
from annotation.services import belief_tables
from annotation.services.corpus_import import ImportRefused, import_corpus
from annotation.services.splits import make_split


def stories(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    form = StoryFilter(request.GET, project=access.project)
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = access.project.stories.in_split(chosen.get("split")).in_category(chosen.get("category"))
    if chosen.get("text"):
        rows = rows.filter(text__icontains=chosen["text"])
    split_form = SplitForm(request.POST or None)
    if request.method == "POST":
        if not access.at_least(Role.ADMIN):
            raise PermissionDenied("Only admins draw splits.")
        if split_form.is_valid():
            try:
                counts = make_split(by=request.user, project=access.project, **split_form.cleaned_data)
                messages.success(request, ", ".join(f"{name}: {count} stories" for name, count in counts.items()))
                return redirect("annotation:stories", slug)
            except ValueError as error:
                split_form.add_error(None, str(error))
    live = Q(tables__kind="gold", tables__propositions__removed_at__isnull=True)
    page = Paginator(rows.select_related("category", "split").order_by("number"), 50).get_page(request.GET.get("page"))
    counts = dict(
        access.project.stories.filter(pk__in=[story.pk for story in page])
        .annotate(rows=Count("tables__propositions", filter=live))
        .values_list("pk", "rows")
    )
    for story in page:
        story.rows = counts[story.pk]
    context = {
        "form": form,
        "split_form": split_form,
        "page": page,
        "query": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "annotation/corpus/stories.html", access.context | context)


def story(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """The text and the table; gold only for experts and admins who do not label this story themselves."""
    access = project_access(request.user, slug)
    row = story_of(access, story)
    schema = SCHEMAS[access.project.schema_version]
    propositions = list(Proposition.objects.gold_of(row))
    shows_gold = access.at_least(Role.EXPERT) and workload.has_finished(request.user, row, len(schema.dimensions))
    gold = {}
    if shows_gold:
        held = GoldLabel.objects.filter(proposition__in=propositions)
        gold = {(label.proposition_id, label.dimension): label for label in held}
    rows = [
        {
            "proposition": one,
            "cells": [
                gold.get((one.pk, key)) or {"label": (one.imported_labels or {}).get(key, ""), "method": "imported"}
                for key in schema.keys
            ]
            if shows_gold
            else [],
        }
        for one in propositions
    ]
    context = {"story": row, "rows": rows, "shows_gold": shows_gold, "dimensions": schema.dimensions}
    return render(request, "annotation/corpus/story.html", access.context | context)


def table_edit(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    form = RowsForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = belief_tables.add_rows(by=request.user, story=row, rows=form.cleaned_data["rows"])
        messages.success(request, f"{len(made)} rows were added.")
        return redirect("annotation:table_edit", slug, story)
    propositions = Proposition.objects.gold_of(row).annotate(
        events=Count("vote_events"), open_flags=Count("flags", filter=Q(flags__outcome=""))
    )
    actors = sorted({one.actor for one in propositions} | {"world"})
    context = {"story": row, "form": form, "propositions": propositions, "actors": actors}
    return render(request, "annotation/corpus/table_edit.html", access.context | context)


def proposition_edit(request: HttpRequest, slug: str, proposition: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_of(access, proposition)
    form = RewordForm(
        request.POST if "remove" not in request.POST and request.method == "POST" else None,
        initial={"actor": row.actor, "belief": row.belief},
    )
    if request.method == "POST":
        if "remove" in request.POST:
            belief_tables.remove(by=request.user, proposition=row, now=timezone.now())
            return redirect("annotation:table_edit", slug, row.table.story.uid)
        if form.is_valid():
            belief_tables.reword(by=request.user, proposition=row, **form.cleaned_data, now=timezone.now())
            return redirect("annotation:table_edit", slug, row.table.story.uid)
    context = {"form": form, "proposition": row, "has_votes": row.vote_events.exists()}
    return render(request, "annotation/corpus/proposition_edit.html", access.context | context)


def import_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload, check and import. Without "keep" in the request it is a rehearsal and nothing is kept."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = ImportForm(request.POST or None, request.FILES or None)
    result, refusal = None, ""
    keep = "keep" in request.POST
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        try:
            result = import_corpus(
                by=request.user,
                project_slug=slug,
                format=chosen["format"],
                sources=[(one.name, one.open) for one in chosen["files"]],
                language=chosen["language"],
                dry_run=not keep,
            )
        except ImportRefused as error:
            refusal = str(error)
    context = {"form": form, "result": result, "refusal": refusal, "kept": keep}
    return render(request, "annotation/corpus/import.html", access.context | context)
