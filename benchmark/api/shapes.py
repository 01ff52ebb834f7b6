"""Shapes of answers about runs and their results: runs are named by the uids of their pages, models by name."""

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from benchmark.models import AnswerFormat
from benchmark.suites.questions import PARSES
from core.api.fields import Ends
from workers.api.shapes import CallsOut, EndedOut, LackOut, TokensOut

COST = "US dollars. Null where some calls have no price."


@extend_schema_field({"type": "object", "additionalProperties": True})
class Anything(serializers.JSONField):
    """An object whose fields depend on the suite."""


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
    samples = serializers.IntegerField(
        allow_null=True, help_text="Samples that were chosen of the version; null while files are still read."
    )
    taken = serializers.IntegerField(
        allow_null=True, help_text="Samples of the run; the others are not answered, and not part of it."
    )
    facts = serializers.DictField(child=serializers.CharField(allow_blank=True))


class RunOut(serializers.Serializer):
    """A run, as the list of runs shows it."""

    run = serializers.CharField()
    title = serializers.CharField()
    suite = serializers.CharField()
    dataset = serializers.IntegerField(help_text="Number of the version.")
    answer_format = serializers.ChoiceField(AnswerFormat.choices)
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
    state = serializers.CharField(help_text="preparing, running, paused, cancelled, or how it ended.")
    note = serializers.CharField(
        allow_blank=True, help_text="Why it is paused, holds items back or could not be prepared, and what to do."
    )
    budget = serializers.DecimalField(12, 4, allow_null=True, help_text="US dollars. Null: no cap.")
    items = EndedOut(help_text="Those that ended.")
    open = serializers.IntegerField(help_text="Items that wait or are being asked.")
    held_back = serializers.IntegerField(help_text="Those of them that wait for a person; resume asks for them again.")
    to_come = serializers.IntegerField(help_text="Questions that an answer will open.")
    preparing = inline_serializer(
        "PreparedOut",
        {
            "done": serializers.IntegerField(help_text="Samples about which they are there; of an import, answers."),
            "of": serializers.IntegerField(
                help_text="All its samples, or answers; 0 while the files of an import are read."
            ),
        },
        allow_null=True, help_text="How far its questions are made; null where all are there.",
    )  # fmt: skip
    failures = LackOut(allow_null=True)
    unreadable_answers = LackOut(allow_null=True)
    calls = CallsOut()
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text=COST)
    known_cost = serializers.FloatField(help_text="US dollars of the calls that have a price.")
    unpriced_calls = serializers.IntegerField(help_text="Calls of unknown price, which known_cost leaves out.")


class ProgressOut(serializers.Serializer):
    """The progress of one model at one step, in items."""

    model = serializers.CharField()
    step = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    unreadable = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    in_flight = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="With questions that are still to come.")
    held = serializers.IntegerField(help_text="Of those that wait, who wait for a person.")
    reused = serializers.IntegerField(help_text="Answers that the ledger had already.")
    answers_a_minute = serializers.FloatField()
    seconds_left = serializers.FloatField(allow_null=True)
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text=COST)
    known_cost = serializers.FloatField()
    unpriced_calls = serializers.IntegerField()


class BesideOut(serializers.Serializer):
    """A run that asks the same by another method, or under a control."""

    name = serializers.CharField()
    title = serializers.CharField()
    run = serializers.CharField()
    state = serializers.CharField()


class NotTakenOut(serializers.Serializer):
    where = serializers.CharField(help_text="Which answer.")
    why = serializers.CharField()


class RunDetailOut(RunOut):
    left_out = inline_serializer(
        "LeftOutOut",
        {
            "unmatched": NotTakenOut(many=True, help_text="Those that are to no sample."),
            "double": NotTakenOut(many=True),
            "missing": serializers.ListField(child=serializers.CharField(), help_text="Samples that lack answers."),
            "unanswered": NotTakenOut(many=True, help_text="Records of a sample without an answer."),
        },
        allow_null=True, help_text="Of answers that were made elsewhere; null for other runs.",
    )  # fmt: skip
    entrants = inline_serializer(
        "EntrantOut",
        {
            "key": serializers.CharField(help_text="What leaderboards and comparisons call it."),
            "name": serializers.CharField(),
            "asked_as": Anything(help_text="The endpoint as it was at the launch: provider, model, prices, options."),
        },
        many=True, help_text="The models as they were asked in the run.",
    )  # fmt: skip
    methods = BesideOut(
        many=True,
        help_text=(
            "The newest run by each method with the same settings, this one among them; empty where there is no other."
        ),
    )
    controls = BesideOut(many=True, help_text="The runs under its controls.")
    settings = serializers.DictField(
        child=serializers.CharField(), help_text="What was chosen for the suite, in words."
    )
    parameters = Anything(help_text="The same, with what every run has, as stored.")
    progress = ProgressOut(many=True)
    missing = inline_serializer(
        "MissingOut",
        {
            "model": serializers.CharField(),
            "step": serializers.CharField(),
            "state": serializers.ChoiceField(["unreadable", "failed", "cancelled"]),
            "reason": serializers.CharField(allow_blank=True),
            "items": serializers.IntegerField(help_text="Those that ended without a usable answer for this reason."),
        },
        many=True, help_text="Without stories that you still have work to do on.",
    )  # fmt: skip
    withheld = serializers.IntegerField(help_text="Stories of the run that you still have work to do on.")


class RunActionOut(RunDetailOut):
    controls_taken_along = serializers.IntegerField(help_text="How many of the runs under its controls did the same.")
    runs_of_launch = serializers.IntegerField(help_text="With `launch`, how many of its runs were changed; else 0.")
    left = serializers.ListField(
        child=serializers.CharField(), help_text="A sentence for each run that could not follow and stays as it is."
    )


class _EstimatedOut(serializers.Serializer):
    calls = serializers.IntegerField()
    to_make = serializers.IntegerField(help_text="Without those that the ledger has.")
    in_ledger = serializers.IntegerField(allow_null=True, help_text="Null where it was not looked up.")
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text=f"Expected. {COST}")
    known_cost = serializers.FloatField()
    unpriced_calls = serializers.IntegerField()
    most = serializers.FloatField(allow_null=True, help_text="US dollars that cannot be exceeded; null where unknown.")


class EstimatedLineOut(_EstimatedOut):
    """The questions to one model at one step."""

    model = serializers.CharField()
    step = serializers.CharField()
    asked = serializers.CharField(help_text="Who answers: the model, or the judge about it.")
    method = serializers.CharField(allow_blank=True, help_text="In words; empty where the suite asks in one way.")
    control = serializers.CharField(allow_blank=True, help_text="In words; empty as published.")
    in_common = serializers.IntegerField(help_text="Calls that a line above makes, and that are counted there alone.")
    too_long = serializers.IntegerField(help_text="Questions that its context may have no room for.")


class EstimateOut(_EstimatedOut):
    """The questions and costs of a launch, and the differences that it can show."""

    samples = serializers.IntegerField()
    over_budget = serializers.BooleanField()
    lines = EstimatedLineOut(many=True)
    notes = serializers.ListField(child=serializers.CharField(), help_text="What controls leave out.")
    can_show = inline_serializer(
        "DetectableOut",
        {
            "score": serializers.CharField(source="name"),
            "difference": serializers.FloatField(
                allow_null=True,
                help_text="The smallest difference that a test shows with its power; null where none can be.",
            ),
            "power": serializers.FloatField(),
            "alpha": serializers.FloatField(),
            "tests": serializers.IntegerField(help_text="How many are made at once."),
        },
        many=True,
    )


class ImportPreviewOut(serializers.Serializer):
    """The fate of answers that were made elsewhere."""

    model = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the answers.")
    steps = serializers.ListField(child=serializers.CharField(), help_text="What is answered.")
    settings = serializers.DictField(help_text="Settings of the suite that the answers would be read by.")
    repetitions = serializers.IntegerField()
    samples = serializers.IntegerField(help_text="Samples that were chosen of the version.")
    taken = serializers.IntegerField(help_text="Samples of the run: those with an answer, or all that were chosen.")
    records = serializers.IntegerField(help_text="Answers that were sent.")
    by_id = serializers.IntegerField(help_text="Matched by id.")
    by_text = serializers.IntegerField(help_text="Matched by the texts of their sample, or by what was asked.")
    answers = serializers.IntegerField(help_text="Questions that get an answer.")
    missing_answers = serializers.IntegerField()
    missing = serializers.ListField(child=serializers.CharField(), help_text="Samples that lack answers.")
    unmatched = NotTakenOut(many=True)
    double = NotTakenOut(many=True)
    unanswered = NotTakenOut(many=True, help_text="Records of a sample without an answer.")


class MetricOut(serializers.Serializer):
    """A fraction with its 95 % interval."""

    value = serializers.FloatField(allow_null=True)
    interval = Ends()
    reason = serializers.CharField(required=False, help_text="Why there is no interval.")
    bounds = Ends(required=False, help_text="With what is missing at its worst and at its best.")
    n = serializers.IntegerField(required=False, help_text="How many samples it is of.")
    unreadable = serializers.IntegerField(required=False, help_text="How many samples the parse leaves out.")


class AbsentOut(serializers.Serializer):
    model = serializers.CharField()
    why = serializers.CharField()


class ColumnOut(serializers.Serializer):
    key = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    unit = serializers.CharField(required=False)
    kind = serializers.ChoiceField(["text", "count", "number", "share"], help_text="A share is a fraction.")
    group = serializers.CharField(required=False, help_text="A heading over several columns.")
    best = serializers.CharField(required=False, help_text="The end of the scale that is best: high or low.")


ROWS = "A value under the key of a column, or {value, interval, n, reason, bounds}."


class TableOut(serializers.Serializer):
    """A table as data: its columns, and its rows by their keys. A row of a model has its key, kind and run under
    `entrant`."""

    title = serializers.CharField()
    columns = ColumnOut(many=True)
    rows = serializers.ListField(child=Anything(), help_text=ROWS)
    totals = serializers.ListField(child=Anything(), help_text="Rows below the line.")
    lead = serializers.ListField(child=serializers.CharField(), help_text="Sentences to read first.")
    notes = serializers.ListField(child=serializers.CharField())
    ranking = serializers.CharField(required=False, help_text="The order of the rows.")
    absent = AbsentOut(many=True, required=False, help_text="Models that the table does not have.")
    section = serializers.CharField(required=False)
    entered = serializers.ListField(child=Anything(), required=False, help_text="Rows of papers, with their source.")


class GroupOut(TableOut):
    """The ranking of one metric group."""

    key = serializers.CharField()
    score = serializers.CharField(help_text="The name of the figure that it is ranked by.")


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
    answer_format = serializers.ChoiceField(AnswerFormat.choices)
    selection = SelectionOut(allow_null=True, help_text="The samples that it is over; null without a finished run.")
    selections = SelectionOut(many=True, help_text="Those that there are.")
    conditions = ConditionsOut(help_text="What rankings are within.")
    withheld = serializers.IntegerField()
    groups = GroupOut(many=True)
    tables = serializers.ListField(child=serializers.CharField())


class ComparisonOut(serializers.Serializer):
    """Two models on the same samples. Differences are first minus second, missing answers at their worst."""

    first = serializers.CharField()
    second = serializers.CharField()
    group = serializers.CharField()
    parse = serializers.ChoiceField(PARSES)
    split = serializers.CharField(allow_blank=True)
    differ = serializers.CharField(allow_blank=True, help_text="In which settings the two differ.")
    n = serializers.IntegerField()
    tests = serializers.IntegerField()
    withheld = serializers.IntegerField(default=0)
    differences = TableOut()
    corrected = TableOut(required=False, help_text="The same without the judge's error.")
    stories = TableOut(help_text="Samples, the largest difference first.")
