"""Questions to which a model gave another answer under a control, or in another repetition, than as published: the
stories to read. An answer that could not be read is another than any that could; where no metric group of a step has
words for what answers say, their scores are compared."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from benchmark.controls.chosen import CONTROLS
from benchmark.models import Entrant, Run, RunItem, StoryScores
from benchmark.services.item_detail import lines_on_page
from benchmark.services.reports import reports_of, samples_of, stamps_of
from benchmark.suites.figures import columns_of
from benchmark.suites.questions import UNREADABLE_ANSWER
from benchmark.suites.registry import group_named, keys_of, suite_named
from core.kept import kept_as

REPETITIONS = "repetitions"
"""The choice, instead of a control, that compares repetitions of the run with its first one."""
MOST_CHARACTERS = 400
"""Characters of an answer that a row shows."""


Answer = tuple[int, str, float | None]
"""The id of an answer's item, what it says, and its score, None if it is unreadable."""
Pair = tuple[Answer, Answer]
Asked = tuple[str, int, int]
"""(step, sample id, repetition)."""
Counts = dict[tuple[int, str], tuple[int, int]]
"""(flips, answers given both ways) by (endpoint id, way)."""


def ways_of(run: Run) -> list[tuple[str, str]]:
    """Return (value, label) of what the run's answers can be held against: its controls, and its repetitions."""
    ways = [
        (control, CONTROLS[control].title) for control in run.controls.order_by("pk").values_list("control", flat=True)
    ]
    return ways + ([(REPETITIONS, "repetitions")] if run.parameters.repetitions > 1 else [])


def counts_of(run: Run, ways: Sequence[str], closed: Set[int]) -> Counts:
    """Return (flips, answers given both ways) by (endpoint id, way), for who has such answers; nothing of samples in
    `closed`. Counted once for the same figures, which are computed before."""
    reports_of([run, *run.controls.select_related("project", "dataset", "judge", "job", "source")])
    stamps = stamps_of([run, *run.controls.order_by("pk")])
    if not stamps:
        return _counts(run, ways, closed)
    return kept_as("flips", [stamps, sorted(ways), sorted(closed)], lambda: _counts(run, ways, closed))


def _counts(run: Run, ways: Sequence[str], closed: Set[int]) -> Counts:
    counts: Counts = {}
    for entrant in run.entrants.select_related("run"):
        published = _answers(entrant, closed)
        for way in ways:
            pairs = _pairs(published, entrant, way, closed)
            if pairs:
                counts[entrant.endpoint_id, way] = sum(first[1] != second[1] for first, second in pairs), len(pairs)
    return counts


def flips_of(entrant: Entrant, way: str, closed: Set[int]) -> list[Pair]:
    """Return the pairs of answers of one model that say different things, those whose scores are furthest apart first,
    an unreadable one among the farthest, then by sample; without samples in `closed`."""
    pairs = _pairs(_answers(entrant, closed), entrant, way, closed)
    return sorted((pair for pair in pairs if pair[0][1] != pair[1][1]), key=lambda pair: -_apart(pair))


def _apart(pair: Pair) -> float:
    (_, _, first), (_, _, second) = pair
    return 1.0 if first is None or second is None else abs(first - second)


def _pairs(published: Mapping[Asked, Answer], entrant: Entrant, way: str, closed: Set[int]) -> list[Pair]:
    """Return the answers that a model gave both ways, in the order of the samples."""
    if way == REPETITIONS:
        first = {(step, sample): answer for (step, sample, turn), answer in published.items() if turn == 0}
        again = [(first.get(asked[:2]), answer) for asked, answer in published.items() if asked[2] > 0]
        return [(before, answer) for before, answer in again if before]
    other = Entrant.objects.filter(
        run__original=entrant.run_id, run__control=way, run__deleted_at=None, endpoint=entrant.endpoint_id
    ).select_related("run")
    controlled = _answers(other[0], closed) if other else {}
    return [(published[asked], answer) for asked, answer in controlled.items() if asked in published]


def _answers(entrant: Entrant, closed: Set[int]) -> dict[Asked, Answer]:
    """Return a model's answers by what was asked, in the order of the samples: what they say is what a metric group of
    their step takes them for, else their score."""
    words_by_question = _statements(entrant)
    worded = {group.scored for group in suite_named(entrant.run.suite).groups if group.says}
    steps = {group_named(key).scored for key in keys_of(entrant.run.suite)}
    items = RunItem.objects.filter(entrant=entrant, step__in=steps, call__isnull=False).without(closed)
    rows = items.order_by("sample__position", "repetition").values_list(
        "step", "sample_id", "sample__number", "repetition", "pk", "repaired_score", "unreadable"
    )
    answers = {}
    for step, sample, number, turn, pk, score, unreadable in rows:
        if step in worded:
            words = words_by_question.get((step, number, turn))
        else:
            words = UNREADABLE_ANSWER if unreadable else None if score is None else f"{score:.6g}"
        if words is not None:
            answers[step, sample, turn] = pk, words, None if unreadable else score
    return answers


def _statements(entrant: Entrant) -> dict[Asked, str]:
    """Return what a model's answers say by step, number of the sample and repetition: as the figures of a metric group
    keep it, else, at steps with figures of sets only, as one of these takes the kept parse."""
    groups = suite_named(entrant.run.suite).groups
    metrics = StoryScores.objects.current().filter(entrant=entrant).values_list("metrics", flat=True).first()
    words_by_question: dict[Asked, str] = {}
    # figures of sets have what answers say of a set only
    single = {group.key: group.scored for group in groups if group.says is not None and group.counts is None}
    for group in groups:
        columns = columns_of((metrics or {}).get(group.key), "repaired") if group.key in single else None
        for number, turns in zip(columns.stories, columns.said or (), strict=False) if columns else ():
            words_by_question |= {(group.scored, number, turn): words for turn, words in enumerate(turns) if words}
    says = {group.scored: group.says for group in groups if group.says and group.scored not in single.values()}
    items = RunItem.objects.filter(entrant=entrant, step__in=says, call__isnull=False)
    rows: list[Any] = list(items.values_list("step", "sample_id", "repetition", "repaired", "unreadable"))
    samples = samples_of(entrant.run) if rows else {}
    for step, pk, turn, repaired, unreadable in rows:
        if unreadable or repaired is not None:
            words = UNREADABLE_ANSWER if unreadable else says[step](samples[pk], repaired)
            words_by_question[step, samples[pk].number, turn] = words
    return words_by_question


def read(flips: Sequence[Pair]) -> list[tuple[RunItem, RunItem]]:
    """Return the items of these flips in their order, each with `answer`, the beginning of what was answered, and
    `meant`, what that was read as."""
    ids = [[first[0], second[0]] for first, second in flips]
    items = RunItem.objects.filter(pk__in=[pk for pair in ids for pk in pair]).select_related(
        "sample", "call", "entrant__run__project", "entrant__run__dataset"
    )
    rows: Any = items.defer("sample__votes", "sample__methods", "sample__adjudications")
    by_id = {item.pk: item for item in rows}
    for item in by_id.values():
        text = item.call.answer if item.call else ""
        item.answer = {"text": text[:MOST_CHARACTERS], "left": max(0, len(text) - MOST_CHARACTERS)}
        # a letter does not say what it means: another option wherever options stand in another order
        lines, _ = lines_on_page(item)
        read_as = lines[0].repaired if len(lines) == 1 else None
        item.meant = read_as if read_as and read_as not in text else ""
    return [(by_id[first], by_id[second]) for first, second in ids]
