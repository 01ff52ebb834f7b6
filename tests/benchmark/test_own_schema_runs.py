"""Gold of an eight-dimension schema is asked about, read, counted, compared and shown by its own dimensions, with no
official figure."""

import io
import json
from dataclasses import replace
from functools import partial

import pytest
from django.core.management import call_command

from annotation.domain.schema_files import schema_of_document
from annotation.models import Project
from annotation.services.corpus_import import import_corpus
from annotation.services.schemas import take_schema
from benchmark.models import Run, RunItem
from benchmark.services.datasets import publish_version
from benchmark.services.documents import document_of, tables_of
from benchmark.services.plan_checks import check
from benchmark.services.plans import RunRefused
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import report_of, scores_of
from benchmark.suites import registry
from benchmark.suites.omnitom.data import GoldRow
from benchmark.suites.omnitom.labels import SCHEMA, scheme_of
from benchmark.suites.omnitom.parsing.answers import parse_labels
from benchmark.suites.omnitom.parsing.values import repaired
from tests.benchmark.planning import planned
from tests.benchmark.settled import baselines, make_endpoint, started, work_off, written
from tests.cast import Cast, new_cast
from tests.copies import copied
from tests.own_schema import LABELS, document

pytestmark = pytest.mark.django_db(transaction=True)
SUITE, FIRST, SECOND = "omnitom__eight__1", "stage1__eight__1", "stage2__eight__1"
ROWS = (("world", "The key is in the drawer"), ("Ines", "The key is in the bag"))
STORIES = 6
NAMES = ("Truth status", "Order", "Certainty", "Valence", "Speaker", "Tense", "Social norm", "Emotion")


def labels_of(story: int, row: int) -> dict[str, str]:
    return {key: values[(story + row) % len(values)] for key, values in LABELS.items()}


CELLS = [("Actor", "Belief", *NAMES), *((*row, *labels_of(1, at).values()) for at, row in enumerate(ROWS))]
ANSWER = "\n".join(map(" | ".join, CELLS)).replace("Feeling 1", "**feeling 1** (mild)")
"""Every story's rows with the labels of the first story, one of them decorated."""


@pytest.fixture
def cast() -> Cast:
    return copied("own schema run", _made)


@pytest.fixture
def run(cast) -> Run:
    return Run.objects.originals().select_related("job", "dataset", "project").get()


def _made() -> Cast:
    """A finished run of baselines and a scripted model over six stories, under a control too."""
    cast = new_cast()
    schema = schema_of_document(document(), "eight.json")
    take_schema(by=cast.alice, schema=schema, file="eight.json")
    records = [
        {
            "story_id": number,
            "story_category": ("False Belief Task", "Hinting Task Test")[number % 2],
            "story": f"Story {number}. Ines puts the key in the bag.",
            "beliefs": [
                {"actor": actor, "belief": belief, "labels": labels_of(number, at)}
                for at, (actor, belief) in enumerate(ROWS)
            ],
        }
        for number in range(1, STORIES + 1)
    ]
    raw = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    source = ("stories.jsonl", partial(io.BytesIO, raw))
    import_corpus(by=cast.alice, project_slug="own", format="omnitom", sources=[source], schema=schema)
    cast.project = Project.objects.get(slug="own")
    dataset, _ = publish_version(by=cast.alice, project=cast.project)
    held = baselines() | {"reader": make_endpoint("reader", options={"default": ANSWER})}
    models = [held[name] for name in ("majority", "random", "omniscient", "reader")]
    plan = {"steps": ["extract", "judge", "label"], "judge": held["lexical-judge"], "controls": ["distracted"]}
    made = started(cast, dataset, models, **plan)
    for one in Run.objects.order_by("pk"):
        work_off(one)
    report_of(made)
    return cast


def test_the_suite_is_that_of_the_schema(run):
    assert run.suite == SUITE and registry.keys_of(SUITE) == [FIRST, SECOND]
    group = registry.group_named(SECOND)
    assert group.shares == ("overall_accuracy", *(f"acc_{key}" for key in LABELS))
    assert registry.group_suite(SECOND) == SUITE and SUITE not in registry.suites()
    assert registry.suite_named(SUITE).gold.people == SECOND, "people stand beside models"
    assert registry.ordered_keys([SECOND, "tombench", FIRST]) == [FIRST, SECOND, "tombench"]
    assert registry.suite_for("omnitom", SCHEMA) is registry.suite_named("omnitom")
    for unknown in ("omnitom__nine__1", "tombench__eight__1", "omnitom__omnitom__1", "a__b__c"):
        assert not registry.is_suite(unknown)


@pytest.mark.failing_suite
def test_what_cannot_ask_for_its_labels_is_refused(run, tmp_path, monkeypatch):
    def asked(**fields):
        with pytest.raises(RunRefused) as caught:
            check(planned(run.dataset, [run.entrants.get(name="reader").endpoint], ["label"], **fields))
        return str(caught.value), caught.value.field

    (tmp_path / "label-level3.txt").write_text("Label on seven dimensions.\n\n{story}\n\n{belief_table}\n\n{format}")
    (tmp_path / "label-format-text.txt").write_text("One table: {columns}")
    call_command("load_prompt_set", "ours", project="own", folder=tmp_path, stdout=io.StringIO())
    for name, sentence in (
        ("omnitom-1", "There is no prompt set 'omnitom-1'; there are omnitom-any-1, ours."),
        ("ours", "ours has no place for {labels} or {definitions} in label-level3, so that it cannot name the labels"),
    ):
        told, field = asked(prompt_set=name)
        assert told.startswith(sentence) and field == "prompt_set"

    def fails(schema):
        raise KeyError("unforeseen")

    suite = registry.suite_named("omnitom")
    broken = registry.guarded(replace(suite, gold=replace(suite.gold, labelled_by=fails)))
    monkeypatch.setitem(registry._suites, "omnitom", broken)
    assert "is labelled by eight:1; expected gold labelled by omnitom:1" in asked()[0]


def test_models_are_asked_read_and_scored_by_its_labels_without_official_figures(run):
    """Of the reader, story 1 has all labels right, story 4 those whose number of labels divides three: 4 of 8."""
    items = RunItem.objects.filter(entrant__run=run, entrant__name="reader", step="label").select_related("call")
    items = {item.sample.number: item for item in items}
    text = json.dumps(items[1].call.body)
    assert f"Actor | Belief | {' | '.join(NAMES)}" in text and "Social norm: Kept, Broken, None" in text
    assert "seven" not in text and "Mental-Source" not in text and run.prompt_set == "omnitom-any-1"
    assert (items[1].repaired_score, items[4].repaired_score) == (1.0, 4 / 8)
    assert {item.official for item in items.values()} == {None} == {item.score for item in items.values()}
    assert items[1].repaired["predicted"][0] == list(labels_of(1, 0).values())
    scores = scores_of(run)
    overall = scores["reader"]["repaired"][SECOND]["overall"]
    # truth_status has two labels: right in stories 1, 3 and 5; certainty three: in stories 1 and 4; emotion ten: in
    # story 1
    expected = {"acc_truth_status": 3 / 6, "acc_certainty": 2 / 6, "acc_emotion": 1 / 6}
    assert {name: overall[name] for name in expected} == pytest.approx(expected)
    sentence = "Gold labelled by eight:1 has no official parse: the released code knows OmniToM's own dimensions alone."
    official = scores["reader"]["official"]
    assert official[SECOND] is None and official["reason"][SECOND] == sentence
    extracted = scores["omniscient"]
    assert extracted["official"]["reason"][FIRST] == sentence
    assert extracted["repaired"][FIRST]["overall"]["stories"] == STORIES
    majority = scores["majority"]["repaired"][SECOND]["overall"]
    assert majority["acc_truth_status"] == 0.5 and majority["bounds"]["acc_emotion"][0] >= 1 / 6


def test_structured_answers_too(run, cast):
    rows = [{"id": at, **labels_of(1, at - 1)} for at in (1, 2)]
    model = make_endpoint("structured", options={"default": json.dumps({"rows": rows})})
    made = work_off(started(cast, run.dataset, [model], answer_format="structured"))
    assert scores_of(made)["repaired"][SECOND]["overall"]["acc_truth_status"] == 0.5
    schema = json.loads(RunItem.objects.filter(entrant__run=made).first().call.body)["schema"]
    assert set(schema["properties"]["rows"]["items"]["properties"]) == {"id", *LABELS}


def test_tables_pictures_and_files_are_of_its_dimensions(run, cast, client):
    tables = tables_of(document_of(run))
    place = 1 + [entrant.model for entrant in document_of(run).groups[SECOND]].index("reader")
    confusion = tables[f"confusion-{place}-social-norm-repaired"]()
    assert [row["gold"] for row in confusion.rows] == list(LABELS["social_norm"])
    assert sum(row["total"].value for row in confusion.rows) == 2 * STORIES
    assert {name for name in tables if name.endswith("-official")} <= {"controls-left-official"}
    dimensions = tables["dimensions-repaired"]()
    assert list(dict.fromkeys(row["dimension"] for row in dimensions.rows)) == list(NAMES)
    assert "acc_emotion" in {column.key for column in tables["main-repaired"]().columns}
    client.force_login(cast.alice)
    base = f"/p/own/runs/{run.uid}"
    table = client.get(f"{base}/tables/{SECOND}.csv")
    assert table.status_code == 200 and "social_n" in b"".join(table).decode()
    for name in ("dimensions-repaired", f"confusion-{place}-emotion-repaired", f"labels-{place}-repaired"):
        assert client.get(f"{base}/figures/{name}.svg").status_code == 200, name
    assert client.get(f"{base}/scores.csv").status_code == 200
    assert client.get(f"{base}/output/{run.entrants.get(name='reader').pk}.zip").status_code == 404
    no_folder = "OmniToM, labelled by eight:1 has no official folder."
    assert no_folder in written(client.get(f"{base}/results/"))


def test_rows_of_papers_are_entered_for_its_dimensions_and_stand_in_tables_and_pictures(run, cast, client):
    client.force_login(cast.alice)
    listed = f"/p/{cast.project.slug}/results/entered/"
    assert f"{listed}new/{SUITE}/" in written(client.get(listed))
    score = registry.group_named(SECOND).score
    values = {"name": "Human", "kind": "human", "source": "Ours, table 1", f"figure.{SECOND}.{score}": "77.5"}
    assert client.post(f"{listed}new/{SUITE}/", values).status_code == 302
    document = document_of(run)
    [entered] = tables_of(document)[SECOND]().entered
    assert entered.cells[f"repaired_{score}"] == "0.775"
    picture = plots_of(document)[f"leaderboard-{SECOND}"]
    [reference] = picture.framed().frame.references
    assert (reference.model, reference.values[score]) == ("Human", 0.775)
    assert b"Ours, table 1" in picture.draw(format="svg")


def test_its_pages_and_items_are_of_its_labels(run, cast, client):
    client.force_login(cast.alice)

    def page(path: str, **asked) -> str:
        response = client.get(f"/p/own/{path}", asked)
        assert response.status_code == 200, path
        return written(response)

    own = f"runs/{run.uid}/"
    for path in (
        own, f"{own}results/", f"{own}report/", "results/", "results/across/", "results/differences/",
        "results/structure/", "runs/new/", "datasets/", "runs/", "prompts/", "prompts/omnitom-any-1/",
    ):  # fmt: skip
        assert "Mental-Source" not in page(path), path
    report = page(f"{own}report/")
    assert "Gold labelled by eight:1 has no official parse" in report and "Social norm" in report
    assert "Each proposition has 8 labels of schema eight:1." in report
    assert "table 3" not in report and "Extraction and labelling" in report and "under controls" in report.lower()
    keys = {entrant.name: entrant.pk for entrant in run.entrants.all()}
    a, b = (f"{run.uid}.{keys[name]}" for name in ("reader", "random"))
    for shown in (page("results/"), page("results/compare/", a=a, b=b, group=SECOND)):
        assert "social_n" in shown and "has no official parse" in shown
    chosen = {"model": keys["reader"], "step": "label"}
    found = page(f"{own}items/", **chosen, dimension="emotion")
    assert 'value="emotion" selected' in found and "1 of 2" not in found
    right = page(f"{own}items/", **chosen, dimension="valence", gold="Good", said="Bad")
    assert 'aria-label="Story 3,' in right and 'aria-label="Story 4,' not in right
    item = RunItem.objects.get(entrant=keys["reader"], step="label", sample__number=4)
    shown = page(f"{own}items/{item.pk}/")
    assert "social_n" in shown and "Feeling 4" in shown and "Feeling 1" in shown
    assert "has no official parse" in shown and "it stands below" not in shown


def test_commands_name_it_as_they_name_the_suite(run, cast):
    def told(*command: str) -> dict:
        out = io.StringIO()
        call_command(*command, "--project", "own", "--suite", "omnitom", "--json", stdout=out)
        return json.loads(out.getvalue())

    assert told("leaderboard")["suite"] == SUITE
    scores = told("run_benchmark", "--endpoint", "majority", "--step", "label", "--wait")["scores"]
    assert Run.objects.latest("pk").suite == SUITE
    assert scores["repaired"][SECOND]["overall"]["acc_emotion"] is not None


def test_labels_are_read_as_a_person_reads_them():
    scheme = scheme_of(schema_of_document(document(), "x"))
    for said, label in [
        ("None", "None"), ("none", "None"), ("  KEPT. ", "Kept"), ("Social norm: broken", "Broken"),
        ("kept (mostly)", "Kept"), ("", ""), ("n/a", ""), ("Kept or Broken", "Kept or Broken"), ("Neutral", "Neutral"),
    ]:  # fmt: skip
        assert repaired("social_norm", said, scheme) == label
    # halves and other scripts
    kinds = {"value": "Desire/Intention", "digit": 0, "meaning": "a"}, {"value": "知觉", "digit": 1, "meaning": "b"}
    dimension = {"key": "kind", "name": "种类", "short": "K", "question": "?", "labels": list(kinds)}
    scheme = scheme_of(schema_of_document(document(name="own", dimensions=[dimension], checks=[]), "x"))
    assert scheme.names == {"kind": "kind"} and not scheme.ordered
    halves = [repaired("kind", said, scheme) for said in ("intention", "desire and intention", "“知觉”")]
    assert halves == ["Desire/Intention", "Desire/Intention", "知觉"]
    gold = [GoldRow(actor, belief, ("",), "", (actor, belief)) for actor, belief in ROWS]
    text = "Actor | Belief | Kind\nworld | The key is in the drawer | 知觉\nInes | The key is in the bag | Desire"
    assert parse_labels(text, gold, scheme=scheme) == [("知觉",), ("Desire/Intention",)]
