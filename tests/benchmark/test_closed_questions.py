"""Who still labels or decides a story sees no gold of a benchmark's questions about its very text, at any address.

Bob labels story 8, which the questions 15 and 16 are about; their texts are planted with a word that stands nowhere
else.
"""

from itertools import product

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from benchmark.models import Audience, Dataset, RunItem
from benchmark.services.reports import forget_report
from benchmark.services.snapshots import save_run_snapshot
from benchmark.suites.tombench.suite import GROUP
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from tests.benchmark.evaluation import started, worked_off
from tests.benchmark.settled import written
from tests.benchmark.structure_world import structure_world
from tests.benchmark.test_closed_gold import URLS, plain, text_in

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]

OPEN, QUESTIONS = 8, (15, 16)
PLANTED = "Zanzibar"


@pytest.fixture
def world(tmp_path):
    """`page` is the run of questions."""
    world = structure_world(tmp_path)
    for sample in world.questions.samples.filter(number__in=QUESTIONS):
        sample.content |= {"question": f"Where is {PLANTED}?"}
        sample.gold |= {"cell": f"{sample.gold['cell']} {PLANTED}"}
        sample.save()
    world.show_to(Audience.EVERYONE)
    world.report = save_run_snapshot(by=world.alice, run=world.answers)
    world.page = f"{world.base}/runs/{world.answers.uid}"
    return world


@pytest.fixture
def bob(world, client):
    """Logs Bob in, who labels story 8."""
    story = world.dataset.project.stories.get(number=OPEN)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=world.dataset.project.overlap)
    client.force_login(world.bob)
    return client


def items_of(world, *numbers: int):
    return RunItem.objects.filter(entrant__run=world.answers, sample__number__in=numbers).order_by("pk")


def item(world, number: int) -> str:
    return f"{world.page}/items/{items_of(world, number).first().pk}/"


def addresses(world) -> list[str]:
    """Every address of the run of questions, its snapshot and its dataset, but pictures."""
    run, items = world.answers, list(items_of(world, *QUESTIONS).values_list("pk", flat=True))
    known = {
        "slug": [world.dataset.project.slug], "uid": [run.uid], "run": [run.uid], "report": [world.report.uid],
        "item": items, "pk": items, "entrant": [run.entrants.first().pk], "version": [world.questions.version],
        "number": QUESTIONS, "table": [f"categories-{GROUP.key}", GROUP.key], "data": ["csv"],
    }  # fmt: skip
    saved = {"pk": list(world.report.items.filter(sample__number__in=QUESTIONS).values_list("pk", flat=True))}
    first, second = (f"{run.uid}.{pk}" for pk in run.entrants.values_list("pk", flat=True)[:2])
    queries = {
        "benchmark:compare_story": f"a={first}&b={second}", "benchmark:compare": f"a={first}&b={second}",
        "benchmark:leaderboard": f"version={world.questions.version}",
        "api:run_items": "page_size=500&full=true", "api:run_scores": "page_size=500",
    }  # fmt: skip
    return [
        f"{reverse(name, kwargs=dict(zip(parameters, values, strict=True)))}?{queries.get(name, '')}"
        for name, parameters in URLS
        if name.startswith(("benchmark:", "api:")) and "slug" in parameters and set(parameters) <= known.keys()
        for held in [known | (saved if "snapshot_" in name else {})]
        for values in product(*(held[parameter] for parameter in parameters))
    ]


def of_one_story(world, *numbers: int) -> None:
    """Makes these questions ones about the story of question 15; what is found of a dataset is kept by its digest."""
    cluster = world.questions.samples.get(number=QUESTIONS[0]).cluster
    world.questions.samples.filter(number__in=(*QUESTIONS, *numbers)).update(cluster=cluster)
    Dataset.objects.filter(pk=world.questions.pk).update(digest="-".join(map(str, numbers)).ljust(64, "c"))


def told(client, address: str) -> str:
    response = client.get(address, headers={"Accept": "*/*"} if address.startswith("/api/") else {})
    assert response.status_code < 500, address
    return f"{response.status_code} {plain(text_in(response))}"


def test_no_address_shows_a_question_about_an_open_story(world, client, bob):
    everything = addresses(world)
    assert [address for address in everything if PLANTED in told(bob, address)] == []
    client.force_login(world.alice)
    items = [address for address in everything if address.endswith("/items/?") or "items/?page_size" in address]
    items.append(item(world, QUESTIONS[0]))
    assert len(items) == 5 and sum(PLANTED in told(client, address) for address in items) >= 2


def test_items_of_other_questions_and_figures_over_all_stay_open(world, bob):
    slug, uid = world.dataset.project.slug, world.answers.uid
    for number, status in ((QUESTIONS[0], 403), (1, 200)):
        api = reverse("api:run_item", args=[slug, uid, items_of(world, number).first().pk])
        assert {bob.get(address).status_code for address in (item(world, number), api)} == {status}
    waits = "You still have work to do on the stories of 2 of these questions."
    assert waits in written(bob.get(f"{world.page}/items/"))
    report = bob.get(f"{world.page}/report/")
    assert report.status_code == 200
    assert "withheld: you still have work to do on 2 of these questions" in written(report)
    for table, status in ((GROUP.key, 200), (f"categories-{GROUP.key}", 403)):  # by category they tell gold
        assert bob.get(f"{world.page}/tables/{table}.csv").status_code == status
    # nothing told item by item depends on open gold: the same letters, whatever the gold of the two questions is
    listed = [f"{world.page}/{place}" for place in ("items/?sort=-score", "scores.csv", "flips/")]
    listed += [reverse(f"api:{name}", args=[slug, uid]) + "?page_size=500" for name in ("run_items", "run_scores")]
    before = [told(bob, address) for address in listed]
    items_of(world, *QUESTIONS).update(score=0.5, repaired_score=0.25)
    forget_report(world.answers)
    assert [told(bob, address) for address in listed] == before
    assert all(text.startswith("200") for text in before)
    of_one_story(world, 3)  # the same story in another language waits too
    assert bob.get(item(world, 3)).status_code == 403
    Assignment.objects.all().delete()
    assert bob.get(item(world, QUESTIONS[0])).status_code == 200


def test_a_run_of_one_open_story_has_no_figures_however_many_questions(world, bob):
    """Six questions about the open story are one story, not six."""
    category, more = "Only this one", (5, 6, 7, 8)
    of_one_story(world, *more)
    world.questions.samples.filter(number__in=(*QUESTIONS, *more)).update(category=category)
    chosen = {"steps": ("answer",), "suite": "tombench", "repetitions": 1, "category": category}
    run = worked_off(started(dataset=world.questions, endpoints=[world.models["random"]], **chosen))
    assert RunItem.objects.filter(entrant__run=run).count() == 6
    page = bob.get(f"{world.base}/runs/{run.uid}/report/")
    assert page.status_code == 403 and "These figures rest on 6 questions" in page.content.decode()


def test_a_question_whose_table_somebody_aligns_waits_whoever_has_its_story(world, client):
    """The project has no story of the question's text: the table itself says which sample it is of."""
    sample = world.questions.samples.get(number=1)
    other = world.questions.samples.exclude(cluster=sample.cluster).exclude(number__in=QUESTIONS).first().number
    origin = {"suite": "tombench", "dataset": world.questions.version}
    study = AlignmentStudy.objects.create(project=world.dataset.project, name="Study", origin=origin)
    task = AlignmentTask.objects.create(
        study=study, key="1", source="tiny", cluster=sample.cluster, number=1, text="Another text.", place=1,
        probability=1, predictions=[["world", "It rains."]], gold=[["world", "It pours."]],
    )  # fmt: skip
    alignment = Alignment.objects.create(task=task, annotator=world.bob, slot=1)
    client.force_login(world.bob)
    statuses = {at: client.get(item(world, at)).status_code for at in (1, other)}
    assert statuses == {1: 403, other: 200}
    alignment.hand_in(timezone.now())
    assert client.get(item(world, 1)).status_code == 200
