"""Access to endpoints, the ledger and the workers, which belong to the site: for the site admin alone."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

View = Callable[..., HttpResponse]
ONLY_SITE_ADMIN = "Only the site admin sees models, calls and workers."


def site_admin(view: View) -> View:
    """Let only the site admin open a view; anybody else gets PermissionDenied."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_superuser:
            raise PermissionDenied(ONLY_SITE_ADMIN)
        return view(request, *args, **kwargs)

    return guarded
