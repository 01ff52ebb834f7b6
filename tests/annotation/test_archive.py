from __future__ import annotations

import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.domain.archive_format import SECTIONS, BadArchive, file_of
from annotation.models import (
    Assignment,
    AuditEvent,
    BeliefTable,
    CellComment,
    GoldLabel,
    Guideline,
    Project,
    Proposition,
    PropositionFlag,
    Split,
    Suggestion,
    TableKind,
    User,
    Vote,
    VoteEvent,
)
from annotation.services import archive_import, audit
from annotation.services.archive_export import export_archive
from annotation.services.archive_import import import_archive
from annotation.services.votes import undo_last

NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def full_project(cast, make_story, seat, cast_vote) -> Project:
    """Something in every section: a draft, a removed row, an undone vote, a decision, remarks, history."""
    project = cast.project
    project.dataset_card, project.unanimity_dimensions = {"licence": "CC0"}, ["context"]
    project.save()
    split = Split.objects.create(project=project, name="main", seed=4)
    story = make_story(1, split=split, translations={"zh": "故事"}, extra={"layout": '{"b": 1, "a": 2}'})
    draft = BeliefTable.objects.create(story=story, kind=TableKind.DRAFT, author=cast.esi)
    Proposition.objects.create(table=draft, position=1, actor="A", belief="B")
    first, second = Proposition.objects.gold_of(story)
    seats = seat(story)
    for one, label in zip(seats, ("0", "1", "2"), strict=True):
        cast_vote(one, first, "order", label)
    cast_vote(seats[0], first, "order", "1")
    undo_last(by=cast.bob, seat=seats[0], client_key="undo", now=timezone.now())
    gold = GoldLabel.objects.get()
    gold.method, gold.label, gold.decided_by, gold.reason = "adjudicated", "2", cast.esi, "see line 2"
    gold.save()
    Proposition.objects.filter(pk=second.pk).update(removed_at=NOW)
    Assignment.objects.filter(annotator=cast.ben).update(released_at=NOW)
    Guideline.objects.create(project=project, dimension="order", text="Count minds.")
    CellComment.objects.create(proposition=first, dimension="order", thread_of=cast.bob, author=cast.esi, text="Why?")
    Suggestion.objects.create(proposition=first, dimension="context", label="Neutral", source="tiny", created_at=NOW)
    PropositionFlag.objects.create(proposition=first, author=cast.bea, kind="split", remark="Two in one")
    audit.record(by=cast.alice, project=project, action="project.changed", target="minds", before={}, after={"x": 1})
    return project


def packed(project: Project) -> io.BytesIO:
    target = io.BytesIO()
    export_archive(project=project, target=target, now=NOW)
    target.seek(0)
    return target


def contents(source: io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(source) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repacked(parts: dict[str, bytes], *, manifest_too: bool = True) -> io.BytesIO:
    """The archive with these parts, and a manifest that says so unless told otherwise."""
    if manifest_too:
        manifest = json.loads(parts["manifest.json"])
        for name, told in manifest["files"].items():
            told["sha256"] = hashlib.sha256(parts[name]).hexdigest()
        parts = {**parts, "manifest.json": json.dumps(manifest).encode()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in parts.items():
            archive.writestr(name, raw)
    target.seek(0)
    return target


def test_a_project_comes_back_whole_under_another_name(full_project):
    first = contents(packed(full_project))
    assert all(first[file_of(name)] for name in SECTIONS)
    rows = import_archive(by=None, source=packed(full_project), slug="copy")
    copy = Project.objects.get(slug="copy")
    assert (rows["votes"], rows["vote_events"], rows["gold"]) == (3, 5, 1)
    second = contents(packed(copy))
    for name in SECTIONS:
        if name != "audit":
            assert second[file_of(name)] == first[file_of(name)], name
    history = second["audit.jsonl"].splitlines()
    assert history[:-1] == first["audit.jsonl"].splitlines()
    assert json.loads(history[-1])["action"] == "archive.imported"


def test_the_copy_is_alive(full_project, cast, cast_vote):
    import_archive(by=None, source=packed(full_project), slug="copy")
    copy = Project.objects.get(slug="copy")
    seat = Assignment.objects.active().get(story__project=copy, annotator=cast.bob)
    proposition = Proposition.objects.gold_of(seat.story).get()
    cast_vote(seat, proposition, "order", "3")
    assert Vote.objects.get(proposition=proposition, annotator=cast.bob, dimension="order").label == "3"
    assert GoldLabel.objects.get(proposition=proposition).disturbed
    assert not GoldLabel.objects.exclude(proposition=proposition).get().disturbed


def test_people_are_matched_by_name_or_made_without_a_password(full_project, cast):
    source = packed(full_project)
    first = contents(source)
    for name in ("people", "members", "seats", "votes", "vote_events", "gold", "gold_events", "comments"):
        first[file_of(name)] = first[file_of(name)].replace(b'"bob"', b'"stranger"')
    import_archive(by=cast.alice, source=repacked(first), slug="copy")
    stranger = User.objects.get(username="stranger")
    assert (stranger.display_name, stranger.has_usable_password()) == ("Bob", False)
    copy = Project.objects.get(slug="copy")
    assert copy.memberships.filter(user=stranger, role="annotator").exists()
    assert copy.memberships.filter(user=cast.esi, role="expert").exists()
    assert AuditEvent.objects.get(action="archive.imported").actor == cast.alice


def test_nothing_secret_is_in_it(full_project):
    raw = b"".join(contents(packed(full_project)).values())
    assert b"md5$" not in raw
    assert b"@example.org" not in raw


CHANGES = {
    "a hash": (lambda parts: {**parts, "votes.jsonl": parts["votes.jsonl"] + b" "}, False, "damaged or changed"),
    "a foreign file": (lambda parts: {**parts, "../evil": b"x"}, False, "no part of a project"),
    "a missing file": (lambda parts: {n: r for n, r in parts.items() if n != "gold.jsonl"}, False, "lacks gold"),
    "no JSON": (lambda parts: {**parts, "votes.jsonl": b"{\n"}, True, "votes.jsonl, line 1: expected one JSON"),
    "deep JSON": (lambda parts: {**parts, "votes.jsonl": b"[" * 99999}, True, "expected one JSON object"),
    "a field": (
        lambda parts: {**parts, "members.jsonl": parts["members.jsonl"].replace(b'"role"', b'"is_superuser"', 1)},
        True,
        "'is_superuser' is not known",
    ),
    "a role": (
        lambda parts: {**parts, "members.jsonl": parts["members.jsonl"].replace(b'"admin"', b'"owner"', 1)},
        True,
        "field role: it is 'owner'",
    ),
    "a stranger": (
        lambda parts: {**parts, "votes.jsonl": parts["votes.jsonl"].replace(b'"bob"', b'"nobody"', 1)},
        True,
        "'nobody', which the archive does not hold",
    ),
    "a text for a number": (
        lambda parts: {**parts, "stories.jsonl": parts["stories.jsonl"].replace(b'"number": 1', b'"number": "1"', 1)},
        True,
        "field number: expected a whole number",
    ),
    "a NUL": (
        lambda parts: {**parts, "comments.jsonl": parts["comments.jsonl"].replace(b"Why?", b"\\u0000", 1)},
        True,
        "NUL",
    ),
    "a vote twice": (
        lambda parts: {**parts, "votes.jsonl": parts["votes.jsonl"] + parts["votes.jsonl"].splitlines()[0] + b"\n"},
        True,
        "contradicts itself",
    ),
    "no zip": (None, False, "no readable archive"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_archive_is_refused_with_one_sentence_and_leaves_nothing(full_project, what):
    change, manifest_too, expected = CHANGES[what]
    source = io.BytesIO(b"PK no zip") if change is None else None
    source = source or repacked(change(contents(packed(full_project))), manifest_too=manifest_too)
    held = VoteEvent.objects.count()
    with pytest.raises(BadArchive) as caught:
        import_archive(by=None, source=source, slug="copy")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Project.objects.filter(slug="copy").exists()
    assert VoteEvent.objects.count() == held


def test_a_name_that_is_taken_is_refused(full_project):
    with pytest.raises(BadArchive, match="already"):
        import_archive(by=None, source=packed(full_project), slug="minds")


def test_a_name_that_is_taken_while_the_archive_is_read_is_refused(full_project, monkeypatch):
    """The other project appears after the first look, as if someone else had been quicker."""
    looked = archive_import._checked

    def slow(archive):
        Project.objects.create(slug="copy", name="Someone else's")
        return looked(archive)

    monkeypatch.setattr(archive_import, "_checked", slow)
    with pytest.raises(BadArchive, match=r"^There is a project 'copy' already; choose another name\.$"):
        import_archive(by=None, source=packed(full_project), slug="copy")
    assert Project.objects.get(slug="copy").name == "Someone else's"
    assert not Project.objects.get(slug="copy").memberships.exists()


def test_the_commands_write_and_read_a_file(full_project, tmp_path, capsys):
    path = tmp_path / "minds.zip"
    call_command("export_archive", "--project=minds", f"--output={path}", "--json")
    assert json.loads(capsys.readouterr().out)["rows"]["votes"] == 3
    call_command("import_archive", str(path), "--project=copy", "--json")
    assert json.loads(capsys.readouterr().out)["rows"]["votes"] == 3
    with pytest.raises(CommandError, match="already"):
        call_command("import_archive", str(path), "--project=copy")


@pytest.mark.django_db(transaction=True)
def test_the_export_sees_one_state_outside_a_transaction(cast, make_story):
    make_story()
    assert json.loads(contents(packed(cast.project))["manifest.json"])["files"]["stories.jsonl"]["rows"] == 1
    make_story(2)  # the connection is as before: writing works
    assert cast.project.stories.count() == 2
