"""One completion: whether it is paid, and what then goes wrong with its answer."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import time

from tests.servers.connection import Ask, Reply
from tests.servers.dialects import Dialect, minimal, tokens
from tests.servers.settings import Bucket, Settings

HUGE = 5_000_000  # characters
STATUS = {"throttle": 429, "throttle-long": 429, "overloaded": 529}
STOPS = ("refusal", "content-filter", "length")


class Ledger:
    """The log of what was paid. One write a line, so that a killed process leaves whole lines only."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.batched = {(line["batch"], line["custom_id"]) for line in lines if "batch" in line}

    def pay(self, body: dict, call: str = "", batch: str = "", custom_id: str = "") -> None:
        """`sha` is that of the body with sorted keys, without spaces, in UTF-8. An item of a batch is paid once."""
        if batch and (batch, custom_id) in self.batched:
            return
        canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        line = {"at": time(), "call": call, "sha": sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()}
        if batch:
            line |= {"batch": batch, "custom_id": custom_id}
            self.batched.add((batch, custom_id))
        os.write(self._file, (json.dumps(line) + "\n").encode())


@dataclass
class Outcome:
    """What becomes of a body: `mode` is empty where nothing goes wrong; `payload` is paid where `status` is 200."""

    status: int
    payload: dict
    mode: str = ""
    used: int = 0  # tokens


class Completions:
    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self.settings, self.ledger = settings, ledger
        self.asked = self.paid = self.throttled = 0
        self.modes: Counter[str] = Counter()
        self.rebuild()

    def rebuild(self) -> None:
        """Full buckets for the limits of the settings, and the oracle that they name."""
        self._oracle: Callable[[dict], str] | None = None
        self.requests = Bucket(self.settings.rate, self.settings.burst)
        self.tokens = Bucket(self.settings.token_rate, self.settings.token_burst)

    def answer(self, dialect: Dialect, ask: Ask) -> Reply:
        self.asked += 1
        if wait := self.requests.wait():
            return self._limited(dialect, wait)
        try:
            body = json.loads(ask.body)
            outcome = self.outcome(dialect, body)
        except (ValueError, AttributeError, TypeError, LookupError) as error:
            return _reply(400, dialect.error(400, f"not a request: {error}"))
        if outcome.status == 429:
            self.throttled += 1
            return _reply(429, outcome.payload, self._wait(outcome.mode, 1.0))
        if outcome.status != 200:
            return _reply(outcome.status, outcome.payload)
        if wait := self.tokens.wait(outcome.used):
            return self._limited(dialect, wait)
        self.requests.take()
        self.tokens.take(outcome.used)
        self.pay(body, call=ask.headers.get(b"x-client-request-id", b"").decode("latin-1"))
        reply = _reply(200, outcome.payload, self._limits(dialect))
        reply.delay = self.settings.delay()
        return _spoiled(reply, outcome.mode)

    def _limited(self, dialect: Dialect, wait: float) -> Reply:
        self.throttled += 1
        error = dialect.error(429, "the limit of this server is reached")
        return _reply(429, error, self._wait("", wait) + self._limits(dialect))

    def pay(self, body: dict, **where: str) -> None:
        self.ledger.pay(body, **where)
        self.paid += 1

    def outcome(self, dialect: Dialect, body: dict) -> Outcome:
        """Raises AttributeError or TypeError for a body that is not a request."""
        prompt = dialect.prompt(body)
        rule = self.settings.rule(prompt) if self.settings.rules else None
        mode = rule["mode"] if rule else ""
        if mode:
            self.modes[mode] += 1
        status = STATUS.get(mode) or (int(mode[6:]) if mode.startswith("error-") else 200)
        if status != 200:
            return Outcome(status, dialect.error(status, f"as the rule says: {mode}"), mode)
        text = rule.get("text", "") if mode == "say" else self.settings.before + self._text(dialect, body)
        if mode == "refusal":
            text = "I will not answer that."
        if mode == "length":
            text = text[: len(text) // 2]
        if mode == "huge":
            text = "x" * HUGE
        used = tokens(prompt), tokens(text)
        payload = dialect.completion(body, text, mode if mode in STOPS else "end", used)
        return Outcome(200, payload, mode, sum(used))

    def _text(self, dialect: Dialect, body: dict) -> str:
        if self.settings.answer == "fixed":
            return self.settings.text
        if self.settings.answer == "oracle":
            return self._asked_oracle(body)
        schema = dialect.schema(body) if self.settings.answer == "labels" else None
        return dialect.last(body) if schema is None else json.dumps(minimal(schema))

    def _asked_oracle(self, body: dict) -> str:
        if self._oracle is None:
            from tests.servers.oracle import answering  # it needs the product, which no other answer does

            self._oracle = answering(**self.settings.oracle)
        return self._oracle(body)

    def _wait(self, mode: str, seconds: float) -> tuple[tuple[str, str], ...]:
        if mode == "throttle-long":
            return (("retry-after", "86400"),)
        told = self.settings.retry_after
        if told is False:
            return ()
        return (("retry-after", str(math.ceil(seconds) if told is True else told)),)

    def _limits(self, dialect: Dialect) -> tuple[tuple[str, str], ...]:
        if not self.settings.headers:
            return ()
        named = (("requests", self.requests), ("tokens", self.tokens))
        return tuple(line for what, bucket in named if bucket.rate for line in dialect.limits(what, bucket))


def _reply(status: int, payload: dict, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    identity = payload.get("id", "req-none")
    return Reply(json.dumps(payload).encode(), status, (("x-request-id", identity), ("request-id", identity), *headers))


def _spoiled(reply: Reply, mode: str) -> Reply:
    if mode == "hang":
        reply.delay = None
    elif mode == "drop":
        reply.silent = True
    elif mode == "cut":
        reply.sent = len(reply.body) // 2
    else:
        reply.body = spoiled(reply.body, mode)
    return reply


def spoiled(body: bytes, mode: str) -> bytes:
    """What is left of a JSON text: half of it, or with two bytes that no UTF-8 has at the start of the answer's
    text."""
    if mode == "half-json":
        return body[: len(body) // 2]
    if mode == "invalid-utf8":
        at = re.search(rb'"(?:content|text)": "', body).end()
        return body[:at] + b"\xff\xfe" + body[at:]
    return body
