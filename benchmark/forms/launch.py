"""Forms of launching, judging and extending runs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.forms.boundfield import BoundField, BoundWidget
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from annotation.models import Project
from benchmark.controls.chosen import CONTROLS, controls_of, senseless
from benchmark.controls.contract import Control
from benchmark.domain.parameters import SEED
from benchmark.models import Dataset, DatasetSample, Run
from benchmark.services.launches import judging_plans, planned
from benchmark.services.plans import (
    MOST_REPETITIONS,
    MOST_SEED,
    MOST_STORIES,
    MOST_TEMPERATURE,
    MOST_TITLE,
    MOST_TOKENS,
    Plan,
    RunRefused,
    methods_of,
    plans_of_launch,
    plans_of_sweep,
    steps_of,
)
from benchmark.services.prompt_sets import names_of
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named, suites_of
from benchmark.suites.settings import MOST_CHARACTERS, Setting
from core.catalogues.sentences import translated
from core.messages import Sentence, gettext_noop, listed, word
from core.page_fields import PageForm
from judge.domain import lexical
from workers.domain.pricing import BUDGET
from workers.forms.amounts import AmountField
from workers.models import Endpoint

MORE_JUDGES = gettext_noop("More judges")
JUDGES_HELP = gettext_noop("Each judges the same answers in a run of its own, with an equal part of the budget.")
NO_MODEL = gettext_noop("Tick at least one model.")


def as_posted(form: forms.Form, given: Mapping[str, Any]) -> QueryDict:
    """Return the data that a browser posts from a page on which only these fields were changed."""
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


def limit_field() -> forms.IntegerField:
    return forms.IntegerField(required=False, min_value=0, max_value=MOST_STORIES, label=gettext_noop("Only the first"))


def models_field(label: str = MORE_JUDGES, **options: Any) -> Any:
    """Return a field of endpoints to tick, by name."""
    return forms.ModelMultipleChoiceField(
        Endpoint.objects.none(), to_field_name="name", label=label, widget=forms.CheckboxSelectMultiple, **options
    )


def part_field() -> forms.ChoiceField:
    """Return a field of a split or a category."""
    return forms.ChoiceField(required=False)


def part_choices(values: Iterable[str]) -> list[tuple[str, str]]:
    return [("", gettext_noop("All")), *((value, value) for value in values)]


class RefusableForm(PageForm):
    """A form that a service may refuse: the sentence goes next to its field."""

    def refuse(self, error: RunRefused) -> None:
        self.add_error(error.field if error.field in self.fields else None, str(error))

    @property
    def option_fields(self) -> dict[str, str]:
        """Names of fields by the names that settings of the suite have in bodies of the API."""
        settings = self.suite.settings if hasattr(self, "suite") else ()
        return {setting.name: setting.name for setting in settings if setting.name in self.fields}

    def bound(self, *names: str) -> list[BoundField]:
        """Return those of the fields that the form has."""
        return [self[name] for name in names if name in self.fields]


def able_to(suite: Suite, steps: Collection[str]) -> QuerySet[Endpoint]:
    """Return the endpoints in use that can be asked for one of the steps."""
    able = [endpoint.pk for endpoint in Endpoint.objects.usable() if set(steps_of(endpoint, suite.name)) & set(steps)]
    return Endpoint.objects.filter(pk__in=able)


class JudgingFields(PageForm):
    """The judge and its settings, whose fields have their names; the budget, and whether it is a batch."""

    judge = forms.ModelChoiceField(
        Endpoint.objects.none(),
        to_field_name="name",
        required=False,
        empty_label=gettext_lazy("No judge"),
        label=gettext_noop("Judge"),
    )
    judges = models_field(required=False, help_text=JUDGES_HELP)
    budget = AmountField(
        BUDGET, required=False, min_value=0, max_digits=12, decimal_places=4,
        label=gettext_noop("Budget in US dollars"),
        help_text=gettext_noop("A hard cap: no call is made that could exceed it."),
    )  # fmt: skip
    batch = forms.BooleanField(
        required=False, label=gettext_noop("As a batch, at the provider’s lower price; it may take a day")
    )
    title = forms.CharField(required=False, max_length=MOST_TITLE, label=gettext_noop("Name of the run"))

    def set_judging(self, suite: Suite) -> None:
        """Add the settings of judging; a suite without a judge has no field of it."""
        judged = [step.key for step in suite.launched if step.judged]
        self.judging = [setting.name for setting in suite.judging_settings] if judged else []
        if not judged:
            del self.fields["judge"], self.fields["judges"]
            return
        self.fields["judge"].queryset = self.fields["judges"].queryset = able_to(suite, judged)
        self.fields["judge"].initial = None if suite.asking.program else lexical.NAME
        for setting in suite.judging_settings:
            self.fields[setting.name] = setting_field(setting)

    def add_swept(self, settings: Iterable[Setting]) -> list[str]:
        """Add the fields of settings of which several choices may be taken; returns their names."""
        swept = [setting for setting in settings if setting.swept]
        for setting in swept:
            self.fields[setting.swept] = forms.TypedMultipleChoiceField(
                choices=setting.choices, coerce=type(setting.default), required=False, empty_value=[],
                widget=forms.CheckboxSelectMultiple,
                label=Sentence("Sweep of {setting}", setting=setting.label.lower()),
                help_text=gettext_noop("A run at each that is ticked, in one launch, instead of the one above."),
            )  # fmt: skip
        return [setting.swept for setting in swept]

    def swept_choices(self, names: Iterable[str]) -> dict[str, list[Any]]:
        return {name: self.cleaned_data[name] for name in names}


class ControlFields(PageForm):
    """Controls, of which a suite may have some."""

    suite: Suite
    controls = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label=gettext_noop("Controls")
    )

    def set_controls(self, suite: Suite, there: Collection[str] = ()) -> None:
        """Offer the controls of the suite without those that are `there`."""
        self.suite, offered = suite, controls_of(suite.controls)
        self.fields["controls"].choices = [
            (control.name, control.title) for control in offered if control.name not in there
        ]

    @property
    def control_rows(self) -> list[tuple[BoundWidget | None, Control, str]]:
        """(box to tick or None, control, reason why the suite does not have it or "") of all controls."""
        boxes = {box.data["value"]: box for box in self["controls"]}
        return [
            (boxes.get(name), control, senseless(self.suite.controls, name).get("") or "")
            for name, control in CONTROLS.items()
        ]


class ControlsForm(RefusableForm, ControlFields):
    """Further controls of a run."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, run: Run) -> None:
        super().__init__(data)
        self.set_controls(suite_named(run.suite), run.controls.values_list("control", flat=True))
        self.fields["controls"].required = True
        self.fields["controls"].error_messages["required"] = gettext_noop("Tick at least one control.")


class SampleFields(RefusableForm):
    """A version that the suite asks about, and a choice among its samples."""

    suite: Suite
    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="version", empty_label=None)
    split, category = part_field(), part_field()
    limit = limit_field()

    def set_samples(self, project: Project) -> None:
        """Offer the versions of the suite, and the splits and categories of the project or of imported samples."""
        suite, fields = self.suite, self.fields
        able = ", ".join(
            able_suite.name for able_suite in suites_of(suite.name if suite.copied.load else "", project.schema)
        )
        fields["suite"] = forms.ChoiceField(
            choices=[(name, suite.title) for name in dict.fromkeys((suite.name, suite.asked_for_as))],
            initial=suite.name, required=False, widget=forms.HiddenInput,
            error_messages={"invalid_choice": f"The suite %(value)s does not ask about this version; expected {able}."},
        )  # fmt: skip
        datasets = project.datasets.asked_about_by(suite)
        fields["dataset"].queryset = datasets

        def label_of(dataset: Dataset) -> str:
            what = f"{dataset.title}, " if dataset.title else ""
            counted = Sentence(
                "Version {dataset}: {what}{stories_count} {nouns}",
                dataset=dataset.version,
                what=what,
                stories_count=f"{dataset.stories_count:,}",
                nouns=word(suite.noun[1]),
            )
            return translated(listed([counted, dataset.note]))

        fields["dataset"].label_from_instance = label_of
        fields["limit"].help_text = Sentence("{noun}; empty takes all.", noun=suite.noun[1].capitalize())
        for name, rows in (("split", project.splits), ("category", project.categories)):
            samples = DatasetSample.objects.filter(dataset__in=datasets).exclude(**{name: ""}).order_by(name)
            there = (
                samples.values_list(name, flat=True).distinct()
                if suite.copied.load
                else rows.values_list("name", flat=True)
            )
            fields[name].choices = part_choices(there)
            if suite.copied.load and not there:
                del fields[name]

    @property
    def sample_fields(self) -> list[BoundField]:
        return self.bound("split", "category", "limit")


class LaunchForm(JudgingFields, ControlFields, SampleFields):
    """Runs of a suite; its settings have fields under their names."""

    endpoints = models_field(gettext_noop("Models"), error_messages={"required": NO_MODEL})
    steps = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, error_messages={"required": gettext_noop("Tick at least one step.")}
    )
    max_tokens = forms.IntegerField(min_value=1, max_value=MOST_TOKENS, label=gettext_noop("Longest answer in tokens"))
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=SEED)
    repetitions = forms.IntegerField(
        min_value=1,
        max_value=MOST_REPETITIONS,
        label=gettext_noop("Times everything is asked"),
        help_text=gettext_noop("Each is a call of its own."),
    )
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=MOST_TEMPERATURE, label=gettext_noop("Temperature")
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        project: Project,
        suite: Suite,
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self.suite, fields = suite, self.fields
        self.set_samples(project)
        self.set_controls(suite)
        fields["endpoints"].queryset = able_to(suite, [step.key for step in suite.launched if not step.judged])
        steps = [(step.key, step.label) for step in suite.launched]
        fields["steps"].choices, fields["steps"].initial = steps, [key for key, _ in steps]
        fields["repetitions"].initial, fields["max_tokens"].initial = suite.asking.repetitions, suite.asking.max_tokens
        fields["temperature"].help_text = Sentence("Empty takes {temperature}.", temperature=suite.asking.temperature)
        self.set_judging(suite)
        asking = [setting for setting in suite.settings if setting not in suite.judging_settings]
        self.asking = [setting.name for setting in asking if not setting.method]
        names = names_of(project, suite)
        for setting in asking:
            if not setting.method:
                fields[setting.name] = setting_field(setting, names)
                continue
            fields[setting.name] = forms.MultipleChoiceField(
                choices=setting.choices, initial=[setting.default], label=setting.label,
                widget=forms.CheckboxSelectMultiple,
                error_messages={"required": gettext_noop("Tick at least one method.")},
            )  # fmt: skip
        self.swept, self.swept_judging = self.add_swept(asking), self.add_swept(suite.judging_settings)
        if not self.swept_judging:
            fields.pop("judges", None)

    @property
    def judge_fields(self) -> list[BoundField]:
        """The fields of judging without the `judge_ticks` below them."""
        return [field for field in self.bound("judge", *self.judging) if field.widget_type != "checkbox"]

    @property
    def judge_ticks(self) -> list[BoundField]:
        return [field for field in self.bound("judge", *self.judging) if field.widget_type == "checkbox"]

    @property
    def judge_sweep_fields(self) -> list[BoundField]:
        return self.bound(*self.swept_judging, "judges")

    @property
    def suite_fields(self) -> list[BoundField]:
        return self.bound(*self.asking)

    @property
    def sweep_fields(self) -> list[BoundField]:
        return self.bound(*self.swept)

    @property
    def methods(self) -> BoundField | None:
        """The field of the methods; None if the suite asks in one way."""
        return self[self.suite.method.name] if self.suite.method else None

    @property
    def method_rows(self) -> list[tuple[BoundWidget, str]]:
        """(box to tick, help or "") of each method."""
        boxes = list(self.methods or ())
        helps = self.suite.method.helps if self.suite.method else ()
        return [(box, helps[at] if at < len(helps) else "") for at, box in enumerate(boxes)]

    @property
    def plain(self) -> str:
        """The title of the default method."""
        return next(iter(methods_of(self.suite).values()), "")

    def plans(self) -> list[Plan]:
        """Return the plans of a valid form, one for each run of the launch. Raises RunRefused."""
        chosen, method = self.cleaned_data, self.suite.method
        return plans_of_launch(
            self.plan(),
            methods=chosen[method.name] if method else (),
            swept=self.swept_choices(self.swept),
            judges=list(chosen.get("judges") or ()),
            judge_levels=[level for name in self.swept_judging for level in chosen[name]],
        )

    def plan(self) -> Plan:
        """Return the plan of a valid form by its first method; without judging it has no judge. Raises RunRefused."""
        chosen, suite = self.cleaned_data, self.suite
        options = {setting.name: chosen[setting.name] for setting in suite.settings}
        if suite.method:
            options[suite.method.name] = chosen[suite.method.name][0]
        judged = any(step.judged for step in suite.launched if step.key in chosen["steps"])
        return planned(
            suite,
            chosen,
            dataset=chosen["dataset"],
            endpoints=list(chosen["endpoints"]),
            judge=chosen.get("judge") if judged or suite.asking.program else None,
            options=options,
        )


class JudgeForm(JudgingFields, RefusableForm):
    """Other judges for the answers of a run."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, suite: Suite, there: Collection[str] = ()) -> None:
        """`there` names the judges that judged these answers already: the form opens on another one."""
        super().__init__(data)
        self.suite = suite
        self.set_judging(suite)
        if judge := self.fields.get("judge"):
            others = judge.queryset.exclude(name__in=there).values_list("name", flat=True)
            judge.initial, judge.required, judge.empty_label = next(iter(others), lexical.NAME), True, None
            self.order_fields(["judge", "judges", *self.judging])
        self.swept = self.add_swept(suite.judging_settings)

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
        return plans_of_sweep(plans, self.swept_choices(self.swept))


class ExtendForm(RefusableForm):
    """More models and more samples for a run."""

    endpoints = models_field(gettext_noop("More models"), required=False)
    more = forms.BooleanField(required=False)
    split, category = part_field(), part_field()
    limit = limit_field()

    def __init__(self, data: Mapping[str, Any] | None = None, *, run: Run) -> None:
        super().__init__(data)
        suite = suite_named(run.suite)
        self.noun = suite.noun[1]
        steps = [step.key for step in suite.launched if not step.judged and step.key in run.steps]
        here = run.entrants.values("endpoint")
        self.fields["endpoints"].queryset = able_to(suite, steps).exclude(pk__in=here)
        self.fields["more"].label = Sentence("More {noun} of the dataset:", noun=word(self.noun))
        self.fields["limit"].help_text = Sentence("{noun}; empty takes all.", noun=self.noun.capitalize())
        for name in ("split", "category"):
            names = run.dataset.samples.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
            self.fields[name].choices = part_choices(names)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not cleaned.get("endpoints") and not cleaned.get("more"):
            raise forms.ValidationError(Sentence("Tick a model, or more {noun}.", noun=word(self.noun)))
        return cleaned

    def additions(self, run: Run) -> tuple[list[Endpoint], list[DatasetSample]]:
        """Return (models, samples) that a valid form adds to a run."""
        chosen, samples = self.cleaned_data, run.dataset.samples
        more = samples.selected(split=chosen["split"], category=chosen["category"], limit=chosen["limit"] or 0)
        return list(chosen["endpoints"]), list(more) if chosen["more"] else []


FEW = 10
"""Numbers that are chosen from a list rather than typed."""


def setting_field(setting: Setting, prompt_sets: Sequence[str] = ()) -> forms.Field:
    """Return the field of a suite's setting; one that names a prompt set offers `prompt_sets`."""
    options: dict[str, Any] = {"label": setting.label, "help_text": setting.help, "initial": setting.default}
    choices: Sequence[tuple[str | int, str]] = setting.choices
    is_integer = isinstance(setting.default, int) and not isinstance(setting.default, bool)
    if setting.prompt_set:
        choices = [(name, name) for name in prompt_sets]
    elif not choices and is_integer and setting.most - setting.least < FEW:
        choices = [(number, str(number) if number else "none") for number in range(setting.least, setting.most + 1)]
    if choices:
        return forms.TypedChoiceField(choices=choices, coerce=type(setting.default), **options)
    if isinstance(setting.default, bool):
        return forms.BooleanField(required=False, **options)
    if isinstance(setting.default, int):
        return forms.IntegerField(min_value=setting.least, max_value=setting.most, **options)
    return forms.CharField(required=False, max_length=MOST_CHARACTERS, **options)
