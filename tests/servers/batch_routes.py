"""The routes of files and batches, as both providers have them."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime

from tests.servers.batch_store import BatchStore
from tests.servers.connection import Ask, Reply
from tests.servers.settings import Settings


class NotThere(Exception):
    pass


class BatchRoutes:
    def __init__(self, settings: Settings, store: BatchStore) -> None:
        self.settings, self.store = settings, store

    def answer(self, ask: Ask) -> Reply:
        """Raises NotThere, and ValueError or KeyError for what is not a request."""
        for root, routes in (
            ("/v1/files", self._files),
            ("/v1/batches", self._openai),
            ("/v1/messages/batches", self._anthropic),
        ):
            if ask.path == root or ask.path.startswith(root + "/"):
                return routes(ask, ask.path.removeprefix(root).strip("/").split("/"))
        raise NotThere(f"nothing at {ask.method} {ask.path}")

    def _files(self, ask: Ask, parts: list[str]) -> Reply:
        match ask.method, parts:
            case "POST", [""]:
                fields, name = _multipart(ask)
                return _json(_file(self.store.put_file(fields["file"], name, fields["purpose"].decode())))
            case "GET", [""]:
                page = _page(list(self.store.files.values()), ask.query, "after")
                return _json(page | {"data": [_file(one) for one in page["data"]]})
            case "GET", [identity]:
                return _json(_file(_of(self.store.files, identity)))
            case "GET", [identity, "content"]:
                _of(self.store.files, identity)
                return Reply(self.store.content(identity), kind="application/octet-stream")
        raise NotThere(f"nothing at {ask.method} {ask.path}")

    def _openai(self, ask: Ask, parts: list[str]) -> Reply:
        match ask.method, parts:
            case "POST", [""]:
                given = json.loads(ask.body)
                _of(self.store.files, given["input_file_id"])
                about = {key: given.get(key) for key in ("input_file_id", "endpoint", "completion_window", "metadata")}
                batch = self.store.put_batch("openai", self.store.content(given["input_file_id"]), **about)
                return self._taken(_openai_batch(batch))
            case "GET", [""]:
                page = _page(self._kind("openai"), ask.query, "after")
                return _json(page | {"data": [_openai_batch(self.store.look(one)) for one in page["data"]]})
            case "GET", [identity]:
                return _json(_openai_batch(self.store.look(_of(self.store.batches, identity))))
            case "POST", [identity, "cancel"]:
                return _json(_openai_batch(self._cancel(identity)))
        raise NotThere(f"nothing at {ask.method} {ask.path}")

    def _anthropic(self, ask: Ask, parts: list[str]) -> Reply:
        host = ask.headers.get(b"host", b"").decode()
        match ask.method, parts:
            case "POST", [""]:
                lines = [json.dumps(one).encode() for one in json.loads(ask.body)["requests"]]
                return self._taken(_anthropic_batch(self.store.put_batch("anthropic", b"\n".join(lines)), host))
            case "GET", [""]:
                page = _page(self._kind("anthropic"), ask.query, "after_id")
                return _json(page | {"data": [_anthropic_batch(self.store.look(one), host) for one in page["data"]]})
            case "GET", [identity]:
                return _json(_anthropic_batch(self.store.look(_of(self.store.batches, identity)), host))
            case "POST", [identity, "cancel"]:
                return _json(_anthropic_batch(self._cancel(identity), host))
            case "GET", [identity, "results"]:
                if not self.store.look(_of(self.store.batches, identity))["end"]:
                    raise NotThere(f"{identity} has not ended")
                return Reply(self.store.content(f"{identity}.results"), kind="application/x-jsonl")
        raise NotThere(f"nothing at {ask.method} {ask.path}")

    def _kind(self, kind: str) -> list[dict]:
        return [one for one in self.store.batches.values() if one["kind"] == kind]

    def _taken(self, payload: dict) -> Reply:
        reply = _json(payload)
        reply.silent = self.settings.batch_reply == "cut"
        return reply

    def _cancel(self, identity: str) -> dict:
        batch = self.store.look(_of(self.store.batches, identity))
        if batch["end"]:
            raise ValueError(f"{identity} has ended")
        batch["cancelled_at"] = time.time()
        self.store.keep(batch)
        return batch


def _json(payload: dict) -> Reply:
    return Reply(json.dumps(payload).encode())


def _of(found: dict[str, dict], identity: str) -> dict:
    if identity not in found:
        raise NotThere(f"no such thing: {identity}")
    return found[identity]


def _page(items: list[dict], query: dict[str, str], after: str) -> dict:
    """Newest first."""
    ordered = list(reversed(items))
    start = [one["id"] for one in ordered].index(query[after]) + 1 if query.get(after) else 0
    limit = int(query.get("limit", 20))
    data = ordered[start : start + limit]
    ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
    return {"object": "list", "data": data, "has_more": start + limit < len(ordered)} | ends


def _multipart(ask: Ask) -> tuple[dict[str, bytes], str]:
    """(fields of a form, name of its file)."""
    kind = ask.headers[b"content-type"].decode()
    boundary = b"--" + kind.partition("boundary=")[2].strip('"').encode()
    fields, filename = {}, ""
    for part in ask.body.split(boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'[; ]name="?([^";\r]+)', head).group(1).decode()
        if found := re.search(rb'filename="?([^";\r]+)', head):
            filename = found.group(1).decode()
        fields[name] = content[:-2]
    return fields, filename


def _file(about: dict) -> dict:
    return {
        "id": about["id"],
        "object": "file",
        "bytes": about["bytes"],
        "created_at": int(about["at"]),
        "filename": about["filename"],
        "purpose": about["purpose"],
        "status": "processed",
    }


def _openai_batch(batch: dict) -> dict:
    counts, past = batch["counts"], (time.time() - batch["at"]) / max(batch["delay"], 1e-9)
    status = batch["end"] or ("validating" if past < 0.2 else "in_progress" if past < 0.8 else "finalizing")
    if batch.get("cancelled_at") and not batch["end"]:
        status = "cancelling"
    failed = sum(number for kind, number in counts.items() if kind != "succeeded")
    given = {key: batch.get(key) for key in ("endpoint", "input_file_id", "completion_window", "metadata")}
    problem = [{"code": "invalid", "message": batch.get("problem", "the batch failed"), "line": None, "param": None}]
    return {
        "id": batch["id"],
        "object": "batch",
        **given,
        "status": status,
        "created_at": int(batch["at"]),
        "output_file_id": batch.get("output_file_id"),
        "error_file_id": batch.get("error_file_id"),
        "errors": {"object": "list", "data": problem} if status == "failed" else None,
        "request_counts": {"total": batch["total"], "completed": counts.get("succeeded", 0), "failed": failed},
    }


def _anthropic_batch(batch: dict, host: str) -> dict:
    counts = {kind: batch["counts"].get(kind, 0) for kind in ("succeeded", "errored", "canceled", "expired")}
    counts["processing"] = 0 if batch["end"] else batch["total"]
    status = "ended" if batch["end"] else "canceling" if batch.get("cancelled_at") else "in_progress"
    return {
        "id": batch["id"],
        "type": "message_batch",
        "processing_status": status,
        "request_counts": counts,
        "created_at": _date(batch["at"]),
        "expires_at": _date(batch["at"] + 86400),
        "ended_at": _date(batch["ended"]) if batch["ended"] else None,
        "cancel_initiated_at": _date(batch["cancelled_at"]) if batch.get("cancelled_at") else None,
        "archived_at": None,
        "results_url": f"http://{host}/v1/messages/batches/{batch['id']}/results" if batch["end"] else None,
    }


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
