"""The two protocols: what a request says, and what an answer or an error looks like."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.servers.settings import Bucket

_numbers = itertools.count(1)


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or [] if isinstance(block, dict))


def prompt_of(body: dict) -> str:
    parts = [content_text(body["system"])] if body.get("system") else []
    return "\n".join(parts + [content_text(one.get("content")) for one in body.get("messages", [])])


class OpenAI:
    """`stop` of a completion is end, length, refusal or content-filter; `used` are prompt and answer tokens."""

    def completion(self, body: dict, text: str, stop: str, used: tuple[int, int]) -> dict:
        number, told = next(_numbers), ("prompt_tokens", "completion_tokens", "total_tokens")
        usage = dict(zip(told, (*used, sum(used)), strict=True))
        reason = {"length": "length", "content-filter": "content_filter"}.get(stop, "stop")
        said, refusal = (None, text) if stop == "refusal" else (text, None)
        message = {"role": "assistant", "content": said, "refusal": refusal}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "system_fingerprint": "fp_trial",
            "created": 1_700_000_000 + number,
            "model": body.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
            "usage": usage | {"prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}},
        }

    def error(self, status: int, message: str) -> dict:
        kinds = {401: "authentication_error", 429: "rate_limit_error", 400: "invalid_request_error"}
        code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
        kind = kinds.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def limits(self, bucket: Bucket) -> dict[str, str]:
        """Counts a minute, as the providers have them."""
        left = bucket.fill()
        return {
            "x-ratelimit-limit-requests": f"{bucket.rate * 60:.0f}",
            "x-ratelimit-remaining-requests": f"{max(0.0, left):.0f}",
            "x-ratelimit-reset-requests": f"{(bucket.burst - left) / bucket.rate:.3f}s",
        }


class Anthropic:
    def completion(self, body: dict, text: str, stop: str, used: tuple[int, int]) -> dict:
        reasons = {"length": "max_tokens", "refusal": "refusal", "content-filter": "refusal"}
        return {
            "id": f"msg_{next(_numbers)}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", ""),
            "content": [{"type": "text", "text": text}],
            "stop_reason": reasons.get(stop, "end_turn"),
            "stop_sequence": None,
            "usage": {"input_tokens": used[0], "cache_read_input_tokens": 0, "output_tokens": used[1]},
        }

    def error(self, status: int, message: str) -> dict:
        kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
        kinds |= {429: "rate_limit_error", 529: "overloaded_error"}
        return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}

    def limits(self, bucket: Bucket) -> dict[str, str]:
        left = bucket.fill()
        full = datetime.now(UTC) + timedelta(seconds=(bucket.burst - left) / bucket.rate)
        return {
            "anthropic-ratelimit-requests-limit": f"{bucket.rate * 60:.0f}",
            "anthropic-ratelimit-requests-remaining": f"{max(0.0, left):.0f}",
            "anthropic-ratelimit-requests-reset": full.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }


OPENAI, ANTHROPIC = OpenAI(), Anthropic()
Dialect = OpenAI | Anthropic
