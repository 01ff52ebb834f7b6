"""A question suite from a user's file to its figures in real Chromium: the copy is imported and a run launched by
keyboard, watched to its end and read down to an answer."""

import re
import shutil

import pytest

from benchmark.models import Run
from benchmark.suites.tombench.metrics import official_accuracies
from tests.benchmark.methods.test_matrix import COPIES
from tests.benchmark.settled import make_endpoint
from tests.benchmark.test_tombench_runs import votes_of
from tests.browser.driving import press, tab_to, working

pytestmark = [pytest.mark.browser, pytest.mark.dear, pytest.mark.once, pytest.mark.django_db(transaction=True)]
MODELS = ("first-option", "majority")


@pytest.fixture
def file(tmp_path, monkeypatch) -> str:
    """A small copy of ToMBench, a question of each of two tasks in English and Chinese, as a user would upload it."""
    folder = tmp_path / "ToMBench"
    folder.mkdir()
    return shutil.make_archive(str(tmp_path / "copy"), "zip", COPIES["tombench"].write(monkeypatch, folder))


def row_of(page, caption: str, name: str) -> list[str]:
    """The numbers of a row of a table, without what stands beside them."""
    table = page.locator("table", has=page.locator("caption", has_text=re.compile(f"^{re.escape(caption)}$")))
    row = table.locator("tr", has=page.locator("th bdi", has_text=re.compile(f"^{re.escape(name)}$")))
    return re.findall(r"\d+\.\d+", row.inner_text())


def test_tombench_is_imported_launched_and_read(cast, login, page, file):
    for name in MODELS:
        make_endpoint(name, provider="baseline", model=name)
    login(page, cast.alice)
    page.goto("/p/minds/datasets/import/tombench/")
    page.set_input_files("input[type=file]", file)
    tab_to(page, "Import")
    press(page, "Enter")
    page.wait_for_url("**/datasets/1/")
    assert "ToMBench (English and Chinese)" in page.inner_text("main")
    page.goto("/p/minds/runs/new/")
    for name in MODELS:
        tab_to(page, name)
        press(page, "Space")
    page.wait_for_selector("#estimate:has-text('40 calls')")  # four questions, each asked five times of both
    tab_to(page, "Launch")
    press(page, "Enter")
    page.wait_for_selector("#run-progress:has-text('0 / 40')")
    run = Run.objects.get()
    with working(run.job):
        page.wait_for_selector("#run-progress .badge-done")
        page.wait_for_selector("#run-results table")
    figures = {model: official_accuracies(votes_of(run, model)) for model in MODELS}
    score = {model: f"{100 * of.overall.value:.2f}" for model, of in figures.items()}
    assert score["majority"] == "100.00" != score["first-option"]
    assert {model: row_of(page, "Multiple choice", model)[1] for model in MODELS} == score
    page.get_by_role("link", name="Answering by majority").first.click()
    page.wait_for_url("**/items/?model=*")
    assert page.locator("tbody tr").count() == 20
    page.get_by_role("link", name="Question 1, answering by majority").first.click()
    page.wait_for_selector("h1:has-text('Question 1: answering by majority')")
    shown = page.inner_text("main")
    assert "Where is the key?" in shown and "repetition 1 · Belief: Location false beliefs" in shown
    assert re.fullmatch(r"\[\[[A-D]]]", page.inner_text("pre[aria-label='Raw answer']").strip())

    page.goto("/p/minds/results/")
    assert "ToMBench (English and Chinese), version 1" in page.inner_text("main")
    assert {model: row_of(page, "Multiple choice", model)[1] for model in MODELS} == score
