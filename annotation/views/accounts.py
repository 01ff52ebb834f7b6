from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST
from rest_framework.authtoken.models import Token

from annotation.forms.people import AccountForm, SignUpForm
from annotation.services.people import NameTaken, PeopleError, accept_invitation, open_invitation, sign_up


def account(request: HttpRequest) -> HttpResponse:
    form = AccountForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("account")
    has_token = Token.objects.filter(user=request.user).exists()
    return render(request, "annotation/accounts/account.html", {"form": form, "has_token": has_token})


@require_POST
def api_token(request: HttpRequest) -> HttpResponse:
    """Makes a new token, shown this once, or takes the old one away."""
    Token.objects.filter(user=request.user).delete()
    token = Token.objects.create(user=request.user) if "create" in request.POST else None
    if token is None:
        messages.success(request, "The token was taken away.")
        return redirect("account")
    return render(request, "annotation/accounts/token.html", {"token": token.key})


@login_not_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    now = timezone.now()
    try:
        found = open_invitation(token=token, now=now)
        form = SignUpForm(request.POST or None, initial={"email": found.email})
        if request.method == "POST" and request.user.is_authenticated:
            accept_invitation(by=request.user, token=token, now=now)
            return redirect("annotation:project", found.project.slug)
        if request.method == "POST" and form.is_valid():
            user = form.save(commit=False)
            sign_up(user=user, token=token, now=now)
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return redirect("annotation:project", found.project.slug)
    except NameTaken as error:
        form.add_error("username", str(error))
    except PeopleError as error:
        return render(request, "annotation/accounts/invitation.html", {"problem": str(error)}, status=410)
    return render(request, "annotation/accounts/invitation.html", {"invitation": found, "form": form})
