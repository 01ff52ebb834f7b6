"""Measure seconds and memory of question suites of real size: `python bench/suites.py --data DATA
[--only opentom|fantom] [--models NAME …] [--controls] [--no-pages] [--keep FOLDER]`.

Imports OpenToM (13,708 questions) and FANToM (12,832) from DATA (`OpenToM`, `FANToM/flattened_fantom.csv`,
`Percept-FANToM`; bench/make_fantom.py says what is real of the latter), launches the two baselines and two scripted
models as the page does (`--models` fewer of them), makes their items and works off their calls, computes the figures as
a worker does, and opens every page of results that the addresses of `benchmark` have, with its files and pictures: once
as the first reader, once more (of four models; `--no-pages` leaves them out). Each step is a process of its own:
seconds by the clock, of processors, and its peak memory. The last line of a suite sums up what its questions took from
the import to the figures. `--controls` also asks everything under other names. `--pages FOLDER` opens the pages of a
folder that was kept.
"""

import argparse
import html
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SLUG = "bench"
SKILLS = {"skilled": 0.85, "weak": 0.6}
"""How often each scripted model is right; it draws else, and in 1 of 50 says nothing that can be read."""
SUITES = {"opentom": 13_708, "fantom": 12_832}
ORDINARY = ("import", "launch", "items", "work", "figures")
MODELS = ("majority", "random", *SKILLS)
CONTROLLED = ("add-controls", "work", "figures", "pages")
SERVED = ("launch", "add-controls", "pages")
"""Steps that ask for pages."""
MOST_PAGES = 12
_FILE = re.compile(r"""(?:href|src|hx-get)=["']([^"'#]+)["']""")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", choices=SUITES)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--controls", action="store_true")
    parser.add_argument("--no-pages", action="store_true", help="leave the pages out")
    parser.add_argument("--keep", type=Path, help="the folder to make it in, which stays")
    parser.add_argument("--pages", type=Path, help="a folder that was kept")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.only, options.data)
        return
    os.environ["BENCH_MODELS"] = " ".join(options.models)
    for suite in [options.only] if options.only else SUITES:
        if options.pages:
            _measured("pages", suite, options.data, options.pages / suite)
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = (options.keep or Path(scratch)) / suite
            folder.mkdir(parents=True)
            _measured("prepare", suite, options.data, folder)
            steps = [_measured(step, suite, options.data, folder) for step in ORDINARY]
            total = {name: round(sum(step[name] for step in steps), 1) for name in ("seconds", "cpu_seconds")}
            total["peak_mb"] = max(step["peak_mb"] for step in steps)
            if not options.no_pages and len(options.models) == len(MODELS):
                _measured("pages", suite, options.data, folder)
            print(
                json.dumps({"suite": suite, "step": "import to figures", "models": options.models} | total), flush=True
            )
            for step in CONTROLLED if options.controls else ():
                _measured(step, suite, options.data, folder)


def _measured(step: str, suite: str, data: Path, folder: Path) -> dict[str, Any]:
    """Run one step in a process of its own, and print what it took and said."""
    arguments = [sys.executable, __file__, "--data", str(data), "--only", suite, "--child", step]
    load, began = os.getloadavg()[0], time.perf_counter()
    with subprocess.Popen(arguments, env=os.environ | {"CREDENCE_VAR": str(folder)}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{suite}: {step} failed.")
    metrics: dict[str, Any] = {
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
    }
    metrics |= {"peak_mb": round(usage.ru_maxrss / 1024), "load": round(load, 1)}
    said = json.loads(told.splitlines()[-1]) if told.strip() else {}
    pages = said.pop("slowest", [])
    print(json.dumps({"suite": suite, "step": step} | metrics | said), flush=True)
    for page in pages:
        print("   ", json.dumps(page), flush=True)
    return metrics


def child(step: str, suite: str, data: Path) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    if step in SERVED:
        from config import wsgi  # noqa: F401 what the server has loaded before it takes a request
    from django.conf import settings

    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}  # files are not collected here
    settings.ALLOWED_HOSTS = ["testserver"]
    print(json.dumps(STEPS[step](suite, data) or {}), flush=True)


def prepare(suite: str, data: Path) -> None:
    from django.core.management import call_command

    from annotation.models import Membership, Project, Role, User
    from workers.providers import registry
    from workers.services.endpoints import save_endpoint

    call_command("migrate", verbosity=0)
    project = Project.objects.create(slug=SLUG, name="Bench")
    admin = User.objects.create_superuser("bench", password="bench")
    Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
    for name in ("majority", "random"):
        values = {**registry.find("baseline").defaults, "name": name, "provider": "baseline", "model": name}
        save_endpoint(by="", values=values)
    for name in SKILLS:
        save_endpoint(
            by="",
            values={
                "name": name,
                "provider": "scripted",
                "model": name,
                "max_concurrency": 64,
                "options": {"function": name},
            },
        )


def bring(suite: str, data: Path) -> dict[str, Any]:
    from django.core.management import call_command

    from bench.make_fantom import make
    from benchmark.models import Dataset

    path = data / "OpenToM"
    if suite == "fantom":
        perceived = data / "Percept-FANToM" / "Percept-FANToM.csv"
        path = make(Path(os.environ["CREDENCE_VAR"]) / "copy", data / "FANToM" / "flattened_fantom.csv", perceived)
    with open(os.devnull, "w") as quiet:
        call_command("import_suite", suite, str(path), "--project", SLUG, stdout=quiet, stderr=quiet)
    samples = Dataset.objects.get(suite=suite).samples.count()
    assert samples == SUITES[suite], samples
    return {"samples": samples}


def launch(suite: str, data: Path) -> dict[str, Any]:
    """Launch a suite’s runs as the page does: open it, estimate, press the button."""
    from django.urls import reverse

    from annotation.models import Project
    from benchmark.forms.launch import LaunchForm, as_posted
    from benchmark.models import Run
    from benchmark.suites.registry import suite_named

    client, page = _client(), reverse("benchmark:launch", args=[SLUG])
    form = LaunchForm(project=Project.objects.get(slug=SLUG), suite=suite_named(suite))
    chosen = as_posted(
        form, {"dataset": 1, "endpoints": os.environ["BENCH_MODELS"].split(), "steps": ["answer"], "title": "All of it"}
    )
    controlled = chosen.copy()
    controlled.setlist("controls", ["renamed"])
    estimate = reverse("benchmark:estimate", args=[SLUG])
    took: dict[str, Any] = {"page": _asked(client, page)}
    for name, query in (("estimate", chosen), ("estimate, renamed", controlled)):
        took[name] = [
            _asked(client, f"{estimate}?{query.urlencode()}{more}") for more in ("", "", "&title=x&ledger=on")
        ]
    began, cpu = time.perf_counter(), time.process_time()
    response = client.post(page, dict(chosen.lists()))
    assert response.status_code == 302, response.content.decode()[:3000]
    took["launch"] = [round(time.perf_counter() - began, 2), round(time.process_time() - cpu, 2)]
    return {"models": Run.objects.get().entrants.count(), "took": took}


def make_items(suite: str, data: Path) -> dict[str, Any]:
    """Make the items of a launch as a worker does."""
    from benchmark.models import RunItem
    from workers.services.run_to_end import prepare_all

    prepare_all(threading.Event())
    return {"items": RunItem.objects.count()}


def add_controls(suite: str, data: Path) -> None:
    from django.urls import reverse

    from benchmark.models import Run

    run = Run.objects.originals().get()
    response = _client().post(reverse("benchmark:add_controls", args=[SLUG, run.uid]), {"controls": ["renamed"]})
    assert response.status_code == 302, response.content.decode()[:3000]


def work(suite: str, data: Path) -> dict[str, Any]:
    from django.core.management import call_command

    from workers.models import Call, Item
    from workers.providers.scripted.backend import FUNCTIONS

    expected = _expected(suite)
    for name, skill in SKILLS.items():
        FUNCTIONS[name] = _model(name, skill, expected)
    with open(os.devnull, "w") as quiet:
        call_command("work", stdout=quiet, stderr=quiet)
    assert not Item.objects.still_open().exists()
    return {"calls": Call.objects.count()}


def _model(name: str, skill: float, expected: dict[str, str]):
    def answer(body: Any) -> str:
        task = body["task"]
        drawn = random.Random(f"{name} {task['key']}")
        at = drawn.random()
        if at < 0.02:
            return "That cannot be said."
        return expected[task["key"]] if at < skill else str(drawn.choice(task["choices"] or ["nobody"]))

    return answer


def _expected(suite: str) -> dict[str, str]:
    """Return the right answers by sample, as published."""
    from benchmark.models import Dataset
    from benchmark.services.asking import DatasetResources, sample_of
    from benchmark.suites.questions import Question
    from benchmark.suites.registry import suite_named
    from benchmark.suites.settings import Settings

    dataset, definition = Dataset.objects.get(suite=suite), suite_named(suite)
    settings = Settings({setting.name: setting.default for setting in definition.settings})
    resources = DatasetResources(dataset)
    questions = (Question(sample_of(row), "answer", settings, resources) for row in dataset.samples.iterator())
    return {question.sample.key: definition.expected(question) for question in questions}


def metrics(suite: str, data: Path) -> None:
    """What a worker computes once a run is finished."""
    from benchmark.models import Run
    from benchmark.tasks import compute_report

    for run in Run.objects.order_by("-pk"):
        compute_report(run.job_id)


def _looked_at(client: Any, url: str) -> tuple[dict[str, Any], bytes]:
    """Open an address twice and return seconds of both looks, with what the first one was answered."""
    first, cpu, content, status = _asked_whole(client, url)
    again, again_cpu = _asked(client, url)
    look = {"page": url, "status": status, "first": first, "first_cpu": cpu, "again": again, "again_cpu": again_cpu}
    return look | {"kb": len(content) // 1024}, content


def pages(suite: str, data: Path) -> dict[str, Any]:
    """Open every page twice; files and pictures of a page are those that it links."""
    client, seconds, files = _client(), [], {}
    for url in _addresses(suite):
        look, content = _looked_at(client, url)
        seconds.append(look)
        files |= dict.fromkeys(_linked(content))
    for url in [url for url in files if url not in {page["page"] for page in seconds}]:
        seconds.append(_looked_at(client, url)[0])
    bad = [page["page"] for page in seconds if page["status"] not in (200, 302)]
    slow = {kind: sum(page[f"{kind}_cpu"] > 1 for page in seconds) for kind in ("first", "again")}
    slowest = sorted(seconds, key=lambda page: -max(page["first_cpu"], 2 * page["again_cpu"]))[:MOST_PAGES]
    return {"pages": len(seconds), "over a second of a processor": slow, "failed": bad, "slowest": slowest}


def _linked(content: bytes) -> Iterator[str]:
    """Yield the addresses of tables, pictures and parts that a page links, each format of each; LaTeX, PDF and PNG of
    the first eight alone."""
    from django.urls import Resolver404, resolve

    seen: dict[str, int] = {}
    for found in _FILE.findall(content.decode(errors="replace")):
        address = html.unescape(found)
        with suppress(Resolver404):
            name = resolve(address.partition("?")[0]).url_name or ""
            suffix = address.partition("?")[0].rpartition(".")[2]
            if name.endswith(("_table", "_plot")):
                seen[suffix] = seen.get(suffix, 0) + 1
                if seen[suffix] <= (8 if suffix in ("pdf", "png", "tex") else 200):
                    yield address


def _addresses(suite: str) -> Iterator[str]:
    """Yield the pages of the finished run, and of the project's results: each name in `benchmark.urls` has its
    arguments or its reason."""
    from django.urls import get_resolver, reverse

    from benchmark.models import Run, RunItem
    from benchmark.services.snapshots import save_run_snapshot

    run = Run.objects.originals().get()
    entrants = list(run.entrants.order_by("position"))
    ids = [f"{run.uid}.{entrant.pk}" for entrant in entrants]
    item = RunItem.objects.filter(entrant=entrants[0]).order_by("pk")[5000]
    last = RunItem.objects.filter(entrant__run=run).count() // 50
    pair = f"?a={ids[2]}&b={ids[3]}"
    one, two = [run.uid], [run.uid, item.pk]
    launched = f"dataset=1&endpoints={'&endpoints='.join(SKILLS)}&steps=answer&repetitions=1&seed=1&max_tokens=1024&method=plain"  # noqa: E501
    taken: dict[str, list[tuple[list[Any], str]]] = {
        "datasets": [([], "")],
        "dataset": [([1], "")],
        "import_copy": [([suite], "")],
        "prompts": [([], "")],
        "prompt_sets": [([], "")],
        "runs": [([], "")],
        "launch": [([], "?dataset=1")],
        "estimate": [([], f"?{launched}"), ([], f"?{launched}&controls=renamed")],
        "prompt_preview": [([], f"?{launched}")],
        "run": [(one, "")],
        "run_progress": [(one, "")],
        "run_made": [(one, "")],
        "extend_run": [(one, "")],
        "add_controls": [(one, "")],
        "run_again": [(one, "")],
        "extend_estimate": [],
        "estimate_again": [(one, "")],
        "estimate_controls": [(one, "?controls=distracted")],
        "estimate_extension": [(one, "?limit=0&endpoints=majority")],
        "flips": [(one, ""), (one, f"?model={entrants[2].pk}")],
        "run_items": [
            (one, ""),
            (one, f"?page={last}"),
            (one, "?sort=-score"),
            (one, f"?model={entrants[2].pk}&state=unreadable"),
            (one, "?q=the"),
        ],
        "run_item": [(two, "")],
        "run_item_answer": [(two, "")],
        "delete_run": [(one, "")],
        "run_results": [(one, "")],
        "run_report": [(one, ""), (one, "?parse=official")],
        "run_scores": [(one, "")],
        "leaderboard": [([], ""), ([], "?sort=model"), ([], "?runs=all")],
        "across": [([], "")],
        "differences": [([], ""), ([], "?parse=official"), ([], "?over=every&page=2")],
        "structure": [([], "")],
        "items_apart": [([], ""), ([], "?page=2")],
        "compare": [
            ([], ""),
            ([], pair),
            ([], f"{pair}&page=9"),
            ([], f"{pair}&parse=official"),
            ([], f"?a={ids[0]}&b={ids[1]}"),
        ],
        "compare_story": [([item.sample.number], pair)],
        "snapshots": [([], "")],
        "entered_rows": [([], "")],
        "enter_row": [([suite], "")],
        "import_answers": [([], "")],
    }
    for pattern in (
        get_resolver("benchmark.urls.results").url_patterns + get_resolver("benchmark.urls.runs").url_patterns
    ):
        if pattern.name not in taken and pattern.name not in ELSEWHERE | SNAPSHOTS and not _is_linked(pattern):
            raise SystemExit(f"The address {pattern.name} is not measured: give its arguments, or why not.")
        for arguments, query in taken.get(pattern.name, ()):
            yield reverse(f"benchmark:{pattern.name}", args=[SLUG, *arguments]) + query
    yield reverse("judge:watches", args=[SLUG])
    yield reverse("judge:new_watch", args=[SLUG, *one])
    uid = save_run_snapshot(by=None, run=run, title="Saved").uid
    for name in ("snapshot", "snapshot_items"):
        yield reverse(f"benchmark:{name}", args=[SLUG, uid])


ELSEWHERE = {
    *("judge_test", "estimate_judging", "judge_anew", "follow_up", "prompt_set"),
    *("gold_kinds", "gold_kinds_cells", "doubtful", "doubtful_cell", "second_look", "run_gold", "dataset_present"),
    *("dataset_difference", "run_sweep", "official_output", "stale_runs"),
    *("structure_story", "edit_row", "rename_run", "undo_looks"),
}
"""Pages of what these suites do not have: people, judges and their studies, prompt sets and sweeps over them, published
gold, watches that were made, rows of papers, a folder of released code, structures."""
SNAPSHOTS = {"snapshot", "snapshot_items", "snapshot_item", "snapshot_answer"}
"""Pages of a snapshot, which is measured below."""


def _is_linked(pattern: Any) -> bool:
    """Whether an address is a file or a picture that pages link, or a button that GET refuses."""
    from django.test import RequestFactory

    if {"data", "picture"} & {*pattern.pattern.converters}:
        return True
    try:
        return pattern.callback(RequestFactory().get("/")).status_code == HTTPStatus.METHOD_NOT_ALLOWED
    except TypeError:  # it takes GET, and misses its arguments
        return False


def _client():
    from django.test import Client

    from annotation.models import User

    client = Client()
    client.force_login(User.objects.get(username="bench"))
    return client


def _asked(client, url: str) -> tuple[float, float]:
    return _asked_whole(client, url)[:2]


def _asked_whole(client, url: str) -> tuple[float, float, bytes, int]:
    """Return (seconds by the clock, of processors, the content, the status) of an address."""
    began, cpu = time.perf_counter(), time.process_time()
    response = client.get(url)
    content = b"".join(response) if response.streaming else response.content
    return round(time.perf_counter() - began, 2), round(time.process_time() - cpu, 2), content, response.status_code


STEPS = {
    "prepare": prepare, "import": bring, "launch": launch, "items": make_items, "add-controls": add_controls,
    "work": work, "figures": metrics, "pages": pages,
}  # fmt: skip

if __name__ == "__main__":
    main()
