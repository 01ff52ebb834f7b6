"""Files that a browser or a program keeps."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import StreamingHttpResponse


def streamed(parts: Iterable[str] | Iterable[bytes], name: str, content_type: str) -> StreamingHttpResponse:
    """Return a file of this name, which is sent part by part as it is made."""
    response = StreamingHttpResponse(parts, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
