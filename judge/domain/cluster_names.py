"""What figures of alignment and calibration are over: stories, or what else a suite resamples whole."""

from __future__ import annotations

from dataclasses import dataclass

from core.language import gettext_noop


@dataclass(frozen=True, slots=True)
class ClusterName:
    """What is resampled whole is called, `one` and `many` of it."""

    one: str
    many: str

    @property
    def aligned(self) -> str:
        """Those of which people aligned a table."""
        return gettext_noop(f"aligned {self.many}")


STORIES = ClusterName(gettext_noop("story"), gettext_noop("stories"))
