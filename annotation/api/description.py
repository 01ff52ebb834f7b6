"""Where operations of this app act; which errors they have lies in workers.api.description."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter

from annotation.domain.schema import SCHEMA
from workers.services.steering import ACTIONS

UID = r"^[a-z0-9]{12}$"


def _place(name: str, text: str, schema: dict) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **schema}, OpenApiParameter.PATH, description=text)


SLUG = _place("slug", "The project.", {"pattern": r"^[-a-zA-Z0-9_]+$", "maxLength": 60})
STORY = _place("story", "uid of the story.", {"pattern": UID})
PROPOSITION = _place("proposition", "uid of the proposition.", {"pattern": UID})
ROUND = _place("round", "uid of the round of suggestions.", {"pattern": UID})
ACTION = _place("action", "What is done to the round.", {"enum": list(ACTIONS)})
DIMENSION = _place("dimension", "Key of the dimension.", {"enum": list(SCHEMA.keys)})
EXPORT_FORMAT = _place("kind", "Format of the file.", {"enum": ["omnitom", "long-csv"]})
