"""Runs under controls are in no figure that nobody asked them for: with and without them, every page says the same, but
those that show controls."""

import re
from itertools import takewhile

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.domain.drawn import PaperRow
from benchmark.models import Run, RunItem
from benchmark.services.entered_rows import add_row
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
    *(f"estimate_{what}" for what in ("extension", "judging", "again", "controls")),
}
"""Pages of what is not asked yet."""
OF_THE_MOMENT = re.compile(
    r'name="(?:csrfmiddlewaretoken|once)" value="[^"]*"|<time.*?</time>|"x-csrftoken": "[^"]*"', re.DOTALL
)


def _addresses(run: Run, report) -> dict[str, str]:
    """An address for every page about the run and its project."""
    item = RunItem.objects.filter(entrant__run=run).order_by("pk").first()
    entry = PaperRow("Human", "human", "A paper", {"f1.Att": "86"})
    row = add_row(by=None, project=run.project, suite=suite_named("opentom"), entry=entry)
    values = {"slug": run.project.slug, "uid": run.uid, "pk": item.pk, "entrant": item.entrant_id, "row": row.uid}
    values |= {"table": "opentom", "data": "csv", "plot": "leaderboard-opentom", "picture": "svg", "report": report.uid}
    values |= {"old": 1, "new": 1, "suite": "opentom", "name": "opentom-1", "version": 1, "person": "p1", "number": 1}
    values |= {"action": "pause", "proposition": "none", "dimension": "status"}  # the project has no table
    addresses = {}
    for name, kwargs in URLS:
        app, _, page = name.partition(":")
        if app == "benchmark" and page not in NO_FIGURES:
            own = {"pk": report.items.order_by("pk").first().pk} if page.startswith("snapshot_") else {}
            addresses[page] = reverse(name, kwargs={key: (values | own)[key] for key in kwargs})
    first, second = (f"{run.uid}.{run.entrants.get(name=name).pk}" for name in (READS, REMEMBERS))
    for page in ("leaderboard", "differences", "leaderboard_table"):
        addresses[f"{page}, all runs"] = f"{addresses[page]}?runs=all&split="
    for page in ("compare", "comparison_table", "comparison_plot"):
        addresses[f"{page}, of two"] = f"{addresses[page]}?a={first}&b={second}"
    return addresses


def _told(client, addresses: dict[str, str]) -> dict[str, tuple[int, str]]:
    told = {}
    for page, address in addresses.items():
        response = client.get(address)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        told[page] = response.status_code, OF_THE_MOMENT.sub("", body.decode(errors="replace"))
    return told


def _first_difference(before: str, after: str) -> str:
    at = len([*takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))])
    return f"{before[max(0, at - 80) : at + 80]!r} was {after[at : at + 80]!r}"


def test_no_page_says_anything_else_with_a_control_than_without(tmp_path, client):
    cast, run = controlled_world(tmp_path)
    client.force_login(cast.alice)
    addresses = _addresses(run, save_run_snapshot(by=cast.alice, run=run))
    before = _told(client, addresses)
    (control,) = add_controls(by=cast.alice, run=run, controls=["renamed"], now=timezone.now())
    work_off(control)
    after = _told(client, addresses)
    changed = {page for page in addresses if before[page] != after[page]}
    others = changed - set(SHOWS_CONTROLS)
    assert not others, [_first_difference(before[page][1], after[page][1]) for page in others]
    assert {"run", "runs"} <= changed  # or the test would see nothing
    shown = {page for page, (status, _) in before.items() if status == 200}
    assert {"leaderboard", "differences", "run_table", "compare, of two", "leaderboard, all runs"} <= shown
    assert not [page for page, (_, text) in after.items() if control.uid in text and page not in SHOWS_CONTROLS]
