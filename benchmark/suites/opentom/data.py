"""OpenToM as it is distributed: narratives, seven files of questions about them, and a licence; and its samples."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.domain.tables.table import ShortNames
from benchmark.suites.answers import Answered
from benchmark.suites.copies import BadImport, CopyFile, CopySource, Imported, licence_in, released_bytes
from benchmark.suites.opentom.parsing import ACCESSIBILITY, ATTITUDE, COARSE, FINE, FULLNESS, gold_label
from benchmark.suites.questions import Sample
from core.messages import Sentence, gettext_noop
from core.plain import Json

FILES: Mapping[str, tuple[str, str]] = {
    "location_cg_fo": (COARSE, gettext_noop("coarse questions about places, first order")),
    "location_cg_so": (COARSE, gettext_noop("coarse questions about places, second order")),
    "location_fg_fo_new": (FINE, gettext_noop("fine questions about places, first order")),
    "location_fg_so_new": (FINE, gettext_noop("fine questions about places, second order")),
    "multihop_fo": ("", gettext_noop("questions about fullness and accessibility, first order")),
    "multihop_so": ("", gettext_noop("questions about fullness and accessibility, second order")),
    "attitude": (ATTITUDE, gettext_noop("questions about the observer’s attitude")),
}
"""The kind of the questions, empty for several, and what the file holds, by name without `.json`, in the order in which
the released code asks them."""
PARTS = (COARSE, FINE)
"""The two parts of the benchmark: they differ in the questions about places, the others are in both."""
GENRES: ShortNames = {
    gettext_noop("Coarse location, first order"): "Loc c (F)",
    gettext_noop("Coarse location, second order"): "Loc c (S)",
    gettext_noop("Fine location, first order"): "Loc f (F)",
    gettext_noop("Fine location, second order"): "Loc f (S)",
    gettext_noop("Multi-hop, first order"): "MHop (F)",
    gettext_noop("Multi-hop, second order"): "MHop (S)",
    gettext_noop("Attitude"): "Att",
}
"""The short name of each genre by its name, as the paper's tables head them."""


def genre_of(type_: str, kind: str) -> str:
    """Return the genre of a question of a type of the files and a kind."""
    if kind == ATTITUDE:
        return gettext_noop("Attitude")
    order = gettext_noop("second") if type_.endswith("-so") else gettext_noop("first")
    places = {COARSE: gettext_noop("Coarse location"), FINE: gettext_noop("Fine location")}
    return Sentence("{what}, {order} order", what=places.get(kind, gettext_noop("Multi-hop")), order=order)


Questions = Mapping[str, Mapping[str, Sequence[Mapping[str, str]]]]
"""Questions by file and narrative."""
NARRATIVES, LONG_NARRATIVES = "meta_data.json", "meta_data_long.json"
DIGESTS: Mapping[str, str] = {
    "meta_data.json": "db3a568059c665fcf924f67af00d77bcce8a6a587b034fa0476b954a66e259c8",
    "meta_data_long.json": "6008fed8ef8f195a20a239356425278d50a7e2a54cab6b4685730c2140f199d4",
    "location_cg_fo.json": "4486b3a7dcc029c3e2c05a242d9e6f2e8175a08590253c4ebecc228fe4b394da",
    "location_cg_so.json": "ef3a711096b660a3a23bf9103d1a2b9babf9b57ed516f233d46f65fd8079f2b3",
    "location_fg_fo_new.json": "957b153a8dd55aa1495a82bda59397004bbf83c87c1039bd917ee6d02f7f29c2",
    "location_fg_so_new.json": "cddb5437c2697be99ce3642240b96af513f69ee06be7fe975b5ce02f8bfcfeb8",
    "multihop_fo.json": "fcd394c8aa4d080d0d5a8298dd62504dea7435935db7c7887792cd623f6dc121",
    "multihop_so.json": "f7fdc822dc5cc806b07735013a89a2e1879484010661523defbdcd8ef13d9561",
    "attitude.json": "8c1d0cdd68d60ea6534700ae3d67436fb9a5b6c9cfab84c0d70185c9222e4047",
}
"""The SHA-256 of the released files, as 64 hexadecimal digits, line ends as they were released."""
SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/seacowx/OpenToM",
    folder="data/opentom_data",
    licence=gettext_noop(
        "CC BY-NC 4.0: share and adapt it with attribution, not commercially. Its authors ask not to paste questions "
        "into services that train on what they are sent."
    ),
    checked=gettext_noop("The SHA-256 of all nine files is checked."),
    files=(
        CopyFile(NARRATIVES, gettext_noop("the 596 narratives")),
        CopyFile(LONG_NARRATIVES, gettext_noop("the long form of 100 of them")),
        *(CopyFile(f"{name}.json", holds) for name, (_, holds) in FILES.items()),
        CopyFile("LICENSE", gettext_noop("the licence, at the top of the repository")),
    ),
)
ALL, LONG = "all", "long"
SAMPLED, REST = "sampled", "rest"
"""Splits: the questions of the five samples of narratives on which the benchmark's own figures rest, and the others."""


def load(folder: Path, *, narratives: str = ALL) -> Imported:
    """Return the questions of a folder, about the narratives or about the long ones, and check that its nine files are
    the released ones. Raises BadImport."""
    if not folder.is_dir():
        raise BadImport(f"{folder} is not a folder; expected that of the files of OpenToM.")
    read = {
        name: json.loads(released_bytes(folder / name, "the nine files and the LICENSE of OpenToM", digest))
        for name, digest in DIGESTS.items()
    }
    licence, records = licence_in(folder, "OpenToM"), read[NARRATIVES]
    questions = {name: read[f"{name}.json"] for name in FILES}
    stories = (
        {key: record["long_narrative"] for key, record in read[LONG_NARRATIVES].items()}
        if narratives == LONG
        else {key: record["narrative"] for key, record in records.items()}
    )
    asked = _asked(questions, [key for key in records if key in stories], long=narratives == LONG)
    samples = [
        sample
        for key, record in records.items()
        if key in stories
        for sample in _samples(key, stories[key], record, questions, asked)
    ]
    title = f"OpenToM ({'100 long' if narratives == LONG else '596'} narratives)"
    return Imported(title, samples, licence, DIGESTS)


def _kind(file: str, record: Mapping[str, str]) -> str:
    return FILES[file][0] or (FULLNESS if "fullness" in record["question"] else ACCESSIBILITY)


def _samples(key: str, story: str, record: Json, questions: Questions, asked: Mapping[str, Json]) -> Iterator[Sample]:
    """Yield the questions about a narrative. One on where a thing is exactly knows the yes-or-no question on the same
    view, which goes before it in one session."""
    plot, coarse = record["plot_info"], dict[tuple[str, tuple[str, ...]], Json]()
    about = {
        "object": plot["eoi"],
        "mover": plot["mover"],
        "observer": plot["observer"],
        "observed": record["observed"],
        "personality": record["personality"],
    }
    places = (plot["original_place"], plot["move_to_place"])
    for file in FILES:
        for index, question in enumerate(questions[file][key]):
            name, kind = f"{key}/{file}/{index}", _kind(file, question)
            people = _people(question, kind, plot)
            content: Json = {
                "story": story,
                "question": question["question"],
                "kind": kind,
                "people": list(people),
                "perspective": "narrator" if not people else "mover" if people[0] == plot["mover"] else "observer",
            }
            if kind == COARSE:
                coarse[question["type"], people] = {"key": name, "question": question["question"]}
            if kind == FINE and (first := coarse.get((question["type"], people))):
                content["first"] = first
            label, batches = gold_label(kind, question["answer"], places), asked.get(name, {})
            gold = {"answer": question["answer"], "label": label, "places": list(places), **about}
            gold |= {"type": question["type"], "batches": batches}
            split = SAMPLED if batches else REST
            yield Sample(name, key, content, gold, category=genre_of(question["type"], kind), split=split)


def _people(question: Mapping[str, str], kind: str, plot: Mapping[str, str]) -> tuple[str, ...]:
    """Return through whose eyes a question looks: nobody's for the narrator's view, the observer's for an attitude."""
    if kind == ATTITUDE:
        return (plot["observer"],)
    first = question["question"].removeprefix("From ").partition("'s perspective")[0]
    mover, observer = plot["mover"], plot["observer"]
    if first not in (mover, observer):
        return ()
    other = observer if first == mover else mover
    return (first, other) if question["type"].endswith("-so") else (first,)


SEED = 42
BATCHES, BATCH_SIZE = 5, 50
_LEFT_OUT = 2


def batches(keys: Sequence[str]) -> list[list[str]]:
    """Return the keys of the five samples of narratives; `keys` are those of all, in the order of the file."""
    shuffled = list(keys)
    random.Random(SEED).shuffle(shuffled)
    return [shuffled[start : start + BATCH_SIZE] for start in range(0, BATCHES * BATCH_SIZE, BATCH_SIZE)]


def long_batches(keys: Sequence[str]) -> list[list[str]]:
    """Return the keys of the five samples of long narratives, two of each shuffle; `keys` are those of all, in the
    order of the file."""
    shuffled, generator = list(keys), random.Random(SEED)
    drawn: list[list[str]] = []
    while len(drawn) < BATCHES:
        generator.shuffle(shuffled)
        drawn += [shuffled[:BATCH_SIZE], shuffled[BATCH_SIZE : 2 * BATCH_SIZE]]
    return drawn[:BATCHES]


def _asked(questions: Questions, keys: Sequence[str], *, long: bool) -> Mapping[str, Json]:
    """Return, by key of a question and by part, the number of the sample of narratives in which the released code asks
    it; of a long narrative all of them, as its samples overlap. Two questions on fullness of each file are left out."""
    numbers: defaultdict[str, dict[str, list[int]]] = defaultdict(dict)
    for part in PARTS:
        left_out = np.random.RandomState(SEED)
        for number, batch in enumerate((long_batches if long else batches)(keys), start=1):
            for key, file in ((key, file) for key in batch for file in FILES if FILES[file][0] in (part, ATTITUDE, "")):
                kinds = [_kind(file, record) for record in questions[file][key]]
                fullness = [index for index, kind in enumerate(kinds) if kind == FULLNESS]
                dropped = {*left_out.choice(fullness, _LEFT_OUT, replace=False).tolist()} if fullness else ()
                for index in range(len(kinds)):
                    if index not in dropped:
                        numbers[f"{key}/{file}/{index}"].setdefault(part, []).append(number)
    return {
        name: {part: each if long else each[0] for part, each in of_parts.items()} for name, of_parts in numbers.items()
    }


def batches_of(sample: Sample, part: str) -> list[int]:
    """Return the numbers of the samples of narratives in which a question is asked in a part."""
    numbers: int | list[int] = sample.gold["batches"].get(part, [])
    return [numbers] if isinstance(numbers, int) else numbers


def named_questions(samples: Sequence[Sample], part: str) -> dict[str, Sample]:
    """Return the questions of a part that the released code asks, in its order, by their names in its result files:
    `batch-<batch>/<narrative>/<number from 0>`. Of long narratives, whose samples overlap, there are none."""
    place = {key: at for at, key in enumerate(chain(*batches([*dict.fromkeys(sample.cluster for sample in samples)])))}
    asked = [sample for sample in samples if isinstance(sample.gold["batches"].get(part), int)]
    numbers: Counter[str] = Counter()
    named: dict[str, Sample] = {}
    for sample in sorted(asked, key=lambda sample: place.get(sample.cluster, len(place))):
        named[f"batch-{sample.gold['batches'][part]}/{sample.cluster}/{numbers[sample.cluster]}"] = sample
        numbers[sample.cluster] += 1
    return named


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any], *, part: str) -> dict[str, Answered]:
    """Return what the ids of a part's answers are of."""
    return {name: Answered((sample.key,)) for name, sample in named_questions(samples, part).items()}
