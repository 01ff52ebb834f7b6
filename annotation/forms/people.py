import re
from threading import Thread
from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm, PasswordResetForm
from django.utils.translation import get_language, gettext_lazy, override

from annotation.forms.values import EMAIL
from annotation.models import Role, Scope, User
from annotation.services.accounts import checked_name
from core.messages import gettext_noop
from core.page_fields import PageForm

# Embeddings, overrides and isolates, with what ends them: they turn the text around a name too (Unicode, annex 9).
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def refuse_bidi_controls(name: str) -> None:
    """A validator of names. Raises ValidationError."""
    if _BIDI & set(name):
        raise forms.ValidationError(
            gettext_lazy(
                "This name holds invisible characters that change the direction of text; type it without them."
            )
        )


MOST_INVITED = 50
WRONG = "password_incorrect"
"""The code of an error of a form: the password that was typed is not that of the account. Django's own forms have the
same."""


class InviteForm(PageForm):
    """Form of who is invited: `emails` get a link each, and the accounts of `usernames` are asked when they log in;
    where nobody is named, `links` are made for anyone. Which accounts exist is not looked up."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    people = forms.CharField(
        required=False,
        max_length=10_000,
        label=gettext_lazy("For whom"),
        help_text=gettext_lazy(
            "E-mail addresses, to know the links by, or user names of accounts here, which are asked when they log in; "
            "one a line."
        ),
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "autocomplete": "off"}),
    )
    links = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_INVITED,
        label=gettext_lazy("Links"),
        help_text=gettext_lazy("How many, where nobody is named; each works once."),
    )

    def clean_people(self) -> list[str]:
        names = [name for name in re.split(r"[\s,;]+", self.cleaned_data["people"]) if name]
        if len(names) > MOST_INVITED:
            raise forms.ValidationError(
                gettext_lazy("These are {count}; at most {most} at a time.").format(count=len(names), most=MOST_INVITED)
            )
        return list(dict.fromkeys(names))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        names = cleaned.get("people") or []
        cleaned["emails"] = [name for name in names if not EMAIL.sentence_on(name)]
        cleaned["usernames"] = [name for name in names if name not in cleaned["emails"]]
        for name in cleaned["usernames"]:
            try:
                fits = "@" not in name and bool(checked_name(name))  # one with an @ is a misspelt e-mail address
            except ValueError:
                fits = False
            if not fits:
                refusal = gettext_lazy("{name} is neither an e-mail address nor a user name.")
                self.add_error("people", refusal.format(name=name[:60]))
        if not names:
            cleaned["emails"] = [""] * (cleaned.get("links") or 1)
        return cleaned


class RoleForm(PageForm):
    role = forms.ChoiceField(choices=Role.choices)


class SignUpForm(BaseUserCreationForm):  # type: ignore[type-arg]  # it takes none while the program runs
    class Meta:
        model = User
        fields = ("username", "display_name", "email")
        labels = {"display_name": gettext_lazy("Name that others see")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["display_name"].validators.append(refuse_bidi_controls)

    def clean_username(self) -> str:
        name = self.cleaned_data["username"]
        if not any(character.isalnum() for character in name):
            raise forms.ValidationError(gettext_lazy("A user name needs a letter or a digit."))
        return name


class ResetForm(PasswordResetForm):
    """Sends its message after the answer: how long a mail server takes would tell which e-mail addresses have an
    account."""

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        language = get_language()

        def send() -> None:
            with override(language):
                super(ResetForm, self).send_mail(*args, **kwargs)

        Thread(target=send, name="password reset").start()


class AccountForm(forms.ModelForm):  # type: ignore[type-arg]  # it takes none while the program runs
    """A new e-mail address asks for the password: it is where a forgotten one is sent to."""

    password = forms.CharField(
        required=False,
        strip=False,
        label=gettext_lazy("Your password"),
        help_text=gettext_lazy("Only to change the e-mail address."),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    class Meta:
        model = User
        fields = ("display_name", "email")
        labels = {"display_name": gettext_lazy("Name that others see")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["display_name"].validators.append(refuse_bidi_controls)

    def clean(self) -> dict[str, Any]:
        super().clean()
        given = self.cleaned_data
        password = given.get("password", "")
        if self.asks_for_password and not self.instance.check_password(password):
            refusal = gettext_lazy("To change the e-mail address, type the password that you log in with.")
            self.add_error("password", forms.ValidationError(refusal, code=WRONG if password else "required"))
        return given

    @property
    def asks_for_password(self) -> bool:
        return "email" in self.changed_data


class TokenForm(PageForm):
    name = forms.CharField(max_length=60, label=gettext_lazy("What it is for"))
    scope = forms.ChoiceField(choices=Scope.choices, initial=Scope.READ, label=gettext_lazy("It may"))
    days = forms.TypedChoiceField(
        choices=[
            ("30", gettext_noop("in 30 days")),
            ("90", gettext_noop("in 90 days")),
            ("365", gettext_lazy("in a year")),
            ("", gettext_noop("never")),
        ],
        initial="90",
        required=False,
        coerce=int,
        empty_value=None,
        label=gettext_lazy("It ends"),
    )
