"""The rules of an endpoint's fields: checked for the page, the API and the command alike, every field at once."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

from core.incoming.shapes import Like
from core.incoming.text import unstorable
from core.messages import Sentence, gettext_noop
from workers.domain.pricing import AS_WRITTEN, FACTOR, PRICE, exact_dollars
from workers.models import Endpoint
from workers.models.endpoint import VARIABLE
from workers.providers import registry
from workers.providers.addresses import check_allowed, check_host
from workers.providers.description import PRICES
from workers.providers.errors import BackendError, Rejected
from workers.providers.keys import LOOKS_LIKE_A_KEY, looks_like_key, variable_problem
from workers.providers.options import check_options, highest_prices

DAY = 86_400
BOUNDS: dict[str, tuple[int, int]] = {
    "context_tokens": (0, 100_000_000),
    "reasoning_tokens": (0, 1_000_000),
    "price_input": (0, 100_000),
    "price_cached": (0, 100_000),
    "price_cache_write": (0, 100_000),
    "price_output": (0, 100_000),
    "price_batch": (0, 1),
    "max_concurrency": (1, 10_000),
    "requests_per_minute": (0, 10_000_000),
    "tokens_per_minute": (0, 2_000_000_000),
    "timeout_seconds": (1, DAY),
    "max_attempts": (1, 100),
    "repeat_unknown": (0, 100),
    "retry_after_cap": (0, DAY),
}
"""The least and the most of every number: dollars per million tokens, a factor, counts, seconds."""


def _text(field: str, pattern: str, expected: str) -> Like:
    most: int = getattr(Endpoint._meta.get_field(field), "max_length", 0)
    return Like(pattern.replace("MOST", str(most)), expected.format(most=most), max_length=most)


_LINE = r"^[^\u0000-\u001f\u007f]"
TEXTS = {
    "name": _text("name", r"^[-a-zA-Z0-9_]{1,MOST}$", "1 to {most} letters, digits, hyphens and underscores"),
    "model": _text("model", f"{_LINE}+$", "1 to {most} characters on one line"),
    "revision": _text("revision", f"{_LINE}*$", "at most {most} characters on one line"),
    "family": _text("family", f"{_LINE}*$", "at most {most} characters on one line"),
    "base_url": _text(
        "base_url",
        r"^([Hh][Tt][Tt][Pp][Ss]?://[!-~]+)?$",
        "an address that begins with http:// or https://, of at most {most} characters",
    ),
    "api_key_env": _text(
        "api_key_env",
        f"^({VARIABLE})?$",
        "the name of an environment variable, in capitals and of at most {most} characters, never the key itself",
    ),
}
"""Forms of texts, by field."""
_ADDRESS = replace(TEXTS["base_url"], max_length=None)
SWITCHES = ("active", "sets_temperature", "json_schema", "no_system_role", "batches")
AMOUNTS = dict.fromkeys(PRICES, PRICE) | {"price_batch": FACTOR}
"""Forms of prices, by field."""
_MAY_BE_KEYS = ("name", "model", "revision", "family", "options")
_LINES = ("model", "revision", "family")
_ONE_LINE = gettext_noop("One line is expected, without tabs and other control characters.")
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
NAME_SENTENCES = {
    "invalid": gettext_noop("A name of letters, digits, hyphens and underscores is expected, such as small-2."),
    "unique": gettext_noop("There is a model of this name already; another name is expected."),
}
"""Sentences by Django's error codes, in place of its own, which speak of slugs and endpoints."""
_NO_ADDRESS = "An address that begins with http:// or https:// is expected."

Problems = dict[str, list[str]]


def check_endpoint(endpoint: Endpoint) -> None:
    """Raise ValidationError with every field that is wrong, not only the first."""
    problems: Problems = {}
    texts = {name: getattr(endpoint, name) for name in _MAY_BE_KEYS} | {"base_url": _without_host(endpoint.base_url)}
    keys = {name: [LOOKS_LIKE_A_KEY] for name, value in texts.items() if looks_like_key(value)}
    # What was typed: a check of the model makes numbers of it.
    typed = {name: getattr(endpoint, name) for name in AMOUNTS}
    unfit = [name for name, text in typed.items() if isinstance(text, str) and AMOUNTS[name].sentence_on(text)]
    checks: tuple[Callable[[], object], ...] = (
        partial(check_provider, endpoint), endpoint.full_clean, partial(check_address, endpoint),
    )  # fmt: skip
    for check in checks:
        try:
            check()
        except ValidationError as error:
            _add(problems, error)
    problems |= keys  # alone, because other sentences may repeat what was typed
    for name, (low, high) in BOUNDS.items():
        value = getattr(endpoint, name)
        if isinstance(value, int | Decimal) and not low <= value <= high:
            problems.setdefault(name, [bound_sentence(name)])
    for name in unfit:
        problems.setdefault(name, [AS_WRITTEN])
    if problem := variable_problem(endpoint.api_key_env):
        problems.setdefault("api_key_env", [problem])
    if endpoint.active or not endpoint.pk:  # a model that was registered before can still be switched off
        for name in _LINES:
            if TEXTS[name].sentence_on(getattr(endpoint, name)):
                problems.setdefault(name, [_ONE_LINE])
    if not {"provider", "model", "options"} & set(problems):
        try:
            check_own_options(endpoint)
        except ValidationError as error:
            _add(problems, error)
    if problems:
        raise ValidationError(problems)


def check_provider(endpoint: Endpoint) -> None:
    """Raise ValidationError for an unknown provider, unless the model is only switched off."""
    if endpoint.provider_problem and (endpoint.active or not endpoint.pk):
        raise ValidationError({"provider": endpoint.provider_problem})


def _add(problems: Problems, error: ValidationError) -> None:
    for name, errors in error.error_dict.items():
        sentences = NAME_SENTENCES if name == "name" else {}
        for problem in errors:
            own_sentence = sentences.get(problem.code or "")
            problems.setdefault(name, []).extend([own_sentence] if own_sentence else problem.messages)


def _without_host(url: str) -> str:
    """Return a URL without its host: a host may look as random as a key, the rest may not."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return url.replace(host, "", 1) if host else url


def bound_sentence(name: str) -> str:
    """Return the sentence for a number out of its bounds."""
    low, high = BOUNDS[name]
    return Sentence("A number from {low} to {high} is expected.", low=low, high=f"{high:,}")


def check_address(endpoint: Endpoint) -> None:
    """Raise ValidationError for an address that is not http or https, whose host the site does not allow, or where
    clouds keep secrets, and for none where the provider has none of its own; a model that was registered so before can
    still be switched off."""
    if not endpoint.base_url:
        if (endpoint.active or not endpoint.pk) and registry.wants_address(endpoint.provider):
            raise ValidationError({"base_url": gettext_noop("It has no address: say where its server answers.")})
        return
    is_plain = not _ADDRESS.sentence_on(endpoint.base_url)  # urlsplit would drop other characters
    try:
        parts = urlsplit(endpoint.base_url)
        host, _ = parts.hostname or "", parts.port  # a port that is not a number raises
    except ValueError:
        parts, host = None, ""
    if parts is None or not is_plain or not _HOST.fullmatch(host):
        raise ValidationError({"base_url": _NO_ADDRESS})
    if parts.username is not None or parts.query or parts.fragment:
        raise ValidationError(
            {
                "base_url": gettext_noop(
                    "An address without a user, password or query is expected; keys come from the environment."
                )
            }
        )
    _as_error_of("base_url", lambda: check_allowed(endpoint.base_url, settings.ENDPOINT_HOSTS))
    _as_error_of("base_url", lambda: check_host(host))


def check_own_options(endpoint: Endpoint) -> None:
    """Raise ValidationError for options that can never work: when they are written, not when the first call fails."""
    if not isinstance(endpoint.options, dict):
        raise ValidationError({"options": gettext_noop("A JSON object is expected.")})
    try:
        json.dumps(endpoint.options, allow_nan=False)
    except ValueError as error:
        raise ValidationError({"options": gettext_noop("NaN and Infinity are not valid JSON.")}) from error
    if unstorable(endpoint.options):
        raise ValidationError(
            {"options": gettext_noop("NUL characters and halves of surrogate pairs cannot be stored.")}
        )
    _as_error_of("options", lambda: check_options(endpoint.options, endpoint.about.options))
    _as_error_of("options", lambda: _check_highest_prices(endpoint))
    if endpoint.about.refuses_at:
        _as_error_of(endpoint.about.refuses_at, lambda: registry.make(endpoint.spec))


def _check_highest_prices(endpoint: Endpoint) -> None:
    """Raise Rejected if a router may choose a host that costs more than is reserved by the endpoint's prices."""
    prices, most = endpoint.prices, highest_prices(endpoint.options.get("extra_body", {}))
    if most is None or prices.input is None or prices.output is None:
        return
    if most[0] > prices.input or most[1] > prices.output:
        of_router, of_model = (
            Sentence("{a} and {b}", a=exact_dollars(a), b=exact_dollars(b))
            for a, b in (most, (prices.input, prices.output))
        )
        raise Rejected(
            Sentence(
                "extra_body's max_price is {of_router} for input and output, and the model's prices are "
                "{of_model}: a call could cost more than is reserved for it. Lower max_price, or raise the "
                "prices.",
                of_router=of_router,
                of_model=of_model,
            )
        )


def _as_error_of(field: str, check: Callable[[], object]) -> None:
    """Run a check, and raise its BackendError as the ValidationError of a field."""
    try:
        check()
    except BackendError as error:
        raise ValidationError({field: str(error)}) from error
