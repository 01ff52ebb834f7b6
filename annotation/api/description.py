"""Path parameters of the operations on a project, and why these are refused."""

from __future__ import annotations

from annotation.domain.formats import STREAMED
from annotation.forms.votes import DIMENSION_HELP, DIMENSION_KEY, UID
from core.api.description import Why, path_parameter
from core.api.description import answers as core_answers
from workers.api.job_actions import action_of

SLUG = path_parameter("slug", "The project.", {"type": "string", "pattern": r"^[-a-zA-Z0-9_]+$", "maxLength": 60})
STORY = path_parameter("story", "uid of the story.", {"type": "string", "pattern": UID})
PROPOSITION = path_parameter("proposition", "uid of the proposition.", {"type": "string", "pattern": UID})
FLAG = path_parameter("flag", "uid of the flag.", {"type": "string", "pattern": UID})
INVITATION = path_parameter("invitation", "Number of the invitation.", {"type": "integer", "minimum": 1})
ROUND = path_parameter("round", "uid of the round of suggestions.", {"type": "string", "pattern": UID})
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
    """The responses of an operation on a project: as `core.api.description.answers`, with what projects say."""
    return core_answers(success, *errors, status=status, why=_WHY | dict(why or {}), fields=_A_FIELD)
