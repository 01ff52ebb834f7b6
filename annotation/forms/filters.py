from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Project


class PartsFilter(forms.Form):
    """Filters by the splits and the categories of a project's stories."""

    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)

    def __init__(self, data, *, project: Project) -> None:
        super().__init__(data)
        for name, rows in (("split", project.splits), ("category", project.categories)):
            names = list(rows.values_list("name", flat=True))
            self.fields[name].choices = [("", gettext_lazy("All")), *((value, value) for value in names)]
