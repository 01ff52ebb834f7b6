from __future__ import annotations

from django import forms

from annotation.domain.schema import SCHEMAS
from annotation.models import ErrorTag, Project


class QueueFilter(forms.Form):
    status = forms.ChoiceField(
        required=False,
        choices=[
            ("todo", "To decide"),
            ("open", "Open"),
            ("disturbed", "Votes changed since"),
            ("adjudicated", "Adjudicated"),
            ("majority", "Majority"),
            ("all", "All with all votes"),
        ],
    )
    dimension = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    split = forms.ChoiceField(required=False)
    text = forms.CharField(required=False, max_length=100, label="Actor or belief")
    pair = forms.CharField(required=False, max_length=90, widget=forms.HiddenInput)

    def __init__(self, data, *, project: Project) -> None:
        super().__init__(data)
        schema = SCHEMAS[project.schema_version]
        self.fields["dimension"].choices = [("", "All"), *((one.key, one.name) for one in schema.dimensions)]
        for name, rows in (("split", project.splits), ("category", project.categories)):
            names = list(rows.values_list("name", flat=True))
            self.fields[name].choices = [("", "All"), *((one, one) for one in names)]

    @property
    def chosen(self) -> dict[str, str]:
        found = {name: value for name, value in (self.cleaned_data if self.is_valid() else {}).items() if value}
        return {"status": "todo"} | found


class DecisionForm(forms.Form):
    label = forms.CharField(max_length=40)
    revision = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    reason = forms.CharField(required=False, max_length=2000)
    error_tag = forms.ChoiceField(required=False, choices=[("", "–"), *ErrorTag.choices])
    guideline_flag = forms.BooleanField(required=False)


class OutcomeForm(forms.Form):
    outcome = forms.ChoiceField(choices=[("accepted", "Accept"), ("declined", "Decline")])
    text = forms.CharField(required=False, max_length=2000, label="Answer")


class ReplyForm(forms.Form):
    text = forms.CharField(max_length=4000, widget=forms.Textarea({"rows": 2}), label="Reply")
