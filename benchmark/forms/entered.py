from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms

from benchmark.domain.drawn import PaperRow
from benchmark.models import EnteredKind, EnteredRow
from benchmark.services.entered_rows import EntryRefused, problems_of
from benchmark.suites.contract import Suite
from core.messages import gettext_noop
from core.page_fields import PageForm

PREFIX = "figure."
"""The beginning of the names of fields of metrics."""


class EntryForm(PageForm):
    """A row of a paper: what it is, where it stands, and each metric that the suite lets be entered, in a field named
    `figure.KEY`."""

    name = forms.CharField(
        max_length=120, help_text=gettext_noop("What the row is called, such as Human or GPT-4 (0613).")
    )
    kind = forms.ChoiceField(label=gettext_noop("Kind"), choices=EnteredKind.choices)
    source = forms.CharField(
        max_length=400,
        help_text=gettext_noop("A citation that a reader finds it by, such as Kim et al. 2023, table 9."),
    )

    def __init__(self, data: Any = None, *, suite: Suite, row: EnteredRow | None = None) -> None:
        initial = {"name": row.name, "kind": row.kind, "source": row.source} if row else {}
        initial |= {f"{PREFIX}{key}": text for key, text in row.metrics.items()} if row else {}
        super().__init__(data, initial=initial)
        self.suite = suite
        for metric in suite.enterable:
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
            self.fields[f"{PREFIX}{metric.key}"] = forms.CharField(
                required=False, max_length=12, label=metric.title, widget=widget
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not self.errors:
            for refusal in problems_of(self.suite, self.entry):
                self.refuse(refusal)
        return cleaned

    @property
    def entry(self) -> PaperRow:
        cleaned = self.cleaned_data
        metrics = {name.removeprefix(PREFIX): text for name, text in cleaned.items() if name.startswith(PREFIX)}
        return PaperRow(cleaned["name"], cleaned["kind"], cleaned["source"], metrics)

    def refuse(self, refusal: EntryRefused) -> None:
        """Put the sentence beside the field that it is about."""
        field = refusal.field if refusal.field in self.fields else f"{PREFIX}{refusal.field}"
        self.add_error(field if field in self.fields else None, str(refusal))

    @property
    def about(self) -> list[forms.BoundField]:
        """The fields about the row itself."""
        return [self[name] for name in self.fields if not name.startswith(PREFIX)]

    @property
    def metrics(self) -> Iterator[tuple[str, bool, list[forms.BoundField]]]:
        """Yield the fields of figures by heading, and whether they are differences, in points."""
        headings = list(dict.fromkeys(metric.heading for metric in self.suite.enterable))
        ordered = sorted(self.suite.enterable, key=lambda metric: headings.index(metric.heading))
        for (heading, points), metrics in groupby(ordered, key=lambda metric: (metric.heading, metric.difference)):
            yield heading, points, [self[f"{PREFIX}{metric.key}"] for metric in metrics]
