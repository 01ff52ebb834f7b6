from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.forms.people import InviteForm, RoleForm
from annotation.models import Role
from annotation.services import people as service
from annotation.services.progress import Progress, imported_annotators_of
from core.idempotency.forms import made_once, secret_for
from core.wording import counted


def people(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    form, invited = InviteForm(request.POST or None), None
    if request.method == "POST" and form.is_valid():
        invited = _invited(request, access, form)
        form = InviteForm()
    assignments = Progress(access.project).assignments()
    members = access.project.memberships.select_related("user")
    context = {
        "members": [{"membership": row, "assignments": assignments[row.user_id]} for row in members],
        "invitations": access.project.invitations.select_related("created_by", "accepted_by")[:50],
        "imported": imported_annotators_of(access.project),
        "form": form,
        "invited": invited,
        "roles": Role.choices,
        "now": timezone.now(),
    }
    return render(request, "annotation/people/people.html", access.context | context)


def _invited(request: UserRequest, access: ProjectAccess, form: InviteForm) -> dict[str, Any]:
    """Return the links, with whom each is for, the names that were asked, and those of members; also for a second
    press."""
    role, secret, chosen = Role(form.cleaned_data["role"]), secret_for(request), form.cleaned_data
    members = service.members_named(access.project, chosen["usernames"])
    asked = [name for name in chosen["usernames"] if name not in members]
    links = [
        (email, salted_hmac("invitation", f"{secret} {at}", algorithm="sha256").hexdigest()[:40])
        for at, email in enumerate(chosen["emails"])
    ]

    def make() -> str:
        with transaction.atomic():
            given: dict[str, Any] = {"by": request.user, "project": access.project, "role": role, "now": timezone.now()}
            for name in asked:
                service.invite_account(username=name, **given)
            made = [service.invite(email=email, token=token, **given) for email, token in links]
        return " ".join(str(invitation.pk) for invitation, _ in made)

    made_once(request, make)
    addresses = [(email, request.build_absolute_uri(reverse("invitation", args=[token]))) for email, token in links]
    return {"links": addresses, "asked": asked, "members": sorted(members)}


@require_POST
def change_role(request: UserRequest, slug: str, membership: int) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    row = get_object_or_404(access.project.memberships.select_related("user", "project"), pk=membership)
    form = RoleForm(request.POST)
    try:
        if "remove" in request.POST:
            freed = service.remove_member(
                by=request.user,
                membership=row,
                now=timezone.now(),
                release_unfinished="release_unfinished" in request.POST,
            )
            if freed:
                messages.success(
                    request,
                    gettext("{name} is no longer a member; {assignments} released.").format(
                        name=row.user.shown_name, assignments=counted(freed, "assignment")
                    ),
                )
        elif form.is_valid():
            service.change_role(by=request.user, membership=row, role=Role(form.cleaned_data["role"]))
    except service.PeopleError as error:
        messages.error(request, str(error))
    return redirect("annotation:people", slug)


@require_POST
def revoke(request: UserRequest, slug: str, invitation: int) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    row = get_object_or_404(access.project.invitations, pk=invitation)
    service.revoke_invitation(by=request.user, invitation=row, now=timezone.now())
    return redirect("annotation:people", slug)
