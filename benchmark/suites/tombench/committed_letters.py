"""The letter that an answer commits to, read as a person would.

Ways of answering are tried from the plainest down, and within one the last place counts: a step-by-step answer weighs options before
it chooses. A letter that is denied ("not A") is no choice, and "A or B" chooses nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from benchmark.suites.tombench.options import LETTERS

_MARKS = r"""\s*_`"'“”‘’「」【『()\[\]{}<>$#"""
_OPEN = rf"[{_MARKS}:]{{0,12}}"
_HAN = "\u4e00-\u9fff"
# B to H stand by themselves; "A" is an article too, and a lower-case letter a word or a slip, unless something ends the mention.
_ENDS = rf"(?=[{_MARKS}】』]{{0,12}}(?:[.,:;!?。、=–—-]|\Z|[{_HAN}]|(?i:because|since|as|and|or|but|not|is|option)\b))|(?=[)\]}}】』*\n])"
_LETTER = rf"(?<![A-Za-z0-9])(?:[B-H](?![A-Za-z0-9]|['’]s)|[Aa-h](?![A-Za-z0-9]|['’]s)(?:{_ENDS}))"

_DOUBLE = re.compile(r"\[\[[\s*_`\"']{0,9}([A-Za-z])(?![A-Za-z])[\s*_`\"']{0,9}(?:[.:),、][^\[\]]{0,500})?\]\]")
_FILLERS = r"(?i:\s+(?:the|most|likely|probably|clearly|definitely|therefore|thus|indeed|correct|best|right|final|option|choice|letter|answer))"
_PHRASE = re.compile(
    rf"(?:(?i:\banswer){_OPEN}(?i:(?:is|would\s+be|should\s+be|must\s+be)\b|[=-])?"
    rf"|(?i:\b(?:choice|option){_OPEN}(?:(?:is|would\s+be|should\s+be|must\s+be)\b|[:=]))"
    rf"|(?i:\b(?:choose|chose|pick|select|selected|go\s+with|going\s+with)\b)|\\boxed|\\text"
    rf"|答案(?:应该|应当|应)?(?:是|为|选)?|(?:选择|应选|该选|故选|我选|选)(?:了|的是|答案)?)"
    rf"{_FILLERS}{{0,4}}{_OPEN}(?:选项\s*)?({_LETTER})"
)
_VERDICT = re.compile(
    rf"({_LETTER})[{_MARKS}】』]{{0,12}}(?:(?i:is\s+(?:the\s+)?(?:most\s+likely\s+)?(?:correct|right|best|answer|most\s+likely))\b"
    r"|(?:选项|项)?\s*(?:是|最)?\s*(?:正确|对的|合适|答案))"
)
_LINE_START = re.compile(r"^[ \t*_`\"'(\[【#>-]{0,12}([A-Ha-h])[*_`\"')\]】]{0,6}[.:)、](?![A-Za-z]\.)", re.MULTILINE)
_MARKED = re.compile(
    rf"[(\[【]\s*([A-Ha-h])\s*[)\]】]|\*\*\s*([A-H])\s*[.:]?\s*\*\*|(?:(?i:\boption|\bchoice)|选项)\s*[\"'“(\[*]*({_LETTER})"
)
_BARE = re.compile(f"({_LETTER})")
_LONE = re.compile(rf"[{_MARKS}】』]*(?:(?i:option|answer|choice)|选项|答案)?{_OPEN}([A-Ha-h])[{_MARKS}】』.,:!。、]*")
_DENIED = re.compile(
    r"(?:(?i:\bnot|n['’]t|\bneither|\bnor|\brather\s+than|\binstead\s+of|\bthan|\b(?:can|could)(?:not|\s+not|n['’]t)\s+be"
    r"|\brul(?:e|es|ed|ing)\s+out|\b(?:eliminat|exclud)(?:e|es|ed|ing))(?:\s+(?i:option|answer|choice|be|choose|pick|select))?|(?:不是|并非|而非|不选|不能|不应该?|不会|排除)(?:选项)?)"
    r"[\s*_\"'“(\[]*\Z"
)
_OTHER = rf"[{_MARKS}】』]{{0,12}}(?:(?i:option)\s+|选项\s*)?{_OPEN}([A-H])(?![A-Za-z0-9])"
_ALSO = re.compile(
    rf"[{_MARKS}】』.]{{0,12}}(?:,?\s*(?:(?i:or|and)\b|/|&|或者?|和|与|还是|以及|、){_OTHER}(?!\s*(?:is|was|are|does|would|不|错))"
    rf"|,{_OTHER}\s*(?:,|(?i:or|and)\b|和|或|与))"
)
_OPEN_THOUGHT = re.compile(r"<think>.*\Z", re.DOTALL)
_ANNOUNCED = re.compile(
    r"\A(?:(?i:(?:the\s+)?(?:correct\s+|final\s+|best\s+)?answer)\s*(?i:is\b)?|答案(?:应该)?(?:是|为)?)\s*:?\s*"
)


class _Mention(NamedTuple):
    start: int
    end: int
    letter: str


def committed_letter(answer: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that an answer commits to, None where there is none.

    `options` are the texts as they were shown, without letters: A is the first. An answer may also repeat the text of one option.
    None is also returned for a letter beyond the options, and where several options are left open.
    """
    text = _plain(answer)
    for pattern in (_DOUBLE, _PHRASE, _VERDICT):
        if mentions := _mentions(pattern, text):
            return None if _hedged(text, mentions) else _shown(mentions[-1].letter, options)
    if lone := _alone_on_a_line(text):
        return _shown(lone, options)
    starts, marked = _letters(_LINE_START, text), _letters(_MARKED, text)
    if starts or marked:
        return _shown(_only(starts) or _only(starts | marked), options)
    return _repeated(text, options) or _shown(_only(_letters(_BARE, text.rpartition("\n")[2])), options)


def _plain(answer: str) -> str:
    """The answer without a reasoning model's thoughts, full-width letters and punctuation as ASCII."""
    text = _OPEN_THOUGHT.sub("", answer.rpartition("</think>")[2])
    return unicodedata.normalize("NFKC", text).strip()


def _mentions(pattern: re.Pattern[str], text: str) -> list[_Mention]:
    """The letters that a pattern finds and the text does not deny, in its order."""
    return [
        _Mention(one.start(), one.end(), next(group for group in one.groups() if group).upper())
        for one in pattern.finditer(text)
        if not _DENIED.search(text[max(0, one.start() - 40) : one.start()])
    ]


def _letters(pattern: re.Pattern[str], text: str) -> set[str]:
    return {one.letter for one in _mentions(pattern, text)}


def _only(letters: set[str]) -> str | None:
    return next(iter(letters)) if len(letters) == 1 else None


def _shown(letter: str | None, options: Sequence[str]) -> str | None:
    return letter if letter and letter in LETTERS[: len(options)] else None


def _hedged(text: str, mentions: Sequence[_Mention]) -> bool:
    """Whether the last letter is offered beside another one, before or behind it."""
    last = mentions[-1]
    for one in mentions[-2:]:
        other = _ALSO.match(text, one.end)
        if other and (other[1] or other[2]) != one.letter and other.end() > last.start:
            return True
    return False


def _alone_on_a_line(text: str) -> str | None:
    """The letter that is all of the last line, else of the first."""
    lines = text.splitlines() or [""]
    found = _LONE.fullmatch(lines[-1]) or _LONE.fullmatch(lines[0])
    return found[1].upper() if found else None


def _repeated(text: str, options: Sequence[str]) -> str | None:
    """The letter of the one option whose text is the whole answer or its last line; of doubled texts the first."""
    keys = [_key(option) for option in options]
    whole, lines = _place(text, keys), [_place(line, keys) for line in text.splitlines()]
    if whole is None and (not lines or lines[-1] is None or len({*lines} - {None}) > 1):
        return None
    place = lines[-1] if whole is None else whole
    return None if place is None else LETTERS[place]


def _place(line: str, keys: Sequence[str]) -> int | None:
    """The first option that a line consists of, be it announced ("The answer is ...") or behind its letter ("A Tote bag")."""
    said = (_key(line), _key(_ANNOUNCED.sub("", line.lstrip(" *_"), count=1)))
    for place, key in enumerate(keys):
        if any(one in (key, f"{LETTERS[place].lower()} {key}") for one in said):
            return place
    return None


def _key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,:;!。、*_`\"'“”‘’「」『』()[]")
