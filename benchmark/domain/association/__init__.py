"""Association of right answers with right structure: two scores of the same stories, model by model.

Stories are what is resampled in every interval: one story has several questions, and several models read it.
"""

from benchmark.domain.association.beyond import Beyond, beyond_category
from benchmark.domain.association.correlations import correlation
from benchmark.domain.association.crossing import Crossing, crossed
from benchmark.domain.association.observations import (
    RIGHT,
    Observation,
    is_right,
    lowest,
    median_structure,
    of_whole_stories,
)

__all__ = [
    "RIGHT",
    "Beyond",
    "Crossing",
    "Observation",
    "beyond_category",
    "correlation",
    "crossed",
    "is_right",
    "lowest",
    "median_structure",
    "of_whole_stories",
]
