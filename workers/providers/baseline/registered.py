"""The baselines that apps have registered."""

from workers.providers import registry
from workers.providers.baseline.baseline import Baseline
from workers.providers.baseline.provider import provider_of

_BASELINES: dict[tuple[str, str], Baseline] = {}


def register_baseline(baseline: Baseline) -> None:
    """Add a baseline, or put it in the place of the one of the same name and task."""
    _BASELINES[baseline.name, baseline.task] = baseline
    registry.register(provider_of(tuple(_BASELINES.values())), instead=True)


def registered_baseline(name: str, task: str) -> Baseline | None:
    """Return the baseline of that name for that kind of task, None where there is none."""
    return _BASELINES.get((name, task))
