"""The metric group of who perceives what, for suites on perceivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.suites.groups import LEFT_OUT, MetricGroup, Says
from benchmark.suites.measuring import statement_digest
from benchmark.suites.perceiving.asking import PERCEPTIONS
from benchmark.suites.perceiving.levels import Levels
from benchmark.suites.perceiving.shares import ACCURACY, RECALL, SHARES, WHOLE
from core.messages import gettext_noop


def perceptions_stated(scenes: Sequence[tuple[int | None, Sequence[str] | None]], people: Sequence[str]) -> str:
    """Return what an answer says of who perceives what, in whatever order it does: of each sentence the people by their
    place among those that there are, which is the same under other names."""
    places = {name.casefold(): at for at, name in enumerate(people)}

    def numbered(names: Sequence[str] | None) -> list[str] | None:
        if names is None:
            return None
        return sorted({str(places.get(name.casefold(), name.casefold())) for name in names})

    read = [[-1 if at is None else at, numbered(names)] for at, names in scenes]
    return statement_digest(sorted(read, key=str))


def perceiving_group(
    key: str,
    *,
    whole: str,
    notes: tuple[str, ...],
    levels: Levels,
    says: Says,
    facets: Mapping[str, str] | None = None,
    of_types: bool = False,
) -> MetricGroup:
    """Return the group by recall, with its levels and what an answer `says`; `whole` heads the share of texts without a
    mistake, and with `of_types` there is the mean over categories."""
    mean = {f"{RECALL}_category_mean": gettext_noop("Mean of types")} if of_types else {}
    return MetricGroup(
        key=key,
        title=gettext_noop("Perception inference"),
        noun=gettext_noop("perception inference"),
        shares=SHARES,
        headers={RECALL: "Recall", ACCURACY: "Accuracy", WHOLE: whole} | mean,
        category_mean=RECALL if of_types else "",
        score=RECALL,
        score_title=gettext_noop("Perception recall"),
        prompt=PERCEPTIONS,
        rests_on=(PERCEPTIONS,),
        scored=PERCEPTIONS,
        facets=facets or {},
        notes=notes,
        unreadable_as=LEFT_OUT,
        chance=levels.chance,
        majority=levels.majority,
        says=says,
    )
