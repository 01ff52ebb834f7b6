"""Models and judges that err at known rates, and people's answers: what a calibration is walked through with."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from random import Random

from django.db import connection

from annotation.domain.sample_corpus import sample_records
from benchmark.models import Run
from judge.domain.lexical import align
from judge.domain.rewording import paraphrased
from judge.models import AlignmentTask
from tests.benchmark.settled import make_endpoint, published, started, work_off
from tests.cast import new_story
from workers.providers.scripted.backend import FUNCTIONS

MODELS = {"thorough": (1.0, 0.0), "average": (0.7, 0.2), "hasty": (0.4, 0.5)}
"""The shares of gold rows that each model finds, and of rows that it makes up."""
JUDGES = {"sharp": 0.03, "blunt": 0.3}
"""The share of rows that match of which each judge says that they do not."""
Rows = list[tuple[str, str]]


def finished(run: Run) -> Run:
    """A run as a worker leaves it. The browser's loop is this thread's own, so that a worker's needs another one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_worked_off, run).result()


def _worked_off(run: Run) -> Run:
    try:
        return work_off(run)
    finally:
        connection.close()


class Protocol:
    """What is true of the rows, by which models and judges err at known rates and people align."""

    def __init__(self, stories: int, rows: int | None) -> None:
        records = [record.as_json() for record in sample_records()]
        step = max(1, len(records) // stories)
        self.records = records[::step][:stories]
        self.gold: dict[str, Rows] = {one["story"].strip(): self._gold(one)[:rows] for one in self.records}
        self.same = {
            (actor, self.said(actor, belief)): (actor, belief) for own in self.gold.values() for actor, belief in own
        }

    @staticmethod
    def _gold(record) -> Rows:
        return list(dict.fromkeys((row["actor"], row["belief"]) for row in record["beliefs"]))

    @staticmethod
    def said(actor: str, belief: str) -> str:
        """How models word a row: two of three otherwise than gold does."""
        return belief if Random(f"{actor} {belief}").random() < 1 / 3 else paraphrased(belief) or belief

    def model(self, name: str):
        found, invented = MODELS[name]

        def answer(body) -> str:
            rows = []
            for actor, belief in self.gold[body["task"]["story"].strip()]:
                draw = Random(f"{name} {actor} {belief}")
                if draw.random() < found:
                    rows.append((actor, self.said(actor, belief)))
                if draw.random() < invented:
                    rows.append((actor, f"It would be better {len(rows)} days later"))
            return "\n".join(["Actor | Belief | Order", *(f"{actor} | {belief} | 1" for actor, belief in rows)])

        return answer

    def pairs(self, predictions, gold) -> list[tuple[int, int]]:
        """Which rows are the same; of rows that are none of these stories', as the lexical judge has it."""
        places = {tuple(row[:2]): at for at, row in enumerate(gold)}
        known = [
            (at, places[self.same[tuple(row[:2])]])
            for at, row in enumerate(predictions)
            if self.same.get(tuple(row[:2])) in places
        ]
        return known or align(predictions, gold)

    def judge(self, name: str):
        def answer(body) -> str:
            predictions, gold = body["task"]["predictions"], body["task"]["gold"]
            kept = [
                pair
                for pair in self.pairs(predictions, gold)
                if Random(f"{name} {predictions[pair[0]]}").random() >= JUDGES[name]
            ]
            parts = []
            for side, (heading, rows) in enumerate((("Prediction Table:", predictions), ("Ground Truth Table:", gold))):
                hits, lines = {pair[side] for pair in kept}, io.StringIO()
                counted = ([*row[:2], int(at in hits)] for at, row in enumerate(rows))
                csv.writer(lines).writerows([["Actor", "Belief", "MatchCount"], *counted])
                parts.append(f"{heading}\n{lines.getvalue()}")
            return "\n".join(parts)

        return answer

    def run(self, cast, monkeypatch) -> Run:
        """The finished run of the three models, judged by rule."""
        for name in MODELS:
            monkeypatch.setitem(FUNCTIONS, name, self.model(name))
        for name in JUDGES:
            monkeypatch.setitem(FUNCTIONS, name, self.judge(name))
        made = {name: make_endpoint(name, model=name, options={"function": name}) for name in (*MODELS, *JUDGES)}
        make_endpoint("lexical-judge", provider="baseline", model="lexical-judge")
        records = iter(self.records)

        def story(number, **fields):
            record = next(records)
            rows = self.gold[record["story"].strip()]
            return new_story(cast, number, rows=rows, text=record["story"].strip(), **fields)

        dataset = published(cast, story, len(self.records))
        return finished(started(cast, dataset, [made[name] for name in MODELS], ("extract",)))


def truth_of(protocol: Protocol, task: AlignmentTask) -> dict[str, str]:
    return {f"p{p + 1}": f"g{g + 1}" for p, g in protocol.pairs(task.predictions, task.gold)}
