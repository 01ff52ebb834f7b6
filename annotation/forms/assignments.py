from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.forms.filters import PartsFilter
from annotation.models import Project, Role, Story, User
from annotation.models.table_queue import STATES
from core.page_fields import PageForm, TickedRows


class TablesFilter(PartsFilter):
    """Filters of the queue of tables."""

    field_order = ("state", "split", "category")
    state = forms.ChoiceField(
        required=False, choices=[("", gettext_lazy("All")), *STATES.items()], widget=forms.HiddenInput
    )
    text = forms.CharField(required=False, max_length=100, label=gettext_lazy("Number or words"))


class GiveForm(PageForm):
    """Experts that the stories which the filter shows are given to, by the balanced rule."""

    experts = TickedRows(User.objects.none(), error_messages={"required": gettext_lazy("Choose experts.")})
    seed = forms.IntegerField(
        initial=1, min_value=0, max_value=2**31 - 1, help_text=gettext_lazy("The same seed gives the same plan.")
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, project: Project) -> None:
        super().__init__(data)
        people = self.fields["experts"]
        people.queryset = User.objects.filter(
            memberships__project=project, memberships__role__in=(Role.EXPERT, Role.ADMIN)
        ).order_by("username")
        people.label_from_instance = lambda user: user.shown_name


SCOPES = [
    ("chosen", gettext_lazy("the stories ticked below")),
    ("all", gettext_lazy("all stories that the filter shows")),
]


class FilterForm(PartsFilter):
    assignments = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Annotators"),
        choices=[
            ("", gettext_lazy("All stories")),
            ("free", gettext_lazy("Short of annotators")),
            ("full", gettext_lazy("With all annotators")),
        ],
    )
    person = forms.ModelChoiceField(
        User.objects.none(),
        required=False,
        label=gettext_lazy("Assigned to"),
        empty_label=gettext_lazy("Anybody"),
        to_field_name="username",
    )
    tables = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Belief table"),
        choices=[("", gettext_lazy("Stories with a table")), ("all", gettext_lazy("Also without a table"))],
    )

    def __init__(self, data: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(data, project=project)
        people = self.fields["person"]
        people.queryset = User.objects.filter(memberships__project=project).order_by("username")
        people.label_from_instance = lambda user: user.shown_name


class AssignForm(PageForm):
    """The choice of stories (ticked ones, or all that the filter shows) and of people: who gets them by the balanced
    rule, or whose assignments there are released or get a deadline."""

    scope = forms.ChoiceField(choices=SCOPES, initial="all", label=gettext_lazy("Of"))
    stories = forms.ModelMultipleChoiceField(Story.objects.none(), required=False, to_field_name="uid")
    annotators = TickedRows(User.objects.none(), error_messages={"required": gettext_lazy("Choose annotators.")})
    due = forms.DateField(
        required=False,
        label=gettext_lazy("To be finished by"),
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": gettext_lazy("A day is expected, such as 2030-12-31.")},
    )
    seed = forms.IntegerField(initial=1, min_value=0, max_value=2**31 - 1)

    def __init__(self, data: Mapping[str, Any] | None = None, *, project: Project) -> None:
        super().__init__(data)
        self.fields["stories"].queryset = project.stories.all()
        self._roles = dict(project.memberships.values_list("user_id", "role"))
        people = self.fields["annotators"]
        people.queryset = User.objects.filter(memberships__project=project).order_by("username")
        people.initial = [pk for pk, role in self._roles.items() if role == Role.ANNOTATOR]

    @property
    def people(self) -> list[dict[str, Any]]:
        """Each member as `user`, their `role`, and whether they are `chosen`; annotators come first, and are chosen
        before anybody chooses."""
        chosen = {str(pk) for pk in self["annotators"].value() or ()}
        rows = [
            {"user": user, "role": Role(self._roles[user.pk]), "chosen": str(user.pk) in chosen}
            for user in self.fields["annotators"].queryset
            if user.pk in self._roles
        ]
        return sorted(rows, key=lambda row: (row["role"].rank, row["user"].username))

    @property
    def members(self) -> set[int]:
        """The ids of the project's members."""
        return set(self._roles)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("scope") == "chosen" and not cleaned.get("stories"):
            self.add_error("scope", gettext_lazy("Tick at least one story, or choose all that the filter shows."))
        return cleaned
