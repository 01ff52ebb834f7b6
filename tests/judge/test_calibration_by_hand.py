"""The figures of a calibrated judge computed a second time, from raw answers of the judge and downloads of what people
said: agreement, corrected scores with λ and effective sample size, paired differences, and weights of a panel. No code
is shared with what computes them.

Of thirteen stories, three models' tables are judged by two judges that err at known rates; two people aligned a random
part of the tables, and could not tell of some rows."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from scipy import stats
from scipy.optimize import minimize_scalar

from benchmark.models import Run, RunItem
from benchmark.services.runs import launched_with
from judge.models import Alignment
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.studies import Plan, make_study
from tests.benchmark.protocol import Protocol, finished, truth_of
from tests.judge.alignment_world import answer_all

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
METRICS = ("precision", "recall", "f1")


def read(text: str) -> list[list[int]]:
    """The MatchCounts of both tables of a judge's answer."""
    predicted, gold = text.removeprefix("Prediction Table:\n").split("Ground Truth Table:\n")
    return [
        [int(row[-1]) for row in list(csv.reader(io.StringIO(part.strip())))[1:] if row] for part in (predicted, gold)
    ]


def scores_of(sides) -> tuple[float, ...]:
    known = [[count for count in side if count is not None] for side in sides]
    precision, recall = (sum(count > 0 for count in side) / len(side) for side in known)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def agreement_of(tables) -> dict[str, float]:
    """The figures of (two-by-two table, weight) of each story's table; one without a row is in none."""
    tables = [(cells, weight) for cells, weight in tables if cells.sum()]
    shares = [(cells[0] + cells[3]) / cells.sum() for cells, _ in tables]
    both, missed, invented, left = sum(cells * weight for cells, weight in tables)
    total = both + missed + invented + left
    same = (both + left) / total
    chance = ((both + missed) * (both + invented) + (invented + left) * (missed + left)) / total**2
    return {
        "by_story": np.average(shares, weights=[weight for _, weight in tables]),
        "by_row": same,
        "sensitivity": both / (both + missed),
        "specificity": left / (invented + left),
        "kappa": (same - chance) / (1 - chance),
    }


def voted(oracles: list[Oracle], *, weighted: bool) -> dict[str, float]:
    """The agreement of a panel: of what all judges say alike, or, weighted, of the likelier verdict by what is known
    of each judge from the other stories."""
    first, tables = oracles[0], []
    for key, sides in first.people.items():
        counts = [one.evidence(first.unit[key][0]) for one in oracles]
        cells = np.zeros(4)
        for side, rows in enumerate(sides):
            for at, true in enumerate(rows):
                said = [one.judge[key][side][at] > 0 for one in oracles]
                odds = sum(count[not yes] for count, yes in zip(counts, said, strict=True))
                if true is not None and (weighted or len(set(said)) == 1):
                    cells[2 * (not true) + (not (odds > 0 if weighted else said[0]))] += 1
        tables.append((cells, first.weight[key]))
    return agreement_of(tables)


class Oracle:
    """What the judge of one run and people say of the tables of a study, by the key of their units."""

    def __init__(self, source: Run, study, run: Run, document) -> None:
        self.unit = {key: (story, model, category) for key, story, model, category in study.frame}
        place = {model: key.split(":")[1] for key, (_, model, _) in self.unit.items()}
        items = RunItem.objects.filter(entrant__run=run, step="judge").select_related("entrant", "sample", "call")
        self.judge = {
            f"{source.uid}:{place[one.entrant.name]}:{one.sample.number}": read(one.call.answer) for one in items
        }
        self.people = {table["key"]: self._settled(table) for table in document["tables"]}
        there, drawn = defaultdict(int), defaultdict(int)
        for key, (_, *stratum) in self.unit.items():
            there[tuple(stratum)] += 1
            drawn[tuple(stratum)] += key in self.people
        self.weight = {key: there[tuple(of)] / drawn[tuple(of)] for key, (_, *of) in self.unit.items()}

    @staticmethod
    def _settled(table) -> list[list[int | None]]:
        [answers] = [one["answers"] for one in table["alignments"] if one["by"] == "settled"]
        return [
            [answers[f"{letter}{at + 1}"]["match_count"] for at in range(len(table[side]))]
            for letter, side in (("p", "predictions"), ("g", "gold"))
        ]

    def cells(self, key: str):
        """The two-by-two table of a story's table: (people, judge) matched both, people alone, judge alone, neither."""
        out = np.zeros(4)
        for people, judge in zip(self.people[key], self.judge[key], strict=True):
            for true, said in zip(people, judge, strict=True):
                if true is not None:
                    out[2 * (not true) + (not said)] += 1
        return out

    def agreement(self) -> dict[str, float]:
        return agreement_of([(self.cells(key), self.weight[key]) for key in self.people])

    def count_shares(self) -> dict[str, float]:
        """The shares of MatchCounts that people gave, a row counting as its table does."""
        weights = defaultdict(float)
        for key, sides in self.people.items():
            for count in (count for side in sides for count in side if count is not None):
                weights[str(count)] += self.weight[key]
        return {count: weight / sum(weights.values()) for count, weight in weights.items()}

    def evidence(self, without: str = "") -> tuple[float, float]:
        """What each of its verdicts counts, as a logarithm of odds, learnt without a story."""
        keys = [key for key in self.people if self.unit[key][0] != without]
        both, missed, invented, left = 0.5 + sum(self.cells(key) * self.weight[key] for key in keys)
        found, spared = both / (both + missed), left / (left + invented)
        return math.log(found / (1 - spared)), math.log((1 - found) / spared)

    def corrected(self, model: str, metric: str) -> tuple[float, float, dict[str, float], int]:
        """The score with the λ of the smallest spread, its effective sample size, how far each story moves it, and the
        degrees of freedom that the aligned ones leave."""
        keys = [key for key, unit in self.unit.items() if unit[1] == model]
        aligned = [key for key in keys if key in self.people]
        at = METRICS.index(metric)
        said = np.array([scores_of(self.judge[key])[at] for key in keys])
        own = np.array([scores_of(self.judge[key])[at] for key in aligned])
        true = np.array([scores_of(self.people[key])[at] for key in aligned])
        weights = np.array([self.weight[key] for key in aligned])
        weights, n = weights / weights.sum(), len(aligned)
        stratum = strata_of([self.unit[key][2] for key in aligned])
        parts = [[at for at, key in enumerate(aligned) if stratum(self.unit[key][2]) == part] for part in range(n)]
        parts = [part for part in parts if part]
        free = n - len(parts) - 1
        categories = [self.unit[key][2] for key in keys]

        def moved(tuning: float) -> tuple[float, dict[str, float]]:
            left = true - tuning * own
            error, moves = weights @ left, defaultdict(float)
            for category in set(categories):
                here = [at for at, other in enumerate(categories) if other == category]
                for at in here:
                    moves[self.unit[keys[at]][0]] += tuning * (said[at] - said[here].mean()) / len(keys)
            for part in parts:
                middle = weights[part] @ left[part] / weights[part].sum()
                factor = math.sqrt(len(part) / (len(part) - 1) * (free + 1) / free)
                for at in part:
                    moves[self.unit[aligned[at]][0]] += factor * weights[at] * (left[at] - middle)
            return tuning * said.mean() + error, moves

        def square(tuning: float) -> float:
            return sum(move**2 for move in moved(tuning)[1].values())

        inner = minimize_scalar(square, bounds=(0, 1), method="bounded", options={"xatol": 1e-9}).x
        best = min((0.0, 1.0, inner), key=square)
        value, moves = moved(best)
        return value, n * square(0.0) / square(best) if square(best) > 1e-18 else math.nan, moves, free

    def p_of(self, first: str, second: str) -> tuple[float, float]:
        """The difference of two models' F1 and its p by Student's t on the logit, with as many degrees of
        freedom as the aligned stories leave at least."""
        (one, _, moves, free), (other, _, others, least) = (self.corrected(model, "f1") for model in (first, second))
        error = math.sqrt(sum((moves[story] - others[story]) ** 2 for story in {*moves, *others}))
        share = (one - other + 1) / 2
        t = math.log(share / (1 - share)) / (error / (2 * share * (1 - share)))
        return one - other, 2 * stats.t.sf(abs(t), min(free, least))


def strata_of(categories: list[str]):
    """The stratum of each category: its own with two aligned stories or more, the others together."""
    counts = {name: categories.count(name) for name in sorted(set(categories))}
    own = [name for name, count in counts.items() if count > 1]
    left = len(categories) - sum(counts[name] for name in own)
    rest = len(own) if left > 1 or not own else own.index(min(own, key=counts.get))
    return lambda category: own.index(category) if category in own else rest


@pytest.fixture
def source(cast, monkeypatch) -> Run:
    """The run of the models, whose tables people aligned: the truth, but of the second row of every fourth story's
    tables nobody can tell, unless it is linked."""
    protocol = Protocol(13, 6)
    run = protocol.run(cast, monkeypatch)
    make_study(
        by=cast.alice, project=cast.project, plan=Plan("First", 23, overlap=2), units=units_of([run]),
        load=lambda keys: load_tables(keys, project=cast.project), annotators=[cast.bob, cast.bea],
        origin=origin_of([run]), now=timezone.now(),
    )  # fmt: skip
    for own in Alignment.objects.waiting().select_related("task__study").order_by("pk"):
        truth = truth_of(protocol, own.task)
        unclear = own.task.number % 4 == 0 and "p2" not in truth and len(own.task.predictions) > 1
        answer_all(own, **truth, **({"p2": "unclear"} if unclear else {}))
    return run


def judged_anew(client, run: Run) -> list[Run]:
    chosen = {
        "judge": "sharp", "judges": ["blunt"], "judge_level": 2, "shots": 3, "title": "", "budget": "",
        "judge_answer_format": "same", "passes": "1", "settle": "none",
    }  # fmt: skip
    page = client.post(reverse("benchmark:judge_anew", args=[run.project.slug, run.uid]), chosen)
    return [finished(one) for one in launched_with(Run.objects.get(uid=page.url.rstrip("/").rpartition("/")[2]))]


def test_every_figure_of_calibrated_judges_is_that_of_a_second_computation(source, cast, client):
    client.force_login(cast.alice)
    judged, study = judged_anew(client, source), cast.project.alignment_studies.get()
    document = client.get(reverse("judge:download_json", args=["minds", study.uid])).json()
    oracles = {run.judge.name: Oracle(source, study, run, document) for run in judged}
    assert len({weight for oracle in oracles.values() for weight in oracle.weight.values()}) > 1
    reports = {one["judge"]: one for one in told()["judges"]}
    whole = told(panel=True)
    panel = {one["judge"]: one for one in whole["judges"].values()}
    for column in ("majority", "weighted"):
        found = voted(list(oracles.values()), weighted=column == "weighted")
        assert {key: whole[column][key]["value"] for key in found} == pytest.approx(found), column
    assert whole["majority"]["known"] < whole["weighted"]["known"], "two judges that differ are no majority"
    for run in judged:
        name, oracle = run.judge.name, oracles[run.judge.name]
        overall = reports[name]["calibration"]["overall"]
        assert overall["known"] < overall["rows"], "people could not tell of some rows"
        assert {key: overall[key]["value"] for key in oracle.agreement()} == pytest.approx(oracle.agreement()), name
        assert (panel[name]["matched_counts"], panel[name]["unmatched_counts"]) == pytest.approx(oracle.evidence())
        counts = {one["count"]: one["share"]["value"] for one in reports[name]["calibration"]["human_counts"]}
        assert {count: share for count, share in counts.items() if share} == pytest.approx(oracle.count_shares())
        rows = client.get(f"/p/minds/runs/{run.uid}/tables/corrected.json").json()["rows"]
        for row in rows:
            found = {metric: oracle.corrected(row["model"], metric) for metric in METRICS}
            scores = [figure(row[f"corrected-{metric}"]) for metric in METRICS]
            assert scores == pytest.approx([value for value, *_ in found.values()], abs=1e-6)
            effective = math.nan if figure(row["effective"]) is None else figure(row["effective"])
            assert effective == pytest.approx(found["f1"][1], rel=1e-4, nan_ok=True)
    compared = client.get("/p/minds/results/differences/corrected-stage1.json?runs=all").json()
    [name] = [name for name in oracles if f"· {name} ·" in compared["notes"][0]]
    ps = []
    for row in compared["rows"]:
        value, p = oracles[name].p_of(row["first"], row["second"])
        assert (figure(row["value"]), row["p"]) == pytest.approx((value, p), rel=1e-3, abs=1e-6)
        ps.append((p, row["p_adjusted"]))
    for place, (p, adjusted) in enumerate(sorted(ps)):
        least = max(one * (len(ps) - at) for at, (one, _) in enumerate(sorted(ps)[: place + 1]))
        assert adjusted == pytest.approx(min(1, least), rel=1e-3), p


def figure(cell: float | dict | None) -> float | None:
    return cell["value"] if isinstance(cell, dict) else cell


def told(**options) -> dict:
    call_command("calibrate_judge", project="minds", study="First", json=True, stdout=(out := io.StringIO()), **options)
    return json.loads(out.getvalue())
