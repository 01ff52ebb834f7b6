"""Runs under controls are in no figure that nobody asked them for: with and without them, every page says the same, but
those that show controls."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.entered_rows import Entry, add_row
from benchmark.services.launches import add_controls
from benchmark.services.snapshots import save_run_snapshot
from benchmark.suites.registry import suite_named
from tests.benchmark.controls.world import READS, REMEMBERS, controlled_world
from tests.benchmark.settled import work_off
from tests.test_urlconf import URLS

pytestmark = pytest.mark.django_db(transaction=True)
SHOWS_CONTROLS = {
    "run": "which runs are beside it",
    "runs": "the controls of each run",
    "run_results": "the part on controls",
    "run_report": "the part on controls",
    "add_controls": "what is there already",
    "run_item": "the same question under controls",
    "flips": "answers under controls",
    "delete_run": "that controls are deleted too",
}
"""Pages that change with a control, and by what."""
NO_FIGURES = {
    "estimate",
    "prompt_preview",
    "estimate_extension",
    "estimate_judging",
    "estimate_again",
    "estimate_controls",
}
"""Pages of what is not asked yet."""
OF_THE_MOMENT = (
    r'name="csrfmiddlewaretoken" value="[^"]*"',
    r'name="once" value="[^"]*"',
    r"<time.*?</time>",
    r'"x-csrftoken": "[^"]*"',
)


@pytest.fixture
def world(tmp_path):
    return controlled_world(tmp_path)


def _addresses(run: Run, report) -> dict[str, str]:
    """An address for every page about the run and its project."""
    item = RunItem.objects.filter(entrant__run=run).order_by("pk").first()
    kept = report.items.order_by("pk").first()
    values = {
        "slug": run.project.slug, "uid": run.uid, "pk": item.pk, "table": "opentom", "data": "csv",
        "plot": "leaderboard-opentom",
        "picture": "svg", "report": report.uid, "entrant": item.entrant_id, "old": 1, "new": 1, "suite": "opentom",
        "name": "opentom-1", "version": 1,
        "person": "p1", "number": 1, "action": "pause", "row": _row_of_a_paper(run),
        "proposition": "none", "dimension": "status",  # the project has no table
    }  # fmt: skip
    addresses = {}
    for name, kwargs in URLS:
        app, _, page = name.partition(":")
        if app != "benchmark" or page in NO_FIGURES:
            continue
        own = {"pk": kept.pk} if page.startswith("snapshot_") else {}
        addresses[page] = reverse(name, kwargs={key: (values | own)[key] for key in kwargs})
    first, second = (f"{run.uid}.{run.entrants.get(name=name).pk}" for name in (READS, REMEMBERS))
    addresses |= {
        f"{page}, all runs": f"{addresses[page]}?runs=all&split="
        for page in ("leaderboard", "differences", "leaderboard_table")
    }
    addresses |= {
        f"{page}, of two": f"{addresses[page]}?a={first}&b={second}"
        for page in ("compare", "comparison_table", "comparison_plot")
    }
    return addresses


def _row_of_a_paper(run: Run) -> str:
    entry = Entry("Human", "human", "A paper", {"f1.Att": "86"})
    return add_row(by=None, project=run.project, suite=suite_named("opentom"), entry=entry).uid


def _told(client, addresses: dict[str, str]) -> dict[str, tuple[int, str]]:
    told = {}
    for page, address in addresses.items():
        response = client.get(address)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        text = body.decode(errors="replace")
        for pattern in OF_THE_MOMENT:
            text = re.sub(pattern, "", text, flags=re.DOTALL)
        told[page] = response.status_code, text
    return told


def _first_difference(before: str, after: str) -> str:
    at = next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
        min(len(before), len(after)),
    )
    return f"{before[max(0, at - 80) : at + 80]!r} was {after[at : at + 80]!r}"


def test_no_page_says_anything_else_with_a_control_than_without(world, client):
    cast, run = world
    client.force_login(cast.alice)
    addresses = _addresses(run, save_run_snapshot(by=cast.alice, run=run))
    before = _told(client, addresses)
    (control,) = add_controls(by=cast.alice, run=run, controls=["renamed"], now=timezone.now())
    work_off(control)
    after = _told(client, addresses)
    changed = {page for page in addresses if before[page] != after[page]}
    assert changed <= set(SHOWS_CONTROLS), [
        _first_difference(before[page][1], after[page][1]) for page in changed - set(SHOWS_CONTROLS)
    ]
    assert {"run", "runs"} <= changed  # or the test would see nothing
    shown = [page for page, (status, _) in before.items() if status == 200]
    assert {
        "leaderboard",
        "differences",
        "run_table",
        "official_output",
        "compare, of two",
        "leaderboard, all runs",
    } - set(shown) <= {"official_output"}
    assert not [page for page, (_, text) in after.items() if control.uid in text and page not in SHOWS_CONTROLS]
