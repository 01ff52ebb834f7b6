"""Sentences said otherwise by rule: denied, moved to another place or feeling, or in other words with the same meaning.

Each rule returns None where it cannot be sure of a well-formed sentence. The word lists are apart from those of the
lexical judge, which is tested with what is made here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from random import Random


def _words(text: str) -> list[str]:
    return text.split()


HAN = re.compile(r"[\u3400-\u9fff]")

_UNSURE = re.compile(
    r"\b(?:some|any|most|few|several|all|every|each|everyone|everybody|both|only|may|might|either|neither|nor|nobody|none|nothing|never|no|always|"
    r"once|twice|still|already|also|because|but|ever|hardly|unless|without)\b|[,;:?!\"“”()]",
    re.IGNORECASE,
)
"""Words and signs beside which "not" would deny a part only, or nobody can say what it denies."""
_AUXILIARIES = frozenset(_words("is are was were will would can could should must"))
_DETERMINERS = frozenset(_words("a an the his her its their my our your this that these those"))
_NOUNS_FOLLOW = _DETERMINERS | frozenset(_words("one two three four five six seven eight nine ten some no to"))
_BARE_SUBJECTS = frozenset(_words("they we i you"))
_IRREGULAR = {
    "know": "knew", "think": "thought", "see": "saw", "put": "put", "go": "went", "find": "found", "leave": "left",
    "tell": "told", "take": "took",
    "come": "came", "give": "gave", "feel": "felt", "hear": "heard", "make": "made", "say": "said", "hide": "hid",
    "forget": "forgot", "get": "got",
    "keep": "kept", "lose": "lost", "hold": "held", "bring": "brought", "eat": "ate", "drink": "drank", "run": "ran",
    "sit": "sat", "stand": "stood",
    "throw": "threw", "break": "broke", "meet": "met", "buy": "bought", "sell": "sold", "understand": "understood",
    "mean": "meant", "begin": "began",
    "draw": "drew", "sleep": "slept", "win": "won", "send": "sent", "write": "wrote", "wear": "wore", "speak": "spoke",
    "teach": "taught", "learn": "learnt",
}  # fmt: skip
_REGULAR = _words(
    "want like love hate believe ask look need move watch live own remember enter exit hope work help play call "
    "show learn offer return walk talk wait open close point reach start turn touch taste smell wave lift mend bake "
    "notice realise realize expect suspect pretend worry fear enjoy prefer agree refuse decide answer smile laugh "
    "giggle yawn bow apologise borrow belong store sign wink dash head kick fit tease joke stop"
)
_NEGATED = re.compile(r"\b(is|are|was|were|will|would|could|should|must) not\b|\b(can)not\b")
_NOT_DOING = re.compile(r"\b(do|does|did)(?: not|n['’]t) (\w+)\b")


def _third(base: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return f"{base}es"
    return f"{base[:-1]}ies" if re.search(r"[^aeiou]y$", base) else f"{base}s"


def _past(base: str) -> str:
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if base.endswith("e"):
        return f"{base}d"
    return f"{base[:-1]}ied" if re.search(r"[^aeiou]y$", base) else f"{base}ed"


_DOUBLED = {"stop": "stopped", "fit": "fitted"}
_BASES = frozenset([*_IRREGULAR, *_REGULAR])
_FORMS = {_third(base): ("does", base) for base in _BASES} | {
    _DOUBLED.get(base, _past(base)): ("did", base) for base in _BASES if _past(base) != base
}
"""Each finite form with its auxiliary and its infinitive."""


def negated(text: str) -> str | None:
    """The sentence denied, or where it denies with a plain "not" that was taken away."""
    if HAN.search(text):
        return _negated_han(text)
    if _UNSURE.search(text.rstrip(".")):
        return None
    if re.search(r"\bnot\b|n['’]t\b|\bcannot\b", text):
        return _affirmed(text)
    words = text.split()
    for at in range(1, len(words)):
        if denied := _denied_at(words, at):
            return None if " and " in f" {' '.join(words[at:])} " or " or " in text else " ".join(denied)
    return None


def _denied_at(words: list[str], at: int) -> list[str] | None:
    """The sentence with its verb at this place denied; None where there is no verb that a rule knows."""
    word, before, after = words[at], words[at - 1].lower(), words[at + 1 : at + 2]
    if before in _DETERMINERS or not after:
        return None
    if word in _AUXILIARIES:
        return [*words[:at], "cannot" if word == "can" else f"{word} not", *words[at + 1 :]]
    if not _is_subject(words[:at]):
        return None
    if word in ("has", "had", "have") and after[0].lower() in _NOUNS_FOLLOW:
        helper = {"has": "does", "had": "did", "have": "do"}[word]
        return [*words[:at], f"{helper} not have", *words[at + 1 :]]
    if word in ("has", "have", "had") and re.search(
        r"ed$|^(?:been|made|gone|put|seen|left|felt|taken|found)$", after[0]
    ):
        return [*words[:at], f"{word} not", *words[at + 1 :]]
    if word in _FORMS:
        helper, base = _FORMS[word]
        return [*words[:at], f"{helper} not {base}", *words[at + 1 :]]
    if before in _BARE_SUBJECTS and word in _BASES:
        return [*words[:at], f"do not {word}", *words[at + 1 :]]
    return None


def _is_subject(words: list[str]) -> bool:
    """A name or pronoun, a title with a name, or one noun behind an article: a verb can only come next."""
    if words[-1].endswith(("'s", "’s", "s'", "ing")):
        return False
    titled = len(words) == 2 and words[0].rstrip(".") in ("Mr", "Mrs", "Ms", "Dr")
    return len(words) == 1 or titled or (len(words) == 2 and words[0].lower() in _DETERMINERS)


def _affirmed(text: str) -> str | None:
    """The sentence without its only "not"."""
    if len(re.findall(r"\bnot\b|n['’]t\b|cannot", text)) > 1:
        return None
    if match := _NEGATED.search(text):
        return text[: match.start()] + (match[1] or match[2]) + text[match.end() :]
    match = _NOT_DOING.search(text)
    if match is None or match[2] not in {*_BASES, "have"}:
        return None
    forms: dict[str, Callable[[str], str]] = {
        "do": lambda base: base,
        "does": lambda base: "has" if base == "have" else _third(base),
        "did": lambda base: "had" if base == "have" else _DOUBLED.get(base, _past(base)),
    }
    verb: str = forms[match[1]](match[2])
    return text[: match.start()] + verb + text[match.end() :]


_HAN_VERB = re.compile(
    r"知道|喜欢|相信|认为|觉得|记得|同意|希望|愿意|(?<![现正存实所])在(?!于)|(?<![但可还于总就只要凡都])是(?![否非])"
)
_HAN_DENIES = re.compile(r"[不没未无非别勿莫]|只|都|每|有些|可能|也许")


def _negated_han(text: str) -> str | None:
    if (
        re.search("不(?=知道|喜欢|相信|认为|觉得|记得|同意|希望|愿意|在|是)", text)
        and len(_HAN_DENIES.findall(text)) == 1
    ):
        return text.replace("不", "", 1)
    match = _HAN_VERB.search(text)
    if match is None or not match.start() or _HAN_DENIES.search(text):
        return None
    return f"{text[: match.start()]}不{text[match.start() :]}"


_PLACES = (
    _words("box basket drawer cupboard bag crate suitcase bucket bottle pantry closet chest jar wardrobe cabinet"),
    _words(
        "kitchen garden garage bedroom cellar attic bathroom library classroom office corridor porch hall shed lounge"
    ),
    ["envelope", "oven", "armchair"],
)
_FEELINGS = (
    _words("happy glad pleased cheerful proud calm relaxed grateful"),
    _words("sad angry upset afraid worried nervous unhappy jealous annoyed embarrassed disappointed"),
)
_PLACED = re.compile(
    r"\b(?:in|into|inside|behind|under|from|to|at|near|outside|enters|entered|exits|exited|leaves|left) "
    r"(?P<the>the|a|an|his|her|their|its|my|our|[A-Z]\w+['’]s) "
    r"(?:(?P<adjective>red|blue|green|yellow|white|black|grey|brown|big|small|old|new) "
    r")?(?P<word>\w+)(?=[.]?$| and | of | by | with | near | in | at )"
)
_FELT = re.compile(
    r"\b(?:is|are|was|were|feels|feel|felt|seems|looks) (?P<adjective>so |very |quite |really )?"
    r"(?P<word>\w+)(?=[.]?$| about | that | when )"
)
_HAN_PLACES = (
    ["盒子", "篮子", "抽屉", "柜子", "书包", "箱子", "袋子", "冰箱"],
    ["厨房", "花园", "卧室", "教室", "客厅", "车库", "图书馆", "办公室"],
)
_HAN_FEELINGS = (["高兴", "开心", "快乐"], ["难过", "伤心", "生气", "害怕", "担心"])


def moved(text: str, rng: Random, taken: Collection[str] = ()) -> str | None:
    """The sentence with another place of its kind, or the opposite feeling; none of the words in `taken`, which a story
    may hold."""
    if HAN.search(text):
        return _moved_han(text, rng, taken)
    for pattern, groups, apart in ((_PLACED, _PLACES, False), (_FELT, _FEELINGS, True)):
        for match in pattern.finditer(text):
            if others := _others(match["word"], groups, taken, apart=apart):
                before = match["adjective"] or match.groupdict().get("the") or ""
                fitting = [
                    word for word in others if before not in ("a", "an") or (word[0] in "aeiou") == (before == "an")
                ]
                if fitting:
                    return text[: match.start("word")] + rng.choice(fitting) + text[match.end("word") :]
    return None


def _others(word: str, groups: tuple[list[str], ...], taken: Collection[str], *, apart: bool) -> list[str]:
    """Words of the same group, of another group where the groups stand `apart`."""
    here = next((at for at, group in enumerate(groups) if word in group), None)
    if here is None:
        return []
    chosen = [other for at, group in enumerate(groups) if (at != here) == apart for other in group]
    return [other for other in chosen if other != word and (apart or other not in taken)]


def _moved_han(text: str, rng: Random, taken: Collection[str]) -> str | None:
    for groups, apart in ((_HAN_PLACES, False), (_HAN_FEELINGS, True)):
        for word in (word for group in groups for word in group if word in text):
            if others := _others(word, groups, taken, apart=apart):
                return text.replace(word, rng.choice(others), 1)
    return None


_EQUALS = {
    "thinks": "believes",
    "believes": "thinks",
    "think": "believe",
    "believe": "think",
    "thought": "believed",
    "believed": "thought",
}
_SAID_OTHERWISE = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (
            (
                r"^(\S+) and (\S+) (are|were) "
                r"(friends|siblings|neighbours|flatmates|roommates|colleagues|married|cousins|classmates|sisters|brothers)\b"
            ),
            r"\2 and \1 \3 \4",
        ),
        (r"^(\S+(?: \S+)?) (is|was) ([A-Z]\w+)['’]s (\w+)$", r"\1 \2 the \4 of \3"),
        (r"\bdoes not know (where|who|what|why|when|how|whether)\b", r"has no idea \1"),
        (r"\bdid not know (where|who|what|why|when|how|whether)\b", r"had no idea \1"),
        (r"\bknows that\b", "is aware that"),
        (r"\bknows (?:of|about)\b", "is aware of"),
        (r"\bwants (\w+) to\b", r"would like \1 to"),
        (r"\bwants to\b", "would like to"),
        (r"\bwanted to\b", "wished to"),
        (r"\bsays that\b", "states that"),
        (r"\bsaid that\b", "stated that"),
        (r"\btells (\w+) that\b", r"informs \1 that"),
        (r"\basks (\w+ )?whether\b", r"asks \1if"),
        (r"\basks (\w+) to\b", r"requests \1 to"),
        (r"\bputs\b", "places"),
        (r"\blooks for\b", "searches for"),
        (r"\blooked for\b", "searched for"),
        (r"\bstarts to\b", "begins to"),
        (r"\bstarted to\b", "began to"),
        (r"\bhas to\b", "must"),
        (r"\b(is|are|was|were) afraid\b", r"\1 scared"),
        (r"\b(is|are|was|were) happy\b", r"\1 glad"),
        (r"\bsees\b", "notices"),
        (r"\b(entered) the\b", "went into the"),
        (r"\benters the\b", "goes into the"),
        (r"\bexited the\b", "walked out of the"),
        (r"\bmoved the (\w+) to\b", r"transferred the \1 to"),
        (r"\bmoves the (\w+) to\b", r"transfers the \1 to"),
        (
            (
                r"\b(is|are|was|were) in (the|a|an|his|her) "
                r"(box|basket|drawer|cupboard|bag|crate|bottle|pantry|suitcase)\b"
            ),
            r"\1 located inside \2 \3",
        ),
        (r"\blikes the\b", "is fond of the"),
        (r"\b(thinks|believes|thought|believed|think|believe)(?= that | [A-Z])", lambda match: _EQUALS[match[0]]),
        (r"\bmade a mistake\b", "was mistaken"),
    )
]
_SAID_OTHERWISE_HAN = {
    "认为": "觉得",
    "觉得": "认为",
    "高兴": "开心",
    "难过": "伤心",
    "妈妈": "母亲",
    "爸爸": "父亲",
    "知道": "清楚",
    "立刻": "马上",
    "里面": "里头",
}


def paraphrased(text: str) -> str | None:
    """The sentence in other words with the same meaning."""
    reworded = text
    if HAN.search(text):
        reworded = re.sub("|".join(_SAID_OTHERWISE_HAN), lambda match: _SAID_OTHERWISE_HAN[match[0]], text)
    else:
        for pattern, replacement in _SAID_OTHERWISE:
            reworded = pattern.sub(replacement, reworded)
    return None if reworded == text else reworded
