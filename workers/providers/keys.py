"""Keys, which are in the environment of the workers: which variables may hold one, and texts that look like one."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from core.messages import Sentence, gettext_noop

ENDINGS = ("_API_KEY", "_KEY", "_TOKEN")
_OWN = re.compile(r"SECRET_KEY.*|(CREDENCE|DJANGO|DATABASE|REDIS|BROKER|CELERY|EMAIL|SMTP)_.*")
"""What the site itself reads (config/settings.py): a server that an endpoint names must never be sent one of these."""
NOT_A_VARIABLE = Sentence(
    "The name of a key variable ends in {first} or {last}, such as OPENAI_API_KEY.",
    first=", ".join(ENDINGS[:-1]),
    last=ENDINGS[-1],
)
OWN_VARIABLE = gettext_noop("This variable belongs to the site itself; choose another name for the key.")
LOOKS_LIKE_A_KEY = gettext_noop(
    "This looks like a key. Keys are never stored: set it as an environment variable where the workers run, and give "
    "the variable's name as key variable."
)

_PREFIXED = re.compile(r"(?<![A-Za-z0-9])(?:sk-|hf_|gsk_|xai-|r8_|nvapi-|pplx-|gh[pos]_|github_pat_|glpat-)([\w-]{8,})")
_WHOLE = re.compile(r"(?<![A-Za-z0-9])(?:AIza[\w-]{16,}|AKIA[A-Z0-9]{12,}|ey[\w-]{10,}\.ey[\w-]{10,})")
_RUNS = re.compile(r"[A-Za-z0-9]+")
_DIGESTS = (40, 64)
"""Lengths of commits and SHA-256 sums in hexadecimal digits, which name weights; a hexadecimal key has 32."""
_RESTLESS = 0.4


def variable_problem(name: str) -> str:
    """Return a sentence where the variable `name` cannot be that of a model's key, else an empty one."""
    if not name:
        return ""
    if _OWN.fullmatch(name):
        return OWN_VARIABLE
    return "" if name.endswith(ENDINGS) else NOT_A_VARIABLE


def looks_like_key(value: Any) -> bool:
    """Return whether a text, or anything inside a JSON value, looks like a key: a provider's prefix, or a long run of
    random characters."""
    if isinstance(value, Mapping):
        return any(looks_like_key(part) for pair in value.items() for part in pair)
    if isinstance(value, str):
        tails = [run for tail in _PREFIXED.findall(value) for run in _RUNS.findall(tail)]
        return (
            bool(_WHOLE.search(value))
            or any(_is_random(run, 8) or (len(run) >= 16 and re.search("[0-9]", run)) for run in tails)
            or any(_is_random(run, 24) or _is_hexadecimal_key(run) for run in _RUNS.findall(value))
        )
    return isinstance(value, Sequence) and any(looks_like_key(part) for part in value)


def _is_random(run: str, least: int) -> bool:
    """Return whether a run is random: its neighbours change often between capitals, small letters and digits (six of
    ten), those of words seldom."""
    kinds = ["0" if character.isdigit() else "A" if character.isupper() else "a" for character in run]
    changes = sum(kind != following for kind, following in pairwise(kinds))
    return len(run) >= least and len(set(kinds)) == 3 and changes / (len(run) - 1) > _RESTLESS


def _is_hexadecimal_key(run: str) -> bool:
    mixed = bool(re.fullmatch(r"(?=.*[0-9])(?=.*[a-f])[0-9a-f]{32,}", run))
    return mixed and len(run) not in _DIGESTS
