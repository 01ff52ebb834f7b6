import math
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.forms import BaseForm, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from annotation.access import UserRequest
from annotation.forms.people import WRONG, AccountForm, ResetForm, SignUpForm, TokenForm
from annotation.models import Membership, Project, User
from annotation.services import people as service
from annotation.services.accounts import landing_of, make_token, page_in
from annotation.services.log_in_limits import (
    Limit,
    begin_attempt,
    limits_of,
    limits_of_reset,
    note_success,
    take_back,
    wait_of,
)
from annotation.services.people import (
    MemberAlready,
    NameTaken,
    PeopleError,
    accept_invitation,
    change_account,
    offers_more,
    open_invitation,
    sign_up,
)
from core.idempotency.forms import made_once, secret_for


def account(request: UserRequest) -> HttpResponse:
    form = AccountForm(request.POST or None, instance=request.user)
    if form.is_bound and form.asks_for_password and (refusal := refuse_guess(request, form, "password")):
        return refusal
    if request.method == "POST" and form.is_valid():
        change_account(
            by=request.user, display_name=form.cleaned_data["display_name"], email=form.cleaned_data["email"]
        )
        messages.success(request, gettext("Saved."))
        return redirect("account")
    return _account_page(request, form, TokenForm())


def _account_page(request: UserRequest, form: AccountForm, token_form: TokenForm) -> HttpResponse:
    context = {"form": form, "token_form": token_form, "tokens": request.user.api_tokens.all(), "now": timezone.now()}
    return render(request, "annotation/accounts/account.html", context)


@require_POST
def make_api_token(request: UserRequest) -> HttpResponse:
    """Make a new token, shown this once."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _account_page(request, AccountForm(instance=request.user), form)
    secret = secret_for(request)

    def make() -> str:
        token_row, _ = make_token(by=request.user, now=timezone.now(), secret=secret, **form.cleaned_data)
        return str(token_row.pk)

    token = request.user.api_tokens.filter(pk=made_once(request, make)).first()
    if token is None:
        messages.error(request, gettext("This token was made already, and has been revoked since."))
        return redirect("account")
    return render(request, "annotation/accounts/token.html", {"token": token, "secret": secret})


@require_POST
def end_api_token(request: UserRequest, pk: int) -> HttpResponse:
    request.user.api_tokens.filter(pk=pk).delete()
    messages.success(request, gettext("The token was taken away."))
    return redirect("account")


@login_not_required
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Show pages in another language from now on: to an account wherever it logs in, to others in this browser."""
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES) and request.user.is_authenticated:
        User.objects.filter(pk=request.user.pk).update(language=chosen)
    return set_language(request)


def _at_work(user: User, project: Project) -> HttpResponse:
    return redirect(page_in(project, user), project.slug)


@require_POST
def answer_invitation(request: UserRequest, invitation: int) -> HttpResponse:
    """Join the project of an invitation to one's own account, or decline it."""
    try:
        accepts = "accept" in request.POST
        membership = service.answer_invitation(by=request.user, pk=invitation, accepts=accepts, now=timezone.now())
    except PeopleError as error:
        messages.error(request, str(error))
        return redirect("annotation:home")
    if membership is None:
        messages.success(request, gettext("Declined. The project is not told."))
        return redirect("annotation:home")
    _welcome(request, membership)
    return _at_work(request.user, membership.project)


def _welcome(request: HttpRequest, membership: Membership) -> None:
    messages.success(
        request,
        gettext("You are {membership} in {name} now.").format(
            membership=membership.get_role_display().lower(), name=membership.project.name
        ),
    )


@login_not_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    now = timezone.now()
    try:
        invitation_row = open_invitation(token=token, now=now)
        if request.user.is_authenticated:
            offers_more(invitation=invitation_row, to=request.user)
        form = SignUpForm(request.POST or None, initial={"email": invitation_row.email})
        if request.method == "POST" and request.user.is_authenticated:
            membership = accept_invitation(by=request.user, token=token, now=now)
            _welcome(request, membership)
            return _at_work(request.user, invitation_row.project)
        if request.method == "POST" and form.is_valid():
            user = form.save(commit=False)
            sign_up(user=user, token=token, now=now)
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return _at_work(user, invitation_row.project)
    except NameTaken as error:
        form.add_error("username", str(error))
    except MemberAlready as error:
        context = {"problem": str(error), "member_of": invitation_row.project}
        return render(request, "annotation/accounts/invitation.html", context, status=409)
    except PeopleError as error:
        return render(request, "annotation/accounts/invitation.html", {"problem": str(error)}, status=410)
    return render(request, "annotation/accounts/invitation.html", {"invitation": invitation_row, "form": form})


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
