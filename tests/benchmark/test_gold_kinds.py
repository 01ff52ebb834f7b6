"""How gold was made: what a version keeps of it, that figures stay, and what pages, files and the API say."""

import csv
import io
import json

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, Proposition, Suggestion, Vote
from annotation.services.vote_import import import_votes
from annotation.services.votes import Change, save_votes
from benchmark.domain.gold_kinds import Kind, Move
from benchmark.models import Audience
from benchmark.services.datasets import publish_version
from benchmark.services.gold_kind_tables import tables_of
from benchmark.services.gold_kinds import (
    ALL_VOTES,
    BLIND_VOTES,
    OVERALL,
    UNKNOWN_VOTES,
    gold_metrics_of,
    labelled_versions,
    labelling_of,
)
from tests.benchmark.results_world import HOSTILE, results_world
from tests.benchmark.settled import LABELS, baselines, settle, started, work_off, written

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = DEFAULT_SCHEMA.keys
AT = KEYS.index("context")
PEOPLE = ("bea", "ben", "bob")


@pytest.fixture
def story(make_story):
    story = make_story(1)
    settle(story)
    return story


def test_a_version_keeps_what_annotators_saw_and_figures_stay(cast, story, assign, cast_vote):
    """Bob was shown a suggestion for the context of the first proposition and Bea not, and Ben only after his first
    vote; Bob alone takes it."""
    row, *others = Proposition.objects.gold_of(story)
    for person in assign(story):
        for one in (row, *others):
            for key in KEYS:
                cast_vote(person, one, key, LABELS[key])
    held = {"proposition": row, "dimension": "context"}
    Suggestion.objects.create(**held, label="Deceptive", source="m", created_at=timezone.now())
    cell = Vote.objects.filter(**held)
    cell.filter(annotator=cast.bob).update(arm="shown", suggested="Deceptive", label="Deceptive")
    cell.filter(annotator=cast.bea).update(arm="blind")
    cell.filter(annotator=cast.ben).update(arm="reveal", suggested="Deceptive")
    dataset, _ = publish_version(by=cast.alice, project=cast.project)
    kept = dataset.samples.get().gold["provenance"]
    assert [cells[AT] for cells in kept["suggested"]] == ["Deceptive", ""]
    # Bea never saw it; Ben's first vote, before the reveal, is not in these votes' history, and Bob was shown it.
    blind = {name: cells[0][AT] for name, cells in kept["blind"].items()}
    assert blind == {"bob": "", "bea": LABELS["context"], "ben": ""}
    assert kept["blind"]["bob"][1] == [LABELS[key] for key in KEYS]  # there was nothing to see
    assert kept["unknown"] == {}
    run = work_off(started(cast, dataset, [baselines()["majority"]]))
    assert labelled_versions(cast.project) == [dataset]
    before = gold_metrics_of(labelling_of(dataset))
    assert before.provenance["suggested"] == 1
    assert (before.kinds[Kind.ALL], before.kinds[Kind.BLIND]) == (14, 13)  # one blind vote alone settles nothing
    # Bob was shown Deceptive and took it; Bea and Ben outvote him.
    moved = {move: (of.value, of.n) for move, of in before.moves[OVERALL].items()}
    assert moved[Move.TO_MAJORITY] == (1, 1) and moved[Move.UNDECIDED] == (0, 14)
    # Left out, Bob is wrong in one of his 14 cells; Bea and Ben have no gold there.
    ceiling = before.ceilings[ALL_VOTES][OVERALL]
    assert ceiling.cells == 3 * 14 - 2
    assert [one.value for one in ceiling.annotators.values()] == [1, 1, pytest.approx(13 / 14)]
    assert list(ceiling.annotators) == ["Annotator 1", "Annotator 2", "Annotator 3"]  # Bea, Ben, Bob
    # All three voted blind on 13 cells alike: each is tested as published, on one story none over stories.
    published, over_stories = before.standing_in[BLIND_VOTES]["majority"]
    assert (published.tested, over_stories.winning_rate) == (3, None)
    assert [row["items"] for row in published.annotators] == [13, 13, 13]
    tables = {name: make() for name, make in tables_of(before).items()}
    Vote.objects.filter(proposition=row).update(arm="shown", suggested="x", label="Neutral")
    Suggestion.objects.all().delete()
    cache.clear()
    assert {name: make() for name, make in tables_of(gold_metrics_of(labelling_of(dataset))).items()} == tables
    assert publish_version(by=cast.alice, project=cast.project)[0].digest != dataset.digest
    assert run.dataset == dataset


def test_imported_votes_are_not_counted_as_blind(cast, story, client):
    """Three people's votes on 14 cells came by import; of one cell Bob has changed his mind since, in the grid."""
    rows = list(Proposition.objects.gold_of(story))
    cells = [(f"1,{row.actor},{row.belief},{key}", LABELS[key]) for row in rows for key in KEYS]
    lines = [f"{cell},{name},{label}" for cell, label in cells for name in PEOPLE]
    file = io.BytesIO("\n".join(["story_id,actor,belief,dimension,annotator,label", *lines]).encode())
    import_votes(by=cast.alice, project=cast.project, handle=file, file="votes.csv", now=timezone.now())
    place = Assignment.objects.get(story=story, annotator=cast.bob)
    change = Change(rows[0].uid, "context", "Deceptive", timezone.now(), "later")
    save_votes(by=cast.bob, assignment=place, changes=[change], now=timezone.now())
    dataset, _ = publish_version(by=cast.alice, project=cast.project)
    kept = dataset.samples.get().gold["provenance"]
    blind = [[("Deceptive" if (at, key) == (0, "context") else "") for key in KEYS] for at in range(len(rows))]
    assert kept["blind"] == {"bob": blind} and set(kept["unknown"]) == set(PEOPLE)
    work_off(started(cast, dataset, [baselines()["majority"]]))
    metrics = gold_metrics_of(labelling_of(dataset))
    assert (metrics.provenance["unknown"], metrics.provenance["imported"]) == (41, 1)
    assert Kind.BLIND not in metrics.kinds and metrics.kinds[Kind.UNKNOWN] == 14
    assert metrics.standing_in[BLIND_VOTES]["majority"][1].advantage.value is None
    assert metrics.standing_in[UNKNOWN_VOTES]["majority"][0].tested == 3
    client.force_login(cast.alice)
    page = written(client.get(f"/p/{cast.project.slug}/results/gold/"))
    assert "Votes of 1 story were imported, 41 in all" in page and "all votes are blind" not in page


def test_pages_files_command_and_api_say_the_same_and_that_of_the_leaderboard(tmp_path, client):
    world = results_world(tmp_path)
    labelling = labelling_of(world.dataset)
    metrics = gold_metrics_of(labelling)
    assert {entrant.name for entrant in labelling.entrants} >= {"majority", "random", HOSTILE}
    for entrant in labelling.entrants:
        overall, score = entrant.metrics.parses.overall("repaired"), metrics.scores[OVERALL][entrant.name][Kind.ALL]
        assert score.value == pytest.approx(overall.value_of("overall_accuracy"))
        assert score.bounds in (None, list(overall.bounds_of("overall_accuracy")))
        if overall.stories:
            assert score.interval == pytest.approx(overall.interval_of("overall_accuracy"))
            by_dimension = metrics.scores[AT][entrant.name][Kind.ALL].value
            assert by_dimension == pytest.approx(overall.value_of("acc_context"))
    assert metrics.scores[OVERALL][HOSTILE][Kind.ALL].value is None
    client.force_login(world.alice)
    gold, slug = f"{world.base}/results/gold/", world.dataset.project.slug
    page = client.get(gold).content.decode()
    assert "No votes are kept with this version" in page
    assert "Kendall" in page and "&lt;script&gt;" in page and "<script>alert" not in page
    value = metrics.scores[OVERALL]["majority"][Kind.IMPORTED].value
    table = csv.DictReader(io.StringIO(client.get(f"{gold}tables/by-kind.csv").content.decode()))
    [row] = [one for one in table if one["Model"] == "majority"]
    assert float(row["Labels of the record (%)"]) == pytest.approx(100 * value)
    assert b"tab:gold-by-dimension" in client.get(f"{gold}tables/by-dimension.tex").content
    api = client.get(reverse("api:gold_kinds", args=[slug])).json()
    assert api["cells"]["imported"] == metrics.kinds[Kind.IMPORTED]
    told = client.get(reverse("api:gold_kinds_table", args=[slug, "by-kind"])).json()
    assert {one["model"]: one["imported"] for one in told["rows"]}["majority"]["value"] == pytest.approx(value)
    out, command = io.StringIO(), ("results", "gold-by-kind", "--project", slug)
    call_command(*command, "--json", stdout=out)
    assert json.loads(out.getvalue())["rows"] == told["rows"]
    with pytest.raises(CommandError, match="versions that models labelled: 1"):
        call_command(*command, "--filter", "version=9")
    for wrong, status in (("dimension=x", 404), ("version=99", 404), ("kind=x", 200)):
        assert client.get(f"{gold}?{wrong}").status_code == status
    # a figure opens the cells behind it
    opened = f"{gold}cells/?kind=all&dimension=context&model=majority&show="
    every, wrong = client.get(f"{opened}every"), client.get(f"{opened}wrong")
    assert 0 < wrong.context["page"].paginator.count < every.context["page"].paginator.count
    row = wrong.context["rows"][0]
    assert row["right"] is False and row["predicted"] != row["gold"] and row["dimension"] == "Context"
    item = reverse("benchmark:run_item", args=[slug, row["run"], row["item"]])
    assert item in wrong.content.decode() and client.get(item).status_code == 200
    # who still labels a story waits
    story = world.dataset.project.stories.get(number=3)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=3)
    world.show_to(Audience.EVERYONE)
    client.force_login(world.bob)
    page = client.get(gold).content.decode()
    assert "you still have work to do" in page and "Kendall" not in page
    for closed in (f"{gold}tables/by-kind.csv", reverse("api:gold_kinds", args=[slug])):
        assert client.get(closed).status_code == 403
    cells = client.get(f"{gold}cells/?kind=all&model=majority")
    assert 3 not in {row["story"] for row in cells.context["rows"]}
