"""Tracker of who perceives each sentence of a ToMi-like story, and where each thinks a thing is, by rules: no model is
asked.

Sentences are of five forms: `Ella entered the cellar`, `Ella exited the cellar`, `Ella moved the boots to the pantry`,
`The boots is in the pantry` and `Ella likes the suit`; the object of the fourth is a thing in a container, or a
container in a room.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

_ENTERED = re.compile(r"(\w+) (?:entered|is in) the (.+)")
_EXITED = re.compile(r"(\w+) exited the (.+)")
_MOVED = re.compile(r"(\w+) moved the (.+) to the (.+)")
_IS_IN = re.compile(r"The (.+) (?:is|are) in the (.+)")
_FEELS = re.compile(r"(\w+) (?:likes|loves|hates|dislikes) the (.+)")


@dataclass(frozen=True, slots=True)
class Scene:
    """A sentence as it stands, without its full stop, with those who perceive it in the order in which they came there,
    and where it says that a thing is: (thing, place), None where it says nothing of the kind."""

    sentence: str
    perceivers: tuple[str, ...]
    puts: tuple[str, str] | None = None


class UnknownSentence(ValueError):
    """A sentence of none of the forms."""


def track(sentences: Sequence[str], *, pass_over: bool = False) -> list[Scene]:
    """Return the scenes of a story. Raises UnknownSentence, or sets a sentence of none of the forms down as one that
    nobody perceives and that moves nothing where `pass_over` says so."""
    bare = [_tidy(sentence) for sentence in sentences]
    return list(_Tracker(bare, pass_over=pass_over).scenes())


def believed_place(scenes: Sequence[Scene], thing: str, *people: str) -> str | None:
    """Return where the first of `people` thinks that the second thinks … that a thing is: where the last scene that all
    of them perceived put it; None where they perceived none. Without people, where it is."""
    thing = _tidy(thing)
    placed = [
        scene.puts[1] for scene in scenes if scene.puts and scene.puts[0] == thing and {*people} <= {*scene.perceivers}
    ]
    return placed[-1] if placed else None


def places_of(scenes: Sequence[Scene], thing: str) -> list[str]:
    """Return the places where a story puts a thing, each once, in their order."""
    thing = _tidy(thing)
    return list(dict.fromkeys(scene.puts[1] for scene in scenes if scene.puts and scene.puts[0] == thing))


def with_perceivers(scenes: Sequence[Scene], perceivers: Sequence[Sequence[str]]) -> list[Scene]:
    """Return scenes with other perceivers, one list for each."""
    return [replace(scene, perceivers=tuple(names)) for scene, names in zip(scenes, perceivers, strict=True)]


def _tidy(text: str) -> str:
    """The text without its full stop; questions write `t - shirt` where stories have `t-shirt`."""
    return text.strip().removesuffix(".").replace(" - ", "-")


class _Tracker:
    """Tracker of where people are, sentence by sentence."""

    def __init__(self, sentences: Sequence[str], *, pass_over: bool) -> None:
        self._sentences = sentences
        self._pass_over = pass_over
        self._room_of = _rooms_of_containers(sentences)
        self._where: dict[str, str] = {}

    def scenes(self) -> Iterator[Scene]:
        for sentence in self._sentences:
            yield self._scene(sentence)

    def _scene(self, sentence: str) -> Scene:
        if match := _FEELS.fullmatch(sentence):
            return Scene(sentence, (match[1],))
        if match := _MOVED.fullmatch(sentence):
            return Scene(sentence, self._in_room(self._where.get(match[1], ""), match[1]), (match[2], match[3]))
        if match := _EXITED.fullmatch(sentence):
            perceivers = self._in_room(match[2], match[1])
            self._where.pop(match[1], None)
            return Scene(sentence, perceivers)
        if match := _IS_IN.fullmatch(sentence):
            room = self._room_of.get(match[2], match[2])
            return Scene(sentence, self._in_room(room), (match[1], match[2]))
        if match := _ENTERED.fullmatch(sentence):
            self._where.pop(match[1], None)
            self._where[match[1]] = match[2]
            return Scene(sentence, self._in_room(match[2]))
        if self._pass_over:
            return Scene(sentence, ())
        raise UnknownSentence(f"{sentence[:80]!r} is of none of the forms of ToMi's sentences.")

    def _in_room(self, room: str, actor: str = "") -> tuple[str, ...]:
        """Return those in a room, and the actor, wherever we think he is."""
        here = tuple(name for name, place in self._where.items() if place == room)
        return here if not actor or actor in here else (actor, *here)


def _rooms_of_containers(sentences: Sequence[str]) -> Mapping[str, str]:
    """The room of each container: what the sentence says that has it as its object, wherever in the story it stands."""
    rooms = {match[2] for sentence in sentences if (match := _ENTERED.fullmatch(sentence))}
    inside = (match for sentence in sentences if (match := _IS_IN.fullmatch(sentence)))
    return {match[1]: match[2] for match in inside if match[2] in rooms}
