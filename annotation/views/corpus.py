from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Substr
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext

from annotation.access import ProjectAccess, UserRequest, closed_gold, project_access, story_of
from annotation.forms.corpus import ChosenForm, SplitForm, StoryFilter, WithdrawForm
from annotation.models import GoldLabel, Proposition, Role, Story, table_queue
from annotation.services.stories import LEFT_ALONE, make_split, put_in_split, take_back, withdraw
from core.idempotency.forms import made_once
from core.joints import joint, labelled, listed, sentences
from core.wording import counted

_LIVE = Q(tables__kind="gold", tables__propositions__removed_at__isnull=True)
_SORTS = {"number": "number", "category": "category__name", "split": "split__name", "rows": "rows"}


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    return Truncator(" ".join(text.split())).chars(60)


def stories(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    split_form, chosen_form = SplitForm(project=access.project), None
    withdraw_form = WithdrawForm(project=access.project)
    done: SplitForm | ChosenForm | WithdrawForm
    if request.method == "POST":
        if not access.at_least(Role.ADMIN):
            raise PermissionDenied(gettext("Only admins draw splits and withdraw stories."))
        if "withdraw" in request.POST:
            done = withdraw_form = WithdrawForm(request.POST, project=access.project)
        elif "split" in request.POST:
            done = chosen_form = ChosenForm(request.POST, project=access.project)
        else:
            done = split_form = SplitForm(request.POST, project=access.project)
        if done.is_valid() and _split(request, access, done):
            return redirect(request.get_full_path())
    filters = StoryFilter(request.GET, project=access.project)
    chosen = filters.cleaned_data if filters.is_valid() else {}
    sort = request.GET.get("sort", "number")
    sort = sort if sort.removeprefix("-") in _SORTS else "number"
    page = Paginator(_stories(access, chosen, sort), 50).get_page(request.GET.get("page"))
    query = urlencode({name: value for name, value in chosen.items() if value})
    context = {
        "form": filters,
        "split_form": split_form,
        "chosen_form": chosen_form,
        "withdraw_form": withdraw_form,
        "page": page,
        "rows": _with_progress(access, page),
        "sort": sort,
        "filters": query,
        "query": "&".join(filter(None, (query, urlencode({"sort": sort}) if sort != "number" else ""))),
        "shows_gold": access.at_least(Role.EXPERT),
        "splits": access.project.splits.values_list("name", flat=True),
    }
    return render(request, "annotation/corpus/stories.html", access.context | context)


def _split(request: UserRequest, access: ProjectAccess, form: SplitForm | ChosenForm | WithdrawForm) -> bool:
    """Carry the form out; return whether it could be."""
    try:
        if isinstance(form, WithdrawForm):
            messages.success(request, _withdraw(request, access, form.cleaned_data))
        elif isinstance(form, SplitForm):
            drawn, _, small = made_once(request, lambda: _draw_split(request, access, form)).partition("\n")
            messages.success(request, drawn)
            if small:
                messages.warning(request, f"{LEFT_ALONE} {small}")
        else:
            chosen = form.cleaned_data
            stories = [story.pk for story in chosen["stories"]]
            count = put_in_split(by=request.user, project=access.project, stories=stories, name=chosen["split"])
            messages.success(
                request,
                ngettext("{count} story is now in {split}.", "{count} stories are now in {split}.", count).format(
                    count=count, split=chosen["split"] or gettext("no split")
                ),
            )
    except ValueError as error:
        form.add_error(None, str(error))
        return False
    return True


def _withdraw(request: UserRequest, access: ProjectAccess, chosen: dict[str, Any]) -> str:
    which: dict[str, Any] = {"stories": [story.pk for story in chosen["stories"]]}
    if chosen["whole"]:
        which = {"category": chosen["whole"].name}
    if chosen["withdraw"] == "back":
        count = take_back(by=request.user, project=access.project, **which)
        return ngettext("{count} story is in use again.", "{count} stories are in use again.", count).format(
            count=count
        )
    count = withdraw(by=request.user, project=access.project, now=timezone.now(), **which)
    return ngettext(
        "{count} story is withdrawn; nothing was deleted.", "{count} stories are withdrawn; nothing was deleted.", count
    ).format(count=count)


def _draw_split(request: UserRequest, access: ProjectAccess, form: SplitForm) -> str:
    """Return what was drawn, and on a second line what was too small."""
    drawn, small = make_split(by=request.user, project=access.project, **form.chosen)
    counts = listed(labelled(name, counted(count, "story", "stories")) for name, count in drawn.items())
    return f"{counts}{joint('.')}\n{sentences(*small)}"[:500]


def _stories(access: ProjectAccess, chosen: dict[str, Any], sort: str) -> QuerySet[Story]:
    rows: Any = access.project.stories.in_split(chosen.get("split")).in_category(chosen.get("category"))
    if chosen.get("text"):
        rows = table_queue.found_by(rows, chosen["text"])
    if chosen.get("use"):
        rows = rows.filter(withdrawn_at__isnull=chosen["use"] == "used")
    if chosen.get("table"):
        rows = table_queue.by_table(rows, access.project, chosen["table"])
    if sort.removeprefix("-") == "rows":
        rows = rows.annotate(rows=Count("tables__propositions", filter=_LIVE))
    key = F(_SORTS[sort.removeprefix("-")])
    order = key.desc(nulls_last=True) if sort.startswith("-") else key.asc(nulls_last=True)
    # A text may be very long: the list shows where it begins.
    short = rows.defer("text", "translations", "extra").annotate(begins=Substr("text", 1, 160))
    return short.select_related("category", "split").order_by(order, "number")


def _with_progress(access: ProjectAccess, page: Iterable[Any]) -> list[dict[str, Any]]:
    """Return, for each story of the page, its propositions, and for experts how many of its cells are settled."""
    here = access.project.stories.filter(pk__in=[story.pk for story in page]).order_by()
    counts = dict(here.annotate(count=Count("tables__propositions", filter=_LIVE)).values_list("pk", "count"))
    settled: dict[int, int] = {}
    if access.at_least(Role.EXPERT):
        gold = GoldLabel.objects.settled().filter(proposition__table__story__in=list(counts))
        live = gold.filter(proposition__removed_at__isnull=True).order_by()
        settled = dict(live.values_list("proposition__table__story").annotate(Count("id")))
    dimensions = len(access.project.schema.dimensions)
    return [
        {
            "story": story,
            "begins": excerpt(story.begins),
            "count": counts[story.pk],
            "cells": counts[story.pk] * dimensions,
            "settled": settled.get(story.pk, 0),
        }
        for story in page
    ]


def story(request: UserRequest, slug: str, story: str) -> HttpResponse:
    """The text and the table; gold only for experts and admins without open work on the story."""
    access = project_access(request.user, slug)
    row = story_of(access, story)
    schema = access.project.schema
    propositions = list(Proposition.objects.gold_of(row))
    shows_gold = access.at_least(Role.EXPERT) and row.pk not in closed_gold(access)
    gold = {}
    if shows_gold:
        labels = GoldLabel.objects.filter(proposition__in=propositions)
        gold = {(label.proposition_id, label.dimension): label for label in labels}
    rows = [
        {
            "proposition": proposition,
            "cells": [
                gold.get((proposition.pk, key))
                or {"label": (proposition.imported_labels or {}).get(key, ""), "method": "imported"}
                for key in schema.keys
            ]
            if shows_gold
            else [],
        }
        for proposition in propositions
    ]
    context = {"story": row, "rows": rows, "shows_gold": shows_gold, "dimensions": schema.dimensions}
    if not rows and access.at_least(Role.EXPERT):
        states: Any = table_queue.with_states(access.project, access.user).filter(pk=row.pk)
        context["table_state"] = states.values_list("table_state", flat=True).first()
    return render(request, "annotation/corpus/story.html", access.context | context)
