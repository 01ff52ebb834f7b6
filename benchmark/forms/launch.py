"""What a run is to be, as an admin chooses it."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms

from annotation.models import Project
from benchmark.forms.settings import setting_field
from benchmark.models import LAUNCHED, Dataset, DatasetSample, Form, Run, Stage
from benchmark.services.plans import MOST_REPETITIONS, MOST_SEED, MOST_STORIES, MOST_TOKENS, Plan, RunRefused, stages_of
from benchmark.services.prompt_sets import names_of
from benchmark.suites.contract import Suite
from benchmark.suites.judged import MOST_CALLS
from benchmark.suites.omnitom.prompting.choosing import SAMPLE, SOURCES
from benchmark.suites.registry import suite_named, suite_of_gold
from judge.domain import lexical
from workers.models import Endpoint

LEVELS = [
    (1, "1: one sentence"),
    (2, "2: a paragraph"),
    (3, "3: stepwise sub-tasks"),
    (4, "4: criteria, categories and examples"),
]
COUNTS = [(0, "none"), (1, "1"), (2, "2"), (3, "3")]
NO_MODEL = "Tick at least one model."


class RefusableForm(forms.Form):
    """A form that a service may refuse: its sentence goes beside the field that it is about."""

    def refuse(self, error: RunRefused) -> None:
        name = error.field if error.field in self.fields else None
        self.add_error(name, str(error))


class JudgingFields(forms.Form):
    judge = forms.ModelChoiceField(
        Endpoint.objects.none(), to_field_name="name", required=False, empty_label="No judge", label="Judge"
    )
    judge_level = forms.TypedChoiceField(choices=LEVELS, coerce=int, initial=4, label="Judge’s prompt level")
    shots = forms.TypedChoiceField(
        choices=COUNTS,
        coerce=int,
        initial=3,
        label="Judge’s examples",
        help_text="Shown at level 4. The lexical judge compares words of the two tables, not meanings.",
    )
    with_story = forms.BooleanField(required=False, initial=True, label="The judge reads the story too")
    self_test = forms.BooleanField(
        required=False, initial=True, label="Test the judge on pairs made from gold",
        help_text=f"Once for each version of a judge, up to {MOST_CALLS} calls, with a cap of its own as high as the budget.",
    )  # fmt: skip

    def set_judges(self) -> None:
        judges = [one.pk for one in Endpoint.objects.usable() if Stage.JUDGE in stages_of(one)]
        self.fields["judge"].queryset = Endpoint.objects.filter(pk__in=judges)
        self.fields["judge"].initial = lexical.NAME


STAGES = [(str(stage), stage.label) for stage in LAUNCHED]


class MoneyFields(forms.Form):
    budget = forms.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=4, label="Budget in US dollars",
        help_text="A hard cap: no call is made that could exceed it.",
    )  # fmt: skip
    batch = forms.BooleanField(required=False, label="As a batch, at the provider’s lower price; it may take a day")


class SuiteLaunchForm(RefusableForm, MoneyFields):
    """A run of a suite with samples and prompts of its own; its settings have fields named `set_<name>`."""

    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="version", empty_label=None)
    endpoints = forms.ModelMultipleChoiceField(
        Endpoint.objects.none(), to_field_name="name", label="Models", widget=forms.CheckboxSelectMultiple,
        error_messages={"required": NO_MODEL},
    )  # fmt: skip
    stages = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, error_messages={"required": "Tick at least one stage."}
    )
    judge = forms.ModelChoiceField(
        Endpoint.objects.none(), to_field_name="name", required=False, empty_label="No judge", label="Judge"
    )
    category = forms.ChoiceField(required=False)
    split = forms.ChoiceField(required=False)
    limit = forms.IntegerField(
        required=False, min_value=0, max_value=MOST_STORIES, label="Only the first", help_text="Empty takes all."
    )
    repetitions = forms.IntegerField(
        min_value=1,
        max_value=MOST_REPETITIONS,
        label="Times everything is asked",
        help_text="Each is a call of its own.",
    )
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, label="Temperature", help_text="Empty takes the suite’s own."
    )
    max_tokens = forms.IntegerField(min_value=1, max_value=MOST_TOKENS, label="Longest answer in tokens")
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=1)
    title = forms.CharField(required=False, max_length=200, label="Name of the run")

    def __init__(self, data=None, *, project: Project, suite: Suite, initial: dict | None = None) -> None:
        super().__init__(data, initial=initial)
        self.suite, fields = suite, self.fields
        datasets = project.datasets.filter(suite=suite.name if suite.load else "")
        fields["dataset"].queryset = datasets
        fields["dataset"].label_from_instance = lambda one: version_told(one, suite.noun[1])
        fields["endpoints"].queryset = self._able([step.key for step in suite.steps if step.chosen and not step.judged])
        steps = [(one.key, one.label) for one in suite.steps if one.chosen]
        fields["stages"].choices, fields["stages"].initial = steps, [key for key, _ in steps]
        for name in ("category", "split"):
            held = DatasetSample.objects.filter(dataset__in=datasets).exclude(**{name: ""}).order_by(name)
            names = list(held.values_list(name, flat=True).distinct())
            fields[name].choices = [("", "All"), *((one, one) for one in names)]
            if not names:
                del fields[name]
        fields["repetitions"].initial, fields["max_tokens"].initial = suite.repetitions, suite.max_tokens
        judged = [step.key for step in suite.steps if step.judged]
        fields["judge"].queryset = self._able(judged)
        if not judged:
            del fields["judge"]
        for setting in suite.settings:
            fields[f"set_{setting.name}"] = setting_field(setting)

    def _able(self, steps: Sequence[str]):
        able = [one.pk for one in Endpoint.objects.usable() if set(stages_of(one, self.suite.name)) & set(steps)]
        return Endpoint.objects.filter(pk__in=able)

    @property
    def own_fields(self) -> list:
        return [self[f"set_{one.name}"] for one in self.suite.settings]

    @property
    def sample_fields(self) -> list:
        return [self[name] for name in ("category", "split", "limit") if name in self.fields]

    def plan(self) -> Plan:
        """The plan of a form that is valid."""
        held = self.cleaned_data
        same = ("dataset", "stages", "repetitions", "temperature", "max_tokens", "seed", "budget", "batch", "title")
        asked = {name: held[name] for name in same} | {name: held.get(name) or "" for name in ("category", "split")}
        options = {one.name: held[f"set_{one.name}"] for one in self.suite.settings}
        return Plan(
            endpoints=list(held["endpoints"]), limit=held["limit"] or 0, suite=self.suite.name, judge=held.get("judge"), options=options,
            prompt_set=self.suite.prompts_version or self.suite.name, **asked,
        )  # fmt: skip


def version_told(dataset: Dataset, nouns: str) -> str:
    """A version in the list of a launch form."""
    what = f"{dataset.title}, " if dataset.title else ""
    return f"Version {dataset.version}: {what}{dataset.stories_count:,} {nouns}" + (
        f", {dataset.note}" if dataset.note else ""
    )


class LaunchForm(RefusableForm, JudgingFields, MoneyFields):
    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="version", empty_label=None)
    endpoints = forms.ModelMultipleChoiceField(
        Endpoint.objects.none(), to_field_name="name", label="Models", widget=forms.CheckboxSelectMultiple,
        error_messages={"required": NO_MODEL},
    )  # fmt: skip
    stages = forms.MultipleChoiceField(
        choices=STAGES, widget=forms.CheckboxSelectMultiple, initial=[name for name, _ in STAGES],
        error_messages={"required": "Tick at least one stage."},
    )  # fmt: skip
    form = forms.ChoiceField(choices=Form.choices, initial=Form.TEXT, label="Form of the answers")
    level = forms.TypedChoiceField(choices=LEVELS, coerce=int, initial=3, label="Prompt level")
    examples = forms.TypedChoiceField(
        choices=COUNTS, coerce=int, initial=1, label="Examples", help_text="Shown at level 4."
    )
    examples_from = forms.ChoiceField(
        choices=list(SOURCES.items()), initial=SAMPLE, required=False, label="Examples from",
        help_text="A category without any there takes the other’s. Stories that are asked never serve.",
    )  # fmt: skip
    prompt_set = forms.ChoiceField(label="Prompt set")
    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    limit = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_STORIES,
        label="Only the first",
        help_text="Stories; empty takes all.",
    )
    max_tokens = forms.IntegerField(min_value=1, max_value=MOST_TOKENS, initial=6000, label="Longest answer in tokens")
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=1)
    repetitions = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_REPETITIONS, initial=1, label="Times everything is asked",
        help_text="Each is a call of its own.",
    )  # fmt: skip
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, label="Temperature", help_text="Empty takes 0, as published."
    )
    title = forms.CharField(required=False, max_length=200, label="Name of the run")

    def __init__(self, data=None, *, project: Project, initial: dict | None = None) -> None:
        super().__init__(data, initial=initial)
        fields = self.fields
        fields["dataset"].queryset = project.datasets.filter(suite="")
        fields["dataset"].label_from_instance = lambda one: version_told(one, "stories")
        askable = [one.pk for one in Endpoint.objects.usable() if set(stages_of(one)) - {Stage.JUDGE}]
        fields["endpoints"].queryset = Endpoint.objects.filter(pk__in=askable)
        fields["prompt_set"].choices = [(name, name) for name in names_of(project, suite_of_gold())]
        for name, rows in (("split", project.splits), ("category", project.categories)):
            names = list(rows.values_list("name", flat=True))
            fields[name].choices = [("", "All"), *((one, one) for one in names)]
        self.set_judges()

    def plan(self) -> Plan:
        """Of a valid form."""
        held = self.cleaned_data
        same = (
            "dataset", "stages", "judge", "level", "form", "prompt_set", "judge_level", "shots", "examples", "with_story", "self_test", "split",
            "category", "max_tokens", "seed", "budget", "batch", "title", "temperature",
        )  # fmt: skip
        asked = {name: held[name] for name in same} | {"examples_from": held["examples_from"] or SAMPLE}
        asked["repetitions"] = held["repetitions"] or 1
        if Stage.JUDGE not in held["stages"]:
            asked["judge"] = None
        return Plan(endpoints=list(held["endpoints"]), limit=held["limit"] or 0, **asked)


class JudgeForm(RefusableForm, JudgingFields, MoneyFields):
    """Another judge for the extractions of a run."""

    title = forms.CharField(required=False, max_length=200, label="Name of the run")

    def __init__(self, data=None) -> None:
        super().__init__(data)
        self.set_judges()
        self.fields["judge"].required = True
        self.fields["judge"].empty_label = None


class ExtendForm(forms.Form):
    """More models and more stories for a run that is there."""

    endpoints = forms.ModelMultipleChoiceField(
        Endpoint.objects.none(), to_field_name="name", required=False, label="More models",
        widget=forms.CheckboxSelectMultiple,
    )  # fmt: skip
    more = forms.BooleanField(required=False, label="More stories of the dataset:")
    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    limit = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_STORIES,
        label="Only the first",
        help_text="Stories; empty takes all.",
    )

    def __init__(self, data=None, *, run: Run) -> None:
        super().__init__(data)
        here = run.entrants.values("endpoint")
        judged = {one.key for one in suite_named(run.suite).steps if one.judged}
        able = [
            one.pk for one in Endpoint.objects.usable() if set(stages_of(one, run.suite)) & (set(run.stages) - judged)
        ]
        self.fields["endpoints"].queryset = Endpoint.objects.filter(pk__in=able).exclude(pk__in=here)
        for name in ("split", "category"):
            names = run.dataset.samples.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
            self.fields[name].choices = [("", "All"), *((one, one) for one in names)]

    def clean(self) -> dict:
        cleaned = super().clean()
        if not cleaned.get("endpoints") and not cleaned.get("more"):
            raise forms.ValidationError("Tick a model, or more stories.")
        return cleaned

    def chosen(self, run: Run) -> dict[str, list]:
        """The models and stories of a valid form, as `extend_run` takes them."""
        held = self.cleaned_data
        where = {"split": held["split"], "category": held["category"], "limit": held["limit"] or 0}
        stories = list(run.dataset.samples.selected(**where)) if held["more"] else []
        return {"endpoints": list(held["endpoints"]), "stories": stories}
