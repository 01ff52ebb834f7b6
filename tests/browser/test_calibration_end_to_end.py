"""The protocol by which a judge is calibrated, by keyboard in real Chromium: the tables of three scripted models are
drawn, aligned by two people, and decided by an expert where they differ; two scripted judges judge them; one is chosen,
with a reason; and the leaderboard is read without its error.

Five stories of six rows are enough to see that every step works by keyboard. `CALIBRATION_STORIES=21` walks the whole
protocol, on as many stories of the sample with all their rows and every table aligned on the page, in some minutes:

    CALIBRATION_STORIES=21 .venv/bin/python -m pytest tests/browser/test_calibration_end_to_end.py
"""

import os

import pytest
from django.urls import reverse

from benchmark.models import Run
from benchmark.services.runs import launched_with
from judge.models import Alignment, AlignmentStudy, AlignmentTask, SettledAlignment
from tests.benchmark.protocol import JUDGES, MODELS, Protocol, finished, truth_of
from tests.judge.alignment_world import answer_all

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]
WHOLE = int(os.environ.get("CALIBRATION_STORIES", "0"))
STORIES, ROWS, BY_KEYS = (WHOLE, None, None) if WHOLE else (5, 6, 1)
"""How many stories, rows of each, and tables that each person aligns on the page; None stands for all."""
REASON = "It agrees with people more often, and the difference is tested."
FITS_LONG_NAMES = """() => {
  const long = "meta-llama/Llama-3.1-405B-Instruct-Turbo-quantised";
  for (const name of document.querySelectorAll(".table-scroll tbody th bdi")) name.textContent = long;
  return document.documentElement.scrollWidth <= window.innerWidth;
}"""
FOCUSED = "(selector) => document.activeElement.matches(selector) && !document.activeElement.closest('.topbar')"


class Keys:
    """A person at the keyboard; `pressed` counts."""

    def __init__(self, page) -> None:
        self.page, self.pressed = page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1

    def reach(self, selector: str) -> None:
        """Go on by Tab until what the selector names has the focus."""
        for _ in range(150):
            if self.page.evaluate(FOCUSED, selector):
                return
            self.press("Tab")
        raise AssertionError(f"Tab never reaches {selector}")

    def at(self, selector: str, key: str) -> None:
        self.reach(selector)
        self.press(key)

    def fill(self, selector: str, text: str) -> None:
        self.at(selector, "Control+a")
        self.page.keyboard.type(text)

    def follow(self, selector: str, address: str) -> None:
        """Open a link or press a button, and wait for the page at that address."""
        self.reach(selector)
        self.press("Enter")
        self.page.wait_for_url(address)
        self.page.wait_for_load_state()


def uid_of(page) -> str:
    return page.url.rstrip("/").rpartition("/")[2]


def row_at(page) -> str:
    return page.evaluate("document.querySelector('[data-active]')?.dataset.row ?? ''")


def hand_in(keys: Keys, reason: str = "") -> None:
    here = keys.page.url
    keys.press("f")
    keys.page.wait_for_selector("dialog#finish[open]")
    keys.page.keyboard.type(reason)
    keys.press("Enter")
    keys.page.wait_for_url(lambda url: url != here)


def answer_row(keys: Keys, row: str, wanted: str | None) -> None:
    """Accept the proposal where it is right, else press the digit of the row that says the same, else no match."""
    if not wanted:
        return keys.press("x")
    if keys.page.inner_text(f"[data-row={row}] .align-state").lower() == f"{wanted}?":
        return keys.press("Enter")
    digit = keys.page.inner_text(f"[data-row={wanted}] .align-key")
    if digit:
        return keys.press(digit)
    keys.press("l", "ArrowRight")
    while row_at(keys.page) != wanted:
        keys.press("ArrowDown")
    return keys.press("l")


def align_table(keys: Keys, protocol: Protocol, *, errs: bool) -> None:
    """Align the table that is open and hand it in. Who `errs` misses the first match that is not worded alike."""
    page = keys.page
    page.wait_for_selector("html[data-align-ready]", state="attached")
    truth = truth_of(protocol, AlignmentTask.objects.get(alignments__uid=uid_of(page)))
    keys.press("a")
    while (row := row_at(page))[:1] == "p" and page.locator(f"[data-row={row}][data-answer=open]").count():
        keys.press("x") if errs and row in truth else answer_row(keys, row, truth.get(row))
        errs = errs and row not in truth
    keys.press("r")
    hand_in(keys)


def make_study(keys: Keys, run: Run, people, tables: int) -> AlignmentStudy:
    """From the run's page: who aligns, how many tables; what would be drawn is counted first."""
    page = keys.page
    page.goto(reverse("benchmark:run", args=[run.project.slug, run.uid]))
    keys.at("details.menu > summary", "Enter")
    keys.follow("a[href*='runs/align/']", "**/runs/align/**")
    keys.fill("[name=total]", str(tables))
    for person in people:
        keys.at(f"[name=annotators][value='{person.pk}']", "Space")
    keys.at("main form .button:not(.button-primary)", "Enter")
    page.wait_for_selector("#strata-title")
    keys.at("button[name=make]", "Enter")
    page.wait_for_selector("#agreement-title")
    return AlignmentStudy.objects.get()


def decide(keys: Keys, study: AlignmentStudy, protocol: Protocol) -> None:
    """An expert opens the study from the list and decides one table after the other."""
    page = keys.page
    page.goto(reverse("judge:studies", args=[study.project.slug]))
    keys.follow(f"main a[href$='{study.uid}/']", f"**/{study.uid}/")
    keys.follow("#open-title ~ ul a", f"**/{study.uid}/*/")
    while uid_of(page) != study.uid:
        page.wait_for_selector("html[data-align-ready]", state="attached")
        truth = truth_of(protocol, AlignmentTask.objects.get(uid=uid_of(page)))
        row = row_at(page)
        answer_row(keys, row, truth.get(row) or next((p for p, g in truth.items() if g == row), None))
        hand_in(keys, "Both say the same in other words.")


def judge_anew(keys: Keys, run: Run) -> None:
    """Both judges read the answers that are there, in one launch; a worker does the calls."""
    page = keys.page
    page.goto(reverse("benchmark:run", args=[run.project.slug, run.uid]))
    keys.at("details.menu > summary", "Enter")
    keys.follow("a[href$='/judge/']", "**/judge/")
    first, *others = JUDGES
    keys.reach("[name=judge]")
    page.keyboard.type(first)
    assert page.input_value("[name=judge]") == first
    for name in others:
        keys.at(f"[name=judges][value={name}]", "Space")
    keys.at("aside button.button-primary", "Enter")
    page.wait_for_url(lambda url: not url.endswith("/judge/"))
    launched = Run.objects.get(uid=uid_of(page))
    for one in launched_with(launched):
        assert not finished(one).job.has_failed


def choose(keys: Keys, study: AlignmentStudy, name: str) -> None:
    """From the study to the report of its judges: another one is looked at, and the better one kept with a reason."""
    page = keys.page
    page.goto(reverse("judge:study", args=[study.project.slug, study.uid]))
    keys.follow("a[href*='/calibration/']", "**/calibration/**")
    keys.reach("select[name=judge]")
    page.keyboard.type(name)
    keys.at("form[method=get] button", "Enter")
    page.wait_for_url("**judge=*")
    page.wait_for_load_state()
    keys.fill("#reason", REASON)
    keys.at("form[method=post] #reason ~ * button, form.form .button-row button", "Enter")
    page.wait_for_selector("#chosen")
    page.set_viewport_size({"width": 853, "height": 533})
    assert page.evaluate(FITS_LONG_NAMES), "the page never scrolls sideways, however long names are"
    page.set_viewport_size({"width": 1280, "height": 800})


def read_leaderboard(keys: Keys) -> str:
    """Return what the ranking of the chosen judge's judgements says, and open the report that its correction rests
    on."""
    page = keys.page
    page.goto(reverse("benchmark:leaderboard", args=["minds"]))
    judge = "select[name^=judge]"
    keys.reach(judge)
    page.keyboard.type("sharp")
    page.wait_for_url("**judge*=*sharp*")
    page.wait_for_load_state()
    told = page.inner_text("main")
    keys.follow("main a[href*='/calibration/']", "**/calibration/**")
    return told


def test_a_judge_is_calibrated_chosen_and_corrected_by_keyboard(new_page, login, cast, monkeypatch):
    def person(user) -> Keys:
        page = new_page()
        login(page, user)
        return Keys(page)

    protocol = Protocol(STORIES, ROWS)
    run, admin = protocol.run(cast, monkeypatch), person(cast.alice)
    study = make_study(admin, run, [cast.bob, cast.bea], len(protocol.records) * len(MODELS))
    for user, err_every in ((cast.bob, 0), (cast.bea, 3)):
        keys = person(user)
        keys.page.goto(reverse("judge:studies", args=["minds"]))
        keys.follow("main a.button-primary, a.button-primary", "**/tables/**")
        keys.pressed, rows, number = 0, 0, 0
        while "/tables/" in keys.page.url and (BY_KEYS is None or number < BY_KEYS):
            rows += Alignment.objects.get(uid=uid_of(keys.page)).task.size
            align_table(keys, protocol, errs=bool(err_every) and number % err_every == 0)
            number += 1
        assert 0 < keys.pressed < rows, "fewer keys than rows"
        for own in Alignment.objects.waiting().filter(annotator=user).select_related("task__study"):
            answer_all(own, **truth_of(protocol, own.task))
    decide(person(cast.esi), study, protocol)
    judge_anew(admin, run)
    choose(admin, study, "sharp")
    told = read_leaderboard(admin)
    assert not SettledAlignment.objects.filter(open_rows__gt=0).exists()
    assert study.tasks.filter(settled__isnull=False).count() == study.tasks.count()
    study.refresh_from_db()
    assert (study.judge_name, study.judge_reason) == ("sharp", REASON) and study.judge_chosen_by == cast.alice
    assert "Corrected" in told and all(name in told for name in MODELS)
