from __future__ import annotations

from django import forms

from annotation.models import FlagKind


class CommentForm(forms.Form):
    text = forms.CharField(max_length=4000, widget=forms.Textarea({"rows": 3}), label="Comment")


class FlagForm(forms.Form):
    kind = forms.ChoiceField(choices=FlagKind.choices, label="What should be done with it?")
    remark = forms.CharField(max_length=2000, widget=forms.Textarea({"rows": 3}), label="Why")
