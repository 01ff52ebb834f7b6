"""Source from which users get Percept-FANToM, and what of it is read."""

from __future__ import annotations

from benchmark.suites.copies import CopyFile, CopySource
from benchmark.suites.fantom_questions.sources import ARCHIVE
from benchmark.suites.fantom_questions.sources import SOURCE as FANTOM
from benchmark.suites.percept_fantom.annotation import BESIDE, FILE
from core.messages import gettext_noop

SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/chanijung/PercepToM",
    folder="dataset/Percept_FANToM",
    licence=gettext_noop(
        "The repository has no licence file; the paper announces CC BY-NC 4.0: share and adapt with attribution, not "
        "commercially. FANToM’s data are for evaluation only."
    ),
    checked=gettext_noop(
        "Parts, utterances and sets are counted, the SHA-256 of the annotation is checked, and FANToM’s file as that "
        "benchmark has it."
    ),
    files=(
        CopyFile(FILE, gettext_noop("who hears each utterance")),
        CopyFile(BESIDE, gettext_noop("the same once more, a row a conversation"), optional=True),
        CopyFile(ARCHIVE, gettext_noop("FANToM itself, from its own repository; or the JSON file inside it")),
        *(file for file in FANTOM.files if file.optional),
    ),
)
