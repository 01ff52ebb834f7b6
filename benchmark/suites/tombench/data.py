"""ToMBench as it is distributed: 20 JSON Lines files, each item in English and in Chinese, and a licence."""

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.suites.answers import Answered, BadAnswers
from benchmark.suites.copies import BadImport, CopyFile, CopySource, Imported, licence_in, released_bytes
from benchmark.suites.lettered import OPTION_ORDER
from benchmark.suites.questions import BadQuestion, Question, Sample
from core.messages import gettext_noop

LETTERS = "ABCD"
NO_OPTION = gettext_noop("names no option")
SEVERAL = gettext_noop("names more than one option")
"""Reasons why an answer chooses nothing."""
NONE_OF_THEM = "–"
"""The choice of an answer that rejects all options."""
_BREAK = re.compile(r"\s*\n\s*")
_BREAK_IN_CHINESE = re.compile(r"\s*\n\s*(?=[^\x00-\x7f])")


def clean_option(text: str, letter: str) -> str:
    """Return the text of an option in one line, without the letter that it carries, such as `A. `, `A.` or `A: `, and
    without outer space.

    Only the option's own letter goes, only at the start: `attraction C.` stays as it is.
    """
    bare = re.sub(rf"\A\s*{letter}\s*[.:、)．：）](?![A-Za-z]\.)", "", text, count=1).strip()
    return _BREAK.sub(" ", _BREAK_IN_CHINESE.sub("", bare))


def options_of(sample: Sample) -> tuple[str, ...]:
    """Return the texts of the options of a question, in their original order, without their letters."""
    return tuple(clean_option(text, letter) for text, letter in zip(sample.content["options"], LETTERS, strict=False))


ABILITY, ANSWER = "能力\nABILITY", "答案\nANSWER"
FIELDS = {"en": ("STORY", "QUESTION", "OPTION-"), "zh": ("故事", "问题", "选项")}
"""By language: the fields of story and question, and what stands before the letter in those of the options."""


NAMES = {"en": "English", "zh": "Chinese"}
LANGUAGES = tuple(NAMES)
BOTH = "both"


DIGESTS: Mapping[str, str] = {
    "Ambiguous Story Task": "c99f365b6d3d0e982228623d4328afbafe11cf9a8da3a2838ed6c846e4f154d0",
    "Completion of Failed Actions": "cb68348ef3eb53d7c6bf0e426b9279856264748b94f181ce042c91dcf56ba5af",
    "Discrepant Desires": "73093d99923efac243e3610c393613c000b5dc04f88771c39a3b641b993a6b70",
    "Discrepant Emotions": "100b7f05ba5b76aeaa8d2daf3897c90c6a4f08dc23b75a0dd87be0e82db11bf4",
    "Discrepant Intentions": "d72c8353aa5b65f35073d72808996b6f8e980f7683539e25510a251ed8f1dac2",
    "Emotion Regulation": "553d0ee61733cddfa3a9c531c3f7306c40929edc9f0e1e1dda7088ed8804c96c",
    "False Belief Task": "1a5c38362c4c883b219381e24d7b51c1f60abd959f39b6dc3e977ca11d7abff8",
    "Faux-pas Recognition Test": "374272690aedfe34529cb83fc4368a38960da288fb8d787a7bf50aba65dd349c",
    "Hidden Emotions": "57d0882eafddca8fb8d81148bf4291db0c5c6bbdd3a8ad5004c445d249b05124",
    "Hinting Task Test": "fd3a930403c7e0514e8730c48030da17d8bcd8a453e96001ca0795cbaee61afa",
    "Knowledge-Attention Links": "9ea4c7bfc2086d4ebaa2a31cc1993ea2774f72e642d7415dbb9c9c0e21ead94f",
    "Knowledge-Pretend Play Links": "67e3d451089db0a3ac4a7702f4c6c58c2909dbe338aa53bda5e00e4cf9396242",
    "Moral Emotions": "fac3eb293d2901b35274eab8244515b7e138e9cb3311037d5c4a0bda3810dd51",
    "Multiple Desires": "7a49186ab802a2a199806ca191160019ae21d9ff85db9203799fb36b8960a914",
    "Percepts-Knowledge Links": "dda5b279b926eef0e0c440cef4ef68cbebbf82fc6c7b109b213c15c2f9d94804",
    "Persuasion Story Task": "aefef5b6beb7097370cf3bc0c6503ed8caa495530297a4b184c4c31002e23169",
    "Prediction of Actions": "23c56589e459d253bafc2cdc0ea786fba1912c8bf388861a96042666f10b8a47",
    "Scalar Implicature Test": "4264d1842f556f8bcfd7fd56c5058aa8c55f6001931d27d253a85d7ecc19247e",
    "Strange Story Task": "f0a1c6e12b9d9b8b5c936ea3383b24100ef28ed6610078c1fc7bd6769d7ef914",
    "Unexpected Outcome Test": "f4ee872c98e17480272c40d5406a8eca31eed29b455f4155b9684328bf6dbf9c",
}
"""The SHA-256 of each released file, as 64 hexadecimal digits, by its name without `.jsonl`."""


SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/zhchen18/ToMBench",
    folder="data",
    licence=gettext_noop(
        "MIT: use and change it freely where its notice is kept. Its authors mean it for evaluation only."
    ),
    checked=gettext_noop("The SHA-256 of each file is checked. Other files with the ending .jsonl are refused."),
    files=(
        CopyFile("*.jsonl", gettext_noop("the 20 files of questions, one for each task")),
        CopyFile("LICENSE", gettext_noop("the licence, at the top of the repository")),
    ),
)


def load(folder: Path, *, languages: str = BOTH) -> Imported:
    """Return the questions of a copy in one language or in both, and check that its 20 files are the released ones.

    The key of a question is `<task>:<line>:<language>` with the task in lower case and hyphens and the line counted
    from 1, its split the language. Questions of a file with the same English story share a cluster, in both languages.
    Both languages are checked, whichever are wanted. Files of other kinds in the folder are left alone. Raises
    BadImport.
    """
    chosen = LANGUAGES if languages == BOTH else (languages,)
    expected = f"the {len(DIGESTS)} files of ToMBench"
    if not folder.is_dir():
        raise BadImport(f"{folder} is not a folder; expected that of {expected}.")
    names = {path.name for path in folder.iterdir() if path.suffix.lower() == ".jsonl"}
    if others := sorted(names - {f"{task}.jsonl" for task in DIGESTS}):
        raise BadImport(f"{others[0]} in {folder} is not a file of ToMBench.")
    samples: list[Sample] = []
    for task, digest in DIGESTS.items():
        raw = released_bytes(folder / f"{task}.jsonl", expected, digest)
        samples += samples_of(task, raw, chosen)
    digests = "".join(f"{task}.jsonl {digest}\n" for task, digest in DIGESTS.items())
    title = f"ToMBench ({' and '.join(NAMES[language] for language in chosen)})"
    return Imported(
        title, samples, licence_in(folder, "ToMBench"), {"20 JSONL files": hashlib.sha256(digests.encode()).hexdigest()}
    )


def samples_of(task: str, raw: bytes, languages: Sequence[str] = LANGUAGES) -> Iterator[Sample]:
    """Yield the questions of a file, in the order of its lines and of `languages`.

    The bare token NaN stands for an option that does not exist. The Chinese option C decides whether there are two or
    four, as in the released code: one English item has four where the Chinese has two, and loses two of them.
    """
    records = [json.loads(line) for line in raw.decode().removesuffix("\n").split("\n")]
    stories = [record["STORY"] for record in records]
    slug = task.lower().replace(" ", "-")
    for line, record in enumerate(records, start=1):
        cluster = f"{slug}:{stories.index(record['STORY']) + 1}"
        cell, ability = record[ANSWER], record[ABILITY]
        letters = LETTERS if isinstance(record["选项C"], str) else LETTERS[:2]
        for language in languages:
            story, question, prefix = FIELDS[language]
            content = {
                "story": record[story],
                "question": record[question],
                "options": [record[prefix + letter] for letter in letters],
                "ability": ability.strip(),
                "language": NAMES[language],
            }
            gold = {"answer": cell.strip()[:1], "cell": cell, "ability": ability}
            yield Sample(f"{slug}:{line}:{language}", cluster, content, gold, category=task, split=language)


TRIES = 5
OFFICIAL_SEED = 42
SEEDED, RELEASED = "seeded", "released"
"""The ways in which orders of options are drawn."""
AS_LOGGED, UNSHUFFLED = "logged", "unshuffled"
"""The orders of answers made elsewhere: the one in the record of each answer, and that of the data."""
Order = tuple[int, ...]
"""The original places of the options, from 0, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class OfferedOptions:
    """The options of one try. `texts` and `originals` (the letter that each has in the data) are in the order shown."""

    texts: tuple[str, ...]
    originals: tuple[str, ...]

    @property
    def letters(self) -> str:
        """The letters that a model can choose from: `AB` or `ABCD`."""
        return LETTERS[: len(self.texts)]

    @property
    def original_of(self) -> Mapping[str, str]:
        """The original letter by shown letter, for all four letters; empty for one that is not shown."""
        return {letter: self.originals[at] if at < len(self.originals) else "" for at, letter in enumerate(LETTERS)}


def show(options: Sequence[str], order: Order) -> OfferedOptions:
    """Return the options as they are shown in an order. Of options with the same text, all stand for the first of them.

    `options` are in their original order, without their letters. Raises ValueError where the order is not one of
    theirs.
    """
    if sorted(order) != list(range(len(options))) or not 2 <= len(options) <= len(LETTERS):
        raise ValueError(f"The order {order} does not fit {len(options)} options.")
    texts = tuple(options[place] for place in order)
    return OfferedOptions(texts, tuple(LETTERS[options.index(text)] for text in texts))


def seeded_order(seed: int, key: str, attempt: int, count: int) -> Order:
    """Return the order of one try of an item: a permutation of its `count` places that depends on nothing else.

    Places are sorted by the SHA-256 of seed, key, try and place, so that an item is shown alike whatever a run leaves
    out, asks first, or is asked by.
    """

    def drawn(place: int) -> bytes:
        return hashlib.sha256(f"{seed}\n{key}\n{attempt}\n{place}".encode()).digest()

    return tuple(sorted(range(count), key=drawn))


def shown_in(question: Question) -> OfferedOptions:
    """Return the options as one try shows them. A try is a repetition. Of an answer made elsewhere the order is the one
    that is known of it. Raises BadQuestion for a try that the released code does not have."""
    sample, kind, repetition = question.sample, question.settings.options["order"], question.repetition
    options = options_of(sample)
    if OPTION_ORDER in sample.content:
        order = tuple(sample.content[OPTION_ORDER])
    elif kind in (AS_LOGGED, UNSHUFFLED):
        order = tuple(range(len(options)))
    elif kind != RELEASED:
        order = seeded_order(question.settings.seed, sample.key, repetition, len(options))
    elif repetition >= TRIES:
        raise BadQuestion(f"The released code draws orders for {TRIES} tries; ask at most {TRIES} times.")
    else:
        order = question.resources.derived("released orders", released_orders)[sample.key][repetition]
    return show(options, order)


def released_orders(samples: Sequence[Sample]) -> dict[str, tuple[Order, ...]]:
    """Return the orders of each question's tries, by its key, as the released code draws them; `samples` are whole
    files. One generator runs through items and tries, so that the orders of an item depend on all items before it."""
    files: dict[tuple[str, str], list[Sample]] = {}
    for sample in sorted(samples, key=line_of):
        files.setdefault((sample.split, sample.category), []).append(sample)
    orders: dict[str, tuple[Order, ...]] = {}
    for questions in files.values():
        generator = random.Random(OFFICIAL_SEED)
        for sample in questions:
            drawn = [list(range(len(sample.content["options"]))) for _ in range(TRIES)]
            for places in drawn:
                generator.shuffle(places)
            orders[sample.key] = tuple(map(tuple, drawn))
    return orders


def line_of(sample: Sample) -> int:
    """Return the line of its file that a question stands in, from 1."""
    return int(sample.key.split(":")[1])


def question_id(sample: Sample, attempt: int) -> str:
    """Return the name of a try in the released code, in either language: `<task>/<line from 0>/<try from 0>`."""
    return f"{sample.category}/{line_of(sample) - 1}/{attempt}"


UNSAID = "unsaid"
_CHINESE = re.compile("[\u4e00-\u9fff]")


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any], *, language: str) -> dict[str, Answered]:
    """Return what the ids of the released code are of, in the language that is said or that the answers show.

    Raises BadAnswers where they show none, where they are written in the other one, and where `samples` have no
    question in it.
    """
    by_language: dict[str, dict[str, Answered]] = {}
    for sample in samples:
        ids = by_language.setdefault(sample.split, {})
        for attempt in range(TRIES):
            ids[question_id(sample, attempt)] = Answered((sample.key,), repetition=attempt)
    mine = {name: answers[name] for name in answers if any(name in ids for ids in by_language.values())}
    if not mine:
        return {}
    if language in NAMES and language not in by_language:
        raise BadAnswers(f"the dataset has no questions in {NAMES[language]}.")
    words = {name: text for name, text in mine.items() if isinstance(text, str) and re.search(r"\w\w", text)}
    chinese = [name for name, text in words.items() if _CHINESE.search(text)]
    if 2 * len(chinese) <= len(words):
        chinese = []  # most of the answers in words are in English
    said = (
        f"{len(chinese):,} of {len(mine):,} answers are written in Chinese, {chinese[0]!r:.80} first" if chinese else ""
    )
    if chinese and "zh" not in by_language:
        raise BadAnswers(f"{said}, and the dataset has no questions in Chinese.")
    if chinese and language == "en":
        raise BadAnswers(f"{said}; they are not to questions in English. Choose the language Chinese.")
    if chinese:
        return by_language["zh"]
    if language not in by_language and len(by_language) > 1:
        raise BadAnswers(
            "the ids of the released code are the same in both languages, and these answers do not show theirs; "
            "choose a language, English (en) or Chinese (zh)."
        )
    return by_language.get(language) or next(iter(by_language.values()))
