"""Notices on the next page: `django.contrib.messages`."""

from __future__ import annotations

from typing import Any

from django.contrib.messages.storage.fallback import FallbackStorage

from core.catalogues.sentences import translated


class NoticeStorage(FallbackStorage):  # type: ignore[misc]  # Django has no types
    """Keeps notices in the language of the request that they are about: the next page is the same reader's."""

    def add(self, level: int, message: str, extra_tags: str = "") -> Any:
        return super().add(level, translated(message), extra_tags)
