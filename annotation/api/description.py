"""Path parameters of the operations of this app; their errors lie in core.api.description."""

from __future__ import annotations

from annotation.domain.formats import STREAMED
from annotation.forms.votes import DIMENSION_HELP, DIMENSION_KEY, UID
from core.api.description import place
from workers.api.steering import action_of

SLUG = place("slug", "The project.", {"type": "string", "pattern": r"^[-a-zA-Z0-9_]+$", "maxLength": 60})
STORY = place("story", "uid of the story.", {"type": "string", "pattern": UID})
PROPOSITION = place("proposition", "uid of the proposition.", {"type": "string", "pattern": UID})
ROUND = place("round", "uid of the round of suggestions.", {"type": "string", "pattern": UID})
ACTION = action_of("round")
DIMENSION = place("dimension", f"{DIMENSION_HELP} 404 for another.", {"type": "string", "pattern": DIMENSION_KEY})
EXPORT_FORMAT = place("kind", "Format of the file.", {"type": "string", "enum": list(STREAMED)})
