"""Measure experts who decide thousands of open cells at once: `python bench/adjudicating.py [--cells 5000]
[--database-url postgres://…]`.

Starts the product's own server (`python -m config.web`) on loopback with a database of its own, in which three
annotators disagree on so many cells, 25 of a story, and three experts decide them all over HTTP, at the addresses that
the pages use. *Alone*: one expert looks at the queue, opens stories and decides cells, one after the other; what each
takes of a processor is the server's. *Together*: all three ask for the next story, decide its cells and go on, until
nothing is left. *Against each other*: in a second project with a tenth of the cells, all three decide the same cell at
the same moment, with another label each, in stories that nobody has claimed before.

Afterwards it fails unless every cell has exactly one decision, by the expert to whom the server confirmed it, with
that label, and none is open. With `--database-url` (any database of a PostgreSQL server) it does so on PostgreSQL, too,
in a database that is dropped at the end. Prints a Markdown table and one JSON object a database. The experts share the
machine's cores.
"""

import argparse
import asyncio
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from annotators import session_key
from server import ROOT, add_sizes, free_port, processor_seconds, serve

sys.path.insert(0, str(ROOT))
from tests.chaos.database import own_database

EXPERTS, OPEN_OF_STORY = 3, 25
LOOKS = 20
CELL = re.compile(
    r'<div\s+class="cell cell-open"[^>]*data-dimension="(?P<dimension>[^"]+)".*?'
    r'cell/(?P<proposition>[^/]+)/.*?name="revision" value="(?P<revision>\d+)".*?name="row" value="(?P<row>\d+)"',
    re.DOTALL,
)
FOLLOWING = re.compile(r"/adjudication/next/\?[^\"\\<]*")


@dataclass(frozen=True)
class OpenCell:
    proposition: str
    dimension: str
    revision: int
    row: int


class Expert:
    """An expert with a keep-alive connection and the decisions that the server confirmed."""

    def __init__(self, port: int, slug: str, user_id: int, cookie: str) -> None:
        self.port, self.slug, self.user_id = port, slug, user_id
        token = uuid.uuid4().hex
        self.headers = f"Cookie: sessionid={cookie}; csrftoken={token}\r\nX-CSRFToken: {token}\r\n"
        self.waits: dict[str, list[float]] = defaultdict(list)
        self.confirmed: dict[tuple[str, str], str] = {}
        self.refused = 0
        self.reader: asyncio.StreamReader | None = None

    async def ask(self, what: str, path: str, content: dict | None = None) -> tuple[int, str, str]:
        """Return status, Location and text of an answer, and note how long it took."""
        began = time.perf_counter()
        body = b"" if content is None else json.dumps(content).encode()
        method = "GET" if content is None else "POST"
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        answer = await self._answer(head.encode() + f"{len(body)}\r\n{self.headers}\r\n".encode() + body)
        self.waits[what].append(time.perf_counter() - began)
        return answer

    async def _answer(self, request: bytes) -> tuple[int, str, str]:
        if self.reader is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        self.writer.write(request)
        await self.writer.drain()
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        text = (await self.reader.readexactly(int(fields["content-length"]))).decode()
        if fields.get("connection") == "close":
            self.writer.close()
            self.reader = None
        location = re.search(r"^location: (\S+)", head, re.IGNORECASE | re.MULTILINE)
        return int(head.split(" ", 2)[1]), location[1] if location else "", text

    async def queue(self) -> None:
        status, _, _ = await self.ask("queue", f"/p/{self.slug}/adjudication/")
        _expect(status, 200)

    async def open(self, way: str) -> tuple[list[OpenCell], str]:
        """Ask for the next story; return its open cells and the way to the one after it, "" where nothing is left."""
        status, location, _ = await self.ask("next story", way)
        _expect(status, 302)
        if "/story/" not in location:
            return [], ""
        status, _, page = await self.ask("story page", location)
        _expect(status, 200)
        cells = [
            OpenCell(found["proposition"], found["dimension"], int(found["revision"]), int(found["row"]))
            for found in CELL.finditer(page)
        ]
        if not cells:
            raise SystemExit(f"{location} has no open cell, though the queue led there.")
        following = FOLLOWING.search(page.replace("\\u0026", "&").replace("&amp;", "&"))
        return cells, f"/p/{self.slug}{following[0]}" if following else self.first

    @property
    def first(self) -> str:
        return f"/p/{self.slug}/adjudication/next/"

    async def decide(self, cell: OpenCell, label: str) -> None:
        change = {
            "proposition": cell.proposition, "dimension": cell.dimension, "label": label, "revision": cell.revision,
            "row": cell.row, "reason": "As the guideline says.", "idempotency_key": uuid.uuid4().hex,
            "changed_at": datetime.now(UTC).isoformat(),
        }  # fmt: skip
        content = {"annotator": self.user_id, "changes": [change]}
        status, _, text = await self.ask("decision", f"/p/{self.slug}/adjudication/save/", content)
        if status == 200 and json.loads(text)["saved"]:
            self.confirmed[cell.proposition, cell.dimension] = label
        elif status in (400, 409):  # decided, or claimed by another, meanwhile
            self.refused += 1
        else:
            raise SystemExit(f"A decision was answered with {status}: {text[:300]}")

    async def decide_all(self) -> None:
        way = self.first
        while way:
            cells, way = await self.open(way)
            for cell in cells:
                await self.decide(cell, self.label_of(cell))

    def label_of(self, cell: OpenCell) -> str:
        from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

        labels = DEFAULT_SCHEMA[cell.dimension].values
        return labels[self.user_id % len(labels)]


def _expect(status: int, wanted: int) -> None:
    if status != wanted:
        raise SystemExit(f"Answered {status}; expected {wanted}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--database-url", default="", help="any database of a PostgreSQL server")
    parser.add_argument("--on", default=None, help=argparse.SUPPRESS)  # the process that it starts for a database
    add_sizes(parser)
    options = parser.parse_args()
    if options.on is not None:
        print(json.dumps(_measured(options)))
        return
    results = {"SQLite": _on("", options)}
    if options.database_url:
        with own_database(options.database_url) as url:
            results["PostgreSQL"] = _on(url, options)
    _print(results)


def _on(url: str, options: argparse.Namespace) -> dict:
    command = [sys.executable, __file__, f"--on={url}", f"--cells={options.cells}"]
    command += [f"--workers={options.workers}", f"--threads={options.threads}"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])


def _measured(options: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"CREDENCE_VAR": scratch, "DJANGO_SETTINGS_MODULE": "config.settings"}
        if options.on:
            os.environ["DATABASE_URL"] = options.on
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        call_command("collectstatic", "--noinput", verbosity=0)  # without them no page is drawn
        together, against = _seed("together", options.cells), _seed("against", options.cells // 10)
        port = free_port()
        with (Path(scratch) / "log").open("w") as log:
            process = serve("product", port, workers=options.workers, threads=options.threads, errors=log)
        try:
            return asyncio.run(_phases(process, port, options.on.rpartition("/")[2], together, against))
        finally:
            process.terminate()
            process.wait(20)


async def _phases(process, port: int, database: str, together: dict, against: dict) -> dict:
    experts = [Expert(port, "together", *person) for person in together["experts"]]
    alone = await _alone(experts[0], lambda: processor_seconds(process, database))
    for expert in experts:
        expert.waits.clear()
    decided = sum(len(expert.confirmed) for expert in experts)
    began = time.perf_counter()
    await asyncio.gather(*(expert.decide_all() for expert in experts))
    seconds = time.perf_counter() - began
    rivals = [Expert(port, "against", *person) for person in against["experts"]]
    await _against_each_other(rivals, against["cells"])
    cells = sum(len(expert.confirmed) for expert in experts)
    waits = {what: sorted(wait for one in experts for wait in one.waits[what]) for what in experts[0].waits}
    return {
        "alone, processor ms": alone,
        "cells": cells,
        "cells a second": round((cells - decided) / seconds, 1),
        "of each": [len(expert.confirmed) for expert in experts],
        "p50 ms": {what: round(1000 * found[len(found) // 2], 1) for what, found in waits.items()},
        "p95 ms": {what: round(1000 * found[int(0.95 * len(found))], 1) for what, found in waits.items()},
        "contested": sum(len(one.confirmed) for one in rivals),
        "refused": sum(one.refused for one in rivals),
        "checked": await asyncio.to_thread(_check, "together", experts, together["cells"])
        + await asyncio.to_thread(_check, "against", rivals, against["cells"]),
    }


async def _alone(expert: Expert, used) -> dict[str, float]:
    """Return what a request takes of a processor, in ms, while nobody else works: of queue, story page, decision."""
    taken, way = {}, expert.first
    await expert.queue()
    cells, _ = await expert.open(way)  # programs are loaded by now
    before = used()
    for _ in range(LOOKS):
        await expert.queue()
    taken["queue"] = used() - before
    before = used()
    for _ in range(LOOKS):
        await expert.open(way)
    taken["next story and its page"] = used() - before
    before = used()
    for cell in cells[:LOOKS]:
        await expert.decide(cell, expert.label_of(cell))
    taken["decision"] = used() - before
    number = {"decision": len(cells[:LOOKS])}
    return {what: round(1000 * seconds / number.get(what, LOOKS), 1) for what, seconds in taken.items()}


async def _against_each_other(rivals: list[Expert], number: int) -> None:
    """Read all cells, then have all decide the same cell at the same moment, one cell after the other. Who opens a
    story gives back the one before, so that nobody has claimed any but the last."""
    way, cells = rivals[0].first, dict[OpenCell, None]()
    while len(cells) < number:
        found, way = await rivals[0].open(way)
        cells |= dict.fromkeys(found)
    for cell in cells:
        await asyncio.gather(*(rival.decide(cell, rival.label_of(cell)) for rival in rivals))


def _check(slug: str, experts: Iterable[Expert], cells: int) -> int:
    """Return how many cells were checked. Raises SystemExit where one is open, decided twice, or not as confirmed."""
    from annotation.models import GoldEvent, GoldLabel, Method

    confirmed: dict[tuple[str, str], tuple[int, str]] = {}
    for expert in experts:
        for cell, label in expert.confirmed.items():
            if cell in confirmed:
                raise SystemExit(f"{cell} was confirmed to two experts.")
            confirmed[cell] = expert.user_id, label
    of_project = {"proposition__table__story__project__slug": slug}
    if still := GoldLabel.objects.filter(method=Method.OPEN, **of_project).count():
        raise SystemExit(f"{still} cells are still open.")
    events = GoldEvent.objects.filter(after_method=Method.ADJUDICATED, **of_project)
    decisions = Counter(events.values_list("proposition__uid", "dimension"))
    if twice := [cell for cell, times in decisions.items() if times > 1]:
        raise SystemExit(f"{len(twice)} cells were decided twice, {twice[0]} for one.")
    decided = GoldLabel.objects.filter(method=Method.ADJUDICATED, **of_project)
    stands = {
        (uid, key): (by, label)
        for uid, key, by, label in decided.values_list("proposition__uid", "dimension", "decided_by", "label")
    }
    if stands != confirmed or decisions.keys() != confirmed.keys() or len(confirmed) != cells:
        raise SystemExit(f"{cells} cells, {len(confirmed)} confirmed, {len(stands)} decided: they are not the same.")
    return cells


def _seed(slug: str, cells: int) -> dict:
    """Make a project with about so many open cells, spread over its stories; return its experts and how many cells are
    open."""
    from django.utils import timezone

    from annotation.models import GoldLabel, Membership, Method, Project, User
    from annotation.services.vote_import import import_votes

    project, stories = Project.objects.create(slug=slug, name=slug, overlap=3), max(1, cells // OPEN_OF_STORY)
    for number in range(stories):
        _add_story(project, number)
    handle = io.BytesIO(_votes(project.schema, stories).encode())
    import_votes(by=None, project=project, handle=handle, file="votes.csv", now=timezone.now())
    experts = []
    for number in range(EXPERTS):
        user = User.objects.create(username=f"{slug}-expert-{number}")
        Membership.objects.create(project=project, user=user, role="expert")
        experts.append((user.pk, session_key(user)))
    here = GoldLabel.objects.filter(method=Method.OPEN, proposition__table__story__project=project)
    return {"experts": experts, "cells": here.count()}


def _add_story(project, number: int) -> None:
    from annotation.models import BeliefTable, Category, Proposition, Story

    category, _ = Category.objects.get_or_create(project=project, name="False Belief Task")
    text = f"Story {number}. " + "Ines puts the key in the bag. " * 15
    story = Story.objects.create(project=project, number=number, category=category, text=text, digest=f"{number:064d}")
    table = BeliefTable.objects.create(story=story)
    Proposition.objects.bulk_create(
        Proposition(table=table, position=at, actor="Ines", belief=f"The key is in place {at}")
        for at in range(OPEN_OF_STORY)
    )


def _votes(schema, stories: int) -> str:
    """Return votes of three annotators, who disagree on one dimension and agree on another."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["story_id", "actor", "belief", "dimension", "annotator", "label"])
    disputed = next(dimension for dimension in schema.dimensions if len(dimension.values) >= EXPERTS)
    agreed = next(dimension for dimension in schema.dimensions if dimension != disputed)
    for story, at in product(range(stories), range(OPEN_OF_STORY)):
        for annotator in range(3):
            for dimension, label in ((disputed, disputed.values[annotator]), (agreed, agreed.values[0])):
                belief = f"The key is in place {at}"
                writer.writerow([story, "Ines", belief, dimension.key, f"annotator-{annotator}", label])
    return out.getvalue()


def _print(results: dict[str, dict]) -> None:
    whats = ("queue", "next story and its page", "decision")
    columns = ["database", *(f"{what}, processor ms" for what in whats), "cells", "cells a second"]
    columns += ["p50, p95 ms of a decision", "p50, p95 ms of a story page", "contested cells", "refused"]
    print("|", " | ".join(columns), "|")
    print("|---" * len(columns) + "|")
    for database, found in results.items():
        alone = " | ".join(str(found["alone, processor ms"][what]) for what in whats)
        waits = " | ".join(f"{found['p50 ms'][what]}, {found['p95 ms'][what]}" for what in ("decision", "story page"))
        counts = f"{found['cells']} | {found['cells a second']}", f"{found['contested']} | {found['refused']}"
        print(f"| {database} | {alone} | {counts[0]} | {waits} | {counts[1]} |")
    for database, found in results.items():
        print(json.dumps({"database": database} | found))


if __name__ == "__main__":
    main()
