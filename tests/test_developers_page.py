"""What docs/developers.md names is there: every file, every function of a file, and every name in backticks."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "config",
    "core",
    "workers",
    "annotation",
    "judge",
    "benchmark",
    "templates",
    "static",
    "tests",
    "docs",
    "bench",
)
PAGE = re.sub(r"^```.*?^```$", "", (ROOT / "docs" / "developers.md").read_text(encoding="utf-8"), flags=re.M | re.S)
SPANS = sorted(set(re.findall(r"(?<!`)`([^`\n]+)`(?!`)", PAGE)))
FILES = [span for span in SPANS if re.fullmatch(r"[\w./-]+\.(py|js|sh|md|html|css)(:\w+)?", span)]
NAMES = [
    span
    for span in SPANS
    if re.fullmatch(r"_?[A-Z]\w*[a-z]\w*|[a-z]+(_[a-z0-9]+)+|[A-Z]+(_[A-Z]+)*|[A-Z]\w*\.\w+", span)
]
DIRECTORIES = [span for span in SPANS if re.fullmatch(r"[\w./-]+/", span)]
EXAMPLES = re.compile(r"\bmy_(server|suite)\b")
"""What a recipe has the reader make."""
ELSEWHERE = {"GROUP", "FOLDER", "TOMBENCH", "ENV", "NAME", "VALUE"}
"""Words that stand for what a reader chooses."""


@cache
def paths() -> list[str]:
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "vendor" not in path.parts)
    return [path.relative_to(ROOT).as_posix() for path in files if path.is_file()] + [
        path.name for path in ROOT.iterdir() if path.is_file()
    ]


def files_named(name: str) -> list[str]:
    return [path for path in paths() if path == name or path.endswith(f"/{name}")]


@cache
def defined_in(path: str) -> set[str]:
    """Functions, classes, methods, and variables that a file defines."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if not path.endswith(".py"):
        return set(re.findall(r"\b(?:function|class|const|let)\s+(\w+)", text))
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


@cache
def defined() -> set[str]:
    """Names that the product's code and its tests define, its commands and other modules among them: all functions and
    classes, and of variables and parameters those that the page names, since a file is parsed for these alone."""
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths() if path.endswith((".py", ".js"))}
    found = {Path(path).stem for path in texts}
    for text in texts.values():
        found |= set(re.findall(r"^ *(?:async +)?(?:def|class) +(\w+)", text, flags=re.M))
    sought = re.compile(rf"\b({'|'.join({span.split('.')[-1] for span in NAMES} - found)})\b")
    return found.union(
        *(defined_in(path) for path, text in texts.items() if path.endswith(".js") or sought.search(text))
    )


def test_what_the_page_names_is_there():
    for span in (span for span in FILES if not EXAMPLES.search(span)):
        file, _, name = span.partition(":")
        found = files_named(file)
        assert found, f"There is no {file}."
        assert not name or any(name in defined_in(path) for path in found), f"{file} does not define {name}."
    for span in (span for span in DIRECTORIES if not EXAMPLES.search(span)):
        assert any(f"/{span}" in f"/{path}" for path in paths()), f"There is no {span}."
    for span in (span for span in NAMES if span not in ELSEWHERE):
        assert span.split(".")[-1] in defined(), f"Nothing defines {span}."


def test_every_term_of_the_glossary_says_where_it_lives():
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| `([^`|]+)` \|$", PAGE, flags=re.M)
    assert len(rows) > 40
    for term, place in rows:
        assert place in FILES or (ROOT / place).is_dir(), f"{term}: {place} is not a file or folder."
