"""Results in real Chromium: leaderboard, run, comparison and reports, light and dark, by keyboard alone, with their
downloads."""

import csv
import io
import zipfile

import pytest

from benchmark.models import Audience, Snapshot
from tests.benchmark.results_world import HOSTILE, ResultsWorld, results_world
from tests.browser.driving import FITS, FOCUSED, apart, press, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


ALL_DRAWN = """[...document.querySelectorAll('img.drawn')].filter(one => one.offsetParent)
    .every(one => one.complete && one.naturalWidth > 0)"""


@pytest.fixture
def world(db, tmp_path) -> ResultsWorld:
    return apart(results_world, tmp_path)


@pytest.fixture
def admin(world, login, page):
    login(page, world.alice)
    return page


def pictures_drawn(page) -> None:
    """Every picture that the theme shows is there: none is broken."""
    page.evaluate("document.querySelectorAll('img.drawn').forEach(one => { one.loading = 'eager'; })")
    wait_until(page, ALL_DRAWN)


def pages(world) -> dict[str, str]:
    pair = f"a={world.entrant('majority')}&b={world.entrant('random')}"
    return {
        "leaderboard": f"{world.base}/results/",
        "report": f"{world.base}/runs/{world.run.uid}/report/",
        "compare": f"{world.base}/results/compare/?{pair}",
        "not comparable": f"{world.base}/results/compare/",
        "reports": f"{world.base}/results/snapshots/",
    }


def test_nothing_keeps_anybody_from_reading_it(world, admin, assert_accessible):
    for address in pages(world).values():
        admin.goto(address)
        admin.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        pictures_drawn(admin)
        assert_accessible(admin)
    admin.goto(f"{world.base}/runs/{world.run.uid}/")
    admin.get_by_role("heading", name="Stage 2: labelling").wait_for()
    pictures_drawn(admin)
    assert_accessible(admin)
    admin.get_by_role("link", name="Past them").press("Enter")
    press(admin, "Tab")
    assert admin.evaluate(FOCUSED) == "What made it"


def test_pages_without_results(cast, login, page, assert_accessible):
    """No dataset yet; and for a member who may not see results."""
    login(page, cast.alice)
    page.goto("/p/minds/results/")
    page.get_by_text("Nothing was evaluated yet").wait_for()
    assert_accessible(page)
    login(page, cast.bob)
    page.goto("/p/minds/")
    page.get_by_role("link", name="Results", exact=True).click()
    page.get_by_text("Results are not shown to you yet").wait_for()
    assert_accessible(page)


SHOWN = "[...document.querySelectorAll('img.drawn')].filter(one => one.offsetParent).map(one => one.src)"


def test_the_picture_of_the_theme_is_shown(world, login, new_page):
    for scheme, other in (("light", "dark"), ("dark", "light")):
        page = new_page(scheme=scheme)
        login(page, world.alice)
        page.goto(pages(world)["report"])
        for theme in (scheme, other):
            if theme == other:
                page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
            shown = page.evaluate(SHOWN)
            assert shown and all(address.endswith(f"theme={theme}") for address in shown)


@pytest.mark.path
def test_from_a_figure_down_to_a_raw_answer(world, admin):
    admin.goto(pages(world)["leaderboard"])
    row = admin.locator("#stage2 tbody tr", has_text="majority").first
    row.locator("td a").first.click()
    admin.wait_for_url(f"**/runs/{world.run.uid}/items/?model=*step=label")
    admin.locator("main tbody a").first.click()
    admin.wait_for_url("**/items/*/")
    assert "Actor | Belief" in admin.locator("main").inner_text()


@pytest.mark.path
def test_by_keyboard_alone(world, admin):
    """Sort, choose two, compare them, share the comparison: no mouse."""
    admin.goto(pages(world)["leaderboard"])
    head = admin.locator("#stage2").get_by_role("link", name="Model")
    head.focus()
    head.press("Enter")
    admin.wait_for_url("**sort=model**")
    assert admin.locator("#stage2 tbody th").first.inner_text().startswith(HOSTILE[:9])
    first = admin.get_by_label("First")
    first.focus()
    first.select_option(world.entrant("majority"))
    admin.get_by_label("Second").select_option(world.entrant("random"))
    admin.get_by_label("Second").press("Tab")
    admin.keyboard.press("Enter")
    admin.wait_for_url("**/results/compare/?**")
    admin.get_by_role("button", name="Save a snapshot").press("Enter")
    admin.wait_for_url("**/results/snapshots/*/")
    assert Snapshot.objects.get().uid in admin.locator("#link").inner_text()


def downloaded(page, link) -> bytes:
    with page.expect_download() as waiting:
        link.click()
    return waiting.value.path().read_bytes()


def test_a_report_is_downloaded_and_its_matrix_follows_the_choice(world, admin):
    admin.goto(pages(world)["report"])
    part = admin.locator("section", has=admin.get_by_role("heading", name="Accuracy by dimension"))
    metric = part.locator(".files").first
    for name, start in (("SVG", b"<?xml"), ("PDF", b"%PDF"), ("PNG", b"\x89PNG")):
        assert downloaded(admin, metric.get_by_role("link", name=name)).startswith(start)  # one of that name
    wide = downloaded(admin, metric.get_by_role("link", name="SVG"))
    admin.get_by_label("as wide as a column").check()
    narrow = downloaded(admin, metric.get_by_role("link", name="SVG"))
    assert [b'viewBox="0 0 453.6 ' in wide, b'viewBox="0 0 216 ' in narrow] == [True, True]
    step = admin.locator("section", has=admin.get_by_role("heading", name="Stage 2: labelling")).locator(".files").first
    rows = list(csv.reader(io.StringIO(downloaded(admin, step.get_by_role("link", name="CSV")).decode(), newline="")))
    assert {row[0] for row in rows[1:]} == {"majority", "random", "'" + HOSTILE, "Chance level", "Majority baseline"}
    assert downloaded(admin, step.get_by_role("link", name="LaTeX")).startswith(b"% Needs")
    archive = zipfile.ZipFile(
        io.BytesIO(downloaded(admin, admin.get_by_role("link", name="majority", exact=True).last))
    )
    assert "metrics/stage2_overall.csv" in archive.namelist()
    labels = admin.locator("#labels")
    labels.get_by_label("Dimension").select_option("truth-status")
    admin.get_by_role("heading", name="Truth status: gold labels and those of majority").wait_for()
    labels.get_by_label("Model").select_option(label="random")
    admin.get_by_role("heading", name="Truth status: gold labels and those of random").wait_for()
    assert labels.count() == 1


@pytest.mark.path
def test_a_snapshot_opens_for_who_may_see_it(world, login, new_page, admin):
    world.show_to(Audience.EVERYONE)
    admin.goto(pages(world)["report"])
    admin.get_by_role("button", name="Save a snapshot").click()
    admin.wait_for_url("**/results/snapshots/*/")
    address = admin.locator("#link").inner_text()
    page = new_page(width=853, height=533)  # 1280 at 150 %
    login(page, world.bob)
    page.goto(address)
    page.get_by_text("Nothing on this page changes any more").wait_for()
    pictures_drawn(page)
    assert page.evaluate(FITS)
    assert page.get_by_role("button", name="Save a snapshot").count() == 0


# --- layout
# ----------------------------------------------------------------------------------------------------------------------
LONG = "A run of a title that goes on and on until the buttons wrap below it, " * 2
ENDS = """(selector) => [...document.querySelectorAll(selector)].map(one => {
    const range = document.createRange(); range.selectNodeContents(one);
    const { left, right, height } = range.getBoundingClientRect(); return [left, right, height]; })"""
"""[left, right, height] of the text of each element, in pixels."""


def test_long_names_fit_a_narrow_window(world, login, new_page, client):
    world.run.title = LONG[:200]
    world.run.save()
    world.run.entrants.filter(name="majority").update(name="m" * 60)
    client.force_login(world.alice)
    client.post(f"{world.base}/runs/{world.run.uid}/report/snapshot/", {"title": "Long " + "t" * 190})
    for width in (1280, 600):
        page = new_page(width=width)
        login(page, world.alice)
        page.goto(f"{world.base}/runs/{world.run.uid}/")
        for _ in range(2):
            page.locator(".page-actions summary").press("Enter")
            box = page.locator(".page-actions .menu-panel").bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
            page.keyboard.press("Escape")
            assert page.locator(".page-actions details[open]").count() == 0
    for address in (f"{Snapshot.objects.get().uid}/", ""):
        page.goto(f"{world.base}/results/snapshots/{address}")
        assert page.evaluate(FITS)
    assert page.evaluate(ENDS, "tbody td")[1][2] < 25, "the name of who shared it is on one line of 13 px at 1.45"


def test_heads_stand_over_their_numbers(world, admin):
    admin.goto(f"{world.base}/results/")
    numbers = admin.locator(".table.results tbody tr").first.locator("td.number")
    column = numbers.first.evaluate("one => one.cellIndex + 1")
    head = admin.evaluate(ENDS, f".table.results thead tr:last-child th:nth-child({column}) .sort")[0]
    cell = admin.evaluate(ENDS, f".table.results tbody tr td:nth-child({column}) > *")[0]
    assert abs(head[1] - cell[1]) < 2
    admin.locator(".plot-heads > span").first.evaluate("head => { head.textContent = 'Discrimination' }")
    (_, first_ends, _), (second_begins, *_), *_ = admin.evaluate(ENDS, ".plot-heads > span")
    assert first_ends <= second_begins, "heads of a picture stand apart however long they are"
    admin.goto(f"{world.base}/runs/{world.run.uid}/report/")
    head = admin.evaluate(ENDS, ".confusion thead th:nth-child(3)")[0]
    cell = admin.evaluate(ENDS, ".confusion tbody td:nth-child(3)")[0]
    assert abs(sum(head[:2]) - sum(cell[:2])) < 6  # twice the distance of the middles
