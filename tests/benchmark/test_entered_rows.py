"""Rows that users enter from papers: checked, shown below what was computed, and in nothing that is computed."""

import json
from dataclasses import replace
from importlib import import_module
from xml.etree import ElementTree

import pytest
from django.urls import reverse

from annotation.models import AuditEvent
from benchmark.domain import plots
from benchmark.domain.drawn import ModelRow, PaperRow, Reference
from benchmark.domain.tables import Column, Table, to_csv, to_json, to_latex
from benchmark.domain.tables.table import OWN_WORDING, OWN_WORDING_NOTE
from benchmark.models import Audience, EnteredRow
from benchmark.services.documents import document_of, tables_of
from benchmark.services.entered_rows import EntryRefused, add_row, checked, with_entered
from benchmark.services.plot_data import plots_of
from benchmark.suites.perceiving import tables as perceiving
from benchmark.suites.registry import suite_named, suites
from benchmark.suites.reports import Published, of_groups
from benchmark.views.tables import page_table
from tests.benchmark.controls.world import controlled_world
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.test_run_commands import refused, told

pytestmark = pytest.mark.django_db(transaction=True)

SOURCE = "Bortoletto & al. 2025, table 3"
METRICS = {"stage2.overall_accuracy": "91.5", "stage1.f1": "88"}
HUMAN = PaperRow("Human", "human", SOURCE, METRICS)


# --- rules
def test_every_suite_lets_figures_of_its_own_tables_be_entered_once():
    for name in suites():
        suite = suite_named(name)
        keys = [metric.key for metric in suite.enterable]
        assert len(keys) == len({*keys}) and suite.results.published
        papers = [section.tables for section in suite.results.sections if section.paper]
        paper = {table.removesuffix("-repaired") for tables in papers for table in tables}
        assert any(papers[0][0].removesuffix("-repaired") in metric.places for metric in suite.results.published)
        groups = {group.key for group in suite.groups}
        places = {place for metric in suite.results.published for place in metric.places}
        assert places <= paper | groups | {f"categories-{key}" for key in groups}
        assert groups <= {place for metric in suite.enterable for place in metric.places}
    # what a figure of the suite stands for is not asked for by its group
    own = [Published("all", "ALL", "Sets", {"sets": "all", "group": "all"})]
    [rest] = of_groups([("group", "Group", {"all": "ALL", "f1": "F1"})], own)
    assert (rest.key, rest.title, rest.heading, rest.places) == ("group.f1", "F1", "Group", {"group": "f1"})
    # parts of pictures have the figures of table columns
    for folder in ["percept_tomi", "percept_fantom"]:
        tasks = import_module(f"benchmark.suites.{folder}.metrics").TASKS
        parts, repaired = (perceiving.parts_of(tasks, parse) for parse in ("official", "repaired"))
        enterable = suite_named(folder.replace("_", "-")).enterable
        places = {place for metric in enterable for place in metric.places.items()}
        assert parts.keys() <= places and len({*parts.values()}) == 6
        # the paper's accuracy of perception is nothing to the recall
        recalls = {"Perception recall, true belief", "Perception recall, false belief"}
        assert {part for place, part in repaired.items() if place not in places} == recalls


def test_what_is_wrong_is_said_in_one_sentence_with_its_field():
    per_cent, points = "expected per cent, from 0 to 100", "expected percentage points, from -100 to 100"
    gap = replace(HUMAN, kind="published")
    for suite, entry, change, field, sentence in [
        ("omnitom", HUMAN, {"name": " "}, "name", "The name is empty; expected one, such as Human."),
        ("omnitom", HUMAN, {"name": "x" * 121}, "name", "The name has 121 characters; expected 120 at most."),
        ("omnitom", HUMAN, {"source": ""}, "source", "source is empty; expected one, such as Kim et al. 2023"),
        ("omnitom", HUMAN, {"kind": "dog"}, "kind", "'dog' is not a kind of row; expected human or published."),
        ("omnitom", HUMAN, {"metrics": {}}, "", "No figure is given; expected at least one."),
        ("omnitom", HUMAN, {"metrics": {"stage1.f1": "0,9"}}, "stage1.f1", f"'0,9'; {per_cent}, such as 87.5."),
        ("omnitom", HUMAN, {"metrics": {"stage1.f1": "100.1"}}, "stage1.f1", "F1 (table 3): By story is '100.1'"),
        ("omnitom", HUMAN, {"metrics": {"stage1.f1": "-1"}}, "stage1.f1", "is '-1'"),
        ("omnitom", HUMAN, {"metrics": {"stage1.f1": "nan"}}, "stage1.f1", "is 'nan'"),
        ("omnitom", HUMAN, {"metrics": {"f9": "1"}}, "", "OmniToM has no figure 'f9'; there are: stage1.f1 Ambiguous"),
        *(
            ("opentom", gap, {"metrics": {"gap.Loc c (S)": wrong}}, "gap.Loc c (S)", points)
            for wrong in ("-100.1", "--1", "1-", "- 1", "x")
        ),
        ("opentom", gap, {"metrics": {"unreadable.Loc c (S)": "-3.5"}}, "unreadable.Loc c (S)", per_cent),
    ]:
        with pytest.raises(EntryRefused) as caught:
            checked(suite_named(suite), replace(entry, **change))
        assert caught.value.field == field and sentence in str(caught.value) and "\n" not in str(caught.value)
    # a difference is entered in points with its sign
    for typed, kept in [("-3.5", "-3.5"), ("+71.1", "+71.1"), ("−33.3", "-33.3"), ("100", "100")]:
        entry = replace(gap, metrics={"gap.Loc c (S)": typed})
        assert checked(suite_named("opentom"), entry).metrics == {"gap.Loc c (S)": kept}


TABLE = Table(
    title="Stage 1",
    columns=[
        Column(key="model", header="Model"),
        Column(key="repaired_f1", header="F1", kind="share", best="high", group="Repaired"),
        Column(key="official_f1", header="F1", kind="share", best="high", group="Official"),
    ],
    rows=[{"model": name, "repaired_f1": value, "official_f1": value} for name, value in (("a", 0.5), ("b", 0.25))],
)
ROW = PaperRow(name="Human", kind="human", source=SOURCE, metrics={"stage1.f1": "88", "stage2.acc_order": "1"})


def test_a_row_stands_below_takes_no_mark_and_every_file_says_from_where():
    omnitom = suite_named("omnitom")
    table = with_entered(TABLE, "stage1", [ROW], omnitom)
    [entered] = table.entered
    assert entered.cells == {"model": "Human", "repaired_f1": "0.88", "official_f1": "0.88"}
    assert table.rows == TABLE.rows and table.marks() == TABLE.marks()
    other = replace(ROW, metrics={"stage2.acc_order": "1"})
    assert with_entered(TABLE, "stage1", [other], omnitom) == TABLE, "nothing of this table"
    head, *lines = to_csv(table).decode().splitlines()
    assert head.endswith(",Entered from") and lines[-1] == f'Human,88,88,"{SOURCE}"' and lines[0].endswith(",")
    data = json.loads(to_json(table))
    [row] = data["entered"]
    assert (row["model"], row["kind"], row["source"]) == ("Human", "human", SOURCE)
    assert [row["model"] for row in data["rows"]] == ["a", "b"] and "entered" not in json.loads(to_json(TABLE))
    latex = to_latex(table).decode()
    assert r"\textit{Human (human, entered)}" in latex and r"Human: Bortoletto \& al. 2025, table 3" in latex
    assert r"\textbf{88" not in latex and "never ranked" in latex
    # beside a published row it is said that models were asked otherwise here
    published = with_entered(TABLE, "stage1", [replace(ROW, kind="published")], omnitom)
    for held, says in ((published, True), (table, False)):
        source = page_table("board", held)["entered"][0]["source"]
        assert (OWN_WORDING_NOTE in held.entered_texts) == says == (OWN_WORDING in source) == (source != SOURCE)
    assert "own wording: not the paper" in to_latex(published).decode()
    assert f'"source": "{SOURCE}"' in to_json(published).decode()
    # the tables of a paper say it with rows and without
    assert replace(TABLE, beside_a_paper=True).entered_texts == (OWN_WORDING_NOTE,) and not TABLE.entered_texts
    # what another embedder judged has a column of its own
    group = [Column(key=key, header=key, kind="share", group=of) for key, of in (("all", "Sets"), ("choice", "Belief"))]
    table = Table(title="False belief", columns=[Column(key="model", header="Model"), *group], rows=[{"model": "a"}])
    row = replace(ROW, metrics={"inaccessible.all_star": "4.1"})
    found = with_entered(table, "inaccessible", [row], suite_named("fantom"))
    assert [column.header for column in found.columns] == ["Model", "all", "ALL* (as published)", "choice"]
    assert found.entered[0].cells["all_star"] == "0.041"


# --- pages
@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def text(client, address: str) -> str:
    return client.get(address).content.decode()


def entered(world, **changed) -> EnteredRow:
    entry = replace(HUMAN, **changed)
    return add_row(by=world.alice, project=world.dataset.project, suite=suite_named("omnitom"), entry=entry)


def test_a_row_is_entered_shown_changed_and_removed(world, client):
    client.force_login(world.alice)
    before = tables_of(document_of(world.run))["stage2"]()
    base = f"{world.base}/results/entered/"
    typed = {"name": "Human", "kind": "human", "source": SOURCE} | {f"figure.{key}": of for key, of in METRICS.items()}
    wrong = {"figure.stage1.f1": "880", "figure.stage2.acc_order": "x"}
    refusal = client.post(f"{base}new/omnitom/", typed | wrong).content.decode()
    assert refusal.count("expected per cent, from 0 to 100") == 2, "a sentence for each field"
    assert 'value="91.5"' in refusal, "what was typed is kept"
    assert not EnteredRow.objects.exists()
    assert client.post(f"{base}new/omnitom/", typed).status_code == 302
    row = EnteredRow.objects.get()
    assert row.metrics == METRICS and row.created_by == world.alice
    assert "has a row &#x27;Human&#x27; already" in client.post(f"{base}new/omnitom/", typed).content.decode()
    assert SOURCE.replace("&", "&amp;") in text(client, base)
    after = tables_of(document_of(world.run))["stage2"]()
    assert (after.rows, after.marks()) == (before.rows, before.marks()) and after.entered
    for page in ("results/", f"runs/{world.run.uid}/report/"):
        shown = text(client, f"{world.base}/{page}")
        assert "human, entered" in shown and "91.50" in shown, page
    assert "human, entered" not in text(client, f"{world.base}/results/?show=model")
    file = text(client, f"{world.base}/results/tables/stage2.csv")
    assert "Entered from" in file and "Human" in file
    # a snapshot keeps the rows that it had
    saved = client.post(f"{world.base}/results/snapshot/", {"query": ""})["Location"]
    edit = f"{base}{row.uid}/"
    assert 'value="91.5"' in text(client, edit)
    client.post(edit, typed | {"name": "People", "figure.stage1.f1": ""})
    row.refresh_from_db()
    assert row.name == "People" and row.metrics == {"stage2.overall_accuracy": "91.5"}
    client.post(f"{edit}remove/")
    assert not EnteredRow.objects.exists() and "human, entered" not in text(client, f"{world.base}/results/")
    assert "human, entered" in text(client, saved) and "Human" in text(client, f"{saved}tables/stage2.tex")
    actions = AuditEvent.objects.filter(target=row.uid).order_by("pk").values_list("action", flat=True)
    assert [*actions] == ["results.entered", "results.entry_changed", "results.entry_removed"]


def test_experts_enter_rows_and_members_read_them(world, client):
    world.show_to(Audience.EVERYONE)
    row, base = entered(world), f"{world.base}/results/entered/"
    for person, statuses in (("charlie", (404, 404, 404)), ("bob", (200, 403, 403)), ("esi", (200, 200, 200))):
        client.force_login(getattr(world, person))
        assert tuple(client.get(base + tail).status_code for tail in ("", "new/omnitom/", f"{row.uid}/")) == statuses
    assert client.get(f"{base}new/nothing/").status_code == 404
    client.force_login(world.bob)
    assert "Enter a row" not in text(client, base)
    assert client.post(f"{base}{row.uid}/remove/").status_code == 403 and EnteredRow.objects.exists()


def test_a_command_does_the_same(world):
    slug = world.dataset.project.slug
    options = ("--project", slug, "--suite", "omnitom")
    named = ("--name", "Human", "--kind", "human", "--source", SOURCE)
    assert "stage2.overall_accuracy" in told("entered_rows", "figures", *options)["figures"]
    made = told("entered_rows", "add", *options, *named, "--figure", "stage1.f1=88")
    assert made["row"]["figures"] == {"stage1.f1": "88"}
    assert told("leaderboard", *options)["entered"][0]["name"] == "Human"
    figures = ("--figure", "stage2.acc_order=70", "--figure", "stage1.f1=")
    changed = told("entered_rows", "edit", *options, *named[:2], *figures)
    assert changed["row"]["figures"] == {"stage2.acc_order": "70"} and changed["row"]["source"] == SOURCE
    assert told("entered_rows", "list", "--project", slug)["rows"] == [changed["row"]]
    refusal = refused("entered_rows", "edit", *options, "--name", "Nobody")
    assert refusal == "OmniToM has no row 'Nobody'; there are: Human."
    assert "has no equals sign" in refused("entered_rows", "add", *options, *named, "--figure", "88")
    assert told("entered_rows", "remove", *options, *named[:2]) == {"removed": "Human"}


# --- pictures, and the tables of a suite itself
def test_pictures_show_them_as_what_they_are(world):
    before = plots_of(document_of(world.run))["leaderboard-stage2"]
    entered(world)
    picture = plots_of(document_of(world.run))["leaderboard-stage2"]
    assert picture.framed().data == before.framed().data
    [reference] = picture.framed().frame.references
    assert (reference.model, reference.source) == ("Human", SOURCE)
    svg = ElementTree.fromstring(picture.draw(format="svg"))
    caption = " ".join(" ".join(one.text or "" for one in svg.iter("{http://www.w3.org/2000/svg}text")).split())
    assert "Entered" in caption and f"entered, not computed here: Human: {SOURCE}" in caption
    assert f"Human, entered from {SOURCE}: 91.5" in svg[1].text
    assert b"Entered" not in before.draw(format="svg")
    # scores by part have them where they have the part
    rows = [ModelRow("a", {"Hinting": 0.5, "Belief": 0.75})]
    references = [Reference("Human", SOURCE, {"Hinting": 0.9}), Reference("Other", SOURCE, {"elsewhere": 0.9})]
    plot = plots.scores_by_part(rows, parse="repaired", score="Accuracy", part="task")
    for one, human in ((plot.beside(references), ", Human 90.0"), (plot, "")):
        assert ElementTree.fromstring(one.draw())[1].text == f"Hinting: a 50.0{human}\nBelief: a 75.0"


def test_tables_and_pictures_of_opentom_have_what_its_paper_prints(tmp_path, client):
    cast, run = controlled_world(tmp_path)
    opentom = suite_named("opentom")
    genres = {"f1.Loc c (F)": "82.5", "f1.Att": "41"}
    assert genres.keys() <= {metric.key for metric in opentom.enterable}
    figures = {
        "gap.Loc c (S)": ("-3.5", "gap", "Coarse location, second order", "-0.035"),
        "unreadable.MHop (F)": ("58.2", "unreadable", "Multi-hop, first order", "0.582"),
        "unfaithful.first": ("80.2", "unfaithful", "first of_all", "0.802"),
    }
    entry = replace(HUMAN, kind="published", metrics=genres | {key: typed for key, (typed, *_) in figures.items()})
    row = add_row(by=None, project=run.project, suite=opentom, entry=entry)
    document = document_of(run)
    for parse in ("official", "repaired"):
        for _, table, column, share in figures.values():
            [found] = tables_of(document)[f"{table}-{parse}"]().entered
            assert found.cells == {"model": "Human", column: share}
        picture = plots_of(document)[f"genres-{parse}"]
        [reference] = picture.framed().frame.references
        drawn = {part for row in picture.framed().data[0][0] for part in row.values}
        assert sorted(reference.values.values()) == [0.41, 0.825] and reference.values.keys() <= drawn
        shown = ElementTree.fromstring(picture.draw(format="svg"))[1].text
        assert "Human 82.5" in shown and "Human 41.0" in shown
    client.force_login(cast.alice)
    page = text(client, reverse("benchmark:edit_row", args=[run.project.slug, row.uid]))
    assert 'value="-3.5"' in page and "(table 4), points" in " ".join(page.split())
