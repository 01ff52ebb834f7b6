"""The questions of a copy, and their answers in both parses."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmark.suites.copies import Imported, licence_beside
from benchmark.suites.fantom.embedding import Embedder, cosine, nearness
from benchmark.suites.fantom_questions.data import (
    DISTANCE,
    FACT,
    Fantom,
    about,
    check_counts,
    file_of,
    in_full,
    oddities,
    of_the_short,
    question_sets,
    read_fantom,
    without_licence,
)
from benchmark.suites.fantom_questions.metrics import Read
from benchmark.suites.fantom_questions.parsing import (
    Parse,
    after_marker,
    official_parse,
    repaired_parse,
    says_nothing,
    squad_f1,
    token_f1,
)
from benchmark.suites.questions import Sample
from benchmark.suites.refusals import own_words

SHORT, FULL = "short", "full"
Near = tuple[float, float]
"""The cosines of an answer with the right and with the wrong text."""


def load(path: Path, *, conversation: str = SHORT) -> Imported:
    """Return the questions of a copy, about the short or the full conversations. Raises BadImport."""
    file = file_of(path)
    copy, licence = read_fantom(file), licence_beside(file, "FANToM")
    sets = question_sets(copy.sets)
    check_counts(copy.name, sets)
    samples = list(samples_of(copy, conversation))
    problems = [*without_licence(copy.name, licence), *oddities(copy, sets)]
    title = f"FANToM ({conversation} conversations)"
    return Imported(title, samples, licence, copy.digests, problems, unchecked=copy.unchecked)


def samples_of(copy: Fantom, conversation: str) -> Iterator[Sample]:
    """Yield the questions about the short or the full conversations. The short ones are asked without characters who
    are not in them."""
    for set_id, questions in question_sets(copy.sets).items():
        record = copy.sets[set_id]
        if conversation == FULL:
            yield from about(in_full(questions), record.full_context.strip())
        else:
            yield from about(of_the_short(questions), record.short_context.strip())


def official_of(sample: Sample, answer: str, near: Near) -> Parse:
    """Return the official parse of an answer."""
    kind, right, wrong = sample.content["kind"], sample.gold["right"], sample.gold["wrong"]
    if kind == FACT:
        return {"f1": token_f1(right[0].lower(), answer.lower())}
    if kind == DISTANCE:
        nearer = near[0] > near[1]
        return {"right": nearer, "near": list(near), "f1": token_f1((right if nearer else wrong)[0], answer)}
    return official_parse(sample, answer)


def parses_of(sample: Sample, answer: str, embedder: Embedder) -> tuple[Parse, Parse | None]:
    """Return the official parse of an answer and the repaired one, None where a person cannot read it. `answer`
    begins after the released code's marker."""
    kind, right = sample.content["kind"], sample.gold["right"][0] if sample.gold["right"] else ""
    near = nearness(embedder, answer, right, sample.gold["wrong"][0]) if kind == DISTANCE else (0.0, 0.0)
    official = official_of(sample, answer, near)
    if kind == DISTANCE:
        return official, None if says_nothing(answer) or near[0] == near[1] else official
    if kind != FACT:
        return official, repaired_parse(sample, answer)
    if says_nothing(answer):
        own = own_words(answer)
        return official, {"f1": 0.0} if own.unknowing and not own.refused else None
    return official, {"f1": squad_f1(right, answer)}


def official_reads(samples: Sequence[Sample], texts: Mapping[str, str], embedder: Embedder) -> list[Read]:
    """Return the questions that have an answer, in their order, with the official parse. `texts` are raw answers by
    key."""
    answers = {sample.key: after_marker(texts[sample.key]) for sample in samples if sample.key in texts}
    free = [sample for sample in samples if sample.key in answers and sample.content["kind"] == DISTANCE]
    near: dict[str, Near] = {}
    if free:
        given = embedder([answers[sample.key] for sample in free])
        right, wrong = (
            cosine(given, embedder([sample.gold[side][0] for sample in free])).tolist() for side in ("right", "wrong")
        )
        near = {sample.key: (one, other) for sample, one, other in zip(free, right, wrong, strict=True)}
    return [
        Read(sample, 0, official_of(sample, answers[sample.key], near.get(sample.key, (0.0, 0.0))), answers[sample.key])
        for sample in samples
        if sample.key in answers
    ]
