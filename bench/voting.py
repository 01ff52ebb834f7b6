"""How fast votes are saved: `python bench/voting.py [--database-url postgres://…] [--seconds 60] [--server product gunicorn granian]`.

Starts the product's own server (`python -m config.web`) on loopback with a database of its own, seats twenty annotators, and measures over
HTTP, at the address that the grid uses: (a) everybody votes twice a second; (b) everybody saves as fast as answers come, one request a
proposition of seven labels. Afterwards the database is compared with what was acknowledged: no vote lost, none doubled.
Prints a Markdown table, and one JSON object a server after it. The load generator shares the machine's cores with the server.

gunicorn and granian are there to compare with. The product does not need them: install them by hand beside it (`.venv/bin/uv pip install gunicorn
granian`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
ANNOTATORS, STORIES, PROPOSITIONS = 20, 14, 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database-url", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--server", nargs="+", choices=sorted(SERVERS), default=["product"], help="what serves the product"
    )
    add_sizes(parser)
    options = parser.parse_args()
    if len(options.server) == 1:
        results = [_one(options.server[0], options)]
    else:
        results = [_apart(name) for name in options.server]
    print("| server | database | load | requests a second | votes a second | p50 ms | p95 ms | p99 ms | max ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    for result in results:
        for load in ("paced", "unpaced"):
            figures = (
                result[load][name]
                for name in ("per_second", "votes_per_second", "p50_ms", "p95_ms", "p99_ms", "max_ms")
            )
            print("|", " | ".join(map(str, (result["server"], result["database"], load, *figures))), "|")
    for result in results:
        print(json.dumps(result))
    if any(one["lost"] or one["doubled"] or one["paced"]["errors"] or one["unpaced"]["errors"] for one in results):
        sys.exit(1)


def add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workers", type=int, default=2, help="processes of the server")
    parser.add_argument("--threads", type=int, default=16, help="of all processes together")


def _apart(server: str) -> dict:
    """The same for one of several servers, in a process and a database of its own."""
    arguments = sys.argv[1:]
    at = arguments.index("--server") + 1
    kept = [one for one in arguments if one not in SERVERS]
    command = [sys.executable, __file__, *kept[:at], server, *kept[at:]]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    if not told:
        raise SystemExit(f"{server} was not measured.")
    return json.loads(told[-1])


def _one(server: str, options) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["CREDENCE_VAR"] = scratch
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        if options.database_url:
            os.environ["DATABASE_URL"] = options.database_url
        sys.path.insert(0, str(ROOT))
        people = seed()
        port = free_port()
        process = serve(server, port, workers=options.workers, threads=options.threads)
        try:
            result = asyncio.run(_measure(port, people, options.seconds))
        finally:
            process.terminate()
            process.wait(20)
    return {"server": server, "database": "PostgreSQL" if options.database_url else "SQLite", **result}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


SERVERS = {
    "product": ("python", "-m config.web"),
    "gunicorn": (
        "gunicorn",
        "config.wsgi --bind 127.0.0.1:{port} --workers {workers} --threads {each} --preload --log-level warning",
    ),
    "granian": (
        "granian",
        "--interface wsgi --host 127.0.0.1 --port {port} --workers {workers} --blocking-threads {each} --log-level warning "
        "config.wsgi:application",
    ),
}


def serve(server: str, port: int, *, workers: int, threads: int, errors: IO | None = None) -> subprocess.Popen:
    """`threads` are those of all `workers` together; `errors` takes what the server logs."""
    each = max(1, threads // workers)
    program, arguments = SERVERS[server]
    path = Path(sys.executable).with_name(program)
    if not path.exists():
        raise SystemExit(f"There is no {path}; install {program} beside the product.")
    sizes = {"HOST": "127.0.0.1", "PORT": str(port), "WORKERS": str(workers), "THREADS": str(each)}
    filled = arguments.format(port=port, workers=workers, each=each).split()
    process = subprocess.Popen([str(path), *filled], cwd=ROOT, env=os.environ | sizes, stderr=errors)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.terminate()
    raise SystemExit("The server did not start within 60 s.")


def seed() -> list[dict]:
    """Twenty annotators in a project; each story has nine seats at most, so groups of annotators get stories of their own."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.core.management import call_command

    from annotation.models import Assignment, BeliefTable, Category, Membership, Project, Proposition, Story, User

    call_command("migrate", verbosity=0)
    slug = f"bench-{uuid.uuid4().hex[:8]}"
    project = Project.objects.create(slug=slug, name="Bench", overlap=3)
    category = Category.objects.create(project=project, name="False Belief Task")
    people = []
    for number in range(ANNOTATORS):
        user = User.objects.create(username=f"{slug}-{number}")
        Membership.objects.create(project=project, user=user, role="annotator")
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        people.append({"user": user, "cookie": session.session_key, "work": []})
    for number in range(STORIES * 7):
        text = f"Story {number}. " + "Ines puts the key in the bag. " * 15
        story = Story.objects.create(
            project=project, number=number, category=category, text=text, digest=f"{number:064d}"
        )
        table = BeliefTable.objects.create(story=story)
        rows = Proposition.objects.bulk_create(
            Proposition(table=table, position=at, actor="Ines", belief=f"The key is in place {at}")
            for at in range(PROPOSITIONS)
        )
        trio = [people[(3 * (number % 7) + at) % ANNOTATORS] for at in range(3)]
        for slot, person in enumerate(trio, 1):
            Assignment.objects.create(story=story, annotator=person["user"], slot=slot, overlap=3)
            person["work"].append((story.uid, [row.uid for row in rows]))
    for person in people:
        person["slug"], person["user_id"] = slug, person["user"].pk
    assert settings.CSRF_COOKIE_NAME == "csrftoken"
    return people


class Annotator:
    """One keep-alive connection; a request is bytes, an answer is read by its Content-Length."""

    def __init__(self, port: int, person: dict) -> None:
        self.port, self.person = port, person
        self.random = random.Random(person["user_id"])
        self.acknowledged: dict[tuple[str, str], tuple[str, str]] = {}
        self.requests = 0
        self.errors = 0
        self.waits: list[float] = []
        self.plan = [(story, uid) for story, uids in person["work"] for uid in uids]
        self.at = 0
        self.token = uuid.uuid4().hex  # the cookie and the header must agree: 32 characters are a valid CSRF secret
        from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

        self.dimensions = [(one.key, one.values) for one in DEFAULT_SCHEMA.dimensions]

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def save(self, cells: int) -> None:
        story, uid = self.plan[self.at % len(self.plan)]
        now = datetime.now(UTC).isoformat()
        start = self.random.randrange(7)
        chosen = [self.dimensions[(start + at) % 7] for at in range(cells)]
        changes = [
            {
                "proposition": uid,
                "dimension": key,
                "label": self.random.choice(values),
                "changed_at": now,
                "client_key": f"{uuid.uuid4().hex}",
                "duration_ms": 900,
            }
            for key, values in chosen
        ]
        self.at += 1
        began = time.perf_counter()
        status = await self._post(
            f"/p/{self.person['slug']}/work/{story}/votes/", json.dumps({"changes": changes}).encode()
        )
        self.waits.append(time.perf_counter() - began)
        self.requests += 1
        if status == 200:
            for change in changes:
                self.acknowledged[uid, change["dimension"]] = (change["label"], change["client_key"])
        else:
            self.errors += 1

    async def _post(self, path: str, body: bytes) -> int:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Cookie: sessionid={self.person['cookie']}; csrftoken={self.token}\r\nX-CSRFToken: {self.token}\r\n\r\n"
        )
        try:
            self.writer.write(head.encode() + body)
            await self.writer.drain()
            raw = await self.reader.readuntil(b"\r\n\r\n")
        except (ConnectionError, asyncio.IncompleteReadError):  # the server may end an idle connection: once more
            await self.connect()
            self.writer.write(head.encode() + body)
            raw = await self.reader.readuntil(b"\r\n\r\n")
        lower = raw.lower()
        length = int(lower.split(b"content-length:")[1].split(b"\r\n")[0]) if b"content-length:" in lower else 0
        await self.reader.readexactly(length)
        if b"connection: close" in lower:
            await self.connect()
        return int(raw.split(b" ", 2)[1])


async def _measure(port: int, people: list[dict], seconds: float) -> dict:
    annotators = [Annotator(port, person) for person in people]
    for one in annotators:
        await one.connect()
        await one.save(1)  # warms the connection
        one.waits.clear()
    paced = await _phase(annotators, seconds, pause=0.5, cells=1)
    unpaced = await _phase(annotators, min(seconds, 20), pause=0, cells=7)
    lost, doubled = await asyncio.to_thread(_verify, annotators)
    return {"paced": paced, "unpaced": unpaced, "lost": lost, "doubled": doubled}


async def _phase(annotators: list[Annotator], seconds: float, *, pause: float, cells: int) -> dict:
    before = sum(one.requests for one in annotators), sum(one.errors for one in annotators)
    for one in annotators:
        one.waits.clear()
    began = time.perf_counter()
    deadline = began + seconds

    async def work(one: Annotator) -> None:
        await asyncio.sleep(one.random.random() * pause)
        due = time.perf_counter()
        while due < deadline and time.perf_counter() < deadline:
            await one.save(cells)
            due += pause
            await asyncio.sleep(max(0, due - time.perf_counter()) if pause else 0)

    await asyncio.gather(*(work(one) for one in annotators))
    took = time.perf_counter() - began
    waits = sorted(wait for one in annotators for wait in one.waits)
    requests = sum(one.requests for one in annotators) - before[0]
    return {
        "requests": requests,
        "errors": sum(one.errors for one in annotators) - before[1],
        "per_second": round(requests / took, 1),
        "votes_per_second": round(requests * cells / took, 1),
        "p50_ms": round(1000 * waits[len(waits) // 2], 1),
        "p95_ms": round(1000 * waits[int(len(waits) * 0.95)], 1),
        "p99_ms": round(1000 * waits[int(len(waits) * 0.99)], 1),
        "max_ms": round(1000 * waits[-1], 1),
    }


def _verify(annotators: list[Annotator]) -> tuple[int, int]:
    """Acknowledged votes that the database does not hold as they were acknowledged; events with more rows than keys."""
    from django.db.models import Count

    from annotation.models import Vote, VoteEvent

    lost = 0
    for one in annotators:
        rows = Vote.objects.filter(annotator_id=one.person["user_id"])
        held = {
            (uid, dimension): (label, key)
            for uid, dimension, label, key in rows.values_list("proposition__uid", "dimension", "label", "client_key")
        }
        lost += sum(held.get(place) != vote for place, vote in one.acknowledged.items())
    ids = [one.person["user_id"] for one in annotators]
    twice = VoteEvent.objects.filter(annotator__in=ids).values("annotator", "client_key").annotate(n=Count("id"))
    return lost, twice.filter(n__gt=1).count()


if __name__ == "__main__":
    main()
