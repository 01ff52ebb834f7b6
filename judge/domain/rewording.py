"""Sentences said otherwise by rule: denied, moved to another place or feeling, or in other words with the same meaning.

Each rule returns None where it cannot be sure of a well-formed sentence. The word lists are apart from those of the
lexical judge, which is tested with what is made here.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from random import Random

_LEXICON = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_LEXICON[name].split())


def _pairs(name: str) -> dict[str, str]:
    return dict(pair.split() for pair in _LEXICON[name])


def _groups(name: str) -> list[list[str]]:
    return [group.split() for group in _LEXICON[name]]


HAN = re.compile(r"[\u3400-\u9fff]")

_UNSURE = re.compile(
    r"\b(?:some|any|most|few|several|all|every|each|everyone|everybody|both|only|may|might|either|neither|nor|nobody|none|nothing|never|no|always|"
    r"once|twice|still|already|also|because|but|ever|hardly|unless|without)\b|[,;:?!\"“”()]",
    re.IGNORECASE,
)
"""Words and signs beside which "not" would deny a part only, or nobody can say what it denies."""
_AUXILIARIES, _DETERMINERS = _words("auxiliaries"), _words("determiners")
_NOUNS_FOLLOW = _DETERMINERS | _words("before_nouns")
_BARE_SUBJECTS = frozenset({"they", "we", "i", "you"})
_IRREGULAR, _DOUBLED = _pairs("irregular"), _pairs("doubled")
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


_BASES = _words("regular") | frozenset(_IRREGULAR)
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
    # a verb can only come next after a name or pronoun, a title with a name, or one noun behind an article
    behind = words[0].rstrip(".") in ("Mr", "Mrs", "Ms", "Dr") or words[0].lower() in _DETERMINERS
    if words[at - 1].endswith(("'s", "’s", "s'", "ing")) or not (at == 1 or (at == 2 and behind)):
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


_PLACES, _FEELINGS = _groups("places"), _groups("feelings")
_HAN_PLACES, _HAN_FEELINGS = _groups("han_places"), _groups("han_feelings")
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


def moved(text: str, rng: Random, taken: Collection[str] = ()) -> str | None:
    """The sentence with another place of its kind, or the opposite feeling; none of the words in `taken`, which a story
    may hold."""
    if HAN.search(text):
        for groups, apart in ((_HAN_PLACES, False), (_HAN_FEELINGS, True)):
            for word in (word for group in groups for word in group if word in text):
                if others := _others(word, groups, taken, apart=apart):
                    return text.replace(word, rng.choice(others), 1)
        return None
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


def _others(word: str, groups: Sequence[list[str]], taken: Collection[str], *, apart: bool) -> list[str]:
    """Words of the same group, of another group where the groups stand `apart`."""
    here = next((at for at, group in enumerate(groups) if word in group), None)
    if here is None:
        return []
    chosen = [other for at, group in enumerate(groups) if (at != here) == apart for other in group]
    return [other for other in chosen if other != word and (apart or other not in taken)]


_EQUALS = _pairs("equal") | {other: word for word, other in _pairs("equal").items()}
_EQUAL = re.compile(r"\b(thinks|believes|thought|believed|think|believe)(?= that | [A-Z])")
_SAID_OTHERWISE = [(re.compile(pattern), replacement) for pattern, replacement in _LEXICON["said_otherwise"]]
_SAID_OTHERWISE_HAN = _pairs("han_equal")


def paraphrased(text: str) -> str | None:
    """The sentence in other words with the same meaning."""
    reworded = text
    if HAN.search(text):
        reworded = re.sub("|".join(_SAID_OTHERWISE_HAN), lambda match: _SAID_OTHERWISE_HAN[match[0]], text)
    else:
        for pattern, replacement in _SAID_OTHERWISE:
            reworded = pattern.sub(replacement, reworded)
        reworded = _EQUAL.sub(lambda match: _EQUALS[match[0]], reworded)
    return None if reworded == text else reworded
