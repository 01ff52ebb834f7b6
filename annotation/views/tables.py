from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotation.access import ProjectAccess, UserRequest, project_access, proposition_of, story_of
from annotation.domain.tables import TableRow, likely_actors
from annotation.forms.corpus import RewordForm, RowForm, RowsForm
from annotation.models import Proposition, Role, Story, TableKind
from annotation.services import belief_tables
from core.idempotency.forms import made_once
from core.joints import listed


def table_edit(request: UserRequest, slug: str, story: str) -> HttpResponse:
    """The gold table: one row or many are added, and rows moved; a row's text has a page of its own."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    many = RowsForm(request.POST if "rows" in request.POST else None)
    row_form = RowForm(request.POST if "belief" in request.POST else None)
    if request.method == "POST" and _changed(request, access, row, many, row_form):
        return redirect("annotation:table_edit", slug, story)
    propositions = Proposition.objects.gold_of(row).annotate(open_flags=Count("flags", filter=Q(flags__outcome="")))
    actors = {"world", *likely_actors(row.text), *(proposition.actor for proposition in propositions)}
    finished = belief_tables.finished_by(row)
    context = {
        "finished": finished,
        "story": row,
        "many": many,
        "row_form": row_form,
        "propositions": propositions,
        "actors": sorted(actors),
    }
    return render(request, "annotation/corpus/table_edit.html", access.context | context)


def _changed(request: UserRequest, access: ProjectAccess, story: Story, many: RowsForm, row_form: RowForm) -> bool:
    for direction in ("up", "down"):
        if direction in request.POST:
            proposition = proposition_of(access, request.POST[direction][:20])
            belief_tables.move(by=request.user, proposition=proposition, up=direction == "up")
            return True
    form = many if many.is_bound else row_form
    if not form.is_valid():
        return False
    chosen = form.cleaned_data
    rows = chosen["rows"] if form is many else [TableRow(chosen["actor"], chosen["belief"], chosen["order"])]

    def make() -> str:
        return str(len(belief_tables.add_rows(by=request.user, story=story, rows=rows, now=timezone.now())))

    finished = belief_tables.finished_by(story)
    try:
        added = int(made_once(request, make))
    except belief_tables.NotTaken as error:
        form.add_error(None, str(error))
        return False
    reopened = (
        gettext(" {finished} had finished this story and will find it open again.").format(finished=listed(finished))
        if finished
        else ""
    )
    messages.success(
        request, ngettext("{count} row was added.", "{count} rows were added.", added).format(count=added) + reopened
    )
    return True


def proposition_edit(request: UserRequest, slug: str, proposition: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_of(access, proposition)
    story = row.table.story
    if row.table.kind != TableKind.GOLD or row.removed_at is not None:
        return redirect("annotation:table_edit", slug, story.uid)
    has_history = belief_tables.has_history(row)
    form = RewordForm(
        request.POST if "belief" in request.POST else None,
        initial={"actor": row.actor, "belief": row.belief},
        must_confirm=has_history,
    )
    if request.method == "POST" and "remove" in request.POST:
        belief_tables.remove(by=request.user, proposition=row, now=timezone.now())
        messages.success(request, gettext("The row was taken out of the table."))
        return redirect("annotation:table_edit", slug, story.uid)
    if request.method == "POST" and form.is_valid():
        texts = {name: form.cleaned_data[name] for name in ("actor", "belief")}
        if belief_tables.reword(by=request.user, proposition=row, **texts, now=timezone.now()) is None:
            messages.info(request, gettext("The row was changed a moment ago; this is the table as it stands."))
        return redirect("annotation:table_edit", slug, story.uid)
    context = {"form": form, "proposition": row, "story": story, "has_history": has_history}
    return render(request, "annotation/corpus/proposition_edit.html", access.context | context)
