"""The question as it is."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.methods.contract import Earlier, Method, Put
from core.messages import gettext_noop
from workers.providers.contract import Message


def prompt(put: Put, story: str | None = None) -> str:
    """Return the question after its story, or after another text that takes its place."""
    return f"{put.laid_out(story)}\n{put.how}".rstrip()


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.asked(prompt(put))


PLAIN = Method("plain", gettext_noop("plain"), gettext_noop("The story, the question, nothing else."), _answer)
