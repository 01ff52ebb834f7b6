"""Measure pages, imports and exports of projects of several sizes: `python bench/growing.py FOLDER [--times 1 5]
[--only pages|files] [--imports]`.

FOLDER gets an installation on SQLite for each size: a corpus of the size of OmniToM (bench/make_corpus.py), imported by
the product, and from that the larger ones, its stories as often again, copied in the database. Those that are there are
measured again; remove FOLDER after a change of the tables. Prints one table. The pages are those of a project that the
URLconf has, each as an admin, an expert and an annotator who may open it; those that need what this project lacks, such
as a run, are named below the table. Of a page it has seconds of a processor, SQLite's with it, at the first look of a
process, at a later one, and after somebody changed one vote (the fewest of three such looks: what else the machine does
makes it only more), those of whoever waits longest after a vote; of a command seconds and the most memory that it held.
`--imports` also imports the votes of each size into an installation of its own, which takes minutes.
"""

import argparse
import contextlib
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from make_corpus import STORIES, make

ROOT = Path(__file__).resolve().parent.parent
SLUG = "whole"
DATABASE = "credence.sqlite3"
CLONED = ("Story", "BeliefTable", "Proposition", "Assignment", "Vote", "VoteEvent", "GoldLabel", "GoldEvent")
"""Models whose rows are copied, those that others point at first."""
_UNUSED = "01lo"
"""Characters that no uid has (core/ids.py): one for each copy, so that five times is the most."""
SENT = ("download", "archive", "_csv", "_file", "_json")
"""Ends of the names of addresses that send a file, which are no pages."""
OF_PROJECTS = ("annotation:", "judge:", "benchmark:")
EXPORTS = {"gold": "omnitom", "long CSV": "long-csv", "Croissant": "croissant"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 5], choices=range(1, 6))
    parser.add_argument("--only", choices=["pages", "files"])
    parser.add_argument("--imports", action="store_true", help="also import the votes of each size anew")
    parser.add_argument("--measure-pages", action="store_true", help=argparse.SUPPRESS)  # the process that it starts
    options = parser.parse_args()
    if options.measure_pages:
        print(json.dumps(dict(_pages())))
        return
    columns = {times: _measured(options, times) for times in options.times}
    print("| what |", " | ".join(f"{times}×" for times in columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for name in dict.fromkeys(name for rows in columns.values() for name in rows):
        print(f"| {name} |", " | ".join(rows.get(name, "") for rows in columns.values()), "|")


def _measured(options: argparse.Namespace, times: int) -> dict[str, str]:
    var = _installation(options.folder, times)
    rows = {"database, MB": f"{(var / DATABASE).stat().st_size / 1e6:.0f}"}
    if options.only != "files":
        command = [sys.executable, __file__, str(options.folder), "--measure-pages"]
        pages = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=_environment(var)).stdout
        looks = json.loads(pages.splitlines()[-1])
        rows["*page*"] = "processor s at the first look; again; after a vote (statements, who)"
        for name, page in looks.items():
            if page:
                seconds = "; ".join(f"{value:.3f}" for value in page["seconds"])
                rows[name] = f"{seconds} ({page['statements']}, {page['role']})"
        rows["*not measured*"] = ", ".join(name for name, page in looks.items() if not page)
    if options.only != "pages":
        for name, key in EXPORTS.items():
            with tempfile.TemporaryDirectory() as scratch:
                output = Path(scratch) / "out"
                took = _timed(var, "export_gold", "--project", SLUG, "--format", key, "--output", output)
            rows[f"export, {name}: s; of processors (MB)"] = took
    if options.imports:
        rows |= _imports(options.folder, times)
    return rows


def _imports(folder: Path, times: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        var = Path(scratch)
        corpus = var / "corpus"
        _enlarge(folder / "corpus", corpus, times)
        _manage(var, "prepare")
        stories = _timed(var, "import_corpus", "omnitom", corpus / "stories.jsonl", "--project", SLUG)
        votes = _timed(var, "import_votes", corpus / "votes.csv", "--project", SLUG)
        return {"import_corpus: s; of processors (MB)": stories, "import_votes: s; of processors (MB)": votes}


def _enlarge(corpus: Path, out: Path, times: int) -> None:
    """Write the corpus so many times into `out`, the stories of each time with numbers of their own."""
    out.mkdir()
    with (out / "stories.jsonl").open("w") as stories:
        for time_ in range(times):
            for line in (corpus / "stories.jsonl").read_text("utf-8").splitlines():
                record = json.loads(line)
                stories.write(json.dumps(record | {"story_id": record["story_id"] + time_ * STORIES}) + "\n")
    with (out / "votes.csv").open("w", newline="") as votes:
        writer = csv.writer(votes)
        for time_ in range(times):
            with (corpus / "votes.csv").open(newline="") as handle:
                reader = csv.reader(handle)
                head = next(reader)
                if not time_:
                    writer.writerow(head)
                writer.writerows([str(int(number) + time_ * STORIES), *cells] for number, *cells in reader)


def _installation(folder: Path, times: int) -> Path:
    """Return the data folder of an installation with the corpus so many times; it is made where it is not there."""
    var = folder / str(times)
    if not (var / DATABASE).exists():
        working = folder / f"{times}-working"
        shutil.rmtree(working, ignore_errors=True)
        if times == 1:
            _first(folder / "corpus", working)
        else:
            shutil.copytree(_installation(folder, 1), working)
            _clone(working, times)
        working.rename(var)
    _manage(var, "prepare")  # tables and kept counts of today
    return var


def _first(corpus: Path, var: Path) -> None:
    if not corpus.exists():
        make(corpus, folder=None, seed=1)
    var.mkdir(parents=True)
    _manage(var, "prepare")
    _manage(var, "import_corpus", "omnitom", corpus / "stories.jsonl", "--project", SLUG)
    _manage(var, "import_votes", corpus / "votes.csv", "--project", SLUG)


def _clone(var: Path, times: int) -> None:
    """Copy every story with all that hangs on it, within the database: rows point at the copies, by shifted ids."""
    os.environ |= _environment(var)
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.apps import apps
    from django.db import connection, transaction
    from django.db.models import Max

    models = [apps.get_model("annotation", name) for name in CLONED]
    shifts = {model: model.objects.aggregate(Max("id"))["id__max"] for model in models}
    with transaction.atomic(), connection.cursor() as cursor:
        for time_ in range(1, times):
            for model in models:
                names, values = zip(*_columns(model, shifts, time_), strict=True)
                table = model._meta.db_table
                cursor.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM {table} "
                               f"WHERE id <= {shifts[model]} ORDER BY id")  # fmt: skip
    connection.close()


def _columns(model, shifts: dict, time_: int) -> Iterator[tuple[str, str]]:
    for field in model._meta.concrete_fields:
        name = f'"{field.column}"'
        if field.primary_key:
            yield name, f"id + {time_ * shifts[model]}"
        elif field.related_model in shifts:
            yield name, f"{name} + {time_ * shifts[field.related_model]}"
        elif field.name == "uid":
            yield name, f"substr(uid, 1, 11) || '{_UNUSED[time_ - 1]}'"
        elif field.name == "number":
            yield name, f"number + {time_ * STORIES}"
        elif field.name == "idempotency_key":
            yield name, f"idempotency_key || '-{time_}'"
        else:
            yield name, name


def _environment(var: Path) -> dict[str, str]:
    return os.environ | {"CREDENCE_VAR": str(var), "DJANGO_SETTINGS_MODULE": "config.settings"}


def _manage(var: Path, *arguments) -> None:
    command = [sys.executable, str(ROOT / "manage.py"), *map(str, arguments)]
    subprocess.run(command, env=_environment(var), check=True, stdout=subprocess.DEVNULL)


def _timed(var: Path, *arguments) -> str:
    """Return seconds, those of processors, which a busy machine changes less, and the most memory of a command in
    MB."""
    command = [sys.executable, str(ROOT / "manage.py"), *map(str, arguments)]
    began = time.perf_counter()
    process = subprocess.Popen(command, env=_environment(var), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    most = 0
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        most = max(most, _own_memory(process.pid))
        time.sleep(0.02)
    took, used = time.perf_counter() - began, ended[2].ru_utime + ended[2].ru_stime
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    with process.stderr as errors:
        said = errors.read().decode()
    if process.returncode:
        raise SystemExit(f"{arguments[0]} failed: {said[-500:]}")
    return f"{took:.1f}; {used:.1f} ({most / 1024:.0f})"


def _own_memory(process: int) -> int:
    """Return the kilobytes that a process holds, without the pages of files: SQLite maps the database's, which the
    system takes back when it needs them."""
    with contextlib.suppress(OSError):
        found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
        return int(found[1]) if found else 0
    return 0


def _pages() -> Iterator[tuple[str, dict]]:
    """Yield the name of each page with its seconds, how many statements it took and who waits longest; nothing of those
    of which this project has none."""
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.conf import settings

    from annotation.models import Assignment
    from benchmark.services.datasets import publish_version

    settings.STORAGES |= {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    settings.ALLOWED_HOSTS = ["testserver"]
    assignment = Assignment.objects.active().filter(story__project__slug=SLUG).order_by("-id").first()
    project = assignment.story.project
    if not project.datasets.exists():
        publish_version(by=None, project=project)  # pages say then whether the present gold is that version
    people = _people(assignment)
    for name, address in _addresses(assignment):
        if not address:
            yield name, {}
            continue
        looks = {role: look for role, client in people.items() if (look := _looks(client, address, assignment))}
        if looks:
            role = max(looks, key=lambda role: looks[role]["seconds"][2])
            yield name, looks[role] | {"role": role}


def _people(assignment) -> dict:
    """Return a browser of an admin, of an expert and of the annotator of the assignment, logged in."""
    from django.test import Client

    from annotation.models import Membership, User

    admin, _ = User.objects.get_or_create(username="growing-admin", is_superuser=True, is_staff=True)
    expert, _ = User.objects.get_or_create(username="growing-expert")
    people = {"admin": admin, "expert": expert, "annotator": assignment.annotator}
    clients = {role: Client() for role in people}
    for role, person in people.items():
        Membership.objects.get_or_create(user=person, project=assignment.story.project, defaults={"role": role})
        clients[role].force_login(person)
    return clients


def _addresses(assignment) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page of a project in the URLconf; no address where it needs what is not there."""
    from django.urls import get_resolver, reverse

    from annotation.models import Proposition

    proposition = Proposition.objects.gold_of(assignment.story).first()
    dimension = assignment.story.project.schema.keys[0]
    values = {"slug": SLUG, "story": assignment.story.uid, "proposition": proposition.uid, "dimension": dimension}
    for name, kwargs in _named(get_resolver().url_patterns):
        if "slug" in kwargs and name.startswith(OF_PROJECTS) and not name.endswith(SENT):
            there = kwargs <= values.keys()
            yield name, reverse(name, kwargs={key: values[key] for key in kwargs}) if there else ""
    yield "annotation:gold_audit, decisions", reverse("annotation:gold_audit", args=[SLUG]) + "?by=decision"


def _named(patterns, namespace="", above=frozenset()) -> Iterator[tuple[str, set[str]]]:
    """Yield name and parameters of each address."""
    for pattern in patterns:
        names = above | set(pattern.pattern.converters)
        if inner := getattr(pattern, "url_patterns", None):
            yield from _named(inner, f"{pattern.namespace}:" if pattern.namespace else namespace, names)
        else:
            yield f"{namespace}{pattern.name}", names


def _looks(client, address: str, assignment) -> dict | None:
    """Return the seconds of a processor and the statements of looks at a page; None where this person has no such
    page."""
    began = time.process_time()
    if client.get(address).status_code != 200:
        return None
    first = time.process_time() - began
    again, after = [_look(client, address)[0] for _ in range(3)], []
    for _ in range(3):
        _vote(assignment)
        seconds, statements = _look(client, address)
        after.append(seconds)
    return {"seconds": [first, min(again), min(after)], "statements": statements}


def _look(client, address: str) -> tuple[float, int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        began = time.process_time()
        answer = client.get(address)
        for _ in answer.streaming_content if answer.streaming else ():
            pass
        took = time.process_time() - began
    return took, len(captured)


def _vote(assignment) -> None:
    """Change one vote of the assignment to the next label, as its annotator would: each time of another proposition, as
    the history of a cell is a page, too."""
    import uuid

    from django.utils import timezone

    from annotation.models import Vote
    from annotation.services.votes import Change, save_votes

    dimension = assignment.story.project.schema.dimensions[0]
    own = Vote.objects.filter(annotator=assignment.annotator, proposition__table__story=assignment.story)
    vote = own.filter(dimension=dimension.key).order_by("changed_at").first()
    label = dimension.values[(dimension.values.index(vote.label) + 1) % len(dimension.values)]
    now = timezone.now()
    change = Change(vote.proposition.uid, dimension.key, label, now, uuid.uuid4().hex)
    save_votes(by=assignment.annotator, assignment=assignment, changes=[change], now=now)


if __name__ == "__main__":
    main()
