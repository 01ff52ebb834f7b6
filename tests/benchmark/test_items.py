"""From a run down to a raw answer: the table of places, and the page of one with both parses beside gold."""

import json
from functools import partial

import pytest

from annotation.models import User
from benchmark.models import Audience, Dataset, ResultsVisibility, Run, RunItem
from benchmark.services import items as service
from benchmark.services.item_detail import SHOWN_CHARACTERS
from benchmark.services.items import ChosenItems, rows_of_items
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off, written
from tests.cast import Cast, new_cast, new_story
from tests.copies import copied
from workers.models import Endpoint, Item, ItemState
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)
LABELS = "Order | Truth-Status | Knowledge-Access | Representation | Content Type | Mental-Source | Context"
HEADER = f"Actor | Belief | {LABELS}"
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)"> المفتاح | {{ 7|add:7 }} | </pre></textarea>'
HARMFUL = ("<script>alert", "<img src=x", "<svg onload", "<b>world", "</textarea>")


@pytest.fixture
def finished(db) -> tuple[Cast, Dataset, dict[str, Endpoint], Run]:
    """A run of three baselines over four stories, made once."""
    return copied("items", _finished)


def _finished() -> tuple:
    cast, models = new_cast(), baselines()
    gold = published(cast, partial(new_story, cast))
    chosen = [models[name] for name in ("omniscient", "majority", "random")]
    run = work_off(started(cast, gold, chosen, ("extract", "judge", "label"), judge=models["lexical-judge"]))
    return cast, gold, models, run


@pytest.fixture
def cast(finished) -> Cast:
    return finished[0]


@pytest.fixture
def gold(finished) -> Dataset:
    return finished[1]


@pytest.fixture
def models(finished) -> dict[str, Endpoint]:
    return finished[2]


@pytest.fixture
def run(finished) -> Run:
    return finished[3]


@pytest.fixture
def answering(cast, gold):
    """`answering(text, step)`: a run in which a model answers all with a text, and its place of the first story."""

    def make(text: str, step: str, **plan) -> tuple[Run, RunItem]:
        FUNCTIONS["answers as told"] = lambda body: text  # options are JSON, which PostgreSQL keeps without NUL
        model = make_endpoint(f"model {Run.objects.count()}", options={"function": "answers as told"})
        run = work_off(started(cast, gold, [model], ["extract", "judge"] if step == "judge" else [step], **plan))
        return run, first(run, step)

    return make


def first(run: Run, step: str) -> RunItem:
    return RunItem.objects.filter(entrant__run=run, step=step).order_by("sample__position").first()


def at(run, tail="") -> str:
    return f"/p/minds/runs/{run.uid}/items/{tail}"


def page(client, run: Run, tail="") -> str:
    response = client.get(at(run, tail))
    assert response.status_code == 200, response.content[:300]
    return written(response)


def detail(client, run: Run, place: RunItem) -> dict:
    return client.get(at(run, f"{place.pk}/")).context["detail"]


# --- the table


def counts(client, run: Run, queries, before="?") -> dict[str, int]:
    return {query: client.get(at(run, before + query)).context["page"].paginator.count for query in queries}


def test_filters_narrow_sort_and_pass_over_nonsense(alice, run):
    found = {
        "": 16,  # four stories: extracted, judged, labelled twice
        "step=judge": 4,
        "step=label": 8,
        "state=done": 16,
        "state=failed": 0,
        "category=Hinting Task Test": 8,
        "step=label&category=Hinting Task Test": 4,
        "step=nonsense": 16,
        "model=0": 16,
        "page=99": 16,
    }
    assert counts(alice, run, found) == found
    rows = alice.get(at(run, f"?model={run.entrants.get(name='random').pk}")).context["rows"]
    assert {row["item"].entrant.name for row in rows} == {"random"}
    for sort, column in {"score": "score", "repaired": "repaired_score"}.items():
        for sign in ("", "-"):
            rows = alice.get(at(run, f"?sort={sign}{sort}")).context["rows"]
            scores = [getattr(row["item"], column) for row in rows]
            known = [one for one in scores if one is not None]
            assert len(known) == 12 and scores[12:] == [None] * 4, "places without one come last"
            assert known == sorted(known, reverse=bool(sign)) and known[0] != known[-1]
    # every state has a filter that agrees with its badge
    items = list(Item.objects.filter(job=run.job).order_by("id"))
    for item, state in zip(items, ItemState.values, strict=False):
        Item.objects.filter(pk=item.pk).update(state=state)
    for state in service.STATES:
        of_state = service.with_row_fields(service.items_of(run, ChosenItems(state=state)))
        assert of_state and {service.state_of(one) for one in of_state} == {state}


def test_rows_narrow_to_the_items_that_hold_them(alice, run, django_assert_max_num_queries):
    """Two propositions a story, all labelled alike: order 1, True, Neutral; one is held by the world."""
    majority = run.entrants.get(name="majority").pk
    before = f"?model={majority}&"
    found = {
        "step=label&dimension=truth_status": 4,
        "step=label&dimension=truth_status&gold=True": 4,
        "step=label&dimension=truth_status&gold=False": 0,
        "step=label&dimension=truth_status&said=illegal": 0,
        "step=label&order=1": 4,
        "step=label&order=0": 0,
        "step=label&role=world": 4,
        "match_count=4%2B": 0,
        "step=label&dimension=nonsense": 4,
        "step=label&dimension=context&gold=True": 4,
        "parse=official&order=1": 4,
    }
    assert counts(alice, run, found, before) == found
    told = page(alice, run, f"{before}step=label&dimension=truth_status")
    assert ">Right</th>" in told and told.count("2 of 2") == 4  # the majority label is everybody's
    assert "1 of 2" in page(alice, run, f"{before}step=label&role=world")
    assert "Choose a model" in page(alice, run, "?order=1") and counts(alice, run, ["order=1"]) == {"order=1": 16}
    with django_assert_max_num_queries(20):
        alice.get(at(run, f"{before}step=label&dimension=truth_status&gold=True&said=True"))
    # stories of open work are passed over before the suite counts a row
    chosen = ChosenItems(model=majority, rows={"order": "1"})
    every = rows_of_items(run, chosen)
    closed = set(RunItem.objects.filter(pk__in=every).values_list("sample__number", flat=True)[:1])
    left = rows_of_items(run, chosen, closed)
    assert len(every) == 4 and len(left) == 3 and left.items() < every.items()
    assert not RunItem.objects.filter(pk__in=left, sample__number__in=closed).exists()


# --- one place


def test_labels_are_marked_where_they_differ_from_gold(alice, answering):
    """Of two propositions of seven cells: one with a wrong truth status and context, one that is not answered."""
    row = "world | The key is in the drawer | 1 | False | Private | Implicit | Location | Inference | Sarcastic"
    run, place = answering(f"{HEADER}\n{row}", "label")
    shown = detail(alice, run, place)
    held, other = shown["rows"]
    assert [cell["right"] for cell in held["cells"]] == [True, False, True, True, True, True, False]
    assert held["cells"][1]["predicted"] == "False" and held["cells"][1]["gold"] == "True"
    assert not other["answered"] and not any(cell["right"] for cell in other["cells"])
    assert shown["right"] == [1, 0, 1, 1, 1, 1, 0]
    told = page(alice, run, f"{place.pk}/")
    assert told.count("cell-wrong") == 2 + 7 and "not answered" in told and "gold: True" in told
    # the official parser takes `True (inferred)` as it stands and counts it wrong, a person reads True
    row = "world | The key is in the drawer | 1 | True (inferred) | Private | Implicit | Location | Inference | Neutral"
    run, place = answering(f"{HEADER}\n{row}", "label", seed=2)
    assert "officially: True (inferred)" in page(alice, run, f"{place.pk}/") and place.score < place.repaired_score
    run, place = answering("I cannot help with that.", "label", seed=3)
    told = page(alice, run, f"{place.pk}/")
    for said in ("counts it as missing", "all labels are missing", "I cannot help", "Unreadable: no readable row"):
        assert said in told, said
    for absent in ("cell-wrong", "no label", "Right, of", "call in the ledger"):
        assert absent not in told, absent
    # prompt and answer are those of the call, which who may see the ledger finds there
    assert place.sample.text in told and place.call.request["messages"][0]["content"].splitlines()[0] in told
    User.objects.filter(username="alice").update(is_superuser=True)
    assert f"/models/ledger/{place.call.uid}/" in page(alice, run, f"{place.pk}/")


def test_an_extraction_shows_each_reading_only_where_they_differ(alice, answering):
    same = "Actor | Belief | Order\n--- | --- | ---\nworld | The key is in the drawer | 0\nInes | All is well | 1"
    [table] = detail(alice, *answering(same, "extract"))["tables"]
    assert [row["in_gold"] for row in table["rows"]] == [True, False] and table["name"] == "Both parses"
    # prose beside a table is a row to the official parser alone
    text = "I list actor | belief | order below.\n\nActor | Belief | Order\nworld | The key is in the drawer | 0"
    official, mended = detail(alice, *answering(text, "extract", seed=2))["tables"]
    assert (official["name"], mended["name"]) == ("Official parse", "Repaired parse")
    assert official["count"] > mended["count"] == 1


def test_a_judgement_shows_counts_on_both_sides_or_the_rows_that_match(alice, cast, gold, models, run):
    place = first(run, "judge")
    shown = detail(alice, run, place)
    [predicted] = shown["predicted"]
    assert [row["repaired"] for row in predicted["rows"]] == place.repaired["pred"]
    assert [row["official"] for row in predicted["rows"]] == place.official["pred"]
    assert [row["repaired"] for row in shown["gold"]] == place.repaired["gold"]
    # omniscient copies each sentence; "Tomas moves it to the drawer" is no gold row, so something stays unmatched
    assert "row-unmatched" in page(alice, run, f"{place.pk}/")
    plan = {"judge": models["lexical-judge"], "answer_format": "structured"}
    structured = work_off(started(cast, gold, [models["omniscient"]], ["extract", "judge"], **plan))
    place = first(structured, "judge")
    shown, said = detail(alice, structured, place), json.loads(place.call.answer)
    assert [row["matches"] for row in shown["gold"]] == [", ".join(map(str, one["matches"])) for one in said["gold"]]
    assert place.official is None and not shown["official"]


def test_neighbours_and_other_steps_are_a_step_away_and_places_of_another_run_are_not_there(alice, cast, gold, run):
    places = list(RunItem.objects.filter(entrant__name="majority").order_by("sample__position"))
    one, other = (alice.get(at(run, f"{place.pk}/")).context for place in places[:2])
    assert one["before"] is None and one["after"].pk == places[1].pk and other["before"].pk == places[0].pk
    assert [of.entrant.name for of in one["others"]["models"]] == ["random"]
    steps = alice.get(at(run, f"{first(run, 'judge').pk}/")).context["others"]["steps"]
    assert [(step.label, of.step) for step, of in steps] == [("Extraction", "extract"), ("Judging", "judge")]
    # one that waits or failed says so
    broken = started(cast, gold, [make_endpoint("broken", options={"script": [{"fail": "rejected"}]})])
    place = first(broken, "label")
    assert "It has not been asked yet." in page(alice, broken, f"{place.pk}/")
    for address in (at(broken, f"{place.pk}/answer/"), at(run, f"{place.pk}/"), at(run, f"{place.pk}/answer/")):
        assert alice.get(address).status_code == 404
    work_off(broken)
    told = page(alice, broken, f"{place.pk}/")
    assert ">failed<" in told and "callout-warning" in told and ">failed<" in page(alice, broken, "?state=failed")


def test_nobody_sees_gold_beside_a_story_that_they_still_label(client, cast, run, assign):
    ResultsVisibility.objects.create(project=cast.project, audience=Audience.EVERYONE)
    place = first(run, "label")
    client.force_login(cast.bob)
    assert client.get(at(run, f"{place.pk}/")).status_code == 200
    assign(place.sample.story)
    for tail in ("", "answer/"):
        assert client.get(at(run, f"{place.pk}/{tail}")).status_code == 403


# --- hostile answers


def test_hostile_answers_are_shown_as_text(alice, answering, models):
    markup = "<b>world</b> | <i>x</i> | 0 | a | b | c | d | e | f\nworld | <svg onload=alert(3)> | 0\x00"
    for seed, step in enumerate(("extract", "label", "judge")):
        judge = models["lexical-judge"] if step == "judge" else None
        run, place = answering(f"{HEADER}\n{HOSTILE}\n{markup}", step, judge=judge, seed=seed)
        told = page(alice, run, f"{place.pk}/") + page(alice, run)
        assert [harmful for harmful in HARMFUL if harmful in told] == []
        assert '<pre class="answer" dir="auto"' in told
        response = alice.get(at(run, f"{place.pk}/answer/"))
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        assert response["Content-Disposition"].startswith("attachment;")
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response.content.decode() == place.call.answer


def test_a_very_long_answer_is_shortened_on_the_page_and_whole_as_a_file(alice, answering):
    text = "Actor | Belief | Order\n" + "world | the key is in the drawer | 0\n" * 30_000
    run, place = answering(text, "extract", limit=1)
    response = alice.get(at(run, f"{place.pk}/"))
    left = len(text) - SHOWN_CHARACTERS
    assert len(text) > 1_000_000 and len(response.content) < 400_000
    assert f"{left:,} of {len(text):,} characters are left out here" in response.content.decode()
    assert "29,700 more rows are left out." in response.content.decode()
    assert alice.get(at(run, f"{place.pk}/answer/")).content.decode() == place.call.answer == text
