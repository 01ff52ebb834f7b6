"""Answers outside a closed set: a place that the story does not have, "maybe" to a yes or no question.

Such an answer is read, and wrong. Unreadable is one that says nothing about the question: a refusal (`refusals`),
silence, a cut text, prose about something else. Suites look for the members of their set first; what is here finds the
words that an answer gives instead of one.
"""

import re
from collections.abc import Iterable

from benchmark.suites.refusals import OwnWords


def words(text: str) -> frozenset[str]:
    """Return the words of a text, as a set."""
    return frozenset(text.split())


_MOST_WORDS, _MOST_CHARACTERS = 5, 60
"""Length of an answer that is nothing but a phrase."""
_REASONS = re.compile(
    r"[\s,(;:—–-]{1,9}(?:because|since|as\s+(?:he|she|they|it|the|that|this|\w+\s+(?:was|is|did|has|had|saw|put|left|"
    r"moved|does|would|only|never|does|doesn't|didn't))|even\s+though|although|rather\s+than|instead\s+of|not\s+in|"
    r"but\s+not|where\s+(?:he|she|they|it)|(?:which|where)\s+is|given\s+that|due\s+to|after|before|when|while|unaware|"
    r"without\s+knowing|not\s+knowing)\b|\n\W{0,9}(?:explanation|reason(?:ing|s)?|rationale|justification|note)\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^\W*(?:(?:the|my|so|thus|therefore|hence|final|correct|best|most\s+likely)\W+)*"
    r"(?:answer|location|place|container|position|response|attitude|choice|it|that)(?:'s|\s+is|\s+would\s+be|[\s*_`\"']*[:：=-])\s*",
    re.IGNORECASE,
)
_SILENCE = re.compile(
    r"\W*(?:n\W?/?a\W?|nan|null|none|nil|undefined|empty|blank|tbd|todo|no\s+(?:answer|output|response|reply|text|data)|"
    r".*\berrors?\b.*|time\s?d?\s?out|answer|response|output|.{0,3}…|\.\.\.)?\W*",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"</?[a-z]{1,20}>", re.IGNORECASE)
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_OF_SENTENCES = words(
    "i you he she it they we me him them us this that these those there here what who where why how which is are "
    "was were be been being am do does did done has have had will would shall should must may might could let let's "
    "hmm hm um uh oh i'm i'd i'll i've it's he's she's they're we're you're that's there's sure ok okay hello hi "
    "hey thanks thank please sorry well so if because since as an think believe know knows said says answer "
    "question story text told saw heard went came certainly absolutely course understood great help assist"
)
"""Words of a sentence, of a greeting, of a beginning; a phrase has none of them."""
_OPEN_ENDS = words("a an the in on of to at by for with from and or but is are as that into than my your")
"""Words after which something is to come."""
_DENIAL = re.compile(
    r"\b(?:(?:none|neither|nor|no\s+one|not\s+any)\s+(?:of\s+)?(?:the|these|those|them|both|above|two|options?|choices?|"
    r"answers?|places?|is|are|applies)\b|(?:cannot|can't|can\s+not|could\s+not|couldn't)\s+be\s+(?:\w+ly\s+)?(?:determined|known|"
    r"inferred|said|told|answered|concluded|established|deduced|identified|decided)|(?:is|are|was|remains?|it's|seems?|be)\s+(?:\w+ly\s+)?"
    r"(?:unknown|unclear|undetermined|undeterminable|indeterminate|ambiguous|unspecified|unstated|unanswerable|"
    r"impossible\s+to\s+\w+|not\s+(?:\w+ly\s+)?(?:clear|known|stated|mentioned|specified|given|indicated|determinable|"
    r"possible))|(?:does\s+not|doesn't|did\s+not|never)\s+(?:\w+ly\s+)?(?:say|mention|specify|state|tell|provide|give|indicate|"
    r"clarify|reveal|include)s?\b|not\s+(?:mentioned|specified|stated|given|provided|determinable)|neither\W*$|nowhere\b|"
    r"^\W*(?:unknown|unclear|undetermined|indeterminate|unspecified|impossible)\b)|以上都不|都不(?:是|对|正确)|"
    r"(?:两者|二者)(?:皆|都)不|^\W*(?:未知|不明)",
    re.IGNORECASE,
)
_MOST_WORDS_OF_A_DENIAL, _LONGEST = 25, 300

_AT = (
    r"(?:in\s+front\s+of|on\s+top\s+of|next\s+to|inside(?:\s+of)?|outside(?:\s+of)?|into|onto|within|"
    r"under(?:neath)?|beneath|behind|near|beside|below|above|atop|in|on|at)"
)
_PUTS = (
    r"(?:look(?:s|ed|ing)?|search(?:es|ed|ing)?|find|finds|found|is|are|was|were|be|been|stays?|remains?|lies|"
    r"sits|located|stored|kept|placed|put|moved|left|hidden|goes?|still|thing|it(?:'s)?)"
)
_PLACE = re.compile(
    rf"(?:^|[.!?\n]|\b{_PUTS}(?:\s+for\s+(?:[\w'-]+\s+){{1,4}}?)?)\W{{0,12}}{_AT}\s+((?:[\w'’-]+[ /]+){{0,5}}[\w'’-]+)"
    r"|\b(?:search(?:es|ed|ing)?|check(?:s|ed|ing)?|inspects?|opens?|(?:it|answer|location|place)\s+is|it's)\s+"
    r"((?:the|an?|his|her|their|[A-Z][\w-]+['’]s)\s+(?:[\w'’-]+[ /]+){0,4}[\w'’-]+)",
    re.IGNORECASE,
)
_PLACE_ENDS = re.compile(
    r"\s+(?:because|since|as|when|where|while|for|that|which|who|after|before|and|but|by|is|are|was|were|if|so|to|from|"
    r"rather|instead|even|although|though|unless|until|now|still|first|again|in|on|at|inside|near|with)\b.*$",
    re.IGNORECASE,
)
_GUESSING = re.compile(
    r"^\W*(?:(?:i\s+(?:think|believe|guess|suppose)|i(?:'d|\s+would)\s+(?:say|guess)|(?:most\s+)?(?:probably|likely)|perhaps|maybe|"
    rf"possibly|presumably)\W+)+(?:that\s+)?(?=(?:it|{_AT}|the|an?|his|her|their|its)\b)",
    re.IGNORECASE,
)
_DENIED = (
    r"\b(?:not|never|nor|isn't|won't|anywhere\s+but|other\s+than)\s+(?:(?:be|look|search|for|it|in|inside|at|on|under|the|an?|"
    r"any|his|her|their)\s+){0,5}"
)
_DETERMINER = re.compile(r"^(?:the|an?|his|her|their|its|some|another|that|this|same|very|own|my)\s+", re.IGNORECASE)
_NO_PLACES = words(
    "the a an his her their its my your this that some place places location locations position spot somewhere "
    "anywhere elsewhere there here it them him story text passage narrative question answer answers option scenario "
    "context beginning end start middle case fact general order addition total other hand first last all least mind "
    "view opinion perspective conclusion summary short moment time meantime way words word detail front back hands "
    "which what whom conversation field world life turn reality truth"
)
"""Heads of phrases that no thing is put in."""


def main_clause(text: str) -> str:
    """Return the part of an answer before it gives its reasons. Returns all of it if it begins with them."""
    reasons = _REASONS.search(text)
    before = text[: reasons.start()] if reasons else ""
    return before if _WORD.search(before) else text


def phrase_in(text: str, members: Iterable[str] = ()) -> str:
    """Return the few words that an answer consists of, without an announcement, emphasis and full stop.

    Returns "" for a sentence, silence, and the cut beginning of one of `members`."""
    lines = [line for line in _TAG.sub(" ", text).splitlines() if line.strip()]
    if not lines or (len(lines) == 1 and _SILENCE.fullmatch(lines[0][:_MOST_CHARACTERS])):
        return ""
    raw = _ANNOUNCED.sub("", lines[0] if len(lines) == 1 else main_clause(lines[0]), count=1)
    phrase = _AROUND.sub("", raw)
    tokens = [word.lower() for word in _WORD.findall(phrase)]
    if not tokens or len(tokens) > _MOST_WORDS or len(phrase) > _MOST_CHARACTERS or _SILENCE.fullmatch(phrase):
        return ""
    if raw.rstrip().endswith((":", "?", "：", "？", "…", "...")) or tokens[-1] in {"her", *_OPEN_ENDS}:
        return ""
    if not _OF_SENTENCES.isdisjoint(tokens) or tokens[0] in ("can", "cannot", "can't"):
        return ""
    return "" if _is_cut(raw, phrase, members) else phrase


def denial_in(text: str) -> str:
    """Return an answer that says that none of the set is right, or that this cannot be known. Returns "" otherwise."""
    tokens = text.split()
    line = " ".join(tokens)
    return line if len(tokens) <= _MOST_WORDS_OF_A_DENIAL and _DENIAL.search(line[:_LONGEST]) else ""


def outside(own: OwnWords, members: Iterable[str] = ()) -> str:
    """Return what an answer gives instead of one of a closed set, whose words are `members`. Returns "" if it says
    nothing about the question."""
    return (denial_in(own.text) or phrase_in(own.text, members)) if own.whole else ""


def outside_place(own: OwnWords, members: Iterable[str]) -> str:
    """Return the place that an answer gives where it names none of `members`. Returns "" if it gives none."""
    return (place_in(own.text, members) or denial_in(own.text)) if own.whole else ""


def place_in(text: str, members: Iterable[str] = ()) -> str:
    """Return the place that an answer puts something in, without an article. Returns "" if it names none."""
    clause = _GUESSING.sub("", main_clause(text.replace("’", "'")))
    for match in _PLACE.finditer(clause):
        phrase = _PLACE_ENDS.sub("", match[1] or match[2] or "").strip()
        if place := _bare_place(phrase):
            return "" if _is_cut(clause[: match.end()], phrase, members) and match.end() == len(clause) else place
    phrase = phrase_in(clause, members)
    announced = _ANNOUNCED.match(clause)
    if announced and not re.search("[:：=-]", announced[0]) and not _DETERMINER.match(phrase):
        return ""  # "it is ajar"
    return _bare_place(phrase)


def without_denied(text: str, names: Iterable[str]) -> str:
    """Return an answer without the names that it denies: "not in the box" says nothing of where something is."""
    named = "|".join(map(in_words, sorted(names, key=len, reverse=True)))
    return re.sub(rf"{_DENIED}(?:{named})(?!\w)", " ", text.replace("’", "'"), flags=re.IGNORECASE)


def in_words(name: str) -> str:
    """Return the pattern of a name with any blanks between its words."""
    return r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", name)))


def _bare_place(phrase: str) -> str:
    while (bare := _DETERMINER.sub("", phrase)) != phrase:
        phrase = bare
    tokens = [word.lower() for word in _WORD.findall(phrase)]
    return "" if not tokens or tokens[0] in _NO_PLACES or tokens[-1] in _NO_PLACES else phrase


def _is_cut(raw: str, phrase: str, members: Iterable[str]) -> bool:
    """Whether a text ends within one of the members."""
    word = _DETERMINER.sub("", phrase.lower())
    ended = raw.rstrip()[-1:] in ".!。！*\"'”’)]"
    return not ended and any(member.lower().startswith(word) and member.lower() != word for member in members)
