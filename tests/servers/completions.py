"""One completion: whether it is paid, and what then goes wrong with its answer."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import time

from tests.servers.dialects import Dialect, content_text, prompt_of
from tests.servers.settings import Bucket, Settings

HUGE = 5_000_000  # characters
STATUS = {"throttle": 429, "throttle-long": 429, "overloaded": 529}
STOPS = ("refusal", "content-filter", "length")


@dataclass(slots=True)
class Ask:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # names in lower case
    body: bytes = b""


@dataclass(slots=True)
class Reply:
    """`delay` in seconds, None: never. `sent` is how many bytes of the body leave before the connection is closed,
    None: all, and it stays."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float | None = 0.0
    sent: int | None = None
    silent: bool = False  # closes without a word

    @classmethod
    def of(cls, payload: dict, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
        identity = str(payload.get("id", "req-none"))
        named = {"x-request-id": identity, "request-id": identity}
        return cls(json.dumps(payload).encode(), status, named | (headers or {}))


class Ledger:
    """The log of what was paid. One write a line, so that a killed process leaves whole lines only."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.batched = {(line["batch"], line["custom_id"]) for line in lines if "batch" in line}

    def pay(self, body: dict, call: str = "", **item: str) -> None:
        """`sha` is that of the body with sorted keys, without spaces, in UTF-8. An item (batch, custom_id) of a batch
        is paid once."""
        if item and tuple(item.values()) in self.batched:
            return
        canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        line = {"at": time(), "call": call, "sha": sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()}
        self.batched.add(tuple(item.values()))
        os.write(self._file, (json.dumps(line | item) + "\n").encode())


class Completions:
    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self.settings, self.ledger = settings, ledger
        self.asked = self.throttled = 0
        self.rebuild()

    def rebuild(self) -> None:
        """A full bucket for the limit of the settings, and the oracle that they name."""
        self._oracle: Callable[[dict], str] | None = None
        self.requests = Bucket(self.settings.rate, self.settings.burst)

    def answer(self, dialect: Dialect, ask: Ask) -> Reply:
        self.asked += 1
        limits = dialect.limits(self.requests) if self.settings.headers and self.settings.rate else {}
        if wait := self.requests.wait():
            self.throttled += 1
            limits["retry-after"] = str(math.ceil(wait))
            return Reply.of(dialect.error(429, "the limit of this server is reached"), 429, limits)
        try:
            body = json.loads(ask.body)
            mode, status, payload = self.outcome(dialect, body)
        except (ValueError, AttributeError, TypeError, LookupError) as error:
            return Reply.of(dialect.error(400, f"not a request: {error}"), 400)
        if status != 200:
            self.throttled += status == 429
            told = {"retry-after": "86400" if mode == "throttle-long" else "1"} if status == 429 else {}
            return Reply.of(payload, status, told)
        self.requests.left -= 1
        self.ledger.pay(body, call=ask.headers.get("x-client-request-id", ""))
        reply = Reply.of(payload, 200, limits)
        reply.delay = None if mode == "hang" else self.settings.delay()
        reply.silent = mode == "drop"
        reply.sent = len(reply.body) // 2 if mode == "cut" else None
        reply.body = spoiled(reply.body, mode)
        return reply

    def outcome(self, dialect: Dialect, body: dict) -> tuple[str, int, dict]:
        """(what goes wrong, "" for nothing; status; payload, which is paid where the status is 200). Raises
        AttributeError or TypeError for a body that is not a request."""
        prompt = prompt_of(body)
        rule = self.settings.rule(prompt) or {}
        mode = rule.get("mode", "")
        status = STATUS.get(mode) or (int(mode[6:]) if mode.startswith("error-") else 200)
        if status != 200:
            return mode, status, dialect.error(status, f"as the rule says: {mode}")
        text = rule.get("text", "") if mode == "say" else self.settings.before + self._text(body)
        text = {"refusal": "I will not answer that.", "length": text[: len(text) // 2]}.get(mode, text)
        text = "x" * HUGE if mode == "huge" else text
        used = len(prompt) // 4 + 1, len(text) // 4 + 1  # about four characters a token
        return mode, 200, dialect.completion(body, text, mode if mode in STOPS else "end", used)

    def _text(self, body: dict) -> str:
        if self.settings.answer == "echo":
            return content_text((body.get("messages") or [{}])[-1].get("content"))
        if self._oracle is None:
            from tests.servers.oracle import answering  # it needs the product, which no other answer does

            self._oracle = answering(**self.settings.oracle)
        return self._oracle(body)


def spoiled(body: bytes, mode: str) -> bytes:
    """What is left of a JSON text: half of it, or with two bytes that no UTF-8 has at the start of the answer's
    text."""
    if mode == "half-json":
        return body[: len(body) // 2]
    if mode == "invalid-utf8":
        at = re.search(rb'"(?:content|text)": "', body).end()
        return body[:at] + b"\xff\xfe" + body[at:]
    return body
