"""What scripts say, in both languages: every text of every script, by the `gettext` and `ngettext` of the page."""

from pathlib import Path

import pytest
from django.conf import settings

from core.catalogues.extraction import Text, script_texts
from core.catalogues.files import translated
from tests.catalogues import of_all_apps, placeholders

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

IN_PAGE = """(texts) => texts.map(([one, several, values]) => several
  ? [1, 2, 0].map((count) => ngettext(one, several, count, values)) : [gettext(one, values)])"""
"""What a page says of each text, of one with a number for one thing, two, and none."""


def of_scripts() -> list[Text]:
    files = Path(settings.BASE_DIR, "static").rglob("*.js")
    return sorted({text for path in files for text in script_texts(path.read_text("utf-8"))})


def values_of(text: Text) -> dict[str, str]:
    """A value for each place; the number is put in by `ngettext` itself."""
    names = {name.strip("{}") for name in placeholders(text.singular + text.plural)}
    return {name: f"<{name}>" for name in names - ({"count"} if text.plural else set())}


def filled(form: str, text: Text, count: int) -> str:
    return form.format(**{"count": count, **values_of(text)})


def said(page, language: str) -> dict[Text, list[str]]:
    page.context.set_extra_http_headers({"Accept-Language": language})
    page.goto("/login/")
    asked = of_scripts()
    words = page.evaluate(IN_PAGE, [[one.singular, one.plural, values_of(one)] for one in asked])
    return dict(zip(asked, words, strict=True))


def test_scripts_say_every_text_in_english_and_whole_in_chinese(page):
    found, catalogue = said(page, "en-GB"), of_all_apps("zh_Hans", "djangojs")
    assert sum(bool(text.plural) for text in found) > 10
    for text, words in found.items():
        forms = [(text.singular, 1), (text.plural, 2), (text.plural, 0)] if text.plural else [(text.singular, 0)]
        assert words == [filled(form, text, count) for form, count in forms], text
    for text, words in said(page, "zh-CN").items():
        form = translated(catalogue[text])[0]
        assert words == [filled(form, text, count) for count in ((1, 2, 0) if text.plural else (0,))], text
