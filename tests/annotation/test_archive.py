from __future__ import annotations

import hashlib
import io
import json
import random
import re
import sqlite3
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone

from annotation.domain.archive_format import BadArchive, file_of
from annotation.domain.drafts import RowState
from annotation.domain.reconciliation import PairState
from annotation.models import (
    Assignment,
    AuditEvent,
    BeliefTable,
    CellComment,
    DraftEvent,
    DraftRow,
    GoldLabel,
    Guideline,
    Pair,
    PairEvent,
    Project,
    Proposition,
    PropositionFlag,
    Split,
    Story,
    SuggestedRow,
    Suggestion,
    TableKind,
    User,
    Vote,
    VoteEvent,
)
from annotation.services import archive_import, audit, short_writes
from annotation.services.archive_export import export_archive
from annotation.services.archive_import import import_archive
from annotation.services.archive_sections import section_names
from core.plain import plain
from tests.annotation.writing import small_steps, watched_transactions
from tests.judge.alignment_world import answer_all, new_study

NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def full_project(cast, make_story, assign, cast_vote, undo) -> Project:
    """Something in every section: a draft, a removed row, an undone vote, a decision, remarks, history."""
    project = cast.project
    project.dataset_card, project.unanimity_dimensions = {"licence": "CC0"}, ["context"]
    project.save()
    split = Split.objects.create(project=project, name="main", seed=4)
    story = make_story(1, split=split, translations={"zh": "故事"}, extra={"layout": '{"b": 1, "a": 2}'})
    suggested = SuggestedRow.objects.create(story=story, number=1, actor="A", belief="B", source="tiny", created_at=NOW)
    draft = BeliefTable.objects.create(
        story=story, kind=TableKind.DRAFT, author=cast.esi, arm_drawn_at=NOW, is_blind=False, arm_seed=1, blind_share=50
    )
    state = RowState("A", "B", place=1.5)
    row = DraftRow.objects.create(table=draft, actor="A", belief="B", place=1.5, suggested=suggested)
    DraftEvent.objects.create(
        table=draft, row=row, idempotency_key="k", action="a", kind="add", after=plain(state), changed_at=NOW,
        received_at=NOW,
    )  # fmt: skip
    first, second = Proposition.objects.gold_of(story)
    lane = Pair.objects.create(
        story=story, a=row, place=1, actor="A", belief="B", proposition=first, decided_by=cast.esi
    )
    PairEvent.objects.create(
        row=lane,
        by=cast.esi,
        idempotency_key="k",
        action="k",
        after=plain(PairState(place=1)),
        changed_at=NOW,
        received_at=NOW,
    )
    assignments = assign(story)
    for one, label in zip(assignments, ("0", "1", "2"), strict=True):
        cast_vote(one, first, "order", label)
    cast_vote(assignments[0], first, "order", "1")
    undo(assignments[0])
    gold = GoldLabel.objects.get()
    gold.method, gold.label, gold.decided_by, gold.reason = "adjudicated", "2", cast.esi, "see line 2"
    gold.save()
    Proposition.objects.filter(pk=second.pk).update(removed_at=NOW)
    Assignment.objects.filter(annotator=cast.ben).update(released_at=NOW)
    Guideline.objects.create(project=project, dimension="order", text="Count minds.")
    CellComment.objects.create(proposition=first, dimension="order", thread_of=cast.bob, author=cast.esi, text="Why?")
    Suggestion.objects.create(proposition=first, dimension="context", label="Neutral", source="tiny", created_at=NOW)
    PropositionFlag.objects.create(proposition=first, author=cast.bea, kind="split", remark="Two in one")
    study = new_study(cast)
    for alignment in study.tasks.filter(source="bright-model").first().alignments.all():
        answer_all(alignment, p1="g1")
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
    assert all(first[file_of(name)] for name in section_names())
    everybody = [json.loads(line)["username"] for line in first["people.jsonl"].splitlines()]
    rows = import_archive(by=None, source=packed(full_project), slug="copy", now=timezone.now(), matched=everybody)
    copy = Project.objects.get(slug="copy")
    assert (rows["votes"], rows["vote_events"], rows["gold"]) == (3, 5, 1)
    second = contents(packed(copy))
    for name in section_names():
        if name != "audit":
            assert second[file_of(name)] == first[file_of(name)], name
    history = second["audit.jsonl"].splitlines()
    assert history[:-1] == first["audit.jsonl"].splitlines()
    assert json.loads(history[-1])["action"] == "archive.imported"


def test_the_copy_is_alive(full_project, cast, cast_vote):
    import_archive(by=None, source=packed(full_project), slug="copy", now=timezone.now(), matched=["bob"])
    copy = Project.objects.get(slug="copy")
    assignment = Assignment.objects.active().get(story__project=copy, annotator=cast.bob)
    proposition = Proposition.objects.gold_of(assignment.story).get()
    cast_vote(assignment, proposition, "order", "3")
    assert Vote.objects.get(proposition=proposition, annotator=cast.bob, dimension="order").label == "3"
    assert GoldLabel.objects.get(proposition=proposition).disturbed
    assert not GoldLabel.objects.exclude(proposition=proposition).get().disturbed


def test_everybody_becomes_an_imported_annotator_and_nobody_a_member(full_project, cast):
    """Votes, decisions, comments and history are under names of the copy: no account of the site is said to have made
    them."""
    held = set(User.objects.accounts().values_list("pk", flat=True))
    import_archive(by=None, source=packed(full_project), slug="copy", now=timezone.now())
    copy = Project.objects.get(slug="copy")
    assert set(User.objects.accounts().values_list("pk", flat=True)) == held
    assert not copy.memberships.exists()
    bob, esi = (User.objects.get(username=f"copy:{name}") for name in ("bob", "esi"))
    assert (bob.shown_name, bob.imported_into, bob.is_active) == ("Bob (imported)", copy, False)
    mine = {"proposition__table__story__project": copy}
    assert set(Vote.objects.filter(**mine).values_list("annotator__imported_into", flat=True)) == {copy.pk}
    assert set(VoteEvent.objects.filter(**mine).values_list("annotator__imported_into", flat=True)) == {copy.pk}
    assert GoldLabel.objects.get(**mine).decided_by == esi
    assert {one["annotator"] for one in GoldLabel.objects.get(**mine).votes}.isdisjoint(held)
    assert CellComment.objects.get(**mine).author == esi
    assert PropositionFlag.objects.get(**mine).author.username == "copy:bea"
    assert AuditEvent.objects.filter(project=copy, actor__in=held).count() == 0


def test_only_accounts_that_are_named_are_matched_and_get_the_archives_role(full_project, cast):
    import_archive(
        by=cast.charlie, source=packed(full_project), slug="copy", now=timezone.now(), matched=["bob", "esi"]
    )
    copy = Project.objects.get(slug="copy")
    roles = dict(copy.memberships.values_list("user__username", "role"))
    assert roles == {"bob": "annotator", "esi": "expert", "charlie": "admin"}
    assert AuditEvent.objects.get(action="archive.imported").details["accounts"] == ["bob", "esi"]
    assert Vote.objects.filter(proposition__table__story__project=copy, annotator=cast.bob).count() == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("nobody", "nobody called 'nobody' here"), ("charlie", "The archive holds nobody called 'charlie'")],
)
def test_a_name_to_match_that_is_nobody_is_refused(full_project, name, expected):
    with pytest.raises(BadArchive, match=expected):
        import_archive(by=None, source=packed(full_project), slug="copy", now=timezone.now(), matched=[name])
    assert not Project.objects.exclude(slug="minds").exists()


def test_an_archive_of_a_project_of_imported_annotators_says_the_same_again(full_project):
    import_archive(by=None, source=packed(full_project), slug="copy", now=timezone.now())
    first = contents(packed(Project.objects.get(slug="copy")))
    import_archive(by=None, source=packed(Project.objects.get(slug="copy")), slug="third", now=timezone.now())
    second = contents(packed(Project.objects.get(slug="third")))
    for name in section_names():
        if name != "audit":
            assert second[file_of(name)] == first[file_of(name)], name
    assert b'":bob"' in first["votes.jsonl"]
    assert User.objects.get(username="third:bob").display_name == "Bob (imported)"


def test_an_account_and_an_imported_annotator_of_one_name_stay_two(full_project, cast):
    parts = contents(packed(full_project))
    for name in ("people", "votes", "vote_events", "assignments", "gold", "gold_events"):
        parts[file_of(name)] = parts[file_of(name)].replace(b'"bea"', b'":bob"')
    parts["people.jsonl"] += b'{"username": "bea", "display_name": "Bea"}\n'
    import_archive(by=None, source=repacked(parts), slug="copy", now=timezone.now())
    copy = Vote.objects.filter(proposition__table__story__project__slug="copy")
    assert set(copy.values_list("annotator__username", flat=True)) == {"copy:bob", "copy:bob+", "copy:ben"}


def test_no_time_of_an_archive_lies_in_the_future(full_project):
    parts, now = contents(packed(full_project)), timezone.now()
    fields = {
        "votes": "changed_at", "gold": "decided_at", "assignments": "assigned_at", "comments": "created_at",
        "stories": "created_at",
    }  # fmt: skip
    for section, field in fields.items():
        raw = parts[file_of(section)].decode()
        far = re.sub(f'"{field}": "[^"]+"', f'"{field}": "{(now + timedelta(days=2)).isoformat()}"', raw, count=1)
        with pytest.raises(BadArchive, match=rf"^{section}\.jsonl, line 1, field {field}: it lies in the future"):
            import_archive(by=None, source=repacked({**parts, file_of(section): far.encode()}), slug="copy", now=now)
        near = re.sub(f'"{field}": "[^"]+"', f'"{field}": "{(now + timedelta(hours=2)).isoformat()}"', raw, count=1)
        source = repacked({**parts, file_of(section): near.encode()})
        import_archive(by=None, source=source, slug=f"copy-{section}", now=now)
    assert not Vote.objects.filter(changed_at__gt=now).exists()


def test_nothing_secret_is_in_it(full_project):
    raw = b"".join(contents(packed(full_project)).values())
    assert b"md5$" not in raw
    assert b"@example.org" not in raw


CHANGES = {
    "a hash": (lambda parts: {**parts, "votes.jsonl": parts["votes.jsonl"] + b" "}, False, "damaged or changed"),
    "a foreign file": (lambda parts: {**parts, "../evil": b"x"}, False, "not part of a project"),
    "a missing file": (lambda parts: {n: r for n, r in parts.items() if n != "gold.jsonl"}, False, "lacks gold"),
    "no JSON": (lambda parts: {**parts, "votes.jsonl": b"{\n"}, True, "votes.jsonl, line 1: column 2: it is not JSON"),
    "deep JSON": (
        lambda parts: {**parts, "votes.jsonl": b"[" * 99999},
        True,
        "line 1: The JSON is nested too deeply; expected at most 50 levels.",
    ),
    "a list": (
        lambda parts: {**parts, "votes.jsonl": b"[]\n"},
        True,
        "votes.jsonl, line 1: The line holds a list; exp",
    ),
    "a line of white space": (
        lambda parts: {**parts, "votes.jsonl": b" \n" + parts["votes.jsonl"]},
        True,
        "votes.jsonl, line 1: The line is empty; expected one JSON object.",
    ),
    "a field": (
        lambda parts: {**parts, "members.jsonl": parts["members.jsonl"].replace(b'"role"', b'"is_superuser"', 1)},
        True,
        "'is_superuser' is not known",
    ),
    "no field": (
        lambda parts: {**parts, "members.jsonl": parts["members.jsonl"].replace(b'"role": "admin", ', b"", 1)},
        True,
        "members.jsonl, line 1: the field 'role' is missing.",
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
    "a NUL in a name": (
        lambda parts: {
            **parts,
            "people.jsonl": parts["people.jsonl"].replace(b'"display_name": "', b'"display_name": "\\u0000', 1),
        },
        True,
        "people.jsonl, line 1: The line cannot be kept: it holds a NUL character; remove it.",
    ),
    "half a character in a name": (
        lambda parts: {
            **parts,
            "people.jsonl": parts["people.jsonl"].replace(b'"display_name": "', b'"display_name": "\\ud800', 1),
        },
        True,
        (
            "people.jsonl, line 1: The line cannot be kept: it holds half of a surrogate pair, which is not a "
            "character; remove it."
        ),
    ),
    "a name that is a number": (
        lambda parts: {**parts, "people.jsonl": b'{"username": "bob", "display_name": 5}\n'},
        True,
        "people.jsonl, line 1: display_name: it is 5; expected a text.",
    ),
    "nobody's name": (
        lambda parts: {**parts, "people.jsonl": b'{"username": "bob"}\n'},
        True,
        "people.jsonl, line 1: The field display_name is missing; expected an object with username, display_name.",
    ),
    "a field twice": (
        lambda parts: {
            **parts,
            "members.jsonl": parts["members.jsonl"].replace(b'"role"', b'"role": "expert", "role"', 1),
        },
        True,
        "members.jsonl, line 1: The field 'role' occurs twice in one object; expected it once.",
    ),
    "no number": (
        lambda parts: {
            **parts,
            "gold.jsonl": re.sub(rb'"agreement": [\d.]+', b'"agreement": 1' + b"0" * 400, parts["gold.jsonl"], count=1),
        },
        True,
        "field agreement: expected a number.",
    ),
    "a vote twice": (
        lambda parts: {**parts, "votes.jsonl": parts["votes.jsonl"] + parts["votes.jsonl"].splitlines()[0] + b"\n"},
        True,
        "contradicts itself",
    ),
    "a name that the site refuses": (
        lambda parts: {**parts, "people.jsonl": parts["people.jsonl"].replace(b'"bob"', b'"<bob>"', 1)},
        True,
        "people.jsonl, line 4: '<bob>' is not a user name",
    ),
    "no zip": (None, False, "not a readable archive"),
}


def test_a_changed_archive_is_refused_with_one_sentence_and_leaves_nothing(full_project):
    parts, events = contents(packed(full_project)), VoteEvent.objects.count()
    for what, (change, manifest_too, expected) in CHANGES.items():
        source = io.BytesIO(b"PK no zip")
        if change is not None:
            source = repacked(change(parts), manifest_too=manifest_too)
        with pytest.raises(BadArchive) as caught:
            import_archive(by=None, source=source, slug="copy", now=timezone.now())
        assert expected in str(caught.value), what
        assert "\n" not in str(caught.value), what
        assert not Project.objects.exclude(slug="minds").exists(), what
        assert VoteEvent.objects.count() == events, what
        assert not User.objects.exclude(imported_into=None).exists(), what


def test_a_damaged_archive_is_refused_with_one_sentence(full_project):
    """A byte of another value is noticed by the zip, by the manifest or by the digest of a file, or changes nothing."""
    raw, refused = packed(full_project).read(), 0
    for seed in range(20):
        rng, damaged = random.Random(seed), bytearray(raw)
        for _ in range(rng.choice((1, 5))):
            damaged[rng.randrange(len(raw))] = rng.randrange(256)
        try:
            import_archive(by=None, source=io.BytesIO(damaged), slug=f"copy-{seed}", now=timezone.now())
        except BadArchive as error:
            refused += 1
            assert str(error) and "\n" not in str(error), seed
    assert refused > 12
    assert Project.objects.exclude(slug="minds").count() == 20 - refused


@pytest.mark.parametrize(
    ("code", "told"), [(sqlite3.SQLITE_FULL, "the disk is full"), (sqlite3.SQLITE_BUSY, "another process holds")]
)
def test_a_full_disk_or_a_held_database_is_not_blamed_on_the_archive(full_project, monkeypatch, tmp_path, code, told):
    path = tmp_path / "minds.zip"
    path.write_bytes(packed(full_project).read())

    def failing(*args):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = code
        raise OperationalError(*error.args) from error

    monkeypatch.setattr(archive_import, "insert_rows", failing)
    with pytest.raises(CommandError, match=told):
        call_command("import_archive", str(path), "--project=copy")
    assert not Project.objects.exclude(slug="minds").exists()


def test_a_name_that_is_taken_is_refused(full_project):
    with pytest.raises(BadArchive, match="already"):
        import_archive(by=None, source=packed(full_project), slug="minds", now=timezone.now())


def test_a_name_that_is_taken_while_the_archive_is_read_is_refused(full_project, monkeypatch):
    """The other project appears after the first look, as if someone else had been quicker."""
    looked = archive_import.checked

    def slow(archive):
        Project.objects.create(slug="copy", name="Someone else's")
        return looked(archive)

    monkeypatch.setattr(archive_import, "checked", slow)
    with pytest.raises(BadArchive, match=r"^There is a project 'copy' already; choose another name\.$"):
        import_archive(by=None, source=packed(full_project), slug="copy", now=timezone.now())
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


@pytest.fixture
def many_votes(full_project, make_story, assign, cast_vote) -> Project:
    for number in range(10, 16):
        story = make_story(number)
        for one in assign(story):
            for proposition in Proposition.objects.gold_of(story):
                cast_vote(one, proposition, "order", "1")
    return full_project


@pytest.mark.django_db(transaction=True)
def test_an_archive_is_written_in_short_transactions_and_read_outside_of_them(many_votes, monkeypatch):
    source, lines = packed(many_votes), archive_import.rows_of

    def checked(archive, section):
        for line in lines(archive, section):
            assert not connection.in_atomic_block
            yield line

    monkeypatch.setattr(archive_import, "rows_of", checked)
    small_steps(monkeypatch, 10)
    with watched_transactions(monkeypatch) as written:
        rows = import_archive(by=None, source=source, slug="copy", now=timezone.now())
    assert rows["votes"] == 39
    assert len(written) > sum(rows.values()) // 10
    if connection.vendor == "sqlite":
        assert max(written) == 10


@pytest.mark.django_db(transaction=True)
def test_until_all_is_in_the_project_has_another_name_and_no_members_and_what_broke_off_is_taken_away(
    many_votes, cast, monkeypatch
):
    source = packed(many_votes)
    small_steps(monkeypatch, 10)
    monkeypatch.setattr(short_writes, "_PAUSE_SECONDS", 0)
    held = {model: model.objects.count() for model in (Story, Vote, VoteEvent, GoldLabel, AuditEvent, User, Project)}
    with monkeypatch.context() as broken:
        broken.setattr(archive_import, "discard_project", lambda project: None)  # as if the machine was switched off
        broken.setattr(archive_import._Import, "_open", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            import_archive(by=cast.alice, source=source, slug="copy", now=timezone.now(), matched=["bob"])
    left = Project.objects.get(slug="copy-importing")
    assert not left.memberships.exists()
    with pytest.raises(BadArchive, match="at work or was broken off; import_archive --discard"):
        import_archive(by=None, source=source, slug="copy", now=timezone.now())
    archive_import.discard_project(left)
    assert {model: model.objects.count() for model in held} == held
    with monkeypatch.context() as broken:
        broken.setattr(archive_import, "discard_project", lambda project: None)
        broken.setattr(archive_import._Import, "_open", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            import_archive(by=None, source=source, slug="copy", now=timezone.now())
    import_archive(by=None, source=source, slug="copy", now=timezone.now(), discard=True)
    assert set(Project.objects.values_list("slug", flat=True)) == {"minds", "copy"}
