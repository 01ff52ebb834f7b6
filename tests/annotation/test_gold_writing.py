"""Gold has one writer: a label and its event say the same, whichever way a cell was settled."""

from __future__ import annotations

import ast
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.domain import resolution
from annotation.domain.archive_format import BadArchive, file_of
from annotation.domain.resolution import from_json
from annotation.models import GoldEvent, GoldLabel, Method, Project, Proposition, adjudication_queue
from annotation.services import gold as writing
from annotation.services.adjudication import accept_plurality, adjudicate, undo_decision
from annotation.services.archive_export import export_archive
from annotation.services.archive_import import import_archive
from annotation.services.projects import resolve_again
from annotation.services.vote_import import import_votes
from tests.annotation.test_archive import contents, repacked

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
KEY = "mental_source"


@pytest.fixture
def second_rule(cast, monkeypatch):
    """A second version of the rule, which the cast's project follows: the first vote in the alphabet settles a cell."""

    def first_in_the_alphabet(labels, overlap, demand_unanimity):
        if len(labels) < overlap:
            return resolution.Resolution(resolution.Outcome.PENDING, "", None)
        return resolution.Resolution(resolution.Outcome.MAJORITY, min(labels), 1 / 3)

    monkeypatch.setitem(resolution.RULES, "2", first_in_the_alphabet)
    cast.project.rule_version = "2"
    cast.project.save()


@pytest.fixture
def settled(make_story, assign, cast_vote):
    """Settle one cell by three votes, of three labels where none are given; return its gold label."""
    assignments = assign(make_story())
    row = assignments[0].story.tables.get().propositions.get(position=2)

    def make(*labels: str) -> GoldLabel:
        for one, label in zip(assignments, labels or ("Memory", "Inference", "Testimony"), strict=True):
            cast_vote(one, row, KEY, label)
        return GoldLabel.objects.get(proposition=row, dimension=KEY)

    make.assignments, make.row = assignments, row
    return make


def assert_told_alike() -> GoldEvent:
    """Every gold label says what the newest event of its cell says. Return the newest event of all."""
    for gold in GoldLabel.objects.all():
        event = GoldEvent.objects.filter(proposition=gold.proposition, dimension=gold.dimension).order_by("id").last()
        assert (event.after, event.after_method, event.rule_version) == (gold.label, gold.method, gold.rule_version)
        assert (event.reason, event.error_tag, event.revision) == (gold.reason, gold.error_tag, gold.revision)
    return GoldEvent.objects.order_by("id").last()


def decide(gold: GoldLabel, by, label: str) -> GoldLabel:
    place = {"proposition": gold.proposition, "dimension": gold.dimension, "revision": gold.revision}
    return adjudicate(by=by, label=label, reason="She was told.", now=NOW, **place)


def take_back(gold: GoldLabel, by) -> GoldLabel | None:
    place = {"proposition": gold.proposition, "dimension": gold.dimension, "revision": gold.revision}
    return undo_decision(by=by, now=NOW + timedelta(hours=1), **place)


def test_a_vote_writes_the_version_of_the_project_to_label_and_event(second_rule, settled):
    gold = settled()
    assert (gold.label, gold.rule_version) == ("Inference", "2")
    assert assert_told_alike().rule_version == "2"


def test_a_withdrawn_vote_removes_the_label_under_the_version_of_the_project(second_rule, settled, cast_vote):
    settled()
    cast_vote(settled.assignments[0], settled.row, KEY, "")
    assert not GoldLabel.objects.exists()
    event = assert_told_alike()
    assert (event.before, event.after_method, event.rule_version) == ("Inference", "", "2")


def test_an_import_writes_the_version_of_the_project(second_rule, cast, make_story):
    make_story(rows=[("Ines", "The key is in the bag")])
    head = "story_id,actor,belief,dimension,annotator,label"
    labels = [("ada", "Memory"), ("bruno", "Inference"), ("chidi", "Testimony")]
    lines = [f"1,Ines,The key is in the bag,{KEY},{name},{label}" for name, label in labels]
    text = "\n".join([head, *lines])
    result = import_votes(
        by=cast.alice, project=cast.project, handle=io.BytesIO(text.encode()), file="votes.csv", now=NOW
    )
    assert result.created == 3
    assert GoldLabel.objects.get().rule_version == "2"
    assert assert_told_alike().rule_version == "2"


def test_decisions_and_their_withdrawal_write_the_version_of_the_project(second_rule, cast, settled):
    decided = decide(settled(), cast.esi, "Memory")
    assert decided.rule_version == assert_told_alike().rule_version == "2"
    back = take_back(decided, cast.esi)
    assert (back.label, back.method, back.rule_version) == ("Inference", "majority", "2")
    assert assert_told_alike().undoes == decided.revision


def test_accepting_in_bulk_writes_the_version_of_the_project(cast, settled):
    settled("Memory", "Memory", "Inference")
    Project.objects.update(unanimity_dimensions=[KEY])
    project = Project.objects.get()
    resolve_again(project=project, now=NOW)
    cells = adjudication_queue.of_project(project)
    later = timezone.now() + timedelta(hours=1)
    assert accept_plurality(by=cast.esi, project=project, cells=cells, seen_until=later, now=later) == 1
    gold = GoldLabel.objects.get()
    assert (gold.label, gold.method, gold.revision) == ("Memory", Method.ADJUDICATED, 3)
    assert assert_told_alike().reason == gold.reason != ""


def test_another_version_does_not_relabel_what_it_settles_alike(cast, settled, monkeypatch):
    before = settled("Memory", "Memory", "Inference")
    monkeypatch.setitem(resolution.RULES, "2", resolution.RULES["1"])
    Project.objects.update(rule_version="2")
    resolve_again(project=Project.objects.get(), now=NOW)
    after = GoldLabel.objects.get()
    assert (after.rule_version, after.revision) == ("1", before.revision)


def test_a_decision_that_returns_has_the_agreement_of_its_own_votes(cast, settled, cast_vote):
    decided = decide(settled(), cast.esi, "Memory")
    cast_vote(settled.assignments[1], settled.row, KEY, "Memory")
    confirmed = decide(GoldLabel.objects.get(pk=decided.pk), cast.esi, "Testimony")
    assert confirmed.agreement == pytest.approx(2 / 3)
    back = take_back(confirmed, cast.esi)
    assert [vote["label"] for vote in back.votes] == ["Memory", "Inference", "Testimony"]
    assert back.agreement == pytest.approx(1 / 3)


def archived(project: Project) -> io.BytesIO:
    target = io.BytesIO()
    export_archive(project=project, target=target, now=NOW)
    return target


def rewritten(source: io.BytesIO, section: str, change: dict) -> io.BytesIO:
    """Return the archive with `change` in every row of a section."""
    parts = contents(source)
    name = file_of(section)
    rows = [json.loads(line) | change for line in parts[name].splitlines()]
    return repacked(parts | {name: "".join(f"{json.dumps(row)}\n" for row in rows).encode()})


def test_an_archive_brings_labels_with_their_events(cast, settled):
    decide(settled(), cast.esi, "Memory")
    import_archive(by=cast.alice, source=archived(cast.project), slug="copy", now=timezone.now())
    assert GoldLabel.objects.count() == 2
    assert_told_alike()


def test_an_archive_of_an_unknown_rule_is_refused(cast, settled):
    source = rewritten(archived(cast.project), "project", {"rule_version": "77"})
    with pytest.raises(BadArchive, match="'77' is not a version of the rule that settles labels; expected one of 1"):
        import_archive(by=cast.alice, source=source, slug="copy", now=timezone.now())


WRITER, MODEL = "annotation/services/gold.py", "annotation/models/gold.py"
EVENTFUL = {"settle", "decide", "remove"}
"""The transitions that an event tells of; the others, disturb and file_case, leave the label as it is."""
BULK = {"insert_rows", "insert_missing", "write_few", "update_rows"}
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "update", "bulk_update", "delete", "save"}


def holding_gold(nodes: list[ast.AST]) -> set[str]:
    """Return the models of gold, and the names that are given what was asked of them."""
    gold, before = {"GoldLabel", "GoldEvent"}, set()
    given = [(node.targets, node.value) for node in nodes if isinstance(node, ast.Assign)]
    given += [([node.target], node.iter) for node in nodes if isinstance(node, ast.For | ast.comprehension)]
    given += [([node.target], node.value) for node in nodes if isinstance(node, ast.NamedExpr | ast.AnnAssign)]
    while gold != before:
        before = set(gold)
        for targets, value in given:
            if _chain(value) & gold:
                gold |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return gold


def _chain(node: ast.AST | None) -> set[str]:
    """Return the names that an expression goes through: a, b and c of `a.b.c(d)[0]`."""
    names = set()
    while node is not None:
        names |= {getattr(node, "id", ""), getattr(node, "attr", "")}
        node = getattr(node, "func", None) or getattr(node, "value", None)
    return names - {""}


def other_writers(path: str, source: str) -> list[str]:
    """Return the places outside of the writer that make, change or delete gold labels or their events."""
    found = []
    nodes = [*ast.walk(ast.parse(source))] if "gold" in source.lower() else []
    gold = holding_gold(nodes)
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        names = {one.id for one in ast.walk(node.func) if isinstance(one, ast.Name)}
        models = {"GoldLabel", "GoldEvent"}
        makes = called in models or (called in BULK and any(_chain(one) & models for one in node.args))
        sets = method in WRITES | EVENTFUL and (names & gold or {"gold", "gold_events"} & set(called.split(".")[:-1]))
        if makes or sets:
            found.append(f"{path}:{node.lineno} {called}")
    return found


def test_nobody_else_writes_gold():
    folders = ("annotation", "benchmark", "judge", "workers", "core", "config")
    files = [path for name in folders for path in sorted((ROOT / name).rglob("*.py")) if "migrations" not in path.parts]
    places = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    assert {WRITER, MODEL} <= places.keys()
    found = [one for path, text in places.items() if path not in (WRITER, MODEL) for one in other_writers(path, text)]
    assert found == []
    assert other_writers(WRITER, places[WRITER])


def test_another_writer_is_found():
    for line in [
        "GoldLabel(label='x')",
        "GoldLabel.objects.filter(pk=1).update(label='x')",
        "GoldEvent.objects.create(after='x')",
        "write_few(GoldLabel, FIELDS, rows)",
        "GoldLabel.objects.settle(rows)",
        "gold.save()",
        "row.gold.create(label='x')",
        "GoldLabel.objects.all().delete()",
        "label = GoldLabel.objects.get(); label.label = 'x'; label.save()",
        "rows = models.GoldLabel.objects.filter(pk=1); rows.update(label='x')",
        "for label in GoldLabel.objects.all(): label.delete()",
        "insert_rows(models.GoldEvent, FIELDS, rows)",
    ]:
        assert other_writers("a.py", line)


def test_a_change_that_missed_its_revision_is_not_written(cast, settled):
    gold = settled()
    GoldLabel.objects.filter(pk=gold.pk).update(revision=7)
    votes = from_json(gold.votes)
    cell = gold.proposition_id, KEY
    after = writing.decided(cell, "Memory", by=cast.esi, at=NOW, votes=votes, project=cast.project, before=gold)
    change = writing.Change(cell, gold, after, votes)
    events = GoldEvent.objects.count()
    with pytest.raises(writing.ChangedMeanwhile):
        writing.write_gold([change], project=cast.project, by=cast.esi, now=NOW)
    assert GoldEvent.objects.count() == events
    assert Proposition.objects.get(pk=gold.proposition_id).gold.get().method == Method.OPEN
