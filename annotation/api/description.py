"""Descriptions of the operations on a project: their path parameters and the reasons for refusals."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiExample, extend_schema

from annotation.domain.formats import STREAMED
from annotation.forms.votes import DIMENSION_HELP, DIMENSION_KEY, UID
from core.api.description import BODY, Why, path_parameter
from core.api.description import answers as core_answers
from core.incoming.shapes import Shape
from workers.api.job_actions import action_of

Method = TypeVar("Method", bound=Callable[..., Any])
_UID = {"type": "string", "pattern": UID}
SLUG = path_parameter("slug", "The project.", {"type": "string", "pattern": r"^[-a-zA-Z0-9_]+$", "maxLength": 60})
STORY = path_parameter("story", "uid of the story.", _UID)
PROPOSITION = path_parameter("proposition", "uid of the proposition.", _UID)
FLAG = path_parameter("flag", "uid of the flag.", _UID)
INVITATION = path_parameter("invitation", "Number of the invitation.", {"type": "integer", "minimum": 1})
ROUND = path_parameter("round", "uid of the round of suggestions.", _UID)
ACTION = action_of("round")
DIMENSION = path_parameter(
    "dimension", f"{DIMENSION_HELP} 404 for another.", {"type": "string", "pattern": DIMENSION_KEY}
)
EXPORT_FORMAT = path_parameter("kind", "Format of the file.", {"type": "string", "enum": list(STREAMED)})
_WHY = {
    403: ("Your role in the project is too low.", "This needs the role expert in Minds."),
    404: ("It is not there, or not yours to see.", "There is no such project, or you are not a member of it."),
    409: (
        "The cell changed since you saw it.",
        "Meanwhile Esi decided this cell: True, on 5 October 2026 at 09:30 UTC.",
    ),
    422: ("Well-formed, and refused by the project's rules.", "The votes of this cell are not all in yet."),
}
_A_FIELD = {"label": ["'7' is not a label of order; expected one of 0, 1, 2, 3."]}


def answers(success: object, *errors: int, status: int = 200, why: Why | None = None) -> dict[int, object]:
    """Return the responses of an operation on a project, with examples of a project's refusals."""
    return core_answers(success, *errors, status=status, why=_WHY | dict(why or {}), fields=_A_FIELD)


def operation(
    name: str,
    tag: str,
    *parameters: Any,
    answer: object,
    errors: Sequence[int] = (),
    body: type[Shape] | None = None,
    examples: Mapping[str, object] | None = None,
    status: int = 200,
    why: Why | None = None,
) -> Callable[[Method], Method]:
    """Describe an operation on the project of its address. `examples` are those of the `body`, by their name."""
    described: dict[str, Any] = {"request": {"application/json": body}} if body else {}
    if examples:
        described["examples"] = [
            OpenApiExample(title, value=value, request_only=True) for title, value in examples.items()
        ]
    responses = answers(answer, *errors, *(BODY if body else ()), status=status, why=why)
    decorate: Callable[[Method], Method] = extend_schema(
        operation_id=name, tags=[tag], parameters=[SLUG, *parameters], responses=responses, **described
    )
    return decorate
