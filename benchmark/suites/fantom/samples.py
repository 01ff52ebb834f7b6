"""Questions as samples of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmark.suites.copies import Imported, licence_beside
from benchmark.suites.fantom_questions.data import Fantom, check_counts, file_of, read_fantom
from benchmark.suites.fantom_questions.flattening import in_full
from benchmark.suites.fantom_questions.rows import ACCESSIBLE, NOT_THERE
from benchmark.suites.fantom_questions.samples import names_of, oddities, sample_of, without_licence
from benchmark.suites.questions import Sample

SHORT, FULL = "short", "full"


def load(path: Path, *, conversation: str = SHORT) -> Imported:
    """Return the questions of a copy, about the short or the full conversations. Raises BadImport."""
    file = file_of(path)
    copy, licence = read_fantom(file), licence_beside(file, "FANToM")
    check_counts(copy)
    samples = list(samples_of(copy, conversation))
    problems = [*without_licence(copy.name, licence), *oddities(copy)]
    title = f"FANToM ({conversation} conversations)"
    return Imported(title, samples, licence, copy.digests, problems, unchecked=copy.unchecked)


def samples_of(copy: Fantom, conversation: str) -> Iterator[Sample]:
    """Return the questions about the short or the full conversations. The short ones are asked without characters who
    are not in them."""
    for question_set in copy.sets.values():
        rows = (
            in_full(question_set.rows)
            if conversation == FULL
            else [row for row in question_set.rows if row.right != (NOT_THERE,)]
        )
        names = names_of(question_set)
        wholly_accessible = all(row.scenario in ("", ACCESSIBLE) for row in rows)
        text = question_set.full_context if conversation == FULL else question_set.short_context
        for row in rows:
            yield sample_of(row, question_set, text, names, wholly_accessible)
