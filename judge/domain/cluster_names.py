"""Names of what figures of alignment and calibration are over: stories, or what else a suite resamples whole."""

from __future__ import annotations

from dataclasses import dataclass

from core.messages import Sentence, gettext_noop, word


@dataclass(frozen=True, slots=True)
class ClusterName:
    """The name of what is resampled whole."""

    singular: str
    plural: str

    @property
    def aligned(self) -> str:
        """The name of those of which people aligned a table."""
        return Sentence("aligned {plural}", plural=word(self.plural))


STORIES = ClusterName(gettext_noop("story"), gettext_noop("stories"))
