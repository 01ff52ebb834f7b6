"""Locals say what they hold: words that name nothing are not bound in the product's code, templates and scripts."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EMPTY_WORDS = {"one", "held", "found", "told", "said", "shown", "wanted", "known"}
EXEMPT = {
    "annotation/domain/anchoring/arms.py": {"SHOWN"},
    "annotation/domain/anchoring/tables.py": {"shown", "told"},
    "annotation/services/draft_effect.py": {"shown"},
    "benchmark/api/shapes/calibration.py": {"known"},
    "benchmark/api/shapes/runs.py": {"held"},
    "benchmark/api/shapes/sweeps.py": {"found", "shown"},
    "benchmark/services/runs.py": {"held"},
    "benchmark/suites/questions.py": {"said"},
    "benchmark/suites/judges.py": {"told"},
    "benchmark/suites/omnitom/analyses.py": {"said"},
    "judge/api/shapes.py": {"wanted"},
    "judge/domain/calibration/agreement.py": {"known"},
    "judge/domain/proposal_effect.py": {"shown"},
    "judge/services/alignment_report.py": {"wanted"},
    "workers/models/item.py": {"HELD"},
}
"""Fields and states that are kept or that the API has, by file: their names are said to others."""


_WORD = "|".join(sorted(EMPTY_WORDS))
_IN_TEMPLATES = re.compile(
    rf"\{{%\s*for (?:\w+, )*({_WORD})(?:, \w+)* in "
    rf"|\{{%[^%]*(?<![.\w])({_WORD})=[^%]*%"
    rf"|\{{%[^%]*\b(?:as|asvar) ({_WORD})\b"
)
_IN_SCRIPTS = re.compile(
    rf"\b(?:const|let|function) (?:[\[{{] ?)?(?:\w+, )*({_WORD})\b|[(,] ?({_WORD})(?:, \w+)*\) (?:=>|{{)"
)


def words_of(text: str, bound: re.Pattern[str]) -> list[str]:
    """Return line and name of what a template or a script binds."""
    return [
        f"{text.count(chr(10), 0, match.start()) + 1}: {next(filter(None, match.groups()))}"
        for match in bound.finditer(text)
    ]


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of every local, parameter, attribute, function and import that a module binds."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name


def _says_nothing(name: str) -> bool:
    """Constants may not end in such a word either: `MOST_SHOWN` is at most how many of what?"""
    words = name.strip("_").lower()
    return words in EMPTY_WORDS or (name.isupper() and words.rpartition("_")[2] in EMPTY_WORDS - {"one"})


def empty_words(source: str) -> list[str]:
    return [f"{line}: {name}" for line, name in bound_names(ast.parse(source)) if _says_nothing(name)]


def not_exempt(texts: dict[str, str], exempt: dict[str, set[str]]) -> dict[str, list[str]]:
    """Return the empty words that a file binds and is not exempt for, and those that it is exempt for and does not
    bind, by file."""
    bound = {file: empty_words(text) for file, text in texts.items()}
    wrong = {
        file: [
            *(place for place in bound.get(file, []) if place.split(": ")[1] not in exempt.get(file, ())),
            *(f"no longer bound: {name}" for name in sorted(exempt.get(file, set()) - _names(bound.get(file, [])))),
        ]
        for file in texts.keys() | exempt.keys()
    }
    return {file: places for file, places in wrong.items() if places}


def _names(places: list[str]) -> set[str]:
    return {place.split(": ")[1] for place in places}


def test_names_say_what_they_hold():
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split() if not name.startswith(("tests/", "bench/"))]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in files if "/migrations/" not in name}
    assert not_exempt(texts, EXEMPT) == {}


def test_templates_and_scripts_name_what_they_bind():
    listed = subprocess.run(
        ["git", "ls-files", "*.html", "static/*.js"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in listed.stdout.split()}
    bound = {
        name: words_of(text, _IN_SCRIPTS if name.endswith(".js") else _IN_TEMPLATES) for name, text in texts.items()
    }
    assert {name: words for name, words in bound.items() if words} == {} and len(texts) > 100


def test_an_empty_word_of_a_template_or_a_script_is_noticed():
    for text in [
        "{% for one in rows %}",
        "{% for name, found in rows %}",
        "{% with told=row.text %}",
        "{% seen as shown %}",
    ]:
        assert words_of("\n" + text, _IN_TEMPLATES) == [f"2: {re.search(_WORD, text)[0]}"], text
    for text in [
        "const found = 1",
        "let { one } = row",
        "rows.map((one) => one.row)",
        "function f(a, told) {",
        "for (const one of x)",
    ]:
        assert words_of("\n" + text, _IN_SCRIPTS) == [f"2: {re.search(_WORD, text)[0]}"], text


def test_a_name_that_says_nothing_is_noticed():
    assert empty_words("for one in rows:\n    pass") == ["1: one"]
    assert empty_words("def f(item, *, known): ...\nmatch item:\n    case [found]: pass") == ["1: known", "3: found"]
    assert empty_words("class Row:\n    shown: str\nhold_one = [said for said in rows]") == ["2: shown", "3: said"]
    assert empty_words("def _told(): ...\nclass Said: ...\nSHOWN = 20") == ["1: _told", "2: Said", "3: SHOWN"]
    assert empty_words("MOST_SHOWN, _HELD, ONE_ARM, WITHHELD, UNKNOWN = range(5)") == ["1: MOST_SHOWN", "1: _HELD"]
    assert empty_words("row.shown, at = 1, 2") == ["1: shown"] and empty_words("async def told(): ...") == ["1: told"]


def test_an_exemption_is_for_a_name_that_is_bound():
    texts = {"kept.py": "said: str\nshown: str", "other.py": "said: str"}
    assert not_exempt(texts, {"kept.py": {"said", "told"}, "gone.py": {"one"}}) == {
        "kept.py": ["2: shown", "no longer bound: told"], "other.py": ["1: said"], "gone.py": ["no longer bound: one"],
    }  # fmt: skip
