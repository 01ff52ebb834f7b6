from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Method, Project
from core.page_fields import PageForm


class PartsFilter(PageForm):
    """Filters by the splits and the categories of a project's stories."""

    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)

    def __init__(self, data: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(data)
        for name, rows in (("split", project.splits), ("category", project.categories)):
            names = list(rows.values_list("name", flat=True))
            self.fields[name].choices = [("", gettext_lazy("All")), *((value, value) for value in names)]


class GoldLogFilter(PageForm):
    """Filters of the history of gold."""

    by = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Changed by"),
        choices=[
            ("", gettext_lazy("All")),
            ("decision", gettext_lazy("Decisions")),
            ("rule", gettext_lazy("The rule, on votes")),
        ],
    )
    who = forms.CharField(
        required=False,
        max_length=150,
        label=gettext_lazy("Who"),
        widget=forms.TextInput({"placeholder": gettext_lazy("user name")}),
    )
    story = forms.IntegerField(required=False, label=gettext_lazy("Story"), min_value=-(2**63), max_value=2**63 - 1)
    dimension = forms.ChoiceField(required=False)
    method = forms.ChoiceField(
        required=False, label=gettext_lazy("Became"), choices=[("", gettext_lazy("All")), *Method.choices]
    )
    reason = forms.CharField(required=False, max_length=100, label=gettext_lazy("Words of the reason"))

    def __init__(self, data: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(data)
        dimensions = ((dimension.key, gettext(dimension.name)) for dimension in project.schema.dimensions)
        self.fields["dimension"].choices = [("", gettext_lazy("All")), *dimensions]

    @property
    def chosen(self) -> dict[str, Any]:
        """The filters in force; a field that could not be read filters nothing."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}
