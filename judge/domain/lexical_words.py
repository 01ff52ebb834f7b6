"""The word lists of the lexical judge's guards (see `lexical_guards`)."""

from __future__ import annotations

import re
from collections.abc import Sequence


def _words(text: str) -> list[str]:
    return text.split()


NEGATING = frozenset(
    _words(
        "not never no hardly barely scarcely rarely seldom cannot nobody nothing none nowhere neither without "
        "unaware unable unwilling unknown ignorant lacks lack lacked fails failed fail refuses refused refuse denies "
        "denied deny dont doesnt didnt isnt arent wasnt werent wont cant couldnt wouldnt shouldnt hasnt havent hadnt"
    )
)
HAN_NOT_NEGATING = re.compile(
    "不但|不仅|不只|不过|不管|不论|不断|不久|差不多|无论|无数|非常|除非|未来|别人|别的|特别|分别|没关系"
)
HAN_NEGATING = re.compile("没有|不|没|未|无|非|别|勿|莫")

UNITS = {
    name: value
    for value, name in enumerate(
        _words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
TENS = {name: 10 * at for at, name in enumerate(_words("twenty thirty forty fifty sixty seventy eighty ninety"), 2)}
COUNTING = (
    UNITS | TENS | {"dozen": 12, "once": 1, "twice": 2, "thrice": 3, "single": 1, "hundred": 100, "thousand": 1000}
)
DIGITS = frozenset(name for name, value in UNITS.items() if 0 < value < 10)
HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九十")} | {"两": 2}
HAN_COUNTED = re.compile(r"([零一二三四五六七八九十两]+)(?=[个只本张件条位岁次天年月点块把支封杯辆家人名])")
NOT_COUNTING = frozenset(_words("no any some every each this that the which another only"))

ANTONYMS = (
    "open opens opened|close closes closed shut shuts", "hot warm|cold cool",
    "happy glad pleased cheerful|sad unhappy upset miserable",
    "calm relaxed|angry nervous anxious furious",
    "like likes liked love loves loved enjoys enjoy|dislike dislikes disliked hate hates hated",
    "true correct right|false wrong incorrect", "before|after", "above over|below under underneath beneath",
    "inside|outside", "full|empty",
    "early|late", "old|new young", "good|bad", "remember remembers remembered|forget forgets forgot forgotten",
    "find finds found|lose loses lost",
    "safe|dangerous unsafe", "alive|dead",
    "enter enters entered arrive arrives arrived|leave leaves left exit exits exited",
    "buy buys bought|sell sells sold", "win wins won|lose loses lost",
    "accept accepts accepted|reject rejects rejected",
    "agree agrees agreed|disagree disagrees disagreed", "honest|dishonest",
    "friend friends|enemy enemies stranger strangers", "brother|sister",
    "mother|father", "son|daughter", "awake|asleep", "rich|poor", "strong|weak", "loud noisy|quiet silent",
    "first|last", "always|sometimes",
    "more|less fewer", "all every everybody everyone|some few", "big large|small little", "clean|dirty", "wet|dry",
    "easy|hard difficult", "present|absent",
    "public|private", "deliberately intentionally|accidentally unintentionally", "kind|unkind cruel mean",
    "polite|rude", "brave|afraid", "proud|ashamed",
    "possible|impossible", "certain sure|uncertain unsure", "visible|hidden", "up|down", "left|right",
    "success|failure", "lend lends lent|borrow borrows borrowed",
    "push pushes pushed|pull pulls pulled", "start starts started begin begins began|stop stops stopped end ends ended",
)  # fmt: skip
HAN_ANTONYMS = (
    "高兴 开心 快乐|难过 伤心 悲伤", "喜欢 喜爱|讨厌 厌恶", "记得 想起|忘记 忘了", "里面 里边|外面 外边",
    "上面 上边|下面 下边", "左边|右边", "打开|关上 关闭",
    "相信|怀疑", "真的|假的", "同意|反对", "成功|失败", "安全|危险", "干净|肮脏 脏", "故意|无意 不小心",
    "之前 以前|之后 以后",
)  # fmt: skip
FUNCTION = frozenset(
    _words(
        "a an the this that these those is are was were be been being am do does did has have had will would shall "
        "should can could may might must to of as at by for from with in into on onto upon and or but so then than "
        "there here it its he she they him her his hers their theirs them who whom whose which what i me my we us our "
        "you your very just also too about if whether s"
    )
)
ALIKE = (
    "think thinks thought believe believes believed suppose supposes assume assumes", "put puts place places placed",
    "say says said state states stated",
    "want wants wanted wish wishes wished", "big large", "small little",
    "begin begins began begun start starts started", "mum mom mother mama", "dad father papa",
    "see sees saw seen notice notices noticed", "search searches searched look looks looked",
    "scared afraid frightened", "happy glad", "sad unhappy", "angry mad",
    "child kid", "children kids", "flat apartment", "film movie", "everyone everybody", "someone somebody",
    "tell tells told inform informs informed",
    "go goes went gone walk walks walked", "buy buys bought purchase purchases purchased", "present gift",
    "take takes took taken", "give gives gave given",
    "come comes came", "leave leaves left", "find finds found", "know knows knew known", "make makes made",
    "get gets got", "feel feels felt", "hear hears heard",
    "keep keeps kept", "lose loses lost", "hold holds held", "bring brings brought", "eat eats ate eaten",
    "drink drinks drank drunk", "write writes wrote written",
    "run runs ran", "sit sits sat", "stand stands stood", "hide hides hid hidden", "throw throws threw thrown",
    "break breaks broke broken", "wear wears wore worn",
    "meet meets met", "speak speaks spoke spoken", "teach teaches taught", "catch catches caught", "sleep sleeps slept",
    "win wins won", "send sends sent",
    "lend lends lent", "spend spends spent", "build builds built", "fall falls fell fallen", "grow grows grew grown",
    "draw draws drew drawn", "sing sings sang sung",
    "drive drives drove driven", "ride rides rode ridden", "choose chooses chose chosen",
    "forget forgets forgot forgotten", "understand understands understood",
    "mean means meant", "pay pays paid", "sell sells sold", "show shows showed shown", "become becomes became",
    "shut shuts close closes closed",
)  # fmt: skip
"""Forms of a word, and words that may stand for each other: none is swapped for another."""


def _table(groups: Sequence[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    sides = (group.split("|") for group in groups)
    return [(frozenset(left.split()), frozenset(other.split())) for left, other in sides]


OPPOSED, HAN_OPPOSED = _table(ANTONYMS), _table(HAN_ANTONYMS)
SAME_AS = {word: group.split()[0] for group in ALIKE for word in group.split()}
