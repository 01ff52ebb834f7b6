"""Items as samples of a dataset, and back."""

from __future__ import annotations

from pathlib import Path

from benchmark.suites.contract import BadImport, Imported, Question, Sample
from benchmark.suites.tombench.data import LANGUAGES, Item, read_tombench
from benchmark.suites.tombench.records import BadToMBench
from benchmark.suites.tombench.shuffling import Shown, seeded_order, show

NAMES = {"en": "English", "zh": "Chinese"}
BOTH = "both"


def load(folder: Path, *, languages: str = BOTH) -> Imported:
    """A copy of the benchmark in one language or in both. The split of a sample is its language. Raises BadImport."""
    chosen = LANGUAGES if languages == BOTH else (languages,)
    try:
        copy = read_tombench(folder, languages=chosen)
    except BadToMBench as error:
        raise BadImport(str(error)) from error
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
        line=int(sample.key.split(":")[1]),
        story=sample.content["story"],
        question=sample.content["question"],
        options=tuple(sample.content["options"]),
        answer=sample.gold["cell"],
    )


def shown_in(question: Question) -> Shown:
    """The options as one try shows them: a try is a repetition."""
    item = item_of(question.sample)
    order = seeded_order(question.settings["seed"], item.key, question.repetition, len(item.options))
    return show(item.cleaned_options, order)
