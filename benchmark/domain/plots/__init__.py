"""Plots of a benchmark report, good on paper and legible in a browser: data → bytes of SVG, PDF or PNG.

Every function takes its data and returns a `Plot`, which draws them in a `Frame`: `format` (svg, pdf, png), `theme`
(light, dark) and `width` (a paper's column or page). It raises KeyError for others, and returns the same bytes for the
same data. Figures are fractions, shown in per cent; None is
missing. An SVG holds its text as text, a title, a description with the data, and no reference to anything outside it.
"""

from benchmark.domain.drawn import MEDIA_TYPES
from benchmark.domain.plots.heat import pair_matrix
from benchmark.domain.plots.models import (
    control_differences,
    leaderboard,
    method_differences,
    method_parts,
    method_scores,
    model_across,
    models_across,
    scores_by_part,
    structure_and_answers,
    without_story,
)
from benchmark.domain.plots.paired import two_models

__all__ = [
    "MEDIA_TYPES",
    "control_differences",
    "leaderboard",
    "method_differences",
    "method_parts",
    "method_scores",
    "model_across",
    "models_across",
    "pair_matrix",
    "scores_by_part",
    "structure_and_answers",
    "two_models",
    "without_story",
]
