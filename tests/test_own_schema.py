"""A project with a label schema of its own goes the whole way: from its file to published gold, which runs measure by
that schema."""

import io
import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import models
from django.urls import reverse
from django.utils import timezone

from annotation.domain.archive_format import BadArchive
from annotation.domain.formats import GOLD
from annotation.domain.labelling import labelling_request, prompts_of
from annotation.domain.schema_files import document_of, schema_of_document
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA, SHIPPED
from annotation.domain.tasks import Row
from annotation.models import (
    AppendOnly,
    AuditEvent,
    GoldLabel,
    LabelSchema,
    Membership,
    Method,
    Project,
    Proposition,
    Role,
    SchemaUnknown,
    Story,
    Vote,
    label_schema,
    schema_of,
)
from annotation.services.agreement import agreement_report
from annotation.services.archive_export import export_archive
from annotation.services.archive_import import import_archive
from annotation.services.assignments import assign
from annotation.services.gold_export import export_lines
from benchmark.services.datasets import publish_version
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan
from benchmark.suites.omnitom.suite import unfit
from tests.annotation.test_archive import contents, repacked
from tests.api.conftest import api, token_of  # noqa: F401
from tests.own_schema import LABELS, document, write
from workers.models import Endpoint

pytestmark = pytest.mark.django_db
ROWS = [("world", "The key is in the drawer"), ("Ines", "The key is in the bag")]
FIRST = {key: values[0] for key, values in LABELS.items()}
SECOND = {key: values[1] for key, values in LABELS.items()}


def record(number: int, *labels: dict[str, str] | None) -> dict:
    beliefs = [
        {"actor": actor, "belief": belief} | ({"labels": own} if own else {})
        for (actor, belief), own in zip(ROWS, labels, strict=True)
    ]
    text = f"Story {number}. Ines puts the key in the bag."
    return {"story_id": number, "story_category": "False Belief Task", "story": text, "beliefs": beliefs}


def run(capsys, *args) -> dict:
    capsys.readouterr()
    call_command(*args, "--json")
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def loaded(tmp_path, db) -> None:
    call_command("load_schema", write(tmp_path), stdout=io.StringIO())


@pytest.fixture
def project(loaded, cast, tmp_path) -> Project:
    """Two stories: of the first people give the labels, the second came with them."""
    file = tmp_path / "stories.jsonl"
    records = [record(1, None, None), record(2, FIRST, SECOND)]
    file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    call_command("import_corpus", "omnitom", file, project="own", schema="eight:1", admin="alice", stdout=io.StringIO())
    made = Project.objects.get(slug="own")
    for person in (*cast.annotators, cast.esi):
        role = Role.EXPERT if person == cast.esi else Role.ANNOTATOR
        Membership.objects.create(project=made, user=person, role=role)
    story = Story.objects.get(project=made, number=1)
    assign(by=cast.alice, project=made, assignments=[(story.pk, person.pk) for person in cast.annotators])
    return made


def rows_of(project: Project) -> list[Proposition]:
    return list(Proposition.objects.gold_of(Story.objects.get(project=project, number=1)))


def changes_of(rows: list[Proposition], who: str, labels: dict[str, str]) -> list[dict]:
    said = {"changed_at": (timezone.now() - timedelta(minutes=1)).isoformat()}
    return [
        said | {"proposition": row.uid, "dimension": key, "label": label, "idempotency_key": f"{who}{at}{key}"}
        for at, row in enumerate(rows)
        for key, label in labels.items()
    ]


def save_on_page(client, person, project: Project, changes: list[dict]):
    client.force_login(person)
    story = Story.objects.get(project=project, number=1)
    address = reverse("annotation:save_votes", args=[project.slug, story.uid])
    return client.post(address, json.dumps({"changes": changes}), content_type="application/json")


@pytest.fixture
def voted(project, client, api, cast, tmp_path) -> Project:  # noqa: F811
    """Bob votes on the page, Bea by the API, Ben by a file; they differ on valence in three ways and on tense in
    two."""
    rows = rows_of(project)
    votes = [FIRST, FIRST | {"valence": "Bad"}, FIRST | {"valence": "Neither", "tense": "Future"}]
    assert save_on_page(client, cast.bob, project, changes_of(rows, "bob", votes[0])).status_code == 200
    address = reverse("api:votes", args=["own", rows[0].table.story.uid])
    answer = api(cast.bea).post(address, {"changes": changes_of(rows, "bea", votes[1])}, format="json")
    assert answer.status_code == 200, answer.content
    lines = [f"1,{row.actor},{row.belief},{key},ben,{label}\n" for row in rows for key, label in votes[2].items()]
    file = tmp_path / "votes.csv"
    file.write_text("story_id,actor,belief,dimension,annotator,label\n" + "".join(lines), encoding="utf-8")
    call_command("import_votes", file, project="own", stdout=io.StringIO())
    return project


@pytest.fixture
def settled(voted, client, cast, api) -> Project:  # noqa: F811
    """Esi decides what is open, on the page and by the API."""
    first, second = GoldLabel.objects.open().order_by("proposition__position")
    client.force_login(cast.esi)
    page = reverse("annotation:decide", args=["own", first.proposition.uid, "valence"])
    seen = {"revision": first.revision, "row": first.pk, "label": "Bad"}
    assert client.post(page, seen, HTTP_HX_REQUEST="true").status_code == 200
    cell = reverse("api:cell", args=["own", second.proposition.uid, "valence"])
    version = api(cast.esi).get(cell).json()["version"]
    assert api(cast.esi).post(cell, {"label": "Good", "version": version}, format="json").status_code == 200
    return voted


# --- the file ---------------------------------------------------------------------------------------------------------


def test_a_schema_is_loaded_once_and_stays_as_it_is(tmp_path, db, capsys):
    file = write(tmp_path)
    told = run(capsys, "load_schema", file)
    assert (told["schema"], told["created"], told["checks"]) == ("eight:1", True, 2)
    assert told["dimensions"] == {key: list(values) for key, values in LABELS.items()}
    assert run(capsys, "load_schema", file)["created"] is False
    call_command("load_schema", file)
    assert capsys.readouterr().out == "eight:1 is here already, with the same content; nothing was changed.\n"
    held = LabelSchema.objects.all()
    assert held.count() == AuditEvent.objects.filter(action="schema.loaded").count() == 1
    row = held.get()
    for forbidden in (row.save, row.delete, held.delete, lambda: held.update(name="x")):
        with pytest.raises(AppendOnly):
            forbidden()
    with pytest.raises(SchemaUnknown, match="There is no label schema nine:1 here; load_schema takes it"):
        schema_of("nine", "1")
    label_schema._read.clear()
    assert schema_of("eight", "1").title == "Eight"


def test_a_file_that_cannot_be_used_ends_with_one_sentence(loaded, tmp_path):
    other = "eight:1 is here already with other content, which projects label by; expected another version."
    for make, sentence in (
        (lambda: tmp_path / "none.json", "There is no file "),
        (lambda: tmp_path, " is a folder; expected a file."),
        (lambda: write(tmp_path, dimensions=[]), "eight.json, dimensions: it is a list of 0; expected a list of 1"),
        (lambda: write(tmp_path, name="omnitom"), "omnitom:1 is here already with other content"),
        (lambda: write(tmp_path, title="Other"), f"eight.json, version: {other}"),
    ):
        with pytest.raises(CommandError) as caught:
            call_command("load_schema", make())
        assert sentence in str(caught.value) and "\n" not in str(caught.value)
    assert LabelSchema.objects.count() == 1
    call_command("load_schema", write(tmp_path, title="Other", version="2"), stdout=io.StringIO())
    assert (schema_of("eight", "1").title, schema_of("eight", "2").title) == ("Eight", "Other")


# --- choosing it ------------------------------------------------------------------------------------------------------


def test_a_new_project_chooses_on_the_page(loaded, client, cast):
    cast.alice.is_superuser = True
    cast.alice.save()
    client.force_login(cast.alice)
    page = client.get(reverse("annotation:new_project")).content.decode()
    assert '<option value="omnitom:1" selected>OmniToM, version 1 (7 dimensions)</option>' in page
    assert '<option value="eight:1">Eight, version 1 (8 dimensions)</option>' in page
    for slug, chosen, expected in (("a", "eight:1", "eight"), ("b", "omnitom:1", "omnitom")):
        made = client.post(reverse("annotation:new_project"), {"name": slug, "slug": slug, "schema": chosen})
        assert made.status_code == 302
        assert Project.objects.get(slug=slug).schema.name == expected
    wrong = client.post(reverse("annotation:new_project"), {"name": "c", "slug": "c", "schema": "nine:1"})
    assert wrong.status_code == 200 and not Project.objects.filter(slug="c").exists()


def test_an_import_makes_a_project_of_a_schema_that_is_here(project, tmp_path):
    file = tmp_path / "stories.jsonl"
    assert (project.schema.reference, len(project.schema.dimensions)) == ("eight:1", 8)
    here = ", ".join([*(schema.reference for schema in SHIPPED.values()), "eight:1"])
    assert here.startswith("omnitom:1, ")
    with pytest.raises(CommandError, match=f"'nine' is not a label schema that is here; expected one of {here}"):
        call_command("import_corpus", "omnitom", file, project="new", schema="nine")
    with pytest.raises(CommandError, match="The project own labels by eight:1, which stays; not omnitom:1"):
        call_command("import_corpus", "omnitom", file, project="own", schema="omnitom:1")
    assert not Project.objects.filter(slug="new").exists()


# --- labelling --------------------------------------------------------------------------------------------------------


def test_the_grid_shows_its_dimensions_and_its_cross_checks_warn(project, client, api, cast):  # noqa: F811
    rows = rows_of(project)
    grid = reverse("annotation:grid", args=["own", rows[0].table.story.uid])
    client.force_login(cast.bob)
    page = " ".join(client.get(grid).content.decode().split())
    assert page.count('role="gridcell"') == 2 * 8 and "Perception" not in page
    for dimension in document()["dimensions"]:
        assert f'data-dimension="{dimension["key"]}" title="{dimension["name"]}: {dimension["question"]}"' in page
        for label in dimension["labels"]:
            assert f'data-value="{label["value"]}" data-digit="{label["digit"]}" title="{label["meaning"]}"' in page
    for key, status in (("social_norm", 200), ("context", 404)):
        assert client.get(reverse("annotation:guideline", args=["own", key])).status_code == status
    odd = {"certainty": "Sure", "tense": "Future"}
    told = save_on_page(client, cast.bob, project, changes_of(rows[1:], "x", odd)).json()
    warning = {"dimension": "certainty", "message": "Ines cannot be sure of the future."}
    assert told["warnings"] == {rows[1].uid: [warning]}
    address = reverse("api:votes", args=["own", rows[0].table.story.uid])
    answer = api(cast.bea).post(address, {"changes": changes_of(rows[1:], "y", odd)}, format="json").json()
    assert answer["warnings"] == [{"proposition": rows[1].uid} | warning]
    assert warning["message"] in client.get(grid).content.decode()


def test_labels_of_another_schema_are_refused_everywhere(project, client, api, cast, tmp_path):  # noqa: F811
    rows = rows_of(project)[:1]
    for labels, sentence in (
        ({"truth_status": "True"}, "'True' is not a label of truth_status; expected one of Yes, No"),
        ({"context": "Neutral"}, f"expected one of {', '.join(LABELS)}"[:75]),
    ):
        page = save_on_page(client, cast.bob, project, changes_of(rows, "x", labels))
        assert page.status_code == 400 and sentence in page.json()["error"]
        address = reverse("api:votes", args=["own", rows[0].table.story.uid])
        answer = api(cast.bob).post(address, {"changes": changes_of(rows, "y", labels)}, format="json")
        assert answer.status_code == 400 and sentence in str(answer.json()["error"]["fields"])
    file = tmp_path / "votes.csv"
    row = f"1,{ROWS[0][0]},{ROWS[0][1]},context,ben,Neutral\n"
    file.write_text(f"story_id,actor,belief,dimension,annotator,label\n{row}")
    with pytest.raises(CommandError, match="dimension is 'context'; expected one of truth_status, order"):
        call_command("import_votes", file, project="own")
    assert not Vote.objects.exists()


def test_the_api_tells_and_describes_its_dimensions(project, api, cast):  # noqa: F811
    def described_dimensions(reader) -> set[str]:
        told = json.loads(reader.get("/api/v1/schema/?format=json").content)
        changes = told["components"]["schemas"]["ChangesInRequest"]["properties"]["changes"]["items"]["oneOf"]
        return {one["properties"]["dimension"]["const"] for one in changes}

    told = api(cast.bob).get(reverse("api:project", args=["own"])).json()
    assert (told["schema_name"], told["schema_version"]) == ("eight", "1")
    assert [one["key"] for one in told["dimensions"]] == list(LABELS)
    assert {"emotion", "context"} <= described_dimensions(api(cast.bob))  # Bob is in Minds too
    gold = reverse("api:gold", args=["own"])
    assert api(cast.esi).get(f"{gold}?dimension=emotion").status_code == 200
    wrong = api(cast.esi).get(f"{gold}?dimension=context")
    assert wrong.json()["error"]["fields"]["dimension"] == [
        f"'context' is not a dimension of this project; expected one of {', '.join(LABELS)}."
    ]
    Membership.objects.filter(project=project, user=cast.bob).delete()
    assert described_dimensions(api(cast.bob)) == set(DEFAULT_SCHEMA.keys)


# --- gold -------------------------------------------------------------------------------------------------------------
PAGES = (
    "project", "settings", "guidelines", "stories", "adjudication", "agreement", "agreement_annotators", "people",
    "export", "import", "prefills", "anchoring", "guideline_cases", "majorities",
)  # fmt: skip


def test_votes_become_gold_which_reports_and_pages_are_about(settled, client, cast, capsys):
    gold = GoldLabel.objects.filter(proposition__table__story__number=1, proposition__position=1)
    decided = {"valence": (Method.ADJUDICATED, "Bad"), "tense": (Method.MAJORITY, "Past")}
    methods = {one.dimension: (one.method, one.label) for one in gold}
    assert methods == {key: (Method.UNANIMOUS, label) for key, label in FIRST.items()} | decided
    assert GoldLabel.objects.count() == 16
    report = agreement_report(project=settled)
    assert list(report.dimensions) == list(LABELS)
    strict = [report.dimensions[key].estimates["strict"].value for key in ("emotion", "valence")]
    assert strict == [1, 0]
    call_command("agreement", project="own")
    assert "Social norm" in capsys.readouterr().out
    client.force_login(cast.alice)
    for name in PAGES:
        assert client.get(reverse(f"annotation:{name}", args=["own"])).status_code == 200, name
    story = Story.objects.get(project=settled, number=1)
    for name in ("story", "adjudicate"):
        page = client.get(reverse(f"annotation:{name}", args=["own", story.uid]))
        assert page.status_code == 200 and "social_n" in page.content.decode()


def forget_schemas() -> None:
    """As on an installation where nobody loaded one."""
    models.QuerySet(LabelSchema).all()._raw_delete("default")
    label_schema._read.clear()


def test_exports_and_archives_bring_it_along(settled, tmp_path, cast):
    exported = list(export_lines(settled, GOLD))
    labels = json.loads(exported[0])["beliefs"][0]["labels"]
    assert tuple(labels) == tuple(LABELS) and labels["valence"] == "Bad"
    file = tmp_path / "gold.jsonl"
    file.write_text("".join(exported), encoding="utf-8")
    call_command("import_corpus", "omnitom", file, project="again", schema="eight", stdout=io.StringIO())
    assert list(export_lines(Project.objects.get(slug="again"), GOLD)) == exported
    call_command("export_gold", "--project", "own", "--format", "croissant", "--output", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    fields = {one["name"]: one["dataType"] for it in told["recordSet"] for one in it["field"]}
    assert set(LABELS) <= set(fields)
    assert fields["order"] == "sc:Integer" and fields["emotion"] == "sc:Text"
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "8 dimensions" in card and "schema version eight:1" in card
    source = archived(settled)
    forget_schemas()
    import_archive(by=cast.alice, source=source, slug="copy", now=timezone.now())
    copy = Project.objects.get(slug="copy")
    assert copy.schema.reference == "eight:1" and LabelSchema.objects.get().loaded_by == cast.alice
    assert list(export_lines(copy, GOLD)) == exported
    assert GoldLabel.objects.filter(proposition__table__story__project=copy).count() == 16


# --- archives ---------------------------------------------------------------------------------------------------------


def archived(project: Project) -> io.BytesIO:
    target = io.BytesIO()
    export_archive(project=project, target=target, now=timezone.now())
    target.seek(0)
    return target


def test_an_archive_with_a_schema_that_cannot_be_is_refused_and_leaves_nothing(project, cast):
    row = json.loads(contents(archived(cast.project))["project.jsonl"])
    assert row["schema_version"] == "1" and "schema_name" not in row
    assert row["schema"] == document_of(DEFAULT_SCHEMA), "of OmniToM it is there, too"
    parts = contents(archived(project))
    row = json.loads(parts["project.jsonl"])
    for change, sentence in (
        ({"schema": document(title="Other")}, "field schema, version: eight:1 is here already with other"),
        ({"schema": document(dimensions=3)}, "field schema, dimensions: it is 3; expected a list of 1 to 20."),
        ({"schema_version": "7"}, "field schema_version: it is '7'; expected '1'."),
    ):
        parts["project.jsonl"] = json.dumps(row | change).encode() + b"\n"
        with pytest.raises(BadArchive) as caught:
            import_archive(by=cast.alice, source=repacked(parts), slug="copy", now=timezone.now())
        assert str(caught.value).startswith(f"project.jsonl, {sentence}")
    assert LabelSchema.objects.count() == 1 and Project.objects.count() == 2


# --- published gold and runs
# ---------------------------------------------------------------------------------------------


def test_published_gold_keeps_its_schema_and_runs_measure_it_by_that_one(settled, cast, client):
    dataset, is_new = publish_version(by=cast.alice, project=settled)
    assert is_new and dataset.stories_count == 2
    assert (dataset.schema_name, dataset.schema_version, dataset.schema) == ("eight", "1", settled.schema)
    assert set(dataset.samples.first().beliefs[0]["labels"]) == set(LABELS)
    assert publish_version(by=cast.alice, project=settled) == (dataset, False)
    tiny = Endpoint.objects.create(name="tiny", provider="scripted", model="tiny")
    plan = Plan(dataset, [tiny], ["label"], "omnitom")
    assert (plan.suite, plan.prompt_set, len(check(plan))) == ("omnitom__eight__1", "omnitom-any-1", 2)
    client.force_login(cast.alice)
    launch = reverse("benchmark:launch", args=["own"])
    for address in (reverse("benchmark:datasets", args=["own"]), launch, f"{launch}?suite=omnitom"):
        assert client.get(address).status_code == 200
    assert "OmniToM, labelled by eight:1" in client.get(launch).content.decode()
    Proposition.objects.filter(table__story__number=2, actor="Ines").update(imported_labels=FIRST)
    publish_version(by=cast.alice, project=settled)
    page = client.get(reverse("benchmark:dataset_difference", args=["own", 1, 2]))
    assert page.status_code == 200 and "Social norm" in page.content.decode()


def test_a_schema_that_no_table_of_answers_can_hold_is_refused_in_one_sentence():
    for dimension, said in [
        ({"key": "id"}, "dimension id has the name of another column of answers; expected another key."),
        ({"key": "mood_1"}, "dimension mood differs from another one in digits and low lines alone"),
        ({"labels": ("Good", "total")}, "dimension tone has the label 'total', the name of another column of tables"),
        ({"labels": ("Good|Fine", "Bad")}, "dimension tone has the label 'Good|Fine', which no cell of a table with"),
    ]:
        mood = {"key": "mood", "name": "Mood", "short": "Mood", "question": "?", "labels": ("Light", "Dark")}
        tone = {"key": "tone", "name": "Tone", "short": "Tone", "question": "?", "labels": ("Good", "Bad")} | dimension
        for made in (mood, tone):
            made["labels"] = [{"value": value, "digit": at, "meaning": "x"} for at, value in enumerate(made["labels"])]
        schema = schema_of_document(document(dimensions=[mood, tone], checks=[]), "x")
        told = unfit(schema, SimpleNamespace(schema=schema))
        assert told.startswith(f"is labelled by eight:1, whose {said}") and told.count(".") == 1
        assert "expected gold labelled by omnitom:1" in unfit(DEFAULT_SCHEMA, SimpleNamespace(schema=schema))


def test_a_model_is_asked_about_its_dimensions(project):
    rows = [Row(1, *ROWS[0])]
    for level in (1, 2, 3, 4):
        ask = {"story": "A story.", "category": "False Belief Task", "rows": rows, "level": level}
        text = "\n".join(one.content for one in labelling_request(**ask, schema=project.schema).messages)
        assert "8 dimensions" in text and "seven" not in text and "{" not in text.split("Answer with")[0]
        assert "seven dimensions" in labelling_request(**ask, schema=DEFAULT_SCHEMA).messages[0].content
    assert (prompts_of(DEFAULT_SCHEMA), prompts_of(project.schema)) == ("labelling-1", "labelling-any-1")
