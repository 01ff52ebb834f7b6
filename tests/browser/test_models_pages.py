"""The pages of models, calls and pre-filling in real Chromium: empty and full, light and dark, by keyboard alone,
live."""

import random
import uuid
from decimal import Decimal

import pytest
from celery import current_app
from django.utils import timezone

from annotation.domain.arms import Arm
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, Project, Proposition, Suggestion, Vote, VoteEvent
from annotation.services.arms import arm_of, draw_for
from annotation.services.prefill import start_prefill
from annotation.services.votes import Change, save_votes
from tests.benchmark.settled import make_endpoint
from tests.browser.driving import (
    FITS,
    FOCUSED,
    open_ready,
    press,
    tab_to,
    wait_saved,
    wait_until,
    work_off,
    working,
)  # fmt: skip
from workers.models import Call, Endpoint, Job

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SITE_PAGES = ["/models/", "/models/new/", "/models/ledger/", "/models/ledger/?text=nothing", "/models/work/"]
SITE_PAGES += [f"/models/spending/?by={by}" for by in ("endpoint", "day", "handler")]
PROJECT_PAGES = ["/p/minds/prefill/", "/p/minds/prefill/effect/"]
LONG = "an-endpoint-with-a-name-of-sixty-letters-that-has-to-wrap-ok"


@pytest.fixture
def admin(cast, login, page):
    """Alice, who runs the project and the site, on a light page."""
    cast.alice.is_superuser = True
    cast.alice.save()
    login(page, cast.alice)
    return page


@pytest.fixture
def answered_at_once():
    """Tasks run where they are sent: no broker, the same code."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


def begin(cast, endpoint, stories, **fields):
    fields = {"level": 3, "now": timezone.now(), **fields}
    return start_prefill(by=cast.alice, project=cast.project, endpoint=endpoint, stories=stories, **fields)


# --- models
# ----------------------------------------------------------------------------------------------------------------------
def test_empty_pages_are_accessible_and_say_what_to_do(admin, assert_accessible):
    for address in SITE_PAGES + PROJECT_PAGES:
        admin.goto(address)
        assert_accessible(admin)
    for address, words in (
        ("/models/", "Register one to pre-fill labels"),
        ("/models/ledger/", "Pre-filling and benchmark runs make calls"),
        ("/models/ledger/?text=nothing", "Fewer conditions find more"),
        ("/models/spending/", "No call has been answered yet"),
        ("/models/work/", "under Manage"),
        ("/p/minds/prefill/", "Register one first"),
        ("/p/minds/prefill/effect/", "No model has suggested labels here"),
    ):
        admin.goto(address)
        assert words in admin.inner_text("main"), address
        assert admin.locator("main .empty a.button").count() == 1, f"{address} leads somewhere"


def test_forms_of_providers_fit_and_say_mistakes_beside_their_fields(admin, assert_accessible):
    for provider in ("vllm", "anthropic", "vllm-engine", "baseline", "scripted", "openai"):
        admin.goto(f"/models/new/?provider={provider}")
        assert_accessible(admin)
        assert admin.evaluate(FITS), provider
        asks_for_a_key = admin.get_by_label("Key variable").count() == 1
        assert asks_for_a_key is (provider in ("openai", "anthropic", "vllm"))
    for name, text in (("name", "gate"), ("model", "m"), ("base_url", "http://someone:secret@example.org/v1")):
        admin.fill(f"[name={name}]", text)
    admin.get_by_role("button", name="Register").press("Enter")
    assert "without a user" in admin.locator(".field:has([name=base_url]) .field-error").inner_text()
    assert admin.input_value("[name=name]") == "gate"
    assert_accessible(admin)
    assert not Endpoint.objects.exists()


@pytest.mark.path
def test_a_model_is_registered_and_tried_by_keyboard_alone(admin, answered_at_once, monkeypatch):
    admin.goto("/models/")
    tab_to(admin, "Register a model")
    press(admin, "Enter")
    admin.wait_for_url("**/models/new/")
    tab_to(admin, "Scripted answers")
    press(admin, "Enter")
    admin.wait_for_url("**provider=scripted")
    for label, text in (("Name", "dry-run"), ("Model", "script-1"), ("Input", "2.5"), ("Output", "10")):
        tab_to(admin, label)
        press(admin, "Control+a", [text])
    press(admin, "Enter")
    admin.wait_for_url("**/models/endpoint/dry-run/")
    made = Endpoint.objects.get()
    assert (made.provider, made.model, made.price_output, made.max_concurrency) == ("scripted", "script-1", 10, 64)
    tab_to(admin, "Try one call")
    press(admin, "Enter")
    admin.wait_for_selector("#tried .badge-done")
    assert "A scripted answer." in admin.inner_text("#tried")
    assert admin.evaluate(FOCUSED) == "Try one call", "the focus stays where it was"
    assert not Call.objects.exists(), "a try is no work, so it is not in the ledger"
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    make_endpoint("remote", provider="openai", api_key_env="NO_SUCH_KEY")
    admin.goto("/models/endpoint/remote/")
    admin.get_by_role("button", name="Try one call").press("Enter")
    admin.wait_for_selector("#tried .badge-failed")
    assert "NO_SUCH_KEY is not set" in admin.inner_text("#tried")
    admin.goto("/models/")
    assert admin.locator("tbody .badge-failed").inner_text() == "fails"


def test_a_model_that_was_never_used_is_deleted_after_a_question(admin, assert_accessible):
    make_endpoint("mistake")
    admin.goto("/models/endpoint/mistake/")
    assert_accessible(admin)
    tab_to(admin, "Delete this model")
    press(admin, "Enter")
    admin.wait_for_selector("dialog[open]")
    assert Endpoint.objects.exists()
    admin.click("dialog >> .button-danger")
    admin.wait_for_url("**/models/")
    assert not Endpoint.objects.exists()


# --- rounds and jobs
# ----------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def full(cast, make_story, assign):
    """Two rounds: one with every kind of end, one still waiting; and votes of all arms on the first story's cells."""
    cast.project.name = "المشروع " + "W" * 40
    cast.project.blind_share, cast.project.reveal_share = 40, 20
    cast.project.save()
    script = [
        {"when": "Say NO\n", "stop": "refusal", "text": "لن أجيب."},
        {"when": "NONSENSE", "text": "blah"},
        {"when": "BREAK", "fail": "rejected"},
        {"when": "VANISH", "fail": "lost", "times": 1},
    ]
    prices = {"price_input": Decimal("0.15"), "price_output": Decimal(10)}
    model = make_endpoint(
        LONG, model="organisation/" + "m" * 90, options={"script": script}, max_attempts=2, repeat_unknown=1, **prices
    )
    rows = [("إيناس", "المفتاح في الحقيبة"), *(("Ines", f"Belief {at}") for at in range(8))]
    texts = ["plain", "Say NO", "Say NONSENSE", "Say BREAK", "Say VANISH"]
    stories = [make_story(number, text=text, rows=rows) for number, text in enumerate(texts, 1)]
    made = begin(cast, model, stories, budget=Decimal(5))
    work_off()
    noise = random.Random(1)
    for one in assign(stories[0]):
        label_somehow(one, noise)
    return [made, begin(cast, make_endpoint("waiting"), [make_story(9, text="later")])]


def label_somehow(assignment, noise) -> None:
    draw_for(assignment=assignment, now=timezone.now())
    assignment = Assignment.objects.select_related("story__project", "annotator").get(pk=assignment.pk)
    changes = []
    for row in Proposition.objects.gold_of(assignment.story):
        for one in DEFAULT_SCHEMA.dimensions:
            seen = arm_of(assignment, row.uid, one.key) is Arm.SHOWN
            label, key = noise.choice(one.values), uuid.uuid4().hex
            changes.append(Change(row.uid, one.key, label, timezone.now(), key, saw=seen, duration_ms=1500))
    save_votes(by=assignment.annotator, assignment=assignment, changes=changes, now=timezone.now())


def test_full_pages_are_accessible_and_nothing_scrolls_sideways(admin, assert_accessible, full):
    states = {call.state: call.uid for call in Call.objects.all()}
    assert set(states) == {"answered", "refused", "failed"}
    addresses = SITE_PAGES + PROJECT_PAGES + ["/models/ledger/?state=lost", f"/models/endpoint/{LONG}/"]
    addresses += [f"/models/ledger/{uid}/" for uid in states.values()]
    addresses += [f"/p/minds/prefill/{one.uid}/" for one in full]
    addresses += [f"/models/jobs/{one.uid}/" for one in Job.objects.all()]
    for address in addresses:
        admin.goto(address)
        assert_accessible(admin)
        assert admin.evaluate(FITS), address
    admin.goto("/models/ledger/?state=lost")
    assert admin.locator("tbody tr").count() == 1, "the call whose first answer was lost"
    admin.goto("/p/minds/prefill/effect/")
    assert "points" in admin.inner_text("table >> nth=0")
    for address, written in (
        (f"/models/ledger/{states['refused']}/", "pre[aria-label=Answer]"),
        ("/p/minds/prefill/", ".topbar-project > a"),
    ):
        admin.goto(address)
        assert admin.locator(written).evaluate("e => getComputedStyle(e).direction") == "rtl"
    make_endpoint("idle")
    admin.goto("/models/work/")
    queue = admin.locator("section:has(#queue-title)").inner_text()
    assert LONG in queue and "Waiting" in queue and "idle" not in queue, "models in use alone"


@pytest.mark.path
def test_a_round_is_started_watched_and_opened_down_to_its_answer(admin, make_story):
    make_endpoint("dry-run", options={"delay": 0.5}, max_concurrency=2)
    for number in range(1, 7):
        make_story(number)
    admin.goto("/p/minds/prefill/")
    tab_to(admin, "Estimate")
    press(admin, "Enter")
    admin.wait_for_selector("text=6 calls")
    tab_to(admin, "Start")
    press(admin, "Enter")
    admin.wait_for_selector("#job-progress .badge-saving")
    assert "0 / 6" in admin.inner_text("#job-progress")
    tab_to(admin, "Pause")
    with working():  # six calls, two at a time, half a second each: about one and a half seconds
        admin.wait_for_selector("#job-progress .badge-done")
    assert "6 / 6" in admin.inner_text("#job-progress")
    admin.wait_for_selector("#job-actions:not(:has(button))", state="attached")  # nothing is left to pause or cancel
    assert admin.locator("#job-items tbody tr").count() == 6
    assert admin.get_attribute("#job-progress", "hx-get") is None, "an ended job is not asked for any more"
    tab_to(admin, "Call of Story 6")
    press(admin, "Enter")
    admin.wait_for_url("**/models/ledger/*/")
    shown = admin.inner_text("main")
    assert "Tomas moves it to the drawer" in shown and '"truth_status"' in shown
    assert Suggestion.objects.count() == 6 * 2 * len(DEFAULT_SCHEMA.keys)


def test_a_job_is_paused_resumed_given_more_and_its_answer_read_in_part(admin, cast, make_story, assert_accessible):
    made = begin(cast, make_endpoint("dry-run"), [make_story(1), make_story(2)])
    admin.goto(f"/models/jobs/{made.job.uid}/")
    tab_to(admin, "Pause")
    press(admin, "Enter")
    admin.wait_for_selector("#job-progress .badge-open")
    assert admin.get_attribute("#job-progress", "hx-get") is None, "nothing moves, nothing is asked"
    work_off()
    assert not Call.objects.exists(), "a paused job makes no call"
    tab_to(admin, "Resume")
    press(admin, "Enter")
    admin.wait_for_selector("#job-progress .badge-saving")
    with working():
        admin.wait_for_selector("#job-progress .badge-done")
    assert Call.objects.count() == 2
    Call.objects.update(answer="ab " * 1_700_000)
    admin.goto(f"/models/ledger/{Call.objects.first().uid}/")
    assert "The first 20,000 of 5,100,000 characters." in admin.inner_text("main")
    assert len(admin.inner_text("pre[aria-label=Answer]")) == 20_000
    with admin.expect_download() as coming:
        admin.click("text=Download the whole answer")
    assert coming.value.path().stat().st_size == 5_100_000
    model = make_endpoint("dear", price_input=Decimal(1), price_output=Decimal(1))
    made = begin(cast, model, [make_story(3)], budget=Decimal("0.0001"))
    work_off()
    admin.goto(f"/models/jobs/{made.job.uid}/")
    assert "The next call could exceed the budget" in admin.inner_text("#job-progress")
    assert_accessible(admin)
    tab_to(admin, "with a budget of $")
    press(admin, ["3"], "Enter")
    admin.wait_for_selector("#job-progress .badge-saving")
    assert "of at most $3.00" in admin.inner_text("#job-progress")
    work_off()
    admin.wait_for_selector("#job-progress .badge-done")


def test_the_work_page_follows_a_job_and_says_once_that_its_polls_fail(admin, cast, make_story):
    begin(cast, make_endpoint("dry-run", options={"delay": 0.5}), [make_story(1)])
    asked, toasts = [], admin.locator("#toasts > p")
    admin.goto("/models/work/")
    assert "running" in admin.inner_text("section:has(#running-title)")
    admin.route("**/work/state/", lambda route: route.fulfill(status=502, body=""))
    admin.get_by_text("The server refused this (502).").wait_for()
    admin.locator("#toasts [data-dismiss]").click()
    admin.wait_for_timeout(3000)
    assert toasts.count() == 0, "what was put away stays away until the server was back"
    admin.unroute("**/work/state/")
    with admin.expect_response("**/work/state/"):
        pass
    admin.route("**/work/state/", lambda route: (asked.append(1), route.abort("connectionrefused")))
    wait_until(admin, "document.querySelectorAll('#toasts > p').length > 0")
    admin.wait_for_timeout(5000)  # two seconds apart: two more polls fail
    assert len(asked) >= 3
    assert toasts.all_inner_texts() == ["The server cannot be reached. The page tries again by itself."]
    admin.unroute("**/work/state/")
    wait_until(admin, "document.querySelectorAll('#toasts > p').length == 0")
    with working():
        admin.wait_for_selector("section:has(#ended-title) .badge-done")
    wait_until(admin, "document.getElementById('work').getAttribute('hx-trigger') === 'every 10s'")  # for later workers
    assert "Nothing is running" in admin.inner_text("#work")


def test_at_one_and_a_half_times_the_size_no_form_is_cut(new_page, login, cast, make_story):
    make_endpoint("any")
    make_story(1)
    page = new_page(width=853, height=533)
    login(page, cast.alice)
    for address, button in (("/p/minds/prefill/", "Estimate"), ("/p/minds/assignments/", "Preview")):
        page.goto(address)
        card = page.locator(".card", has=page.get_by_role("button", name=button)).last
        assert card.evaluate("card => card.scrollHeight - card.clientHeight") <= 1, address


# --- the grid with suggestions
# ----------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def grid(page, login, cast, make_story, assign):
    """Bob's grid on a story whose every cell has a suggestion, the second legal label; half are shown, the rest blind
    or revealed."""
    Project.objects.filter(pk=cast.project.pk).update(blind_share=30, reveal_share=20, speed_floor_ms=0)
    story = make_story(1, rows=[("Ines", f"Belief {at}") for at in range(12)])
    for at, row in enumerate(Proposition.objects.gold_of(story)):  # arms are drawn by uid: the same in every run
        Proposition.objects.filter(pk=row.pk).update(uid=f"{at:012d}")
    now = timezone.now()
    Suggestion.objects.bulk_create(
        Suggestion(proposition=row, dimension=one.key, label=one.values[1], source="tiny (tiny-1)", created_at=now)
        for row in Proposition.objects.gold_of(story)
        for one in DEFAULT_SCHEMA.dimensions
    )
    assign(story)
    login(page, cast.bob)
    return open_ready(page, f"/p/minds/work/{story.uid}/", "grid")


@pytest.fixture
def arms(grid, cast) -> dict[tuple[str, str], Arm]:
    held = Assignment.objects.select_related("story__project").get(annotator=cast.bob)
    rows = Proposition.objects.gold_of(held.story)
    return {(row.uid, key): arm_of(held, row.uid, key) for row in rows for key in DEFAULT_SCHEMA.keys}


def places_of(arm: Arm, arms) -> list[tuple[str, str]]:
    return [place for place, one in arms.items() if one is arm]


def cell(page, place):
    return page.locator(f'tr[data-proposition="{place[0]}"] td[data-dimension="{place[1]}"]')


ANNOUNCED = """() => {
  const at = document.getElementById("announce");
  window.announced = [];
  new MutationObserver(() => announced.push(at.textContent)).observe(at, { childList: true, subtree: true });
}"""


def choose(page, label: str) -> None:
    page.locator(f'.options[data-active] .option[data-value="{label}"]').click()
    wait_saved(page, "votes")


@pytest.mark.path
def test_suggestions_are_accepted_by_a_key_and_never_silently(grid, arms, assert_accessible):
    press(grid, *["Enter"] * 20, "ArrowDown", "End", "n", "g", "Escape", "Tab")
    here = grid.url
    grid.goto("/p/minds/work/")
    assert not VoteEvent.objects.exists(), "moving over cells, looking at guidelines and leaving make no vote"
    assert "0 / 84" in grid.inner_text("main")
    open_ready(grid, here, "grid")
    wanted = {place for place in places_of(Arm.SHOWN, arms) if place[0] == "000000000000"}
    assert 0 < len(wanted) < len(DEFAULT_SCHEMA.keys)
    press(grid, "a")
    wait_saved(grid, "votes")
    votes = Vote.objects.cast().select_related("proposition")
    assert {(vote.proposition.uid, vote.dimension) for vote in votes} == wanted, "blind cells of the row stay open"
    assert all(VoteEvent.objects.values_list("accepted", flat=True))
    press(grid, "Control+z")
    wait_until(grid, "document.getElementById('announce').textContent.startsWith('Undone')")
    wait_saved(grid, "votes")
    assert Vote.objects.cast().count() == len(wanted) - 1, "each is taken back by itself"
    one, other, *_ = (place for place in places_of(Arm.SHOWN, arms) if place not in wanted)
    second = DEFAULT_SCHEMA[one[1]].values[1]
    cell(grid, one).click()
    assert cell(grid, one).inner_text().split("\n")[-1] == "model"
    said = grid.locator(".options[data-active] .options-suggestion").inner_text()
    assert said.startswith(f"tiny (tiny-1) suggests {second}") and said.endswith("takes it")
    assert_accessible(grid)
    press(grid, "Space")
    wait_saved(grid, "votes")
    event = VoteEvent.objects.latest("id")
    assert (event.label, event.arm, event.suggested, event.accepted) == (second, "shown", second, True)
    first, second = DEFAULT_SCHEMA[other[1]].values[:2]
    cell(grid, other).click()
    choose(grid, first)
    event = VoteEvent.objects.latest("id")
    assert (event.label, event.suggested, event.accepted) == (first, second, False), "a vote of one's own"
    assert f"model {second}" in cell(grid, other).inner_text()


def test_a_blind_cell_shows_nothing_and_a_reveal_comes_after_the_vote(grid, arms):
    for place in (place for place, arm in arms.items() if arm is not Arm.SHOWN):
        assert cell(grid, place).get_attribute("data-suggested") is None
        assert cell(grid, place).inner_text().strip() == "–"
    place = places_of(Arm.BLIND, arms)[0]
    cell(grid, place).click()
    assert grid.locator(".options[data-active] .options-suggestion").is_hidden()
    assert grid.locator(".options[data-active] [data-suggested]").count() == 0
    press(grid, "Space")
    assert not grid.evaluate("document.querySelector('[data-state]')"), "there is nothing to take"
    grid.locator(".options[data-active] .option").first.click()
    wait_saved(grid, "votes")
    assert (Vote.objects.get().arm, Vote.objects.get().suggested) == ("blind", "")
    assert cell(grid, place).get_attribute("data-suggested") is None, "also after the vote"
    place = places_of(Arm.REVEAL, arms)[0]
    first, second = DEFAULT_SCHEMA[place[1]].values[:2]
    grid.evaluate(ANNOUNCED)
    cell(grid, place).click()
    choose(grid, first)
    row = f'tr[data-proposition="{place[0]}"]'
    wait_until(grid, f"document.querySelector('{row} [data-suggested=\"{second}\"]') !== null")
    wait_until(grid, f"announced.some((text) => text.includes('The model suggests {second}'))")
    cell(grid, place).click()
    press(grid, "Space")
    wait_saved(grid, "votes")
    events = VoteEvent.objects.filter(arm="reveal").order_by("id").values_list("label", "suggested", "accepted")
    assert list(events) == [(first, "", False), (second, second, True)]
