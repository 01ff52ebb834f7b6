"""Pages speak English and Chinese: every text of a page goes through gettext, and has its translation."""

import re
import warnings
from collections.abc import Iterator

import polib
from django.conf import settings
from django.template import Context, Template
from django.template.base import Lexer, TokenType
from django.utils.translation import override

from benchmark.suites.registry import suites
from core.catalogues.extraction import Text, python_texts, script_texts, template_texts
from core.catalogues.files import (
    FRAME,
    LOCALES,
    compile_all,
    entries,
    own_apps,
    path_of,
    sources,
    texts_by_catalogue,
    translated,
)
from core.catalogues.sentences import translated as in_language
from core.joints import clauses, labelled, listed, noted, seamed, sentences
from tests.catalogues import faults, placeholders

BASE = settings.BASE_DIR
NO_LANGUAGE = re.compile(
    r"<code\b.*?</code>|<kbd\b.*?</kbd>|<script\b.*?</script>|<pre\b.*?</pre>|<!--.*?-->|<!DOCTYPE[^>]*>|&#?\w+;|number,|"
    r"\b(?:Credence|OmniToM|ToMBench|FANToM|OpenToM|ToMi|API|CSV|JSON|JSONL|PDF|PNG|SVG|LaTeX|HTML|UTF-8|ID|URL|"
    r"[a-z]+:[a-z_]+|Y-m-d|H:i:s|Holm|UTC|A|B|c|true|false|min|max|USD|km|ms|px|n|k|p|d|s|h)\b",
    re.S,
)
"""What is written alike in every language: code, keys, entities, names, signs of figures."""
BLOCK_WITHOUT_TEXT = re.compile(r"block (main_class|styles|scripts)")
TAG = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>""", re.S)
ATTRIBUTE = re.compile(
    r"""(?<![\w-])(?:title|aria-label|placeholder|alt|data-confirm|data-confirm-yes)=("[^"]*"|'[^']*')"""
)
FILTERED = re.compile(r"""\|(?:default|default_if_none|yesno|join|date|time):("[^"]*"|'[^']*')""")
"""Words that a filter puts in, and the forms of dates."""
GIVEN = re.compile(r"""\b(?:label|title|text|action|heading|more|no|noscript)=("[^"]*"|'[^']*')""")
"""What is given to a piece of a page (`{% include … with label="…" %}`) for people to read."""


def untranslated(source: str) -> list[str]:
    """Return the words of a template that stand outside `translate` and `blocktranslate`."""
    bare, within, silent, given = "", False, False, []
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.TEXT and not (within or silent):
            bare += token.contents
        if token.token_type in (TokenType.BLOCK, TokenType.VAR):
            given += FILTERED.findall(token.contents)
        if token.token_type == TokenType.BLOCK:
            name = token.contents.split()[0]
            within = name == "blocktranslate" or (within and name != "endblocktranslate")
            silent = bool(BLOCK_WITHOUT_TEXT.match(token.contents)) or (silent and name != "endblock")
            given += GIVEN.findall(token.contents) if name in ("include", "with") else []
        elif token.token_type == TokenType.VAR:
            bare += "{}"
    bare = re.sub(r"<(script|style|code|kbd|pre)\b.*?</\1>", "", bare, flags=re.S)
    words = [*given, *ATTRIBUTE.findall(bare), *TAG.split(bare)]
    return [word for word in words if re.search("[A-Za-z]", NO_LANGUAGE.sub("", word).replace("{}", ""))]


SCRIPT_CALL = re.compile(r'\bn?gettext\(\s*"(?:[^"\\\n]|\\.)*"(?:,\s*"(?:[^"\\\n]|\\.)*")?|//.*')
SCRIPT_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
SENTENCE = re.compile(
    r"^(?!Alt )[A-Z][a-z]+[:.,]? |\([a-z]+ |[a-z]{2,}[.!?…]$|"
    r"(?<![-\w])[a-z]{2,} [a-z]{2,} [a-z]{2,}(?![-\w])|\{\}[,:;] \{\}"
)
"""Words in a row as sentences have them, and values with a sign between them; no classes, selectors or keys."""


def said_as_written(source: str) -> list[str]:
    """Return what a script says without `gettext`."""
    strings = [string[1:-1] for string in SCRIPT_STRING.findall(SCRIPT_CALL.sub("", source))]
    return [string for string in strings if SENTENCE.search(re.sub(r"\$\{[^{}]*\}", "{}", string))]


def written(ending: str) -> dict[str, str]:
    paths = {path for _, path in sources(BASE, own_apps(), FRAME) if path.suffix == ending}
    return {str(path.relative_to(BASE)): path.read_text("utf-8") for path in paths}


def test_every_word_of_templates_scripts_and_suites_is_translated():
    for ending, least, left in ((".html", 180, untranslated), (".js", 15, said_as_written)):
        texts = written(ending)
        assert len(texts) > least
        assert {path: words for path, source in texts.items() if (words := left(source))} == {}
    assert untranslated("<p>One</p>{% translate 'Two' %}") == ["One"] and said_as_written('a("It is so.")')
    with override("zh-hans"):  # pages look the words of a suite up one by one, wherever they stand
        english = [
            f"{name}: {word}"
            for name, suite in suites().items()
            for word in [
                *suite.noun, *suite.cluster, suite.results.category_noun,
                *(word for step in suite.steps for word in (step.label, step.label.lower(), *step.answers)),
                *(word for group in suite.groups for word in (group.noun, *(group.unit or ()))),
            ]
            if in_language(word) == word
        ]  # fmt: skip
    assert english == []


def test_parts_are_joined_as_each_language_does():
    page = Template('{{ a }}{% joint ":" %}\n  {{ b }}{{ "."|sign }}')
    with override("en-gb"):
        assert listed(["Ada", 2]) == "Ada, 2"
        assert (labelled("Order", "minds"), noted("6 votes", "2 blind")) == ("Order: minds", "6 votes (2 blind)")
        assert (sentences("One.", "", "Two."), clauses("a", "b")) == ("One. Two.", "a; b")
        assert page.render(Context({"a": "A", "b": "B"})) == "A: B."
    with override("zh-hans"):
        assert listed(["艾达", 2]) == "艾达、2"
        assert (labelled("阶", "几层"), noted("6 票", "2 票")) == ("阶：几层", "6 票（2 票）")
        assert (sentences("一。", "", "二。"), clauses("甲", "乙")) == ("一。二。", "甲；乙")
        assert page.render(Context({"a": "甲", "b": "乙"})) == "甲：乙。"
    for before, after, joined in [
        ("没有", "数值", "没有数值"), ("没有 ", "数值", "没有数值"), ("全部", "1 个故事", "全部 1 个故事"),
        ("tiny", "没有数值", "tiny 没有数值"), ("完成。", " 共", "完成。共"), ("tiny ", "（2）", "tiny（2）"),
        ("tiny", "-v2", "tiny-v2"), ("", " tiny", " tiny"),
    ]:  # fmt: skip
        assert seamed(before, after) == joined, "a space stands where Latin letters meet Chinese words, and only there"


HALF_WIDTH = re.compile(r"[\u3400-\u9fff”》] ?[,;:?!](?!\w)|[,;:?!(] ?[“《\u3400-\u9fff]|[\u3400-\u9fff] ?[()]")
YESNO = re.compile(r"[^,]+(?:,[^, ][^,]*){1,2}")
"""What `yesno` takes: words between commas."""


def translations() -> Iterator[tuple[str, Text, list[str]]]:
    for path in BASE.glob("*/locale/*/LC_MESSAGES/*.po"):
        yield from ((path.stem, text, translated(entry)) for text, entry in entries(path).items())


def test_catalogues_have_the_texts_of_the_code_with_their_placeholders():
    texts = texts_by_catalogue(sources(BASE, own_apps(), FRAME))
    assert sum(map(len, texts.values())) > 100
    paths = {
        path_of(BASE, app, locale, domain): wanted for locale in LOCALES for (app, domain), wanted in texts.items()
    }
    assert {*BASE.glob("*/locale/*/LC_MESSAGES/*.po")} == paths.keys(), "a catalogue of no text"
    found = [f"{path}: {fault}" for path, wanted in paths.items() for fault in faults(path, wanted)]
    lacking = [fault for fault in found if ": no entry" in fault or ": not translated" in fault]
    if lacking:  # `manage.py texts --check` refuses them before a release
        warnings.warn(f"`make texts`, and translate: {lacking}", stacklevel=1)
    assert [fault for fault in found if fault not in lacking] == []


def test_a_text_has_one_translation_with_signs_of_full_width():
    """Django joins the catalogues: of two translations one would be lost."""
    by_text: dict[tuple[str, Text], set[str]] = {}
    for domain, text, words in translations():
        by_text.setdefault((domain, text), set()).add(words[0])
        wrong = [word for word in words if HALF_WIDTH.search(word)]
        assert not wrong or YESNO.fullmatch(text.singular), wrong
    assert {text: words for text, words in by_text.items() if len(words) > 1} == {}


def test_texts_are_found_where_they_are_used():
    template = """{% translate 'One' %}{% translate "Two" context "verb" as two %}{% include "x" with a=_("Three") %}
      {{ b|default:_("Four") }}{% blocktranslate trimmed with n=m count k=n %}
        {{ k }} row of 5%
      {% plural %}{{ k }} rows{% endblocktranslate %}{{ n|counted:"row" }}{% with a=n|counted:"copy,copies" %}"""
    assert template_texts(template) == {
        Text("One"), Text("Two", context="verb"), Text("Three"), Text("Four"),
        Text("%(k)s row of 5%%", "%(k)s rows"), Text("{count} row", "{count} rows"),
        Text("{count} copy", "{count} copies"),
    }  # fmt: skip
    code = '_("One"), ngettext("a row", "rows", 2), counted(3, "cell"), pgettext("verb", "Open"), gettext(name), _("")'
    told = {Text("One"), Text("a row", "rows"), Text("{count} cell", "{count} cells"), Text("Open", context="verb")}
    assert python_texts(code) == told
    script = 'gettext("One \\"x\\""); ngettext("{count} row", "{count} rows", 2); gettext(name)'
    assert script_texts(script) == {Text('One "x"'), Text("{count} row", "{count} rows")}
    assert placeholders("%(a)s of {b} and {c:,}: 5%") == {"%a", "{b}", "{c}"}


def test_catalogues_are_compiled_once_and_again_when_they_change(tmp_path):
    po = path_of(tmp_path, "app", "zh_Hans", "django")
    po.parent.mkdir(parents=True)
    made = tmp_path / "made" / "zh_Hans" / "LC_MESSAGES" / "django.mo"
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Open"\nmsgstr '
    files = []
    for word in ("打开", "打开", "开启"):
        if not po.exists() or word not in po.read_text("utf-8"):
            po.write_text(f'{head}"{word}"\n', "utf-8")
        compile_all(tmp_path, ["app"], tmp_path / "made")
        files.append((made.stat().st_ino, made.stat().st_mtime_ns))
        assert polib.mofile(str(made)).find("Open").msgstr == word
    assert files[0] == files[1] != files[2]
    assert [path.name for path in made.parent.iterdir() if path.suffix == ""] == []
