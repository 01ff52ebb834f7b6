"""Shapes of answers about runs: runs are named by the uids of their pages, models by name."""

from rest_framework import serializers

from benchmark.api.shapes.values import COST, Anything
from benchmark.models import AnswerFormat
from workers.api.shapes import CallsOut, EndedOut, LackOut, TokensOut


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


class PreparedOut(serializers.Serializer):
    """How far a run is whose questions are still being made."""

    done = serializers.IntegerField(help_text="Samples about which they are there; of an import, answers.")
    of = serializers.IntegerField(help_text="All its samples, or answers; 0 while the files of an import are read.")


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
    preparing = PreparedOut(allow_null=True, help_text="How far its questions are made; null where all are there.")
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


class MissingOut(serializers.Serializer):
    """Items of one model and step that ended without an answer that can be used, for one reason."""

    model = serializers.CharField()
    step = serializers.CharField()
    state = serializers.ChoiceField(["unreadable", "failed", "cancelled"])
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


class NotTakenOut(serializers.Serializer):
    where = serializers.CharField(help_text="Which answer.")
    why = serializers.CharField()


class LeftOutOut(serializers.Serializer):
    """The fate of answers that were made elsewhere and are not part of the run, as their import found it."""

    unmatched = NotTakenOut(many=True, help_text="Those that are to no sample.")
    double = NotTakenOut(many=True)
    missing = serializers.ListField(child=serializers.CharField(), help_text="Samples that lack answers.")
    unanswered = NotTakenOut(many=True, help_text="Records of a sample without an answer.")


class RunDetailOut(RunOut):
    left_out = LeftOutOut(allow_null=True, help_text="Of answers that were made elsewhere; null for other runs.")
    entrants = EntrantOut(many=True)
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
    missing = MissingOut(many=True, help_text="Without stories that you still have work to do on.")
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


class DetectableOut(serializers.Serializer):
    score = serializers.CharField(source="name")
    difference = serializers.FloatField(
        allow_null=True, help_text="The smallest difference that a test shows with its power; null where none can be."
    )
    power = serializers.FloatField()
    alpha = serializers.FloatField()
    tests = serializers.IntegerField(help_text="How many are made at once.")


class EstimateOut(_EstimatedOut):
    """The questions and costs of a launch, and the differences that it can show."""

    samples = serializers.IntegerField()
    over_budget = serializers.BooleanField()
    lines = EstimatedLineOut(many=True)
    notes = serializers.ListField(child=serializers.CharField(), help_text="What controls leave out.")
    can_show = DetectableOut(many=True)


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
