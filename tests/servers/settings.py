"""What the model server can be told, at start and while it runs."""

from __future__ import annotations

import dataclasses
import random
import time
from dataclasses import dataclass, field

MODES = (
    "say",  # 200 with the rule's own `text`
    "throttle",  # 429 for ever
    "throttle-long",  # 429 with Retry-After: 86400
    "hang",  # paid, never answered
    "drop",  # paid, connection closed without a word
    "cut",  # 200, headers, half of the body, connection closed
    "half-json",  # a whole HTTP answer whose JSON stops in the middle
    "huge",  # 5 MB of text
    "invalid-utf8",
    "refusal",  # OpenAI: message.refusal; Anthropic: stop_reason refusal
    "content-filter",  # OpenAI: finish_reason content_filter; Anthropic: as refusal
    "length",  # half of the text, stopped by max tokens
    "overloaded",  # 529
)


@dataclass
class Settings:
    """Rules are tried in order, the first that fits decides.

    A rule is {"when": substring of the prompt, "mode": one of MODES or "error-NNN"} and may carry "share" (chance per
    call, 0 to 1), "times" (how many calls it takes, then it is spent) and "text" (what mode "say" says).
    """

    latency: float = 0.0  # seconds
    jitter: float = 0.0  # seconds, up and down
    # echo (the last message), fixed (`text`), labels (the schema's first values; echo without one) or oracle
    answer: str = "echo"
    oracle: dict = field(default_factory=dict)  # records, served (paths), skills by model: tests/servers/oracle.py
    text: str = "ok"
    before: str = ""  # stands before whatever `answer` says, such as a thought
    rate: float = 0.0  # hidden limit, requests a second; 0 is none
    burst: float = 1.0  # requests that may come at once
    token_rate: float = 0.0  # hidden limit, prompt and answer tokens a second; 0 is none
    token_burst: float = 10_000.0
    retry_after: bool | float = True  # on a 429: true is the seconds until there is room, false no header, or a number
    headers: bool = False  # x-ratelimit-… and anthropic-ratelimit-…
    rules: list[dict] = field(default_factory=list)
    batch_delay: float = 0.2  # seconds until a batch ends
    batch_end: str = "completed"  # completed, failed, or expired (half of the requests answered)
    batch_reply: str = "answer"  # answer, or cut: the batch is taken, the connection closed without a word

    def change(self, changes: dict) -> None:
        """Raises ValueError for names and modes that there are not."""
        known = {one.name for one in dataclasses.fields(self)}
        if unknown := set(changes) - known:
            raise ValueError(f"no such setting: {', '.join(sorted(unknown))}")
        for rule in changes.get("rules", []):
            mode = rule.get("mode", "")
            if "when" not in rule or not (mode in MODES or (mode.startswith("error-") and mode[6:].isdigit())):
                raise ValueError(f"not a rule: {rule}")
        for name, value in changes.items():
            setattr(self, name, value)

    def rule(self, prompt: str) -> dict | None:
        """The rule that decides over this call; takes one from its `times`."""
        for rule in self.rules:
            if rule["when"] not in prompt or rule.get("times", 1) < 1:
                continue
            if "share" in rule and random.random() >= rule["share"]:
                continue
            if "times" in rule:
                rule["times"] -= 1
            return rule
        return None

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

    def wait(self, units: float = 1.0) -> float:
        """Seconds until `units` are there, 0 where they are. More than the burst waits for a full bucket."""
        if not self.rate:
            return 0.0
        return max(0.0, (min(units, self.burst) - self.fill()) / self.rate)

    def take(self, units: float = 1.0) -> None:
        self.left -= units
