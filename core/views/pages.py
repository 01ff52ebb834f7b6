"""Parts of views that every app has: contexts of templates, notices, files that are sent, views for programs."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.contrib.messages.storage.fallback import FallbackStorage
from django.http import StreamingHttpResponse

from core.catalogues.sentences import translated


class NoticeStorage(FallbackStorage):
    """Keeps notices in the language of the request that they are about: the next page is the same reader's."""

    def add(self, level: int, message: str, extra_tags: str | None = "") -> Any:
        return super().add(level, translated(message), extra_tags)


View = TypeVar("View", bound=Callable[..., object])


def in_english(view: View) -> View:
    """Have a view answer in English whatever the language of its reader: it sends a file of data."""
    view.in_english = True  # type: ignore[attr-defined]
    return view


def streamed(parts: Iterable[str] | Iterable[bytes], name: str, content_type: str) -> StreamingHttpResponse:
    """Return a file of this name, which is sent part by part as it is made."""
    response = StreamingHttpResponse(parts, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


Context = dict[str, Any]
"""Values that a template is given, by the names that it reads."""
