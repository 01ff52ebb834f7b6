"""Path parameters and files of the operations of this app; their errors lie in annotation.api.description."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.renderers import BaseRenderer, JSONRenderer

from annotation.api.description import SLUG, answers
from annotation.forms.votes import UID
from core.api.description import path_parameter
from workers.api.job_actions import action_of

__all__ = ["ACTION", "FILES", "ITEM", "NO_ACCESS", "RUN", "SLUG", "TABLE", "VERSION", "answers_in"]


VERSION = path_parameter("version", "Number of the version.", {"type": "integer", "minimum": 1})
RUN = path_parameter("run", "uid of the run.", {"type": "string", "pattern": UID})
ITEM = path_parameter("item", "Number of the item.", {"type": "integer", "minimum": 1})
ACTION = action_of("run")
TABLE = path_parameter("table", "Name of the table.", {"type": "string", "pattern": r"^[-a-zA-Z0-9_]+$"})
NO_ACCESS = {
    403: (
        (
            "The project does not show results of models to you, your role is too low, or you still have work to "
            "do on what it tells of."
        ),
        "Minds shows results of models to admins only.",
    )
}


class CSV(BaseRenderer):
    """Media type for content negotiation alone: the view writes the file."""

    media_type = "text/csv"
    format = "csv"


class LaTeX(BaseRenderer):
    """Media type of a LaTeX table for content negotiation alone: the view writes the file."""

    media_type = "application/x-tex"
    format = "tex"


FILES = (JSONRenderer, CSV, LaTeX)
"""The formats in which tables are written: `?format=`, or the Accept header."""


def answers_in(
    files: Mapping[str, str], success: object, *errors: int, why: Mapping[int, tuple[str, str]] | None = None
) -> dict[Any, object]:
    """The responses of an operation that answers JSON of the shape `success`, or a file of one of the media types of
    `files`, each with a sentence."""
    described = answers(success, *errors, why=why)
    texts = {(200, media): OpenApiResponse(OpenApiTypes.STR, sentence) for media, sentence in files.items()}
    return {(code, "application/json"): answer for code, answer in described.items()} | texts
