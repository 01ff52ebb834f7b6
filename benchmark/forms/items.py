from collections.abc import Collection
from typing import Any

from django import forms
from django.http import QueryDict

from benchmark.models import Run
from benchmark.services.items import STATE_NAMES, ChosenItems, asks_for_rows, categories_of, parts_of, problems_of
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from core.page_fields import PageForm

ALL = ("", gettext_noop("All"))


class ItemFilter(PageForm):
    """Filters of a run's items, with those that its suite declares, which narrow to items that hold rows of a kind;
    they need a model."""

    model = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    step = forms.ChoiceField(required=False, label=gettext_noop("Step"), choices=[ALL])
    state = forms.ChoiceField(required=False, choices=[ALL, *STATE_NAMES.items()])
    problem = forms.ChoiceField(required=False, label=gettext_noop("Answer"))
    category = forms.ChoiceField(required=False)
    split = forms.ChoiceField(required=False, label=gettext_noop("Stories"))
    parse = forms.ChoiceField(
        required=False,
        label=gettext_noop("Parse"),
        choices=[("", gettext_noop("Repaired")), *((name, name.capitalize()) for name in PARSES[:1])],
    )

    def __init__(self, data: QueryDict, *, run: Run, entrants: Collection[int] | None = None) -> None:
        """`entrants` are those of a snapshot: the run may have others by now."""
        data = data.copy()
        if data.get("parse") == "repaired":
            data["parse"] = ""
        super().__init__(data)
        suite = suite_named(run.suite)
        self.rows = suite.items.rows
        models = run.entrants.all() if entrants is None else run.entrants.filter(pk__in=entrants)
        self.fields["model"].choices = [ALL, *((pk, name) for pk, name in models.values_list("pk", "name"))]
        self.fields["step"].choices = [ALL, *((step.key, step.label) for step in suite.steps)]
        self.fields["problem"].choices = [ALL, *problems_of(suite).items()]
        self.fields["category"].choices = [ALL, *((name, name) for name in categories_of(run))]
        self.fields["split"].choices = [ALL, *parts_of(run, data.get("split", ""))]
        if self.rows is None or self.rows.unreadable is None:
            del self.fields["parse"]
        for row_filter in self.rows.filters if self.rows else ():
            choices = [ALL, *row_filter.offered(data)]
            self.fields[row_filter.name] = forms.ChoiceField(required=False, label=row_filter.label, choices=choices)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if asks_for_rows(self.rows, self.chosen) and not self.chosen.model:
            self.add_error(None, gettext_noop("Choose a model: rows are looked for in the answers of one."))
        return cleaned

    @property
    def chosen(self) -> ChosenItems:
        """The filters as far as they could be read."""
        read = {name: value for name, value in self.cleaned_data.items() if value}
        names = [row_filter.name for row_filter in self.rows.filters] if self.rows else []
        rows = {name: str(read.pop(name)) for name in names if name in read}
        return ChosenItems(**read, rows=rows)

    @property
    def filter_fields(self) -> list[forms.BoundField]:
        """The filters of whole items, without a choice of stories where there is none."""
        idle = {"split"} if len(self.fields["split"].choices) == 1 else set()
        return [self[name] for name in self.fields if name not in {*self._of_rows, *idle}]

    @property
    def row_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self._of_rows if name in self.fields]

    @property
    def _of_rows(self) -> list[str]:
        return ["parse", *(row_filter.name for row_filter in self.rows.filters)] if self.rows else []
