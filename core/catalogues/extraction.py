"""Texts to translate: those that code, templates and scripts hand to gettext."""

import ast
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from django.template.base import Lexer, Token, TokenType
from django.utils.translation import trim_whitespace


class Text(NamedTuple):
    """A text as it is written, its form with several things, and what tells it from an equal one of another meaning."""

    singular: str
    plural: str = ""
    context: str = ""


_PLAIN = {"gettext", "gettext_lazy", "gettext_noop", "Sentence", "_"}
_PLAIN |= {"RunRefused", "BadFile", "BadImport", "JobRefused"}  # those of `core.messages.Refusal`
_PLURAL = {"ngettext", "ngettext_lazy"}
_OF_CONTEXT = {"pgettext", "pgettext_lazy"}


def python_texts(source: str) -> set[Text]:
    """Return the texts of Python code. Raises SyntaxError where it is none."""
    return {text for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) for text in _called(node)}


def _called(call: ast.Call) -> Iterator[Text]:
    name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    given = [
        argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else ""
        for argument in call.args
    ]
    if name in _PLAIN and given[:1] > [""]:
        yield Text(given[0])
    elif name in _PLURAL and all(given[:2]):
        yield Text(given[0], given[1])
    elif name in _OF_CONTEXT and all(given[:2]):
        yield Text(given[1], context=given[0])
    elif name == "counted" and given[1:2] > [""]:
        yield counted_text(given[1], given[2] if given[2:] else "")


def counted_text(noun: str, plural: str) -> Text:
    """Return the text that `core.wording.counted` looks up."""
    return Text(f"{{count}} {noun}", f"{{count}} {plural or noun + 's'}")


def schema_texts(source: str) -> set[Text]:
    """Return the texts of a label schema in JSON: names, questions, meanings and cross-checks."""
    document = json.loads(source)
    dimensions = document["dimensions"]
    texts = {dimension[key] for dimension in dimensions for key in ("name", "short", "question")}
    texts |= {label["meaning"] for dimension in dimensions for label in dimension["labels"]}
    return {Text(text) for text in texts | {check["message"] for check in document["checks"]}}


_SCRIPT_STRING = r'"(?:[^"\\\n]|\\.)*"'
_SCRIPT_CALL = re.compile(rf"\b(n?)gettext\(\s*({_SCRIPT_STRING})(?:,\s*({_SCRIPT_STRING}))?")


def script_texts(source: str) -> set[Text]:
    """Return the texts that a script hands to `gettext("…")` and `ngettext("…", "…", count)`, in double quotes."""
    calls = _SCRIPT_CALL.findall(source)
    return {Text(json.loads(text), json.loads(plural) if counts else "") for counts, text, plural in calls}


_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_INLINE = re.compile(rf"translate\s+({_QUOTED})(?:.*?\bcontext\s+({_QUOTED}))?", re.S)
_BLOCK = re.compile(rf"blocktranslate\b(?:.*?\bcontext\s+({_QUOTED}))?", re.S)
_COUNTED = re.compile(r"""\|counted:["']([^"',]+),?([^"']*)["']""")
_CONSTANT = re.compile(rf"\b_\(({_QUOTED})\)")


def template_texts(source: str) -> set[Text]:
    """Return the texts of a template: of its tags `translate` and `blocktranslate`, and its constants `_("…")`."""
    texts = set[Text]()
    tokens = iter(Lexer(source).tokenize())
    for token in tokens:
        if token.token_type not in (TokenType.BLOCK, TokenType.VAR):
            continue
        is_tag = token.token_type == TokenType.BLOCK
        if is_tag and (inline := _INLINE.match(token.contents)):
            texts.add(Text(_constant(inline[1]), context=_constant(inline[2] or "")))
        texts |= {counted_text(noun, plural) for noun, plural in _COUNTED.findall(token.contents)}
        texts |= {Text(_constant(constant)) for constant in _CONSTANT.findall(token.contents)}
        if is_tag and (block := _BLOCK.match(token.contents)):
            texts.add(_of_block(tokens, _constant(block[1] or ""), trimmed="trimmed" in token.split_contents()))
    return texts


def _constant(quoted: str) -> str:
    """Return the text of a constant as Django looks it up."""
    return quoted[1:-1].replace("%", "%%")


def _of_block(tokens: Iterator[Token], context: str, *, trimmed: bool) -> Text:
    """Return the text up to `endblocktranslate`, its variables as `%(name)s`."""
    forms: list[str] = [""]
    for token in tokens:
        if token.token_type == TokenType.BLOCK:
            if token.contents.strip() == "endblocktranslate":
                break
            forms.append("")  # plural
        elif token.token_type == TokenType.VAR:
            forms[-1] += f"%({token.contents})s"
        elif token.token_type == TokenType.TEXT:
            forms[-1] += token.contents.replace("%", "%%")
    whole = [trim_whitespace(form) if trimmed else form for form in forms]
    return Text(whole[0], whole[1] if whole[1:] else "", context)
