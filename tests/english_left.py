"""Which words of a page in Chinese are English: those that are neither somebody's own data nor names of code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any

from django.apps import apps
from django.db.models import CharField, JSONField, TextField

from core.catalogues.ours import own_apps

SILENT = {"script", "style", "code", "pre", "kbd", "template", "textarea"}
WITHOUT_END = {"br", "img", "input", "meta", "link", "hr", "col", "wbr", "source", "path", "circle", "line", "rect"}
READ_ATTRIBUTES = ("title", "aria-label", "alt", "data-confirm")
NAMES = {
    "token", "logit", "docs", "models.md", "Ambiguous", "Faux-pas", "Hinting", "Persuasion", "Scalar", "Implicature",
    "Strange", "Unexpected", "Outcome", "Recognition", "Story", "Task", "Test", "al", "table", "jsonl",
    "csv", "xlsx", "txt", "json", "eval", "samples", "results", "UTF", "SHA",
    "Credence", "OmniToM", "ToMBench", "FANToM", "OpenToM", "ToMi", "Percept-ToMi", "Percept-FANToM", "TELeR",
    "Ollama", "OpenAI", "Anthropic", "vLLM", "Messages", "Dawid", "Skene", "MACE", "Pearson", "Fisher", "Kim",
    "et", "Human", "GPT", "inspect", "lm-evaluation-harness", "evaluation", "API", "CSV", "JSON",
    "JSONL", "PDF", "PNG", "SVG", "LaTeX", "HTML", "UTF-8", "UTF-16", "Windows", "ID", "URL", "HTTP", "USD",
    "UTC", "GPU", "SHA-256", "Croissant", "Excel", "Holm", "Krippendorff", "Cohen", "Fleiss", "Gwet",
    "Clopper", "Wilson", "Macro", "Token", "tokens", "toy", "minilm", "ALL", "AST", "FBT", "FPT", "HT", "PST",
    "SIT", "SST", "UOT", "MatchCount", "Repr", "overall", "Django", "Python",
    "Redis", "Celery", "SQLite", "PostgreSQL", "GitHub", "Markdown", "Enter", "Esc", "Tab", "Ctrl", "Alt",
    "Shift", "Space", "English", "alpha", "kappa", "min", "max", "true", "false", "null", "zip", "make",
    "MIT", "BY-NC", "LICENSE", "worker", "minds-2", "small-2", "our-prompts-2", "zh", "pt-BR", "resps", "doc",
    "GB", "GBK", "Retry-After", "chat", "completions", "sampled",
}  # fmt: skip
"""What is written alike in every language: of products, data sets, formats, authors of measures, keys, signs."""
PSEUDONYM = re.compile(r"\b(?:Annotator|Expert) \d+")
"""What reports and files call people by: names, too."""
NUMBERED = re.compile(r"[\w-]+-\d+\b")
"""Names such as minds-2."""
OF_LIBRARIES = re.compile(r"（(?:Expecting value|File is not a zip file)）")
"""What Python says of a file, which has no other language."""
IN_BRACKETS = re.compile(r" \(([^()]*)\)?")
"""What is told of a number, such as whose it is; a run ends before the last sign."""
WORD = re.compile(r"[A-Za-z][A-Za-z0-9’'._+-]*[A-Za-z]")
LATIN = re.compile(r"[A-Za-z0-9][^\u3000-\u9fff\uff00-\uffef“”<>|·;:]*[A-Za-z0-9.!?]")
HAN = re.compile("[\u4e00-\u9fff]")


CODES = {"action", "handler", "kind", "outcome", "state", "step", "method"}
"""Fields of rows that hold words of the software, which pages say in the reader's language."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.in_json = False

    @property
    def silent(self) -> bool:
        return bool(self.open) and self.open[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.in_json = said.get("type") == "application/json" and said.get("id") != "script-texts"
        foreign = tag != "html" and "lang" in said
        silent = self.silent or tag in SILENT or foreign or said.get("translate") == "no"
        if not silent:
            self.texts += [value for name in READ_ATTRIBUTES if (value := said.get(name))]
        if tag not in WITHOUT_END:
            self.open.append((tag, silent))

    def handle_endtag(self, tag: str) -> None:
        self.in_json = False
        for at in range(len(self.open) - 1, -1, -1):
            if self.open[at][0] == tag:
                del self.open[at:]
                return

    def handle_data(self, data: str) -> None:
        if self.in_json:
            self.texts += sentences_of(json.loads(data))
        elif not self.silent and data.strip():
            self.texts.append(" ".join(data.split()))


def texts_of(html: str) -> list[str]:
    """Return what a page says, in text and in attributes; not what is code or marked as of another language."""
    reader = _Reader()
    reader.feed(html)
    return list(dict.fromkeys(reader.texts))


def sentences_of(value: Any) -> list[str]:
    """Return what stands in a JSON value for people to read: its texts of several words, and no keys."""
    return [text for text in _leaves(value) if " " in text]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield " ".join(value.split())
    elif isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one)


class OwnData:
    """What people wrote in rows: names, stories, labels. No codes, whose words are the software's, and nothing of
    snapshots, which it wrote."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        self.texts = set(more)
        for model in (model for app in own_apps() for model in apps.get_app_config(app).get_models()):
            if model.__name__ != "Snapshot":
                self._read(model)
        self.whole = "\n".join(sorted(self.texts))

    def _read(self, model: Any) -> None:
        texts = (one for one in model._meta.fields if isinstance(one, CharField | TextField | JSONField))
        names = [one.attname for one in texts if not one.choices and one.name not in CODES]
        for row in model._default_manager.values_list(*names):
            self.texts.update(_leaves(list(row)))

    def has(self, text: str) -> bool:
        """True of a text that a row has, of a part of one that is several words, and of an excerpt of one, cut at
        its end or not."""
        bare = text.strip(" .,…()[]–-")
        if text in self.texts or bare in self.texts or all(one in self.texts for one in re.split(r", |: ", bare)):
            return True
        if text.endswith(("...", "…")) and any(one.startswith(bare) for one in self.texts):
            return True
        return " " in bare and bare in self.whole


def english_left(html: str, own: OwnData) -> list[str]:
    """Return the texts of a page that have English words of the software."""
    runs = {text: LATIN.findall(OF_LIBRARIES.sub("", text)) for text in texts_of(html)}
    return [text for text, found in runs.items() if any(_is_left(run, own) for run in found) and not own.has(text)]


def _is_left(run: str, own: OwnData) -> bool:
    run = IN_BRACKETS.sub(lambda found: "" if own.has(found[1]) else found[0], run)
    words = [
        word
        for word in WORD.findall(NUMBERED.sub("", PSEUDONYM.sub("", run)))
        if word not in NAMES and not re.search(r"[\d_.]|-v|[a-z][A-Z]", word)
    ]
    return any(len(word) > 2 for word in words) and not own.has(run)
