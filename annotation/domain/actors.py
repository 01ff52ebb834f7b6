"""Names of actors: that of the world, and what joins several in one name."""

from annotation.domain.schema import WORLD

JOINT = r"(?:,|;|&|/|\band\b|和|与|、)"
"""A regular expression that Python and JavaScript read alike, whether letters are small or not."""
NAMES_FOR_SCRIPTS = {"world": WORLD, "joint": JOINT}
