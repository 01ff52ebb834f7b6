from __future__ import annotations

from collections.abc import Collection

from django import forms

from benchmark.models import Run
from benchmark.services.item_rows import asks_for_rows
from benchmark.services.items import PROBLEM_NAMES, STATE_NAMES, categories_of, parts_of
from benchmark.suites.omnitom.analyses import BUCKETS
from benchmark.suites.omnitom.cells import said_labels
from benchmark.suites.omnitom.kinds import KINDS
from benchmark.suites.omnitom.labels import DIMENSIONS, SCHEMA
from benchmark.suites.registry import suite_named
from benchmark.suites.story_scores import READINGS

ALL = ("", "All")


def _choices(names) -> list[tuple[str, str]]:
    return [ALL, *((name, name) for name in names)]


class ItemFilter(forms.Form):
    """`ROWS` narrow to items that hold rows of a kind; they need a model."""

    ROWS = ("reading", "order", "role", "match_count", "dimension", "gold", "said")

    model = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    stage = forms.ChoiceField(required=False, choices=[ALL])
    state = forms.ChoiceField(required=False, choices=[ALL, *STATE_NAMES.items()])
    problem = forms.ChoiceField(required=False, label="Answer", choices=[ALL, *PROBLEM_NAMES.items()])
    category = forms.ChoiceField(required=False)
    split = forms.ChoiceField(required=False, label="Stories")
    reading = forms.ChoiceField(
        required=False, choices=[("", "Repaired"), *((name, name.capitalize()) for name in READINGS[:1])]
    )
    order = forms.ChoiceField(required=False, choices=_choices(KINDS["order"]))
    role = forms.ChoiceField(required=False, label="Actor role", choices=_choices(KINDS["role"]))
    # called `matches` it would hide the method of that name of the page's <form>, and htmx would fail on it
    match_count = forms.ChoiceField(required=False, label="MatchCount", choices=_choices(BUCKETS))
    dimension = forms.ChoiceField(required=False, choices=[ALL, *((name, SCHEMA[name].name) for name in DIMENSIONS)])
    gold = forms.ChoiceField(required=False, label="Gold label")
    said = forms.ChoiceField(required=False, label="Label said")

    def __init__(self, data, *, run: Run, entrants: Collection[int] | None = None) -> None:
        """`entrants` are those of a frozen report: the run may have others by now."""
        data = data.copy()
        if data.get("reading") == "repaired":
            data["reading"] = ""
        super().__init__(data)
        models = run.entrants.all() if entrants is None else run.entrants.filter(pk__in=entrants)
        self.fields["model"].choices = [ALL, *models.values_list("pk", "name")]
        self.fields["stage"].choices = [ALL, *((one.key, one.label) for one in suite_named(run.suite).steps)]
        if not suite_named(run.suite).protocol:
            for name in self.ROWS:
                del self.fields[name]
        self.fields["category"].choices = _choices(categories_of(run))
        self.fields["split"].choices = [ALL, *parts_of(run, data.get("split", ""))]
        dimension = data.get("dimension")
        if "dimension" not in self.fields:
            return
        self.fields["gold"].choices = _choices(SCHEMA[dimension].values if dimension in DIMENSIONS else ())
        self.fields["said"].choices = _choices(said_labels(dimension) if dimension in DIMENSIONS else ())

    def clean(self) -> dict:
        chosen = super().clean()
        if asks_for_rows(chosen) and not chosen.get("model"):
            self.add_error(None, "Choose a model: rows are looked for in the answers of one.")
        return chosen

    @property
    def whole_fields(self) -> list:
        """Without a choice of stories where there is none."""
        idle = {"split"} if len(self.fields["split"].choices) == 1 else set()
        return [self[name] for name in self.fields if name not in {*self.ROWS, *idle}]

    @property
    def row_fields(self) -> list:
        return [self[name] for name in self.ROWS if name in self.fields]
