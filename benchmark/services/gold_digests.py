"""The digest of the present gold, of the digests of its stories, which are kept: only a story that changed is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.domain.shipped_schemas import version_text
from annotation.models import Project, Story, TableKind, User
from annotation.services.counts import refresh
from annotation.services.kept import Kept, Progress
from benchmark.models import DatasetSample
from benchmark.services.gold_samples import samples_of
from core.digests import text_digest

Samples = Mapping[int, DatasetSample | None]


@dataclass(frozen=True, slots=True)
class Present:
    """Progress in reading the present gold, and the digest that a version published now would have: None where no story
    is settled, and while stories are left to read."""

    progress: Progress
    digest: str | None


def present_digest(project: Project) -> str | None:
    """Return the digest that a version published now would have; None where no story is settled."""
    return present(project).digest


def present(project: Project, most: int | None = None) -> Present:
    """Return the digest of the present gold; of stories that changed, at most so many are read."""
    stories = states(project)
    read = _KEPT.renewed(project, stories, most)
    if read.values and (renamed := _with_unknown_names(read.values)):
        _KEPT.forget(renamed)
        read = _KEPT.renewed(project, stories, most)
    settled = [digest for value in (read.values or {}).values() if (digest := value.partition("\n")[0])]
    return Present(read.progress, digest_of(project, settled) if settled else None)


def states(project: Project) -> dict[int, str]:
    """Return the state of each story in use with a gold table, in the corpus's order."""
    refresh(project)
    rows = Story.objects.filter(project=project, tables__kind=TableKind.GOLD).in_use().order_by("id")
    columns = ("counts__revision", "number", "split__name", "category__name")
    return {story: " ".join(map(str, of_story)) for story, *of_story in rows.values_list("id", *columns)}


def keep(stories: Mapping[int, str], samples: Samples) -> None:
    """Keep the digests of samples that were made of stories in these states."""
    _KEPT.keep({story: (stories[story], _value(sample)) for story, sample in samples.items()})


def digest_of(project: Project, stories: Iterable[str]) -> str:
    """Return the digest of a version of settled stories, from theirs in the corpus's order."""
    versions = [version_text(project.schema), project.rule_version]
    return text_digest("\n".join([*versions, *stories]))


def _computed(project: Project, stories: Sequence[int]) -> dict[int, str]:
    return {story: _value(sample) for story, sample in samples_of(project, stories)}


def _value(sample: DatasetSample | None) -> str:
    """Return a line with the digest, empty where a cell is unsettled, and one for each name that it is made of."""
    return "\n".join([sample.digest, *sorted({*sample.votes, *sample.adjudications})]) if sample else ""


def _with_unknown_names(values: Mapping[int, str]) -> list[int]:
    """Return the stories with a name that no account has any more: digests are made of names, and nothing else tells
    of one that changed."""
    names = {name for value in set(values.values()) for name in value.split("\n")[1:]}
    unknown = names - set(User.objects.filter(username__in=names).values_list("username", flat=True)) if names else ()
    return [story for story, value in values.items() if unknown and not unknown.isdisjoint(value.split("\n")[1:])]


_KEPT = Kept("gold digest", _computed)
