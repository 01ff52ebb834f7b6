"""Datasets, launching, watching and single items in real Chromium: by keyboard alone, live, light and dark, empty and
full."""

from decimal import Decimal

import pytest

from benchmark.models import Run, RunItem
from benchmark.services.datasets import publish_version
from tests.benchmark.settled import baselines, make_endpoint, published, settle, started, work_off
from tests.browser.driving import FITS, FOCUSED, apart, press, tab_to, wait_until, working
from workers.models import Call, Job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ALL = ("extract", "judge", "label")
HOSTILE = '<script>alert(1)</script> المفتاح في الحقيبة | <img src=x onerror="alert(2)"> ' + "W" * 400


@pytest.fixture
def admin(cast, login, page):
    login(page, cast.alice)
    return page


@pytest.fixture
def models(db):
    return baselines()


@pytest.fixture
def gold(cast, make_story):
    return published(cast, make_story)


# --- accessible, empty and full
# ----------------------------------------------------------------------------------------------------------------------
def test_empty_pages_are_accessible_and_say_what_to_do(admin, assert_accessible, tmp_path):
    for address, words in (
        ("/p/minds/runs/", "Publish one first"),
        ("/p/minds/runs/new/", "No gold is published yet"),
        ("/p/minds/datasets/", "Nothing is published yet"),
        ("/p/minds/prompts/", "Load a set"),
    ):
        admin.goto(address)
        if "datasets" in address:
            admin.wait_for_selector("#present:has-text('No story has a gold table')")
        assert words in admin.inner_text("main"), address
        assert_accessible(admin)
    for name, text in (("label-level3.txt", "Label.\n\n{story}\n\n{belief_table}"), ("label-level4.txt", "{nothing}")):
        (tmp_path / name).write_text(text)
    admin.fill("[name=name]", "ours")
    admin.set_input_files("[name=files]", [tmp_path / "label-level3.txt", tmp_path / "label-level4.txt"])
    admin.get_by_role("button", name="Load").press("Enter")
    assert "has the placeholder {nothing}" in admin.inner_text(".field:has([name=files]) .field-error")
    assert_accessible(admin)
    admin.set_input_files("[name=files]", [tmp_path / "label-level3.txt"])
    admin.get_by_role("button", name="Load").press("Enter")
    admin.wait_for_url("**/prompts/ours/")
    assert "{belief_table}" in admin.inner_text("pre")
    admin.select_option("[name=filled]", "1")
    admin.wait_for_url("**filled=1**")
    assert "Actor | Belief" in admin.inner_text("pre >> nth=-1")


def test_full_pages_are_accessible_and_nothing_scrolls_sideways(admin, assert_accessible, cast, gold, models):
    """Two versions, a run with every kind of end, its items, a hostile answer, and a run that waits."""
    settle(cast.project.stories.get(number=1), context="Deceptive")
    again, _ = publish_version(by=cast.alice, project=cast.project, note="المعيار " + "W" * 120)
    script = [{"when": "Story 1.", "fail": "rejected"}, {"when": "Story 2.", "text": HOSTILE}]
    model = make_endpoint("a-model-with-a-name-of-sixty-letters-that-has-to-wrap-somehow", options={"script": script})
    model.price_input = Decimal("0.15")
    model.save()
    chosen = [models["omniscient"], models["majority"], model]
    run = started(cast, again, chosen, ALL, judge=models["lexical-judge"], title="المفتاح " + "W" * 150)
    apart(work_off, run)
    started(cast, gold, [models["random"]])
    items = RunItem.objects.filter(entrant__run=run).order_by("-sample__number")
    places = {(one.step, one.entrant.endpoint.provider): one.pk for one in items.select_related("entrant__endpoint")}
    hostile = items.filter(call__answer=HOSTILE).values_list("pk", flat=True)
    at = f"/p/minds/runs/{run.uid}/"
    pages = ["/p/minds/datasets/", "/p/minds/datasets/1/2/", "/p/minds/runs/", "/p/minds/runs/new/", at, f"{at}items/"]
    pages += [f"{at}extend/", f"{at}judge/", "/p/minds/prompts/", "/p/minds/prompts/omnitom-1/"]
    pages += [f"{at}items/{pk}/" for pk in {*places.values(), *hostile}]
    for address in pages:
        admin.goto(address)
        wait_until(admin, "!document.querySelector('main [aria-busy=true]')")
        assert_accessible(admin)
        assert admin.evaluate(FITS), address
    admin.goto(f"{at}items/{hostile[0]}/")
    assert HOSTILE in admin.locator("pre[aria-label='Raw answer']").inner_text()
    assert admin.locator("main script, main img").count() == 0
    admin.goto(at)
    tab_to(admin, "What made it")
    press(admin, "Enter")
    admin.wait_for_selector(f".made:has-text('{again.digest}')")
    assert_accessible(admin)


# --- the page that launches
# ----------------------------------------------------------------------------------------------------------------------
def test_the_launch_page_estimates_previews_and_says_mistakes_beside_their_fields(
    admin, assert_accessible, gold, models
):
    make_endpoint("paid", price_input=Decimal(2), price_output=Decimal(10))
    admin.goto("/p/minds/runs/new/")
    for name in ("paid", "majority"):
        admin.check(f"[name=endpoints][value={name}]")
    admin.wait_for_selector("#estimate:has-text('the ledger has none')")
    admin.get_by_role("button", name="Labelling").click()
    admin.wait_for_selector("#preview pre")
    assert_accessible(admin)
    assert admin.evaluate(FITS)
    before = admin.inner_text("#estimate tfoot")
    admin.select_option("[name=level]", "4")
    wait_until(admin, f"document.querySelector('#estimate tfoot')?.innerText !== {before!r}")
    admin.set_viewport_size({"width": 853, "height": 533})
    assert admin.evaluate(FITS)
    admin.set_viewport_size({"width": 1280, "height": 800})
    admin.select_option("[name=judge]", "")
    admin.wait_for_selector("#estimate:has-text('Judging needs a judge')")
    admin.get_by_role("button", name="Launch").press("Enter")
    error = admin.locator(".field:has([name=judge]) .field-error")
    assert "Judging needs a judge" in error.inner_text()
    assert admin.is_checked("[name=endpoints][value=paid]")
    assert_accessible(admin)
    assert not Run.objects.exists()


def test_models_are_searched_and_ticked_together(admin, gold, models):
    make_endpoint("qwen-8b")
    make_endpoint("qwen-32b")
    admin.goto("/p/minds/runs/new/")
    tools = admin.locator("[data-model-tools]")
    tools.get_by_label("Search the models").fill("QWEN 32")
    tools.get_by_label("Search the models").press("Enter")  # sends no form
    assert admin.url.endswith("/runs/new/") and Run.objects.count() == 0
    assert "0 of 5 chosen, 1 shown" in tools.inner_text()
    tools.get_by_role("button", name="Select all").press("Enter")
    tools.get_by_label("Search the models").fill("")
    assert "1 of 5 chosen" in tools.inner_text()
    models = admin.get_by_role("group", name="Models", exact=True)
    assert models.get_by_label("qwen-32b").is_checked() and not models.get_by_label("qwen-8b").is_checked()
    for name, told in (("Select all", "5 of 5 chosen"), ("Select none", "0 of 5 chosen")):
        tools.get_by_role("button", name=name).click()
        assert told in tools.inner_text()


def test_calls_and_the_button_that_launches_stay_in_sight(cast, login, new_page, gold, models):
    """Of a screen, and of a laptop at 150 per cent."""
    for number in range(6):
        make_endpoint(f"a-model-of-a-rather-long-name-{number}")
    for width, height in ((1280, 800), (853, 533)):
        page = new_page(width=width, height=height)
        login(page, cast.alice)
        page.goto("/p/minds/runs/new/")
        for box in page.locator("[name=endpoints][value^=a-model]").all()[: 6 if width == 1280 else 1]:
            box.check()
        page.wait_for_selector("#estimate details")
        page.wait_for_load_state("networkidle")  # a choice is estimated as it changes, and once nothing is typed
        button, calls = page.get_by_role("button", name="Launch"), page.locator("#estimate strong").first
        scroll = "down => { document.querySelector('.launch > aside').scrollTop = down; }"
        for down in (0, 300, 600):
            page.evaluate(scroll if width == 1280 else "down => { scrollTo(0, down) }", down)
            for shown in (button, calls) if width < 1280 else (button,):
                box = shown.bounding_box()
                assert box["y"] >= 0 and box["y"] + box["height"] <= height, (down, box)
    page.evaluate("scrollTo(0, 0)")
    aside, can_show = (page.locator(one).bounding_box() for one in (".launch > aside", "#estimate dl"))
    assert aside["height"] <= 0.3 * 533, "most of the window is the form's"
    assert can_show["y"] + can_show["height"] <= 533
    page.locator("[name=title]").scroll_into_view_if_needed()
    page.locator("[name=title]").click()  # nothing lies over what is filled in


# --- by keyboard alone
# ----------------------------------------------------------------------------------------------------------------------
@pytest.mark.path
def test_gold_is_published_and_baselines_are_launched_and_watched_to_the_end(admin, make_story, models):
    for number in range(1, 4):
        settle(make_story(number))
    admin.goto("/p/minds/datasets/")
    admin.wait_for_selector("#present:has-text('can be published')")
    tab_to(admin, "Note")
    press(admin, ["for the paper"], "Enter")
    admin.wait_for_selector("#present:has-text('The present gold is version 1.')")
    tab_to(admin, "New run")
    press(admin, "Enter")
    admin.wait_for_url("**/runs/new/")
    for name in ("majority", "omniscient", "Test the judge"):
        tab_to(admin, name)
        press(admin, "Space")
    # Extraction and judging of three stories by omniscient, labelling by majority: nine answers, without the judge's
    # test.
    admin.wait_for_selector("#estimate:has-text('9 calls')")
    admin.wait_for_selector("#estimate:has-text('the ledger has none of the answers yet')")
    tab_to(admin, "Launch")
    press(admin, "Enter")
    admin.wait_for_selector("#run-progress .badge-saving")
    assert "0 / 9" in admin.inner_text("#run-progress"), "judgements that are to come are counted"
    tab_to(admin, "Pause")
    with working(Job.objects.get()):
        admin.wait_for_selector("#run-progress .badge-done")
        admin.wait_for_selector("#run-results table")
    assert "9 / 9" in admin.inner_text("#run-progress")
    admin.wait_for_selector("#job-actions:not(:has(button))", state="attached")
    assert admin.get_attribute("#run-progress", "hx-get") is None, "an ended run is not asked for any more"


@pytest.mark.path
def test_a_run_is_opened_down_to_a_raw_answer(admin, cast, gold, models):
    run = started(cast, gold, [models["omniscient"], models["majority"]], ALL, judge=models["lexical-judge"])
    apart(work_off, run)
    admin.goto(f"/p/minds/runs/{run.uid}/")
    tab_to(admin, "Labelling by majority")
    press(admin, "Enter")
    admin.wait_for_url("**/items/?model=*")
    assert admin.locator("tbody tr").count() == 4
    tab_to(admin, "Official")
    press(admin, "Enter")
    admin.wait_for_selector("th[aria-sort=ascending]:has-text('Official')")
    tab_to(admin, "Story 3, labelling by majority")
    press(admin, "Enter")
    admin.wait_for_selector("h1:has-text('Story 3: labelling by majority')")
    answer = RunItem.objects.get(entrant__run=run, step="label", sample__number=3).call.answer
    assert admin.locator("pre[aria-label='Raw answer']").inner_text().strip() == answer.strip()
    tab_to(admin, "Download")
    with admin.expect_download() as caught:
        press(admin, "Enter")
    assert caught.value.path().read_text(encoding="utf-8") == answer
    tab_to(admin, "Story 4")
    press(admin, "Enter")
    admin.wait_for_selector("h1:has-text('Story 4')")


def test_a_run_is_paused_given_a_budget_and_resumed(admin, cast, gold):
    model = make_endpoint("slow", options={"delay": 0.8}, max_concurrency=1, price_output=Decimal(10))
    run = started(cast, gold, [model], answer_format="structured")
    admin.goto(f"/p/minds/runs/{run.uid}/")
    admin.locator("#job-cancel").press("Enter")
    assert admin.locator("dialog button").all_inner_texts() == ["Go back", "Cancel the run"]
    admin.get_by_role("button", name="Go back").press("Enter")
    assert Job.objects.get().state == "running"
    admin.reload()
    tab_to(admin, "Pause")
    press(admin, "Enter")
    admin.wait_for_selector("#run-progress .badge-open")
    assert admin.get_attribute("#run-progress", "hx-get") is None, "nothing moves, nothing is asked"
    with working(run.job):
        admin.wait_for_timeout(800)
    assert not Call.objects.filter(state="answered").exists(), "a paused run makes no call"
    tab_to(admin, "with a budget of $")
    press(admin, ["2.5"], "Enter")
    admin.wait_for_selector("#run-progress .badge-saving")
    assert "of at most $2.50" in admin.inner_text("#run-progress")
    tab_to(admin, "Pause")
    with working(run.job):
        wait_until(admin, "/[123] \\/ 4/.test(document.querySelector('#run-progress tfoot').innerText)")
        assert admin.evaluate(FOCUSED) == "Pause", "the focus stays while the page follows"
        admin.wait_for_selector("#run-progress .badge-done")
    assert Call.objects.filter(state="answered").count() == 4
