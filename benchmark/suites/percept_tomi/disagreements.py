"""Differences of tracker and annotation of Percept-ToMi: `python -m benchmark.suites.percept_tomi.disagreements FOLDER`
lists it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.suites.copies import BadImport
from benchmark.suites.percept_tomi.data import believed_place, load, track
from benchmark.suites.questions import Sample


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`sentence` counts from 1, and is 0 for the answer to the question; `tracked` and `annotated` are perceivers, or
    the place."""

    key: str
    sentence: int
    text: str
    tracked: tuple[str, ...]
    annotated: tuple[str, ...]

    def __str__(self) -> str:
        where = f"sentence {self.sentence}" if self.sentence else "answer"
        tracked, annotated = (", ".join(names) or "nobody" for names in (self.tracked, self.annotated))
        return f"{self.key}, {where}: {self.text!r}; tracked: {tracked}; annotated: {annotated}"


def disagreements(samples: Sequence[Sample]) -> Iterator[Disagreement]:
    """Return them question by question, the answer after the sentences. Raises UnknownSentence."""
    for sample in samples:
        scenes = track(sample.content["sentences"])
        for number, (scene, names) in enumerate(zip(scenes, sample.gold["perceivers"], strict=True), start=1):
            annotated = tuple(name for name in names if name)
            if {*scene.perceivers} != {*annotated}:
                yield Disagreement(sample.key, number, scene.sentence, scene.perceivers, annotated)
        place = believed_place(scenes, sample.content["thing"], *sample.content["people"])
        if place != sample.gold["answer"]:
            tracked = (place,) if place else ()
            yield Disagreement(sample.key, 0, sample.content["question"], tracked, (sample.gold["answer"],))


def main(arguments: Sequence[str]) -> int:
    """Print the disagreements over the copy of a folder, a line each; return the exit status."""
    if len(arguments) != 1:
        print("Name the folder of Percept-ToMi.", file=sys.stderr)
        return 1
    try:
        samples = load(Path(arguments[0])).samples
    except BadImport as error:
        print(error, file=sys.stderr)
        return 1
    print(*disagreements(samples), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
