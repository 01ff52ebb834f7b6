"""OpenToM as it is distributed: narratives, seven files of questions about them, and a licence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmark.domain.tables.table import ShortNames
from benchmark.suites.copies import BadImport, CopyFile, CopySource, bytes_of, check_released, digest_of, licence_in
from core.incoming.misfit import Misfit, kind_of
from core.incoming.shapes import Filled, Open
from core.incoming.text import NotJson, json_of
from core.messages import Sentence, gettext_noop
from core.plain import Json

COARSE, FINE, FULLNESS, ACCESSIBILITY, ATTITUDE = "coarse", "fine", "fullness", "accessibility", "attitude"
UNREADABLE = -1
"""The label of an answer that cannot be read."""
NEITHER = 3
"""The label of a place that is as much the one as the other."""
OUTSIDE = -2
"""The label of an answer that is none of those that there are, in the repaired parse: it is read, and wrong."""


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file of questions: how many it has of each narrative, its `type` and, but for files of several, its kind."""

    name: str
    questions: int
    type: str
    kind: str = ""


FILES = (
    QuestionFile("location_cg_fo", 2, "location-fo", COARSE),
    QuestionFile("location_cg_so", 2, "location-so", COARSE),
    QuestionFile("location_fg_fo_new", 4, "location-fo", FINE),
    QuestionFile("location_fg_so_new", 2, "location-so", FINE),
    QuestionFile("multihop_fo", 6, "multihop-fo"),
    QuestionFile("multihop_so", 6, "multihop-so"),
    QuestionFile("attitude", 1, "attitude", ATTITUDE),
)
"""The files of questions, in the order in which the released code asks them."""

LABELS: Mapping[str, Mapping[str, int]] = {
    COARSE: {"No": 0, "Yes": 1},
    FULLNESS: {"less full": 1, "more full": 2, "equally full": 3},
    ACCESSIBILITY: {"more accessible": 1, "less accessible": 2, "equally accessible": 3},
    ATTITUDE: {"positive": 1, "negative": 2, "neutral": 3},
}
"""By kind, the number that official scoring gives to each answer; those of a place are 1 for the original and 2 for the
new one."""

PARTS = (COARSE, FINE)
"""The two parts of the benchmark: they differ in the questions about places, the others are in both."""


def question_kind(question: str) -> str:
    """Return the kind of a multi-hop question."""
    return FULLNESS if "fullness" in question else ACCESSIBILITY


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
_PLACES = {COARSE: gettext_noop("Coarse location"), FINE: gettext_noop("Fine location")}


def genre_of(type_: str, kind: str) -> str:
    """Return the genre of a question of a type of the files and a kind."""
    if kind == ATTITUDE:
        return gettext_noop("Attitude")
    order = gettext_noop("second") if type_.endswith("-so") else gettext_noop("first")
    what = _PLACES.get(kind, gettext_noop("Multi-hop"))
    return Sentence("{what}, {order} order", what=what, order=order)


class PlotRecord(Open):
    """Plot of who moves what from where to where, and who may have seen it: read by name, since the released code takes
    them in another order."""

    mover: Filled
    observer: Filled
    eoi: Filled
    original_place: Filled
    move_to_place: Filled


class NarrativeRecord(Open):
    """A narrative of `meta_data.json`."""

    plot_info: PlotRecord
    personality: Filled
    observed: bool
    narrative: Filled


class LongNarrativeRecord(NarrativeRecord):
    """A narrative of `meta_data_long.json`."""

    long_narrative: Filled


class QuestionRecord(Open):
    """A question of any other file."""

    question: Filled
    answer: Filled
    type: Filled


S = TypeVar("S", bound=Open)
NARRATIVES, LONG_NARRATIVES = "meta_data.json", "meta_data_long.json"
COUNTS = {NARRATIVES: 596, LONG_NARRATIVES: 100}
"""The numbers of narratives."""
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


_HOLDS: Mapping[str, str] = {
    "location_cg_fo": gettext_noop("coarse questions about places, first order"),
    "location_cg_so": gettext_noop("coarse questions about places, second order"),
    "location_fg_fo_new": gettext_noop("fine questions about places, first order"),
    "location_fg_so_new": gettext_noop("fine questions about places, second order"),
    "multihop_fo": gettext_noop("questions about fullness and accessibility, first order"),
    "multihop_so": gettext_noop("questions about fullness and accessibility, second order"),
    "attitude": gettext_noop("questions about the observer’s attitude"),
}
SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/seacowx/OpenToM",
    folder="data/opentom_data",
    licence=gettext_noop(
        "CC BY-NC 4.0: share and adapt it with attribution, not commercially. Its authors ask not to paste questions "
        "into services that train on what they are sent."
    ),
    checked=gettext_noop("Narratives and questions are counted, and the SHA-256 of all nine files is checked."),
    files=(
        CopyFile(NARRATIVES, gettext_noop("the 596 narratives")),
        CopyFile(LONG_NARRATIVES, gettext_noop("the long form of 100 of them")),
        *(CopyFile(f"{file.name}.json", _HOLDS[file.name]) for file in FILES),
        CopyFile("LICENSE", gettext_noop("the licence, at the top of the repository")),
    ),
)


@dataclass(frozen=True, slots=True)
class Narrative:
    """A story in which one person moves an object. `text` is the narrative, `long_text` its long form, empty where it
    has none; `places` are the original and the new one."""

    key: str
    text: str
    long_text: str
    mover: str
    observer: str
    object: str
    places: tuple[str, str]
    observed: bool
    personality: str


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question. `index` counts those of its narrative within its file, from 0; `kind` is one of `kinds`."""

    narrative: Narrative
    file: str
    index: int
    type: str
    kind: str
    text: str
    answer: str

    @property
    def key(self) -> str:
        """`<narrative>/<file>/<index>`."""
        return f"{self.narrative.key}/{self.file}/{self.index}"


@dataclass(frozen=True, slots=True)
class OpenToM:
    """A copy of the benchmark: narratives and, by the name of their file and the narrative's key, questions, both in
    the order of the files; the licence's text; the SHA-256 of each file as 64 hexadecimal digits."""

    narratives: Mapping[str, Narrative]
    questions: Mapping[str, Mapping[str, Sequence[OpenQuestion]]]
    licence: str
    digests: Mapping[str, str]


def read_opentom(folder: Path) -> OpenToM:
    """Read the nine files and the LICENSE of a folder, and check that they are the released ones. Raises BadImport."""
    if not folder.is_dir():
        raise BadImport(f"{folder} is not a folder; expected that of the files of OpenToM.")
    raw = {
        name: bytes_of(folder / name, "the nine files and the LICENSE of OpenToM")
        for name in (NARRATIVES, LONG_NARRATIVES, *(f"{file.name}.json" for file in FILES))
    }
    licence = licence_in(folder, "OpenToM")
    narratives = _narratives(raw)
    questions = {file.name: _questions(file, raw[f"{file.name}.json"], narratives) for file in FILES}
    digests = {name: digest_of(content) for name, content in raw.items()}
    for name, digest in digests.items():
        check_released(name, digest, DIGESTS[name])
    return OpenToM(narratives, questions, licence, digests)


def _object_of(name: str, raw: bytes) -> Json:
    try:
        value = json_of(raw)
    except NotJson as error:
        raise BadImport(error.message_for(name)) from error
    if not isinstance(value, dict):
        raise BadImport(f"{name}: it is {kind_of(value)}; expected an object with an entry for each narrative.")
    return value


def _shaped(name: str, shape: type[S], value: Any, *place: str | int) -> S:
    try:
        return shape.of(value, start=place)
    except Misfit as error:
        raise BadImport(error.message_for(name)) from error


def _narratives(raw: Mapping[str, bytes]) -> dict[str, Narrative]:
    short, long = _object_of(NARRATIVES, raw[NARRATIVES]), _object_of(LONG_NARRATIVES, raw[LONG_NARRATIVES])
    for name, entries in ((NARRATIVES, short), (LONG_NARRATIVES, long)):
        if len(entries) != COUNTS[name]:
            raise BadImport(f"{name}: the number of narratives is {len(entries)}; expected {COUNTS[name]}.")
    if strangers := sorted(long.keys() - short.keys()):
        raise BadImport(f"{LONG_NARRATIVES}: narrative {strangers[0]} is not in {NARRATIVES}.")
    texts = {
        key: _shaped(LONG_NARRATIVES, LongNarrativeRecord, value, key).long_narrative for key, value in long.items()
    }
    return {
        key: _narrative(key, _shaped(NARRATIVES, NarrativeRecord, value, key), texts.get(key, ""))
        for key, value in short.items()
    }


def _narrative(key: str, record: NarrativeRecord, long_text: str) -> Narrative:
    plot = record.plot_info
    return Narrative(
        key=key,
        text=record.narrative,
        long_text=long_text,
        mover=plot.mover,
        observer=plot.observer,
        object=plot.eoi,
        places=(plot.original_place, plot.move_to_place),
        observed=record.observed,
        personality=record.personality,
    )


def _questions(file: QuestionFile, raw: bytes, narratives: Mapping[str, Narrative]) -> dict[str, list[OpenQuestion]]:
    name = f"{file.name}.json"
    entries = _object_of(name, raw)
    for key in [*narratives, *entries]:
        if key not in entries or key not in narratives:
            raise BadImport(f"{name}: narrative {key} is missing here or in {NARRATIVES}; expected the same in both.")
    return {key: list(_of_narrative(file, narratives[key], entries[key])) for key in narratives}


def _of_narrative(file: QuestionFile, narrative: Narrative, entries: Any) -> Iterator[OpenQuestion]:
    name = f"{file.name}.json, {narrative.key}"
    if not isinstance(entries, list) or len(entries) != file.questions:
        size = len(entries) if isinstance(entries, list) else kind_of(entries)
        raise BadImport(f"{name}: the number of questions is {size}; expected {file.questions}.")
    for index, entry in enumerate(entries):
        record = _shaped(f"{file.name}.json", QuestionRecord, entry, narrative.key, index)
        if record.type != file.type:
            raise BadImport(f"{name}[{index}].type: it is {record.type[:40]!r}; expected {file.type!r}.")
        kind = file.kind or question_kind(record.question)
        labels = LABELS.get(kind)
        if labels and record.answer not in labels:
            raise BadImport(
                f"{name}[{index}].answer: it is {record.answer[:40]!r}; expected one of {', '.join(labels)}."
            )
        yield OpenQuestion(narrative, file.name, index, record.type, kind, record.question, record.answer)
