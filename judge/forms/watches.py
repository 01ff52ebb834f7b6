"""The form by which a judge or a model of a run is watched."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.models import Run
from benchmark.services.plans import MOST_SEED, RunRefused
from benchmark.suites.registry import suite_named
from core.page_fields import PageForm
from judge.domain.calibration.drift import FEWEST_BASELINE
from judge.models.watch import FEWEST_ANCHORS, MOST_ANCHORS, MOST_DAYS
from judge.services.watches import WatchPlan, watchable_of
from workers.domain.pricing import BUDGET
from workers.forms.amounts import AmountField

USUAL = 20
"""Anchors of a watch that nobody chose otherwise."""


class WatchForm(PageForm):
    """Form of who is watched, by how many stories, how often, and for what drop."""

    what = forms.ChoiceField(label=gettext_lazy("Watch"))
    stories = forms.IntegerField(
        min_value=FEWEST_ANCHORS, max_value=MOST_ANCHORS, initial=USUAL, label=gettext_lazy("Anchors"),
        help_text=gettext_lazy("Drawn at random; at the start asked until there are {least} answers to compare.")
    )  # fmt: skip
    every = forms.IntegerField(min_value=1, max_value=MOST_DAYS, initial=7, label=gettext_lazy("Days between repeats"))
    drop = forms.FloatField(
        min_value=1, max_value=50, initial=10, label=gettext_lazy("Drop to notice, in points"),
        help_text=gettext_lazy("Of the agreement with the first answers. A smaller one takes longer to be noticed.")
    )  # fmt: skip
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=1, label=gettext_lazy("Seed"))
    budget = AmountField(
        BUDGET, required=False, min_value=0, max_digits=12, decimal_places=4,
        label=gettext_lazy("Budget of a repeat in US dollars"),
        help_text=gettext_lazy("A hard cap of each repeat, also of each at the start; empty for none."),
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any] | None = None, *, run: Run) -> None:
        super().__init__(data)
        self.run = run
        self.watchable = {watchable.key: watchable for watchable in watchable_of(run)}
        choices, suite = [], suite_named(run.suite)
        for key, watchable in self.watchable.items():
            name = watchable.asked.name
            if watchable.judges:
                about = _("all models") if key == "judge" else watchable.models[0].name
                label = _("the judge {judge}, on the tables of {about}").format(judge=name, about=about)
            else:
                label = _("{model}: {step}").format(model=name, step=_(suite.step(watchable.step).label))
            choices.append((key, label))
        self.fields["what"].choices = choices
        self.fields["stories"].initial = max(FEWEST_ANCHORS, min(USUAL, run.parameters.stories or USUAL))
        self.fields["stories"].help_text = str(self.fields["stories"].help_text).format(least=FEWEST_BASELINE)

    @property
    def plan(self) -> WatchPlan:
        """Return what a valid form chose."""
        chosen = {name: self.cleaned_data[name] for name in ("stories", "every", "seed", "budget")}
        return WatchPlan(
            self.run, self.watchable[self.cleaned_data["what"]], drop=self.cleaned_data["drop"] / 100, **chosen
        )  # fmt: skip

    def refuse(self, error: RunRefused) -> None:
        self.add_error(error.field if error.field in self.fields else None, str(error))
