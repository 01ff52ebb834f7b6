"""Rows that users enter from papers: checked, shown below what was computed, and in nothing that is computed."""

from __future__ import annotations

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
from benchmark.services.entered_rows import Entry, EntryRefused, add_row, checked, with_entered
from benchmark.services.plot_data import plots_of
from benchmark.suites.perceiving import tables as perceiving
from benchmark.suites.registry import suite_named, suites
from benchmark.suites.reports import Published, of_groups
from benchmark.views.tables import page_table
from tests.benchmark.controls.world import controlled_world
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.test_run_commands import refused, told

SOURCE = "Bortoletto & al. 2025, table 3"
METRICS = {"stage2.overall_accuracy": "91.5", "stage1.f1": "88"}
HUMAN = Entry("Human", "human", SOURCE, METRICS)


# --- rules
# ----------------------------------------------------------------------------------------------------------------------
def test_every_suite_lets_figures_of_its_own_tables_be_entered():
    for name in [*suites()]:
        suite = suite_named(name)
        keys = [metric.key for metric in suite.enterable]
        assert len(keys) == len({*keys}) and suite.results.published
        paper = {
            table.removesuffix("-repaired")
            for section in suite.results.sections
            if section.paper
            for table in section.tables
        }
        first = next(section for section in suite.results.sections if section.paper).tables[0].removesuffix("-repaired")
        assert any(first in metric.places for metric in suite.results.published)
        groups = {group.key for group in suite.groups}
        places = {place for metric in suite.results.published for place in metric.places}
        assert places <= paper | groups | {f"categories-{key}" for key in groups}
        assert groups <= {place for metric in suite.enterable for place in metric.places}


def test_a_metric_that_a_figure_of_the_suite_stands_for_is_asked_for_once():
    own = [Published("all", "ALL", "Sets", {"sets": "all", "group": "all"})]
    [rest] = of_groups([("group", "Group", {"all": "ALL", "f1": "F1"})], own)
    assert (rest.key, rest.title, rest.heading, rest.places) == ("group.f1", "F1", "Group", {"group": "f1"})


def test_what_is_wrong_is_said_in_one_sentence_with_its_field():
    for change, field, sentence in [
        ({"name": " "}, "name", "The name is empty; expected one, such as Human."),
        ({"name": "x" * 121}, "name", "The name has 121 characters; expected 120 at most."),
        ({"source": ""}, "source", "The source is empty; expected one, such as Kim et al. 2023, table 9."),
        ({"kind": "dog"}, "kind", "'dog' is not a kind of row; expected human or published."),
        ({"metrics": {}}, "", "No figure is given; expected at least one."),
        ({"metrics": {"stage1.f1": "0,9"}}, "stage1.f1", "'0,9'; expected per cent, from 0 to 100, such as 87.5."),
        ({"metrics": {"stage1.f1": "100.1"}}, "stage1.f1", "Extraction, F1 (table 3): By story is '100.1'"),
        ({"metrics": {"stage1.f1": "-1"}}, "stage1.f1", "is '-1'"),
        ({"metrics": {"stage1.f1": "nan"}}, "stage1.f1", "is 'nan'"),
        ({"metrics": {"f9": "1"}}, "", "OmniToM has no figure 'f9'; there are: stage1.f1 Ambiguous"),
    ]:
        with pytest.raises(EntryRefused) as caught:
            checked(suite_named("omnitom"), replace(HUMAN, **change))
        assert caught.value.field == field and sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_difference_is_entered_in_points_with_its_sign():
    for typed, kept in [("-3.5", "-3.5"), ("+71.1", "+71.1"), ("−33.3", "-33.3"), ("100", "100")]:
        entry = replace(HUMAN, kind="published", metrics={"gap.Loc c (S)": typed})
        assert checked(suite_named("opentom"), entry).metrics == {"gap.Loc c (S)": kept}
        for wrong in ("-100.1", "--1", "1-", "- 1", "x"):
            with pytest.raises(EntryRefused, match="expected percentage points, from -100 to 100") as caught:
                checked(suite_named("opentom"), replace(entry, metrics={"gap.Loc c (S)": wrong}))
            assert caught.value.field == "gap.Loc c (S)"
        with pytest.raises(EntryRefused, match="expected per cent, from 0 to 100"):
            checked(suite_named("opentom"), replace(entry, metrics={"unreadable.Loc c (S)": "-3.5"}))


def _table() -> Table:
    columns = [
        Column(key="model", header="Model"),
        Column(key="repaired_f1", header="F1", kind="share", best="high", group="Repaired"),
        Column(key="official_f1", header="F1", kind="share", best="high", group="Official"),
    ]
    rows = [{"model": name, "repaired_f1": value, "official_f1": value} for name, value in (("a", 0.5), ("b", 0.25))]
    return Table(title="Stage 1", columns=columns, rows=rows)


ROW = PaperRow(name="Human", kind="human", source=SOURCE, metrics={"stage1.f1": "88", "stage2.acc_order": "1"})


def test_beside_a_published_row_it_is_said_that_models_were_asked_otherwise_here():
    def told(kind: str) -> Table:
        return with_entered(_table(), "stage1", [replace(ROW, kind=kind)], suite_named("omnitom"))

    published, people = told("published"), told("human")
    assert (
        OWN_WORDING_NOTE in published.entered_texts
        and OWN_WORDING in page_table("board", published)["entered"][0]["source"]
    )
    assert (
        OWN_WORDING_NOTE not in people.entered_texts and page_table("board", people)["entered"][0]["source"] == SOURCE
    )
    assert (
        "own wording: not the paper" in to_latex(published).decode()
        and f'"source": "{SOURCE}"' in to_json(published).decode()
    )
    # the tables of a paper say it with rows and without
    assert replace(_table(), beside_a_paper=True).entered_texts == (OWN_WORDING_NOTE,) and not _table().entered_texts


def test_a_row_stands_below_and_takes_no_mark():
    table = with_entered(_table(), "stage1", [ROW], suite_named("omnitom"))
    [entered] = table.entered
    assert entered.cells == {"model": "Human", "repaired_f1": "0.88", "official_f1": "0.88"}
    assert table.rows == _table().rows and table.marks() == _table().marks()
    other = replace(ROW, metrics={"stage2.acc_order": "1"})
    assert with_entered(_table(), "stage1", [other], suite_named("omnitom")) == _table(), "nothing of this table"


def test_every_file_says_what_was_entered_and_from_where():
    table = with_entered(_table(), "stage1", [ROW], suite_named("omnitom"))
    head, *lines = to_csv(table).decode().splitlines()
    assert head.endswith(",Entered from") and lines[-1] == f'Human,88,88,"{SOURCE}"' and lines[0].endswith(",")
    data = json.loads(to_json(table))
    [row] = data["entered"]
    assert (row["model"], row["kind"], row["source"]) == ("Human", "human", SOURCE)
    assert [row["model"] for row in data["rows"]] == ["a", "b"] and "entered" not in json.loads(to_json(_table()))
    latex = to_latex(table).decode()
    assert r"\textit{Human (human, entered)}" in latex and r"Human: Bortoletto \& al. 2025, table 3" in latex
    assert r"\textbf{88" not in latex and "never ranked" in latex


def test_what_another_embedder_judged_has_a_column_of_its_own():
    group = [Column(key=key, header=key, kind="share", group=of) for key, of in (("all", "Sets"), ("choice", "Belief"))]
    table = Table(title="False belief", columns=[Column(key="model", header="Model"), *group], rows=[{"model": "a"}])
    row = replace(ROW, metrics={"inaccessible.all_star": "4.1"})
    found = with_entered(table, "inaccessible", [row], suite_named("fantom"))
    assert [column.header for column in found.columns] == ["Model", "all", "ALL* (as published)", "choice"]
    assert found.entered[0].cells["all_star"] == "0.041"


# --- pages
# ----------------------------------------------------------------------------------------------------------------------
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def posted(**more: str) -> dict[str, str]:
    metrics = {f"figure.{key}": text for key, text in METRICS.items()}
    return {"name": "Human", "kind": "human", "source": SOURCE} | metrics | more


def test_a_row_is_entered_shown_changed_and_removed(world, client):
    client.force_login(world.alice)
    before = tables_of(document_of(world.run))["stage2"]()
    new = f"{world.base}/results/entered/new/omnitom/"
    wrong = {"figure.stage1.f1": "880", "figure.stage2.acc_order": "x"}
    refusal = client.post(new, posted(**wrong)).content.decode()
    assert refusal.count("expected per cent, from 0 to 100") == 2, "a sentence for each field"
    assert 'value="91.5"' in refusal, "what was typed is kept"
    assert not EnteredRow.objects.exists()
    assert client.post(new, posted()).status_code == 302
    row = EnteredRow.objects.get()
    assert row.metrics == METRICS and row.created_by == world.alice
    assert "has a row &#x27;Human&#x27; already" in client.post(new, posted()).content.decode()
    assert SOURCE.replace("&", "&amp;") in client.get(f"{world.base}/results/entered/").content.decode()
    after = tables_of(document_of(world.run))["stage2"]()
    assert (after.rows, after.marks()) == (before.rows, before.marks()) and after.entered
    for page in ("results/", f"runs/{world.run.uid}/report/"):
        text = client.get(f"{world.base}/{page}").content.decode()
        assert "human, entered" in text and "91.50" in text, page
    assert "human, entered" not in client.get(f"{world.base}/results/?show=model").content.decode()
    file = client.get(f"{world.base}/results/tables/stage2.csv").content.decode()
    assert "Entered from" in file and "Human" in file
    edit = f"{world.base}/results/entered/{row.uid}/"
    assert 'value="91.5"' in client.get(edit).content.decode()
    client.post(edit, posted(name="People", **{"figure.stage1.f1": ""}))
    row.refresh_from_db()
    assert row.name == "People" and row.metrics == {"stage2.overall_accuracy": "91.5"}
    client.post(f"{edit}remove/")
    assert not EnteredRow.objects.exists()
    actions = AuditEvent.objects.filter(target=row.uid).order_by("pk").values_list("action", flat=True)
    assert [*actions] == ["results.entered", "results.entry_changed", "results.entry_removed"]


def test_pictures_show_them_as_what_they_are(world):
    before = plots_of(document_of(world.run))
    add_row(by=None, project=world.dataset.project, suite=suite_named("omnitom"), entry=HUMAN)
    picture = plots_of(document_of(world.run))["leaderboard-stage2"]
    assert picture.framed().data == before["leaderboard-stage2"].framed().data
    [reference] = picture.framed().frame.references
    assert (reference.model, reference.source) == ("Human", SOURCE)
    svg = ElementTree.fromstring(picture.draw(format="svg"))
    caption = " ".join(" ".join(one.text or "" for one in svg.iter("{http://www.w3.org/2000/svg}text")).split())
    assert "Entered" in caption and f"entered, not computed here: Human: {SOURCE}" in caption
    assert f"Human, entered from {SOURCE}: 91.5" in svg[1].text
    assert b"Entered" not in before["leaderboard-stage2"].draw(format="svg")


def test_pictures_of_a_suite_itself_show_them_too(tmp_path, db):
    _, run = controlled_world(tmp_path)
    figures = {"f1.Loc c (F)": "82.5", "f1.Att": "41"}
    assert figures.keys() <= {metric.key for metric in suite_named("opentom").enterable}
    add_row(by=None, project=run.project, suite=suite_named("opentom"), entry=replace(HUMAN, metrics=figures))
    for parse in ("official", "repaired"):
        picture = plots_of(document_of(run))[f"genres-{parse}"]
        [reference] = picture.framed().frame.references
        drawn = {part for row in picture.framed().data[0][0] for part in row.values}
        assert sorted(reference.values.values()) == [0.41, 0.825] and reference.values.keys() <= drawn
        told = ElementTree.fromstring(picture.draw(format="svg"))[1].text
        assert "Human 82.5" in told and "Human 41.0" in told


def test_tables_of_opentom_have_what_the_paper_prints_of_gap_and_of_unread_and_unfaithful_answers(tmp_path, client):
    cast, run = controlled_world(tmp_path)
    figures = {
        "gap.Loc c (S)": ("-3.5", "gap", "Coarse location, second order", "-0.035"),
        "unreadable.MHop (F)": ("58.2", "unreadable", "Multi-hop, first order", "0.582"),
        "unfaithful.first": ("80.2", "unfaithful", "first of_all", "0.802"),
    }
    entry = replace(HUMAN, kind="published", metrics={key: typed for key, (typed, *_) in figures.items()})
    row = add_row(by=None, project=run.project, suite=suite_named("opentom"), entry=entry)
    made = tables_of(document_of(run))
    for parse in ("official", "repaired"):
        for _, table, column, share in figures.values():
            [entered] = made[f"{table}-{parse}"]().entered
            assert entered.cells == {"model": "Human", column: share}
    client.force_login(cast.alice)
    page = client.get(reverse("benchmark:edit_row", args=[run.project.slug, row.uid])).content.decode()
    assert 'value="-3.5"' in page and "(table 4), points" in " ".join(page.split())


def test_parts_of_pictures_have_the_figures_of_table_columns():
    for folder in ["percept_tomi", "percept_fantom"]:
        tasks = import_module(f"benchmark.suites.{folder}.metrics").TASKS
        parts, repaired = (perceiving.parts_of(tasks, parse) for parse in ("official", "repaired"))
        places = {
            place for metric in suite_named(folder.replace("_", "-")).enterable for place in metric.places.items()
        }
        assert parts.keys() <= places and len({*parts.values()}) == 6
        # the paper's accuracy of perception is nothing to the recall
        assert {part for place, part in repaired.items() if place not in places} == {
            "Perception recall, true belief", "Perception recall, false belief"
        }  # fmt: skip


def test_scores_by_part_have_them_where_they_have_the_part():
    rows = [ModelRow("a", {"Hinting": 0.5, "Belief": 0.75})]
    entered = [Reference("Human", SOURCE, {"Hinting": 0.9}), Reference("Other", SOURCE, {"elsewhere": 0.9})]
    named = {"parse": "repaired", "score": "Accuracy", "part": "task"}
    told = ElementTree.fromstring(plots.scores_by_part(rows, **named).beside(entered).draw())[1].text
    assert told == "Hinting: a 50.0, Human 90.0\nBelief: a 75.0"
    alone = ElementTree.fromstring(plots.scores_by_part(rows, **named).draw())[1].text
    assert alone == "Hinting: a 50.0\nBelief: a 75.0"


def test_snapshots_keep_the_rows_that_they_had(world, client):
    row = add_row(by=world.alice, project=world.dataset.project, suite=suite_named("omnitom"), entry=HUMAN)
    client.force_login(world.alice)
    saved = client.post(f"{world.base}/results/snapshot/", {"query": ""})["Location"]
    client.post(f"{world.base}/results/entered/{row.uid}/remove/")
    assert "human, entered" in client.get(saved).content.decode()
    assert "Human" in client.get(f"{saved}tables/stage2.tex").content.decode()
    assert "human, entered" not in client.get(f"{world.base}/results/").content.decode()


def test_experts_enter_rows_and_members_read_them(world, client):
    world.show_to(Audience.EVERYONE)
    row = add_row(by=None, project=world.dataset.project, suite=suite_named("omnitom"), entry=HUMAN)
    listed, new, edit = (f"{world.base}/results/entered/{tail}" for tail in ("", "new/omnitom/", f"{row.uid}/"))
    for person, statuses in (
        (world.charlie, (404, 404, 404)),
        (world.bob, (200, 403, 403)),
        (world.esi, (200, 200, 200)),
    ):
        client.force_login(person)
        assert tuple(client.get(address).status_code for address in (listed, new, edit)) == statuses
    client.force_login(world.bob)
    assert "Enter a row" not in client.get(listed).content.decode()
    assert client.post(f"{edit}remove/").status_code == 403 and EnteredRow.objects.exists()
    client.force_login(world.esi)
    assert client.get(f"{world.base}/results/entered/new/nothing/").status_code == 404


def test_a_command_does_the_same(world):
    options = ("--project", world.dataset.project.slug, "--suite", "omnitom")
    assert "stage2.overall_accuracy" in told("entered_rows", "figures", *options)["figures"]
    named = ("--name", "Human", "--kind", "human", "--source", SOURCE)
    made = told("entered_rows", "add", *options, *named, "--figure", "stage1.f1=88")
    assert made["row"]["figures"] == {"stage1.f1": "88"}
    assert told("leaderboard", *options)["entered"][0]["name"] == "Human"
    changed = told(
        "entered_rows", "edit", *options, "--name", "Human", "--figure", "stage2.acc_order=70", "--figure", "stage1.f1="
    )
    assert changed["row"]["figures"] == {"stage2.acc_order": "70"} and changed["row"]["source"] == SOURCE
    assert told("entered_rows", "list", "--project", options[1])["rows"] == [changed["row"]]
    assert (
        refused("entered_rows", "edit", *options, "--name", "Nobody")
        == "OmniToM has no row 'Nobody'; there are: Human."
    )
    assert "has no equals sign" in refused("entered_rows", "add", *options, *named, "--figure", "88")
    assert told("entered_rows", "remove", *options, "--name", "Human") == {"removed": "Human"}
