"""Files and batches, as both providers have them, and as files on disk: what was accepted is still there after the
process was killed.

A batch is processed when somebody looks at it after its time has come, so that time also passes while the server is
down.
"""

import json
import re
import time
import uuid
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tests.servers.completions import Ask, Completions, Reply, spoiled
from tests.servers.dialects import ANTHROPIC, OPENAI
from tests.servers.settings import Settings

SPOILED = ("half-json", "invalid-utf8")


class NotThere(Exception):
    pass


class Batches:
    def __init__(self, folder: Path, settings: Settings, completions: Completions) -> None:
        self.folder, self.settings, self.completions = folder, settings, completions
        folder.mkdir(parents=True, exist_ok=True)
        found = [json.loads(path.read_text()) for path in folder.glob("*.batch")]
        self.batches = {one["id"]: one for one in sorted(found, key=lambda one: one["at"])}

    # --- routes

    def answer(self, ask: Ask) -> Reply:
        """Raises NotThere, and ValueError or KeyError for what is not a request."""
        kind = "anthropic" if ask.path.startswith("/v1/messages/") else "openai"
        path = ask.path.removeprefix("/v1").removeprefix("/messages").strip("/").split("/")
        match ask.method, path:
            case "POST", ["files"]:
                return Reply.of({"id": self.put_file(_uploaded(ask)), "object": "file"})
            case "GET", ["files", identity, "content"]:
                return Reply(self.content(identity))
            case "POST", ["batches"]:
                given = json.loads(ask.body)
                if kind == "openai":
                    lines = list(map(json.loads, self.content(given["input_file_id"]).splitlines()))
                else:
                    lines = given["requests"]
                reply = Reply.of(self.shown(self.put(kind, lines, given.get("metadata")), ask))
                reply.silent = self.settings.batch_reply == "cut"
                return reply
            case "GET", ["batches"]:
                return Reply.of(self.page(kind, ask))
            case "GET", ["batches", identity]:
                return Reply.of(self.shown(self.found(identity), ask))
            case "POST", ["batches", identity, "cancel"]:
                batch = self.found(identity)
                if not batch["end"]:
                    self.keep(batch | {"cancelled": True})
                return Reply.of(self.shown(self.found(identity), ask))
            case "GET", ["batches", identity, "results"] if self.found(identity)["end"]:
                return Reply(self.content(f"{identity}.results"))
        raise NotThere(f"nothing at {ask.method} {ask.path}")

    def page(self, kind: str, ask: Ask) -> dict:
        """Newest first."""
        ordered = [one["id"] for one in reversed(self.batches.values()) if one["kind"] == kind]
        after = ask.query.get("after") or ask.query.get("after_id")
        start = ordered.index(after) + 1 if after else 0
        ids = ordered[start : start + int(ask.query.get("limit", 20))]
        ends = {"first_id": ids[0], "last_id": ids[-1]} if ids else {"first_id": None, "last_id": None}
        more = start + len(ids) < len(ordered)
        return {"object": "list", "data": [self.shown(self.found(one), ask) for one in ids], "has_more": more} | ends

    def shown(self, batch: dict, ask: Ask) -> dict:
        show = _openai_batch if batch["kind"] == "openai" else _anthropic_batch
        return show(batch, f"http://{ask.headers.get('host', '')}/v1/messages/batches/{batch['id']}/results")

    # --- what is kept

    def write(self, name: str, content: bytes) -> None:
        """All or nothing."""
        part = self.folder / f"{name}.part"
        part.write_bytes(content)
        part.replace(self.folder / name)

    def content(self, name: str) -> bytes:
        if not (self.folder / f"{name}.content").is_file():
            raise NotThere(f"no such thing: {name}")
        return (self.folder / f"{name}.content").read_bytes()

    def put_file(self, content: bytes) -> str:
        identity = f"file-{uuid.uuid4().hex}"
        self.write(f"{identity}.content", content)
        return identity

    def put(self, kind: str, lines: list[dict], metadata: dict | None) -> dict:
        identity = ("batch_" if kind == "openai" else "msgbatch_") + uuid.uuid4().hex
        self.write(f"{identity}.content", json.dumps(lines).encode())
        batch = {"id": identity, "kind": kind, "at": time.time(), "end": "", "total": len(lines), "counts": {}}
        batch |= {"delay": self.settings.batch_delay, "planned": self.settings.batch_end, "metadata": metadata}
        return self.keep(batch)

    def keep(self, batch: dict) -> dict:
        self.write(f"{batch['id']}.batch", json.dumps(batch).encode())
        self.batches[batch["id"]] = batch
        return batch

    def found(self, identity: str) -> dict:
        """The batch as it stands now; `end` is empty, completed, failed, expired or cancelled."""
        if identity not in self.batches:
            raise NotThere(f"no such thing: {identity}")
        batch = self.batches[identity]
        if batch["end"]:
            return batch
        if batch.get("cancelled"):
            return self._ended(batch, "cancelled", 0)
        if time.time() < batch["at"] + batch["delay"]:
            return batch
        return self._ended(batch, batch["planned"], batch["total"] // (2 if batch["planned"] == "expired" else 1))

    def _ended(self, batch: dict, end: str, answered: int) -> dict:
        """Answers the first `answered` requests; the others are expired or cancelled."""
        lines = json.loads(self.content(batch["id"]))
        if len({line.get("custom_id") for line in lines}) < len(lines):
            return self.keep(batch | {"end": "failed"})
        results = [self._result(batch, line, end, at < answered) for at, line in enumerate(lines)]
        batch = batch | {"end": end, "counts": Counter(kind for kind, _ in results)}
        if batch["kind"] == "anthropic":
            self.write(f"{batch['id']}.results.content", b"\n".join(text for _, text in results))
        for name, succeeded in (("output_file_id", True), ("error_file_id", False)):
            chosen = [text for kind, text in results if (kind == "succeeded") == succeeded]
            if chosen and batch["kind"] == "openai":
                batch[name] = self.put_file(b"\n".join(chosen) + b"\n")
        return self.keep(batch)

    def _result(self, batch: dict, line: dict, end: str, answered: bool) -> tuple[str, bytes]:
        """(succeeded, errored, expired or canceled; the line of the results)."""
        kind, mode, status, payload = "expired" if end == "expired" else "canceled", "", 0, None
        openai = batch["kind"] == "openai"
        if answered:
            body = line["body" if openai else "params"]
            mode, status, payload = self.completions.outcome(OPENAI if openai else ANTHROPIC, body)
            kind = "succeeded" if status == 200 else "errored"
            if status == 200:
                self.completions.ledger.pay(body, batch=batch["id"], custom_id=line["custom_id"])
        write = _openai_line if openai else _anthropic_line
        text = json.dumps({"custom_id": line["custom_id"]} | write(kind, status, payload)).encode()
        return kind, spoiled(text, mode) if mode in SPOILED else text


def _openai_line(kind: str, status: int, payload: dict | None) -> dict:
    if payload is None:
        code = "batch_expired" if kind == "expired" else "batch_cancelled"
        return {"response": None, "error": {"code": code, "message": "This request could not be executed in time."}}
    return {"response": {"status_code": status, "request_id": uuid.uuid4().hex, "body": payload}, "error": None}


def _anthropic_line(kind: str, status: int, payload: dict | None) -> dict:
    named = {} if payload is None else {"message" if kind == "succeeded" else "error": payload}
    return {"result": {"type": kind} | named}


def _uploaded(ask: Ask) -> bytes:
    """The file of a form."""
    boundary = b"--" + ask.headers["content-type"].partition("boundary=")[2].strip('"').encode()
    for part in ask.body.split(boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        if re.search(rb'[; ]name="?file"?', head):
            return content[:-2]
    raise KeyError("file")


def _openai_batch(batch: dict, url: str) -> dict:
    counts, status = batch["counts"], batch["end"] or ("cancelling" if batch.get("cancelled") else "in_progress")
    failed = sum(number for kind, number in counts.items() if kind != "succeeded")
    problem = {"code": "invalid", "message": "two requests have the same custom_id", "line": None, "param": None}
    return {
        "id": batch["id"],
        "object": "batch",
        "metadata": batch["metadata"],
        "status": status,
        "created_at": int(batch["at"]),
        "output_file_id": batch.get("output_file_id"),
        "error_file_id": batch.get("error_file_id"),
        "errors": {"object": "list", "data": [problem]} if status == "failed" else None,
        "request_counts": {"total": batch["total"], "completed": counts.get("succeeded", 0), "failed": failed},
    }


def _anthropic_batch(batch: dict, url: str) -> dict:
    counts = {kind: batch["counts"].get(kind, 0) for kind in ("succeeded", "errored", "canceled", "expired")}
    return {
        "id": batch["id"],
        "type": "message_batch",
        "processing_status": "ended" if batch["end"] else "canceling" if batch.get("cancelled") else "in_progress",
        "request_counts": counts | {"processing": 0 if batch["end"] else batch["total"]},
        "created_at": datetime.fromtimestamp(batch["at"], UTC).isoformat(),
        "results_url": url if batch["end"] else None,
    }
