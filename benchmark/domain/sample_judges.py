"""Answers of the sample's scripted models as judges: pairs by their wording, with errors at rates of their own.

What a judge errs in is drawn from its name and the rows alone, so that it always answers the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.domain.scripted_readers import share_drawn
from judge.domain.lexical import align

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class SampleJudge:
    """A scripted judge: the share of pairs that it `misses`, and of predictions without a pair that it `confuses` with
    another row of the same actor. The `turn` that it is asked in makes it miss `wavers` more, other pairs each turn."""

    name: str
    misses: float
    confuses: float
    wavers: float = 0.0
    turn: int = 0

    def pairs(self, predictions: Rows, gold: Rows) -> list[tuple[int, int]]:
        """Return (prediction, gold) of the rows that it takes to say the same, one to one."""
        meant = align(predictions, gold)
        kept = [pair for pair in meant if self._sees(*predictions[pair[0]][:2])]
        taken = {at for pair in meant for at in (("p", pair[0]), ("g", pair[1]))}
        for at, row in enumerate(predictions):
            if ("p", at) in taken or self._draw("instead", *row[:2]) >= self.confuses:
                continue
            other = next(
                (to for to, gold_row in enumerate(gold) if gold_row[0] == row[0] and ("g", to) not in taken), None
            )
            if other is not None:
                taken.add(("g", other))
                kept.append((at, other))
        return sorted(kept)

    def _sees(self, *row: str) -> bool:
        return self._draw(*row) >= self.misses and self._draw(f"turn {self.turn}", *row) >= self.wavers

    def _draw(self, *texts: str) -> float:
        return share_drawn(self.name, *texts)


SAMPLE_JUDGES = {
    sample_judge.name: sample_judge
    for sample_judge in (
        SampleJudge("sample-careful", misses=0.02, confuses=0.1),
        SampleJudge("sample-hasty", misses=0.15, confuses=0.4),
        SampleJudge("sample-literal", misses=0.3, confuses=0.05),
        SampleJudge("sample-steady", misses=0.06, confuses=0.15),
        SampleJudge("sample-brisk", misses=0.1, confuses=0.25),
        SampleJudge("sample-plain", misses=0.2, confuses=0.3),
    )
}
