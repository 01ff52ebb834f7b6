"""JSON that the scripts of the grid, the editor and the lanes post, read by one function."""

from __future__ import annotations

from typing import Any, TypeVar

from django.http import HttpRequest

from core.api.parsing import MAX_BYTES
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from core.incoming.text import NotJson, json_of
from core.messages import Sentence, gettext_noop

Posted = TypeVar("Posted", bound=Shape)


class NotRead(ValueError):
    """Refusal of a posted body that is not of its shape; the message is one sentence."""


def posted(request: HttpRequest, shape: type[Posted], **context: Any) -> Posted:
    """Return what a script posted; `context` is what the checks of the shape need to know. Raises NotRead with the
    first thing that is wrong with it."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > MAX_BYTES:
        raise NotRead(Sentence("The request is larger than {max_bytes} kB.", max_bytes=MAX_BYTES // 1024))
    try:
        return shape.of(json_of(request.body), **context)
    except NotJson as error:
        raise NotRead(error.message_for(gettext_noop("The request"))) from error
    except Misfit as error:
        raise NotRead(str(error)) from error
