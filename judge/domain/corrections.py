"""Judged scores of a run without the judge's error, by what people aligned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.messages import Sentence, gettext_noop

NOT_ALIGNED = gettext_noop("people aligned none of its tables")
STILL_ALIGNING = gettext_noop("you still align tables of its study")
NOT_JUDGED = gettext_noop("no judge compares a person's tables")


@dataclass(frozen=True, slots=True)
class CorrectedScore:
    """A score without the judge's error with its 95 % interval, of `n` stories that people aligned; `reason` says why
    there is no score or no interval."""

    value: float | None
    interval: Sequence[float] | None
    reason: str | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The data under the corrected scores of a model. People aligned `aligned` of the `judged` stories, as good as
    `effective` aligned without a judge. The judge said nothing of `unjudged` rows, which are in no score; `unseen` is
    the share of the stories that are of categories of which people aligned none."""

    aligned: int = 0
    judged: int = 0
    unjudged: int | None = None
    unseen: float | None = None
    effective: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction(Basis):
    """One model's scores by metric without the error of the judge `judge` of that `version`, by the study with the uid
    `study`; or the `reason` why there are none. `differing` is the p value of the judge's error being as large for all
    models of the run; if it `warns`, it is shown not to be."""

    reason: str = ""
    study: str = ""
    study_name: str = ""
    version: str = ""
    judge: str = ""
    scores: Mapping[str, CorrectedScore] = field(default_factory=dict)
    differing: float | None = None
    warns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedDifference:
    """The corrected scores of two models by the metric `key`, called `what`, and their difference `value`: first minus
    second, paired by story, over all `n` judged stories that both have. `interval` is None with a `reason`. People
    aligned `aligned` of the model that has fewer; `p_adjusted` is the p of Holm's correction, None without a test.
    """

    what: str
    key: str
    category: str
    first: float | None
    second: float | None
    value: float | None
    interval: Sequence[float] | None
    reason: str | None
    n: int
    aligned: int
    p: float | None
    p_adjusted: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedPair:
    """Two models of a ranking and the `difference` of their corrected scores."""

    first: str
    second: str
    first_key: str
    second_key: str
    difference: CorrectedDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedComparison:
    """The corrected scores of two models in `sides`, and their differences by metric in `rows`. Without rows there is a
    `reason`. `tests` is the number of rows that Holm's correction is over."""

    sides: Sequence[Correction]
    rows: Sequence[CorrectedDifference] = ()
    reason: str = ""
    tests: int = 0

    @property
    def studies(self) -> set[str]:
        """The uids of the studies that it rests on."""
        return {side.study for side in self.sides if side.study}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRow(Basis):
    """One model's scores by metric: `official`, `lenient` and `corrected` with its interval."""

    key: str
    model: str
    kind: str
    entrant: int | None
    run: str
    official: Mapping[str, float | None] = field(default_factory=dict)
    lenient: Mapping[str, float | None] = field(default_factory=dict)
    corrected: Mapping[str, CorrectedScore] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """The corrected scores of a metric group by one study, whose `uid` says who may see them, of what the `judge` of
    that `version` judged; `differing` and `warns` as of a `Correction`."""

    uid: str
    study: str
    group: str
    version: str = ""
    judge: str = ""
    rows: Sequence[CorrectedRow]
    differing: float | None = None
    warns: bool = False


def differing_text(p: float | None) -> str:
    """Return the warning that calibration of one model says nothing of another."""
    p_value = "p < 0.001" if p is not None and p < 0.001 else f"p = {p:.3f}"
    return Sentence(
        "The judge's error differs by model ({p_value}): calibration of one model must not be taken "
        "for another's. Every corrected score here rests on the model's own tables.",
        p_value=p_value,
    )
