"""An answer to a question in both parses."""

import string
from collections.abc import Sequence
from functools import lru_cache

from benchmark.methods.perceptom import perceptions_of, repaired_perceptions
from benchmark.suites.fantom_questions import parsing as questions
from benchmark.suites.fantom_questions.data import LIST
from benchmark.suites.fantom_questions.parsing import Parse, after_marker, official_parse, repaired_parse
from benchmark.suites.perceiving.perceptions import ACCURACY, RECALL, WHOLE, Shares, makes_a_set, names_in, same_names
from benchmark.suites.questions import Parsed, Sample


def listing_in(answer: str) -> str:
    """Return the part of an answer that the released code takes for the list: from its only opening to its first
    closing bracket, without such a pair all of it."""
    if answer.count("[") != 1 or "]" not in answer:
        return answer
    return answer[answer.index("[") : answer.index("]") + 1]


def official_of(sample: Sample, answer: str) -> Parse:
    """Return the official parse of an answer."""
    text = after_marker(answer)
    return official_parse(sample, text, listing_in(text))


def parses_of(sample: Sample, answer: str) -> tuple[Parse, Parse | None]:
    """Return the official parse of an answer and the repaired one, None where a person cannot read it."""
    text = after_marker(answer)
    if sample.content["kind"] == LIST:
        text = listing_in(text) or text
        text = "nobody" if "[" in text and not text.strip("[] \n") else text
    return official_of(sample, answer), repaired_parse(sample, text)


def parsed_answer(sample: Sample, answer: str) -> Parsed:
    """Return both parses of an answer with their scores."""
    return questions.parsed_answer(sample, answer, *parses_of(sample, answer))


_SYMBOLS = str.maketrans("", "", string.punctuation + "’…")
_EVERYBODY = ("Everyone", "All")
Read = tuple[int | None, list[str] | None]
"""The number of the conversation's utterance, from 0, None of one that it lacks; the perceivers, None where they are
not names."""


def official_shares(answer: str, utterances: Sequence[str], perceivers: Sequence[Sequence[str]]) -> Shares | None:
    """Return the shares of an answer; None where the released code leaves it out, or fails at it."""
    perceived = perceptions_of(answer)
    if not perceived:
        return None
    bare = _bare(tuple(utterances))
    entries = [(str(key), names) for entry in perceived for key, names in entry.items() if makes_a_set(names)]
    if not entries:
        return None
    right = []
    for key, names in entries:  # a key without a speaker says nothing, which stands in the first utterance
        spoken = key.partition(": ")[2].translate(_SYMBOLS)
        at = next((at for at, text in enumerate(bare) if spoken in text), None)
        if at is not None:
            speakers = speakers_of(utterances[at], perceivers[at])
            if {*names} - speakers == {*perceivers[at]} - speakers:
                right.append(at)
    return {
        ACCURACY: len(right) / len(entries),
        RECALL: len({*right}) / len(utterances) if utterances else None,
        WHOLE: float(len(right) == len(entries)),
    }


def speakers_of(utterance: str, perceivers: Sequence[str]) -> set[str]:
    """Return who speaks: of an utterance of everybody all perceivers, of several with a comma or an ampersand between
    them each."""
    speaker = utterance.partition(": ")[0]
    if speaker in _EVERYBODY:
        return {*perceivers}
    return {name for part in speaker.split(" & ") for name in part.split(", ")}


@lru_cache(1024)
def _bare(utterances: tuple[str, ...]) -> tuple[str, ...]:
    """The utterances without symbols but for the colon after the speaker."""
    return tuple(
        f"{speaker}: {spoken.translate(_SYMBOLS)}"
        for speaker, _, spoken in (utterance.partition(": ") for utterance in utterances)
    )


def repaired_scenes(answer: str, utterances: Sequence[str]) -> list[Read] | None:
    """Return what an answer says of each utterance that it writes; None where it cannot be read. Equal utterances are
    taken in their order."""
    perceived = repaired_perceptions(answer)
    if perceived is None:
        return None
    plain = [_plain(utterance) for utterance in utterances]
    spoken = [text.partition(": ")[2] for text in plain]
    scenes: list[Read] = []
    taken: set[int] = set()
    for key, names in (pair for entry in perceived for pair in entry.items()):
        text = _plain(str(key))
        free = [at for at in range(len(plain)) if at not in taken]
        at = next((at for at in free if plain[at] == text), None)
        if at is None:  # without its speaker
            at = next((at for at in free if spoken[at] == text), None)
        if at is not None:
            taken.add(at)
        scenes.append((at, names_in(names)))
    return scenes


def _plain(utterance: str) -> str:
    """An utterance in small letters without symbols, but for the colon after the speaker."""
    speaker, colon, spoken = utterance.lower().partition(": ")
    return colon.join(
        " ".join(part.translate(_SYMBOLS).split()) for part in ((speaker, spoken) if colon else (speaker,))
    )


def repaired_shares(answer: str, utterances: Sequence[str], perceivers: Sequence[Sequence[str]]) -> Shares | None:
    """Return the shares of an answer; None where it cannot be read. An utterance that is left out has no perceivers
    that are right."""
    scenes = repaired_scenes(answer, utterances)
    if scenes is None:
        return None
    right = [at for at, names in scenes if at is not None and is_right(names, utterances[at], perceivers[at])]
    return {
        ACCURACY: len(right) / len(scenes) if scenes else None,
        RECALL: len(right) / len(utterances) if utterances else None,
        WHOLE: float(len(right) == len(utterances)),
    }


def is_right(names: Sequence[str] | None, utterance: str, gold: Sequence[str]) -> bool:
    """Return whether names are the perceivers of an utterance, its speakers there or not."""
    speakers = speakers_of(utterance, gold)
    return names is not None and same_names([*names, *speakers], [*gold, *speakers])
