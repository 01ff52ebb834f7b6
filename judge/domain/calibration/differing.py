"""Test of whether the judge errs alike on every model: only then may its error on one be taken from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.messages import Sentence, gettext_noop, word
from core.plain import Json, plain
from core.statistics import ALPHA, FEWEST, Floats
from judge.domain.calibration.agreement import SpannedEstimate
from judge.domain.calibration.stories import JudgedStory, Metric
from judge.domain.calibration.weighted import mean_error
from judge.domain.cluster_names import STORIES, ClusterName

ONE_MODEL = gettext_noop("there is one model")


@dataclass(frozen=True, slots=True)
class Differing:
    """Distance of the judge's score above that of people for each model, and a test of whether it is as far for all:
    `p` is that of Hotelling's test over stories. `warns` says that calibration must not be pooled."""

    by_model: dict[str, SpannedEstimate]
    p: float | None
    reason: str = ""

    def as_json(self) -> Json:
        return {"by_model": plain(self.by_model), "p": self.p, "reason": self.reason, "warns": self.warns}

    @property
    def warns(self) -> bool:
        return self.p is not None and self.p < ALPHA


def differing(
    models: Mapping[str, Sequence[JudgedStory]], metric: Metric = Metric.F1, *, over: ClusterName = STORIES
) -> Differing:
    """Return whether the judge's error on scores by `metric` differs by model."""
    aligned = {
        name: [
            story
            for story in stories
            if story.human and story.human.has_value(metric) and story.judged.has_value(metric)
        ]
        for name, stories in sorted(models.items())
    }
    errors = {name: mean_error(stories, metric, over=over) for name, stories in aligned.items()}
    by_model = {name: error.estimate for name, error in errors.items()}
    stories = sorted({judged.story for part in aligned.values() for judged in part})
    if len(models) < 2:
        return Differing(by_model, None, ONE_MODEL)
    least = min(error.estimate.n for error in errors.values())
    if least < FEWEST or len(stories) <= len(models) or least <= len(models):
        return Differing(by_model, None, _too_few(over))
    moves = np.array([[error.moves.get(story, 0.0) for story in stories] for error in errors.values()])
    means = np.array([error.estimate.value or 0.0 for error in errors.values()])
    return Differing(by_model, _hotelling(means, moves, least))


def _too_few(over: ClusterName) -> str:
    return Sentence(
        "each model needs at least {fewest} {aligned}, and all together more {plural} than models",
        fewest=FEWEST,
        aligned=over.aligned,
        plural=word(over.plural),
    )


def _hotelling(means: Floats, moves: Floats, n: int) -> float:
    """The p value of equal means, shape (k,), that stories move so far, shape (k, stories), n of them for the model
    that has least (Hotelling 1931, "The generalization of Student's ratio")."""
    from scipy.special import fdtrc

    gaps, spread = means[1:] - means[0], moves[1:] - moves[0]
    covariance = spread @ spread.T
    if np.abs(gaps).max() < 1e-12:
        return 1.0
    square = float(gaps @ np.linalg.pinv(covariance) @ gaps)
    k = int(np.linalg.matrix_rank(covariance))
    return float(fdtrc(k, n - k, square * (n - k) / ((n - 1) * k))) if k else 0.0
