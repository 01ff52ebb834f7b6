"""The languages of the pages, and the translated texts of scripts."""

import json
import secrets
from datetime import datetime
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField, ModelChoiceField
from django.template.base import FilterExpression, Parser, Token, TokenType
from django.template.context import Context
from django.template.loader_tags import BLOCK_CONTEXT_KEY
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation.trans_real import DjangoTranslation, translation

from core import joints, wording
from core.catalogues.sentences import translated as translated_text
from core.joints import joint, listed
from core.plain import Json

register = template.Library()


@register.filter(is_safe=True)
def translated(text: Any) -> Any:
    """Return a text that code wrote in English, or each of several, in the language of the page; what is not text, or a
    name that somebody gave, as it is."""
    if isinstance(text, str):
        return translated_text(text)
    if isinstance(text, (list, tuple)):
        return [translated(part) for part in text]
    return text


@register.simple_tag
def in_words(mark: Json) -> str:
    """Return a row of a chart as it is read out, in the language of the page: `tiny: repaired 93.8 (78.1 to 98.5)`."""
    parts = [" ".join(filter(None, (_within(what), translated(value)))) for what, value in mark["descriptions"]]
    return joints.labelled(translated(mark["label"]), joints.joint(",").join(parts))


def _within(title: str) -> str:
    """Return a title as it stands within a sentence."""
    words = str(translated(title))
    return words.lower() if words == title else words


@register.filter
def spoken(field: BoundField) -> BoundField:
    """Return a field with what it offers in the language of the page; objects, and values that are shown as they are,
    keep their names."""
    if hasattr(field.field, "choices") and not isinstance(field.field, ModelChoiceField):
        widget = field.field.widget
        widget.choices = [(value, label if value == label else translated(label)) for value, label in widget.choices]
    return field


register.filter("listed", listed)


@register.filter
def sign(text: str) -> str:
    """Return a sign without the space that it brings, where a line of the template ends with it: `{{ "."|sign }}`."""
    return joint(text).rstrip()


class Joint(template.Node):
    """Writes the sign."""

    def __init__(self, sign: str) -> None:
        self.sign = sign

    def render(self, context: Context) -> str:
        return joint(self.sign)


@register.tag("joint")
def do_joint(parser: Parser, token: Token) -> Joint:
    """Write a sign between two parts: `{% joint ":" %}`. It brings its own space, so what is blank after it in the
    template is left out. Raises KeyError for a sign that no text is joined by."""
    sign = token.contents.removeprefix("joint ").strip('"')
    joint(sign)
    before = parser.tokens[-1] if parser.tokens else None
    if isinstance(before, Token) and before.token_type == TokenType.TEXT:
        before.contents = before.contents.lstrip()
    return Joint(sign)


HEADS = {
    "": '<th scope="col">{}</th>',
    "number": '<th scope="col" class="number">{}</th>',
    "hidden": '<th scope="col"><span class="visually-hidden">{}</span></th>',
}


class Heads(template.Node):
    """Writes the heads of columns, and around `rows`, where there are any, their table in a box that scrolls."""

    def __init__(self, heads: list[tuple[str, FilterExpression]], rows: template.NodeList | None = None) -> None:
        self.heads, self.rows = heads, rows

    def render(self, context: Context) -> SafeString:
        heads = SafeString("".join(format_html(HEADS[mark], head.resolve(context)) for mark, head in self.heads))
        if self.rows is None:
            return heads
        table = '<table class="table"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
        return format_html(f'<div class="table-scroll">{table}</div>', heads, self.rows.render(context))


@register.tag("columns")
@register.tag("heads")
def do_heads(parser: Parser, token: Token) -> Heads:
    """Write heads of columns: `{% heads _("Model") number _("Calls") %}`; `number` stands before that of a column of
    numbers, `hidden` before one that is only read out.

    `{% columns … %}<tr>…</tr>{% endcolumns %}` writes the table. `{% heads … %}` before its rows takes the heads that
    do not fit on the first line.
    """
    heads: list[tuple[str, FilterExpression]] = []
    name, *parts = token.split_contents()
    mark = ""
    for part in parts:
        if part in HEADS:
            mark = part
        else:
            heads.append((mark, parser.compile_filter(part)))
            mark = ""
    if name == "heads":
        return Heads(heads)
    rows = parser.parse(("endcolumns",))
    parser.delete_first_token()
    for further in [node for node in rows if isinstance(node, Heads) and node.rows is None]:
        rows.remove(further)
        heads += further.heads
    return Heads(heads, rows)


@register.simple_tag
def answer(text: str, name: str, more: str = "") -> SafeString:
    """Write what a model was asked or said, as it stands: a box that scrolls, called `name` to those who hear it."""
    box = '<pre class="answer{}{}" dir="auto" role="region" tabindex="0" aria-label="{}">{}</pre>'
    return format_html(box, " " * bool(more), more, name, text)


@register.simple_tag
def badge(text: Any, look: str = "") -> SafeString:
    """Write a state in few words; `look` is a class of colours in `static/credence.css`."""
    return format_html('<span class="badge{}{}">{}</span>', " badge-" * bool(look), look, text)


@register.simple_tag(takes_context=True)
def page_title(context: Context) -> SafeString:
    """Write the block `title` of the page once more: as its heading, where that says the same."""
    block = context.render_context[BLOCK_CONTEXT_KEY].get_block("title")
    return block.nodelist.render(context) if block else SafeString()


@register.inclusion_tag("components/time.html")
def moment(at: datetime | None) -> dict[str, datetime | None]:
    """Write a moment relative to now, with the absolute one on hover; a dash for none."""
    return {"at": at}


@register.simple_tag
def once() -> SafeString:
    return format_html('<input type="hidden" name="once" value="{}">', secrets.token_urlsafe(18))


FIRST_STRONG_ISOLATE, POP_DIRECTIONAL_ISOLATE = "\u2068", "\u2069"
_CONTROLS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Embeddings, overrides and isolates, which reach beyond the name that holds them (Unicode Annex 9, table of formatting
characters)."""


@register.filter(is_safe=True)
def isolate(name: str) -> str:
    """Keep the writing direction of a name to itself: without its own controls, and isolated where it is not plain
    ASCII."""
    text = name.translate(_CONTROLS)
    return text if text.isascii() else f"{FIRST_STRONG_ISOLATE}{text}{POP_DIRECTIONAL_ISOLATE}"


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
        translation(language)  # Django's own check of the language
        pages = DjangoTranslation(language, domain="djangojs", localedirs=list(map(str, settings.LOCALE_PATHS)))
        catalogue: Any = pages._catalog  # type: ignore[attr-defined]
        entries = [(text, catalogue[text]) for text in dict.fromkeys(catalogue.keys()) if text]
        forms: dict[str, list[str]] = {}  # by number
        for text, words in entries:
            if not isinstance(text, str):
                forms.setdefault(text[0], []).append(words)
        _kept[language] = {text: words for text, words in entries if isinstance(text, str)} | forms
    return json_script(_kept[language], "script-texts", encoder=_Short)


@register.filter
def counted(number: int, noun: str) -> str:
    """Return the number with its noun: `{{ 3|counted:"row" }}`, `{{ 3|counted:"copy,copies" }}`."""
    singular, _, plural = noun.partition(",")
    return wording.counted(number, singular, plural)
