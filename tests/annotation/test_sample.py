import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from annotation.domain.reconciliation import PairKind
from annotation.domain.sample_corpus import FOLDER, bare_records, sample_records
from annotation.domain.schema import cross_check
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import BeliefTable, GoldLabel, Proposition, Remark, User, Vote
from annotation.services.reconciliation import open_pairs, pairs_of, state_of
from tests.sample import sample

STORIES = [json.loads(line) for line in (FOLDER / "stories.jsonl").read_text(encoding="utf-8").splitlines()]
NOW = datetime(2026, 11, 2, tzinfo=UTC)
BELIEFS = [(story, belief) for story in STORIES for belief in story["beliefs"]]


def test_stories_have_tables_of_all_legal_labels_that_agree_with_each_other():
    assert set(Counter(story["story_category"] for story in STORIES).values()) == {3}
    assert len(STORIES) == 21 and min(len(story["beliefs"]) for story in STORIES) >= 12
    for story in STORIES:
        rows = [(belief["actor"], belief["belief"]) for belief in story["beliefs"]]
        assert len(rows) == len(set(rows)), story["story_id"]
    seen = {key: {belief["labels"][key] for _, belief in BELIEFS} for key in DEFAULT_SCHEMA.keys}
    assert seen == {key: set(DEFAULT_SCHEMA[key].values) for key in DEFAULT_SCHEMA.keys}
    # world facts are of order 0, from the narrator, and nothing else is
    for story, belief in BELIEFS:
        labels = belief["labels"]
        world = belief["actor"] == "world"
        where = (story["story_id"], belief["belief"])
        assert world == (labels["order"] == "0") == (labels["mental_source"] == "Narration"), where
        assert not cross_check(DEFAULT_SCHEMA, belief["actor"], labels), where


def test_no_story_stands_in_a_benchmark(shared):
    held = "\n".join(path.read_text(encoding="utf-8") for path in (shared / "data" / "ToMBench").glob("*.jsonl"))
    assert held
    for story in [*sample_records(), *bare_records()]:
        assert story.story not in held


@pytest.mark.django_db
def test_most_is_settled_and_work_is_left_for_everybody():
    """Two experts wrote the tables and left two to reconcile and two to write."""
    project = sample()
    methods = Counter(GoldLabel.objects.values_list("method", flat=True))
    assert methods["open"] >= 5 and methods["adjudicated"] >= 20 and methods["unanimous"] > methods["majority"] > 100
    assert GoldLabel.objects.filter(guideline_flag=True).count() >= 4
    rows = Proposition.objects.live_gold().filter(table__story__project=project).count()
    for name in ("ada", "bruno", "chidi"):
        labelled = Vote.objects.filter(annotator__username=name).values("proposition").distinct().count()
        assert rows * 0.8 < labelled < rows, name
    written = Proposition.objects.live_gold().filter(table__story__project=project).order_by("position")
    for story in project.stories.filter(number__lte=21):
        meant = next(one["beliefs"] for one in STORIES if one["story_id"] == story.number)
        rows = [(row.actor, row.belief, row.order_text) for row in written.filter(table__story=story)]
        assert rows == [(row["actor"], row["belief"], row["labels"]["order"]) for row in meant], story.number
    remarks = Counter(Proposition.objects.filter(table__story__project=project).values_list("remark", flat=True))
    assert min(remarks[remark] for remark in Remark) >= 9 and remarks[Remark.NONE] > 0.7 * remarks.total()
    esi = User.objects.get(username="esi")
    ready = [story for story in project.stories.all() if state_of(story=story, expert=esi).ready and story.number > 21]
    assert [story.number for story in ready] == [22, 23]
    for story in ready:
        open_pairs(story=story, by=esi, now=NOW)
        kinds = {pair.kind for pair in pairs_of(story)}
        assert {PairKind.SAME, PairKind.REWORDED, PairKind.ONLY_A, PairKind.ONLY_B} <= kinds
    assert not BeliefTable.objects.filter(story__number__in=(24, 25)).exists()
