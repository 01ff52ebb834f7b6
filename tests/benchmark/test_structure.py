"""Structure against answers: what is joined, what a page shows of it, and who may see it."""

from __future__ import annotations

import csv
import io
import json
from threading import Event

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import Assignment, Scope
from annotation.services.accounts import make_token
from benchmark.domain.inference.cases import Case
from benchmark.models import Audience, Run, StoryScores
from benchmark.services.structure import ALL, apart_of, association_of, lowest
from benchmark.services.structure_sides import STORIES, Choice, sides_of
from benchmark.services.structure_tables import cut_text, signed
from benchmark.services.warm import warm
from core import kept as keeper
from tests.benchmark.results_world import HOSTILE, results_world
from tests.benchmark.results_world import STORIES as NINE
from tests.benchmark.structure_world import structure_world
from tests.patience import PATIENCE
from workers.models import Job, JobState

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path):
    return structure_world(tmp_path)


@pytest.fixture
def page(world, client):
    """Opens the page as Alice: `page("cut=40")`."""
    client.force_login(world.alice)
    return lambda query="", place="": client.get(f"{world.base}/results/structure/{place}?{query}")


def choice_of(world, **chosen) -> tuple:
    sides = sides_of(world.dataset.project)
    key = chosen.pop("measure", "stage2.overall_accuracy")
    measure = next(of for of in sides.measures if of.key == key)
    answers = sides.groups("answers")[0]
    models = tuple(sides.models(measure, answers.key))
    return sides, Choice(measure, answers, chosen.pop("models", models), **chosen)


def test_models_of_both_runs_are_joined_over_stories_of_the_same_text(world):
    sides, choice = choice_of(world)
    assert choice.models == tuple(sorted(["majority", "random", HOSTILE], key=str))  # omniscient answered no question
    association = association_of(sides, choice)
    joined = association.frame[association.frame["model"] == "random"]
    assert len(joined) == 2 * NINE and association.left_out == [1, 0, 0]
    # the questions 1 and 2 are about the first story
    assert joined[["story", "question"]][:3].tolist() == [(1, 1), (1, 2), (2, 3)]
    assert association.stories == frozenset(range(1, NINE + 1))
    assert list(association.tables) == [ALL, *choice.models]
    assert {part for part, *_ in association.categories} == {row.category for row in world.dataset.samples.all()}


BOTH = "stage1.f1,stage2.overall_accuracy"


def test_extraction_and_labelling_are_right_together_where_both_are(world):
    scores_are(world, f1=[0.9, 0.9, 0.2, 0.2], accuracy=[0.8, 0.1, 0.8, 0.1])
    sides, choice = choice_of(world, measure=BOTH, cut=0.5)
    assert choice.measure.label == "F1 of extraction and Accuracy of labelling"
    assert sides.measures[-1].key == BOTH, "the single figures come first"
    assert choice.models == (HOSTILE,), "only one model was asked for both and for answers"
    association = association_of(sides, choice)
    assert cut_text(association) == f"{choice.measure.label}, each of at least 50 %"
    seen = dict(association.frame[["story", "structure"]].tolist())
    assert [seen[number] for number in (1, 2, 3, 4)] == [0.8, 0.1, 0.2, 0.1]
    both, structure_alone, *_ = association.tables[HOSTILE].cells
    assert both + structure_alone == 2, "two questions about the only story of which both are right"


def scores_are(world, *, f1: list[float], accuracy: list[float]) -> None:
    """Give the mute model these scores of the first stories, nought of the others, and right and wrong answers in
    turn."""
    answered = StoryScores.objects.get(run=world.answers, entrant__name=HOSTILE)
    columns = answered.metrics["tombench"]["repaired"]
    columns["values"]["accuracy"] = [float(at % 2 == 0) for at in range(len(columns["stories"]))]
    columns["unreadable"] = {}
    answered.save()
    kept = StoryScores.objects.get(run=world.run, entrant__name=HOSTILE)
    for group, share, values in (("stage1", "f1", f1), ("stage2", "overall_accuracy", accuracy)):
        columns = kept.metrics[group]["repaired"]
        columns["values"][share] = [*values, *[0.0] * (len(columns["stories"]) - len(values))]
        columns |= {"unreadable": {}, "unjudged": {}}
    kept.save()


def test_the_page_says_that_it_is_computed_until_a_run_is_finished(world, page, monkeypatch, request):
    for kept in StoryScores.objects.filter(run=world.answers):
        kept.metrics["tombench"]["official"] = None
        kept.save()
    assert "no official figures of multiple choice" in page("parse=official").content.decode()
    monkeypatch.setattr(keeper, "WAIT_SECONDS", 0.01)
    busy = Event()
    request.addfinalizer(busy.set)
    for _ in range(2):  # both of its threads
        keeper._pool.submit(busy.wait, PATIENCE)
    assert "no official figures of multiple choice" in page("parse=official").content.decode(), "it is kept"
    assert "This is being computed" in page().content.decode()
    warm(world.answers)
    assert page().context["chart"] and "This is being computed" in page("cut=51").content.decode()


def test_page_command_and_api_hold_both_against_answers(world, page, capsys):
    scores_are(world, f1=[0.9, 0.9, 0.2, 0.2], accuracy=[0.8, 0.1, 0.8, 0.1])
    text = page(f"measure={BOTH}&cut=50")
    shown = next(tab["key"] for tab in text.context["apart"] if tab["count"])
    text = page(f"measure={BOTH}&cut=50&show={shown}")
    assert "each of at least 50 %" in text.content.decode() and "Both together" in text.content.decode()
    assert text.context["choice"].measure.key == BOTH
    row = next(row for row in text.context["rows"])
    story = page(row["href"].partition("?")[2].replace("&amp;", "&"), f"{row['story']}/").content.decode()
    assert "Stage 1: extraction" in story and "Stage 2: labelling" in story, "both parts stand side by side"
    slug = world.dataset.project.slug
    filters = ("--filter", f"measure={BOTH}", "--filter", "cut=50")
    call_command("results", "structure-two-by-two", "--project", slug, *filters, "--json")
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["model"] == HOSTILE
    client = APIClient()
    _, secret = make_token(by=world.alice, name="tests", scope=Scope.READ, days=None, now=timezone.now())
    client.credentials(HTTP_AUTHORIZATION=f"Token {secret}")
    address, query = f"/api/v1/projects/{slug}/structure/", {"measure": BOTH, "cut": "50"}
    [crossed] = client.get(address, query).json()["models"]
    assert all(crossed[name] == row[name] for name in ("both", "structure", "answer", "neither"))
    assert client.get(address, query | {"cut": "much"}).status_code == 422
    csv_file = client.get(f"{address}tables/two-by-two/", query | {"format": "csv"})
    assert csv_file.status_code == 200 and csv_file.content.count(b"\r\n") == 2


def test_the_lower_of_two_scores_is_missing_where_one_is():
    # 0.8 and 0.4: the lower; one missing: between 0 and the other's best; one undefined: none
    known, low = Case.scored(0.8), Case.scored(0.4)
    assert lowest([known, low]) == (0.4, 0.4, 0.4)
    assert lowest([known, Case(0.0, 1.0, None, True)]) == (None, 0.0, 0.8)
    assert lowest([known, None]) is None


def test_the_table_counts_what_the_reports_have(world):
    sides, choice = choice_of(world, cut=0.5, models=("random",))
    table = association_of(sides, choice).tables["random"]
    right = world.answers.entrants.get(name="random").items.filter(repaired_score=1.0, sample__number__lte=2 * NINE)
    assert table.cells[0] + table.cells[2] == right.count()
    assert sum(table.cells) == 2 * NINE and not table.missing


def test_what_nobody_can_read_is_missing_with_bounds(world):
    sides, choice = choice_of(world, cut=0.5, models=(HOSTILE,))
    table = association_of(sides, choice).tables[HOSTILE]
    assert sum(table.cells) == 0 and table.no_score == table.missing == 2 * NINE
    assert table.bounds == (-1.0, 1.0) and table.difference.value is None


def test_whole_stories_count_once(world):
    sides, choice = choice_of(world, counted=STORIES, models=("random",))
    assert sum(association_of(sides, choice).tables["random"].cells) == NINE


def test_the_stories_that_fall_apart_are_those_of_the_table(world):
    sides, choice = choice_of(world, models=("random",))
    association = association_of(sides, choice)
    cells = association.tables["random"].cells
    assert [len(apart_of(association, right)) for right in ("structure", "answer")] == [cells[1], cells[2]]
    assert sum(cells[1:3]) > 0


def test_the_page_keeps_its_choice_when_the_cut_moves(page):
    text = page("cut=40&measure=stage2.acc_order&model=random&counted=stories").content.decode()
    assert 'value="40"' in text and 'value="stage2.acc_order" selected' in " ".join(text.split())
    assert "of at least 40 %" in text and "1 of 3 models" in text
    assert "cut=40" in text and "model=random" in text  # in the addresses of files and stories
    assert "the median" in page().content.decode()
    wrong = page("cut=much&parse=loud&measure=none").content.decode()
    assert "&#x27;much&#x27; is not a number from 0 to 100" in wrong


def test_a_hostile_name_is_shown_as_a_text(page):
    text = page().content.decode()
    assert "<script>alert(1)" not in text and "Beyond category" in text


def test_a_story_is_read_side_by_side(world, page):
    sides, choice = choice_of(world, models=("random",))
    apart = apart_of(association_of(sides, choice), "structure")[0]
    found = page("model=random&measure=stage2.overall_accuracy&show=structure").content.decode()
    address = f"{world.base}/results/structure/{apart['story']}/?of=random&amp;question={apart['question']}"
    assert address in found
    story = page(f"of=random&question={apart['question']}&measure=stage2.overall_accuracy", f"{apart['story']}/")
    text = story.content.decode()
    sample = world.dataset.samples.get(number=apart["story"])
    for shown in (
        sample.text[:40],
        sample.beliefs[0]["belief"][:20],
        f"first person think? ({apart['question']})",
        "It is there",
    ):
        assert shown in text
    assert page("of=random&question=1", "2/").status_code == 404  # the question is about another story
    assert page("of=nobody&question=1", "1/").status_code == 404


def test_files_have_every_model_and_question(page):
    long = list(
        csv.DictReader(io.StringIO(page("measure=stage2.overall_accuracy", "tables/observations.csv").content.decode()))
    )
    assert len(long) == 3 * 2 * NINE and {row["structure right"] for row in long} == {"yes", "no", "missing"}
    assert len(page("measure=stage2.overall_accuracy", "tables/observations.json").json()["rows"]) == len(long)
    for name in ("two-by-two", "association", "categories", "measures"):
        assert page("", f"tables/{name}.json").status_code == 200
        assert r"\begin{table" in page("", f"tables/{name}.tex").content.decode()
    assert (
        page("", "figures/right-answers.svg").content.startswith(b"<?xml")
        or b"<svg" in page("", "figures/right-answers.svg").content
    )
    assert page("", "tables/none.csv").status_code == 404 and page("", "figures/none.svg").status_code == 404
    assert page("cut=much", "tables/two-by-two.csv").status_code == 302  # to the page, which says why


LABELLING = "measure=stage2.overall_accuracy"


def test_baselines_among_all_models_are_named(world, page):
    told = "Among all models are baselines, which the choice above can leave out: majority, random."
    several, one = (page(query, "tables/association.json").json() for query in (LABELLING, f"{LABELLING}&model=random"))
    assert told in several["notes"] and not any("Among all models" in note for note in one["notes"])


def test_an_archived_run_has_no_part_in_it(world, page):
    assert "majority" in page().content.decode()
    Run.objects.filter(pk=world.answers.pk).update(archived_at=world.answers.created_at)
    text = page().content.decode()
    assert "There is a run of belief tables. Questions is imported as version 2: now run the same models on it" in text


def test_a_run_of_questions_that_is_under_way_is_what_is_waited_for(world, page):
    Job.objects.filter(run=world.answers).update(state=JobState.RUNNING, finished_at=None, outcome="")
    text = page().content.decode()
    assert (
        "There is a run of belief tables. The run “" in text
        and "of questions, is running: its figures count here once it" in text
    )
    assert f'href="/p/{world.dataset.project.slug}/runs/{world.answers.uid}/">Open the run</a>' in text
    assert "import" not in text.split("<main", 1)[1].split("</main", 1)[0].lower()


NEXT = '<a class="button button-primary" href="/p/{slug}/{place}">{words}</a>'


@pytest.mark.parametrize(
    ("archived", "imported", "place", "words"),
    [
        ("answers", False, "datasets/import/tombench/", "Import the questions"),
        ("both", False, "datasets/import/tombench/", "Import the questions"),
        ("answers", True, "runs/new/?dataset=2", "Launch a run"),
        ("both", True, "runs/new/?dataset=2", "Launch a run"),
        ("run", True, "runs/new/?dataset=1", "Launch a run"),
    ],
)
def test_an_empty_page_leads_to_what_comes_next(world, page, archived, imported, place, words):
    gone = {"answers": [world.answers.pk], "run": [world.run.pk], "both": [world.answers.pk, world.run.pk]}[archived]
    Run.objects.filter(pk__in=gone).update(archived_at=timezone.now())
    if not imported:
        Run.objects.filter(dataset=world.questions).delete()
        world.questions.delete()
    slug = world.dataset.project.slug
    assert NEXT.format(slug=slug, place=place, words=words) in " ".join(page().content.decode().split())


def test_only_admins_are_led_to_a_step_that_only_they_may_take(world, client):
    Run.objects.filter(pk=world.answers.pk).update(archived_at=timezone.now())
    world.show_to(Audience.EVERYONE)
    client.force_login(world.esi)
    text = client.get(f"{world.base}/results/structure/").content.decode()
    assert "now run the same models on it" in text and "Launch a run" not in text


def test_bounds_have_no_minus_before_nought():
    assert [signed(100 * value, "") for value in (-0.0, -0.0004, 0.0, -0.5)] == ["0.0", "0.0", "0.0", "−50.0"]
    assert signed(-0.04) == "+0.0"


def test_open_work_on_a_story_makes_all_of_it_wait(world, client):
    world.show_to(Audience.EVERYONE)
    client.force_login(world.bob)
    base = f"{world.base}/results/structure/"
    assert client.get(base).status_code == 200 and "Beyond category" in client.get(base).content.decode()
    story = world.dataset.project.stories.get(number=8)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=world.dataset.project.overlap)
    text = client.get(base).content.decode()
    assert "you still have work to do on 1 of them" in text and "Beyond category" not in text
    files = (
        "tables/observations.csv",
        "tables/two-by-two.json",
        "figures/right-answers.svg",
        "1/?of=random&question=1",
    )
    assert [client.get(base + file).status_code for file in files] == [403] * 4
    _, secret = make_token(by=world.bob, name="tests", scope=Scope.READ, days=None, now=timezone.now())
    api = APIClient(HTTP_AUTHORIZATION=f"Token {secret}")
    address = f"/api/v1/projects/{world.dataset.project.slug}/structure/"
    queries = ("", "?measure=stage2.overall_accuracy", f"?measure={BOTH}&counted=stories&parse=official")
    assert {api.get(address + query).status_code for query in queries} == {403}
    assert api.get(f"{address}tables/observations/?format=csv").status_code == 403


def test_a_project_without_questions_says_what_is_needed(tmp_path, client):
    world = results_world(tmp_path)
    client.force_login(world.alice)
    page = client.get(reverse("benchmark:structure", args=[world.dataset.project.slug]))
    assert (
        page.status_code == 200
        and "Now import a benchmark with questions about the same stories" in page.content.decode()
    )
    assert client.get(f"{world.base}/results/structure/tables/two-by-two.csv").status_code == 302


def test_the_command_prints_and_writes_the_same(world, tmp_path, capsys):
    slug = world.dataset.project.slug
    ask = ["--filter", "model=random", "--filter", "cut=50", "--filter", "measure=stage2.overall_accuracy"]
    call_command("results", "structure-association", "--project", slug, *ask)
    assert "random" in capsys.readouterr().out
    file = tmp_path / "long.csv"
    call_command("results", "structure-observations", "--project", slug, *ask, "--json", "--output", str(file))
    assert len(file.read_text().splitlines()) == 1 + 2 * NINE
    for wrong, sentence in (
        ("measure=stage9", "there is none of that name"),
        ("model=nobody", "there are: "),
        ("cut=much", "is not a number from 0 to 100"),
        ("colour=red", "expected one of measure"),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("results", "structure-association", "--project", slug, "--filter", wrong)
