"""Patterns by which answers name the letter of an option, in English and Chinese.

Texts are in NFKC: full-width letters and most punctuation are ASCII. Repetitions are bounded, so that no text takes
long. A pattern of mentions has the letter in one of its groups.
"""

import re
import unicodedata
from collections.abc import Sequence

from benchmark.suites.refusals import own_words
from benchmark.suites.tombench.data import LETTERS, NO_OPTION, NONE_OF_THEM, SEVERAL

_MARKS = r"""\s*_`"'“”‘’「」『』【】()\[\]{}<>$#"""
_AROUND = rf"[{_MARKS}]{{0,12}}"
_BEFORE = rf"[{_MARKS}:]{{0,12}}"


def _any(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


def _words(*patterns: str) -> str:
    """Any of these, in any case, up to the end of a word."""
    return rf"(?i:{_any(*patterns)})\b"


# B to H stand by themselves. "A" is an article too, and a lower-case letter may be a word: they count where something
# ends the mention.
_ALONE = r"(?![A-Za-z0-9À-ɏ]|['’]s)"
_ENDED = _any(
    rf"(?={_AROUND}(?:[.,:;!?。、=/&+|–—-]|[一-鿿]|\Z))",
    rf"(?={_AROUND}{_words('because', 'since', 'as', 'and', 'or', 'but', 'not', 'is', 'option')})",
    r"(?=[)\]}】』*\n]|\s[A-H](?![A-Za-z0-9]))",
)
_LETTER = rf"(?<![A-Za-z0-9])(?:[B-H]{_ALONE}|[Aa-h]{_ALONE}{_ENDED})"
_ANY_LETTER = rf"(?<![A-Za-z0-9])(?:[B-HJ-Z]{_ALONE}|[Aa-h]{_ALONE}{_ENDED})"

REQUIRED_FORM = re.compile(
    r"\[\[[\s*_`\"']{0,9}([A-Za-z])(?![A-Za-z])[\s*_`\"']{0,9}"
    r"(?:[.:),、](?!\s*[A-H]\s*[,、\]])[^\[\]]{0,500})?\]\]"
)
"""`[[B]]`, also with marks or the option's text inside; not `[[A, B]]`."""

_TO_BE = _words("is", r"would\s+be", r"should\s+be", r"must\s+be")
_FILLER = _words(
    *("the", "most", "likely", "probably", "clearly", "definitely", "therefore", "thus", "indeed", "correct", "best"),
    *("right", "final", "option", "choice", "letter", "answer"),
)
_ANNOUNCEMENT = _any(
    rf"\b(?i:answer){_BEFORE}(?:{_TO_BE}|[=-])?",
    rf"\b(?i:choice|option){_BEFORE}(?:{_TO_BE}|[:=])",
    r"\b" + _words("choose", "chose", "pick", "select", "selected", r"go\s+with", r"going\s+with"),
    r"\\(?:boxed|text)",
    "答案(?:应该|应当|应)?(?:是|为|选)?",
    "选择?(?:了|的是|答案)?",
)
_VERDICT = _any(
    r"is\s+(?i:the\s+)?(?i:most\s+likely\s+)?" + _words("correct", "right", "best", "answer", r"most\s+likely"),
    r"(?:选项|项)?\s*[是最]{0,2}\s*(?:正确|对的|合适|答案)",
)
STATEMENT = re.compile(
    rf"{_ANNOUNCEMENT}(?:\s+{_FILLER}){{0,4}}{_BEFORE}(?:选项\s*)?({_ANY_LETTER})|({_LETTER}){_AROUND}{_VERDICT}"
)
"""`The answer is B`, `I choose B`, `答案：B`, `选B`, `B is correct`, `B最合适`."""

LONE_LINE = re.compile(
    rf"[{_MARKS}]*(?:(?i:(?:final\s+|correct\s+)?(?:option|answer|choice))|选项|答案)?{_BEFORE}([A-Za-z])[{_MARKS}.,:!。、]*"
)
"""A line that is nothing but a letter, to be matched in full."""

LINE_START = re.compile(r"^[ \t*_`\"'(\[【#>-]{0,12}([A-Ha-h])[*_`\"')\]】]{0,6}[.:)、](?![A-Za-z]\.)", re.MULTILINE)
"""`B. Handbag` at the start of a line."""

MARKED = re.compile(
    rf"[(\[【]\s{{0,9}}([A-Ha-h])\s{{0,9}}[)\]】]|\*\*\s{{0,9}}([A-H])\s{{0,9}}[.:]?\s{{0,9}}\*\*"
    rf"|(?:\b(?i:option|choice)|选项)\s{{0,9}}[\"'“(\[*]{{0,9}}({_LETTER})"
)
"""`(B)`, `[B]`, `**B**`, `option B`, `选项B`."""

BARE = re.compile(f"({_LETTER})")

_DENYING = _any(
    _words("not", "neither", "nor", r"rather\s+than", r"instead\s+of", "than", r"rul(?:e|es|ed|ing)\s+out"),
    _words(r"(?:eliminat|exclud)(?:e|es|ed|ing)", r"cannot\s+be", r"could\s+not\s+be"),
    r"(?i:n['’]t)\b",
)
_DENIED = _words(
    "option", "answer", "choice", "is", "be", "choose", "pick", "select", "think", "believe", "that", "the"
)
DENIAL = re.compile(
    rf"(?:{_DENYING}(?:\s+{_DENIED}){{0,5}}|(?:不|别(?=选)|没|并非|而非|排除)(?:是|选|能|会|应该?|可能|认为){{0,2}}(?:选项)?)"
    r"[\s*_\"'“(\[]{0,9}\Z"
)
"""Denials of a mention: the end of the text before it."""

REJECTION = re.compile(
    rf"{_AROUND}(?:(?i:is|was|seems)(?:\s+{_words('not', 'wrong', 'incorrect', 'false')}|(?i:n['’]t))"
    r"|(?:选项|项)?\s*[是也都]{0,2}(?:不(?:是最?)?(?:对|正确|合|符|可能|成立|恰当)|错))"
)
"""Rejections of a mention: the start of the text behind it."""

_NEAR = rf"[{_MARKS.replace(chr(92) + 's', ' ')}]{{0,9}}"
"""Marks on the same line."""
_OTHER = rf"{_AROUND}(?:(?i:option)\s+|选项\s*)?{_BEFORE}([A-H])(?![A-Za-z0-9])"
_OR = r"(?:(?i:or|and|plus)\b|[/&+|和与或、]|或者|还是|以及)"
ALTERNATIVE = re.compile(
    rf"[{_MARKS}.]{{0,12}},?\s{{0,9}}{_OR}{_OTHER}(?!\s*(?:is|was|are|does|would|不|错))"
    rf"|{_AROUND},{_OTHER}\s{{0,9}}(?:,|{_OR})"
    rf"|{_NEAR}[,+;]?{_NEAR}([A-H])(?![A-Za-z0-9]){_NEAR}[.!。]?{_NEAR}(?:\n|\Z)"
    rf"|{_NEAR}[,+;]{_NEAR}([a-h])(?![A-Za-z0-9]){_NEAR}[.!。]?{_NEAR}(?:\n|\Z)"
)
"""Another letter offered beside the one before it: the start of the text behind a mention."""

_BETWEEN = (
    rf"(?:[{_MARKS.replace(chr(92) + 's', ' ')},.;:、/&|+=~>–—-]|\n(?!\s*\n)|\\(?:boxed|text)|"
    r"[和与或及]|以及|还是|或者|选项|(?i:and|or|plus|to|also|as\s+well\s+as|options?|choices?)\b)"
)
ONLY_LETTERS = re.compile(
    r"(?:(?i:(?:the|my|final|correct|best|right)\s+){0,3}(?i:answers?)(?:\s+(?i:is|are)\b)?|答案(?:是|为)?|选择?)?"
    rf"{_BETWEEN}*[A-Ha-h](?:{_BETWEEN}+[A-Ha-h](?![A-Za-z]))+{_BETWEEN}*"
)
"""An answer that is nothing but several letters, to be matched in full: `A/C`, `(A), (C)`."""
LETTER_ALONE = re.compile(r"(?<![A-Za-z\\])[A-Ha-h](?![A-Za-z])")

BESIDE = re.compile(r"[ \t*_`.,;、/&|+-]{0,12}\n?[ \t*_`.,;、/&|+-]{0,12}")
"""What stands between two letters of which neither is chosen: no word, and no empty line."""
NONE_OF_ALL = re.compile(
    r"(?i:\b(?:none|neither)\s+(?:of\s+)?(?:the\s+)?(?:above|given|listed|provided|other|two|four|options?|choices?|answers?|candidates?)\b"
    r"|\b(?:none|neither)\s+(?:is|are|seems?)\s+(?:correct|right|true|suitable|appropriate)\b"
    r"|^\W*(?:none|neither)(?:\s+of\s+(?:them|these|those)\b.{0,40})?\W*$)|\b(?i:none|neither)\s+(?i:of)\s+[A-D]\b"
    r"|(?:以上|选项|四个|两个|答案)(?:选项|答案)?(?:全|皆|都|均)(?:不是|不对|不正确|错|不符合|非)|^\W*都不(?:是|对)|没有(?:一个)?(?:正确|合适)的?(?:选项|答案)"
)
"""Words by which an answer rejects all options."""
OPENING = re.compile(
    r"\A(?:(?i:(?:the\s+)?(?:correct\s+|final\s+|best\s+)?answer)\s*(?i:is\b)?|答案(?:应该)?(?:是|为)?)\s*:?\s*"
)
"""Announcements of the text of an option."""


def committed(answer: str, options: Sequence[str]) -> tuple[str | None, str]:
    """Return the letter of the option that an answer commits to, offered or not, NONE_OF_THEM where it rejects all;
    None with the reason why where there is none.

    `options` are the texts as they were shown, without letters: A is the first. An answer may also repeat the text of
    one option, before anything in it is taken for a refusal.
    """
    text = unicodedata.normalize("NFKC", answer).strip()  # full-width letters and punctuation as ASCII
    if letter := _repeated(text, options):
        return letter, ""
    own = own_words(text)
    letter = _letter(own.text, options)
    if not letter and own.whole and NONE_OF_ALL.search(own.text):
        letter = NONE_OF_THEM
    return (letter, "") if letter else (None, own.why(SEVERAL if letter == _MORE else NO_OPTION))


_MORE = ""
"""Stands for more than one letter."""


def _letter(text: str, options: Sequence[str]) -> str | None:
    """The letter that a text has, _MORE for more than one, None for none."""
    first, before, last = text.partition("\n")[0], *["", *text.split("\n")][-2:]
    if mentions := _mentions(REQUIRED_FORM, text):
        return _last(text, mentions)
    if ONLY_LETTERS.fullmatch(text) and len({letter.upper() for letter in LETTER_ALONE.findall(text)}) > 1:
        return _MORE
    if lone := LONE_LINE.fullmatch(last):
        other = LONE_LINE.fullmatch(before)
        return _only({line[1].upper() for line in (lone, other) if line})
    if mentions := _mentions(STATEMENT, text):
        return _last(text, mentions)
    if lone := LONE_LINE.fullmatch(first):
        return lone[1].upper()
    starts, marked = _letters(LINE_START, text), _letters(MARKED, text)
    if starts or marked:
        return _only(starts) or _only(starts | marked)
    return _repeated(text, options) or _only(_letters(BARE, last))


Mention = tuple[int, int, str]
"""(start, end, letter)"""


def _mentions(pattern: re.Pattern[str], text: str) -> list[Mention]:
    """The letters that a pattern finds and the text does not deny, in its order."""
    return [
        (match.start(), match.end(), next(group for group in match.groups() if group).upper())
        for match in pattern.finditer(text)
        if not DENIAL.search(text[max(0, match.start() - 60) : match.start()])
        and not REJECTION.match(text, match.end())
    ]


def _letters(pattern: re.Pattern[str], text: str) -> set[str]:
    return {letter for _, _, letter in _mentions(pattern, text)}


def _only(letters: set[str]) -> str | None:
    if len(letters) > 1:
        return _MORE
    return next(iter(letters), None)


def _last(text: str, mentions: Sequence[Mention]) -> str:
    """The letter of the last mention, _MORE where it is offered beside another letter, before or behind it."""
    start, _, last = mentions[-1]
    for _, end, letter in mentions[-2:-1]:
        if letter != last and BESIDE.fullmatch(text, end, start):
            return _MORE
    for _, end, letter in mentions[-2:]:
        other = ALTERNATIVE.match(text, end)
        if other and other.end() > start and next(group for group in other.groups() if group).upper() != letter:
            return _MORE
    return last


def _repeated(text: str, options: Sequence[str]) -> str | None:
    """The letter of the one option whose text is the whole answer or its last line; of doubled texts the first."""
    keys = [_key(option) for option in options]
    in_text, lines = _place(text, keys), [_place(line, keys) for line in text.splitlines()]
    if in_text is None and (not lines or lines[-1] is None or len({*lines} - {None}) > 1):
        return None
    place = lines[-1] if in_text is None else in_text
    return None if place is None else LETTERS[place]


def _place(line: str, keys: Sequence[str]) -> int | None:
    """The first option that a line consists of, be it announced ("The answer is ...") or behind its letter ("A Tote
    bag")."""
    candidates = (_key(line), _key(OPENING.sub("", line.lstrip(" *_"), count=1)))
    for place, key in enumerate(keys):
        if any(candidate in (key, f"{LETTERS[place].lower()} {key}") for candidate in candidates):
            return place
    return None


def _key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,:;!。、*_`\"'“”‘’「」『』()[]")
