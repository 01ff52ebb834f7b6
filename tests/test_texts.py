"""Pages speak English and Chinese: every text goes through gettext, and every catalogue is whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.template.base import Lexer, TokenType

from core.catalogues.extraction import Text, python_texts, script_texts, template_texts
from core.catalogues.files import (
    LOCALES,
    compile_all,
    entries,
    faults,
    path_of,
    placeholders,
    sources,
    texts_by_catalogue,
    translated,
)
from core.catalogues.ours import FRAME, own_apps

BASE = settings.BASE_DIR
SHOWN = ("title", "aria-label", "placeholder", "alt", "data-confirm", "data-confirm-yes")
SHOWN_BY_PIECES = ("label", "title", "text", "action", "heading", "more", "no", "noscript")
"""What is given to a piece of a page (`{% include … with label="…" %}`) for people to read."""
NO_LANGUAGE = re.compile(
    r"<code\b.*?</code>|<kbd\b.*?</kbd>|<script\b.*?</script>|<pre\b.*?</pre>|<!--.*?-->|<!DOCTYPE[^>]*>|&#?\w+;|number,|"
    r"\b(?:Credence|OmniToM|ToMBench|FANToM|OpenToM|ToMi|API|CSV|JSON|JSONL|PDF|PNG|SVG|LaTeX|HTML|UTF-8|ID|URL|"
    r"[a-z]+:[a-z_]+|Y-m-d|H:i:s|Holm|UTC|A|B|c|true|false|min|max|USD|km|ms|px|n|k|p|d|s|h)\b",
    re.S,
)
"""What is written alike in every language: code, keys, entities, names, signs of figures."""
BLOCK_WITHOUT_TEXT = re.compile(r"block (main_class|styles|scripts)")
TAG = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>""", re.S)
ATTRIBUTE = re.compile(rf"""(?<![\w-])({"|".join(SHOWN)})=("[^"]*"|'[^']*')""")
FILTERED = re.compile(r"""\|(?:default|default_if_none|yesno|join|date|time):("[^"]*"|'[^']*')""")
"""Words that a filter puts in, and the forms of dates."""
GIVEN = re.compile(rf"""\b({"|".join(SHOWN_BY_PIECES)})=("[^"]*"|'[^']*')""")
WORD = re.compile(r"[A-Za-z]{2,}|[A-Za-z]")


def untranslated(source: str) -> Iterator[str]:
    """Return the words of a template that stand outside `translate` and `blocktranslate`."""
    bare, within, silent = "", False, False
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.TEXT and not (within or silent):
            bare += token.contents
        if token.token_type in (TokenType.BLOCK, TokenType.VAR):
            yield from (given for given in FILTERED.findall(token.contents) if WORD.search(without_names(given)))
        if token.token_type == TokenType.BLOCK:
            name = token.contents.split()[0]
            within = name == "blocktranslate" or (within and name != "endblocktranslate")
            silent = bool(BLOCK_WITHOUT_TEXT.match(token.contents)) or (silent and name != "endblock")
            if name in ("include", "with"):
                yield from (given for _, given in GIVEN.findall(token.contents) if WORD.search(without_names(given)))
        elif token.token_type == TokenType.VAR:
            bare += "{}"
    bare = re.sub(r"<(script|style|code|kbd|pre)\b.*?</\1>", "", bare, flags=re.S)
    yield from (value for _, value in ATTRIBUTE.findall(bare) if WORD.search(without_names(value)))
    for text in TAG.split(bare):
        if WORD.search(without_names(text)):
            yield " ".join(text.split())


def without_names(text: str) -> str:
    return NO_LANGUAGE.sub("", text).replace("{}", "")


def templates() -> dict[str, str]:
    found = {path for _, path in sources(BASE, own_apps(), FRAME) if path.suffix == ".html"}
    return {str(path.relative_to(BASE)): path.read_text("utf-8") for path in found}


def test_every_word_of_a_template_is_translated():
    written = templates()
    assert len(written) > 180
    bare = {path: words for path, source in written.items() if (words := list(untranslated(source)))}
    assert bare == {}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<p>Hello</p>", ["Hello"]),
        ('<p title="Hello">{% translate "Hello" %}</p>', ['"Hello"']),
        ('<p title="{{ hello }}">{{ hello }} · 12 &middot; <kbd>Enter</kbd></p>', []),
        ('{% include "piece.html" with label="Hello" of="hello" %}', ['"Hello"']),
        ('{% include "piece.html" with label=_("Hello") %}', []),
        ('{{ name|default:"nobody" }}{{ day|date:"j M" }}{{ day|date:"c" }}{{ one|join:", " }}', ['"nobody"', '"j M"']),
        ("{% blocktranslate %}Hello <b>you</b>{% endblocktranslate %} there", ["there"]),
        ("{% block main_class %}narrow{% endblock %}{% block title %}Narrow{% endblock %}", ["Narrow"]),
        ("{% if one %}<b>{% endif %}a sentence</b>", ["a sentence"]),
    ],
)
def test_a_word_that_is_not_is_found(source, words):
    assert list(untranslated(source)) == words


def test_every_catalogue_is_whole_and_has_nothing_else():
    texts = texts_by_catalogue(sources(BASE, own_apps(), FRAME))
    assert sum(map(len, texts.values())) > 100
    wrong = {
        str(path.relative_to(BASE)): found
        for locale in LOCALES
        for (app, domain), wanted in texts.items()
        if (found := list(faults(path := path_of(BASE, app, locale, domain), wanted)))
    }
    assert wrong == {}, "`make texts` writes what is missing into the catalogues"


def test_a_text_has_one_translation_wherever_it_is_used():
    """Django joins the catalogues: of two translations one would be lost."""
    by_text: dict[tuple[str, Text], set[str]] = {}
    for path in BASE.glob("*/locale/*/LC_MESSAGES/*.po"):
        for text, entry in entries(path).items():
            by_text.setdefault((path.stem, text), set()).add(translated(entry)[0])
    assert {text: words for text, words in by_text.items() if len(words) > 1} == {}


def test_what_is_wrong_with_a_catalogue_is_said(tmp_path):
    path = tmp_path / "django.po"
    whole = polib.POFile()
    whole.extend(
        [
            polib.POEntry(msgid="Open", msgstr="打开"),
            polib.POEntry(msgid="Gone", msgstr="没有了"),
            polib.POEntry(msgid="{count} row", msgid_plural="{count} rows", msgstr_plural={"0": "行"}),
            polib.POEntry(msgid="Perhaps", msgstr="也许", flags=["fuzzy"]),
            polib.POEntry(msgid="Empty"),
        ]
    )
    whole.save(str(path))
    wanted = [Text("Open"), Text("{count} row", "{count} rows"), Text("Perhaps"), Text("Empty"), Text("New")]
    assert [fault.split(":")[0] for fault in faults(path, wanted)] == [
        "no entry",
        "unused",
        "other placeholders",
        "fuzzy",
        "not translated",
    ]


def test_texts_are_found_where_they_are_used():
    template = """{% translate 'One' %}{% translate "Two" context "verb" as two %}{% include "x" with a=_("Three") %}
      {{ b|default:_("Four") }}{% blocktranslate trimmed with n=m count k=n %}
        {{ k }} row of 5%
      {% plural %}{{ k }} rows{% endblocktranslate %}"""
    assert template_texts(template) == {
        Text("One"),
        Text("Two", context="verb"),
        Text("Three"),
        Text("Four"),
        Text("%(k)s row of 5%%", "%(k)s rows"),
    }
    code = '_("One"), ngettext("a row", "rows", 2), counted(3, "cell"), pgettext("verb", "Open"), gettext(name), _("")'
    assert python_texts(code) == {
        Text("One"),
        Text("a row", "rows"),
        Text("{count} cell", "{count} cells"),
        Text("Open", context="verb"),
    }
    script = 'gettext("One \\"x\\""); ngettext("{count} row", "{count} rows", 2); gettext(name)'
    assert script_texts(script) == {Text('One "x"'), Text("{count} row", "{count} rows")}
    assert template_texts('{{ n|counted:"row" }}{% with a=n|counted:"copy,copies" %}') == {
        Text("{count} row", "{count} rows"),
        Text("{count} copy", "{count} copies"),
    }
    assert placeholders("%(a)s of {b} and {c:,}: 5%") == {"%a", "{b}", "{c}"}


def test_catalogues_are_compiled_once_and_again_when_they_change(tmp_path):
    po = path_of(tmp_path, "app", "zh_Hans", "django")
    po.parent.mkdir(parents=True)
    po.write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Open"\nmsgstr "打开"\n', "utf-8"
    )
    made = tmp_path / "made" / "zh_Hans" / "LC_MESSAGES" / "django.mo"
    compile_all(tmp_path, ["app"], tmp_path / "made")
    first = made.stat()
    compile_all(tmp_path, ["app"], tmp_path / "made")
    assert (made.stat().st_ino, made.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    po.write_text(po.read_text("utf-8").replace("打开", "开启"), "utf-8")
    compile_all(tmp_path, ["app"], tmp_path / "made")
    assert polib.mofile(str(made)).find("Open").msgstr == "开启"
    assert [path.name for path in Path(made.parent).iterdir() if path.suffix == ""] == []
