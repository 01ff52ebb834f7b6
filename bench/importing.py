"""Measure the latency of votes during imports: `python bench/importing.py CORPUS [--tombench FOLDER] [--database-url
postgres://…]`.

CORPUS is the folder that make_corpus.py wrote. Starts the product's own server (`python -m config.web`) on loopback
with a database of its own; a few annotators vote twice a second, over HTTP, at the address that the grid uses, while
one import after another runs: by command, in a process of its own, and uploaded to the page, in the server itself.
Hostile files are among them. Prints a Markdown table, and one JSON object on the last line: how long the votes waited,
how many transactions the import wrote, and the longest of them, by the clock and by what it took of a processor, which
a busy machine does not change. Everything shares the machine's cores.

`--server gunicorn` and `granian` are there to compare with; install them by hand beside the product.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

from urllib3 import request

sys.path.insert(0, str(Path(__file__).resolve().parent))
from annotators import Annotator, seed, session_key
from server import ROOT, SERVERS, add_sizes, free_port, serve

VOTERS = 8
LOGGED = re.compile(r"transaction of \d+ rows: ([\d.]+) s, ([\d.]+) s of a processor")
HEAD = "story_id,actor,belief,dimension,annotator,label\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--tombench", type=Path)
    parser.add_argument("--database-url", default="")
    parser.add_argument("--server", choices=sorted(SERVERS), default="product", help="what serves the product")
    add_sizes(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        # at this level imports log their transactions
        os.environ |= {"CREDENCE_VAR": scratch, "DJANGO_SETTINGS_MODULE": "config.settings", "LOG_LEVEL": "DEBUG"}
        if options.database_url:
            os.environ["DATABASE_URL"] = options.database_url
        sys.path.insert(0, str(ROOT))
        people = seed()
        admin = _admin(people[0]["slug"])
        _run("collectstatic", "--noinput")  # without them no page is drawn
        port = free_port()
        with (Path(scratch) / "log").open("a") as log:
            server = serve(options.server, port, workers=options.workers, threads=options.threads, errors=log)
            try:
                rows = asyncio.run(_measure(port, people[:VOTERS], admin, options, Path(scratch)))
            finally:
                server.terminate()
                server.wait(20)
    _print(rows)
    print(json.dumps({"database": "postgresql" if options.database_url else "sqlite", "rows": rows}))
    if failed := [row["while"] for row in rows if row["errors"] or row["failed"]]:
        sys.exit(f"Not all was answered: {', '.join(failed)}.")


COLUMNS = {
    "while": "while",
    "seconds": "seconds",
    "votes": "votes",
    "p50_ms": "p50 ms",
    "p99_ms": "p99 ms",
    "max_ms": "max ms",
    "transactions": "transactions",
    "longest_ms": "longest ms",
    "longest_processor_ms": "of a processor ms",
}


def _print(rows: list[dict]) -> None:
    print("|", " | ".join(COLUMNS.values()), "|")
    print("|---" * len(COLUMNS) + "|")
    for row in rows:
        print("|", " | ".join(str(row[name]) for name in COLUMNS), "|")


def _admin(slug: str) -> dict[str, str]:
    """Create a site admin and return the cookies of a session."""
    from annotation.models import User

    user = User.objects.create(username=f"{slug}-admin", is_superuser=True, is_staff=True)
    return {"sessionid": session_key(user), "csrftoken": "x" * 32}


def _hostile(folder: Path) -> dict[str, Path]:
    """Write small files that are much work for a careless reader, and return their paths."""
    keys = ", ".join(f'"k{at}": 1' for at in [*range(29_000), 28_999])
    contents = {
        "keys.jsonl": "{" + keys + "}",
        "lines.jsonl": "{\n" * 800_000,
        "rows.csv": HEAD + "x,\n" * 533_000,
        "columns.csv": ",".join(["story_id", *(f"k{at}" for at in [*range(60_000), 59_999])]),
    }
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name: folder / name for name in contents}


async def _measure(port: int, people: list[dict], admin: dict, options, scratch: Path) -> list[dict]:
    annotators = [Annotator(port, person) for person in people]
    for annotator in annotators:
        await annotator.connect()
        await annotator.save(1)
    corpus, votes, archive = options.corpus / "stories.jsonl", options.corpus / "votes.csv", scratch / "archive.zip"
    hostile = _hostile(scratch)
    log = scratch / "log"
    rows = [await _during(annotators, "nothing else", asyncio.sleep(15, 0), log)]

    async def command(name: str, *arguments, may_fail: bool = False) -> None:
        rows.append(await _during(annotators, name, _command(log, *arguments), log, may_fail=may_fail))

    async def page(name: str, slug: str, files: dict, data: dict) -> None:
        rows.append(await _during(annotators, f"{name}, uploaded", _upload(port, admin, slug, files, data), log))

    await command("import_corpus: 895 stories, 22,343 rows", "import_corpus", "omnitom", corpus, "--project=whole")
    await command("import_votes: 469,203 votes", "import_votes", votes, "--project=whole")
    await command("import_votes: the same file again", "import_votes", votes, "--project=whole")
    if options.tombench:
        await command(
            "import_corpus: the whole of ToMBench", "import_corpus", "tombench", options.tombench, "--project=tombench"
        )
    _run("export_archive", "--project=whole", f"--output={archive}")
    await command("import_archive: all of that", "import_archive", archive, "--project=copy")
    _run("import_corpus", "omnitom", corpus, "--project=second")
    await page("469,203 votes", "second", {"files": votes}, {"format": "votes", "language": "en", "keep": "1"})
    await page("895 stories, checked", "second", {"files": corpus}, {"format": "omnitom", "language": "en"})
    for name, description in (("keys.jsonl", "0.4 MB of keys"), ("lines.jsonl", "1.6 MB of bad lines")):
        await command(description, "import_corpus", "omnitom", hostile[name], "--project=whole", may_fail=True)
        await page(
            description, "second", {"files": hostile[name]}, {"format": "omnitom", "language": "en", "keep": "1"}
        )
    for name, description in (("rows.csv", "1.6 MB of bad votes"), ("columns.csv", "0.4 MB of columns")):
        await command(description, "import_votes", hostile[name], "--project=whole", may_fail=True)
        await page(description, "second", {"files": hostile[name]}, {"format": "votes", "language": "en", "keep": "1"})
    return rows


async def _during(annotators: list, name: str, work: Awaitable[int], log: Path, *, may_fail: bool = False) -> dict:
    """Return a row of the table: everybody votes twice a second until `work` is done, and for two seconds at least."""
    for annotator in annotators:
        annotator.waits.clear()
        annotator.errors = 0
    began, ended, logged = time.perf_counter(), asyncio.Event(), log.stat().st_size

    async def vote(annotator) -> None:
        await asyncio.sleep(annotator.random.random() / 2)
        while not ended.is_set() or time.perf_counter() - began < 2:
            await annotator.save(1)
            await asyncio.sleep(0.5)

    voters = [asyncio.create_task(vote(annotator)) for annotator in annotators]
    status = await work
    took = time.perf_counter() - began
    ended.set()
    await asyncio.gather(*voters)
    waits = sorted(wait for annotator in annotators for wait in annotator.waits)
    quantiles = {
        name: round(1000 * waits[int((len(waits) - 1) * share)])
        for name, share in (("p50_ms", 0.5), ("p99_ms", 0.99), ("max_ms", 1))
    }
    row = {"while": name, "seconds": round(took, 1), "votes": len(waits), **quantiles, **_transactions(log, logged)}
    print(row, file=sys.stderr, flush=True)
    return row | {"errors": sum(annotator.errors for annotator in annotators), "failed": bool(status) and not may_fail}


def _transactions(log: Path, since: int) -> dict:
    """Count the transactions that imports logged since the log had `since` bytes, and find the longest."""
    with log.open("rb") as handle:
        handle.seek(since)
        transactions = LOGGED.findall(handle.read().decode(errors="replace"))
    longest = {
        name: round(1000 * max((float(times[at]) for times in transactions), default=0))
        for at, name in enumerate(("longest_ms", "longest_processor_ms"))
    }
    return {"transactions": len(transactions), **longest}


async def _command(log: Path, *arguments) -> int:
    with log.open("a") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(ROOT / "manage.py"),
            *map(str, arguments),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        return await process.wait()


def _run(*arguments) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *map(str, arguments)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )


async def _upload(port: int, admin: dict, slug: str, files: dict[str, Path], data: dict) -> int:
    """Return 0 where the page answers, 1 where it does not."""
    fields = {name: (path.name, path.read_bytes()) for name, path in files.items()}
    fields |= data | {"csrfmiddlewaretoken": admin["csrftoken"]}
    url, cookies = (
        f"http://127.0.0.1:{port}/p/{slug}/import/",
        "; ".join(f"{name}={value}" for name, value in admin.items()),
    )
    answer = await asyncio.to_thread(
        request, "POST", url, fields=fields, headers={"Cookie": cookies}, timeout=600, retries=False
    )
    return int(answer.status != 200)


if __name__ == "__main__":
    main()
