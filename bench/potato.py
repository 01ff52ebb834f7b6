"""potato, an annotation tool to compare with: installed from the registry into an environment of its own, and served as
its own command serves it."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotators import ANNOTATORS, PROPOSITIONS, STORIES, Client
from server import await_port, free_port

PACKAGE = "potato-annotation"
ANNOTATIONS_PER_ITEM = 3
KEY = "bench"


class Unavailable(Exception):
    """potato cannot be had here; the message says why."""


def install(environment: Path) -> str:
    """Install potato into `environment`, if it is not there, and return its version. Raises Unavailable."""
    python = environment / "bin" / "python"
    try:
        if not (environment / "bin" / "potato").exists():
            subprocess.run([sys.executable, "-m", "venv", environment], check=True, capture_output=True, text=True)
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
            subprocess.run(pip, check=True, capture_output=True, text=True, timeout=600)
        asked = f"from importlib.metadata import version; print(version({PACKAGE!r}))"
        told = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True)
    except (subprocess.SubprocessError, OSError) as error:
        last = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
        raise Unavailable(f"{PACKAGE} cannot be installed: {last}") from error
    return told.stdout.strip()


@contextmanager
def served(environment: Path, folder: Path) -> Iterator[tuple[subprocess.Popen, int]]:
    """Serve a task of as many propositions as the product gets, each for three people; yields its process and port."""
    _write_task(folder)
    port = free_port()
    command = [environment / "bin" / "potato", "start", "config.yaml", "--port", str(port), "--host", "127.0.0.1"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=os.environ | {"HOME": str(folder)})
    try:
        await_port(port, process)
        yield process, port
    finally:
        process.terminate()
        process.wait(20)


def _write_task(folder: Path) -> None:
    from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

    number = STORIES * 7 * PROPOSITIONS
    items = ({"id": f"p{at}", "text": f"Ines: The key is in place {at % PROPOSITIONS}"} for at in range(number))
    (folder / "data.json").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    schemes = [
        {"annotation_type": "radio", "name": one.key, "description": one.key, "labels": list(one.values)}
        for one in DEFAULT_SCHEMA.dimensions
    ]
    config = {
        "annotation_task_name": "Bench", "task_dir": ".", "output_annotation_dir": "output",
        "output_annotation_format": "json", "data_files": ["data.json"],
        "item_properties": {"id_key": "id", "text_key": "text"}, "annotation_schemes": schemes,
        "user_config": {"allow_all_users": True, "users": []}, "require_password": False, "admin_api_key": KEY,
        "secret_key": "of the bench alone", "num_annotators_per_item": ANNOTATIONS_PER_ITEM,
        "max_annotations_per_user": number * ANNOTATIONS_PER_ITEM // ANNOTATORS,
    }  # fmt: skip
    (folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML


class PotatoAnnotator(Client):
    """An annotator who saves as potato's page does: all labels of an item, each time one of them changes."""

    def __init__(self, port: int, number: int) -> None:
        super().__init__(port, number)
        self.name = f"annotator-{number}"
        self.headers = f"Cookie: session={_log_in(port, self.name)}\r\n"
        self.plan = [item["id"] for item in self._state()["assignments"]["items"]]

    async def save(self, cells: int) -> None:
        item = self.plan[self.at % len(self.plan)]
        self.at += 1
        labels = self.choose(cells)
        content = {
            "instance_id": item,
            "annotations": {f"{key}:{label}": label for key, label in labels},
            "cleared_schemas": [],
            "span_annotations": [],
        }
        if await self.timed("/updateinstance", self.headers, content):
            for key, label in labels:
                self.acknowledged[item, key] = (label, "")

    def lost(self) -> int:
        """Return how many acknowledged labels potato does not have."""
        held = self._state()["annotations"]["by_instance"]
        return sum(
            f"Label(schema:{key}, name:{label})" not in held[item]
            for (item, key), (label, _) in self.acknowledged.items()
        )

    def _state(self) -> dict:
        address = f"http://127.0.0.1:{self.port}/admin/user_state/{self.name}"
        with urllib.request.urlopen(urllib.request.Request(address, headers={"X-API-Key": KEY})) as answer:
            return json.load(answer)


def _log_in(port: int, name: str) -> str:
    """Log in without a password, have items assigned, and return the value of the session's cookie."""
    opener = urllib.request.build_opener(_Unfollowed)
    try:
        answer = opener.open(f"http://127.0.0.1:{port}/auth", data=f"email={name}".encode())
    except urllib.error.HTTPError as redirected:
        answer = redirected
    cookie = re.search(r"session=([^;]+)", answer.headers["Set-Cookie"])[1]
    page = urllib.request.Request(f"http://127.0.0.1:{port}/annotate", headers={"Cookie": f"session={cookie}"})
    urllib.request.urlopen(page).read()
    return cookie


class _Unfollowed(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None
