from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.forms.filters import PartsFilter
from annotation.forms.ticked import TickedRows
from annotation.models import Project, Role, User
from annotation.models.table_queue import STATES
from core.page_fields import PageForm


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
