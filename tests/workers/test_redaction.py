"""A key that a server sends back is nowhere afterwards: not in the database, not in a log, not on a page."""

import asyncio
import base64
import html
import io
import json
import logging
import re
import urllib.parse
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.conf import settings as site
from django.db import models
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from config.log_filters import KeyFilter
from tests.servers.odd import Odd, OddServer
from workers.models import Call, Item
from workers.providers import registry
from workers.providers.contract import Spec
from workers.providers.errors import Rejected
from workers.providers.redaction import REDACTED, Redactor, redact
from workers.services.endpoints import try_endpoint

KEY = "sk-proj-Zq8vT3nWx0Lr5bYc2Hd7+Kf/Jm9pQsRu4Ae6Gi1OoBtNwXz"
"""Long and random like a real one, with characters that JSON and URLs escape."""
redacted = Redactor([KEY])


@pytest.fixture(autouse=True)
def key(monkeypatch) -> None:
    monkeypatch.setenv("TRIAL_API_KEY", KEY)


def holds_key(text: str, key: str = KEY) -> bool:
    """Whether `text` still has twelve characters of the key in a row, as they are or in base64."""
    parts = [key[at : at + 12] for at in range(len(key) - 11)]
    for offset in range(3):
        core = base64.b64encode(b"x" * offset + key.encode()).decode()[4:-4]
        parts += [core[at : at + 16] for at in range(len(core) - 15)]
    return any(part in text for part in parts)


ECHOES = {
    "plain": KEY,
    "header": f"Authorization: Bearer {KEY}",
    "sentence": f"Incorrect API key provided: {KEY}. You can find yours at …",
    "slashes": KEY.replace("/", "\\/"),
    "url": urllib.parse.quote(KEY, safe=""),
    "url twice": urllib.parse.quote(urllib.parse.quote(KEY, safe=""), safe=""),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of basic": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "base64 of bearer": base64.b64encode(f"Bearer {KEY} and more".encode()).decode(),
    "base64 for urls": base64.urlsafe_b64encode(f"k:{KEY}".encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
}


def test_a_key_is_found_in_every_form_and_what_is_none_stays_to_the_letter():
    for echo in ECHOES.values():
        for text in (echo, f"before {echo} after", json.dumps({"error": {"message": echo}})):
            clean = redacted(text)
            assert REDACTED in clean and not holds_key(clean)
            assert not holds_key(urllib.parse.unquote(urllib.parse.unquote(html.unescape(clean))))
        assert json.loads(redacted(json.dumps({"error": {"message": echo}})))  # it is as readable as before
    text = 'Anne\'s "key" to 50% of R&D: \\u00e9 %C3%A9 &amp; sk-proj-other * … sk-proj-****wXz'
    assert redacted(text) == text and Redactor([])(KEY) == KEY
    # a short key is a word of its own, and one of five characters cannot be told from other words
    assert Redactor(["secret", "none!"])("secret secrets none!") == f"{REDACTED} secrets none!"


@settings(max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_around_a_key_is_lost(before, after):
    before, after = before.replace("\\", ""), after.replace("\\", "")
    assert redacted(before + " " + KEY + " " + after) == redacted(before) + f" {REDACTED} " + redacted(after)


def test_an_error_is_clean_wherever_it_is_made_and_so_is_the_sites_log(monkeypatch):
    assert str(Rejected(f"Illegal header value 'Bearer {KEY}'")) == f"Illegal header value 'Bearer {REDACTED}'"
    assert redact(KEY) == REDACTED
    assert "keys" in site.LOGGING["handlers"]["console"]["filters"]
    stream = io.StringIO()
    handler, log = logging.StreamHandler(stream), logging.Logger("trial")
    handler.addFilter(KeyFilter())
    log.addHandler(handler)
    try:
        raise ValueError(f"Bearer {KEY}")
    except ValueError:
        log.exception("The server says %s.", {"key": KEY}, stack_info=True)
    assert stream.getvalue().count(REDACTED) >= 2 and not holds_key(stream.getvalue())
    # nor is a key that cannot be sent in the sentence that says so
    for value in ("line\nbreak-in-the-key", "sch\u00f6n-and-long-enough"):
        monkeypatch.setenv("TRIAL_API_KEY", value)
        spec = Spec("openai", "tiny", base_url="http://127.0.0.1:9", api_key_env="TRIAL_API_KEY")
        with pytest.raises(Rejected, match="TRIAL_API_KEY holds a line break") as raised:
            registry.make(spec)
        assert value not in str(raised.value)


# --- from the server to the database, the log and the pages


def everything_stored() -> Iterator[tuple[str, str]]:
    """(column, value) of every text and JSON column of the database."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, (models.CharField, models.TextField, models.JSONField)):
                for value in model._default_manager.order_by().values_list(field.name, flat=True):
                    yield f"{model.__name__}.{field.name}", str(value)


def echoing(path: str, headers: dict[str, str], body: bytes) -> Odd:
    """Send the key back in every header and in the body, in the way and form that the question names."""
    sent = headers.get("authorization", headers.get("x-api-key", "")).removeprefix("Bearer ")
    assert sent == KEY
    way, form = re.search(rb"WAY (\w+) FORM ([\w ]+)\.", body).groups() if b"WAY" in body else (b"answer", b"plain")
    echo = ECHOES[form.decode()]
    clean = {"x-request-id": f"req {echo}", "x-ratelimit-limit-requests": echo, "retry-after": "0"}
    clean = {name: value.encode("ascii", "replace").decode() for name, value in clean.items()}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "input_tokens": 1, "output_tokens": 1}
    choice = {"message": {"content": echo, "reasoning": echo}, "finish_reason": "stop"}
    blocks = [{"type": "text", "text": echo}, {"type": "thinking", "thinking": echo}]
    both = {
        "id": echo,
        "model": echo,
        "usage": usage,
        "choices": [choice],
        "content": blocks,
        "stop_reason": "end_turn",
    }
    match way:
        case b"answer":
            return Odd(200, both, clean)
        case b"strange":
            choice["finish_reason"] = both["stop_reason"] = echo
            return Odd(200, both, clean)
        case b"html":
            return Odd(200, f"<html><title>{echo}</title>{echo}</html>".encode(), clean)
        case b"broken":
            return Odd(200, b'{"\xff": "' + echo.encode(), clean)
        case b"redirect":
            return Odd(307, b"", clean | {"location": f"http://elsewhere.example/{urllib.parse.quote(echo)}"})
        case b"filtered":
            return Odd(400, {"error": {"message": echo, "code": "content_filter"}}, clean)
    return Odd(int(way), {"error": {"message": echo, "code": echo, "type": "x"}}, clean)


WAYS = ["answer", "strange", "html", "broken", "redirect", "filtered", "200", "400", "429", "500", "504"]
PROVIDERS = ["openai", "anthropic", "vllm"]


@pytest.mark.dear
@pytest.mark.xdist_group("waiting")
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_echoed_key_is_nowhere(provider, make_endpoint, worked, admin, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    caplog.handler.addFilter(KeyFilter())  # as on the site's console
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)
    forms, first = list(ECHOES), PROVIDERS.index(provider)
    keys = [f"WAY {way} FORM {forms[(first + at + at // len(WAYS)) % len(forms)]}." for at, way in enumerate(WAYS * 2)]
    assert len(keys) == 2 * len(forms)  # each form twice, in other ways with each provider
    with OddServer(echoing) as server:
        fields = {"max_attempts": 2, "repeat_unknown": 0, "retry_after_cap": 0, "api_key_env": "TRIAL_API_KEY"}
        endpoint = make_endpoint(provider, base_url=server.url_for(provider), **fields)
        job = worked(endpoint, keys)
        try_endpoint(endpoint=endpoint)
    assert Item.objects.filter(state="waiting").count() == 0 and server.asked > len(keys)
    stored = list(everything_stored())
    assert [name for name, value in stored if holds_key(value)] == []
    for column in ("Call.answer", "Attempt.body", "Attempt.headers"):
        assert REDACTED in "".join(value for name, value in stored if name == column)
    pages = [reverse("workers:call", args=[call.uid]) for call in Call.objects.all()[:12]]
    pages += [reverse("workers:job", args=[job.uid]), reverse("workers:ledger"), reverse("workers:work")]
    pages += [reverse("workers:endpoint", args=[endpoint.name]), reverse("workers:endpoints")]
    for address in pages:
        text = admin.get(address).content.decode()
        assert not holds_key(text) and not holds_key(html.unescape(text))
    assert not holds_key(caplog.text)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_echoed_key_in_the_results_of_a_batch_is_redacted(provider):
    lines = []
    for at, echo in enumerate(ECHOES.values()):
        body = {"choices": [{"message": {"content": echo}, "finish_reason": "stop"}]}
        message = {"content": [{"type": "text", "text": echo}], "stop_reason": "end_turn"}
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": echo}}
        done = {"response": {"status_code": 200, "body": body, "request_id": echo}}
        failed = {"response": {"status_code": 400, "body": error}}
        lines.append({"custom_id": f"u-{at}", "result": {"type": "succeeded", "message": message}} | done)
        lines.append({"custom_id": f"e-{at}", "result": {"type": "errored", "error": error}} | failed)

    def reply(path: str, headers: dict[str, str], body: bytes) -> Odd:
        if path.endswith(("/content", "/results")):
            return Odd(body="\n".join(map(json.dumps, lines)).encode() + b'\n{"custom_id": "x-1", ' + KEY.encode())
        about = {"id": "b-1", "status": "completed", "output_file_id": "f-1", "results_url": f"{server.url}/b/results"}
        return Odd(body=about)

    async def read() -> list:
        spec = Spec(provider, "tiny", base_url=server.url, api_key_env="TRIAL_API_KEY")
        backend = registry.make(spec)
        try:
            return [pair async for pair in registry.make_batches(spec, backend).results("b-1")]
        finally:
            await backend.aclose()

    with OddServer(reply) as server:
        results = asyncio.run(read())
    assert len(results) == 2 * len(ECHOES) + 1
    for _, result in results:
        text = str(result) + getattr(result, "body", "") + getattr(result, "text", "")
        assert REDACTED in text and not holds_key(text)
