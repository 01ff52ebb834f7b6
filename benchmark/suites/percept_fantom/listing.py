"""PercepToM where a question asks for all who know: what everybody who speaks has heard is shown, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from benchmark.methods.contract import Earlier, Method, Put
from benchmark.methods.perceptions import Perceived, perceived_by
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEIVE, PERCEPTOM, perceptions_in
from benchmark.methods.plain import prompt
from workers.providers.contract import Message


def speakers_in(conversation: str) -> list[str]:
    """Return who speaks in a conversation, groups among them, in the order in which they first do."""
    return list(dict.fromkeys(line.partition(": ")[0] for line in conversation.split("\n") if ": " in line))


def about_everybody(put: Put, heard: Callable[[str], Sequence[str]]) -> str:
    """Return the question after what each speaker has `heard`."""
    blocks = [
        f"This is what {name} knows about, in order:\n\n{put.joined.join(heard(name))}"
        for name in speakers_in(put.story)
    ]
    return prompt(put, "\n\n".join(blocks))


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    perceptions: Perceived = perceptions_in(earlier[PERCEIVE])
    return put.messages(about_everybody(put, lambda name: perceived_by(perceptions, [name])))


def _oracle(put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.messages(
        about_everybody(put, lambda name: [scene.text for scene in put.scenes if name in (scene.perceivers or ())])
    )


FOR_LISTS: Mapping[str, Method] = {
    PERCEPTOM.name: replace(PERCEPTOM, answer=_answer),
    ORACLE_PERCEPTION.name: replace(ORACLE_PERCEPTION, answer=_oracle),
}
"""The methods that put such a question in a way of their own, by name."""
