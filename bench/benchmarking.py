"""Measure benchmark runs and the pages of their results, in seconds: `python bench/benchmarking.py
[--only baselines|wide|structure] [--tombench FOLDER] [--models 20] [--database-url postgres://…]`.

On a corpus of the size of OmniToM (bench/make_corpus.py), in a database of its own, without a network. Prints one JSON
object a measurement:

- baselines: `run_benchmark` over 895 stories × extraction, judging and labelling with the built-in baselines, to the
  scores; then the report computed anew and read from where it is kept, and its page
- wide: a finished run of many models × 895 stories × judging and labelling, its rows made up: the report, the
  comparison of the run's models and the leaderboard as a worker computes them, each from where it is kept, the table of
  items sorted each way and at its far end, and their pages
- structure (with --tombench alone): the run of wide and one of its models over the questions of ToMBench, rows made
  up too; what a worker computes of them once they are finished, and the page of structure against answers: as it opens,
  as its figures follow, with the cut moved, its choices changed, its rows, files and a story

Seconds are of one process; of what is said to be under a second the slowest of three is printed.
"""

import argparse
import contextlib
import html
import io
import json
import os
import random
import re
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SLUG = "bench"
PAGES = {"leaderboard": "benchmark:leaderboard", "report": "benchmark:run_results", "items": "benchmark:run_items"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["baselines", "wide", "structure"])
    parser.add_argument("--tombench", type=Path, help="folder with the real stories")
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--database-url", default="", help="a database that is empty; else SQLite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["CREDENCE_VAR"] = scratch
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        if options.database_url:
            os.environ["DATABASE_URL"] = options.database_url
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
        settings.STORAGES = settings.STORAGES | {"staticfiles": plain}  # files are not collected here
        settings.ALLOWED_HOSTS = ["testserver"]
        call_command("migrate", verbosity=0)
        dataset = _dataset(Path(scratch), options.tombench)
        database = "postgresql" if options.database_url else "sqlite"
        for name in [options.only] if options.only else ["baselines", "wide"]:  # structure makes the run of wide anew
            measured = {"measured": name, "database": database} | MEASUREMENTS[name](dataset, options)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(json.dumps(measured | {"peak_mb": round(peak)}), flush=True)


def _dataset(scratch: Path, folder: Path | None):
    from annotation.models import Membership, Project, Role, User
    from annotation.services.corpus_import import import_corpus
    from bench.make_corpus import make
    from benchmark.services.datasets import publish_version

    make(scratch, folder=folder, seed=1)
    file = scratch / "stories.jsonl"
    import_corpus(by=None, project_slug=SLUG, format="omnitom", sources=[(file.name, partial(file.open, "rb"))])
    project = Project.objects.get(slug=SLUG)
    admin = User.objects.create_superuser("bench", password="bench")
    Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
    return publish_version(by=admin, project=project)[0]


def _took(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return round(time.perf_counter() - began, 3)


def _slowest(work: Callable[[], Any], times: int = 3) -> float:
    return max(_took(work) for _ in range(times))


def baselines(dataset, options) -> dict:
    from django.core.management import call_command

    from benchmark.models import Run
    from benchmark.services.reports import forget_report, report_of
    from workers.services.endpoints import save_endpoint

    for name in ("majority", "omniscient", "lexical-judge"):
        save_endpoint(by="", values={"name": name, "provider": "baseline", "model": name})
    arguments = ["--endpoint", "majority", "--endpoint", "omniscient", "--judge", "lexical-judge", "--step", "all"]
    out, cpu = io.StringIO(), time.process_time()
    with contextlib.redirect_stderr(io.StringIO()):
        command = partial(call_command, "run_benchmark", "--suite", "omnitom", "--project", SLUG, *arguments)
        seconds = _took(lambda: command("--wait", "--json", stdout=out))
    cpu = time.process_time() - cpu
    result = json.loads(out.getvalue())
    run = Run.objects.get(uid=result["run"])
    assert (result["state"], result["items"]["failed"], result["calls"]["made"]) == (
        "finished",
        0,
        3 * dataset.stories_count,
    )
    forget_report(run)
    return {
        "stories": dataset.stories_count,
        "propositions": dataset.propositions_count,
        "calls": result["calls"]["made"],
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "report_computed": _took(lambda: report_of(run)),
        "report_kept": _slowest(lambda: report_of(run)),
    } | _pages({"report": [run.uid]})


def _pages(pages: dict[str, list], **queries: list[str]) -> dict[str, Any]:
    """Seconds of each page by name; the slowest of three after a first look, with each of its queries."""
    from django.test import Client
    from django.urls import reverse

    from annotation.models import User

    client, seconds = Client(), {}
    client.force_login(User.objects.get(username="bench"))
    for name, arguments in pages.items():

        def read(query: str, url: str = reverse(PAGES[name], args=[SLUG, *arguments])) -> None:
            response = client.get(url + query)
            assert response.status_code == 200, (url, response.status_code)
            b"".join(response) if response.streaming else response.content

        seconds[f"page_{name}_first"] = _took(lambda read=read: read(""))
        seconds[f"page_{name}"] = max(
            _slowest(lambda read=read, query=query: read(query)) for query in queries.get(name, [""])
        )
    return seconds


def wide(dataset, options) -> dict:
    from benchmark.services.documents import document_of
    from benchmark.services.items import SORTS, items_of, with_row_fields
    from benchmark.services.leaderboard_scope import leaderboard_of
    from benchmark.services.reports import report_of

    began = time.perf_counter()
    run = _wide_run(dataset, options.models)
    rows_seconds = round(time.perf_counter() - began, 1)
    count = items_of(run, {}).count()

    def page(sort: str, at: int) -> Callable[[], Any]:
        return lambda: list(with_row_fields(items_of(run, {}, sort))[at : at + 50])

    sorts = [f"{sign}{name}" for name in SORTS for sign in ("", "-")]
    result = {
        "models": options.models,
        "places": count,
        "rows_made": rows_seconds,
        "report_computed": _took(lambda: report_of(run)),
        "report_kept": _slowest(lambda: report_of(run)),
        "standing_computed": _took(lambda: document_of(run)),
        "leaderboard_computed": _took(lambda: leaderboard_of(dataset, run.answer_format, None)),
        "leaderboard_kept": _slowest(lambda: leaderboard_of(dataset, run.answer_format, None)),
        "items_page": max(_slowest(page(sort, 0)) for sort in sorts),
        "items_last_page": max(_slowest(page(sort, count - 50)) for sort in sorts),
        "items_counted": _slowest(lambda: items_of(run, {}).count()),
    }
    queries = {
        "items": [f"?sort={sort}&page={number}" for sort in sorts for number in (1, count // 50)],
        "leaderboard": ["", "?sort=-repaired_f1", "?sort=model"],
    }
    return result | _pages({"leaderboard": [], "report": [run.uid], "items": [run.uid]}, **queries)


def structure(dataset, options) -> dict:
    """Seconds by the clock and of a processor of a first look and of a second one, by what is looked at; after a look
    those of the figures that follow it, where they do."""
    from django.core.management import call_command
    from django.test import Client
    from django.urls import reverse

    from annotation.models import User
    from benchmark.models import Dataset
    from benchmark.tasks import compute_report

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        call_command("import_suite", "tombench", str(options.tombench), "--project", SLUG)
    runs = [_wide_run(dataset, options.models), _questions_run(Dataset.objects.get(suite="tombench"), options.models)]
    seconds: dict[str, Any] = {"models": options.models}
    seconds |= {f"worker_{run.suite}": _took(partial(compute_report, run.job_id)) for run in runs}
    client, page = Client(), reverse("benchmark:structure", args=[SLUG])
    client.force_login(User.objects.get(username="bench"))

    def read(url: str) -> str:
        response = client.get(url)
        assert response.status_code == 200, (url, response.status_code)
        return (b"".join(response) if response.streaming else response.content).decode(errors="replace")

    def looked(name: str, url: str) -> str:
        took: list[Any] = []
        for _ in range(2):
            began, cpu = time.perf_counter(), time.process_time()
            content = read(url)
            took.append([round(time.perf_counter() - began, 2), round(time.process_time() - cpu, 2)])
            while _COMPUTING in content:
                time.sleep(1)
                content = read(url)
                took[-1] = [round(time.perf_counter() - began, 2), round(time.process_time() - cpu, 2)]
        seconds[name] = took
        return content

    opened = looked("opens", page)
    for name, query in CHOICES.items():
        looked(name, f"{page}?{query}")
    for name, address in _linked_once(opened).items():
        looked(name, address)
    return seconds


def _linked_once(content: str) -> dict[str, str]:
    """The files of the page, one of each, and the first story that is listed."""
    found = {html.unescape(address) for address in _LINKS.findall(content)}
    named = {address.partition("?")[0].rpartition("/structure/")[2]: address for address in sorted(found)}
    stories = [name for name in named if name.rstrip("/").isdecimal()]
    return {name: address for name, address in named.items() if name not in stories[1:]}


def _questions_run(dataset, models: int):
    """A finished run of the models of `_wide_run` over questions, with answers that were never asked for."""
    from django.utils import timezone

    from benchmark.models import Run, RunItem
    from benchmark.services.launches import start_run
    from benchmark.services.plans import Plan
    from core.bulk import update_rows
    from workers.models import Call, Endpoint, Item, ItemState, Job, JobOutcome, JobState
    from workers.services.run_to_end import prepare_all

    ends = list(Endpoint.objects.filter(name__startswith="model-").order_by("name"))
    plan = Plan(
        dataset=dataset,
        endpoints=ends,
        steps=["answer"],
        suite="tombench",
        split="en",
        repetitions=1,
        title="Questions",
    )
    run = start_run(by=None, plan=plan, now=timezone.now())
    prepare_all(threading.Event())
    call = Call.objects.get()
    fields = ["call", "official", "repaired", "score", "repaired_score"]
    for position, entrant in enumerate(run.entrants.all()):
        rng, skill = random.Random(position), 0.4 + 0.5 * position / models
        items = RunItem.objects.filter(entrant=entrant).values_list("pk", "sample__gold")
        rows = []
        for pk, gold in items:
            right = rng.random() < skill
            parse = {"choice": gold["answer"] if right else next(one for one in "ABCD" if one != gold["answer"])}
            rows.append((call.pk, parse, parse, float(right), float(right), pk))
        update_rows(RunItem, fields, rows)
    Item.objects.filter(job=run.job).update(state=ItemState.DONE, call=call)
    Job.objects.filter(pk=run.job_id).update(
        state=JobState.FINISHED, outcome=JobOutcome.FINISHED, finished_at=timezone.now()
    )
    return Run.objects.get(pk=run.pk)


def _wide_run(dataset, models: int):
    """A finished run as the launch makes it, with answers that were never asked for."""
    from django.utils import timezone

    from benchmark.models import Run, RunItem
    from benchmark.services.launches import start_run
    from benchmark.services.plans import Plan
    from core.bulk import insert_rows, update_rows
    from workers.models import Call, Item, ItemState, Job, JobOutcome, JobState
    from workers.services.endpoints import save_endpoint
    from workers.services.run_to_end import prepare_all

    ends = [
        save_endpoint(by="", values={"name": f"model-{at:02d}", "provider": "scripted", "model": f"m{at}"})
        for at in range(models)
    ]
    judge = save_endpoint(by="", values={"name": "wide-judge", "provider": "scripted", "model": "judge"})
    plan = Plan(
        dataset=dataset,
        endpoints=ends,
        steps=["extract", "judge", "label"],
        suite="omnitom",
        judge=judge,
        options={"self_test": False},
        title="Wide",
    )
    run = start_run(by=None, plan=plan, now=timezone.now())
    prepare_all(threading.Event())
    call = Call.objects.create(key="0" * 64, endpoint=ends[0], body="{}", state="answered", planned_at=timezone.now())
    fields = ["call", "official", "repaired", "score", "repaired_score", "unreadable"]
    stories = {story.pk: story for story in dataset.samples.all()}
    for position, entrant in enumerate(run.entrants.all()):
        rng, skill = random.Random(position), 0.5 + 0.4 * position / models
        judged = [
            (entrant.pk, story.pk, "judge", call.pk, *_judged(rng, skill, len(story.beliefs)))
            for story in stories.values()
        ]
        insert_rows(RunItem, ["entrant", "sample", "step", *fields], judged)
        rows = RunItem.objects.filter(entrant=entrant, step="label").values_list("pk", "sample_id")
        update_rows(RunItem, fields, [(call.pk, *_labelled(rng, skill, stories[story]), pk) for pk, story in rows])
        RunItem.objects.filter(entrant=entrant, step="extract").update(call=call, repaired={"rows": 20})
    Item.objects.filter(job=run.job).update(state=ItemState.DONE, call=call)
    Job.objects.filter(pk=run.job_id).update(
        state=JobState.FINISHED, outcome=JobOutcome.FINISHED, finished_at=timezone.now()
    )
    return Run.objects.get(pk=run.pk)


def _judged(rng: random.Random, skill: float, gold: int) -> Iterator[Any]:
    predicted = rng.randint(max(1, gold - 6), gold + 6)
    counts = {"pred": [int(rng.random() < skill) for _ in range(predicted)]}
    counts["gold"] = [int(rng.random() < skill) for _ in range(gold)]
    score = (sum(counts["pred"]) / predicted + sum(counts["gold"]) / gold) / 2
    missing = rng.random() < 0.02
    mended = {name: [None] * len(rows) for name, rows in counts.items()} if missing else counts
    kinds = {"orders": [rng.choice(("0", "1", "2+")) for _ in range(predicted)]}
    kinds["roles"] = ["world" if order == "0" else "actors" for order in kinds["orders"]]
    counts, mended = counts | kinds, mended | kinds
    return counts, mended, score, None if missing else score, "no judgement" if missing else ""


def _labelled(rng: random.Random, skill: float, story) -> Iterator[Any]:
    from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

    rows, right = [], 0
    for belief in story.beliefs:
        row = []
        for key, label in belief["labels"].items():
            chosen = label if rng.random() < skill else rng.choice(DEFAULT_SCHEMA[key].values)
            right += chosen == label
            row.append(chosen)
        rows.append(row)
    score = right / (7 * len(rows))
    return {"predicted": rows}, {"predicted": rows}, score, score, ""


CHOICES = {
    "cut": "cut=60",
    "whole stories": "counted=stories",
    "whole stories, cut": "counted=stories&cut=70",
    "measure": "measure=stage1.f1",
    "both measures": "measure=stage1.f1,stage2.overall_accuracy",
    "official": "parse=official",
    "one model": "model=model-03",
    "rows": "show=structure&page=7",
}
"""What is chosen on the page of structure against answers."""
_COMPUTING = '<meta http-equiv="refresh"'
_LINKS = re.compile(r'href="([^"]+/structure/(?:[^"]+\.(?:csv|json|tex|svg|pdf)|\d+/)[^"]*)"')
MEASUREMENTS = {"baselines": baselines, "wide": wide, "structure": structure}

if __name__ == "__main__":
    main()
