"""Decisions on cells, and decisions to take back, as the script of the adjudication pages posts them."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext, gettext_lazy

from annotation.forms.filters import PartsFilter
from annotation.forms.values import LABEL, MESSAGE, NO_LABEL, OUTCOMES, REASON, REMARK, Label, NoLabel, Reason, Tag
from annotation.forms.votes import Dimension, Key, Uid
from annotation.models import ErrorTag, Project
from annotation.models.adjudication_queue import Kind
from annotation.services.adjudication import MOST_ALIKE
from core.incoming.shapes import Counted, Moment, Shape, Within
from core.messages import gettext_noop
from core.page_fields import LikeField, PageForm

MOST = 500

Revision = Annotated[int, Within(0, 2**31 - 1, gettext_noop("the revision of a gold label"), pointed=True)]
Row = Annotated[int, Within(0, 2**63 - 1, gettext_noop("the id of a gold label"))]


class DecidedIn(Shape):
    """What an expert says of a cell, on a page and by the API."""

    label: Label
    reason: Reason = ""
    error_tag: Tag = ""


class CellIn(Shape):
    proposition: Uid
    dimension: Dimension


class DecisionIn(CellIn, DecidedIn):
    revision: Revision
    row: Row
    replaces: NoLabel = ""
    idempotency_key: Key
    changed_at: Moment


class DecisionsIn(Shape):
    """`annotator` is who made the decisions, as the browser remembers it."""

    annotator: int | None = None
    changes: Annotated[list[DecisionIn], Counted(1, MOST)]


class TakenBackIn(CellIn):
    revision: Revision


class TakenBack(Shape):
    cells: Annotated[list[TakenBackIn], Counted(1, MOST_ALIKE)]


class StoriesIn(Shape):
    """Stories that an expert still works on, or just `opened`: their claims on others are given back."""

    opened: bool = False
    stories: Annotated[list[Uid], Counted(1, MOST)]


class QueueFilter(PartsFilter):
    """Filters of the queue; every link into the queue is one of these as a query string."""

    field_order = ("status", "dimension", "category", "split")

    status = forms.ChoiceField(
        required=False,
        choices=[
            ("todo", gettext_lazy("To decide")),
            ("open", gettext_lazy("Open")),
            ("disturbed", gettext_lazy("Votes changed since")),
            ("adjudicated", gettext_lazy("Adjudicated")),
            ("majority", gettext_lazy("Majority")),
            ("all", gettext_lazy("All with all votes")),
        ],
    )
    dimension = forms.ChoiceField(required=False)
    text = forms.CharField(required=False, max_length=100, label=gettext_lazy("Words or story number"))
    pair = forms.CharField(required=False, max_length=90, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(data, project=project)
        self.fields["text"].widget.attrs["type"] = "search"
        self.fields["dimension"].choices = [
            ("", gettext_lazy("All")),
            *((dimension.key, gettext(dimension.name)) for dimension in project.schema.dimensions),
        ]

    def clean_pair(self) -> str:
        pair = self.cleaned_data["pair"]
        first, _, second = pair.partition("|")
        if pair and not (first and second):
            raise forms.ValidationError(
                gettext_noop("A pair is two labels with a bar between, such as Inference|Testimony.")
            )
        return pair

    @property
    def chosen(self) -> dict[str, str]:
        """The filters in force; a field that could not be read filters nothing."""
        self.is_valid()
        return {"status": "todo"} | {name: value for name, value in self.cleaned_data.items() if value}

    @property
    def narrowed(self) -> bool:
        return self.chosen != {"status": "todo"}

    def query(self, **changes: str) -> str:
        return urlencode({name: value for name, value in (self.chosen | changes).items() if value})


class ActionForm(PageForm):
    """What an expert does to one cell."""

    @property
    def problem(self) -> str:
        """One sentence for the expert."""
        return "; ".join(f"{name.replace('_', ' ')}: {messages[0]}" for name, messages in self.errors.items())


class DecisionForm(ActionForm):
    label = LikeField(LABEL)
    revision = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    row = forms.IntegerField(min_value=0, max_value=2**63 - 1)
    reason = LikeField(REASON, required=False)
    error_tag = forms.ChoiceField(required=False, choices=[("", "none"), *ErrorTag.choices])
    replaces = LikeField(NO_LABEL, required=False)


class UndoForm(ActionForm):
    revision = forms.IntegerField(min_value=0, max_value=2**31 - 1)


class CaseForm(ActionForm):
    filed = forms.TypedChoiceField(choices=[("1", "file"), ("0", "remove")], coerce=lambda value: value == "1")


class BulkForm(PageForm):
    seen_until = forms.DateTimeField(widget=forms.HiddenInput)


class OutcomeForm(PageForm):
    flag = forms.CharField(max_length=12)
    outcome = forms.ChoiceField(
        choices=[*zip(OUTCOMES, (gettext_lazy("Accept"), gettext_lazy("Decline")), strict=True)]
    )
    text = LikeField(REASON, required=False, label=gettext_lazy("Answer"))


class ReplyForm(PageForm):
    """A message into one thread, named by any comment of it, so that the form does not tell whose thread it is."""

    thread = forms.CharField(max_length=12, widget=forms.HiddenInput)
    text = LikeField(MESSAGE, widget=forms.Textarea({"rows": 2}), label=gettext_lazy("Reply"))


class KindForm(PageForm):
    """Form of a kind of open cells that are alike: the dimension, and the labels that were voted for."""

    dimension = forms.ChoiceField(widget=forms.HiddenInput)
    votes = forms.CharField(max_length=900, widget=forms.HiddenInput)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dimension"].choices = [(dimension.key, dimension.name) for dimension in project.schema.dimensions]

    @property
    def kind(self) -> Kind:
        return Kind(self.cleaned_data["dimension"], self.cleaned_data["votes"])


class AlikeForm(KindForm):
    """One decision for many cells; `cells` of the cleaned data has the revision of each by its proposition's uid."""

    label = forms.ChoiceField(widget=forms.RadioSelect)
    reason = LikeField(REMARK, widget=forms.Textarea({"rows": 2}), help_text=gettext_lazy("It is kept with each."))
    error_tag = forms.ChoiceField(
        required=False,
        choices=[("", gettext_lazy("None")), *ErrorTag.choices],
        label=gettext_lazy("Why annotators erred"),
    )
    cell = forms.CharField(required=False, widget=forms.MultipleHiddenInput)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        chosen = str(self.data.get("dimension") or self.initial.get("dimension") or "")
        values = project.schema[chosen].values if chosen in project.schema else ()
        self.fields["label"].choices = [(value, value) for value in values]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        given = [text.partition(":") for text in self["cell"].value()]
        if not given or not all(uid and revision.isdecimal() for uid, _, revision in given):
            raise forms.ValidationError(gettext_lazy("Tick the cells that are to be decided."))
        cleaned["cells"] = {uid: int(revision) for uid, _, revision in given}
        return cleaned
