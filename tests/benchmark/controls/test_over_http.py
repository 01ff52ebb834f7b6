"""Two models behind a local server that answers by rule: one reads, the other knows the published stories by heart and
says of any other that it does not know."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import timezone

from benchmark.services.documents import document_of
from benchmark.services.launches import start_run
from tests.benchmark.controls.world import PUBLISHED, READS, REMEMBERS, opentom, plan, reads
from tests.benchmark.rule_server import answering
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.suites.opentom import small
from tests.cast import new_cast

pytestmark = pytest.mark.django_db(transaction=True)
NO_IDEA = {"choices": ["I do not know."]}
ASKED = {
    (entry["narrative"], question["question"].rstrip("?")): question["answer"]
    for key, entry in small.small()["meta_data.json"].items()
    for name, entries in small.small().items()
    if not name.startswith("meta")
    for question in entries[key]
}


def remembers(prompt: str) -> str:
    """The published answer to the longest published question in the prompt, where its story is as published."""
    known = [
        (question, answer) for (story, question), answer in ASKED.items() if story in prompt and question in prompt
    ]
    return max(known, key=lambda pair: len(pair[0]))[1] if known else "I do not know."


def answer(body: dict) -> str:
    prompt = body["messages"][-1]["content"]
    return remembers(prompt) if body["model"] == REMEMBERS else reads(prompt, NO_IDEA)


@pytest.fixture
def address() -> Iterator[str]:
    with answering(answer) as served:
        yield served


def test_refusals_under_a_control_are_missing_over_http(tmp_path, address):
    cast = new_cast()
    dataset, _ = opentom(cast, tmp_path)
    models = {
        name: make_endpoint(f"http-{name}", provider="vllm", model=name, base_url=address)
        for name in (READS, REMEMBERS)
    }
    run = start_run(by=cast.alice, plan=plan(dataset, models, limit=46, controls=["renamed"]), now=timezone.now())
    for each in (run, *run.controls.all()):
        assert not work_off(each).job.has_failed
    rows = {row.model: row for row in document_of(run).controls.rows["opentom"]["repaired"]}
    assert len(PUBLISHED) == 10 and rows[f"http-{REMEMBERS}"].bounds[1] > 0.9
    assert rows[f"http-{READS}"].value == 0 and rows[f"http-{READS}"].same_answer == 1
    # it said nothing under other names, which may be memory or not: no difference, and bounds on both sides of 0
    remembers_row = rows[f"http-{REMEMBERS}"]
    assert (remembers_row.missing, remembers_row.n, remembers_row.value) == ([0, 46], 0, None)
    assert remembers_row.verdict == "–" and remembers_row.bounds[0] <= 0 < remembers_row.bounds[1]
