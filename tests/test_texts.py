"""Pages speak English and Chinese: every text of a page goes through gettext."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import polib
from django.conf import settings
from django.template import Context, Template
from django.template.base import Lexer, TokenType
from django.utils.translation import override

from benchmark.suites.registry import suites
from core.catalogues.extraction import Text, python_texts, script_texts, template_texts
from core.catalogues.files import LOCALES, compile_all, entries, path_of, sources, texts_by_catalogue, translated
from core.catalogues.ours import FRAME, own_apps
from core.catalogues.sentences import translated as in_language
from core.joints import clauses, labelled, listed, noted, seamed, sentences
from tests.catalogues import faults, placeholders

BASE = settings.BASE_DIR
READ_ATTRIBUTES = ("title", "aria-label", "placeholder", "alt", "data-confirm", "data-confirm-yes")
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
ATTRIBUTE = re.compile(rf"""(?<![\w-])({"|".join(READ_ATTRIBUTES)})=("[^"]*"|'[^']*')""")
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


def test_every_word_by_which_a_suite_is_told_is_translated():
    """Pages look them up one by one, wherever they stand: a word that its suite leaves unmarked stays English there."""
    with override("zh-hans"):
        english = [
            f"{name}: {word}"
            for name, suite in suites().items()
            for word in [
                *suite.noun,
                *suite.cluster,
                suite.results.category_noun,
                *(word for step in suite.steps for word in (step.label, step.label.lower(), *step.answers)),
                *(word for group in suite.groups for word in (group.noun, *(group.unit or ()))),
            ]
            if in_language(word) == word
        ]
    assert english == []


SCRIPT_CALL = re.compile(r'\bn?gettext\(\s*"(?:[^"\\\n]|\\.)*"(?:,\s*"(?:[^"\\\n]|\\.)*")?|//.*')
SCRIPT_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
SCRIPT_VALUE = re.compile(r"\$\{[^{}]*\}")
SENTENCE = re.compile(
    r"^(?!Alt )[A-Z][a-z]+[:.,]? |\([a-z]+ |[a-z]{2,}[.!?…]$|"
    r"(?<![-\w])[a-z]{2,} [a-z]{2,} [a-z]{2,}(?![-\w])|\{\}[,:;] \{\}"
)
"""Words in a row as sentences have them, and values with a sign between them; no classes, selectors or keys."""


def said_as_written(source: str) -> list[str]:
    """Return what a script says without `gettext`."""
    strings = [string[1:-1] for string in SCRIPT_STRING.findall(SCRIPT_CALL.sub("", source))]
    return [string for string in strings if SENTENCE.search(SCRIPT_VALUE.sub("{}", string))]


def test_every_sentence_of_a_script_is_translated():
    scripts = {path for _, path in sources(BASE, own_apps(), FRAME) if path.suffix == ".js"}
    assert len(scripts) > 15
    assert {str(path): found for path in scripts if (found := said_as_written(path.read_text("utf-8")))} == {}


WRITTEN_OUT = re.compile(r"(?:^|[\x00\x01])\s*[,:;.](?=[\s\x01]|$)")
"""A sign after a value, a tag or an element that a template writes out, as English has it."""
SIGN_ALONE = re.compile(r"""translate (["'])\s*[,:;.()]\s*\1""")


def written_out(source: str) -> Iterator[str]:
    """Return the pieces of a template that have a sign between two parts, which every language has another of."""
    bare, within = "", False
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.TEXT and not within:
            bare += token.contents
        elif token.token_type == TokenType.BLOCK:
            name = token.contents.split()[0]
            within = name == "blocktranslate" or (within and name != "endblocktranslate")
            bare += "\x01"
            if SIGN_ALONE.match(token.contents):
                yield token.contents
        elif token.token_type == TokenType.VAR and not within:
            bare += "\x00"
    bare = re.sub(r"<(script|style|code|kbd|pre)\b.*?</\1>", "", bare, flags=re.S)
    for text in [value[1:-1] for _, value in ATTRIBUTE.findall(bare)] + TAG.split(bare):
        if WRITTEN_OUT.search(text):
            yield " ".join(re.sub("[\x00\x01]", "…", text).split())


def test_no_template_writes_out_what_stands_between_two_parts():
    """`{% joint ":" %}`, `{{ "."|sign }}`, `{{ names|listed }}`: each language has its own sign, and its own space."""
    found = {path: words for path, source in templates().items() if (words := list(written_out(source)))}
    assert found == {}


def test_parts_are_joined_as_each_language_does():
    with override("en-gb"):
        assert listed(["Ada", 2]) == "Ada, 2"
        assert (labelled("Order", "minds"), noted("6 votes", "2 blind")) == ("Order: minds", "6 votes (2 blind)")
        assert (sentences("One.", "", "Two."), clauses("a", "b")) == ("One. Two.", "a; b")
    with override("zh-hans"):
        assert listed(["艾达", 2]) == "艾达、2"
        assert (labelled("阶", "几层"), noted("6 票", "2 票")) == ("阶：几层", "6 票（2 票）")
        assert (sentences("一。", "", "二。"), clauses("甲", "乙")) == ("一。二。", "甲；乙")


def test_what_is_put_into_a_chinese_sentence_has_a_space_where_latin_letters_meet_it():
    for before, after, joined in [
        ("没有", "数值", "没有数值"),
        ("没有 ", "数值", "没有数值"),
        ("全部", "1 个故事", "全部 1 个故事"),
        ("tiny", "没有数值", "tiny 没有数值"),
        ("完成。", " 共", "完成。共"),
        ("tiny ", "（2）", "tiny（2）"),
        ("tiny", "-v2", "tiny-v2"),
        ("", " tiny", " tiny"),
    ]:
        assert seamed(before, after) == joined


def test_a_tag_between_two_parts_leaves_out_what_is_blank_after_it():
    page = Template('{{ a }}{% joint ":" %}\n  {{ b }}{{ "."|sign }}')
    with override("en-gb"):
        assert page.render(Context({"a": "A", "b": "B"})) == "A: B."
    with override("zh-hans"):
        assert page.render(Context({"a": "甲", "b": "乙"})) == "甲：乙。"


HALF_WIDTH = re.compile(r"[\u3400-\u9fff”》] ?[,;:?!](?!\w)|[,;:?!(] ?[“《\u3400-\u9fff]|[\u3400-\u9fff] ?[()]")
ARGUMENTS = re.compile(r"[^,]+(?:,[^,]+){1,2}")
"""What `yesno` takes: words between commas."""


def test_signs_between_chinese_words_are_full_width():
    wrong = [
        (text.singular, word)
        for path in BASE.glob("*/locale/zh_Hans/LC_MESSAGES/*.po")
        for text, entry in entries(path).items()
        for word in translated(entry)
        if HALF_WIDTH.search(word) and not (ARGUMENTS.fullmatch(text.singular) and ", " not in text.singular)
    ]
    assert wrong == []


def _is_lack(fault: str) -> bool:
    return fault.startswith(("no entry", "not translated"))


def test_catalogues_have_the_texts_of_the_code_with_their_placeholders():
    texts = texts_by_catalogue(sources(BASE, own_apps(), FRAME))
    assert sum(map(len, texts.values())) > 100
    wrong = {
        str(path.relative_to(BASE)): found
        for locale in LOCALES
        for (app, domain), wanted in texts.items()
        if (found := list(faults(path := path_of(BASE, app, locale, domain), wanted)))
    }
    lacking = [fault for found in wrong.values() for fault in found if _is_lack(fault)]
    if lacking:  # `manage.py texts --check` refuses them before a release
        warnings.warn(f"`make texts`, and translate: {lacking}", stacklevel=1)
    assert [fault for found in wrong.values() for fault in found if not _is_lack(fault)] == []
    paths = {path_of(BASE, app, locale, domain) for locale in LOCALES for app, domain in texts}
    assert {*BASE.glob("*/locale/*/LC_MESSAGES/*.po")} == paths, "a catalogue of no text"


def test_a_text_has_one_translation_wherever_it_is_used():
    """Django joins the catalogues: of two translations one would be lost."""
    by_text: dict[tuple[str, Text], set[str]] = {}
    for path in BASE.glob("*/locale/*/LC_MESSAGES/*.po"):
        for text, entry in entries(path).items():
            by_text.setdefault((path.stem, text), set()).add(translated(entry)[0])
    assert {text: words for text, words in by_text.items() if len(words) > 1} == {}


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
