"""Shapes of answers. Objects are named by the opaque uids of the pages, people by their user names."""

from __future__ import annotations

from django.utils.crypto import salted_hmac
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.domain.ordering import shuffled
from annotation.domain.reconciliation import Lane, Status
from annotation.models import (
    CellComment,
    ErrorTag,
    GoldLabel,
    Guideline,
    Invitation,
    Membership,
    Method,
    Project,
    Proposition,
    PropositionFlag,
    Role,
    RoundKind,
    Story,
    Vote,
)


class ProjectOut(serializers.ModelSerializer):
    role = serializers.SerializerMethodField()

    class Meta:
        model = Project
        fields = (
            "slug", "name", "description", "role", "language", "overlap", "unanimity_dimensions", "schema_name",
            "schema_version", "rule_version", "created_at",
        )  # fmt: skip
        read_only_fields = fields

    unanimity_dimensions = serializers.ListField(
        child=serializers.CharField(), help_text="Dimensions where only a unanimous vote settles."
    )

    def get_role(self, project: Project) -> serializers.ChoiceField(choices=Role.choices):
        return self.context["roles"].get(project.pk, Role.ADMIN.value)


class LabelOut(serializers.Serializer):
    value = serializers.CharField()
    meaning = serializers.CharField()


class DimensionOut(serializers.Serializer):
    key = serializers.CharField()
    name = serializers.CharField()
    question = serializers.CharField()
    labels = LabelOut(many=True)


class ProjectDetailOut(ProjectOut):
    dimensions = serializers.SerializerMethodField()
    splits = serializers.SlugRelatedField("name", many=True, read_only=True)
    categories = serializers.SlugRelatedField("name", many=True, read_only=True)

    class Meta(ProjectOut.Meta):
        fields = (*ProjectOut.Meta.fields, "dimensions", "splits", "categories")
        read_only_fields = fields

    def get_dimensions(self, project: Project) -> DimensionOut(many=True):
        return DimensionOut(project.schema.dimensions, many=True).data


class StoryOut(serializers.ModelSerializer):
    category = serializers.CharField(source="category.name")
    split = serializers.CharField(source="split.name", default=None, allow_null=True)
    translations = serializers.DictField(child=serializers.CharField(), help_text="Language code → text.")

    class Meta:
        model = Story
        fields = ("uid", "number", "category", "split", "language", "text", "translations", "set_aside_at")
        read_only_fields = fields


class PropositionOut(serializers.ModelSerializer):
    class Meta:
        model = Proposition
        fields = ("uid", "position", "actor", "belief")
        read_only_fields = fields


class BeliefTableOut(serializers.Serializer):
    """Result of writing a table, with the table as it stands."""

    kept = serializers.IntegerField(help_text="Rows whose text did not change: they keep their votes.")
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    reopened = serializers.ListField(
        child=serializers.CharField(), help_text="Annotators who had finished the story and have new rows to label."
    )
    propositions = PropositionOut(many=True)


class WordsOut(serializers.Serializer):
    """A row of a table that an expert wrote."""

    actor = serializers.CharField(allow_blank=True)
    belief = serializers.CharField(allow_blank=True)
    order = serializers.CharField(allow_blank=True)
    remark = serializers.CharField(allow_blank=True)


class DraftRowOut(WordsOut):
    row = serializers.CharField(help_text="uid of the row.")
    place = serializers.FloatField(help_text="Rows stand in its order.")
    removed = serializers.BooleanField()
    warnings = serializers.ListField(child=serializers.CharField(), help_text="What sits oddly; nothing was refused.")


class DraftOut(serializers.Serializer):
    handed_in_at = serializers.DateTimeField(allow_null=True)
    closed = serializers.CharField(
        allow_blank=True, help_text="Why you cannot write the table now; empty where you can."
    )
    rows = DraftRowOut(many=True)


class LaneRowOut(WordsOut):
    row = serializers.CharField(help_text="uid of the row.")
    lane = serializers.ChoiceField([lane.value for lane in Lane])
    a = WordsOut(allow_null=True, help_text="What the first expert wrote.")
    b = WordsOut(allow_null=True, help_text="What the second one wrote.")
    status = serializers.ChoiceField([one.value for one in Status], allow_blank=True)
    place = serializers.FloatField(help_text="Rows stand in its order.")
    decided_by = serializers.CharField(allow_null=True)
    quicker = serializers.CharField(allow_blank=True, help_text="Who decided the row before you; yours was not taken.")


class LanesOut(serializers.Serializer):
    opened = serializers.BooleanField()
    settled = serializers.BooleanField(help_text="The story has its gold table.")
    agreed = serializers.ListField(child=serializers.CharField(), help_text="Experts who agreed to the rows.")
    rows = LaneRowOut(many=True)


class AssignmentOut(serializers.Serializer):
    story = serializers.CharField(source="story.uid")
    number = serializers.IntegerField(source="story.number")
    category = serializers.CharField(source="story.category.name")
    begins = serializers.CharField(help_text="The first 120 characters of the story.")
    cells = serializers.IntegerField(help_text="Cells to label.")
    labelled = serializers.IntegerField(source="done", help_text="Cells that hold your vote.")
    finished = serializers.BooleanField()


class VoteOut(serializers.ModelSerializer):
    proposition = serializers.CharField(source="proposition.uid")
    label = serializers.CharField(allow_blank=True, help_text="Empty where the vote was withdrawn.")

    class Meta:
        model = Vote
        fields = ("proposition", "dimension", "label", "changed_at", "idempotency_key", "duration_ms")
        read_only_fields = fields


class SavedOut(serializers.Serializer):
    idempotency_key = serializers.CharField()
    proposition = serializers.CharField()
    dimension = serializers.CharField()
    label = serializers.CharField(allow_blank=True, help_text="What stands in the cell now.")
    changed_at = serializers.DateTimeField(help_text="The time of what stands.")
    applied = serializers.BooleanField(help_text="False where a later change had already arrived.")


class WarningOut(serializers.Serializer):
    proposition = serializers.CharField()
    dimension = serializers.CharField()
    message = serializers.CharField(help_text="What sits oddly with your other labels. Nothing was refused.")


class ChangesOut(serializers.Serializer):
    saved = SavedOut(many=True, help_text="One for each change, in their order.")
    warnings = WarningOut(many=True)


class CommentOut(serializers.ModelSerializer):
    comment = serializers.CharField(source="uid")
    proposition = serializers.CharField(source="proposition.uid")
    by = serializers.CharField(source="author.username")

    class Meta:
        model = CellComment
        fields = ("comment", "proposition", "dimension", "by", "text", "created_at")
        read_only_fields = fields


class SaidOut(serializers.Serializer):
    """A message of a thread about a cell, as experts see it."""

    thread = serializers.CharField(help_text="Send it with a reply.")
    comment = serializers.CharField()
    by = serializers.CharField(
        allow_null=True, help_text="null for the annotator whose thread it is, while they may not be named."
    )
    text = serializers.CharField()
    created_at = serializers.DateTimeField()


class FlagOut(serializers.ModelSerializer):
    flag = serializers.CharField(source="uid")
    proposition = serializers.CharField(source="proposition.uid")
    story = serializers.CharField(source="proposition.table.story.uid")
    number = serializers.IntegerField(source="proposition.table.story.number", help_text="The story's number.")
    by = serializers.CharField(source="author.username")
    outcome = serializers.ChoiceField(["accepted", "declined"], allow_blank=True, help_text="Empty while it waits.")
    outcome_by = serializers.CharField(source="outcome_by.username", default=None, allow_null=True)
    outcome_text = serializers.CharField(allow_blank=True)

    class Meta:
        model = PropositionFlag
        fields = (
            "flag", "story", "number", "proposition", "kind", "remark", "by", "created_at", "outcome", "outcome_by",
            "outcome_at", "outcome_text",
        )  # fmt: skip
        read_only_fields = fields


class MemberOut(serializers.ModelSerializer):
    user = serializers.CharField(source="user.username")
    name = serializers.CharField(source="user.shown_name", help_text="As others see it.")
    role = serializers.ChoiceField(Role.choices)

    class Meta:
        model = Membership
        fields = ("user", "name", "role", "since")
        read_only_fields = fields


INVITATION_STATES = ("open", "accepted", "withdrawn", "expired")


class InvitationOut(serializers.ModelSerializer):
    # Context: `now`.
    invitation = serializers.IntegerField(source="pk")
    role = serializers.ChoiceField(Role.choices)
    email = serializers.CharField(allow_blank=True, help_text="Whom it is for; empty for anyone with the link.")
    state = serializers.SerializerMethodField()
    created_by = serializers.CharField(source="created_by.username")
    accepted_by = serializers.CharField(source="accepted_by.username", default=None, allow_null=True)

    class Meta:
        model = Invitation
        fields: tuple[str, ...] = (
            "invitation", "role", "email", "state", "created_at", "created_by", "expires_at", "accepted_by"
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields

    @extend_schema_field(serializers.ChoiceField(INVITATION_STATES))
    def get_state(self, invitation: Invitation) -> str:
        return invitation.state(self.context["now"])


class LinkOut(InvitationOut):
    # Context: `link`, too.
    link = serializers.SerializerMethodField(help_text="It is told once: only its hash is kept.")

    class Meta(InvitationOut.Meta):
        fields = (*InvitationOut.Meta.fields, "link")
        read_only_fields = fields

    def get_link(self, invitation: Invitation) -> str:
        return self.context["link"]


class RemovalOut(serializers.Serializer):
    user = serializers.CharField()
    released = serializers.IntegerField(help_text="Stories that went back.")


class GuidelineOut(serializers.ModelSerializer):
    text = serializers.CharField(allow_blank=True, help_text="Markdown, in English.")
    text_zh = serializers.CharField(allow_blank=True, help_text="Markdown, in Chinese.")

    class Meta:
        model = Guideline
        fields = ("dimension", "text", "text_zh")
        read_only_fields = fields


class GoldVoteOut(serializers.Serializer):
    annotator = serializers.CharField(allow_null=True, help_text="null until the cell is settled.")
    label = serializers.CharField()


class GoldOut(serializers.ModelSerializer):
    # Context: `names` (user id → user name) and `voted`, the cells on which the reader voted.
    story = serializers.CharField(source="proposition.table.story.uid")
    number = serializers.IntegerField(source="proposition.table.story.number", help_text="The story's number.")
    proposition = serializers.CharField(source="proposition.uid")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    error_tag = serializers.ChoiceField(ErrorTag.choices, allow_blank=True)
    agreement = serializers.SerializerMethodField(help_text="Largest share of one label, 0 to 1.")
    votes = serializers.SerializerMethodField(
        help_text="What the label rests on. Open cells: without names, shuffled. null on a cell that you voted on."
    )
    version = serializers.SerializerMethodField(help_text="Send it back with a decision on this cell.")

    class Meta:
        model = GoldLabel
        fields = (
            "story", "number", "proposition", "dimension", "label", "method", "agreement", "votes", "decided_by",
            "decided_at", "reason", "error_tag", "guideline_flag", "disturbed", "rule_version", "schema_version",
            "revision", "version",
        )  # fmt: skip
        read_only_fields = fields

    def get_agreement(self, gold: GoldLabel) -> float | None:
        return None if self._voted(gold) else gold.agreement

    def get_votes(self, gold: GoldLabel) -> GoldVoteOut(many=True, allow_null=True):
        if self._voted(gold):
            return None
        if gold.method == Method.OPEN:
            labels = shuffled([vote["label"] for vote in gold.votes], f"{gold.proposition.uid}:{gold.dimension}")
            return [{"annotator": None, "label": label} for label in labels]
        names = self.context["names"]
        return [{"annotator": names.get(vote["annotator"]), "label": vote["label"]} for vote in gold.votes]

    def get_version(self, gold: GoldLabel) -> str:
        return version_of(gold)

    def _voted(self, gold: GoldLabel) -> bool:
        return (gold.proposition_id, gold.dimension) in self.context["voted"]


def version_of(gold: GoldLabel | None) -> str:
    """Names one state of one gold row, opaque: a row that was removed and made again has another version."""
    if gold is None:
        return ""
    return salted_hmac("annotation.api.gold", f"{gold.pk}:{gold.revision}").hexdigest()[:20]


class CellsOut(serializers.Serializer):
    cells = GoldOut(many=True)


class LeadingOut(serializers.Serializer):
    total = serializers.IntegerField(help_text="Open cells that have a leading label.")
    by_dimension = serializers.DictField(child=serializers.IntegerField())
    tied = serializers.IntegerField(help_text="Open cells in which no label leads.")
    voted_on = serializers.IntegerField(help_text="Open cells on which you voted; others decide them.")
    seen_until = serializers.DateTimeField(help_text="Send it back to accept what was seen.")


class SettledOut(serializers.Serializer):
    settled = serializers.IntegerField(help_text="Cells that were decided.")


class LackOut(serializers.Serializer):
    count = serializers.IntegerField()
    of = serializers.IntegerField()
    commonest = serializers.CharField(help_text="The commonest reason.")
    times = serializers.IntegerField(help_text="How often it was the reason.")


class EndedOut(serializers.Serializer):
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    unusable = serializers.IntegerField()


class CallsOut(serializers.Serializer):
    made = serializers.IntegerField()
    reused = serializers.IntegerField(help_text="Answers that the ledger had already.")


class TokensOut(serializers.Serializer):
    input = serializers.IntegerField()
    output = serializers.IntegerField()


class DiscardedOut(serializers.Serializer):
    discarded = serializers.IntegerField(help_text="Suggested labels, and rows of drafted tables.")


class RoundOut(serializers.Serializer):
    """A round of suggestions, as the command `prefill` prints it."""

    round = serializers.CharField()
    job = serializers.CharField()
    endpoint = serializers.CharField()
    kind = serializers.ChoiceField(RoundKind.choices, help_text="What the model writes: labels, or drafts of tables.")
    level = serializers.IntegerField(allow_null=True, help_text="Of the prompt for labels; null for tables.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="running, paused, cancelled, or how it ended.")
    note = serializers.CharField(help_text="Why it is paused or holds items back, and what to do.")
    budget = serializers.DecimalField(12, 4, allow_null=True, help_text="US dollars. Null: no cap.")
    held_back = serializers.IntegerField(help_text="Items that wait for a person; resume asks for them again.")
    items = EndedOut(help_text="Those that ended.")
    failures = LackOut(allow_null=True)
    unusable_answers = LackOut(allow_null=True)
    calls = CallsOut()
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text="US dollars. Null where some calls have no price.")
    known_cost = serializers.FloatField(help_text="US dollars of the calls that have a price.")
    unpriced_calls = serializers.IntegerField(help_text="Calls of unknown price, which known_cost leaves out.")


class _Share(serializers.FloatField):
    def __init__(self, **kwargs) -> None:
        super().__init__(allow_null=True, **kwargs)


class _Interval(serializers.ListField):
    def __init__(self, **kwargs) -> None:
        super().__init__(child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, **kwargs)


class IntervalsOut(serializers.Serializer):
    strict = _Interval()
    pairwise = _Interval()
    fleiss_kappa = _Interval()
    krippendorff_alpha = _Interval()
    gwet_ac1 = _Interval()


class MeasureOut(serializers.Serializer):
    """Shares are fractions; what is undefined is null, with a reason."""

    cells = serializers.IntegerField()
    agree = serializers.IntegerField()
    strict = _Share()
    pairwise = _Share()
    fleiss_kappa = _Share()
    krippendorff_alpha = _Share()
    gwet_ac1 = _Share()
    interval = IntervalsOut()
    method = serializers.CharField()
    reasons = serializers.DictField(child=serializers.CharField(), help_text="Why a figure or its interval is null.")
    reason = serializers.CharField(required=False, help_text="The first of them.")


class AgreementOut(serializers.Serializer):
    stories = serializers.IntegerField()
    propositions = serializers.IntegerField()
    annotators = serializers.IntegerField()
    incomplete = serializers.IntegerField(help_text="Cells that still wait for votes; they are not measured.")
    overall = MeasureOut()
    dimensions = serializers.DictField(child=MeasureOut())


class PairOut(serializers.Serializer):
    annotators = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2)
    cells = serializers.IntegerField(help_text="Cells that both labelled.")
    agree = serializers.IntegerField()
    cohens_kappa = _Share(help_text="The mean over dimensions.")
    reason = serializers.CharField(allow_null=True)


class AgainstResolvedOut(serializers.Serializer):
    annotator = serializers.CharField()
    cells = serializers.IntegerField(help_text="Settled cells that the annotator labelled.")
    agree = serializers.IntegerField()


class AgainstOthersOut(AgainstResolvedOut):
    cells = serializers.IntegerField(help_text="Cells that the annotator labelled and that are settled without them.")
    votes = serializers.IntegerField(help_text="Settled by the other votes.")
    expert = serializers.IntegerField(help_text="Settled by an expert.")
    open = serializers.IntegerField(help_text="Not settled without the annotator; they do not count.")


class AnnotatorsOut(serializers.Serializer):
    """Agreement of annotators: by annotator, then by dimension."""

    pairs = PairOut(many=True)
    against_others = serializers.DictField(child=serializers.DictField(child=AgainstOthersOut()))
    against_resolved = serializers.DictField(child=serializers.DictField(child=AgainstResolvedOut()))
