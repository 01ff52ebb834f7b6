"""Saving for the scripts of the grid, the editor and the lanes, which send again what was not answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext

from annotation.forms.posted import NotRead, posted
from core.catalogues.sentences import translated
from core.incoming.shapes import Shape
from core.plain import plain

Changes = TypeVar("Changes", bound=Shape)


@dataclass(frozen=True, slots=True)
class SavedChanges:
    """What is answered for each change, in their order, and warnings by row."""

    saved: Sequence[object]
    warnings: Mapping[str, Sequence[object]] = field(default_factory=dict)


def saved(
    request: HttpRequest,
    shape: type[Changes],
    save: Callable[[Changes], object],
    *,
    made: str,
    refused: type[Exception],
    **context: Any,
) -> JsonResponse:
    """Answer with what `save` returns for the changes of that shape, 400 with the sentence where they are not read or
    `refused`. A browser may hold the unsent changes of somebody else who used it before: they name their annotator, and
    are refused under any other with 409; `made` says what was done ("made these votes")."""
    try:
        changes = posted(request, shape, **context)
        if getattr(changes, "annotator", None) not in (None, request.user.pk):
            message = gettext("Somebody else {made}; {shown_name} is logged in here now.").format(
                made=made, shown_name=request.user.shown_name
            )
            return JsonResponse({"error": message}, status=409)
        return JsonResponse(plain(save(changes)))
    except (NotRead, refused) as error:
        return JsonResponse({"error": translated(str(error))}, status=400)


@dataclass(frozen=True, slots=True)
class CellFragment:
    """A cell as the page shows it then, empty where the expert still labels its story."""

    proposition: str
    dimension: str
    html: str


@dataclass(frozen=True, slots=True)
class SavedCell(CellFragment):
    """A cell that was saved, by the key and the time of its change."""

    idempotency_key: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class DecidedCell:
    """A cell with the revision of its gold label."""

    proposition: str
    dimension: str
    revision: int


@dataclass(frozen=True, slots=True)
class LastAction:
    """The cells that an expert's last action decided, which is taken back at `url`; `label`, `story` and `dimension`
    are those of the first."""

    cells: Sequence[DecidedCell]
    label: str
    story: int
    dimension: str
    url: str
