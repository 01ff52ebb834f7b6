"""The two protocols: what a request says, and what an answer or an error looks like."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.servers.settings import Bucket

_numbers = itertools.count(1)


def tokens(text: str) -> int:
    """About four characters a token."""
    return len(text) // 4 + 1


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or [] if isinstance(block, dict))


class Dialect:
    def prompt(self, body: dict) -> str:
        parts = [content_text(body["system"])] if body.get("system") else []
        return "\n".join(parts + [content_text(one.get("content")) for one in body.get("messages", [])])

    def last(self, body: dict) -> str:
        messages = body.get("messages") or [{}]
        return content_text(messages[-1].get("content"))


class OpenAI(Dialect):
    name = "openai"

    def schema(self, body: dict) -> dict | None:
        form = body.get("response_format") or {}
        return (form.get("json_schema") or {}).get("schema") or (body.get("structured_outputs") or {}).get("json")

    def completion(self, body: dict, text: str, stop: str, used: tuple[int, int]) -> dict:
        """`stop` is end, length, refusal or content-filter; `used` are prompt and answer tokens."""
        number = next(_numbers)
        reason = {"length": "length", "content-filter": "content_filter"}.get(stop, "stop")
        message = {"role": "assistant", "content": text, "refusal": None}
        if stop == "refusal":
            message = {"role": "assistant", "content": None, "refusal": text}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "system_fingerprint": "fp_trial",
            "created": 1_700_000_000 + number,
            "model": body.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
            "usage": {
                "prompt_tokens": used[0],
                "completion_tokens": used[1],
                "total_tokens": sum(used),
                "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }

    def error(self, status: int, message: str) -> dict:
        kind = {401: "authentication_error", 429: "rate_limit_error", 400: "invalid_request_error"}.get(status)
        code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
        return {"error": {"message": message, "type": kind or "server_error", "param": None, "code": code}}

    def limits(self, what: str, bucket: Bucket) -> list[tuple[str, str]]:
        """`what` is requests or tokens; counts a minute, as the provider has them."""
        left = bucket.fill()
        return [
            (f"x-ratelimit-limit-{what}", f"{bucket.rate * 60:.0f}"),
            (f"x-ratelimit-remaining-{what}", f"{max(0.0, left):.0f}"),
            (f"x-ratelimit-reset-{what}", f"{(bucket.burst - left) / bucket.rate:.3f}s"),
        ]


class Anthropic(Dialect):
    name = "anthropic"

    def schema(self, body: dict) -> dict | None:
        return ((body.get("output_config") or {}).get("format") or {}).get("schema")

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
            "usage": {
                "input_tokens": used[0],
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": used[1],
            },
        }

    def error(self, status: int, message: str) -> dict:
        kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
        kinds |= {429: "rate_limit_error", 529: "overloaded_error"}
        return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}

    def limits(self, what: str, bucket: Bucket) -> list[tuple[str, str]]:
        left = bucket.fill()
        full = datetime.now(UTC) + timedelta(seconds=(bucket.burst - left) / bucket.rate)
        return [
            (f"anthropic-ratelimit-{what}-limit", f"{bucket.rate * 60:.0f}"),
            (f"anthropic-ratelimit-{what}-remaining", f"{max(0.0, left):.0f}"),
            (f"anthropic-ratelimit-{what}-reset", full.strftime("%Y-%m-%dT%H:%M:%SZ")),
        ]


OPENAI, ANTHROPIC = OpenAI(), Anthropic()


def minimal(schema: dict, root: dict | None = None) -> Any:
    """The least valid instance of a JSON schema: first enum values, every named property, shortest lists."""
    root = schema if root is None else root
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].lstrip("#/").split("/"):
            target = target[step]
        return minimal(target, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf"):
        if schema.get(choice):
            return minimal(schema[choice][0], root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return _of_type(kind[0] if isinstance(kind, list) else kind, schema, root)


def _of_type(kind: str, schema: dict, root: dict) -> Any:
    if kind == "object":
        return {name: minimal(one, root) for name, one in schema.get("properties", {}).items()}
    if kind == "array":
        return [minimal(schema.get("items", {}), root) for _ in range(schema.get("minItems", 0))]
    if kind == "string":
        return "x" * schema.get("minLength", 0)
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "null": None}[kind]
