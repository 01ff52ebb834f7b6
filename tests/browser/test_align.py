"""Alignment in real Chromium: two tables are linked by keyboard, saved row by row, undone after a reload, decided by an
expert."""

import json
from pathlib import Path
from random import Random

import pytest

import annotation
from judge.domain.alignment import StudyOrigin
from judge.domain.rewording import paraphrased
from judge.domain.sampling import Unit
from judge.models import Alignment, AlignmentEvent, AlignmentStudy, AlignmentTask, SettledAlignment
from judge.services.settling import hand_in
from judge.services.studies import Plan, make_study
from tests.browser.driving import open_ready, press, wait_saved, wait_until
from tests.judge.alignment_world import NOW, answer_all

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROWS = 25
MOST_KEYS = 60


def gold_of_sample() -> list[tuple[str, str]]:
    """The first rows of the sample's stories whose words are their own."""
    lines = (Path(annotation.__file__).parent / "sample" / "stories.jsonl").read_text("utf-8").splitlines()
    rows = [(one["actor"], one["belief"]) for line in lines for one in json.loads(line)["beliefs"]]
    return list(dict.fromkeys(rows))[:ROWS]


@pytest.fixture
def made(cast) -> AlignmentStudy:
    """Bob and Bea align one table of 25 rows: those of gold in other words and another order."""
    gold = gold_of_sample()
    rows = [(actor, paraphrased(belief) or belief) for actor, belief in gold]
    Random(1).shuffle(rows)
    text = "Ines puts the key in the bag. Tomas moves it to the drawer."
    table = AlignmentTask(key="k", cluster="s", number=1, text=text, predictions=rows, gold=gold)
    return make_study(
        by=cast.alice, project=cast.project, plan=Plan("Study", 1), units=[Unit("k", "s", ("secret-model", "c"))],
        load=lambda keys: [table], annotators=[cast.bob, cast.bea], origin=StudyOrigin(), now=NOW,
    )  # fmt: skip


def own(person) -> Alignment:
    return Alignment.objects.select_related("task__study").get(annotator=person)


def active(page) -> str:
    return page.evaluate("document.querySelector('[data-active]').dataset.row")


def open_rows(page) -> int:
    return page.locator(".align-row[data-answer=open]").count()


@pytest.mark.path
def test_a_table_is_aligned_with_fewer_than_sixty_keys(page, login, cast, made):
    """Equal rows are accepted at once, near ones each after a look, what is left has no match."""
    login(page, cast.bob)
    open_ready(page, f"/p/minds/alignment/tables/{own(cast.bob).uid}/", "align")
    assert "secret-model" not in page.content()
    alignment = own(cast.bob)
    gold, predictions = alignment.task.gold, alignment.task.predictions
    wanted = {(actor, paraphrased(belief) or belief): at for at, (actor, belief) in enumerate(gold, 1)}
    same = {f"p{at}": f"g{wanted[tuple(row)]}" for at, row in enumerate(predictions, 1)}
    assert "accept all proposed rows" in page.text_content("#help")
    keys = ["a"]
    press(page, *keys)
    while (row := active(page))[0] == "p" and page.locator(f"[data-row={row}][data-answer=open]").count():
        proposal = page.inner_text(f"[data-row={row}] .align-state").removesuffix("?")
        digit = page.inner_text(f"[data-row={same[row]}] .align-key")  # empty where ten rows stand before it
        keys.append("Enter" if proposal.lower() == same[row] else digit or "x")
        press(page, keys[-1])
    press(page, "r", "f")
    page.wait_for_selector("dialog#finish[open]")
    press(page, "Enter")
    page.wait_for_url("**/alignment/")
    alignment = own(cast.bob)
    assert len(keys) + 3 < MOST_KEYS and alignment.state == "handed-in"
    given = {row: answer.links for row, answer in alignment.answers_by_row.items()}
    assert sum(given[row] == (to,) for row, to in same.items()) >= 0.9 * ROWS
    events = AlignmentEvent.objects.filter(alignment=alignment).exclude(row="")
    assert events.filter(accepted=True).count() >= 0.9 * ROWS
    assert None not in events.values_list("duration_ms", flat=True)


def test_links_are_drawn_taken_away_and_undone_after_a_reload(page, login, cast, made, assert_accessible):
    AlignmentStudy.objects.update(most_links=2)
    login(page, cast.bob)
    address = f"/p/minds/alignment/tables/{own(cast.bob).uid}/"
    open_ready(page, address, "align")
    assert open_rows(page) == 2 * ROWS
    first = active(page)
    press(page, "2")  # the second gold row of the same actor
    wait_saved(page, "alignments")
    [link] = own(cast.bob).answers_by_row[first].links
    assert active(page) != first and open_rows(page) == 2 * ROWS - 2
    press(page, "k", "Shift+Digit1")  # a compound row
    wait_saved(page, "alignments")
    assert len(own(cast.bob).answers_by_row[first].links) == 2
    with page.expect_response(lambda response: response.url.endswith("/save/")):  # after the server said what to undo
        press(page, "Control+z")
    wait_saved(page, "alignments")
    assert own(cast.bob).answers_by_row[first].links == (link,)
    open_ready(page, address, "align")
    press(page, "Control+z")
    wait_until(page, f"document.querySelectorAll('.align-row[data-answer=open]').length === {2 * ROWS}")
    wait_saved(page, "alignments")
    assert first not in own(cast.bob).answers_by_row
    page.context.set_offline(True)
    press(page, "u")
    wait_until(page, "document.getElementById('save-state').textContent.includes('not saved')")
    assert first not in own(cast.bob).answers_by_row
    page.context.set_offline(False)
    wait_saved(page, "alignments")
    assert own(cast.bob).answers_by_row[first].verdict == "unclear"
    target = page.locator("[data-side=g] .align-row").first
    page.locator(f"[data-row={first}]").drag_to(target)
    wait_until(page, f"document.querySelector('[data-row={first}]').dataset.answer === 'linked'")
    wait_saved(page, "alignments")
    assert own(cast.bob).answers_by_row[first].links == (target.get_attribute("data-row"),)
    press(page, "f")
    assert "still open" in page.inner_text("#announce")
    assert_accessible(page)


def test_compound_rows_are_linked_by_mouse_and_by_keys(page, login, cast, made):
    """One row with two and three, from either table; a fourth is refused, and the same again takes a link away."""
    AlignmentStudy.objects.update(most_links=3)
    login(page, cast.bob)
    open_ready(page, f"/p/minds/alignment/tables/{own(cast.bob).uid}/", "align")
    golds, rows = (
        [one.get_attribute("data-row") for one in page.locator(f"[data-side={side}] .align-row").all()] for side in "gp"
    )

    def line(row):
        return page.locator(f"[data-row={row}]")

    def linked(row, *others):
        names = ", ".join(f"{other[0].upper()}{other[1:]}" for other in sorted(others, key=lambda name: int(name[1:])))
        wait_until(page, f"document.querySelector('[data-row={row}] .align-links').textContent === '{names}'")

    page.keyboard.down("Shift")
    for count, gold in enumerate(golds[:3], 1):
        line(rows[0]).drag_to(line(gold))
        linked(rows[0], *golds[:count])
    line(rows[0]).drag_to(line(golds[3]))
    wait_until(page, "!document.getElementById('notice').hidden")
    line(rows[0]).drag_to(line(golds[1]))
    linked(rows[0], golds[0], golds[2])
    for row in rows[1:3]:  # a compound row of gold
        line(golds[4]).drag_to(line(row))
    page.keyboard.up("Shift")
    linked(golds[4], *rows[1:3])
    page.focus(f"[data-row={rows[-1]}]")
    keyed = page.locator("[data-side=g] .align-row:has(.align-key:not([hidden]))").first.get_attribute("data-row")
    press(page, "Shift+Digit1")
    for gold in [golds[3], golds[5]]:
        press(page, "l")
        page.focus(f"[data-row={gold}]")
        press(page, "Shift+L")
        page.focus(f"[data-row={rows[-1]}]")
    three = {keyed, golds[3], golds[5]}
    linked(rows[-1], *three)
    line(keyed).locator(".align-key").click(modifiers=["Shift"])
    linked(rows[-1], golds[3], golds[5])
    line(keyed).locator(".align-key").click()
    linked(rows[-1], keyed)
    wait_saved(page, "alignments")
    said = own(cast.bob).answers_by_row
    assert (len(said[rows[0]].links), said[rows[1]].links, said[rows[2]].links) == (2, (golds[4],), (golds[4],))
    assert said[rows[-1]].links == (keyed,)


@pytest.mark.path
def test_an_expert_decides_what_has_no_majority(page, login, cast, made, assert_accessible):
    answer_all(own(cast.bob), p1="g1", p2="g2")
    answer_all(own(cast.bea), p1="g1", p2="g3")
    settled = SettledAlignment.objects.get()
    assert settled.open_rows == 3  # p2, g2, g3
    login(page, cast.esi)
    page.goto(f"/p/minds/alignment/{made.uid}/")
    assert_accessible(page)
    page.click("main a:has-text('Story 1')")
    page.wait_for_selector("html[data-align-ready]", state="attached")
    assert active(page) == "p2" and page.inner_text("#count") == f"3 of {2 * ROWS} open"
    assert {"1 × G2", "1 × G3"} == set(page.inner_text("[data-row=p2] .align-votes").split("; "))
    assert not {"Bob", "Bea"} & set(page.inner_text("main").split())
    # nothing is proposed here, so that neither a button nor a key accepts it
    assert "accept all proposed rows" not in page.text_content("#help") and not page.query_selector(
        "[data-command=exact]"
    )
    told = page.inner_text("#announce")
    press(page, "a")
    assert page.inner_text("#announce") == told and active(page) == "p2"
    page.locator("[data-row=p2]").drag_to(page.locator("[data-row=g2]"))
    page.focus("[data-row=g3]")
    press(page, "x", "f")
    page.fill("#reason", "The second row says more.")
    page.context.set_offline(True)
    press(page, "Enter")
    wait_until(page, "!document.getElementById('trouble').hidden")
    assert SettledAlignment.objects.get().open_rows == 3
    page.context.set_offline(False)
    page.reload()  # nothing was sent, and nothing is lost
    page.wait_for_selector("html[data-align-ready]", state="attached")
    assert page.inner_text("#save-state") == "3 rows decided, not sent" and open_rows(page) == 0
    assert page.input_value("#reason") == "The second row says more."
    press(page, "f")
    page.wait_for_selector("dialog#finish[open]")
    press(page, "Enter")
    page.wait_for_url(f"**/alignment/{made.uid}/")
    assert not page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('credence:decisions')).length")
    settled.refresh_from_db()
    assert settled.open_rows == 0 and settled.answers["g2"].count == 1 and settled.answers["g3"].count == 0
    assert set(made.tasks.get().settled_events.filter(by=cast.esi).values_list("row", flat=True)) == {"p2", "g2", "g3"}
    with pytest.raises(Exception, match="expert has decided"):
        from judge.services.settling import take_back

        take_back(alignment=own(cast.bob), now=NOW)
    assert hand_in(alignment=own(cast.bob), now=NOW).state == "handed-in"
