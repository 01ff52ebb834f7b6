import math
from collections.abc import Sequence
from typing import Any

from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm
from django.forms import BaseForm, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse, reverse_lazy

from annotation.forms.people import WRONG, ResetForm
from annotation.models import User
from annotation.models.landing import landing_of
from annotation.services.log_in_limits import (
    Limit,
    begin_attempt,
    limits_of,
    limits_of_reset,
    note_success,
    take_back,
    wait_of,
)


class CountedLogIn(AuthenticationForm):
    """Log-in form that counts each guess under the name that the authentication backend looks up.

    That name is what the field makes of the typed one: without surrounding blanks and in Unicode's form NFKC. The typed
    one would give every spelling a count of its own. A form that lacks a field guesses nothing and counts for nothing.
    """

    limits: Sequence[Limit] = ()
    wait = 0
    """Seconds to wait before the next attempt; the password was not looked at."""

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if not (given.get("username") and given.get("password")):
            return given
        assert self.request, "the view gives it"
        self.limits = limits_of(self.request, given["username"])
        if wait := begin_attempt(self.limits):
            self.wait = wait
            raise ValidationError("")
        try:
            super().clean()
        except ValidationError:
            self.wait = wait_of(self.limits)
            raise
        take_back(self.limits)
        return given


class LogIn(auth.LoginView):
    form_class = CountedLogIn
    redirect_authenticated_user = True

    def get_redirect_url(self, *args: Any, **kwargs: Any) -> str:
        """Return the page that was asked for before; whoever typed the bare address asked for none."""
        address = super().get_redirect_url(*args, **kwargs)
        return "" if address == reverse("annotation:home") else address

    def get_default_redirect_url(self) -> str:
        assert isinstance(self.request.user, User), "asked for once logged in"
        page, slug = landing_of(self.request.user)
        return reverse(page, args=[slug] if slug else [])

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form: Any = self.get_form()
        if form.is_valid():
            response = self.form_valid(form)
            note_success(request, response, form.get_user())
            return response
        return _too_many(request, form.wait) if form.wait else self.form_invalid(form)


def _too_many(request: HttpRequest, wait: int) -> HttpResponse:
    answer = render(request, "429.html", {"minutes": math.ceil(wait / 60)}, status=429)
    answer["Retry-After"] = str(wait)
    return answer


def refuse_guess(request: HttpRequest, form: BaseForm, field: str) -> HttpResponse | None:
    """Count a wrong password in `field` as a wrong log-in of who is logged in; return the page that asks to wait where
    there were too many.

    The form is not looked at before it may be.
    """
    limits = limits_of(request, request.user.get_username())
    if wait := begin_attempt(limits):
        return _too_many(request, wait)
    if not form.has_error(field, WRONG):
        take_back(limits)
    elif wait := wait_of(limits):
        return _too_many(request, wait)
    return None


class PasswordChange(auth.PasswordChangeView):
    """Wrong guesses at the old password count as wrong log-ins do."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = self.get_form()
        if refusal := refuse_guess(request, form, "old_password"):
            return refusal
        return self.form_valid(form) if form.is_valid() else self.form_invalid(form)


class ResetRequest(auth.PasswordResetView):
    """Asking for a message about a forgotten password: the answer is the same for every e-mail address, and where too
    many were asked for, of which no further one is sent."""

    form_class = ResetForm

    def form_valid(self, form: Any) -> HttpResponse:
        if begin_attempt(limits_of_reset(self.request, form.cleaned_data["email"])):
            return HttpResponseRedirect(self.get_success_url())
        return super().form_valid(form)


class Reset(auth.PasswordResetConfirmView):
    """The choice of a password by the link of the mail; whoever has chosen one is logged in."""

    post_reset_login = True
    post_reset_login_backend = "django.contrib.auth.backends.ModelBackend"
    success_url = reverse_lazy("annotation:home")

    def form_valid(self, form: Any) -> HttpResponse:
        assert self.user, "the link names them"
        response = super().form_valid(form)
        note_success(self.request, response, self.user)
        return response
