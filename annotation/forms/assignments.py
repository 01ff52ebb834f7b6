from __future__ import annotations

from django import forms

from annotation.models import Project, Story, User


class FilterForm(forms.Form):
    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    seats = forms.ChoiceField(
        required=False,
        label="Annotators",
        choices=[("", "All stories"), ("free", "Short of annotators"), ("full", "With all annotators")],
    )

    def __init__(self, data, *, project: Project) -> None:
        super().__init__(data)
        for name, rows in (("split", project.splits), ("category", project.categories)):
            names = list(rows.values_list("name", flat=True))
            self.fields[name].choices = [("", "All"), *((value, value) for value in names)]


class AssignForm(forms.Form):
    """The choice of stories (ticked ones, or all that the filter shows) and of the annotators that they go to, by the
    balanced rule."""

    scope = forms.ChoiceField(
        choices=[("chosen", "the stories ticked below"), ("all", "all stories that the filter shows")]
    )
    stories = forms.ModelMultipleChoiceField(Story.objects.none(), required=False, to_field_name="uid")
    annotators = forms.ModelMultipleChoiceField(
        User.objects.none(), widget=forms.CheckboxSelectMultiple, error_messages={"required": "Choose annotators."}
    )
    seed = forms.IntegerField(
        initial=1, min_value=0, max_value=2**31 - 1, help_text="The same seed gives the same plan."
    )

    def __init__(self, data=None, *, project: Project) -> None:
        super().__init__(data)
        self.fields["stories"].queryset = project.stories.all()
        people = self.fields["annotators"]
        people.queryset = User.objects.filter(memberships__project=project).order_by("username")
        people.label_from_instance = lambda user: user.shown_name

    def clean(self) -> dict:
        cleaned = super().clean()
        if cleaned.get("scope") == "chosen" and not cleaned.get("stories"):
            self.add_error("scope", "Tick at least one story, or choose all that the filter shows.")
        return cleaned
