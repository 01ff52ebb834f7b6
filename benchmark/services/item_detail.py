"""Item detail: the question, the answer, both parses of it next to gold, and all questions about its story, each with
its verdict."""

import json
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from typing import Any

from django.db.models import Q

from annotation.models import Story
from benchmark.controls.chosen import CONTROLS, changes_of
from benchmark.models import Dataset, DatasetSample, RunItem, SnapshotItem
from benchmark.services.asking import DatasetResources, sample_answered, sample_asked, settings_of
from benchmark.services.evaluating import answers_of
from benchmark.services.items import state_of
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.items import ReadLine
from benchmark.suites.questions import BadQuestion, Beside, ItemView, Question, Sample
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from core.plain import Json
from core.texts import storable
from workers.models import Call

SHOWN_CHARACTERS = 20_000
"""Characters of a text that a page shows; the whole text is a download."""
MOST_QUESTIONS = 300
"""Questions of one story that a page shows."""
LONGEST_CELL = 200
"""Characters of gold and of a raw answer in the table."""
RIGHT, WRONG, UNREADABLE, NONE = "right", "wrong", "unreadable", gettext_noop("no answer")


def shortened(text: str) -> Json:
    """Return {text, whole, left}: the beginning of a text, its length, and how many characters are left out."""
    return {"text": text[:SHOWN_CHARACTERS], "whole": len(text), "left": max(0, len(text) - SHOWN_CHARACTERS)}


SOLVED = gettext_noop(
    "This part shows a story, solved, that you still have work to do on; it can be read when that is done."
)
COUNTS = gettext_noop("Counts of gold labels are shown when you have finished your open work.")


def texts_of(dataset: Dataset, closed: Set[int]) -> list[str]:
    """Return the texts of the stories of a dataset's samples with these numbers, as `asked_of` looks for them in
    prompts."""
    suite = suite_named(dataset.suite) if dataset.suite else None
    if suite and suite.copied.load:
        numbered = dataset.samples.filter(number__in=closed)
        texts = set(numbered.values_list(f"content__{suite.texts.story}", flat=True)) if suite.texts.story else set()
    else:
        texts = set(Story.objects.filter(project=dataset.project_id, number__in=closed).values_list("text", flat=True))
    return [normalised for text in texts if text and (normalised := " ".join(text.split()))]


def asked_of(call: Call | None, closed: Sequence[str] = ()) -> list[Json]:
    """Return `messages_of` with long texts `shortened` for a page."""
    return [{"role": message["role"], **shortened(message["text"])} for message in messages_of(call, closed)]


def messages_of(call: Call | None, closed: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return [{role, text}] of the messages that were sent; for a baseline the data that it reads. What shows a story
    of `closed` solved, as an example, or counts the labels of all gold is left out where there are any."""
    if call is None:
        return []
    body = call.request
    if "task" in body and "messages" not in body:
        task = body["task"] | ({"counts": COUNTS} if closed and body["task"].get("counts") else {})
        return [{"role": "data", "text": storable(json.dumps(task, indent=2, ensure_ascii=False))}]
    system = [{"role": "system", "content": block.get("text", "")} for block in body.get("system") or []]
    messages = [*system, *(body.get("messages") or [])]
    return [
        {"role": message["role"], "text": without_solved(storable(_text(message["content"])), closed)}
        for message in messages
    ]


def without_solved(text: str, closed: Sequence[str]) -> str:
    """Return a message of a prompt, or a sentence in its place where it has one of the `closed` texts."""
    plain = " ".join(text.split()) if closed else ""
    return SOLVED if any(story in plain for story in closed) else text


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)


def changes_on_page(item: RunItem | SnapshotItem) -> list[Json]:
    """Return what the control of the item's run changed of its sample; none without one, or where its suite cannot make
    it."""
    run = item.entrant.run
    controllable = suite_named(run.suite).controls
    if not run.control or controllable is None:
        return []
    try:
        return changes_of(sample_asked(run, item.sample), controllable)
    except (SuiteFailed, BadQuestion):
        return []


def items_beside(item: RunItem) -> list[Json]:
    """Return {item, title} of the same model's other items of this question, as published and under controls."""
    run = item.entrant.run
    family = Q(entrant__run=run.original_id or run.pk) | Q(entrant__run__original=run.original_id or run.pk)
    others = RunItem.objects.filter(
        family,
        entrant__run__deleted_at=None,
        entrant__endpoint=item.entrant.endpoint_id,
        sample=item.sample_id,
        step=item.step,
        repetition=item.repetition,
    )
    rows = others.exclude(pk=item.pk).select_related("entrant__run").order_by("pk")
    names = {name: control.title for name, control in CONTROLS.items()}
    return [{"item": row, "title": names.get(row.entrant.run.control, gettext_noop("as published"))} for row in rows]


def parses_on_page(item: RunItem | SnapshotItem, closed: Set[int] = frozenset()) -> Json:
    """Return what the suite's template shows of an item: what the suite makes of it, else its content, gold and
    parses. `item.call` has the answer; items of its set that are `closed` to the reader are left out. {"failed"}, a
    sentence, where the suite could not make it."""
    suite, of_its_set = suite_named(item.entrant.run.suite), list[Beside]()
    try:
        if item.sample.group:
            same = {"entrant": item.entrant_id, "step": item.step, "repetition": item.repetition}
            rows = item.among().without(closed).filter(sample__group=item.sample.group, **same)
            of_its_set = [
                Beside(
                    row.pk,
                    sample_answered(item.entrant.run, row.sample, row.call),
                    row.call.answer if row.call else None,
                    row.official,
                    row.repaired,
                    row.unreadable,
                )
                for row in rows.select_related("sample", "call").order_by("sample__number")
            ]
        view = _view_of(item, of_its_set)
        return suite.items.item(view) if suite.items.item else _plain(view)
    except (SuiteFailed, BadQuestion) as error:
        return {"failed": str(error)}


def lines_on_page(item: RunItem | SnapshotItem) -> tuple[list[ReadLine], str]:
    """Return the lines by which an item is held against another model's, and a sentence where the suite could not make
    them."""
    try:
        return list(suite_named(item.entrant.run.suite).items.lines(_view_of(item))), ""
    except SuiteFailed as error:
        return [], str(error)


def sample_of(item: RunItem | SnapshotItem) -> Sample:
    """Return the sample of an item as its run asked about it."""
    return sample_asked(item.entrant.run, item.sample)


def _view_of(item: RunItem | SnapshotItem, of_its_set: Sequence[Beside] = ()) -> ItemView:
    run, answers = item.entrant.run, answers_of([item])[item.pk]
    sample, resources = sample_answered(run, item.sample, item.call), DatasetResources(run.dataset)
    question = Question(sample, item.step, settings_of(run), resources, answers, item.repetition)
    answer = item.call.answer if item.call else None
    return ItemView(question, answer, item.official, item.repaired, item.unreadable, of_its_set)


def _plain(view: ItemView) -> Json:
    parts = {
        "Content": view.question.sample.content,
        "Gold": view.question.sample.gold,
        "Official parse": view.official,
        "Repaired parse": view.repaired,
    }
    return {
        "parts": [
            (name, [(key.replace("_", " "), _text(value)) for key, value in fields.items()])
            for name, fields in parts.items()
            if fields
        ]
    }


def item_data(item: RunItem, *, full: bool, closed_texts: Sequence[str] = ()) -> Json:
    """Return an item as data; `full` adds prompt, content and gold. What of a prompt shows a text of `closed_texts`
    solved is left out."""
    call, sample = item.call, item.sample
    row = {
        "item": item.pk,
        "model": item.entrant.name,
        "step": item.step,
        "sample": sample.number,
        "key": sample.key,
        "cluster": sample.cluster,
        "category": sample.category,
        "split": sample.split,
        "repetition": item.repetition + 1,
        "state": state_of(item),
        "problem": item.unreadable or (item.item.problem if item.item else ""),
        "answer": call.answer if call else None,
        "answered_by": call.answered_by if call else None,
        "official": item.official,
        "repaired": item.repaired,
        "official_score": item.score,
        "repaired_score": item.repaired_score,
        "rows_not_judged": item.unjudged,
    }
    if full:
        asked = call or (item.item.call if item.item else None)
        row |= {"prompt": messages_of(asked, closed_texts), "content": sample.content, "gold": sample.gold}
    return row


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
    text = _story_text(suite, item.sample)
    others = alike.select_related("sample", "call", "entrant__run__dataset").order_by("sample__number")
    items = [other for other in others if _story_text(suite, other.sample) == text]
    if len(items) < 2:
        return None
    try:
        rows = list(_question_rows(item, items[:MOST_QUESTIONS], suite))
    except (SuiteFailed, BadQuestion):  # the log has it
        return None
    verdicts = [row["repaired"] for row in rows]
    counts = [(word, count) for word in (RIGHT, WRONG, UNREADABLE, NONE) if (count := verdicts.count(word))]
    left = max(0, len(items) - MOST_QUESTIONS)
    return {"noun": suite.cluster[0], "rows": rows, "left": left, "counts": counts} if len(rows) > 1 else None


def _story_text(suite: Suite, sample: DatasetSample) -> object:
    """Return what all questions of one story have in common; nothing where the suite does not say what that is."""
    name = suite.controls.story if suite.controls else suite.texts.story
    return sample.content.get(name) if name else None


def _question_rows(
    item: RunItem | SnapshotItem, items: Sequence[RunItem | SnapshotItem], suite: Suite
) -> Iterator[Json]:
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
            "gold": _in_brief(line.gold or ""),
            "answer": None if answer is None else _in_brief(answer),
            "official": NONE if answer is None else _verdict(line.officially_right, line.official or "–"),
            "repaired": NONE if answer is None else _verdict(line.right, line.repaired or UNREADABLE),
        }


def _verdict(right: bool | None, otherwise: str) -> str:
    return otherwise if right is None else RIGHT if right else WRONG


def _in_brief(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL].rstrip()} …"
