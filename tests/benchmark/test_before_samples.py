"""Runs, datasets and leaderboards made before stories became samples: they migrate, and are the same afterwards."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from benchmark.models import Dataset, RunReport
from core.made_by import made_by
from tests.benchmark.before_samples.afterwards import afterwards
from tests.benchmark.before_samples.figures import figures
from tests.benchmark.before_samples.loading import by_single_migrations, installation, upgrade
from tests.benchmark.before_samples.world import SCRIPTED
from tests.copies import copied
from workers.models import Call, Job
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("before samples")]

NEW = {
    "suite": "standings of a run name its suite since there are several",
    "cluster": "scores name what is resampled whole since a table of them is read by programs",
    "sample": "scores of people name the sample as those of models do",
    "n": "official figures, and those that commands print, say of how many they are",
    "unusable": "official figures, and those that commands print, say how many could not be read",
    "bounds": "official figures are marked by their worst case too",
    "chance": "files of figures say what answers drawn by chance come to",
    "majority": "files of figures say what the answer that is right most often comes to",
    "category_levels": "tables by category end with both",
    "levels": "reports keep both for their rankings",
    "family": "documents name the family of a model since correlations resample families",
    "repetition": "scores name the repetition since a run may ask everything several times",
}
"""Keys that only today's figures have, and why."""
MENDED = [(("runs", "Judged anew", "scores.csv", 1, "state"), "done", "failed")]
"""Figures that were wrong: a judged story whose extraction had failed, and that nobody worked on, stood as done."""
GAINED = [(("read again", "Structured", "changed"), 0, 16)]
"""What is kept beside figures that stay: which rows a structured judgement matched, where only their number was."""
LEVELS = ["Chance level", "Majority baseline"]
"""Rows that only today's tables of rankings end with."""
REASON = "no interval because"
HEADS = {"Status": "Truth", "Repr": "Repr.", "CType": "Content"}
"""What heads of tables call dimensions: one name each, on pages and in files."""
REWORDED = {"no usable story": "no usable sample"}
"""Reasons that are said of every suite's samples."""
KEPT = {"datasets", "kept", "places", "answers", "output"}
"""What was frozen or asked is the same to the letter; of sentences elsewhere the numbers are, and their wording may be
bettered."""
ROUNDING = 1e-12
"""Sums over resamples are added up in an order that the processor's instructions decide: the same interval ended
…4053e-4 on one machine and …4045e-4 on another. More than that is another figure."""


@pytest.fixture(autouse=True)
def upgraded(transactional_db, monkeypatch) -> tuple[list[str], list[str]]:
    for name, function in SCRIPTED.items():
        monkeypatch.setitem(FUNCTIONS, name, function)
    return copied("before samples", upgrade)


def changes(then: Any, now: Any, at: tuple = ()) -> Iterator[tuple[tuple, Any, Any]]:
    """(path, what was, what is) of everything that is not the same."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted({*then, *now} - (NEW.keys() - then.keys())):
            yield from changes(then.get(key, "absent"), now.get(key, "absent"), (*at, key))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(same := without_levels(now)):
        for place, (one, other) in enumerate(zip(then, same, strict=True)):
            yield from changes(one, other, (*at, place))
    elif is_other(then, now) and (KEPT & {*at} or figures_in(then) != figures_in(now)):
        yield at, then, now


def is_other(then: Any, now: Any) -> bool:
    return (
        then != now and REWORDED.get(str(then), then) != now and not is_rounding(then, now) and not is_head(then, now)
    )


def without_levels(rows: list) -> list:
    """The rows but for those of levels, and but for the columns in which they alone have something: why they have no
    interval."""
    kept = [row for row in rows if not (isinstance(row, list) and row and row[0] in LEVELS)]
    if len(kept) == len(rows) or not isinstance(kept[0], list):
        return kept
    theirs = {
        at for at, head in enumerate(kept[0]) if str(head).endswith(REASON) and not any(row[at] for row in kept[1:])
    }
    return [[cell for at, cell in enumerate(row) if at not in theirs] for row in kept]


def is_head(then: Any, now: Any) -> bool:
    """Whether a head of a table, such as `CType low`, is what the dimension is called now."""
    if not isinstance(then, str):
        return False
    name, space, rest = then.partition(" ")
    return now == f"{HEADS.get(name, name)}{space}{rest}"


def is_rounding(then: Any, now: Any) -> bool:
    """Whether two numbers, or two cells of a table that hold one, differ by no more than the order of a sum."""
    try:
        one, other = float(then), float(now)
    except (TypeError, ValueError):
        return False
    return type(then) is type(now) and one != other and math.isclose(one, other, rel_tol=ROUNDING, abs_tol=0)


def test_rounding_is_told_from_another_figure():
    assert is_rounding(9.307667324040853e-4, 9.307667324040845e-4)
    assert is_rounding("0.09307667324040853", "0.09307667324040845")
    others = [("1", "1.0"), ("1", 1), (0.1, 0.1 + 1e-9), (0.0, 1e-300), ("a", "b"), (None, 0)]
    assert not any(is_rounding(*pair) for pair in others)


def figures_in(value: Any) -> Any:
    """The numbers of a sentence; anything else as it is."""
    is_sentence = isinstance(value, str) and len(value.split()) > 3
    return re.findall(r"\d+(?:[.,]\d+)*", value) if is_sentence else value


def test_a_new_database_is_made_as_the_single_migrations_leave_an_old_one(upgraded):
    new, migrated = upgraded
    assert [one for one in new if one not in migrated] == []
    assert [one for one in migrated if one not in new] == []
    assert new == migrated and len(new) > 800


@pytest.mark.once
def test_every_migration_since_then_can_be_taken_back():
    migrations = by_single_migrations().loader
    then = {one for target in installation()["migrations"].items() for one in migrations.graph.forwards_plan(target)}
    since = [one for name, one in migrations.graph.nodes.items() if name not in then]
    assert len(since) >= 40
    assert [str(one) for one in since if not all(operation.reversible for operation in one.operations)] == []


@pytest.mark.once
def test_every_figure_is_the_same():
    held = dict(RunReport.objects.values_list("run", "metrics__version"))
    now = figures()
    assert [one for one in changes(installation()["figures"], now) if one not in MENDED] == []
    anew = RunReport.objects.filter(run__in=held)  # else they would be those that the code of before has left there
    assert len(held) == 8 and {one.metrics["version"] for one in anew} == {made_by()} and made_by() not in held.values()


@pytest.mark.once
def test_work_goes_on_and_no_answer_is_asked_for_again(monkeypatch):
    monkeypatch.setattr("benchmark.services.warm.MOST_SELECTIONS", 0)  # leaderboards of parts, which nobody opens here
    now = afterwards()
    assert [one for one in changes(installation()["afterwards"], now) if one not in GAINED] == []
    made = [one["calls"]["made"] for one in (*now["again"].values(), now["extended"], now["judged anew"])]
    assert made == [0] * 10 and now["calls"][0] == now["calls"][1] == len(
        installation()["rows"]["workers_call"]["rows"]
    )


@pytest.mark.parametrize("model", [Job, Call])
def test_work_on_runs_is_called_evaluation(model):
    held = installation()["rows"][model._meta.db_table]
    at = {name: held["columns"].index(name) for name in ("id", "purpose")}
    then = {row[at["id"]]: row[at["purpose"]] for row in held["rows"]}
    assert {"omnitom"} < set(then.values())
    renamed = {pk: "evaluation" if handler == "omnitom" else handler for pk, handler in then.items()}
    assert dict(model.objects.values_list("pk", "handler")) == renamed


def test_samples_are_named_and_clustered_by_their_stories():
    for dataset in Dataset.objects.all():
        assert (dataset.suite, dataset.origin) == ("", {})
        for one in dataset.samples.all():
            assert (one.key, one.cluster, one.group) == (str(one.number), str(one.number), "")
            assert ([*one.content], [*one.gold]) == (["story"], ["beliefs"])  # their values are compared as records
