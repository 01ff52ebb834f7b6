"""The sample project, loaded once for all tests that only need it there."""

from annotation.models import Project
from annotation.services.sample import load_sample
from tests.copies import copied


def sample() -> Project:
    """Return the sample project: its people, stories, tables and votes, without what evaluation adds to them."""
    return copied("sample", load_sample)
