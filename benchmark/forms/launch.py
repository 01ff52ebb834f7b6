"""Forms of launching, judging and extending runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.forms.boundfield import BoundField, BoundWidget
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from annotation.models import Project
from benchmark.controls.chosen import CONTROLS, controls_of, senseless
from benchmark.controls.contract import Control
from benchmark.forms.settings import methods_field, setting_field, swept_field
from benchmark.models import Dataset, DatasetSample, Run
from benchmark.services.launches import ExtendIn, Launch, LaunchIn, judging_plans, planned
from benchmark.services.plans import (
    MOST_TEMPERATURE,
    MOST_TITLE,
    Plan,
    RunRefused,
    methods_of,
    plans_by_method,
    steps_of,
)
from benchmark.services.prompt_sets import names_of
from benchmark.services.sweeps import plans_of_sweep, plans_with_judges
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named, suites_of
from benchmark.suites.settings import SEED, Setting
from core.catalogues.sentences import translated
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from core.messages import Sentence, gettext_noop, listed, word
from judge.domain import lexical
from workers.domain.pricing import BUDGET
from workers.forms.amounts import AmountField
from workers.models import Endpoint

MORE_JUDGES = gettext_noop("More judges")
JUDGES_HELP = gettext_noop("Each judges the same answers in a run of its own, with an equal part of the budget.")
NO_MODEL = gettext_noop("Tick at least one model.")


def as_posted(form: forms.Form, given: Mapping[str, Any]) -> QueryDict:
    """Return what a browser posts of a page that was just opened and on which only these fields were changed."""
    data = QueryDict(mutable=True)
    for name, field in form.fields.items():
        value = given[name] if name in given else form.get_initial_for_field(field, name)
        if isinstance(field, forms.BooleanField):
            data.update({name: "on"} if value else {})
        elif isinstance(value, list | tuple):
            data.setlist(name, list(map(str, value)))
        elif value is not None:
            data[name] = str(value)
    return data


class WholeField(forms.IntegerField):
    """A whole number that a shape describes: its bounds and its sentence are those of the API."""

    def __init__(self, shape: type[Shape], name: str, **options: Any) -> None:
        self.shape, self.name = shape, name
        super().__init__(**options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        least, most = self.shape.bounds(self.name)
        return super().widget_attrs(widget) | {"min": least, "max": most}

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except forms.ValidationError:
            return value  # the shape says what is wrong with it

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value not in self.empty_values and (sentence := self.shape.wrong_with(self.name, value)):
            raise forms.ValidationError(sentence, code="invalid")


class RefusableForm(forms.Form):
    """A form that a service may refuse: its sentence goes beside the field that it is about."""

    def refuse(self, error: RunRefused) -> None:
        name = error.field if error.field in self.fields else None
        self.add_error(name, str(error))


def able_to(suite: Suite, steps: Collection[str]) -> QuerySet[Endpoint]:
    """Return the endpoints in use that can be asked for one of the steps."""
    able = [endpoint.pk for endpoint in Endpoint.objects.usable() if set(steps_of(endpoint, suite.name)) & set(steps)]
    return Endpoint.objects.filter(pk__in=able)


class JudgingFields(forms.Form):
    """The judge and its settings: the suite's settings of judging have fields under their names."""

    judge = forms.ModelChoiceField(
        Endpoint.objects.none(),
        to_field_name="name",
        required=False,
        empty_label=gettext_lazy("No judge"),
        label=gettext_noop("Judge"),
    )

    def set_judging(self, suite: Suite) -> None:
        """Call it once the other fields are there; a suite without a judge has no field of it."""
        judged = [step.key for step in suite.launched if step.judged]
        if not judged:
            del self.fields["judge"]
            return
        self.fields["judge"].queryset = able_to(suite, judged)
        self.fields["judge"].initial = None if suite.program else lexical.NAME
        self.judging = [setting.name for setting in suite.judging_settings]
        for setting in suite.judging_settings:
            self.fields[setting.name] = setting_field(setting)

    def set_swept(self, settings: Collection[Setting]) -> None:
        """Add the fields of these settings of which several choices may be taken; call it last."""
        self.swept = [setting.swept for setting in settings if setting.swept]
        for setting in settings:
            if setting.swept:
                self.fields[setting.swept] = swept_field(setting)

    @property
    def sweep_fields(self) -> list[BoundField]:
        return [self[name] for name in self.swept]

    @property
    def chosen_sweep(self) -> dict[str, list[Any]]:
        """The choices of a valid form by field."""
        return {name: self.cleaned_data[name] for name in self.swept}


class MoneyFields(forms.Form):
    budget = AmountField(
        BUDGET, required=False, min_value=0, max_digits=12, decimal_places=4,
        label=gettext_noop("Budget in US dollars"),
        help_text=gettext_noop("A hard cap: no call is made that could exceed it."),
    )  # fmt: skip
    batch = forms.BooleanField(
        required=False, label=gettext_noop("As a batch, at the provider’s lower price; it may take a day")
    )


@dataclass(frozen=True, slots=True)
class ControlRow:
    """A control with the `box` to tick, or None, and `why` the suite does not have it."""

    control: Control
    box: BoundWidget | None
    why: str


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A method with the `box` to tick, and what it is, empty where nothing says it."""

    box: BoundWidget
    help: str


@dataclass(frozen=True, slots=True)
class Additions:
    """The models and samples by which a run is to be extended."""

    endpoints: list[Endpoint]
    stories: list[DatasetSample]


class ControlFields(forms.Form):
    """Controls, of which a suite may have some."""

    suite: Suite
    controls = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label=gettext_noop("Controls")
    )

    def set_controls(self, suite: Suite, there: Collection[str] = ()) -> None:
        """Call it once the suite is known; `there` are those that a run has already."""
        self.suite = suite
        offered = [
            (control.name, control.title) for control in controls_of(suite.controls) if control.name not in there
        ]
        self.fields["controls"].choices = offered

    @property
    def control_rows(self) -> list[ControlRow]:
        """All controls."""
        boxes = {box.data["value"]: box for box in self["controls"]}
        return [
            ControlRow(control, boxes.get(name), senseless(self.suite.controls, name).get("", ""))
            for name, control in CONTROLS.items()
        ]


class ControlsForm(RefusableForm, ControlFields):
    """Controls for a run that is there."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, run: Run) -> None:
        super().__init__(data)
        self.set_controls(suite_named(run.suite), run.controls.values_list("control", flat=True))
        self.fields["controls"].required = True
        self.fields["controls"].error_messages["required"] = gettext_noop("Tick at least one control.")


class SampleFields(forms.Form):
    """The subject of a run: a version of the suite's, and which of its samples."""

    suite: Suite
    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="version", empty_label=None)
    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    limit = WholeField(Launch, "limit", required=False, label=gettext_noop("Only the first"))

    def set_samples(self, project: Project) -> None:
        """Call it once the suite is known. What can be asked about: versions, and the splits and categories of the
        project, or those that imported samples have."""
        suite, fields = self.suite, self.fields
        able = ", ".join(able_suite.name for able_suite in suites_of(suite.name if suite.load else "", project.schema))
        fields["suite"] = forms.ChoiceField(
            choices=[(name, suite.title) for name in dict.fromkeys((suite.name, suite.asked_for_as))],
            initial=suite.name, required=False, widget=forms.HiddenInput,
            error_messages={"invalid_choice": f"The suite %(value)s does not ask about this version; expected {able}."},
        )  # fmt: skip
        datasets = project.datasets.asked_about_by(suite)
        fields["dataset"].queryset = datasets
        fields["dataset"].label_from_instance = lambda dataset: translated(version_label(dataset, suite.noun[1]))
        fields["limit"].help_text = Sentence("{noun}; empty takes all.", noun=suite.noun[1].capitalize())
        for name, rows in (("split", project.splits), ("category", project.categories)):
            samples = DatasetSample.objects.filter(dataset__in=datasets).exclude(**{name: ""}).order_by(name)
            there = (
                samples.values_list(name, flat=True).distinct() if suite.load else rows.values_list("name", flat=True)
            )
            fields[name].choices = [("", gettext_noop("All")), *((value, value) for value in there)]
            if suite.load and not there:
                del fields[name]

    @property
    def sample_fields(self) -> list[BoundField]:
        return [self[name] for name in ("split", "category", "limit") if name in self.fields]


class LaunchForm(RefusableForm, JudgingFields, MoneyFields, ControlFields, SampleFields):
    """A run of a suite, or one by each of several methods; its settings have fields under their names."""

    endpoints = forms.ModelMultipleChoiceField(
        Endpoint.objects.none(), to_field_name="name", label=gettext_noop("Models"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": NO_MODEL},
    )  # fmt: skip
    steps = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, error_messages={"required": gettext_noop("Tick at least one step.")}
    )
    max_tokens = WholeField(Launch, "max_tokens", label=gettext_noop("Longest answer in tokens"))
    seed = WholeField(Launch, "seed", initial=SEED)
    repetitions = WholeField(
        Launch,
        "repetitions",
        label=gettext_noop("Times everything is asked"),
        help_text=gettext_noop("Each is a call of its own."),
    )
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=MOST_TEMPERATURE, label=gettext_noop("Temperature")
    )
    title = forms.CharField(required=False, max_length=MOST_TITLE, label=gettext_noop("Name of the run"))

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        project: Project,
        suite: Suite,
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self.suite = suite
        self.set_samples(project)
        self._set_asking()
        self.set_judging(suite)
        judging = {setting.name for setting in suite.judging_settings}
        asking = [setting for setting in suite.settings if setting.name not in judging]
        self.asking = [setting.name for setting in asking if not setting.method]
        for setting in asking:
            self.fields[setting.name] = (
                methods_field(setting) if setting.method else setting_field(setting, names_of(project, suite))
            )
        self.set_swept(asking)
        self._set_judges()

    def _set_judges(self) -> None:
        """Add the fields of further judges and of levels of their prompt, where the suite's judge has levels."""
        levels = [setting for setting in self.suite.judging_settings if setting.swept]
        self.sweeps_judges = [setting.swept for setting in levels]
        for setting in levels:
            self.fields[setting.swept] = swept_field(setting)
        if levels:
            self.fields["judges"] = forms.ModelMultipleChoiceField(
                self.fields["judge"].queryset, to_field_name="name", required=False, label=MORE_JUDGES,
                widget=forms.CheckboxSelectMultiple, help_text=JUDGES_HELP,
            )  # fmt: skip

    @property
    def judge_sweep_fields(self) -> list[BoundField]:
        """Further judges, and the levels of all of them."""
        return [self[name] for name in (*self.sweeps_judges, "judges") if name in self.fields]

    def _set_asking(self) -> None:
        suite, fields = self.suite, self.fields
        fields["endpoints"].queryset = able_to(suite, [step.key for step in suite.launched if not step.judged])
        steps = [(step.key, step.label) for step in suite.launched]
        fields["steps"].choices, fields["steps"].initial = steps, [key for key, _ in steps]
        fields["repetitions"].initial, fields["max_tokens"].initial = suite.repetitions, suite.max_tokens
        fields["temperature"].help_text = Sentence("Empty takes {temperature}.", temperature=suite.temperature)
        self.set_controls(suite)

    @property
    def judge_fields(self) -> list[BoundField]:
        """The fields of judging that stand beside each other; `judge_ticks` stand below."""
        return [self[name] for name in self._judging() if self[name].widget_type != "checkbox"]

    @property
    def judge_ticks(self) -> list[BoundField]:
        return [self[name] for name in self._judging() if self[name].widget_type == "checkbox"]

    def _judging(self) -> list[str]:
        return ["judge", *self.judging] if "judge" in self.fields else []

    @property
    def suite_fields(self) -> list[BoundField]:
        return [self[name] for name in self.asking]

    @property
    def method_rows(self) -> list[MethodRow]:
        """The methods to tick; none where the suite asks in one way."""
        setting = self.suite.method
        boxes = list(self[setting.name]) if setting else []
        helps = (*(setting.helps if setting else ()), *("" for _ in boxes))
        return [MethodRow(box, help_text) for box, help_text in zip(boxes, helps, strict=False)]

    @property
    def methods(self) -> BoundField | None:
        """The field of the methods, None where the suite asks in one way."""
        return self[self.suite.method.name] if self.suite.method else None

    @property
    def plain(self) -> str:
        """The title of the method that others are held against."""
        return next(iter(methods_of(self.suite).values()), "")

    def clean(self) -> dict[str, Any]:
        """Read what the form says as the body of the API is read."""
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        try:
            self.launch = LaunchIn.of(self._described())
        except Misfit as error:
            for name, sentences in error.by_field().items():
                self.add_error(name if name in self.fields else None, sentences)
        return cleaned

    def _described(self) -> dict[str, Any]:
        """Return the chosen values as JSON of a `LaunchIn`, without those that are empty."""
        cleaned, budget, method = self.cleaned_data, self.cleaned_data["budget"], self.suite.method
        same = ("split", "category", "limit", "repetitions", "temperature", "max_tokens", "seed", "batch", "title")
        values = {name: cleaned.get(name) for name in (*same, "controls", *self.swept, *self.sweeps_judges)} | {
            "dataset": cleaned["dataset"].version,
            "endpoints": [endpoint.name for endpoint in cleaned["endpoints"]],
            "suite": self.suite.name,
            "steps": cleaned["steps"],
            "judge": cleaned["judge"].name if cleaned.get("judge") else None,
            "judges": [endpoint.name for endpoint in cleaned.get("judges") or ()],
            "budget": f"{abs(budget):f}" if budget is not None else None,
            "methods": cleaned[method.name] if method else None,
            "options": {
                name: cleaned[name] for setting in self.suite.settings if not setting.method and (name := setting.name)
            },
        }
        return {name: value for name, value in values.items() if value not in (None, "", [])}

    def plans(self) -> list[Plan]:
        """Return the plans of a valid form, one by each method and at each level that is ticked. Raises RunRefused."""
        plans = plans_of_sweep(plans_by_method(self.plan(), self.launch.methods or ()), self.chosen_sweep)
        judges = self.cleaned_data.get("judges") or ()
        return plans_with_judges(plans, list(judges), self.launch.judge_levels or ())

    def plan(self) -> Plan:
        """Return the plan of a valid form by the first method that is ticked; without judging the judge is left out."""
        cleaned, method = self.cleaned_data, self.suite.method
        judged = {step.key for step in self.suite.launched if step.judged} & set(cleaned["steps"])
        return planned(
            self.launch, self.suite, dataset=cleaned["dataset"], endpoints=list(cleaned["endpoints"]),
            judge=cleaned.get("judge") if judged or self.suite.program else None,
            settings={method.name: cleaned[method.name][0]} if method else None,
        )  # fmt: skip


def version_label(dataset: Dataset, nouns: str) -> str:
    """Return the text of a version in the list of a launch form."""
    what = f"{dataset.title}, " if dataset.title else ""
    counted = Sentence(
        "Version {dataset}: {what}{stories_count} {nouns}",
        dataset=dataset.version,
        what=what,
        stories_count=f"{dataset.stories_count:,}",
        nouns=word(nouns),
    )
    return listed([counted, dataset.note])


class JudgeForm(RefusableForm, JudgingFields, MoneyFields):
    """Another judge for what the models of a run answered."""

    judges = forms.ModelMultipleChoiceField(
        Endpoint.objects.none(), to_field_name="name", required=False, label=MORE_JUDGES,
        widget=forms.CheckboxSelectMultiple, help_text=JUDGES_HELP,
    )  # fmt: skip
    title = forms.CharField(required=False, max_length=MOST_TITLE, label=gettext_noop("Name of the run"))

    def __init__(self, data: Mapping[str, Any] | None = None, *, suite: Suite, there: Collection[str] = ()) -> None:
        """`there` names the judges that judged these answers already: the form opens on another one."""
        super().__init__(data)
        self.suite = suite
        self.set_judging(suite)
        if "judge" in self.fields:
            others = self.fields["judge"].queryset.exclude(name__in=there).values_list("name", flat=True)
            self.fields["judge"].initial = next(iter(others), lexical.NAME)
            self.fields["judge"].required, self.fields["judge"].empty_label = True, None
            self.fields["judges"].queryset = self.fields["judge"].queryset
            self.order_fields(["judge", "judges", *self.judging])
        self.set_swept(suite.judging_settings)

    def plans(self, run: Run) -> list[Plan]:
        """Return the plans of a valid form, one for each judge and each level that is ticked. Raises RunRefused."""
        chosen = self.cleaned_data
        plans = judging_plans(
            run,
            judges=[chosen["judge"], *chosen["judges"]],
            options={name: chosen[name] for name in self.judging},
            budget=chosen["budget"],
            batch=chosen["batch"],
            title=chosen["title"],
        )
        return plans_of_sweep(plans, self.chosen_sweep)


class ExtendForm(forms.Form):
    """More models and more stories for a run that is there."""

    endpoints = forms.ModelMultipleChoiceField(
        Endpoint.objects.none(), to_field_name="name", required=False, label=gettext_noop("More models"),
        widget=forms.CheckboxSelectMultiple,
    )  # fmt: skip
    more = forms.BooleanField(required=False)
    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    limit = WholeField(ExtendIn, "limit", required=False, label=gettext_noop("Only the first"))

    def __init__(self, data=None, *, run: Run) -> None:
        super().__init__(data)
        suite = suite_named(run.suite)
        self.noun = suite.noun[1]
        here = run.entrants.values("endpoint")
        steps = [step.key for step in suite.launched if not step.judged and step.key in run.steps]
        self.fields["endpoints"].queryset = able_to(suite, steps).exclude(pk__in=here)
        self.fields["more"].label = Sentence("More {noun} of the dataset:", noun=word(suite.noun[1]))
        self.fields["limit"].help_text = Sentence("{noun}; empty takes all.", noun=suite.noun[1].capitalize())
        for name in ("split", "category"):
            names = run.dataset.samples.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
            self.fields[name].choices = [("", gettext_noop("All")), *((value, value) for value in names)]

    def clean(self) -> dict:
        cleaned = super().clean()
        if not cleaned.get("endpoints") and not cleaned.get("more"):
            raise forms.ValidationError(Sentence("Tick a model, or more {noun}.", noun=word(self.noun)))
        return cleaned

    def additions(self, run: Run) -> Additions:
        """Return what a valid form adds to a run."""
        chosen, samples = self.cleaned_data, run.dataset.samples
        more = samples.selected(split=chosen["split"], category=chosen["category"], limit=chosen["limit"] or 0)
        return Additions(list(chosen["endpoints"]), list(more) if chosen["more"] else [])
