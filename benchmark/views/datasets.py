"""Versions of gold: publishing, what changed between two, and who sees results."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.models import Role
from annotation.services.progress import has_settled_stories
from benchmark.access import closed_to, dataset_of, sees_results
from benchmark.forms.launch import setting_field
from benchmark.models import Audience, Dataset, DatasetSample, Run
from benchmark.services import datasets as service
from benchmark.services import gold_samples
from benchmark.services.datasets import contents_of
from benchmark.services.imports import copy_in_archive, keep_copy
from benchmark.services.visibility import set_audience, visibility_of
from benchmark.suites.contract import Suite
from benchmark.suites.copies import BadImport
from benchmark.suites.registry import suite_of_gold, suites
from core.idempotency.forms import made_once
from core.language import gettext
from core.messages import Sentence, gettext_noop, listed, quantity, worded
from core.page_fields import PageForm
from core.plain import Json
from core.views.pages import Context

METHODS = ("unanimous", "majority", "adjudicated", "imported")
SETTLED = {
    "unanimous": "unanimous", "majority": gettext_noop("settled by a majority"),
    "adjudicated": gettext_noop("decided by an expert"),
    "imported": "imported",
}  # fmt: skip
LISTS = {
    "added": gettext_noop("Added"), "removed": gettext_noop("Removed"),
    "retold": gettext_noop("Text or category changed"), "reordered": gettext_noop("Propositions in another order"),
}  # fmt: skip
MOST_CHANGES = 100
AT_ONCE = 25
"""Stories whose gold one look at a page reads: some 100 ms."""


class PublishForm(PageForm):
    note = forms.CharField(
        required=False, max_length=200, label=gettext_noop("Note"), help_text=gettext_noop("What this version is for.")
    )


class AudienceForm(PageForm):
    audience = forms.ChoiceField(
        choices=Audience.choices,
        label=gettext_noop("Who sees results of models"),
        help_text=gettext_noop("Results can bias those who still label. Admins always see them."),
    )
    once_published = forms.BooleanField(
        required=False,
        label=gettext_noop("Experts and annotators only while gold is published"),
        help_text=(
            gettext_noop(
                "While every story is settled and the present gold is a published version; any later change hides the "
                "results again."
            )
        ),
    )


class CopyForm(PageForm):
    """A user's copy of a benchmark; the suite's options have fields named `set_<name>`."""

    file = forms.FileField(label=gettext_noop("Zip of its folder"), widget=forms.FileInput(attrs={"accept": ".zip"}))
    note = forms.CharField(
        required=False, max_length=200, label=gettext_noop("Note"), help_text=gettext_noop("What this copy is for.")
    )

    def __init__(self, data: Any = None, files: Any = None, *, suite: Suite) -> None:
        super().__init__(data, files)
        self.suite = suite
        for setting in suite.copied.options:
            self.fields[f"set_{setting.name}"] = setting_field(setting)
        if suite.copied.archive:
            self.fields["file"].label = Sentence("{archive}, or a zip of its folder", archive=suite.copied.archive)
            self.fields["file"].widget.attrs["accept"] = ".zip,.gz,.tgz"

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > settings.IMPORT_MAX_BYTES:
            raise forms.ValidationError(
                Sentence(
                    "The file is larger than {import_max_bytes} MB.",
                    import_max_bytes=settings.IMPORT_MAX_BYTES // 2**20,
                )
            )
        return file

    @property
    def options(self) -> dict[str, Any]:
        return {setting.name: self.cleaned_data[f"set_{setting.name}"] for setting in self.suite.copied.options}


@require_GET
def datasets(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    rows = list(access.project.datasets.select_related("created_by").counting_runs().order_by("-version"))
    visibility = visibility_of(access.project)
    context = {
        "rows": [
            _row(row, next((earlier for earlier in rows[at + 1 :] if earlier.suite == row.suite == ""), None))
            for at, row in enumerate(rows)
        ],
        "imports": [suite for suite in suites().values() if suite.copied.load],
        "has_gold": any(not row.suite for row in rows),
        "settled": False if any(not row.suite for row in rows) else has_settled_stories(access.project),
        "form": PublishForm(),
        "audience_form": AudienceForm(
            initial={"audience": visibility.audience, "once_published": visibility.once_published}
        ),
    }
    return render(request, "benchmark/datasets/datasets.html", access.context | context)


def _row(dataset: Dataset, before: Dataset | None) -> dict[str, Any]:
    """Return a row of the table; its `parts` are the methods with the place and width of their bars in percent."""
    cells, parts, start = sum(dataset.methods.values()), [], 0.0
    for method in METHODS:
        if count := dataset.methods.get(method, 0):
            width = 100 * count / cells
            parts.append({"method": method, "cells": count, "start": round(start, 2), "width": round(width, 2)})
            start += width
    sources = listed(f"{part['cells']:,} {part['method']}" for part in parts)
    return {"dataset": dataset, "before": before, "parts": parts, "sources": sources, "cells": cells}


@require_POST
def publish_version(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = PublishForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Note: {form.errors['note'][0]}")
        return redirect("benchmark:datasets", slug)
    note = form.cleaned_data["note"]

    def publish() -> str:
        dataset, created = service.publish_version(by=request.user, project=access.project, note=note)
        if created:
            return Sentence("Gold is published as version {dataset}.", dataset=dataset.version)
        left = gettext_noop(" The note was not kept: a version does not change.") if note else ""
        text = gettext_noop("Gold is as in version {dataset}, so there is no new one.{left}")
        return Sentence(text, dataset=dataset.version, left=left)

    try:
        outcome = made_once(request, publish)
    except service.PublishRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, outcome)
    return redirect("benchmark:datasets", slug)


@require_GET
def present(request: UserRequest, slug: str) -> HttpResponse:
    """Say whether the present gold is a version already: a fragment, as changed stories are read first."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    waiting, same = reading_gold(request, access)
    if waiting:
        return waiting
    newest = access.project.datasets.filter(suite="").only("version", "digest", "project").first()
    gold_context = {"settled": has_settled_stories(access.project), "same": same, "newest": newest}
    return render(request, "benchmark/datasets/_present.html", access.context | gold_context)


def reading_gold(request: UserRequest, access: ProjectAccess) -> tuple[HttpResponse | None, Dataset | None]:
    """Read the gold of some changed stories. Returns (a bar that asks for more, the version that the gold is)."""
    if not access.project.datasets.filter(suite="").exists():
        return None, None
    digest, done, total = gold_samples.present(access.project, AT_ONCE)
    if done == total:
        return None, service.version_of(access.project, digest)
    context = {"label": gettext("Reading the gold of changed stories"), "counted": {"done": done, "total": total}}
    return render(request, "components/counting.html", context | {"address": request.get_full_path()}), None


@require_POST
def audience(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = AudienceForm(request.POST)
    if form.is_valid():
        chosen = Audience(form.cleaned_data["audience"])
        once = form.cleaned_data["once_published"]
        set_audience(by=request.user, project=access.project, audience=chosen, once_published=once)
        messages.success(
            request,
            Sentence(
                "Results of models are shown to: {audience_text}.",
                audience_text=visibility_of(access.project).audience_text,
            ),
        )
    else:
        messages.error(request, str(form.errors["audience"][0]))
    return redirect("benchmark:datasets", slug)


@require_http_methods(["GET", "POST"])
def import_copy(request: UserRequest, slug: str, suite: str) -> HttpResponse:
    """Import a copy uploaded as a zip of its folder. With "check" in the request only its contents are shown."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    chosen = suites().get(suite)
    if chosen is None or chosen.copied.load is None:
        raise Http404(gettext_noop("There is no such benchmark to be imported."))
    form = CopyForm(request.POST or None, request.FILES or None, suite=chosen)
    context: Context = {"form": form, "suite": chosen}
    part = "check" in request.POST and request.htmx
    template = f"benchmark/datasets/{'_check' if part else 'import'}.html"

    def make() -> str:
        copy = copy_in_archive(chosen, form.cleaned_data["file"], form.options)
        note = form.cleaned_data["note"]
        return str(keep_copy(by=request.user, project=access.project, copy=copy, note=note)[0].version)

    if request.method == "POST" and form.is_valid():
        try:
            if "check" in request.POST:
                copy = copy_in_archive(chosen, form.cleaned_data["file"], form.options)
                contents = _about(copy.summary, chosen) | {"same": copy.kept_in(access.project)}
                return render(request, template, access.context | context | {"contents": contents})
            version = int(made_once(request, make))
        except BadImport as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, Sentence("{chosen} is version {version}.", chosen=chosen.title, version=version))
            if unchecked := dataset_of(access, version).origin.get("unchecked"):
                messages.warning(request, unchecked)
            return redirect("benchmark:dataset", slug, version)
    return render(request, template, access.context | context)


@require_GET
def dataset(request: UserRequest, slug: str, version: int) -> HttpResponse:
    """One version: what it holds, where it came from, and what is odd in it."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    dataset_version = dataset_of(access, version)
    suite = suites().get(dataset_version.suite)
    chosen = dataset_version.origin.get("options", {})
    options = [setting for setting in suite.copied.options if setting.name in chosen] if suite else []
    context = {
        "dataset": dataset_version,
        "suite": suite,
        "contents": _about(contents_of(dataset_version), suite),
        "options": {setting.label: setting.in_words(chosen[setting.name]) for setting in options},
        "runs": dataset_version.runs.originals().count(),
    }
    return render(request, "benchmark/datasets/dataset.html", access.context | context)


def _about(contents: Json, suite: Suite | None) -> Context:
    """Return what a copy or a version holds, as the page shows it: of many problems the first."""
    problems = contents["problems"]
    nouns = (suite.noun[1], suite.cluster[1]) if suite else suite_of_gold().noun[1:] * 2
    return contents | {
        "problems": None if problems is None else problems[:MOST_CHANGES],
        "problems_count": len(problems or ()),
        "nouns": nouns,
        "category_noun": suite.results.category_noun if suite else suite_of_gold().results.category_noun,
    }


@require_GET
def difference(request: UserRequest, slug: str, old: int, new: int) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    before, after = dataset_of(access, old), dataset_of(access, new)
    if before.suite or after.suite:
        raise Http404(gettext_noop("Only versions of gold are compared."))
    closed = closed_to(access)
    changes = service.difference(before, after, closed)
    schema = after.schema
    changed = []
    for change in changes["changed"][:MOST_CHANGES]:
        cells = [(actor, belief, schema[key].name, *labels) for actor, belief, key, *labels in change["cells"]]
        changed.append(change | {"cells": cells})
    numbers = DatasetSample.objects.filter(dataset__in=[before, after]).order_by().values_list("number", flat=True)
    context = {
        "old": before,
        "new": after,
        "difference": changes,
        "lists": [(title, changes[name]) for name, title in LISTS.items() if changes[name]],
        "changed": changed,
        "left": max(0, len(changes["changed"]) - MOST_CHANGES),
        "hidden": len(closed & frozenset(numbers)) if closed else 0,
        "labels": [
            (dimension.name, changes["labels"][dimension.key])
            for dimension in schema.dimensions
            if changes["labels"][dimension.key]
        ],
        "most": max(changes["labels"].values(), default=0),
        "cells": changes["labels"].total(),
        "made": _sentences(changes),
        "moved": changes["moved"][:MOST_CHANGES],
    }
    return render(request, "benchmark/datasets/difference.html", access.context | context)


def _sentences(changes: Json) -> list[str]:
    """Say what changed in the way gold was made, in sentences without names."""
    sentences: list[str] = [
        Sentence("{what}: {before} became {after}.", what=what, before=before, after=after)
        for what, before, after in changes["rules"]
    ]
    sentences += [
        Sentence(
            "{cells}: {before} before, {now} now.",
            cells=quantity(cells, "cell", "cells"),
            before=SETTLED.get(before, before),
            now=SETTLED.get(after, after),
        )
        for (before, after), cells in sorted(changes["settled"].items())
    ]
    sentences += _change_sentences(changes["votes"], gettext_noop("vote"), gettext_noop("votes"))
    one, many = gettext_noop("decision by an expert"), gettext_noop("decisions by experts")
    return sentences + _change_sentences(changes["adjudications"], one, many)


def _change_sentences(change: tuple[Counter[str], Sequence[int]], singular: str, many: str) -> list[str]:
    counts, stories = change
    kinds = {"new": "new", "gone": "withdrawn", "changed": "changed"}
    parts = [
        quantity(counts[kind], worded(kind_word, singular), worded(kind_word, many))
        for kind, kind_word in kinds.items()
        if counts[kind]
    ]
    in_stories = quantity(len(stories), "story", "stories")
    return [Sentence("{parts}, in {stories}.", parts=listed(parts), stories=in_stories)] if parts else []


@require_GET
def stale_runs(request: UserRequest, slug: str) -> HttpResponse:
    """Runs whose version the present gold is not: a fragment, as changed stories are read first."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    waiting, present = reading_gold(request, access)
    if waiting:
        return waiting
    runs = Run.objects.listed().filter(project=access.project).exclude(dataset=present).select_related("dataset")
    rows = list(runs.only("uid", "title", "created_at", "dataset__version")[:51])
    # A run's title can name its models: those who may not see results see how many there are.
    context = {"present": present, "runs": rows[:50], "more": len(rows) > 50, "named": sees_results(access)}
    return render(request, "benchmark/datasets/_stale_runs.html", access.context | context)
