"""The counts that pages read are what the rows say, whatever was done: they are compared with a count of everything."""

import random
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO, StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum

from annotation.domain.tables import TableRow
from annotation.models import Assignment, GoldLabel, Method, Proposition, StoryCounts
from annotation.services import counts
from annotation.services.adjudication import AdjudicationRefused, adjudicate, undo_decision
from annotation.services.archive_import import discard_project
from annotation.services.assignments import release
from annotation.services.belief_tables import add_rows, remove, reword
from annotation.services.projects import change_settings
from annotation.services.vote_import import import_votes
from annotation.services.votes import Change, save_votes

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
HEAD = "story_id,actor,belief,dimension,annotator,label,created_at\n"


class Actions:
    """Everything that changes votes, gold or propositions, drawn at random."""

    def __init__(self, cast, stories, seed: int) -> None:
        self.cast, self.stories, self.random, self.step = cast, stories, random.Random(seed), 0
        self.schema = cast.project.schema

    @property
    def now(self) -> datetime:
        self.step += 1
        return NOW + timedelta(seconds=self.step)

    def proposition(self) -> Proposition:
        live = Proposition.objects.live_gold().filter(table__story__in=self.stories)
        return self.random.choice(list(live.select_related("table__story__project").order_by("id")))

    def vote(self) -> None:
        row = self.proposition()
        active = Assignment.objects.active().select_related("annotator", "story__project")
        assigned = active.filter(story=row.table.story)
        if not assigned:
            return
        assignment = self.random.choice(list(assigned.order_by("id")))
        dimension = self.random.choice(self.schema.dimensions)
        label = self.random.choice(["", *dimension.values[:2], *dimension.values[:2]])
        now = self.now
        change = Change(row.uid, dimension.key, label, now, f"key-{self.step}")
        save_votes(by=assignment.annotator, assignment=assignment, changes=[change], now=now)

    def vote_alike(self) -> None:
        """All annotators of a story give a cell one label, or several."""
        row, dimension = self.proposition(), self.random.choice(self.schema.dimensions)
        for assignment in Assignment.objects.active().filter(story=row.table.story).order_by("id"):
            now, label = self.now, self.random.choice([*dimension.values[:1] * 5, *dimension.values[1:3]])
            change = Change(row.uid, dimension.key, label, now, f"key-{self.step}")
            save_votes(by=assignment.annotator, assignment=assignment, changes=[change], now=now)

    def adjudicate(self) -> None:
        if gold := self.gold(Method.OPEN, Method.MAJORITY, Method.ADJUDICATED):
            label, remarks = self.schema[gold.dimension].values[0], {"reason": "So the guideline says."}
            with suppress(AdjudicationRefused):
                adjudicate(**self.decision(gold), label=label, **remarks)

    def undo(self) -> None:
        if gold := self.gold(Method.ADJUDICATED):
            undo_decision(**self.decision(gold))

    def decision(self, gold: GoldLabel) -> dict:
        cell = {"proposition": gold.proposition, "dimension": gold.dimension}
        return {"by": self.cast.esi, **cell, "revision": gold.revision, "now": self.now}

    def gold(self, *methods: Method) -> GoldLabel | None:
        rows = GoldLabel.objects.filter(method__in=methods, proposition__removed_at__isnull=True).order_by("id")
        return self.random.choice(list(rows) or [None])

    def release(self) -> None:
        held = list(Assignment.objects.active().select_related("story__project", "annotator").order_by("id"))
        if len(held) > 4:
            release(by=self.cast.alice, assignment=self.random.choice(held), now=self.now)

    def import_votes(self) -> None:
        row, dimension = self.proposition(), self.random.choice(self.schema.dimensions)
        cells = [row.table.story.number, row.actor, row.belief, dimension.key, "bob", dimension.values[1], self.now]
        file = BytesIO((HEAD + ",".join(map(str, cells)) + "\n").encode())
        import_votes(by=self.cast.alice, project=self.cast.project, handle=file, file="votes.csv", now=self.now)

    def add(self) -> None:
        rows = [TableRow("Ines", f"Added {self.step}", "")]
        add_rows(by=self.cast.alice, story=self.random.choice(self.stories), rows=rows, now=self.now)

    def reword(self) -> None:
        row = self.proposition()
        reword(by=self.cast.alice, proposition=row, actor=row.actor, belief=f"Other {self.step}", now=self.now)

    def remove(self) -> None:
        if Proposition.objects.live_gold().filter(table__story__in=self.stories).count() > 4:
            remove(by=self.cast.alice, proposition=self.proposition(), now=self.now)

    def label_of_record(self) -> None:
        labels, row = {key: self.random.choice(["", "x"]) for key in self.schema.keys[:4]}, self.proposition()
        Proposition.objects.filter(pk=row.pk).update(imported_labels=labels)
        counts.recount([row.table.story_id])

    def change_rule(self) -> None:
        demanding = self.random.choice([[], ["order", "content_type"]])
        change_settings(
            by=self.cast.alice, project=self.cast.project, changes={"unanimity_dimensions": demanding}, now=self.now
        )  # fmt: skip

    def one(self) -> None:
        often = [self.vote] * 6 + [self.vote_alike] * 6 + [self.adjudicate] * 3
        seldom = [self.undo, self.release, self.import_votes, self.add, self.reword, self.remove, self.label_of_record]
        self.random.choice([*often, *seldom, self.change_rule])()


@pytest.mark.parametrize("seed", [3, 7])
def test_whatever_is_done_the_counts_are_those_of_a_recount(cast, make_story, assign, seed):
    stories = [make_story(number) for number in (1, 2, 3)]
    for story in stories:
        assign(story)
    actions, seen = Actions(cast, stories, seed), Counter()
    for _ in range(16):
        for _ in range(6):
            actions.one()
        assert not list(counts.differences(cast.project))
        names = ("propositions", "unanimous", "majority", "adjudicated", "open", "imported", "unvoted")
        seen += Counter(StoryCounts.objects.aggregate(**{name: Sum(name) for name in names}))
    assert set(seen) == set(names)  # each occurred


def test_the_check_finds_a_wrong_count_and_the_recount_mends_it(cast, make_story):
    make_story(7)
    call_command("recount", "--check", stdout=StringIO())
    StoryCounts.objects.update(open=3)
    errors = StringIO()
    with pytest.raises(CommandError, match="1 story with wrong counts"):
        call_command("recount", "--check", "--project=minds", stdout=StringIO(), stderr=errors)
    assert "minds, story 7: kept propositions 2, unanimous 0, majority 0, adjudicated 0, open 3" in errors.getvalue()
    output = StringIO()
    call_command("recount", stdout=output)
    assert output.getvalue() == "1 story counted anew.\n"
    call_command("recount", "--check", stdout=StringIO())
    discard_project(cast.project)
    assert not StoryCounts.objects.exists()
