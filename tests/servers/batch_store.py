"""Files and batches as files on disk: what was accepted is still there after the process was killed.

A batch is processed when somebody looks at it after its time has come, so that time also passes while the server is
down.
"""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path

from tests.servers.completions import Completions, spoiled
from tests.servers.dialects import ANTHROPIC, OPENAI
from tests.servers.settings import Settings

SPOILED = ("half-json", "invalid-utf8")


class BatchStore:
    def __init__(self, folder: Path, settings: Settings, completions: Completions) -> None:
        self.folder, self.settings, self.completions = folder, settings, completions
        folder.mkdir(parents=True, exist_ok=True)
        self.files = self._load("*.file")
        self.batches = self._load("*.batch")

    def _load(self, pattern: str) -> dict[str, dict]:
        found = [json.loads(path.read_text()) for path in self.folder.glob(pattern)]
        return {one["id"]: one for one in sorted(found, key=lambda one: one["at"])}

    def put_file(self, content: bytes, name: str, purpose: str) -> dict:
        identity = f"file-{uuid.uuid4().hex}"
        self.write(f"{identity}.content", content)
        about = {"id": identity, "at": time.time(), "bytes": len(content), "filename": name, "purpose": purpose}
        self.write(f"{identity}.file", json.dumps(about).encode())
        self.files[identity] = about
        return about

    def content(self, name: str) -> bytes:
        return (self.folder / f"{name}.content").read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """All or nothing."""
        part = self.folder / f"{name}.part"
        part.write_bytes(content)
        part.replace(self.folder / name)

    def put_batch(self, kind: str, content: bytes, **about: object) -> dict:
        """`content` is the batch's requests, one JSON object a line."""
        prefix = "batch_" if kind == "openai" else "msgbatch_"
        batch = {"id": prefix + uuid.uuid4().hex, "kind": kind, "at": time.time(), "ended": None, "end": "", **about}
        batch |= {"delay": self.settings.batch_delay, "planned": self.settings.batch_end, "counts": {}}
        batch["total"] = sum(1 for line in content.splitlines() if line.strip())
        self.write(f"{batch['id']}.content", content)
        self.keep(batch)
        return batch

    def keep(self, batch: dict) -> None:
        self.write(f"{batch['id']}.batch", json.dumps(batch).encode())
        self.batches[batch["id"]] = batch

    def look(self, batch: dict) -> dict:
        """The batch as it stands now; `end` is empty, completed, failed, expired or cancelled."""
        if batch["end"]:
            return batch
        if batch.get("cancelled_at"):
            self._process(batch, "cancelled", 0)
        elif time.time() >= batch["at"] + batch["delay"]:
            part = batch["total"] // 2 if batch["planned"] == "expired" else batch["total"]
            self._process(batch, batch["planned"], part)
        return batch

    def _process(self, batch: dict, end: str, answered: int) -> None:
        """Answers the first `answered` requests; the others are expired or cancelled."""
        lines = [json.loads(line) for line in self.content(batch["id"]).splitlines() if line.strip()]
        names = [line.get("custom_id") for line in lines]
        if len(set(names)) < len(names):
            end, batch["problem"] = "failed", "two requests have the same custom_id"
        if end == "failed":
            batch |= {"ended": time.time(), "end": end}
            self.keep(batch)
            return
        results = [self._result(batch, line, end, at < answered) for at, line in enumerate(lines)]
        batch["counts"] = {kind: sum(1 for one in results if one[0] == kind) for kind in {one[0] for one in results}}
        if batch["kind"] == "openai":
            for kind, succeeded in (("output_file_id", True), ("error_file_id", False)):
                chosen = [text for kind_of, text in results if (kind_of == "succeeded") == succeeded]
                if chosen:
                    batch[kind] = self.put_file(b"\n".join(chosen) + b"\n", "results.jsonl", "batch_output")["id"]
        else:
            self.write(f"{batch['id']}.results.content", b"".join(text + b"\n" for _, text in results))
        batch |= {"ended": time.time(), "end": end}
        self.keep(batch)

    def _result(self, batch: dict, line: dict, end: str, answered: bool) -> tuple[str, bytes]:
        """(succeeded, errored, expired or canceled; the line of the results)."""
        dialect = OPENAI if batch["kind"] == "openai" else ANTHROPIC
        kind, mode, status, payload = "expired" if end == "expired" else "canceled", "", 0, None
        if answered:
            body = line["body"] if dialect is OPENAI else line["params"]
            outcome = self.completions.outcome(dialect, body)
            mode, status, payload = outcome.mode, outcome.status, outcome.payload
            kind = "succeeded" if status == 200 else "errored"
            if status == 200:
                self.completions.pay(body, batch=batch["id"], custom_id=line["custom_id"])
        write = _openai_line if dialect is OPENAI else _anthropic_line
        text = json.dumps(write(line["custom_id"], kind, status, payload)).encode()
        return kind, spoiled(text, mode) if mode in SPOILED else text


def _openai_line(custom_id: str, kind: str, status: int, payload: dict | None) -> dict:
    line = {"id": f"batch_req_{uuid.uuid4().hex}", "custom_id": custom_id, "response": None, "error": None}
    if payload is None:
        code = "batch_expired" if kind == "expired" else "batch_cancelled"
        return line | {"error": {"code": code, "message": "This request could not be executed in time."}}
    return line | {"response": {"status_code": status, "request_id": uuid.uuid4().hex, "body": payload}}


def _anthropic_line(custom_id: str, kind: str, status: int, payload: dict | None) -> dict:
    result: dict = {"type": kind}
    if payload is not None:
        result["message" if kind == "succeeded" else "error"] = payload
    return {"custom_id": custom_id, "result": result}
