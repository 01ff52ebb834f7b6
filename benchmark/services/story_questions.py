"""All questions about the story of an item, by the same model at the same step, each with its verdict."""

from collections.abc import Iterator, Sequence, Set
from itertools import islice

from benchmark.models import DatasetSample, RunItem, SnapshotItem
from benchmark.services.asking import DatasetResources, sample_answered, settings_of
from benchmark.services.evaluating import answers_of
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import BadQuestion, ItemView, Question
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from core.plain import Json

MOST = 300
"""Questions of one story that a page shows."""
LONGEST = 200
"""Characters of gold and of a raw answer in the table."""
RIGHT, WRONG, UNREADABLE, NONE = "right", "wrong", "unreadable", gettext_noop("no answer")


def questions_of_story(item: RunItem | SnapshotItem, closed: Set[int] = frozenset()) -> Json | None:
    """Return {noun, rows, left, counts} of the questions about the text that the item's is about, without those
    `closed` to the reader. Returns None if it is the only one, and at a step whose answers are not read question by
    question.

    A row is {item, here, beside, category, question, gold, answer, official, repaired}: whether it is the page's own,
    or of the same set, and what each parse says of the raw answer: a verdict, or what it reads if the score knows more
    than right and wrong. `left` counts the questions that are not shown, and `counts` those of each verdict.
    """
    suite = suite_named(item.entrant.run.suite)
    if suite.copied.load is None:
        return None
    # items of the same cluster whose text is the same: a conversation has parts
    alike = item.among().filter(entrant=item.entrant_id, step=item.step, repetition=item.repetition)
    alike = alike.without(closed).filter(sample__cluster=item.sample.cluster)
    text = _text_of(suite, item.sample)
    others = alike.select_related("sample", "call", "entrant__run__dataset").order_by("sample__number")
    items = [other for other in others if _text_of(suite, other.sample) == text]
    if len(items) < 2:
        return None
    try:
        rows = list(_rows(item, items[:MOST], suite))
    except (SuiteFailed, BadQuestion):  # the log has it
        return None
    verdicts = [row["repaired"] for row in rows]
    counts = [(word, count) for word in (RIGHT, WRONG, UNREADABLE, NONE) if (count := verdicts.count(word))]
    left = max(0, len(items) - MOST)
    return {"noun": suite.cluster[0], "rows": rows, "left": left, "counts": counts} if len(rows) > 1 else None


def _text_of(suite: Suite, sample: DatasetSample) -> object:
    """Return what all questions of one story have in common; nothing where the suite does not say what that is."""
    name = suite.controls.story if suite.controls else suite.texts.story
    return sample.content.get(name) if name else None


def _rows(item: RunItem | SnapshotItem, items: Sequence[RunItem | SnapshotItem], suite: Suite) -> Iterator[Json]:
    run, answers = item.entrant.run, answers_of(items)
    settings, resources = settings_of(run), DatasetResources(run.dataset)
    for other in items:
        sample = sample_answered(run, other.sample, other.call, settings)
        question = Question(sample, other.step, settings, resources, answers[other.pk], other.repetition)
        answer = other.call.answer if other.call else None
        view = ItemView(question, answer, other.official, other.repaired, other.unreadable)
        lines = list(islice(suite.items.lines(view), 2))
        if len(lines) != 1:
            continue
        [line] = lines
        yield {
            "item": other.pk,
            "here": other.pk == item.pk,
            "beside": bool(item.sample.group) and other.sample.group == item.sample.group,
            "category": other.sample.category,
            "question": line.about,
            "gold": _shortened(line.gold or ""),
            "answer": None if answer is None else _shortened(answer),
            "official": NONE if answer is None else _verdict(line.officially_right, line.official or "–"),
            "repaired": NONE if answer is None else _verdict(line.right, line.repaired or UNREADABLE),
        }


def _verdict(right: bool | None, otherwise: str) -> str:
    return otherwise if right is None else RIGHT if right else WRONG


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"
