"""Items as samples of a dataset, and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmark.suites.copies import Imported
from benchmark.suites.lettered import OPTION_ORDER
from benchmark.suites.questions import BadQuestion, Question, Sample
from benchmark.suites.tombench.data import LANGUAGES, Item, read_tombench
from benchmark.suites.tombench.shuffling import TRIES, OfferedOptions, Order, official_orders, seeded_order, show

NAMES = {"en": "English", "zh": "Chinese"}
BOTH = "both"
SEEDED, RELEASED = "seeded", "released"
"""The ways in which orders of options are drawn."""
AS_LOGGED, UNSHUFFLED = "logged", "unshuffled"
"""The orders of answers made elsewhere: the one in the record of each answer, and that of the data."""


def load(folder: Path, *, languages: str = BOTH) -> Imported:
    """A copy of the benchmark in one language or in both. The split of a sample is its language. Raises BadImport."""
    chosen = LANGUAGES if languages == BOTH else (languages,)
    copy = read_tombench(folder, languages=chosen)
    title = f"ToMBench ({' and '.join(NAMES[language] for language in chosen)})"
    return Imported(title, [_sample(item) for item in copy.items], copy.licence, {"20 JSONL files": copy.digest})


def _sample(item: Item) -> Sample:
    content = {
        "story": item.story,
        "question": item.question,
        "options": list(item.options),
        "ability": item.trimmed_ability,
        "language": NAMES[item.language],
    }
    gold = {"answer": item.gold, "cell": item.answer, "ability": item.ability}
    return Sample(item.key, item.cluster, content, gold, category=item.task, split=item.language)


def item_of(sample: Sample) -> Item:
    """The item that a sample was made from."""
    return Item(
        key=sample.key,
        cluster=sample.cluster,
        task=sample.category,
        ability=sample.gold["ability"],
        language=sample.split,
        line=line_of(sample),
        story=sample.content["story"],
        question=sample.content["question"],
        options=tuple(sample.content["options"]),
        answer=sample.gold["cell"],
    )


def shown_in(question: Question) -> OfferedOptions:
    """Return the options as one try shows them. A try is a repetition. Of an answer made elsewhere the order is the one
    that is known of it. Raises BadQuestion for a try that the released code does not have."""
    item, kind = item_of(question.sample), question.settings.options["order"]
    if OPTION_ORDER in question.sample.content:
        order = tuple(question.sample.content[OPTION_ORDER])
    elif kind in (AS_LOGGED, UNSHUFFLED):
        order = tuple(range(len(item.options)))
    elif kind == RELEASED:
        order = _released_order(question)
    else:
        order = seeded_order(question.settings.seed, item.key, question.repetition, len(item.options))
    return show(item.cleaned_options, order)


def _released_order(question: Question) -> Order:
    if question.repetition >= TRIES:
        raise BadQuestion(f"The released code draws orders for {TRIES} tries; ask at most {TRIES} times.")
    return question.resources.derived("released orders", released_orders)[question.sample.key][question.repetition]


def released_orders(samples: Sequence[Sample]) -> dict[str, tuple[Order, ...]]:
    """Return the orders of each question's tries, by its key, as the released code draws them; `samples` are whole
    files."""
    orders: dict[str, tuple[Order, ...]] = {}
    for questions in _by_file(samples).values():
        drawn = official_orders(len(sample.content["options"]) for sample in questions)
        orders.update((sample.key, tries) for sample, tries in zip(questions, drawn, strict=True))
    return orders


def _by_file(samples: Sequence[Sample]) -> dict[tuple[str, str], list[Sample]]:
    """Return the samples by language and task, in the order of their lines."""
    files: dict[tuple[str, str], list[Sample]] = {}
    for sample in sorted(samples, key=line_of):
        files.setdefault((sample.split, sample.category), []).append(sample)
    return files


def line_of(sample: Sample) -> int:
    """Return the line of its file that a question stands in, from 1."""
    return int(sample.key.split(":")[1])
