"""People that Chinese texts name: those who are called 小, 老 or 阿 with a character of a name, full names that do
something and come again, and names in Latin letters that do or have something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmark.controls.lists.people import (
    BEHIND_WORDS,
    CALLED_BEHIND,
    CHINESE_WORDS,
    FAMILY_IN_CHINESE,
    GIVEN_IN_CHINESE,
    NOT_GIVEN,
    NOT_NAMED_IN_CHINESE,
    NOT_PEOPLE,
)

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
        if (
            name[1] in known_names
            and name not in CHINESE_WORDS
            and (name not in NOT_NAMED_IN_CHINESE or _is_named(name, text))
        ):
            yield name


def _is_named(name: str, text: str) -> bool:
    """Return whether what is a word as well comes again, and not as the beginning of another word alone."""
    return text.count(name) > 1 and bool(re.search(f"{name}(?![{BEHIND_WORDS}])", text))


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
