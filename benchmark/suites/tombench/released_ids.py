"""The names that the released code gives its questions: `<task>/<line from 0>/<try from 0>`, the same ones in both
languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.suites.answers import Answered, BadAnswers
from benchmark.suites.questions import Sample
from benchmark.suites.tombench.samples import NAMES, line_of
from benchmark.suites.tombench.shuffling import TRIES

UNSAID = "unsaid"
_CHINESE = re.compile("[\u4e00-\u9fff]")


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any], *, language: str) -> dict[str, Answered]:
    """Return what the ids of the released code are of, in the language that is said or that the answers show.

    Raises BadAnswers where they show none, where they are written in the other one, and where `samples` have no
    question in it.
    """
    by_language = {name: _named(samples, name) for name in dict.fromkeys(sample.split for sample in samples)}
    mine = {name: answers[name] for name in answers if any(name in ids for ids in by_language.values())}
    if not mine:
        return {}
    if language in NAMES and language not in by_language:
        raise BadAnswers(f"the dataset has no questions in {NAMES[language]}.")
    chinese = _in_chinese(mine)
    if chinese and "zh" not in by_language:
        raise BadAnswers(f"{_chinese_sentence(chinese, mine)}, and the dataset has no questions in Chinese.")
    if chinese and language == "en":
        raise BadAnswers(
            f"{_chinese_sentence(chinese, mine)}; they are not to questions in English. Choose the language Chinese."
        )
    return by_language["zh" if chinese else _only_language(language, by_language)]


def _only_language(language: str, by_language: Mapping[str, Any]) -> str:
    if language in by_language:
        return language
    if len(by_language) > 1:
        raise BadAnswers(
            "the ids of the released code are the same in both languages, and these answers do not show theirs; "
            "choose a language, English (en) or Chinese (zh)."
        )
    return next(iter(by_language))


def _in_chinese(answers: Mapping[str, Any]) -> list[str]:
    """Return the names of the answers with Chinese characters, if those are most of the answers in words."""
    words = {name: text for name, text in answers.items() if isinstance(text, str) and re.search(r"\w\w", text)}
    chinese = [name for name, text in words.items() if _CHINESE.search(text)]
    return chinese if 2 * len(chinese) > len(words) else []


def _chinese_sentence(chinese: Sequence[str], answers: Mapping[str, Any]) -> str:
    return f"{len(chinese):,} of {len(answers):,} answers are written in Chinese, {chinese[0]!r:.80} first"


def _named(samples: Sequence[Sample], language: str) -> dict[str, Answered]:
    return {
        f"{sample.category}/{line_of(sample) - 1}/{attempt}": Answered((sample.key,), repetition=attempt)
        for sample in samples
        if sample.split == language
        for attempt in range(TRIES)
    }
