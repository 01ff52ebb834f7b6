"""Prompt sets: the built-in one, and those that a team loads from files of its own.

Files of a set, by name (`<step>` is extract, label or judge, `<n>` a TELeR level from 1 to 4):

- `<step>-level<n>-system.txt` and `<step>-level<n>-user.txt`, the two messages. Instead of the first there can be
  `<step>-level<n>.txt`; instead of the second `<step>-user.txt`, for all levels. A `<step>-level<n>.txt` that holds
  the data itself is the only message.
- `<step>-format-<answer format>.txt` for `{format}`, and `<step>-example.txt`, one of the examples in `{examples}`; a
  set without them has the built-in ones. A structured request whose prompt has no `{format}` gets it at the end of the
  system part.
- `<step>-categories.txt` for `{category_block}`: a line `Category: text` for each story category.
- any other file, where `{its-name}` stands in another one.

Placeholders: `{story}`, `{belief_table}` (label), `{predictions}` and `{gold}` (judge), `{examples}`,
`{category_block}`, `{format}`, `{columns}` (what the answer's columns are called), `{fence}` (a line that occurs
nowhere in the data), `{labels}` and `{definitions}` (label: the closed sets by dimension, and what they mean),
`{order}` and `{order_definition}` (extract: the labels of a proposition's order, and what they mean; nothing where the
schema has no order).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL
from benchmark.suites.omnitom.official import STEPS
from benchmark.suites.prompt_sets import BadPromptSet
from core.digests import json_digest

ANSWER_FORMATS = ("text", "structured")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_GAP = re.compile(r"(\n(?:[ \t]*\n)+)")


@dataclass(frozen=True, slots=True)
class Template:
    """The two messages of a request, with placeholders; an empty system part is not a message."""

    system: str
    user: str

    @property
    def placeholders(self) -> frozenset[str]:
        return placeholders(self.system) | placeholders(self.user)


def placeholders(text: str) -> frozenset[str]:
    """The names between braces: `{story}` holds one, `{"rows": []}` and `{ story }` hold none."""
    return frozenset(_PLACEHOLDER.findall(text))


def include(text: str, pieces: Mapping[str, str]) -> str:
    """`text` with every placeholder that names a piece replaced by that piece, once; other placeholders stay."""
    return _PLACEHOLDER.sub(lambda match: pieces.get(match[1], match[0]), text)


def fill(template: str, values: Mapping[str, str | None]) -> str:
    """The template with its values, in one pass: what a value holds is never taken for a placeholder.

    None means that there is nothing to show. A paragraph whose placeholders all have None is left out, with the blank
    lines before it; elsewhere None leaves no text. Raises KeyError for a placeholder without a value.
    """
    parts = _GAP.split(template)
    filled: list[str] = []
    for at in range(0, len(parts), 2):
        names = placeholders(parts[at]) - {"fence"}
        if not names or any(values[name] is not None for name in names):
            gap = parts[at - 1] if filled else ""
            filled += [gap, parts[at]]
    return _PLACEHOLDER.sub(lambda match: values[match[1]] or "", "".join(filled))


LEVELS = (1, 2, 3, 4)
NAMES = ("omnitom-1",)
"""The built-in sets. A changed wording is a new set."""
NAMES_OF_ANY = ("omnitom-any-1",)
"""Those for gold of other schemas than OmniToM's: what they say of dimensions comes from the schema."""
DATA = {EXTRACT: ("story",), LABEL: ("story", "belief_table"), JUDGE: ("story", "predictions", "gold")}
_MANDATORY = {**DATA, JUDGE: ("predictions", "gold")}
_SHARED = frozenset({"examples", "category_block", "format", "columns", "fence"})
_OF_LABELS = frozenset({"labels", "definitions"})
_OF_EXTRACTION = frozenset({"order", "order_definition"})
_OF_EXAMPLES = frozenset({"number", "answer", "fence"})
_FOLDER = Path(__file__).parents[1] / "prompts"
_DEEPEST = 5
_DEFAULT = re.compile(r"data-note|(?:extract|label|judge)-(?:example|format-(?:text|structured))")
"""The names of files that a set has from the built-in one where it lacks them."""


@dataclass(frozen=True)
class PromptSet:
    """`templates` by (step, level, answer format), with every file but the data included. `examples` and `categories`
    are by step.

    `files` are the texts that the set was made from, so that it can be stored and loaded again.
    """

    name: str
    version: str
    templates: Mapping[tuple[str, int, str], Template]
    examples: Mapping[str, str]
    categories: Mapping[str, Mapping[str, str]]
    files: Mapping[str, str] = field(repr=False)

    def template(self, step: str, level: int, answer_format: str = "text") -> Template:
        """Return the template of a step and level. Raises BadPromptSet where the set has none."""
        try:
            return self.templates[step, level, answer_format]
        except KeyError:
            raise BadPromptSet(
                f"The prompt set {self.name} has no prompt {step}-level{level} in the answer format {answer_format}."
            ) from None

    def levels(self, step: str) -> tuple[int, ...]:
        return tuple(level for level in LEVELS if (step, level, "text") in self.templates)

    def category_block(self, step: str, category: str) -> str | None:
        """Return what the set says of a story category, None for one that it does not know."""
        text = self.categories.get(step, {}).get(category)
        return None if text is None else f"{category}: {text}"

    def content_hash(self, step: str, level: int) -> str:
        """SHA-256 of all wording that can enter a prompt of this step and level, in either answer format, as
        hexadecimal digits."""
        parts: dict[str, object] = {}
        used: frozenset[str] = frozenset()
        for answer_format in ANSWER_FORMATS:
            template = self.template(step, level, answer_format)
            parts[answer_format] = [template.system, template.user]
            used |= template.placeholders
        if "examples" in used:
            parts["example"] = self.examples[step]
        if "category_block" in used:
            parts["categories"] = dict(self.categories[step])
        return _digest(parts)


@cache
def built_in(name: str = "omnitom-1") -> PromptSet:
    """A set that comes with the project, see NAMES and NAMES_OF_ANY. Raises BadPromptSet for another name."""
    if name not in (*NAMES, *NAMES_OF_ANY):
        raise BadPromptSet(f"There is no built-in prompt set {name}; there are {', '.join((*NAMES, *NAMES_OF_ANY))}.")
    return load_prompt_set(_files(name), name=name, version=name.rpartition("-")[2], base=name)


@cache
def _files(name: str) -> dict[str, str]:
    """Return the texts of a built-in set. One for any schema has those of OmniToM's own that say nothing of
    dimensions."""
    files = {path.name: path.read_text("utf-8") for path in sorted((_FOLDER / name).glob("*.txt"))}
    if name in NAMES:
        return files
    return {file: text for file, text in _files(NAMES[-1]).items() if file != "label-categories.txt"} | files


def load_prompt_set(
    files: Mapping[str, str], *, name: str = "own", version: str = "", base: str = NAMES[-1]
) -> PromptSet:
    """The set that these files (name: text) make up; without a `version` it is the beginning of their hash. What it
    lacks and must have is that of the built-in set `base`.

    Raises BadPromptSet: for a placeholder that is not known or not allowed at its step, data that a prompt has no
    place for, a file that nothing uses, a set without prompts.
    """
    texts = {file.removesuffix(".txt"): _tidy(text) for file, text in files.items() if file.endswith(".txt")}
    built_in_texts = {file.removesuffix(".txt"): _tidy(text) for file, text in _files(base).items()}
    reader = _Reader({name: text for name, text in built_in_texts.items() if _DEFAULT.fullmatch(name)} | texts)
    templates = {}
    for step in STEPS:
        for level in LEVELS:
            for answer_format in ANSWER_FORMATS:
                if template := reader.template(step, level, answer_format):
                    templates[step, level, answer_format] = template
    if not templates:
        raise BadPromptSet("The set holds no prompt; it needs at least one file such as extract-level3.txt.")
    steps = {step for step, _, _ in templates}
    examples = {step: reader.example(step) for step in steps}
    categories = {step: reader.categories(step) for step in steps}
    for file in files:
        if file.removesuffix(".txt") not in reader.used and not file.lower().startswith("readme"):
            raise BadPromptSet(f"{file} is used by no prompt of the set; prompts are called as extract-level3.txt is.")
    return PromptSet(name, version or _digest(texts)[:12], templates, examples, categories, dict(files))


def _tidy(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").strip()


def _digest(value: object) -> str:
    return json_digest(value, sort_keys=True, ensure_ascii=False)


class _Reader:
    """Make templates of a set's files, and note which files they came from."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.used: set[str] = set()

    def template(self, step: str, level: int, answer_format: str) -> Template | None:
        plain, own_user = f"{step}-level{level}", f"{step}-level{level}-user"
        system_file = next((name for name in (f"{plain}-system", plain) if name in self.texts), "")
        user_file = next((name for name in (own_user, f"{step}-user" if system_file else "") if name in self.texts), "")
        holds_data = system_file == plain and placeholders(self._expanded(step, plain)) & set(DATA[step])
        if holds_data and user_file != own_user:  # it is the only message
            system_file, user_file = "", plain
        if not system_file and not user_file:
            return None
        system, user = [self._expanded(step, file) if file else "" for file in (system_file, user_file)]
        present = placeholders(system) | placeholders(user)
        for placeholder in _MANDATORY[step]:
            if placeholder not in present:
                name = user_file or system_file
                raise BadPromptSet(f"{name}.txt and its other part lack the placeholder {{{placeholder}}}.")
        # a file for an answer format is used, whichever is made first
        self.used |= {f"{step}-format-{known}" for known in ANSWER_FORMATS}
        if answer_format == "structured" and "format" not in present:
            system = f"{system}\n\n{{format}}".strip()
        format_file = f"{step}-format-{answer_format}"
        text = self._expanded(step, format_file)
        for placeholder in sorted(placeholders(text) & ({"format", "examples"} | set(DATA[step]))):
            raise BadPromptSet(
                f"{format_file}.txt has the placeholder {{{placeholder}}}, which has no place in a format."
            )
        return Template(include(system, {"format": text}), include(user, {"format": text}))

    def _text(self, name: str) -> str:
        self.used.add(name)
        return self.texts[name]

    def _expanded(self, step: str, name: str, depth: int = 0) -> str:
        """The text of a file with the files that it names; its own placeholders are checked."""
        if depth > _DEEPEST:
            raise BadPromptSet(f"{name}.txt names files that name each other, without an end.")
        text, pieces = self._text(name), {}
        own = {LABEL: _OF_LABELS, EXTRACT: _OF_EXTRACTION}.get(step, frozenset())
        for placeholder in sorted(placeholders(text) - _SHARED - set(DATA[step]) - own):
            if placeholder not in self.texts:
                raise BadPromptSet(
                    f"{name}.txt has the placeholder {{{placeholder}}}, which is neither known for {step} nor a file."
                )
            pieces[placeholder] = self._expanded(step, placeholder, depth + 1)
        if "category_block" in placeholders(text) and f"{step}-categories" not in self.texts:
            raise BadPromptSet(f"{name}.txt has {{category_block}}, but the set lacks {step}-categories.txt.")
        return include(text, pieces)

    def example(self, step: str) -> str:
        name = f"{step}-example"
        text = self._text(name)
        for placeholder in sorted(placeholders(text) - _OF_EXAMPLES - set(DATA[step])):
            raise BadPromptSet(f"{name}.txt has the placeholder {{{placeholder}}}, which is not known there.")
        if "answer" not in placeholders(text):
            raise BadPromptSet(f"{name}.txt lacks the placeholder {{answer}}.")
        return text

    def categories(self, step: str) -> Mapping[str, str]:
        """The text on each story category that the set has one for."""
        name, meanings = f"{step}-categories", {}
        for number, line in enumerate(self._text(name).splitlines() if name in self.texts else (), 1):
            category, colon, meaning = (part.strip() for part in line.partition(":"))
            if line.strip() and not (category and colon and meaning):
                raise BadPromptSet(f"{name}.txt, line {number}: expected a category, a colon and a text.")
            if line.strip():
                meanings[category] = meaning
        return meanings
