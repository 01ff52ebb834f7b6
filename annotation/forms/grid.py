from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from annotation.forms.values import MESSAGE, REMARK
from annotation.models import FlagKind
from core.page_fields import LikeField


class CommentForm(forms.Form):
    text = LikeField(MESSAGE, widget=forms.Textarea({"rows": 3}), label=gettext_lazy("Comment"))


class FlagForm(forms.Form):
    kind = forms.ChoiceField(choices=FlagKind.choices, label=gettext_lazy("What should be done with it?"))
    remark = LikeField(REMARK, widget=forms.Textarea({"rows": 3}), label=gettext_lazy("Why"))
