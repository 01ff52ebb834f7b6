"""People that texts name, where data do not say who they are.

In English a word with a capital in the middle of a sentence names somebody where texts tell so (`evidence.py`): it does
what people do, has what they have, is addressed, asked about, called by a title, part of a Chinese name in full, joined
to somebody by “and”, or an actor of the data; and where they do not tell the contrary more often. It does not where the
word occurs in small letters too, but for names that are words. In Chinese see `called`, `in_full` and `in_latin`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from benchmark.controls.contract import CHINESE, Spellings
from benchmark.controls.evidence import AGAINST, CERTAIN, LIKELY, weight_of
from benchmark.controls.lists import (
    ALSO_WORDS,
    BEHIND_WORDS,
    CALLED_BEHIND,
    CHINESE_WORDS,
    FAMILY_IN_CHINESE,
    GIVEN_IN_CHINESE,
    MONTHS,
    NOT_GIVEN,
    NOT_NAMED_IN_CHINESE,
    NOT_PEOPLE,
)

BEFORE_A_WORD = re.compile(r"[\w,][ ]\Z")
"""Signs before a word in the middle of a sentence."""
_CAPITAL = re.compile(r"(?<![A-Za-z'’-])(?:(?:Xiao|Lao|Ah) )?[A-Z][a-zà-ÿ]+(?![A-Za-zà-ÿ-])(?!['’](?!s\b)[a-z])")
_LIST = re.compile(r"(?:, \|)*,? and (?:\||\Z)")
_LONGEST_LIST = 6
_TWO_WORDS = re.compile(r"(?<![A-Za-z'’-])[A-Z][a-z]+ [A-Z][a-z]+(?![A-Za-z-])")
_ONE_WORD = re.compile(r"(?<![A-Za-z'’-])[A-Z][a-z]+(?:[A-Z][a-z]+)?(?![A-Za-z-])")
_MONTH_BEFORE = re.compile(r"\b(?:in|of|since|until|last|next|every|early|late|by)\s\Z", re.IGNORECASE)
_VERB_AFTER = re.compile(
    r"\s+(?:I|you|he|she|it|we|they|the|a|an|this|that|these|those|my|your|his|her|its|our|their|not|be|no|all|one)\b"
)


def people_in(texts: Sequence[str], language: str, actors: Sequence[str] = ()) -> list[Spellings]:
    """Return the people that texts name, in the order in which they come first, each in all spellings that the texts
    have; `actors` are phrases of the data that say who acts."""
    if language == CHINESE:
        joined = "\n".join(texts)
        names = dict.fromkeys([*called(joined), *in_full(joined), *in_latin(texts)])
        return [(name,) for name in names]
    text = "\n".join(texts)
    pairs = {match[0].replace(" ", "").lower(): match[0] for match in _TWO_WORDS.finditer(text)}
    words = {word.lower(): word for word in dict.fromkeys(_ONE_WORD.findall(text))}
    spelled: dict[str, dict[str, None]] = {}
    for name in _named(texts, actors):  # with what spells it in one word or in two, such as Xiao Wei and Xiaowei
        key = name.replace(" ", "").lower()
        both = (pairs.get(key), words.get(key)) if key in pairs else ()
        spelled.setdefault(key, {}).update(dict.fromkeys([name, *(spelling for spelling in both if spelling)]))
    several = [spellings for spellings in spelled.values() if len(spellings) > 1]
    whole = [spelling for spellings in several for spelling in spellings if " " in spelling]
    rest = re.sub("|".join(map(re.escape, whole)), "", text) if whole else text
    parts = {part for spelling in whole for part in spelling.split()}
    return [
        tuple(spellings)
        for spellings in spelled.values()
        if len(spellings) > 1 or not parts & {*spellings} or any(re.search(rf"\b{word}\b", rest) for word in spellings)
    ]


def _named(texts: Sequence[str], actors: Sequence[str]) -> list[str]:
    seen = [_seen(text) for text in texts]
    weights: Counter[str] = Counter()
    for evidence in seen:
        weights.update(dict(evidence.weights))
    names = {name for name, _ in seen[0].weights} if seen else set()
    acting = {match[0] for actor in actors for match in _CAPITAL.finditer(actor)} & names
    within = acting.union(*(evidence.within for evidence in seen))
    possible = [
        name
        for name in dict.fromkeys(name for evidence in seen for name, _ in evidence.weights)
        if name in within and name not in NOT_PEOPLE
        if name in ALSO_WORDS or not any(name.lower() in evidence.small for evidence in seen)
    ]
    people = {name for name in possible if name in acting or weights[name] >= LIKELY}
    others = {name for name in possible if weights[name] > AGAINST}
    pairs = [pair for evidence in seen for one, two in evidence.pairs for pair in ((one, two), (two, one))]
    # who stands beside somebody who is found, joined by “and” or as another part of a name
    while new := {two for one, two in pairs if one in people and two in others - people}:
        people |= new
    return [name for name in possible if name in people]


class _Seen(NamedTuple):
    """Words with a capital that may name people, each with what the text tells of it; those that stand within a
    sentence or behind a title; all words in small letters; and pairs of names that stand together."""

    weights: tuple[tuple[str, int], ...]
    within: frozenset[str]
    small: frozenset[str]
    pairs: tuple[tuple[str, str], ...]


@lru_cache(512)
def _seen(text: str) -> _Seen:
    """Samples of a cluster have their story in common."""
    matches = [match for match in _CAPITAL.finditer(text) if stands_for(match[0], text, match.start())]
    weights: Counter[str] = Counter()
    within = set()
    for match in matches:
        weight = weight_of(match[0], text, match.start())
        weights[match[0]] += weight
        if weight == CERTAIN or _is_within(text, match.start()):
            within.add(match[0])
    small = frozenset(re.findall(r"(?<![A-Za-z])[a-zà-ÿ]+", text))
    return _Seen(tuple(weights.items()), frozenset(within), small, tuple(_pairs(matches, text)))


def _pairs(matches: Sequence[re.Match[str]], text: str) -> Iterator[tuple[str, str]]:
    """Yield the names that follow each other, as in Li Lei, and those of lists that end in “and”."""
    between = [text[first.end() : second.start()] for first, second in pairwise(matches)]
    for at, words in enumerate(between):
        rest = "|".join(between[at : at + _LONGEST_LIST])
        if words == " " or _LIST.match(rest):
            yield matches[at][0], matches[at + 1][0]


def stands_for(name: str, text: str, start: int, *, given: bool = False) -> bool:
    """Return whether this name, which begins at `start`, is one there, and not the word that it also is; a name that is
    `given` is not a month."""
    if name not in ALSO_WORDS:
        return True
    before, after = text[max(0, start - 8) : start], text[start + len(name) : start + len(name) + 8]
    if name in MONTHS and not given and (_MONTH_BEFORE.search(before) or re.match(r"\s+\d", after)):
        return False
    return _is_within(text, start) or not _VERB_AFTER.match(after)


def _is_within(text: str, start: int) -> bool:
    """Return whether what begins there is in the middle of a sentence."""
    return bool(BEFORE_A_WORD.search(text[max(0, start - 2) : start]))


_CALLED = re.compile("[小老阿][一-鿿]")
_BETWEEN = (
    "也|就|便|又|都|却|才|正在|正|在|非常|很|十分|特别|已经|刚刚|刚|突然|立刻|马上|不|没有|"
    "没|会|可以|能|应该|一直|仍然|总是|经常|可能|立即|从未|只|已"
)
_ACTS = (
    "说|问|答|回答|回复|告诉|觉得|认为|想|以为|知道|希望|喜欢|讨厌|发现|看见|看到|看着|看|听到|听|感到|感觉|打开|拿|走|离开|回到|回家|来到|去|买|吃|喝|笑|哭|生气|高兴|开心|难过|"
    "把|给|向|对|跟|决定|准备|打算|参加|邀请|担心|害怕|注意到|意识到|坐在|站在|住在|生活|居住|需要|开始|打断|进行|模仿|执行|了解|接触|接到|收到|为什么"
)
_IS = "是一[个名位]|是[^。，]{0,8}(?:员工|同学|朋友|同事|学生|老师|经理|机器人)"
_DOES = f"(?:和[^，。]{{1,4}})?(?:{_BETWEEN})*(?:{_ACTS}|{_IS})"
_FAMILY = f"[{''.join(sorted(FAMILY_IN_CHINESE))}]"
_FULL = re.compile(rf"(?<![小老阿])(?=({_FAMILY}[一-鿿]{{1,2}}?){_DOES})")
_BEGINNING = re.compile(rf"(?:\A|[^一-鿿小老阿]|[和与跟对向把给让被的为是说时天员])(?=({_FAMILY}[一-鿿]{{1,2}}))")
_LATIN = re.compile(r"(?<![A-Za-z])[A-Z][a-zà-ÿ]+(?![A-Za-zà-ÿ])")
_HAS = "的(?:妈妈|爸爸|母亲|父亲|朋友|妻子|丈夫|生日|孩子|家|态度|情绪|想法|感受|同事|老板|办公室|[^，。]{0,4}机器人)"
_LATIN_DOES = re.compile(f"{_DOES}|{_HAS}")
_NAMED = re.compile(
    "(?:机器人|男孩|女孩|男人|女人|同学|朋友|同事|妻子|丈夫|老板|员工|小狗|的|[人友事]，?)(?:名叫|叫做|叫|名为)?\\Z"
)
_PLACE_BEFORE = re.compile(
    "(?:城市|星球|行星|小行星|月球|卫星|森林|世界|地方|城|镇|岛|在)(?:名叫|叫做|叫|名为|：|，)?\\Z"
)
_PLACE_AFTER = re.compile("(?:是一[个颗座片]?[^。，]{0,8}(?:城|星|世界|森林|地方|月)|城|市|星|镇|岛|谷|森林|里|上|中)")


def called(text: str) -> Iterator[str]:
    """Yield those who are called 小, 老 or 阿 with a character of a name."""
    for match in _CALLED.finditer(text):
        name = match[0]
        known_names = FAMILY_IN_CHINESE if name[0] == "老" else FAMILY_IN_CHINESE | GIVEN_IN_CHINESE
        if name[1] not in known_names or name in CHINESE_WORDS:
            continue
        # what is a word as well has to come again, and not as the beginning of another word alone
        again = text.count(name) > 1 and re.search(f"{name}(?![{BEHIND_WORDS}])", text)
        if again or name not in NOT_NAMED_IN_CHINESE:
            yield name


def in_full(text: str) -> Iterator[str]:
    """Yield full names, the family's first, that come more than once, do something, and stand behind what ends a
    word."""
    acting = Counter(match[1] for match in _FULL.finditer(text))
    beginning = {name for match in _BEGINNING.finditer(text) for name in (match[1][:2], match[1])}
    likely = [
        name
        for name in acting
        if name in beginning and text.count(name) > 1 and name[1] not in NOT_GIVEN and name[-1] not in NOT_GIVEN
        if name not in CHINESE_WORDS and not any(title.startswith(name[1:]) for title in CALLED_BEHIND)
    ]
    for name in likely:
        shorter, longer = (
            name[:2],
            [candidate for candidate in likely if len(candidate) > len(name) and candidate.startswith(name)],
        )
        if len(name) > 2 and text.count(shorter) > text.count(name):
            continue  # what stands behind the name of two characters, once or twice
        if not any(text.count(candidate) == text.count(name) for candidate in longer):
            yield name


def in_latin(texts: Sequence[str]) -> Iterator[str]:
    """Yield names in Latin letters of those who do or have something more often than they are places, or stand behind
    the name in Chinese."""
    weights: Counter[str] = Counter()
    for text in texts:
        for match in _LATIN.finditer(text):
            before, after = text[max(0, match.start() - 8) : match.start()], text[match.end() : match.end() + 24]
            place = before.endswith(("（", "(")) or _PLACE_BEFORE.search(before) or _PLACE_AFTER.match(after)
            weights[match[0]] += -1 if place else bool(_LATIN_DOES.match(after) or _NAMED.search(before))
    yield from (name for name, weight in weights.items() if weight > 0 and name not in NOT_PEOPLE)
