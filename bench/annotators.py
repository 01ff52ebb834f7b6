"""Annotators who vote over HTTP, in a project made for them."""

import asyncio
import json
import random
import time
import uuid
from datetime import UTC, datetime

ANNOTATORS, STORIES, PROPOSITIONS = 20, 14, 25


def seed() -> list[dict]:
    """Create a database with twenty annotators in a project, each with a session and stories; a story has nine
    assignments at most.

    Returns {slug, user, user_id, cookie, work} of each, where `work` lists (story uid, uids of its propositions).
    """
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from annotation.models import Category, Project

    call_command("migrate", verbosity=0)
    project = Project.objects.create(slug=f"bench-{uuid.uuid4().hex[:8]}", name="Bench", overlap=3)
    category = Category.objects.create(project=project, name="False Belief Task")
    people = [_person(project, number) for number in range(ANNOTATORS)]
    for number in range(STORIES * 7):
        _add_story(category, number, [people[(3 * (number % 7) + at) % ANNOTATORS] for at in range(3)])
    assert settings.CSRF_COOKIE_NAME == "csrftoken"
    return people


def _person(project, number: int) -> dict:
    from annotation.models import Membership, User

    user = User.objects.create(username=f"{project.slug}-{number}")
    Membership.objects.create(project=project, user=user, role="annotator")
    return {"slug": project.slug, "user": user, "user_id": user.pk, "cookie": session_key(user), "work": []}


def session_key(user) -> str:
    """Log a user in without a password and return the value of the session's cookie."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session.session_key


def _add_story(category, number: int, people: list[dict]) -> None:
    """Add a story with its propositions and assign it to these annotators."""
    from annotation.models import Assignment, BeliefTable, Proposition, Story

    text = f"Story {number}. " + "Ines puts the key in the bag. " * 15
    story = Story.objects.create(
        project=category.project, number=number, category=category, text=text, digest=f"{number:064d}"
    )
    table = BeliefTable.objects.create(story=story)
    rows = Proposition.objects.bulk_create(
        Proposition(table=table, position=at, actor="Ines", belief=f"The key is in place {at}")
        for at in range(PROPOSITIONS)
    )
    for slot, person in enumerate(people, 1):
        Assignment.objects.create(story=story, annotator=person["user"], slot=slot, overlap=3)
        person["work"].append((story.uid, [row.uid for row in rows]))


class Client:
    """One keep-alive connection of one person; a request is bytes, an answer is read by its Content-Length."""

    def __init__(self, port: int, number: int) -> None:
        self.port, self.random = port, random.Random(number)
        self.acknowledged: dict[tuple[str, str], tuple[str, str]] = {}
        self.requests = 0
        self.errors = 0
        self.waits: list[float] = []
        self.at = 0
        from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

        self.dimensions = [(dimension.key, dimension.values) for dimension in DEFAULT_SCHEMA.dimensions]

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    def choose(self, cells: int) -> list[tuple[str, str]]:
        """Return (dimension, label) of so many cells of a proposition."""
        start = self.random.randrange(7)
        chosen = [self.dimensions[(start + at) % 7] for at in range(cells)]
        return [(key, self.random.choice(values)) for key, values in chosen]

    async def timed(self, path: str, headers: str, content: dict) -> bool:
        """Post, count and time; return whether it was accepted."""
        body = json.dumps(content).encode()
        began = time.perf_counter()
        accepted = await self._post(path, headers, body) == 200
        self.waits.append(time.perf_counter() - began)
        self.requests += 1
        self.errors += not accepted
        return accepted

    async def _post(self, path: str, headers: str, body: bytes) -> int:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
            f"{len(body)}\r\n{headers}\r\n"
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
            self.writer.close()
            await self.connect()
        return int(raw.split(b" ", 2)[1])


class Annotator(Client):
    """An annotator of the product, who goes from proposition to proposition and begins anew after the last."""

    def __init__(self, port: int, person: dict) -> None:
        super().__init__(port, person["user_id"])
        self.person = person
        self.plan = [(story, uid) for story, uids in person["work"] for uid in uids]
        token = uuid.uuid4().hex  # the cookie and the header must agree: 32 characters are a valid CSRF secret
        self.headers = f"Cookie: sessionid={person['cookie']}; csrftoken={token}\r\nX-CSRFToken: {token}\r\n"

    async def save(self, cells: int) -> None:
        story, uid = self.plan[self.at % len(self.plan)]
        now = datetime.now(UTC).isoformat()
        changes = [
            {
                "proposition": uid,
                "dimension": key,
                "label": label,
                "changed_at": now,
                "idempotency_key": f"{uuid.uuid4().hex}",
                "duration_ms": 900,
            }
            for key, label in self.choose(cells)
        ]
        self.at += 1
        path = f"/p/{self.person['slug']}/work/{story}/votes/"
        if await self.timed(path, self.headers, {"changes": changes}):
            for change in changes:
                self.acknowledged[uid, change["dimension"]] = (change["label"], change["idempotency_key"])
