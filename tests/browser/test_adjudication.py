"""An expert works through a story by keyboard alone, in real Chromium."""

import time
import uuid

import pytest
from django.utils import timezone

from annotation.models import Assignment, Claim, GoldEvent, GoldLabel, Membership, Method, Role, User
from annotation.services import remarks
from annotation.services.adjudication import adjudicate
from annotation.services.votes import Change, save_votes
from tests.browser.driving import press, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SOURCE = "mental_source"
UNSENT = "Object.keys(localStorage).filter((name) => name.startsWith('credence:decisions:')).length"
ROWS = [("Ines", "The key is in the bag"), ("Tomas", "The key is in the drawer"), ("Ines", "Tomas is at home")]


@pytest.fixture
def disputed(make_story, assign):
    """A story whose mental_source is disputed in every row, order is a majority and context unanimous."""

    def make(number=1, rows=ROWS, **fields):
        story = make_story(number=number, rows=rows, **fields)
        propositions = list(story.tables.get().propositions.order_by("position"))
        labels = zip(("Inference", "Testimony", "Memory"), ("1", "1", "2"), strict=True)
        for one, (source, order) in zip(assign(story), labels, strict=True):
            now = timezone.now()
            picked = {SOURCE: source, "order": order, "context": "Neutral"}
            changes = [
                Change(row.uid, key, label, now, uuid.uuid4().hex)
                for row in propositions
                for key, label in picked.items()
            ]
            save_votes(by=one.annotator, assignment=one, changes=changes, now=now)
        return story

    return make


def cell(story, position, dimension=SOURCE):
    return GoldLabel.objects.get(proposition__table__story=story, proposition__position=position, dimension=dimension)


def open_story(page, story):
    page.goto(f"/p/minds/adjudication/story/{story.uid}/")
    page.wait_for_selector("[data-keys] .cell-current")


@pytest.mark.path
def test_a_story_is_decided_by_keyboard_alone(page, login, cast, disputed):
    story, following = disputed(1), disputed(2)
    login(page, cast.esi)
    page.goto("/p/minds/adjudication/")
    link = page.get_by_role("link", name="Story 1", exact=True)
    while not link.evaluate("one => one === document.activeElement"):
        press(page, "Tab")
    press(page, "Enter")
    page.wait_for_selector("[data-keys] .cell-current")
    assert page.text_content("#todo") == "3"

    press(page, "r", ["He sees it, see page 3."], "Enter", "e", "2", "2")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Perception")
    gold = cell(story, 1)
    assert (gold.label, gold.decided_by) == ("Perception", cast.esi)
    assert (gold.reason, gold.error_tag) == ("He sees it, see page 3.", "overlooked-evidence")
    page.wait_for_selector("#todo >> text=2")

    press(page, "Enter", "l")
    page.wait_for_selector(".cell-current .badge-case")
    press(page, "5")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Inference")
    gold = cell(story, 2)
    assert (gold.label, gold.guideline_flag) == ("Inference", True)

    press(page, "u")
    page.wait_for_selector(".cell-current.cell-open")
    assert cell(story, 2).method == Method.OPEN
    press(page, "3")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Memory")
    press(page, "r", ["From last year."], "Enter")
    page.wait_for_selector(".cell-current .cell-reason >> text=From last year.")
    press(page, "r", [" Yes."], "Enter")
    page.wait_for_selector(".cell-current .cell-reason >> text=From last year. Yes.")
    assert cell(story, 2).reason == "From last year. Yes."

    press(page, "j", "n")
    page.wait_for_selector("#hint >> text=This is the last open cell.")
    press(page, "4")
    page.wait_for_selector("#todo >> text=0")
    press(page, "k")
    assert "Memory" in page.text_content(".cell-current .badge-adjudicated")
    press(page, "?")
    assert page.is_visible("#help")
    press(page, "Escape", "Enter")
    page.wait_for_url(f"**/story/{following.uid}/**")
    assert GoldLabel.objects.filter(method=Method.ADJUDICATED).count() == 3


MENTIONS = {
    "en": (
        "Mr. Varga locks the shop. Annabel waves to Mr. Varga, and Anna's dog barks. The world is quiet.",
        {"Old Mr. Varga": ["Mr. Varga", "Mr. Varga"], "Anna": ["Anna"], "world": []},
    ),
    "zh": (
        "小明把钥匙放进抽屉。小红看见小明走了，把钥匙放进包里。",
        {"小明": ["小明", "小明"], "小红": ["小红"], "world": []},
    ),
}


def test_an_actor_is_marked_wherever_the_story_mentions_it(page, login, cast, disputed):
    login(page, cast.esi)
    for number, (language, (text, marked)) in enumerate(MENTIONS.items(), 1):
        rows = [(actor, "It is so") for actor in marked]
        open_story(page, disputed(number, rows=rows, text=text, language=language))
        found = {}
        for _ in marked:
            actor = page.get_attribute(".cell-current", "data-actor")
            found[actor] = page.evaluate("[...CSS.highlights.get('actor')].map(String)")
            press(page, "j")
        assert found == marked


def test_history_and_comments_open_beside_the_story_and_close(page, login, cast, disputed):
    story = disputed()
    row = cell(story, 1).proposition
    remarks.add_comment(by=cast.bob, thread_of=cast.bob, proposition=row, dimension=SOURCE, text="I was torn.")
    login(page, cast.esi)
    open_story(page, story)
    press(page, "h")
    page.wait_for_selector("#panel .history")
    assert "I was torn." in page.text_content("#panel")
    assert "Bob" not in page.text_content("#panel")
    page.fill("#panel textarea", "The guideline says so.")
    page.click("#panel >> text=Reply")
    page.wait_for_selector("#panel >> text=The guideline says so.")
    press(page, "Escape")
    page.wait_for_selector("#panel >> text=How did the actor come by it?")
    press(page, "g")
    assert page.is_hidden("#panel")
    press(page, "2")
    page.wait_for_selector(".cell-current .badge-adjudicated")


def test_the_second_expert_sees_who_was_first_and_loses_nothing_typed(page, login, cast, disputed):
    story = disputed()
    login(page, cast.esi)
    open_story(page, story)
    press(page, "r", ["My own view"], "Enter")
    gold = cell(story, 1)
    place = {"proposition": gold.proposition, "dimension": SOURCE, "now": timezone.now()}
    Claim.objects.all().delete()  # as if Esi had been away for long
    adjudicate(by=cast.alice, label="Memory", revision=gold.revision, reason="Recalled.", **place)
    press(page, "4")
    page.wait_for_selector(".cell-current .callout-error >> text=Alice decided this cell: Memory")
    assert page.input_value(".cell-current [name=reason]") == "My own view"
    assert cell(story, 1).decided_by == cast.alice
    press(page, "4")
    page.wait_for_selector("#replace >> text=Replace that by Testimony?")
    press(page, "Enter")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Testimony")
    assert (cell(story, 1).decided_by, cell(story, 1).reason) == (cast.esi, "My own view")
    assert GoldEvent.objects.filter(after_method=Method.ADJUDICATED).count() == 2


def test_typing_and_moving_on_do_not_wait_for_a_slow_answer(page, login, cast, disputed):
    story = disputed()
    login(page, cast.esi)
    open_story(page, story)
    page.wait_for_load_state("networkidle")  # what the page fetches by itself is no failed decision
    page.route("**/adjudication/save/**", lambda route: (time.sleep(0.4), route.continue_()))
    press(page, "4", "r", ["Typed meanwhile"])
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Testimony")
    press(page, [" and after"], "Enter")
    page.wait_for_selector(".cell-current .cell-reason >> text=Typed meanwhile and after")
    press(page, "j", "4", "j", "5")
    page.wait_for_selector("#todo >> text=0")
    wait_until(page, f"{UNSENT} === 0")
    assert [cell(story, at).label for at in (1, 2, 3)] == ["Testimony", "Testimony", "Inference"]
    assert cell(story, 1).reason == "Typed meanwhile and after"
    assert page.get_attribute(".cell-current", "id").startswith(cell(story, 3).proposition.uid)


@pytest.mark.path
def test_what_cannot_be_sent_is_kept_over_a_reload_and_sent_again(page, login, cast, disputed, away):
    cast.project.decides_and_goes_on = True
    cast.project.save()
    story = disputed()
    login(page, cast.esi)
    open_story(page, story)
    with away("/adjudication/save/"):
        press(page, "4", "5")
        page.wait_for_selector("#trouble >> text=kept in this browser")
        assert page.text_content("#todo") == "1"
        press(page, "Control+z")
        page.wait_for_selector("#hint >> text=Undo waits")
        assert page.evaluate(UNSENT) == 2
        page.reload()
        page.wait_for_selector("[data-keys] .cell-current")
        assert page.text_content("#todo") == "1"
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(page, f"{UNSENT} === 0")
    assert [cell(story, at).label for at in (1, 2, 3)] == ["Testimony", "Inference", ""]


def test_the_same_does_nothing_another_asks_and_undo_takes_back_step_by_step(page, login, cast, disputed):
    story, other = disputed(1), disputed(2)
    login(page, cast.esi)
    open_story(page, other)
    press(page, "3")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Memory")
    open_story(page, story)
    for _ in range(3):
        press(page, "3")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Memory")
    press(page, "5")
    page.wait_for_selector("#replace >> text=Replace that by Inference?")
    press(page, "Escape", "3")
    page.wait_for_selector("#save-state >> text=all saved")
    assert GoldEvent.objects.filter(after_method=Method.ADJUDICATED).count() == 2
    press(page, "5", "Enter")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Inference")
    press(page, "Control+z")
    page.wait_for_selector(".cell-current .badge-adjudicated >> text=Memory")
    press(page, "Control+z")
    page.wait_for_selector(".cell-current.cell-open")
    press(page, "Control+z")
    page.wait_for_selector("#replace >> text=in story 2?")
    press(page, "Enter")
    page.wait_for_url(f"**/story/{other.uid}/**")
    page.wait_for_selector("[data-keys] .cell-current.cell-open")
    assert not GoldLabel.objects.filter(method=Method.ADJUDICATED).exists()


def test_every_page_is_accessible_light_and_dark(page, login, cast, disputed, assert_accessible):
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    story = disputed()
    eva = User.objects.create_user("eva", password="correct-horse-battery", display_name="Eva")
    Membership.objects.create(project=cast.project, user=eva, role=Role.EXPERT)
    gold = cell(story, 1)
    place = {"proposition": gold.proposition, "dimension": SOURCE, "now": timezone.now()}
    fields = {"reason": "He saw it.", "error_tag": "slip", "guideline_flag": True}
    adjudicate(by=cast.esi, label="Memory", revision=gold.revision, **fields, **place)
    remarks.flag(by=cast.bob, proposition=gold.proposition, kind="split", remark="Two in one.")
    remarks.add_comment(by=cast.bob, thread_of=cast.bob, proposition=gold.proposition, dimension=SOURCE, text="Hm.")
    Assignment.objects.filter(annotator=cast.bob).update(released_at=timezone.now())
    login(page, cast.esi)
    for address in ("", "?status=all&pair=Memory|Inference", "majorities/", "flags/", "guideline-cases/"):
        page.goto(f"/p/minds/adjudication/{address}")
        assert_accessible(page)
    page.goto(f"/p/minds/adjudication/cell/{gold.proposition.uid}/{SOURCE}/history/")
    assert_accessible(page)
    open_story(page, story)
    assert_accessible(page)
    press(page, "k", "h")
    page.wait_for_selector("#panel .history")
    assert_accessible(page)
    story.category.name = "Faux-pas Recognition Test, second part"
    story.category.save()
    login(page, eva)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/p/minds/adjudication/")
    assert "decides here" in page.locator(".group-head .badge").inner_text()
    assert page.locator(".group-head").evaluate("head => head.scrollWidth <= head.clientWidth"), "Open is out of sight"
    login(page, cast.bob)
    page.goto("/p/minds/overruled/")
    assert "He saw it." in page.content()
    assert_accessible(page)
