"""The languages of the pages, and the translated texts of scripts."""

from __future__ import annotations

import json
from typing import Any

from django import template
from django.conf import settings
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation.trans_real import DjangoTranslation, translation

from core import wording

register = template.Library()


class _Short(json.JSONEncoder):
    """Writes letters as they are: `\\u65e0` takes twice the room."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "ensure_ascii": False})


_kept: dict[str, dict[str, str | list[str]]] = {}


@register.simple_tag
def languages() -> list[tuple[str, str]]:
    """Return the languages that can be chosen, each by its own name."""
    return list(settings.LANGUAGES)


@register.simple_tag
def script_texts() -> SafeString | str:
    """Return what scripts look their texts up in, as JSON in the page; nothing where they say them as written."""
    language = get_language() or settings.LANGUAGE_CODE
    if language == settings.LANGUAGE_CODE:
        return ""
    if language not in _kept:
        _kept[language] = _script_catalogue(language)
    return json_script(_kept[language], "script-texts", encoder=_Short)


def _script_catalogue(language: str) -> dict[str, str | list[str]]:
    """Return text → translation, or → the list of its forms by number, of the catalogue of scripts."""
    translation(language)  # Django's own check of the language
    pages = DjangoTranslation(language, domain="djangojs", localedirs=settings.LOCALE_PATHS)
    entries = [(text, pages._catalog[text]) for text in dict.fromkeys(pages._catalog.keys()) if text]
    forms: dict[str, list[str]] = {}
    for text, words in entries:
        if not isinstance(text, str):
            forms.setdefault(text[0], []).append(words)
    return {text: words for text, words in entries if isinstance(text, str)} | forms


@register.filter
def counted(number: int, noun: str) -> str:
    """Return the number with its noun: `{{ 3|counted:"row" }}`, `{{ 3|counted:"copy,copies" }}`."""
    singular, _, plural = noun.partition(",")
    return wording.counted(number, singular, plural)
