"""The setting that a server's refusal names, with the setting of ours that cures it: in the words of OpenAI, Anthropic,
vLLM, llama.cpp, Ollama, TGI, LiteLLM and servers like them.

Such a refusal concerns every question of a job, so it is told apart from a question that is too long or that the
server cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.messages import Sentence, gettext_noop

STATUSES = frozenset(range(400, 500)) - {401, 402, 403, 408, 409, 429}
"""Statuses of requests that a server will never take."""
OF_SERVER = frozenset({500, 501})
"""Statuses with which llama.cpp and SGLang answer what a chat template refuses."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused setting: its `kind`, as attempts and tables name it, and one sentence on what to change."""

    kind: str
    advice: str


@dataclass(frozen=True, slots=True)
class _Setting:
    kind: str
    names: tuple[str, ...]
    advice: str


_LIMIT_VALUE = Refusal(
    gettext_noop("refused max_tokens"),
    gettext_noop(
        "The longest answer is longer than the model allows: start again with a lower one, or with less room for "
        "reasoning."
    ),
)
SYSTEM = Refusal(
    gettext_noop("refused system role"),
    gettext_noop("The model has no system role: tick “has no system role” on the model's page, then resume."),
)
_SCHEMA = _Setting(
    gettext_noop("refused json_schema"),
    (
        "response_format", "json_schema", "structured_outputs", "structured outputs", "structured output",
        "output_config.format", "output_format", "guided_json", "guided_decoding", "grammar", "json schema",
        "response format", "response_schema", "responseSchema",
    ),
    gettext_noop(
        "The server cannot hold answers to the JSON schema: switch “structured output” off on the model's page, then "
        "resume."
    ),
)  # fmt: skip
_EFFORT = _Setting(
    gettext_noop("refused effort"),
    (
        "reasoning_effort", "reasoningEffort", "reasoning effort", "output_config.effort", "effort", "thinking",
        "think value", "reasoning",
    ),
    gettext_noop(
        "The model does not take this reasoning effort: change the option reasoning_effort or effort, or leave it out, "
        "on the model's page, then resume."
    ),
)  # fmt: skip
_LIMITS = (
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "maxtokens",
    "maxOutputTokens",
    "maximum tokens you requested",
)
_SETTINGS = (
    _Setting(gettext_noop("refused max_tokens"), _LIMITS, ""),
    _Setting(
        gettext_noop("refused temperature"),
        ("temperature",),
        gettext_noop(
            "The model takes no temperature, or not this one: switch “takes a temperature” off on the model's page, "
            "then resume."
        ),
    ),
    _Setting(
        gettext_noop("refused seed"),
        ("seed", "random_seed"),
        gettext_noop("The server takes no seed: set the option seed to false on the model's page, then resume."),
    ),
    _SCHEMA,
    _EFFORT,
    _Setting(
        gettext_noop("refused cache"),
        ("cache_control",),
        gettext_noop("The server caches no text: leave out the option cache on the model's page, then resume."),
    ),
    _Setting(
        _SCHEMA.kind,
        ("output_config",),
        gettext_noop(
            "The server takes no output_config: switch “structured output” off and leave out the option effort on the "
            "model's page, then resume."
        ),
    ),
)
_OURS = frozenset({"model", "messages", "message", "prompt", "input", "inputs", "contents", "content", "role", "body"})
"""Names of fields that hold the question, or say which model: a refusal of one concerns no setting."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_REFUSES = _any(
    r"\b(un|not |n't |in|mis)?support",
    r"unrecogni[sz]ed|unknown|unexpected|unavailable|deprecated|invalid|extraneous|forbidden|incompatible|disallowed",
    r"not (permitted|allowed|enabled|available|accept|implemented|a valid)|n't accept|extra (inputs|fields)",
    r"\bmust\b|should be|\bonly\b|cannot|can't|failed|error|limited|requires",
    r"too (large|big|high|long|small|low)|exceed|at most|at least|maximum|greater|less than|out of range|range of",
)
_UNKNOWN_NAME = _any(
    r"unsupported (parameter|param\b|argument)|unrecogni[sz]ed|unknown (parameter|field|argument|name)|unexpected",
    r"not support|n't support|extra (inputs|fields)|extra_forbidden|extraneous|not permitted|not allowed|instead",
    r"is unsupported",
)
_TOO_MUCH = _any(r"too (large|big|high)|range|at most [\d,]+|limited to")
_FIELD = r"[\[({]*[`'\"“]*([A-Za-z_][\w.-]*(?:\[\d+\])?[\w.-]*)"
_KIND = r"(?:parameter|param|argument|field|key|property|name|option)s?"
_NAMED = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"loc['\"]?\s*:\s*[\[(]\s*['\"](?:body|query)['\"]\s*,\s*['\"]([\w.-]+)['\"]",
        r"extra (?:inputs|fields)[^.;\n]{0,40}?\bfield:? ?[`'\"]([\w.-]+)",
        r"(?:^|[\s`'\":{(\[,])([A-Za-z_][\w.-]*)[`'\"]?\s*:?\s+extra (?:inputs|fields)",
        r"(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extraneous|invalid) (?:request |keyword |json |input )?"
        + _KIND
        + r"(?: supplied| name)?(?: *: *| *(?=[\[({`'\"“]))"
        + _FIELD,
        r"property [`'\"]([\w.-]+)[`'\"] is (?:un|not )support",
        r"(?:not|n't) support(?: the)? " + _KIND + r":? *" + _FIELD,
    )
)
"""Ways to name a field that is refused, whatever it is called."""
_NO_NAMES = frozenset({"value", "type", "is", "the", "supplied", "for", "in", "to", "of"})
_WHO = r"(role|message|prompt|instruction)s?"
_SYSTEM_ROLE = _any(
    r"\bsystem[ _]?"
    + _WHO
    + r"\b[^.;\n]{0,40}?(\b(not|no)\b|n't)[^.;\n]{0,20}(support|allow|enabl|permit|accept|avail)",
    r"\bsystem[ _]?" + _WHO + r"\b[^.;\n]{0,20}unsupported|unsupported[^.;\n]{0,20}\bsystem[ _]?" + _WHO,
    r"(not|n't) (support|accept|allow|have)[^.;\n]{0,30}\bsystem\b[ '\"`]*" + _WHO,
    r"does not support [`'\"]system[`'\"]|developer instruction is not enabled",
    r"only user and (assistant|model) roles|(?<!optional system message, )conversation roles must alternate",
    r"unknown variant [`'\"]system|input should be [`'\"]user[`'\"]( or [`'\"]assistant[`'\"])?[^\n]{0,80}system",
    r"roles? [`'\"“]?system[`'\"”]?[^.;\n]{0,30}\b(not|invalid|unsupported)",
    r"(invalid|unsupported|unknown|unexpected) (message |value)?(role)?:? [`'\"“]?system",
    r"\b(first message|conversation)\b[^.;\n]{0,20} must (be|start|begin) (from |with |by )?(an? |the )?[`'\"]?user\b",
)
_ALLOWS_SYSTEM = _any(r"optional system message|only user, system|system message must be at the begin")
_GRAMMAR = _any(
    r"(failed|error|unable|cannot)[^.;\n]{0,40}(grammar|json schema)",
    r"(grammar|schema)[^.;\n]{0,60}(failed|error|invalid|not supported|unsupported|features not)",
    r"invalid (json )?(schema|format)\b",
)
_NO_GRAMMAR = _any(r"failed to (parse|initiali[sz]e)[^\n]{0,40}grammar")
_THINKING = _any(r"not support thinking|think value|effort parameter|reasoning (effort|value)")
_TOO_LONG = _any(
    r"context[_ -]?(length|window|size|limit)|too many tokens|`?inputs`? tokens|string_above_max",
    r"(prompt|input|inputs`?|request)[^.;\n]{0,30}(is |are )?too (long|large)|maximum (prompt|input) length",
)
_LIMIT_IS = _any(r"^\W*max_(completion_|output_|new_)?tokens\W+(must|should|cannot|exceeds|is too)\b")
"""Beginning of a sentence about the longest answer, whatever it says of the context."""
_ROOM_AND_ANSWER = tuple(
    re.compile(pattern, re.I | re.S)
    for pattern in (
        r"context length (?:is|of) (?P<room>\d+).{0,200}?(?P<answer>\d+) in the (?:completion|output)",
        r"context length (?:is|of) (?P<room>\d+).{0,200}?requested (?P<answer>\d+) output tokens",
        r"\((?P<answer>\d+) > (?P<room>\d+) - \d+\)",
        r"must be <= (?P<room>\d+)\b.{0,80}?(?P<answer>\d+) `?max_new_tokens",
        r"context limit: \d+ \+ (?P<answer>\d+) > (?P<room>\d+)",
    )
)
"""Numbers of tokens in the words of servers: those that there is room for, and those of the longest answer."""
_SPLIT = re.compile(r"[;\n]|\.(?=\s|$)")
_WORDS = 2000


def refused_setting(payload: Any, text: str, *, of_server: bool = False) -> Refusal | None:
    """Return the setting of ours that a refusal is about, None where it names none.

    `payload` is the body as JSON, None where it is not JSON; `text` is the body. Of a failure of the server itself
    (`of_server`) only what a chat template says counts.
    """
    words = "\n".join(_texts(payload))[:_WORDS] or text[:_WORDS]
    if _SYSTEM_ROLE.search(words) and not _ALLOWS_SYSTEM.search(words):
        return SYSTEM
    if of_server and not _NO_GRAMMAR.search(words):
        return None
    if _TOO_LONG.search(words) and not _LIMIT_IS.search(words):
        return _LIMIT_VALUE if _answer_alone_is_too_long(words) else None
    name = _parameter(payload) or _named(words)
    if name is not None:
        return _by_name(name, words)
    if _THINKING.search(words):
        return Refusal(_EFFORT.kind, _EFFORT.advice)
    for sentence in _SPLIT.split(words):
        if _REFUSES.search(sentence) and (setting := _first_in(sentence)):
            return _of(setting, words)
    return Refusal(_SCHEMA.kind, _SCHEMA.advice) if _GRAMMAR.search(words) else None


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts of an error, in their order, and numbers and names only as `name: text`."""
    if depth > 6:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        location = value.get("loc")
        if isinstance(location, list | tuple):
            yield f"loc: [{', '.join(map(repr, location))}]"
        for key, inner in value.items():
            if key not in ("loc", "param", "input_value", "ctx"):
                yield from _texts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value[:20]:
            yield from _texts(inner, depth + 1)


def _parameter(payload: Any, depth: int = 0) -> str | None:
    """Return the field that an error names as its parameter."""
    if isinstance(payload, list) and payload and depth < 3:
        return _parameter(payload[0], depth + 1)
    if not isinstance(payload, Mapping) or depth > 3:
        return None
    name = payload.get("param")
    if isinstance(name, str) and name.strip() and not name.strip().isdigit():
        return name.strip()
    return _parameter(payload.get("error"), depth + 1)


def _named(words: str) -> str | None:
    """Return the field that a message names as refused, None where none of the usual ways fits."""
    for pattern in _NAMED:
        for match in pattern.finditer(words):
            name = match.group(1).strip(".-")
            if name.lower() not in _NO_NAMES:
                return name
    return None


def _by_name(name: str, words: str) -> Refusal | None:
    setting = next((candidate for candidate in _SETTINGS if _is_called(name, candidate)), None)
    if setting:
        return _of(setting, words)
    root = re.split(r"[.\[]", name)[0]
    if root in _OURS or not re.fullmatch(r"[A-Za-z_][\w-]*", root):
        return None
    advice = Sentence(
        "The server does not take “{root}”: leave it out of the option extra_body on the model's page, then resume.",
        root=root,
    )
    return Refusal(gettext_noop("refused extra_body"), advice)


def _is_called(name: str, setting: _Setting) -> bool:
    """Return whether a field, or the object that it is in, is one of the setting's."""
    plain, fields = name.lower(), [field.lower() for field in setting.names]
    return plain in fields or plain.startswith(tuple(f"{field}{mark}" for field in fields for mark in ".["))


def _first_in(sentence: str) -> _Setting | None:
    """Return the setting that a sentence names first."""
    places = [
        (match.start(), -len(name), at)
        for at, setting in enumerate(_SETTINGS)
        for name in setting.names
        if name not in ("thinking", "reasoning") and (match := re.search(rf"(?<![\w-]){name}(?![\w-])", sentence, re.I))
    ]
    return _SETTINGS[min(places)[2]] if places else None


def _of(setting: _Setting, words: str) -> Refusal:
    return Refusal(setting.kind, setting.advice) if setting.advice else _of_limit(words)


def _of_limit(words: str) -> Refusal:
    """Return the advice on a limit that is refused: another name for it, or a lower one."""
    if not _UNKNOWN_NAME.search(words) or _TOO_MUCH.search(words):
        return _LIMIT_VALUE
    names = re.findall(r"max_(?:completion_|output_)?tokens", words)
    refused = names[0] if names else "max_tokens"
    other = next((name for name in names if name != refused), "")
    instead = other or ("max_completion_tokens" if refused == "max_tokens" else "max_tokens")
    advice = Sentence(
        "The server does not take {refused}: set the option max_tokens_field to {instead} on the "
        "model's page, then resume.",
        refused=refused,
        instead=instead,
    )
    return Refusal(_LIMIT_VALUE.kind, advice)


def _answer_alone_is_too_long(words: str) -> bool:
    """Return whether the longest answer fills the context by itself, whatever the question is."""
    plain = words.replace(",", "")
    matches = (pattern.search(plain) for pattern in _ROOM_AND_ANSWER)
    return any(match and int(match["answer"]) >= int(match["room"]) for match in matches)
