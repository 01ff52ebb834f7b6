"""What answers about datasets and runs carry. Runs are named by the uids of their pages, versions by their number, models by name."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api.shapes import CallsOut, EndedOut, LackOut, TokensOut
from benchmark.models import Dataset, Form
from benchmark.services.items import STATE_NAMES
from benchmark.suites.story_scores import READINGS

_COST = "US dollars. Null where some calls have no price."


@extend_schema_field({"type": "object", "additionalProperties": True})
class Anything(serializers.JSONField):
    """An object whose fields depend on the suite."""


class DatasetOut(serializers.ModelSerializer):
    """A version: samples that no longer change."""

    suite = serializers.CharField(
        allow_blank=True, help_text="The suite that an imported copy is of; empty for frozen gold."
    )
    samples = serializers.IntegerField(source="stories_count")
    propositions = serializers.IntegerField(source="propositions_count")
    left_out = serializers.IntegerField(help_text="Stories with a table whose cells were not all settled.")
    methods = serializers.DictField(
        child=serializers.IntegerField(), help_text="Cells by how they were settled; empty for an imported copy."
    )
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    runs = serializers.IntegerField(source="runs_count", help_text="How many runs are on it.")

    class Meta:
        model = Dataset
        fields = (
            "version", "title", "suite", "digest", "samples", "propositions", "left_out", "methods", "schema_name",
            "schema_version", "rule_version", "note", "created_at", "created_by", "runs",
        )  # fmt: skip
        read_only_fields = fields

    title = serializers.CharField(allow_blank=True, help_text="What an imported copy is of.")


class StepOut(serializers.Serializer):
    key = serializers.CharField()
    label = serializers.CharField()
    judged = serializers.BooleanField(help_text="Whether the judge is asked.")


class SettingOut(serializers.Serializer):
    """Something that the launch of a run lets choose, under `options`."""

    name = serializers.CharField()
    label = serializers.CharField()
    default = serializers.JSONField()
    choices = serializers.ListField(child=serializers.JSONField(), help_text="Empty where anything of its type can be.")


class AskedOut(serializers.Serializer):
    """What a run on the version can be."""

    suite = serializers.CharField()
    title = serializers.CharField()
    steps = StepOut(many=True)
    settings = SettingOut(many=True)


class DatasetDetailOut(DatasetOut):
    origin = serializers.SerializerMethodField(help_text="Title, licence, files with their digests, options.")
    splits = serializers.DictField(child=serializers.IntegerField(), help_text="Samples by split.")
    categories = serializers.DictField(child=serializers.IntegerField(), help_text="Samples by category.")
    asked = AskedOut(allow_null=True, help_text="Null where its suite is not there any more.")

    class Meta(DatasetOut.Meta):
        fields = (*DatasetOut.Meta.fields, "origin", "splits", "categories", "asked")
        read_only_fields = fields

    def get_origin(self, dataset: Dataset) -> Anything:
        return dataset.origin


class ImportedOut(serializers.Serializer):
    """Where the answers of a run come from that were made elsewhere."""

    file = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the file.")
    format = serializers.CharField()
    tool = serializers.CharField(allow_blank=True)
    version = serializers.CharField(allow_blank=True)
    model = serializers.CharField(help_text="As it is written there.")
    by = serializers.CharField(allow_blank=True)
    at = serializers.CharField()
    records = serializers.IntegerField(help_text="Answers in the file.")
    unmatched = serializers.IntegerField(help_text="Those that are to no sample.")
    double = serializers.IntegerField()
    facts = serializers.DictField(child=serializers.CharField(allow_blank=True))


class RunOut(serializers.Serializer):
    """A run, as the list of runs shows it."""

    run = serializers.CharField()
    title = serializers.CharField()
    suite = serializers.CharField()
    dataset = serializers.IntegerField(help_text="Number of the version.")
    answer_format = serializers.ChoiceField(Form.choices)
    steps = serializers.ListField(child=serializers.CharField())
    models = serializers.ListField(child=serializers.CharField())
    judge = serializers.CharField(allow_null=True)
    source = serializers.CharField(allow_null=True, help_text="The run whose answers are judged anew.")
    imported = ImportedOut(
        allow_null=True,
        help_text="Of answers that were made elsewhere, what is known of their making. They have no price.",
    )
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="running, paused, cancelled, or how it ended.")
    note = serializers.CharField(allow_blank=True, help_text="Why it is paused or holds items back, and what to do.")
    budget = serializers.DecimalField(12, 4, allow_null=True, help_text="US dollars. Null: no cap.")
    items = EndedOut(help_text="Those that ended.")
    open = serializers.IntegerField(help_text="Items that wait or are being asked.")
    held_back = serializers.IntegerField(help_text="Those of them that wait for a person; resume asks for them again.")
    to_come = serializers.IntegerField(help_text="Questions that an answer will open.")
    failures = LackOut(allow_null=True)
    unusable_answers = LackOut(allow_null=True)
    calls = CallsOut()
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text=_COST)
    known_cost = serializers.FloatField(help_text="US dollars of the calls that have a price.")
    unpriced_calls = serializers.IntegerField(help_text="Calls of unknown price, which known_cost leaves out.")


class ProgressOut(serializers.Serializer):
    """How one model stands at one step, in items."""

    model = serializers.CharField()
    step = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    unusable = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    in_flight = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="With questions that are still to come.")
    held = serializers.IntegerField(help_text="Of those that wait, who wait for a person.")
    reused = serializers.IntegerField(help_text="Answers that the ledger had already.")
    answers_a_minute = serializers.FloatField()
    seconds_left = serializers.FloatField(allow_null=True)
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text=_COST)
    known_cost = serializers.FloatField()
    unpriced_calls = serializers.IntegerField()


class MissingOut(serializers.Serializer):
    """Items of one model and step that ended without an answer that can be used, for one reason."""

    model = serializers.CharField()
    step = serializers.CharField()
    state = serializers.ChoiceField(["unusable", "failed", "cancelled"])
    reason = serializers.CharField(allow_blank=True)
    items = serializers.IntegerField()


class EntrantOut(serializers.Serializer):
    """A model as it was asked in the run."""

    key = serializers.CharField(help_text="What leaderboards and comparisons call it.")
    name = serializers.CharField()
    asked_as = Anything(help_text="The endpoint as it was at the launch: provider, model, prices, options.")


class BesideOut(serializers.Serializer):
    """A run that asks the same by another method, or under a control."""

    name = serializers.CharField()
    title = serializers.CharField()
    run = serializers.CharField()
    state = serializers.CharField()


class RunDetailOut(RunOut):
    entrants = EntrantOut(many=True)
    methods = BesideOut(
        many=True,
        help_text="The newest run by each method with the same settings, this one among them; empty where there is no other.",
    )
    controls = BesideOut(many=True, help_text="The runs under its controls.")
    settings = serializers.DictField(
        child=serializers.CharField(), help_text="What was chosen for the suite, in words."
    )
    parameters = Anything(help_text="The same, with what every run has, as stored.")
    progress = ProgressOut(many=True)
    missing = MissingOut(many=True, help_text="Without stories that you still have work to do on.")
    withheld = serializers.IntegerField(help_text="Stories of the run that you still have work to do on.")


class MessageOut(serializers.Serializer):
    role = serializers.CharField(help_text="system, user, …; data of a baseline, which reads no prompt.")
    text = serializers.CharField(allow_blank=True)


@extend_schema_field({})
class Content(serializers.JSONField):
    """Any JSON: what it is depends on the suite."""


class RunItemOut(serializers.Serializer):
    """One question of a run to one model, with its answer and both readings of it."""

    item = serializers.IntegerField(help_text="Number of the item in the addresses of its page and of the API.")
    model = serializers.CharField()
    step = serializers.CharField()
    sample = serializers.IntegerField(help_text="Number of the sample in its version: a story's own number.")
    key = serializers.CharField(help_text="Name of the sample in the file that it came from.")
    cluster = serializers.CharField(help_text="Samples of one cluster are resampled together.")
    category = serializers.CharField(allow_blank=True)
    split = serializers.CharField(allow_blank=True)
    repetition = serializers.IntegerField(help_text="From 1.")
    state = serializers.ChoiceField(STATE_NAMES)
    problem = serializers.CharField(allow_blank=True, help_text="Why there is no answer, or why it cannot be used.")
    answer = serializers.CharField(allow_null=True, allow_blank=True, help_text="As it came.")
    answered_by = serializers.CharField(allow_null=True, allow_blank=True, help_text="What the provider says answered.")
    official = Content(allow_null=True, help_text="What the published code reads in the answer.")
    repaired = Content(allow_null=True, help_text="What a careful parser reads in it.")
    official_score = serializers.FloatField(allow_null=True)
    repaired_score = serializers.FloatField(allow_null=True)
    rows_not_judged = serializers.IntegerField()
    prompt = MessageOut(many=True, required=False, help_text="With full: what was sent.")
    content = Content(required=False, help_text="With full: what the sample shows.")
    gold = Content(required=False, help_text="With full: what it is scored against.")


class ScoreOut(serializers.Serializer):
    """Scores of one item. Of a story that you still have work to do on, that they are withheld, and nothing else."""

    model = serializers.CharField()
    stage = serializers.CharField(help_text="Key of the step.")
    story_id = serializers.IntegerField(help_text="Number of the sample.")
    story_category = serializers.CharField(allow_blank=True)
    official = serializers.FloatField(allow_null=True)
    repaired = serializers.FloatField(allow_null=True)
    unusable = serializers.CharField(allow_blank=True)
    state = serializers.CharField()
    rows_not_judged = serializers.IntegerField(allow_null=True)
    repetition = serializers.IntegerField()
    sample = serializers.CharField(help_text="Name of the sample in the file that it came from.")
    cluster = serializers.CharField()


class _Ends(serializers.ListField):
    def __init__(self, **kwargs) -> None:
        super().__init__(child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, **kwargs)


class FigureOut(serializers.Serializer):
    """A fraction with its 95 % interval."""

    value = serializers.FloatField(allow_null=True)
    interval = _Ends()
    reason = serializers.CharField(required=False, help_text="Why there is no interval.")
    bounds = _Ends(required=False, help_text="With what is missing at its worst and at its best.")


class RankedOut(serializers.Serializer):
    """A model, a baseline or a person in a ranking."""

    key = serializers.CharField(help_text="What comparisons call it.")
    model = serializers.CharField()
    kind = serializers.ChoiceField(["model", "baseline", "person"])
    run = serializers.CharField()
    run_title = serializers.CharField()
    settings = serializers.DictField(child=serializers.CharField(allow_null=True, allow_blank=True))
    rank = serializers.IntegerField(
        allow_null=True, help_text="By the repaired reading, missing answers at their worst."
    )
    ranks = serializers.ListField(
        child=serializers.IntegerField(), min_length=2, max_length=2, allow_null=True, help_text="95 % interval of it."
    )
    group = serializers.CharField(
        allow_null=True, allow_blank=True, help_text="Letters: models that share one are not shown to differ."
    )
    official = FigureOut(allow_null=True)
    repaired = FigureOut(allow_null=True)
    bounds = _Ends(help_text="Null where nothing is missing.")
    left_out = serializers.FloatField(allow_null=True, help_text="Share of the samples without a score.")


class AbsentOut(serializers.Serializer):
    model = serializers.CharField()
    why = serializers.CharField()


class GroupOut(serializers.Serializer):
    """The ranking of one metric group."""

    key = serializers.CharField()
    title = serializers.CharField()
    score = serializers.CharField(help_text="What its score is called.")
    entrants = RankedOut(many=True)
    absent = AbsentOut(many=True, help_text="Models that the ranking does not have.")


class ParagraphOut(serializers.Serializer):
    heading = serializers.CharField()
    text = serializers.CharField()


class ReportOut(serializers.Serializer):
    title = serializers.CharField()
    samples = serializers.IntegerField()
    withheld = serializers.IntegerField(help_text="Stories of it that you still have work to do on.")
    facts = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)),
        help_text="[name, value] of what made the run.",
    )
    methods = ParagraphOut(many=True, help_text="Paragraphs of a methods section.")
    groups = GroupOut(many=True)
    tables = serializers.ListField(child=serializers.CharField(), help_text="Names of the tables that you may see.")


class SelectionOut(serializers.Serializer):
    key = serializers.CharField(allow_blank=True, help_text="What split says in addresses; empty for all samples.")
    label = serializers.CharField()
    samples = serializers.IntegerField()


class ConditionsOut(serializers.Serializer):
    prompts = serializers.ListField(child=serializers.CharField())
    judge = serializers.ListField(child=serializers.CharField())


class LeaderboardOut(serializers.Serializer):
    version = serializers.IntegerField()
    suite = serializers.CharField()
    answer_format = serializers.ChoiceField(Form.choices)
    selection = SelectionOut(allow_null=True, help_text="The samples that it is over; null without a finished run.")
    selections = SelectionOut(many=True, help_text="Those that there are.")
    conditions = ConditionsOut(help_text="What rankings are within.")
    withheld = serializers.IntegerField()
    groups = GroupOut(many=True)
    tables = serializers.ListField(child=serializers.CharField())


class DifferenceOut(serializers.Serializer):
    """One figure of both, and the difference: first minus second, missing answers at their worst."""

    what = serializers.CharField()
    key = serializers.CharField()
    category = serializers.CharField(allow_blank=True)
    first = serializers.FloatField(allow_null=True)
    second = serializers.FloatField(allow_null=True)
    value = serializers.FloatField(allow_null=True)
    interval = _Ends()
    n = serializers.IntegerField()
    p = serializers.FloatField(allow_null=True)
    p_adjusted = serializers.FloatField(allow_null=True)


class DifferingOut(serializers.Serializer):
    number = serializers.IntegerField()
    category = serializers.CharField(allow_blank=True)
    first = serializers.FloatField(allow_null=True)
    second = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)


class ComparisonOut(serializers.Serializer):
    first = serializers.CharField()
    second = serializers.CharField()
    group = serializers.CharField(source="stage")
    reading = serializers.ChoiceField(READINGS)
    split = serializers.CharField(allow_blank=True)
    differ = serializers.CharField(allow_blank=True, help_text="In which settings the two differ.")
    lead = serializers.ListField(child=serializers.CharField(), help_text="What is to be read first.")
    method = serializers.CharField()
    n = serializers.IntegerField()
    tests = serializers.IntegerField()
    rows = DifferenceOut(many=True)
    stories = DifferingOut(many=True, help_text="Samples, the largest difference first.")
    withheld = serializers.IntegerField(default=0)


class ColumnOut(serializers.Serializer):
    key = serializers.CharField()
    header = serializers.CharField(allow_blank=True)
    unit = serializers.CharField(required=False)
    kind = serializers.ChoiceField(["text", "count", "number", "share"], help_text="A share is a fraction.")
    group = serializers.CharField(required=False)
    interval = serializers.CharField(required=False, help_text="Key under which rows have [low, high].")
    n = serializers.CharField(required=False)
    best = serializers.CharField(required=False)
    worst = serializers.CharField(required=False)
    bounds = serializers.CharField(required=False)


class TableOut(serializers.Serializer):
    """A table as data: what its columns mean, and its rows by their keys."""

    title = serializers.CharField()
    columns = ColumnOut(many=True)
    rows = serializers.ListField(child=Anything())
    totals = serializers.ListField(child=Anything(), help_text="Rows below the line.")
    lead = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())
    ranking = serializers.CharField(required=False)
    absent = AbsentOut(many=True, required=False)
    section = serializers.CharField(required=False)


class _EstimatedOut(serializers.Serializer):
    calls = serializers.IntegerField()
    to_make = serializers.IntegerField(help_text="Without those that the ledger has.")
    in_ledger = serializers.IntegerField(allow_null=True, help_text="Null where it was not looked up.")
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text=f"Expected. {_COST}")
    known_cost = serializers.FloatField()
    unpriced_calls = serializers.IntegerField()
    most = serializers.FloatField(allow_null=True, help_text="US dollars that cannot be exceeded; null where unknown.")


class EstimatedLineOut(_EstimatedOut):
    """What one model is asked at one step."""

    model = serializers.CharField()
    step = serializers.CharField()
    asked = serializers.CharField(help_text="Who answers: the model, or the judge about it.")
    method = serializers.CharField(allow_blank=True, help_text="In words; empty where the suite asks in one way.")
    control = serializers.CharField(allow_blank=True, help_text="In words; empty as published.")
    in_common = serializers.IntegerField(help_text="Calls that a line above makes, and that are counted there alone.")
    too_long = serializers.IntegerField(help_text="Questions that its context may have no room for.")


class DetectableOut(serializers.Serializer):
    score = serializers.CharField(source="name")
    difference = serializers.FloatField(
        allow_null=True, help_text="The smallest difference that a test shows with its power; null where none can be."
    )
    power = serializers.FloatField()
    alpha = serializers.FloatField()
    tests = serializers.IntegerField(help_text="How many are made at once.")


class EstimateOut(_EstimatedOut):
    """What a launch would ask and cost, and what it can show."""

    samples = serializers.IntegerField()
    over_budget = serializers.BooleanField()
    lines = EstimatedLineOut(many=True)
    notes = serializers.ListField(child=serializers.CharField(), help_text="What controls leave out.")
    can_show = DetectableOut(many=True)
