"""Where operations of this app act; which errors they have lies in core.api.description."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter

from annotation.domain.formats import STREAMED
from workers.services.steering import ACTIONS

UID = r"^[a-z0-9]{12}$"
DIMENSION_KEY = r"^[a-z][a-z0-9_]{0,19}$"
DIMENSION_HELP = "Key of one of the project's dimensions, which the project's own address lists."


def _place(name: str, text: str, schema: dict) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **schema}, OpenApiParameter.PATH, description=text)


SLUG = _place("slug", "The project.", {"pattern": r"^[-a-zA-Z0-9_]+$", "maxLength": 60})
STORY = _place("story", "uid of the story.", {"pattern": UID})
PROPOSITION = _place("proposition", "uid of the proposition.", {"pattern": UID})
ROUND = _place("round", "uid of the round of suggestions.", {"pattern": UID})
ACTION = _place("action", "What is done to the round.", {"enum": list(ACTIONS)})
DIMENSION = _place("dimension", f"{DIMENSION_HELP} 404 for another.", {"pattern": DIMENSION_KEY})
EXPORT_FORMAT = _place("kind", "Format of the file.", {"enum": list(STREAMED)})
