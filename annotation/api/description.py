"""Path parameters of the operations of this app; their errors lie in core.api.description."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter

from annotation.domain.formats import STREAMED
from annotation.forms.votes import DIMENSION_HELP, DIMENSION_KEY, UID
from workers.services.jobs import ACTIONS


def _place(name: str, text: str, schema: dict) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **schema}, OpenApiParameter.PATH, description=text)


SLUG = _place("slug", "The project.", {"pattern": r"^[-a-zA-Z0-9_]+$", "maxLength": 60})
STORY = _place("story", "uid of the story.", {"pattern": UID})
PROPOSITION = _place("proposition", "uid of the proposition.", {"pattern": UID})
ROUND = _place("round", "uid of the round of suggestions.", {"pattern": UID})
ACTION = _place("action", "What is done to the round.", {"enum": list(ACTIONS)})
DIMENSION = _place("dimension", f"{DIMENSION_HELP} 404 for another.", {"pattern": DIMENSION_KEY})
EXPORT_FORMAT = _place("kind", "Format of the file.", {"enum": list(STREAMED)})
