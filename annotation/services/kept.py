"""Values that are worked out of whole stories, such as digests, and kept until their story changes.

A story's state is a text with the revision of its counts (`services/counts.py`), which changes with its votes, gold and
propositions, and whatever else the value is made of. Call `refresh` before states are read. A value may be of a later
state than the one it is kept under: then the story has another state now, and is worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Project, StoryEntry
from annotation.services.short_writes import ShortWrites

AT_ONCE = 25
"""Stories that one look at a page works out: some 100 ms."""
_SQL_NAMES = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """The stories of which the value is kept, of all."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Renewed:
    """Progress in working out values, and the values; None where some are left."""

    progress: Progress
    values: dict[int, str] | None


@dataclass(frozen=True, slots=True)
class Kept:
    """The values of one kind: their name, and what works them out for the stories of a project."""

    name: str
    compute: Callable[[Project, Sequence[int]], Mapping[int, str]]

    def renew(self, project: Project, states: Mapping[int, str], most: int | None = None) -> Progress:
        """Work out the values of stories that are no longer as they were, of at most so many of them; return how far
        that is. `states` is the state of each story now."""
        outdated = self.outdated(project, states)
        now = outdated[:most]
        self._work_out(project, states, now)
        return Progress(len(states) - len(outdated) + len(now), len(states))

    def renewed(self, project: Project, states: Mapping[int, str], most: int | None = None) -> Renewed:
        """Work out the values of stories that changed, of at most so many of them; where none is left, the result has
        the value of each of these stories, in their order."""
        rows = StoryEntry.objects.filter(name=self.name, story__project=project).order_by()
        kept = {story: (state, value) for story, state, value in rows.values_list("story_id", "state", "value")}
        outdated = [story for story, state in states.items() if story not in kept or kept[story][0] != state]
        now = outdated[:most]
        worked_out = self._work_out(project, states, now)
        progress = Progress(len(states) - len(outdated) + len(now), len(states))
        if progress.done < progress.total:
            return Renewed(progress, None)
        values = {story: value for story, (_, value) in kept.items()} | worked_out
        return Renewed(progress, {story: values[story] for story in states})

    def outdated(self, project: Project, states: Mapping[int, str]) -> list[int]:
        """Return the stories whose value was never worked out, or in another state."""
        rows = StoryEntry.objects.filter(name=self.name, story__project=project).order_by()
        before = dict(rows.values_list("story_id", "state"))
        return [story for story, state in states.items() if before.get(story) != state]

    def _work_out(self, project: Project, states: Mapping[int, str], stories: Sequence[int]) -> dict[int, str]:
        """Work out and keep the values of these stories, and return them."""
        values: dict[int, str] = {}
        writes = ShortWrites()
        for at in range(0, len(stories), AT_ONCE):
            part = stories[at : at + AT_ONCE]
            values |= self.compute(project, part)
            with writes.transaction(len(part)):
                self.keep({story: (states[story], values[story]) for story in part})
        return values

    def keep(self, values: Mapping[int, tuple[str, str]]) -> None:
        """Write (state, value) of each story."""
        rows = [
            StoryEntry(story_id=pk, name=self.name, state=state, value=value) for pk, (state, value) in values.items()
        ]
        StoryEntry.objects.bulk_create(
            rows,
            batch_size=_SQL_NAMES,
            update_conflicts=True,
            unique_fields=["story", "name"],
            update_fields=["state", "value"],
        )

    def forget(self, stories: Iterable[int]) -> None:
        StoryEntry.objects.filter(name=self.name, story__in=list(stories)).delete()

    def values_of(self, stories: Sequence[int]) -> dict[int, str]:
        """Return the values of some stories."""
        values: dict[int, str] = {}
        for at in range(0, len(stories), _SQL_NAMES):
            rows = StoryEntry.objects.filter(name=self.name, story__in=stories[at : at + _SQL_NAMES]).order_by()
            values |= dict(rows.values_list("story_id", "value"))
        return values
