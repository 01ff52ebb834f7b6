"""From a run down to a raw answer: the table of places, and the page of one with both parses beside gold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

import pytest

from benchmark.models import Audience, Dataset, ResultsVisibility, Run, RunItem
from benchmark.services import items as service
from benchmark.services.item_detail import SHOWN_CHARACTERS
from benchmark.services.items import ChosenItems, rows_of_items
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off, written
from tests.cast import Cast, new_cast, new_story
from tests.copies import copied
from workers.models import Call, Endpoint
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)
ALL = ("extract", "judge", "label")
HEADER = (
    "Actor | Belief | Order | Truth-Status | Knowledge-Access | Representation | Content Type | Mental-Source | Context"
)


@pytest.fixture
def alice(cast, client):
    client.force_login(cast.alice)
    return client


@dataclass
class Finished:
    cast: Cast
    gold: Dataset
    models: dict[str, Endpoint]
    run: Run


@pytest.fixture
def finished(db) -> Finished:
    """A run of three baselines over four stories, made once."""
    return copied("items", _finished)


def _finished() -> Finished:
    cast, models = new_cast(), baselines()
    gold = published(cast, partial(new_story, cast))
    chosen = [models[name] for name in ("omniscient", "majority", "random")]
    run = work_off(started(cast, gold, chosen, ALL, judge=models["lexical-judge"]))
    return Finished(cast, gold, models, run)


@pytest.fixture
def cast(finished) -> Cast:
    return finished.cast


@pytest.fixture
def models(finished) -> dict[str, Endpoint]:
    return finished.models


@pytest.fixture
def gold(finished) -> Dataset:
    return finished.gold


@pytest.fixture
def run(finished) -> Run:
    return finished.run


def answering(cast, gold, text: str, step: str, **plan):
    """A run in which a model answers everything with `text`; its place of the first story."""
    FUNCTIONS["answers as told"] = lambda body: text  # options are JSON, which PostgreSQL keeps without NUL
    model = make_endpoint("model", options={"function": "answers as told"})
    run = work_off(started(cast, gold, [model], ["extract", "judge"] if step == "judge" else [step], **plan))
    return run, RunItem.objects.filter(entrant__run=run, step=step).order_by("sample__position").first()


def page(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response.content[:300]
    return written(response)


def at(run, tail="") -> str:
    return f"/p/minds/runs/{run.uid}/items/{tail}"


# --- the table


def count_of(client, run, query: str) -> int:
    return client.get(at(run, query)).context["page"].paginator.count


def test_filters_narrow_and_nonsense_is_passed_over(alice, run):
    counts = {
        "": 16,  # four stories: extracted, judged, labelled twice
        "?step=judge": 4,
        "?step=label": 8,
        "?state=done": 16,
        "?state=failed": 0,
        "?category=Hinting Task Test": 8,
        "?step=label&category=Hinting Task Test": 4,
        "?step=nonsense": 16,
        "?model=0": 16,
        "?page=99": 16,
    }
    assert {query: count_of(alice, run, query) for query in counts} == counts


def test_a_model_is_chosen_by_its_row(alice, run):
    entrant = run.entrants.get(name="random")
    response = alice.get(at(run, f"?model={entrant.pk}"))
    assert {row["item"].entrant.name for row in response.context["rows"]} == {"random"}


def test_scores_sort_both_ways_and_places_without_one_come_last(alice, run):
    for sort, column in {"score": "score", "repaired": "repaired_score"}.items():
        for sign in ("", "-"):
            rows = alice.get(at(run, f"?sort={sign}{sort}")).context["rows"]
            found = [getattr(row["item"], column) for row in rows]
            known = [one for one in found if one is not None]
            assert len(known) == 12 and found[12:] == [None] * 4
            assert known == sorted(known, reverse=bool(sign)) and known[0] != known[-1]


def test_every_state_has_a_filter_that_agrees_with_its_badge(run):
    from workers.models import Item, ItemState

    items = list(Item.objects.filter(job=run.job).order_by("id"))
    for item, state in zip(items, ItemState.values, strict=False):
        Item.objects.filter(pk=item.pk).update(state=state)
    for state in service.STATES:
        found = service.with_row_fields(service.items_of(run, ChosenItems(state=state)))
        assert found and {service.state_of(one) for one in found} == {state}


def test_rows_narrow_to_the_items_that_hold_them(alice, run):
    """Two propositions a story, all labelled alike: order 1, True, Neutral; one is held by the world."""
    entrant = run.entrants.get(name="majority")
    counts = {
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
    assert {query: count_of(alice, run, f"?model={entrant.pk}&{query}") for query in counts} == counts


def test_no_filter_looks_into_a_story_that_waits_for_its_reader(run):
    """Every filter that is given, on every step, passes over the stories of open work before the suite counts a row."""
    chosen = ChosenItems(model=run.entrants.get(name="majority").pk, rows={"order": "1"})
    every = rows_of_items(run, chosen)
    closed = set(RunItem.objects.filter(pk__in=every).values_list("sample__number", flat=True)[:1])
    left = rows_of_items(run, chosen, closed)
    assert len(every) == 4 and len(left) == 3 and left.items() < every.items()
    assert not RunItem.objects.filter(pk__in=left, sample__number__in=closed).exists()


def test_how_many_rows_are_meant_is_said(alice, run):
    entrant = run.entrants.get(name="majority")
    query = f"?model={entrant.pk}&step=label"
    told = page(alice, at(run, f"{query}&dimension=truth_status"))
    assert ">Right</th>" in told and told.count("2 of 2") == 4  # the majority label is everybody's
    assert "1 of 2" in page(alice, at(run, f"{query}&role=world"))


def test_rows_need_a_model(alice, run):
    response = alice.get(at(run, "?order=1"))
    assert "Choose a model" in response.content.decode() and response.context["page"].paginator.count == 16


def test_filters_by_rows_take_few_questions(alice, run, django_assert_max_num_queries):
    entrant = run.entrants.get(name="majority")
    with django_assert_max_num_queries(20):
        alice.get(at(run, f"?model={entrant.pk}&step=label&dimension=truth_status&gold=True&said=True"))


# --- one place


def test_labels_are_marked_where_they_differ_from_gold(alice, cast, gold):
    """Of two propositions of seven cells: one with a wrong truth status and context, one that is not answered."""
    row = "world | The key is in the drawer | 1 | False | Private | Implicit | Location | Inference | Sarcastic"
    run, place = answering(cast, gold, f"{HEADER}\n{row}", "label")
    shown = alice.get(at(run, f"{place.pk}/")).context["detail"]
    first, second = shown["rows"]
    assert [cell["right"] for cell in first["cells"]] == [True, False, True, True, True, True, False]
    assert first["cells"][1]["predicted"] == "False" and first["cells"][1]["gold"] == "True"
    assert not second["answered"] and not any(cell["right"] for cell in second["cells"])
    assert shown["right"] == [1, 0, 1, 1, 1, 1, 0]
    told = page(alice, at(run, f"{place.pk}/"))
    assert told.count("cell-wrong") == 2 + 7 and "not answered" in told and "gold: True" in told


def test_labels_of_an_unreadable_answer_are_missing_and_not_wrong(alice, cast, gold):
    run, place = answering(cast, gold, "I cannot help with that.", "label")
    told = page(alice, at(run, f"{place.pk}/"))
    assert "counts it as missing" in told and "all labels are missing" in told
    assert "cell-wrong" not in told and "no label" not in told and "Right, of" not in told


def test_where_the_readings_differ_both_are_shown(alice, cast, gold):
    """The official parser takes `True (inferred)` as it stands and counts it wrong, a person reads True."""
    row = "world | The key is in the drawer | 1 | True (inferred) | Private | Implicit | Location | Inference | Neutral"
    run, place = answering(cast, gold, f"{HEADER}\n{row}", "label")
    told = page(alice, at(run, f"{place.pk}/"))
    assert "officially: True (inferred)" in told
    assert place.score < place.repaired_score


def test_an_extraction_shows_each_reading_only_where_they_differ(alice, cast, gold):
    same = "Actor | Belief | Order\n--- | --- | ---\nworld | The key is in the drawer | 0\nInes | All is well | 1"
    run, place = answering(cast, gold, same, "extract")
    (table,) = alice.get(at(run, f"{place.pk}/")).context["detail"]["tables"]
    assert [row["in_gold"] for row in table["rows"]] == [True, False]
    assert table["name"] == "Both parses"


def test_prose_beside_a_table_is_a_row_to_the_official_parser_alone(alice, cast, gold):
    text = "I list actor | belief | order below.\n\nActor | Belief | Order\nworld | The key is in the drawer | 0"
    run, place = answering(cast, gold, text, "extract")
    official, mended = alice.get(at(run, f"{place.pk}/")).context["detail"]["tables"]
    assert (official["name"], mended["name"]) == ("Official parse", "Repaired parse")
    assert official["count"] > mended["count"] == 1


def test_a_judgement_shows_counts_on_both_sides(alice, run):
    place = RunItem.objects.filter(entrant__run=run, step="judge").order_by("sample__position").first()
    shown = alice.get(at(run, f"{place.pk}/")).context["detail"]
    (predicted,) = shown["predicted"]
    assert [row["repaired"] for row in predicted["rows"]] == place.repaired["pred"]
    assert [row["official"] for row in predicted["rows"]] == place.official["pred"]
    assert [row["repaired"] for row in shown["gold"]] == place.repaired["gold"]
    # omniscient copies each sentence; "Tomas moves it to the drawer" is no gold row, so something stays unmatched
    assert "row-unmatched" in page(alice, at(run, f"{place.pk}/"))


def test_a_structured_judgement_names_the_rows_that_match(alice, cast, gold, models):
    chosen = [models["omniscient"]]
    run = work_off(
        started(cast, gold, chosen, ["extract", "judge"], judge=models["lexical-judge"], answer_format="structured")
    )
    place = RunItem.objects.filter(entrant__run=run, step="judge").first()
    said = json.loads(place.call.answer)
    shown = alice.get(at(run, f"{place.pk}/")).context["detail"]
    told = [row["matches"] for row in shown["gold"]]
    assert told == [", ".join(map(str, one["matches"])) for one in said["gold"]]
    assert place.official is None and not shown["official"]


def test_the_prompt_and_the_answer_are_those_of_the_call(alice, cast, gold):
    run, place = answering(cast, gold, "Nothing to say.", "label")
    told = page(alice, at(run, f"{place.pk}/"))
    assert "Nothing to say." in told and "Unreadable: no readable row" in told
    assert place.sample.text in told and "call in the ledger" not in told
    system = place.call.request["messages"][0]["content"]
    assert system.splitlines()[0] in told
    cast.alice.is_superuser = True
    cast.alice.save()
    assert f"/models/ledger/{place.call.uid}/" in page(alice, at(run, f"{place.pk}/"))


def test_a_place_that_failed_or_waits_says_so(alice, cast, gold):
    model = make_endpoint("broken", options={"script": [{"fail": "rejected"}]})
    run = started(cast, gold, [model])
    place = RunItem.objects.filter(entrant__run=run).first()
    assert "It has not been asked yet." in page(alice, at(run, f"{place.pk}/"))
    assert alice.get(at(run, f"{place.pk}/answer/")).status_code == 404
    work_off(run)
    told = page(alice, at(run, f"{place.pk}/"))
    assert ">failed<" in told and "callout-warning" in told
    assert ">failed<" in page(alice, at(run, "?state=failed"))


def test_neighbours_and_other_steps_are_a_step_away(alice, run):
    places = list(RunItem.objects.filter(entrant__name="majority").order_by("sample__position"))
    first, second = (alice.get(at(run, f"{one.pk}/")).context for one in places[:2])
    assert first["before"] is None and first["after"].pk == places[1].pk and second["before"].pk == places[0].pk
    assert [one.entrant.name for one in first["others"]["models"]] == ["random"]
    judged = RunItem.objects.filter(step="judge").first()
    steps = alice.get(at(run, f"{judged.pk}/")).context["others"]["steps"]
    assert [(step.label, one.step) for step, one in steps] == [("Extraction", "extract"), ("Judging", "judge")]


# --- who may


def test_nobody_sees_gold_beside_a_story_that_they_still_label(client, cast, run, assign):
    ResultsVisibility.objects.create(project=cast.project, audience=Audience.EVERYONE)
    place = RunItem.objects.filter(entrant__run=run, step="label").order_by("sample__position").first()
    client.force_login(cast.bob)
    assert client.get(at(run, f"{place.pk}/")).status_code == 200
    assign(place.sample.story)
    for tail in ("", "answer/"):
        assert client.get(at(run, f"{place.pk}/{tail}")).status_code == 403


def test_a_place_of_another_run_is_not_there(alice, cast, gold, models, run):
    other = started(cast, gold, [models["majority"]])
    place = RunItem.objects.filter(entrant__run=other).first()
    assert alice.get(at(run, f"{place.pk}/")).status_code == 404
    assert alice.get(at(run, f"{place.pk}/answer/")).status_code == 404


# --- hostile answers


HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)"> المفتاح | {{ 7|add:7 }} | </pre></textarea>'


@pytest.mark.parametrize("step", ["extract", "label", "judge"])
def test_hostile_answers_are_shown_as_text(alice, cast, gold, models, step):
    rows = (
        f"{HEADER}\n{HOSTILE}\n<b>world</b> | <i>x</i> | 0 | a | b | c | d | e | f\nworld | <svg "
        f"onload=alert(3)> | 0\x00"
    )
    run, place = answering(cast, gold, rows, step, judge=models["lexical-judge"] if step == "judge" else None)
    told = page(alice, at(run, f"{place.pk}/")) + page(alice, at(run))
    for harmful in ("<script>alert", "<img src=x", "<svg onload", "<b>world", "</textarea>"):
        assert harmful not in told, harmful
    assert '<pre class="answer" dir="auto"' in told
    response = alice.get(at(run, f"{place.pk}/answer/"))
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response.content.decode() == place.call.answer


def test_a_very_long_answer_is_shortened_on_the_page_and_whole_as_a_file(alice, cast, gold):
    text = "Actor | Belief | Order\n" + "world | the key is in the drawer | 0\n" * 30_000
    assert len(text) > 1_000_000
    run, place = answering(cast, gold, text, "extract", limit=1)
    response = alice.get(at(run, f"{place.pk}/"))
    assert len(response.content) < 400_000
    left = len(text) - SHOWN_CHARACTERS
    assert f"{left:,} of {len(text):,} characters are left out here" in response.content.decode()
    assert "29,700 more rows are left out." in response.content.decode()
    assert alice.get(at(run, f"{place.pk}/answer/")).content.decode() == text
    assert Call.objects.get(pk=place.call_id).answer == text
