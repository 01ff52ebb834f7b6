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
    project, moments = cast.project, {"changed_at": NOW, "received_at": NOW}
    project.dataset_card, project.unanimity_dimensions = {"licence": "CC0"}, ["context"]
    project.save()
    split = Split.objects.create(project=project, name="main", seed=4)
    story = make_story(1, split=split, translations={"zh": "故事"}, extra={"layout": '{"b": 1, "a": 2}'})
    suggested = SuggestedRow.objects.create(story=story, number=1, actor="A", belief="B", source="tiny", created_at=NOW)
    drawn = {"arm_drawn_at": NOW, "is_blind": False, "arm_seed": 1, "blind_share": 50}
    draft = BeliefTable.objects.create(story=story, kind=TableKind.DRAFT, author=cast.esi, **drawn)
    row = DraftRow.objects.create(table=draft, actor="A", belief="B", place=1.5, suggested=suggested)
    state = plain(RowState("A", "B", place=1.5))
    keys = {"idempotency_key": "k", "action": "a"}
    DraftEvent.objects.create(table=draft, row=row, kind="add", after=state, **keys, **moments)
    first, second = Proposition.objects.gold_of(story)
    pair = Pair.objects.create(
        story=story, a=row, place=1, actor="A", belief="B", proposition=first, decided_by=cast.esi
    )
    PairEvent.objects.create(row=pair, by=cast.esi, after=plain(PairState(place=1)), **keys, **moments)
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
    for alignment in new_study(cast).tasks.filter(source="bright-model").first().alignments.all():
        answer_all(alignment, p1="g1")
    audit.record(by=cast.alice, project=project, action="project.changed", target="minds", before={}, after={"x": 1})
    return project


def packed(project: Project) -> io.BytesIO:
    target = io.BytesIO()
    export_archive(project=project, target=target, now=NOW)
    target.seek(0)
    return target


def copied(project: Project, **options) -> dict[str, int]:
    return import_archive(**{"by": None, "source": packed(project), "slug": "copy", "now": timezone.now()} | options)


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
    raw = b"".join(first.values())
    assert b"md5$" not in raw and b"@example.org" not in raw, "nothing secret is in it"
    everybody = [json.loads(line)["username"] for line in first["people.jsonl"].splitlines()]
    rows = copied(full_project, matched=everybody)
    assert (rows["votes"], rows["vote_events"], rows["gold"]) == (3, 5, 1)
    second = contents(packed(Project.objects.get(slug="copy")))
    for name in section_names():
        if name != "audit":
            assert second[file_of(name)] == first[file_of(name)], name
    history = second["audit.jsonl"].splitlines()
    assert history[:-1] == first["audit.jsonl"].splitlines()
    assert json.loads(history[-1])["action"] == "archive.imported"


def test_everybody_becomes_an_imported_annotator_and_nobody_a_member(full_project, cast):
    """Votes, decisions, comments and history are under names of the copy: no account of the site is said to have made
    them. An archive of the copy says the same again."""
    held = set(User.objects.accounts().values_list("pk", flat=True))
    copied(full_project)
    copy = Project.objects.get(slug="copy")
    assert set(User.objects.accounts().values_list("pk", flat=True)) == held
    assert not copy.memberships.exists()
    bob, esi = (User.objects.get(username=f"copy:{name}") for name in ("bob", "esi"))
    assert (bob.shown_name, bob.imported_into, bob.is_active) == ("Bob (imported)", copy, False)
    mine = {"proposition__table__story__project": copy}
    for model in (Vote, VoteEvent):
        assert set(model.objects.filter(**mine).values_list("annotator__imported_into", flat=True)) == {copy.pk}
    gold = GoldLabel.objects.get(**mine)
    assert gold.decided_by == esi and {one["annotator"] for one in gold.votes}.isdisjoint(held)
    assert CellComment.objects.get(**mine).author == esi
    assert PropositionFlag.objects.get(**mine).author.username == "copy:bea"
    assert not AuditEvent.objects.filter(project=copy, actor__in=held).exists()

    first = packed(copy)
    import_archive(by=None, source=first, slug="third", now=timezone.now())
    first, second = contents(first), contents(packed(Project.objects.get(slug="third")))
    for name in section_names():
        if name != "audit":
            assert second[file_of(name)] == first[file_of(name)], name
    assert b'":bob"' in first["votes.jsonl"]
    assert User.objects.get(username="third:bob").display_name == "Bob (imported)"


def test_only_accounts_that_are_named_are_matched_and_the_copy_is_alive(full_project, cast, cast_vote):
    for name, expected in (
        ("nobody", "nobody called 'nobody' here"), ("charlie", "The archive holds nobody called 'charlie'"),
    ):  # fmt: skip
        with pytest.raises(BadArchive, match=expected):
            copied(full_project, matched=[name])
    assert not Project.objects.exclude(slug="minds").exists()
    copied(full_project, by=cast.charlie, matched=["bob", "esi"])
    copy = Project.objects.get(slug="copy")
    roles = dict(copy.memberships.values_list("user__username", "role"))
    assert roles == {"bob": "annotator", "esi": "expert", "charlie": "admin"}, "those of the archive"
    assert AuditEvent.objects.get(action="archive.imported").details["accounts"] == ["bob", "esi"]
    vote = Vote.objects.get(proposition__table__story__project=copy, annotator=cast.bob)
    assignment = Assignment.objects.active().get(story__project=copy, annotator=cast.bob)
    cast_vote(assignment, vote.proposition, "order", "3")
    vote.refresh_from_db()
    assert vote.label == "3" and GoldLabel.objects.get(proposition=vote.proposition).disturbed
    assert not GoldLabel.objects.exclude(proposition=vote.proposition).get().disturbed


def test_an_account_and_an_imported_annotator_of_one_name_stay_two(full_project):
    parts = contents(packed(full_project))
    for name in ("people", "votes", "vote_events", "assignments", "gold", "gold_events"):
        parts[file_of(name)] = parts[file_of(name)].replace(b'"bea"', b'":bob"')
    parts["people.jsonl"] += b'{"username": "bea", "display_name": "Bea"}\n'
    import_archive(by=None, source=repacked(parts), slug="copy", now=timezone.now())
    copy = Vote.objects.filter(proposition__table__story__project__slug="copy")
    assert set(copy.values_list("annotator__username", flat=True)) == {"copy:bob", "copy:bob+", "copy:ben"}


def test_no_time_of_an_archive_lies_in_the_future(full_project):
    parts, now = contents(packed(full_project)), timezone.now()
    for section, field in (
        ("votes", "changed_at"), ("gold", "decided_at"), ("assignments", "assigned_at"), ("comments", "created_at"),
        ("stories", "created_at"),
    ):  # fmt: skip

        def moved(section=section, field=field, **by) -> io.BytesIO:
            then = f'"{field}": "{(now + timedelta(**by)).isoformat()}"'
            raw = re.sub(f'"{field}": "[^"]+"', then, parts[file_of(section)].decode(), count=1)
            return repacked({**parts, file_of(section): raw.encode()})

        with pytest.raises(BadArchive, match=rf"^{section}\.jsonl, line 1: {field}: it lies in the future"):
            import_archive(by=None, source=moved(days=2), slug="copy", now=now)
        import_archive(by=None, source=moved(hours=2), slug=f"copy-{section}", now=now)  # a clock that is fast
    assert not Vote.objects.filter(changed_at__gt=now).exists()


CHANGES = [
    ("votes", rb"^", b"{\n", "votes.jsonl, line 1: column 2: it is not JSON"),
    ("votes", rb"^", b"[" * 99999, "line 1: The JSON is nested too deeply; expected at most 50 levels."),
    ("votes", rb"^", b"[]\n", "votes.jsonl, line 1: The line holds a list; exp"),
    ("votes", rb"^", b" \n", "votes.jsonl, line 1: The line is empty; expected one JSON object."),
    ("members", b'"role"', b'"is_superuser": true, "role"', "There is no field 'is_superuser'; expected only user"),
    ("members", b'"role": "admin", ', b"", "members.jsonl, line 1: The field role is missing; expected"),
    ("members", b'"admin"', b'"owner"', "members.jsonl, line 1: role: it is 'owner'; expected one of"),
    ("members", b'"role"', b'"role": "expert", "role"', "The field 'role' occurs twice in one object"),
    ("votes", b'"bob"', b'"nobody"', "annotator: it names 'nobody', which the archive does not hold"),
    ("stories", b'"number": 1', b'"number": "1"', "number: it is '1'; expected a whole number"),
    ("comments", rb"Why\?", rb"\\u0000", "NUL"),
    ("people", b'"display_name": "', rb'"display_name": "\\u0000', "The line cannot be kept: it holds a NUL cha"),
    (
        "people", b'"display_name": "', rb'"display_name": "\\ud800',
        "people.jsonl, line 1: The line cannot be kept: it holds half of a surrogate pair, which is not a character",
    ),
    ("people", b'"display_name": "[^"]*"', b'"display_name": 5', "line 1: display_name: it is 5; expected a text."),
    (
        "people", b', "display_name": "[^"]*"', b"",
        "people.jsonl, line 1: The field display_name is missing; expected an object with username, display_name.",
    ),
    ("gold", rb'"agreement": [\d.]+', b'"agreement": 1' + b"0" * 400, "agreement: it is a huge number; exp"),
    ("votes", rb"^(.*\n)", rb"\1\1", "contradicts itself"),
    ("people", b'"bob"', b'"<bob>"', "people.jsonl, line 4: '<bob>' is not a user name"),
]  # fmt: skip
"""Section, what is replaced in it, by what, and the refusal."""


def test_a_changed_archive_is_refused_with_one_sentence_and_leaves_nothing(full_project):
    parts, events = contents(packed(full_project)), VoteEvent.objects.count()
    without = {name: raw for name, raw in parts.items() if name != "gold.jsonl"}
    sources = [
        (io.BytesIO(b"PK no zip"), "not a readable archive"),
        (repacked({**parts, "votes.jsonl": parts["votes.jsonl"] + b" "}, manifest_too=False), "damaged or changed"),
        (repacked({**parts, "../evil": b"x"}, manifest_too=False), "not part of a project"),
        (repacked(without, manifest_too=False), "lacks gold"),
    ]
    for section, old, new, expected in CHANGES:
        changed = re.sub(old, new, parts[file_of(section)], count=1)
        assert changed != parts[file_of(section)], expected
        sources.append((repacked({**parts, file_of(section): changed}), expected))
    for source, expected in sources:
        with pytest.raises(BadArchive) as caught:
            import_archive(by=None, source=source, slug="copy", now=timezone.now())
        assert expected in str(caught.value)
        assert "\n" not in str(caught.value), expected
        assert not Project.objects.exclude(slug="minds").exists(), expected
        assert VoteEvent.objects.count() == events, expected
        assert not User.objects.exclude(imported_into=None).exists(), expected


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


def test_a_full_disk_or_a_held_database_is_not_blamed_on_the_archive(full_project, monkeypatch, tmp_path):
    path = tmp_path / "minds.zip"
    path.write_bytes(packed(full_project).read())
    for code, told in ((sqlite3.SQLITE_FULL, "the disk is full"), (sqlite3.SQLITE_BUSY, "another process holds")):

        def failing(*args, code=code):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = code
            raise OperationalError(*error.args) from error

        monkeypatch.setattr(archive_import, "insert_rows", failing)
        with pytest.raises(CommandError, match=told):
            call_command("import_archive", str(path), "--project=copy")
        assert not Project.objects.exclude(slug="minds").exists()


def test_a_name_that_is_taken_is_refused_also_while_the_archive_is_read(full_project, monkeypatch):
    with pytest.raises(BadArchive, match="already"):
        copied(full_project, slug="minds")
    looked = archive_import.checked

    def slow(archive):  # the other project appears after the first look
        Project.objects.create(slug="copy", name="Someone else's")
        return looked(archive)

    monkeypatch.setattr(archive_import, "checked", slow)
    with pytest.raises(BadArchive, match=r"^There is a project 'copy' already; choose another name\.$"):
        copied(full_project)
    assert Project.objects.get(slug="copy").name == "Someone else's"
    assert not Project.objects.get(slug="copy").memberships.exists()


def test_the_commands_write_and_read_a_file(full_project, tmp_path, capsys):
    path = tmp_path / "minds.zip"
    for words in (
        ["export_archive", "--project=minds", f"--output={path}"],
        ["import_archive", str(path), "--project=copy"],
    ):
        call_command(*words, "--json")
        assert json.loads(capsys.readouterr().out)["rows"]["votes"] == 3
    with pytest.raises(CommandError, match="already"):
        call_command(*words)


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
    assert rows["votes"] == 39 and len(written) > sum(rows.values()) // 10
    if connection.vendor == "sqlite":
        assert max(written) == 10


@pytest.mark.django_db(transaction=True)
def test_until_all_is_in_the_project_has_another_name_and_no_members_and_what_broke_off_is_taken_away(
    many_votes, cast, monkeypatch
):
    asked = {"source": packed(many_votes), "slug": "copy", "now": timezone.now()}
    small_steps(monkeypatch, 10)
    monkeypatch.setattr(short_writes, "_PAUSE_SECONDS", 0)
    held = {model: model.objects.count() for model in (Story, Vote, VoteEvent, GoldLabel, AuditEvent, User, Project)}

    def break_off(**options) -> None:
        """As if the machine was switched off at the end."""
        with monkeypatch.context() as broken:
            broken.setattr(archive_import, "discard_project", lambda project: None)
            broken.setattr(archive_import, "take_schema", lambda **_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                import_archive(**asked, **options)

    break_off(by=cast.alice, matched=["bob"])
    left = Project.objects.get(slug="copy-importing")
    assert not left.memberships.exists()
    with pytest.raises(BadArchive, match="at work or was broken off; import_archive --discard"):
        import_archive(by=None, **asked)
    archive_import.discard_project(left)
    assert {model: model.objects.count() for model in held} == held
    break_off(by=None)
    import_archive(by=None, **asked, discard=True)
    assert set(Project.objects.values_list("slug", flat=True)) == {"minds", "copy"}
