"""What the model server can be told, at start and while it runs."""

import dataclasses
import random
import time
from dataclasses import dataclass, field

MODES = {
    "say": "200 with the rule's own `text`",
    "throttle": "429 for ever",
    "throttle-long": "429 with Retry-After: 86400",
    "overloaded": "529",
    "hang": "paid, never answered",
    "drop": "paid, connection closed without a word",
    "cut": "200, headers, half of the body, connection closed",
    "half-json": "a whole HTTP answer whose JSON stops in the middle",
    "huge": "5 MB of text",
    "invalid-utf8": "two bytes that no UTF-8 has",
    "refusal": "OpenAI: message.refusal; Anthropic: stop_reason refusal",
    "content-filter": "OpenAI: finish_reason content_filter; Anthropic: as refusal",
    "length": "half of the text, stopped by max tokens",
}
"""Besides error-NNN, which is an HTTP status."""


@dataclass
class Settings:
    """Of the rules the first whose "when" is in the prompt decides: {"when": text, "mode": mode}, with the "text" that
    mode "say" says."""

    latency: float = 0.0  # seconds
    jitter: float = 0.0  # seconds, up and down
    answer: str = "echo"  # the last message, or oracle
    oracle: dict = field(default_factory=dict)  # records, served (paths), skills by model: tests/servers/oracle.py
    before: str = ""  # stands before whatever `answer` says, such as a thought
    rate: float = 0.0  # hidden limit, requests a second; 0 is none
    burst: float = 1.0  # requests that may come at once
    headers: bool = False  # x-ratelimit-… and anthropic-ratelimit-…
    rules: list[dict] = field(default_factory=list)
    batch_delay: float = 0.2  # seconds until a batch ends
    batch_end: str = "completed"  # or expired: half of the requests answered
    batch_reply: str = "answer"  # or cut: the batch is taken, the connection closed without a word

    def change(self, changes: dict) -> None:
        """Raises ValueError for names and modes that there are not."""
        if unknown := set(changes) - {one.name for one in dataclasses.fields(self)}:
            raise ValueError(f"no such setting: {', '.join(sorted(unknown))}")
        for rule in changes.get("rules", []):
            if "when" not in rule or not (rule["mode"] in MODES or rule["mode"].startswith("error-")):
                raise ValueError(f"not a rule: {rule}")
        for name, value in changes.items():
            setattr(self, name, value)

    def rule(self, prompt: str) -> dict | None:
        return next((rule for rule in self.rules if rule["when"] in prompt), None)

    def delay(self) -> float:
        return max(0.0, self.latency + random.uniform(-self.jitter, self.jitter))


class Bucket:
    """A token bucket; `rate` units a second, 0 means without limit."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.left, self.at = rate, burst, burst, time.monotonic()

    def fill(self) -> float:
        now = time.monotonic()
        self.left = min(self.burst, self.left + (now - self.at) * self.rate)
        self.at = now
        return self.left

    def wait(self) -> float:
        """Seconds until a unit is there, 0 where one is."""
        return max(0.0, (min(1.0, self.burst) - self.fill()) / self.rate) if self.rate else 0.0
