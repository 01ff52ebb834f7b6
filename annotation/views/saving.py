"""Saving for the scripts of the grid, the editor and the pairs, which send again what was not answered."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import JsonResponse
from django.utils.translation import gettext

from annotation.access import UserRequest
from core.api.parsing import MAX_BYTES
from core.catalogues.sentences import translated
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from core.incoming.text import NotJson, json_of
from core.messages import Sentence, gettext_noop
from core.plain import plain

Changes = TypeVar("Changes", bound=Shape)


def saved(
    request: UserRequest,
    shape: type[Changes],
    save: Callable[[Changes], object],
    *,
    made: str,
    refused: type[Exception],
    **context: Any,
) -> JsonResponse:
    """Answer with what `save` returns for the posted changes, 400 with the sentence if they are not of their shape or
    `refused`. A browser may hold the unsent changes of somebody else who used it before: they name their annotator, and
    are refused under any other with 409; `made` says what was done ("made these votes")."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > MAX_BYTES:
        return _refused(Sentence("The request is larger than {max_bytes} kB.", max_bytes=MAX_BYTES // 1024))
    try:
        changes = shape.of(json_of(request.body), **context)
        if getattr(changes, "annotator", None) not in (None, request.user.pk):
            message = gettext("Somebody else {made}; {shown_name} is logged in here now.").format(
                made=made, shown_name=request.user.shown_name
            )
            return _refused(message, 409)
        return JsonResponse(plain(save(changes)))
    except NotJson as error:
        return _refused(error.message_for(gettext_noop("The request")))
    except (Misfit, refused) as error:
        return _refused(str(error))


def _refused(sentence: str, status: int = 400) -> JsonResponse:
    return JsonResponse({"error": translated(sentence)}, status=status)
