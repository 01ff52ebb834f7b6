"""The language of a page: that of the account, else that of the browser, chosen there or set in it.

Commands, logs and the API speak English, and so does a file that a view sends (`in_english`): programs read those.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.utils import translation


class ReadersLanguage(LocaleMiddleware):
    """Stands below what knows the user."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith("/api/"):
            _speak(request, settings.LANGUAGE_CODE)
            return
        super().process_request(request)  # also for the page that says that nobody can be looked up
        own = request.user.language if request.user.is_authenticated else ""
        if own in dict(settings.LANGUAGES):
            _speak(request, own)

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponse], *_: object) -> None:
        if getattr(view, "in_english", False):
            _speak(request, settings.LANGUAGE_CODE)


def _speak(request: HttpRequest, language: str) -> None:
    translation.activate(language)
    request.LANGUAGE_CODE = language
