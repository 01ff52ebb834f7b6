"""Calibration as runs see it: the functions of `judge`, which stands above, that pages, tables and checks of runs
call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.models import Project, User
from benchmark.models import Dataset, Run
from benchmark.suites.results import EntrantResults
from judge.domain.calibration.agreement import Agreement
from judge.domain.corrections import CorrectedComparison, CorrectedPair, Correction, Corrections

Stories = AbstractSet[int] | None
"""Numbers of the stories that scores are over, None for all."""
Levels = Mapping[str, Mapping[int, tuple[Agreement, bool | None]]]
"""By judge and prompt level: agreement with people, and whether it is not shown to differ from the best."""


@dataclass(kw_only=True)
class Calibration:
    """Functions that `judge` sets when it is ready. The defaults are those of an installation without studies."""

    of_run: Callable[[Run, Mapping[str, Sequence[EntrantResults]]], Corrections | None] = lambda run, groups: None
    """Corrected scores of a run's ranked entrants by metric group."""
    of_ranking: Callable[[str, Sequence[EntrantResults], Sequence[Run], Stories], dict[str, Correction]] = lambda *_: {}
    """Corrected scores over the stories of each entrant of a ranking, by its key."""
    of_pair: Callable[..., CorrectedComparison | None] = lambda *_: None
    """Corrected scores of two entrants next to each other."""
    differences: Callable[[Sequence[EntrantResults], Sequence[Run], str, Stories], list[CorrectedPair]] = lambda *_: []
    """Corrected differences between every two of the entrants."""
    links: Callable[[Sequence[Run], User], list[Any]] = lambda runs, reader: []
    """Calibration reports on the judges of runs that the reader may see."""
    study_of: Callable[[Sequence[Run]], str] = lambda runs: ""
    """The uid of the newest study of tables of these runs."""
    chosen_versions: Callable[[Dataset], list[str]] = lambda dataset: []
    """Versions of the judges that studies chose: those of the dataset first, the latest choice first."""
    by_level: Callable[[Run, User], tuple[Levels, str]] = lambda run, reader: ({}, "")
    """Agreement of judges by prompt level on the gold of a run, and a sentence on the highest."""
    still_aligns: Callable[[Run, User], bool] = lambda run, reader: False
    """Whether the reader still aligns tables of the gold of a run, and may not know of its judges yet."""
    unfinished: Callable[[User, Iterable[str]], set[str]] = lambda user, studies: set()
    """The studies, by uid, in which the user has tables that are not handed in."""
    open_samples: Callable[..., set[tuple[int | None, int, int | None]]] = lambda *_, **__: set()
    """(story, sample number, dataset version) of each table that a person still aligns or may decide."""
    rests_on: Callable[[Sequence[Run]], str] = lambda runs: ""
    """The reason why these runs cannot be deleted: watches, studies and chosen judges that rest on them."""
    fill_sample: Callable[[Project, Run, Run | None, datetime], None] = lambda project, run, watched, now: None
    """Add the study of alignment of the sample project, and a watch of the judge of a run."""


calibration = Calibration()
