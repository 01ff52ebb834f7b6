"""Gold has one writer: a label and its event say the same, whichever way a cell was settled."""

import io
import json
import re
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


def test_every_way_to_settle_a_cell_writes_the_projects_version(second_rule, cast, settled, cast_vote, make_story):
    gold = settled()
    assert (gold.label, gold.rule_version, assert_told_alike().rule_version) == ("Inference", "2", "2")
    decided = decide(gold, cast.esi, "Memory")
    assert decided.rule_version == assert_told_alike().rule_version == "2"
    back = take_back(decided, cast.esi)
    assert (back.label, back.method, back.rule_version) == ("Inference", "majority", "2")
    assert assert_told_alike().undoes == decided.revision
    cast_vote(settled.assignments[0], settled.row, KEY, "")
    assert not GoldLabel.objects.exists()
    event = assert_told_alike()
    assert (event.before, event.after_method, event.rule_version) == ("Inference", "", "2")
    make_story(2, rows=[("Ines", "The key is in the bag")])
    voted = {"ada": "Memory", "bruno": "Inference", "chidi": "Testimony"}
    lines = [f"2,Ines,The key is in the bag,{KEY},{name},{label}" for name, label in voted.items()]
    file = io.BytesIO("\n".join(["story_id,actor,belief,dimension,annotator,label", *lines]).encode())
    assert import_votes(by=cast.alice, project=cast.project, handle=file, file="votes.csv", now=NOW).created == 3
    assert GoldLabel.objects.get().rule_version == assert_told_alike().rule_version == "2"


def test_accepting_in_bulk_settles_what_a_stricter_rule_opened(cast, settled):
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


def test_an_archive_brings_labels_with_their_events_and_no_unknown_rule(cast, settled):
    decide(settled(), cast.esi, "Memory")
    archive = io.BytesIO()
    export_archive(project=cast.project, target=archive, now=NOW)
    import_archive(by=cast.alice, source=archive, slug="copy", now=timezone.now())
    assert GoldLabel.objects.count() == 2
    assert_told_alike()
    parts, name = contents(archive), file_of("project")
    row = json.loads(parts[name]) | {"rule_version": "77"}
    with pytest.raises(BadArchive, match="'77' is not a version of the rule that settles labels; expected one of 1"):
        source = repacked(parts | {name: f"{json.dumps(row)}\n".encode()})
        import_archive(by=cast.alice, source=source, slug="other", now=timezone.now())


WRITER, MODEL = "annotation/services/gold.py", "annotation/models/gold.py"
WRITES = "create|bulk_create|get_or_create|update_or_create|update|bulk_update|delete|save|settle|decide|remove"
WRITING = re.compile(
    r"\bGold(Label|Event)\(|\b(insert_rows|insert_missing|write_few|update_rows)\(\s*(models\.)?Gold(Label|Event)\b"
    rf"|\bGold(Label|Event)\.objects\b[^\n]*\.({WRITES})\(|\bgold(_events)?\.({WRITES})\("
)


def test_nobody_else_writes_gold():
    folders = ("annotation", "benchmark", "judge", "workers", "core", "config")
    files = [path for name in folders for path in (ROOT / name).rglob("*.py") if "migrations" not in path.parts]
    found = {path.relative_to(ROOT).as_posix() for path in files if WRITING.search(path.read_text(encoding="utf-8"))}
    assert WRITER in found and found <= {WRITER, MODEL}


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
