from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import FlagKind


class CommentForm(forms.Form):
    text = forms.CharField(max_length=4000, widget=forms.Textarea({"rows": 3}), label=gettext_lazy("Comment"))


class FlagForm(forms.Form):
    kind = forms.ChoiceField(choices=FlagKind.choices, label=gettext_lazy("What should be done with it?"))
    remark = forms.CharField(max_length=2000, widget=forms.Textarea({"rows": 3}), label=gettext_lazy("Why"))
