from __future__ import annotations

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm

from annotation.models import Role, User


class InviteForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    email = forms.EmailField(required=False, label="For whom", help_text="An e-mail address, to know the link by.")


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class SignUpForm(BaseUserCreationForm):
    class Meta:
        model = User
        fields = ("username", "display_name", "email")
        labels = {"display_name": "Name that others see"}


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("display_name", "email")
        labels = {"display_name": "Name that others see"}
