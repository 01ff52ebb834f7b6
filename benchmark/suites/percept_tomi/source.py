"""Source from which users get Percept-ToMi, and what of it is read."""

from __future__ import annotations

from benchmark.suites.copies import CopyFile, CopySource
from benchmark.suites.percept_tomi.data import FILE
from core.messages import gettext_noop

SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/chanijung/PercepToM",
    folder="dataset",
    licence=gettext_noop(
        "The repository has no licence file; the paper announces CC BY-NC 4.0: share and adapt with attribution, not "
        "commercially."
    ),
    checked=gettext_noop("Questions of each type are counted, and the SHA-256 of the file is checked."),
    files=(
        CopyFile(FILE, gettext_noop("the 600 questions with stories and perceivers")),
        CopyFile("LICENSE", gettext_noop("a licence, if one came with your copy"), optional=True),
    ),
)
