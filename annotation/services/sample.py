"""The sample project: loaded once into a new installation, so that every page has something to show."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from django.contrib.auth.hashers import check_password
from django.db import transaction

from annotation.domain.drafts import Change, RowState
from annotation.domain.reconciliation import PairState, Status
from annotation.domain.sample_corpus import FOLDER, SCHEMA, bare_records, sample_records
from annotation.domain.scripted_readers import FURTHER_READERS, READERS, SUGGESTS
from annotation.domain.stories import StoryRow
from annotation.domain.tasks import LabelTask
from annotation.domain.tasks import Row as TaskRow
from annotation.models import (
    Assignment,
    AuditEvent,
    GoldLabel,
    Membership,
    Pair,
    Project,
    Proposition,
    Role,
    Story,
    Suggestion,
    User,
)
from annotation.models.belief_table import PropositionQuerySet
from annotation.services import audit
from annotation.services.adjudication import adjudicate
from annotation.services.arms import draw_for
from annotation.services.assignments import assign
from annotation.services.drafts import hand_in, save_rows
from annotation.services.new_stories import insert_stories
from annotation.services.projects import create_project
from annotation.services.reconciliation import decide, finish, open_pairs, pairs_of
from annotation.services.stories import make_split
from annotation.services.vote_import import import_votes
from annotation.services.votes import MAX_CHANGES, save_votes
from annotation.services.votes import Change as VoteChange
from core.ids import new_uid
from core.plain import Json
from workers.models import Endpoint
from workers.services.endpoints import add_samples, save_endpoint

PREFILLED = range(1, 8)
"""The stories, by number, that were labelled beside suggestions: one of each category."""
FILE = "votes.csv"
MOST_SECONDS = 60
"""A longer pause before a vote is not time spent on it."""
VoteRow = Mapping[str, str]


def add_votes(*, by: User, project: Project) -> None:
    """Have the invented annotators vote. Call it in a transaction."""
    rows = list(rows_of(FILE))
    for number in PREFILLED:
        _suggest(project, number)
    cast = defaultdict(list)
    for row in rows:
        if int(row["story_id"]) in PREFILLED:
            cast[int(row["story_id"]), row["annotator"]].append(row)
    for (number, name), votes in cast.items():
        assignment = Assignment.objects.select_related("story__project", "annotator").get(
            story__project=project, story__number=number, annotator__username=name
        )
        draw_for(assignment=assignment, now=datetime.fromisoformat(votes[0]["created_at"]))
        uids = {
            (proposition.actor, proposition.belief): proposition.uid for proposition in _propositions(project, number)
        }
        changes = list(_changes(votes, uids))
        for first in range(0, len(changes), MAX_CHANGES):
            some = changes[first : first + MAX_CHANGES]
            save_votes(by=assignment.annotator, assignment=assignment, changes=some, now=some[-1].changed_at)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for row in rows if int(row["story_id"]) not in PREFILLED)
    sheet = io.BytesIO(text.getvalue().encode())
    import_votes(by=by, project=project, handle=sheet, file=FILE, now=datetime(2026, 10, 20, tzinfo=UTC))


def _suggest(project: Project, number: int) -> None:
    """Keep what the model says of every proposition of a story."""
    propositions = list(_propositions(project, number))
    rows = [TaskRow(at, proposition.actor, proposition.belief) for at, proposition in enumerate(propositions)]
    task = LabelTask(rows=rows, dimensions=project.schema.labels)
    labels_by_row = json.loads(SUGGESTS.answer({"task": task.as_task()}))["rows"]
    moment = datetime(2026, 10, 2, 9, 0, tzinfo=UTC)
    Suggestion.objects.bulk_create([
        Suggestion(proposition=proposition, dimension=key, label=label, source=SUGGESTS.name, created_at=moment)
        for at, proposition in enumerate(propositions)
        for key, label in labels_by_row[str(at)].items()
    ])  # fmt: skip


def _propositions(project: Project, number: int) -> PropositionQuerySet:
    live = Proposition.objects.live_gold().filter(table__story__project=project, table__story__number=number)
    return live.order_by("position")


def _changes(votes: Sequence[VoteRow], uids: Mapping[tuple[str, str], str]) -> Iterator[VoteChange]:
    moments = [datetime.fromisoformat(vote["created_at"]) for vote in votes]
    pauses = [0.0, *((after - before).total_seconds() for before, after in pairwise(moments))]
    for vote, moment, pause in zip(votes, moments, pauses, strict=True):
        uid, key = uids[vote["actor"], vote["belief"]], vote["dimension"]
        spent = int(1000 * pause) if 0 < pause <= MOST_SECONDS else None
        yield VoteChange(uid, key, vote["label"], moment, f"{uid}-{key}", duration_ms=spent, saw=True)


SLUG = "sample"
PASSWORD = "credence-sample"
PEOPLE = {
    "admin": ("Admin", Role.ADMIN),
    "ada": ("Ada", Role.ANNOTATOR),
    "bruno": ("Bruno", Role.ANNOTATOR),
    "chidi": ("Chidi", Role.ANNOTATOR),
    "dalia": ("Dalia", Role.EXPERT),
    "esi": ("Esi", Role.EXPERT),
}
DESCRIPTION = (
    "Twenty-five short stories, most with belief tables that two experts wrote, with votes and decisions: a project to "
    "try things on."
)
LOADED, COMPLETED = "sample.loaded", "sample.completed"
"""Actions in the audit log: the project was loaded, and what other apps add to it is there."""
CARD = {
    "licence": "The licence of Credence",
    "source": "Stories written for this project.",
    "recruitment": "The annotators are invented; their votes come from a seeded script.",
    "biases": "Small, English, everyday situations; labels follow the project's own reading of the schema.",
    "personal_information": "none",
    "intended_use": "To try the product, and as worked examples of the schema.",
}


@transaction.atomic
def load_sample() -> Project:
    """Make people, project, votes and decisions. Raises ValueError where a project or a name is there already."""
    if Project.objects.filter(slug=SLUG).exists():
        raise ValueError(f"There is a project {SLUG!r} already.")
    taken = User.objects.filter(username__in=PEOPLE).values_list("username", flat=True)
    if taken:
        raise ValueError(f"These user names are taken: {', '.join(sorted(taken))}.")
    people = {}
    for name, (display_name, _) in PEOPLE.items():
        people[name] = User.objects.create_user(name, password=PASSWORD, display_name=display_name)
    User.objects.filter(username="admin").update(is_superuser=True, is_staff=True)
    admin = people["admin"]
    project = create_project(by=admin, slug=SLUG, name="Sample", description=DESCRIPTION, schema=SCHEMA)
    Project.objects.filter(pk=project.pk).update(dataset_card=CARD)
    add_stories(project)
    _add_models()
    for name, (_, role) in PEOPLE.items():
        Membership.objects.update_or_create(project=project, user=people[name], defaults={"role": role})
    experts = {name: people[name] for name in ("esi", "dalia")}
    write_tables(project=project, experts=experts, now=datetime(2026, 9, 28, 9, 0, tzinfo=UTC))
    make_split(by=admin, project=project, name="calibration", rest="main", per_category=1, seed=1)
    settled = Proposition.objects.live_gold().filter(table__story__project=project).values("table__story")
    stories = project.stories.filter(pk__in=settled).order_by("number").values_list("pk", flat=True)
    assignments = [(story, people[name].pk) for story in stories for name in ("ada", "bruno", "chidi")]
    assign(by=admin, project=project, assignments=assignments)
    add_votes(by=admin, project=project)
    _decide(project, people["esi"])
    audit.record(by=None, project=project, action=LOADED, target=SLUG)
    return project


def refuse_public_log_ins(*, host: str, loading: bool) -> None:
    """Refuse to serve the sample's password to others, who reach this site by `host`; `loading`: the sample is about to
    be loaded. Raises ValueError."""
    reached = f"HOST is {host}, so others can reach this site"
    if loading:
        raise ValueError(
            f"{reached}, and the sample has accounts whose password is public. Start with SAMPLE=0 for an installation "
            "without the sample, or with HOST=127.0.0.1 to try it on this machine only."
        )
    accounts = User.objects.accounts().filter(username__in=PEOPLE, is_active=True).order_by("username")
    if names := [account.username for account in accounts if check_password(PASSWORD, account.password)]:
        raise ValueError(
            f"{reached}, but the password of {', '.join(names)} is the sample's, which is public. Change it with "
            "manage.py changepassword NAME for each of them, or start with HOST=127.0.0.1."
        )


def unfinished_sample() -> Project | None:
    """Return the sample project where it was loaded and what other apps add to it was not; None where nothing is left
    to do."""
    logged = AuditEvent.objects.filter(action__in=(LOADED, COMPLETED), project__slug=SLUG)
    done = set(logged.values_list("action", flat=True))
    return Project.objects.get(slug=SLUG) if done == {LOADED} else None


def note_completed(project: Project) -> None:
    """Record that nothing is left to add to the sample."""
    audit.record(by=None, project=project, action=COMPLETED, target=SLUG)


def _add_models() -> None:
    """Register the built-in models, and the scripted ones of the sample, where their names are free."""
    add_samples()
    taken = set(Endpoint.objects.values_list("name", flat=True))
    for reader in (*READERS, *FURTHER_READERS):
        if reader.name not in taken:
            options = {"function": reader.name}
            values = {"name": reader.name, "provider": "scripted", "model": reader.name, "options": options}
            save_endpoint(by="", values={**values, "family": reader.family, "max_concurrency": 64, "repeat_unknown": 1})


def _decide(project: Project, expert: User) -> None:
    moment = datetime(2026, 10, 21, 9, 0, tzinfo=UTC)
    for row in rows_of("adjudications.csv"):
        where = {"table__story__project": project, "table__story__number": row.pop("story_id")}
        words = {"actor": row.pop("actor"), "belief": row.pop("belief")}
        proposition = Proposition.objects.select_related("table__story__project").get(**where, **words)
        gold = GoldLabel.objects.get(proposition=proposition, dimension=row["dimension"])
        moment += timedelta(seconds=70)
        decision: Json = row | {"guideline_flag": bool(row.get("guideline_flag"))}
        adjudicate(by=expert, proposition=proposition, revision=gold.revision, now=moment, **decision)


BOTH = "both"
"""The note of a row that neither expert wrote and that was added when they reconciled."""
Row = tuple[str, str]
"""Actor and belief."""


Note = Mapping[str, str]
"""Deviation of an expert from the settled table, and the remark on it: {actor, belief, expert, wrote, order, remark}.
Without a belief it is a row of theirs that was dropped; without `wrote` and `order` they left the row out."""


def add_stories(project: Project) -> None:
    """Write all stories of the sample, none with a table yet; within a transaction of the caller's."""
    for name, records in (("stories.jsonl", sample_records()), ("bare_stories.jsonl", bare_records())):
        rows = [
            StoryRow(name, line, record.story_category, record.story, number=record.story_id)
            for line, record in enumerate(records, 1)
        ]
        insert_stories(project, rows, name)


def write_tables(*, project: Project, experts: Mapping[str, User], now: datetime) -> None:
    """Have the experts write and reconcile the tables of the sample corpus, and hand in two more tables that are left
    to reconcile."""
    stories = {story.number: story for story in project.stories.select_related("project")}
    notes: dict[int, list[Note]] = defaultdict(list)
    for row in rows_of("reconciliations.csv"):
        notes[int(row.pop("story_id"))].append(row)
    for record in sample_records():
        number = record.story_id
        settled = [RowState(row.actor, row.belief, row.labels["order"]) for row in record.beliefs]
        for name, expert in experts.items():
            _write(stories[number], expert, _draft(settled, notes[number], name), now)
        first, story = next(iter(experts.values())), stories[number]
        open_pairs(story=story, by=first, now=now)
        decisions = [
            Change(row, base, state, new_uid(), new_uid(), now)
            for row, base, state in _decided(list(pairs_of(story)), settled, notes[number])
            if base != state
        ]
        decide(by=first, story=story, decisions=decisions, now=now)
        finish(by=first, story=story, now=now)
    drafts: dict[tuple[int, str], list[RowState]] = defaultdict(list)
    for row in rows_of("drafts.csv"):
        state = RowState(row["actor"], row["belief"], row["order"], row["remark"])
        drafts[int(row["story_id"]), row["expert"]].append(state)
    for (number, name), rows in drafts.items():
        _write(stories[number], experts[name], rows, now)


def rows_of(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(handle)


def _draft(settled: list[RowState], notes: list[Note], expert: str) -> Iterator[RowState]:
    own = [note for note in notes if note["expert"] in (expert, BOTH)]
    by_row = {(note["actor"], note["belief"]): note for note in own}
    for row in settled:
        note = by_row.get((row.actor, row.belief))
        if note is None:
            yield row
        elif note["wrote"] or note["order"]:
            yield replace(row, belief=note["wrote"] or row.belief, order=note["order"] or row.order)
    yield from (RowState(note["actor"], note["wrote"], "1") for note in own if not note["belief"])


def _write(story: Story, expert: User, rows: Iterable[RowState], now: datetime) -> None:
    changes = [
        Change(new_uid(), None, replace(row, place=float(place)), new_uid(), new_uid(), now)
        for place, row in enumerate(rows, 1)
    ]
    save_rows(by=expert, story=story, changes=changes, now=now)
    hand_in(by=expert, story=story, now=now)


def _decided(
    pairs: list[Pair], settled: list[RowState], notes: list[Note]
) -> Iterator[tuple[str, PairState | None, PairState]]:
    """Yield (uid of a pair, its state, what it is decided to be): settled rows in their order, then the dropped."""
    remarks: dict[Row, str] = {(note["actor"], note["belief"] or note["wrote"]): note["remark"] for note in notes}
    reworded = [note for note in notes if note["belief"]]
    meant: dict[Row, Row] = {(note["actor"], note["wrote"]): (note["actor"], note["belief"]) for note in reworded}
    by_row: dict[Row, Pair] = {}
    for each in pairs:
        written = (each.actor, each.belief)
        by_row[meant.get(written, written)] = each
    place = 0.0
    for row in settled:
        key = (row.actor, row.belief)
        if pair := by_row.pop(key, None):
            base = pair.state
            place = base.place if base.status == Status.KEPT else place + 0.01
            yield pair.uid, base, PairState(Status.KEPT.value, *key, row.order, remarks.get(key, ""), place)
        else:
            place += 0.01
            yield new_uid(), None, PairState(Status.KEPT.value, *key, row.order, remarks.get(key, ""), place)
    for key, pair in by_row.items():
        base = pair.state
        yield pair.uid, base, replace(base, status=Status.DROPPED.value, remark=remarks[key])
