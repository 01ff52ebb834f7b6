from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from annotation.access import UserRequest
from annotation.forms.people import AccountForm, SignUpForm, TokenForm
from annotation.models import Membership, Project, User
from annotation.models.landing import page_in
from annotation.services import people as service
from annotation.services.accounts import end_token, make_token
from annotation.services.people import (
    MemberAlready,
    NameTaken,
    PeopleError,
    accept_invitation,
    change_account,
    choose_language,
    offers_more,
    open_invitation,
    sign_up,
)
from annotation.views.log_in import refuse_guess
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
    end_token(by=request.user, pk=pk)
    messages.success(request, gettext("The token was taken away."))
    return redirect("account")


@login_not_required
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Show pages in another language from now on: to an account wherever it logs in, to others in this browser."""
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES) and request.user.is_authenticated:
        choose_language(by=request.user, language=chosen)
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
