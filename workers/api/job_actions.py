"""Actions on a job by a request, whatever the job is of."""

from collections.abc import Callable
from typing import TypeVar

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from core.api.bodies import read_body
from core.api.description import path_parameter
from core.api.errors import CannotBeDone
from workers.api.shapes import ActionIn
from workers.services.jobs import ACTIONS, JobRefused

Body = TypeVar("Body", bound=ActionIn)


def action_of(what: str) -> OpenApiParameter:
    """Return the parameter of an address that names the action on `what`."""
    return path_parameter("action", f"What is done to the {what}.", {"type": "string", "enum": list(ACTIONS)})


def why_refused(what: str) -> dict[int, tuple[str, str]]:
    """Return what the description says of an action that does not fit."""
    finished = f"The {what} is finished; expected paused to resume it."
    return {422: (f"The {what} is in another state, or the budget is too small.", finished)}


def do_action(
    request: Request,
    action: str,
    do: Callable[[Body], None],
    shape: type[Body] = ActionIn,  # type: ignore[assignment]
) -> None:
    """Have `do` do the action, with the body. Raises Http404 for an unknown action, CannotBeDone for a refusal."""
    if action not in ACTIONS:
        raise Http404(f"There is no action {action}; expected {', '.join(ACTIONS)}.")
    body = read_body(request, shape)
    if body.budget and action != "resume":
        raise CannotBeDone({"budget": [f"A budget is for resume, not for {action}."]})
    try:
        do(body)
    except JobRefused as refusal:
        raise CannotBeDone(str(refusal)) from refusal
