"""The sentences of an answer that refuse, or say that the model does not know, in English and Chinese.

Every suite takes them off before it looks for what it asked for: "I can't help with that" names no trash can, and "I
don't know whether Una knows" is no yes. Only the model's own words count, "I can't answer" and not "he can't know", and
only where a sentence begins with them, so that an option such as "B. I can't help you" stays.
"""

import re
from typing import NamedTuple

from benchmark.suites.reasons import REFUSED, UNKNOWING


class OwnWords(NamedTuple):
    """An answer without the sentences in which the model refuses or does not know; `refused` and `unknowing` say
    whether it had any."""

    text: str
    refused: bool = False
    unknowing: bool = False

    def why(self, otherwise: str) -> str:
        """Return the reason why nothing was read in `text`, which is `otherwise` where it says enough."""
        return REFUSED if self.refused else UNKNOWING if self.unknowing else otherwise

    @property
    def whole(self) -> bool:
        """True where every sentence counts: a few words can be an answer of their own."""
        return not (self.refused or self.unknowing)


_SILENT = re.compile(
    r"\W*(?:n\W?/\W?a|nan|null|undefined|<?empty>?|<?blank>?)\W*|\W*no\s+(?:answer|output|response|reply|text|data)\W*"
    r"|(?=.*error)(?:\W*\b(?:invalid|internal|server|request|api|http|time\s?-?out|connection|rate|limit|exceeded|unknown|occurred|an?|\d+|error))+\W*",
    re.IGNORECASE,
)
"""What stands in a file where an answer never came."""
_LONGEST = 300
"""Characters of a sentence that are looked at."""


def own_words(answer: str) -> OwnWords:
    """Return an answer without the sentences that refuse or say that the model does not know. Returns the answer as it
    is if it has none."""
    # its patterns take a tenth of a second to compile, which no start has to wait for
    from benchmark.suites import refusal_patterns as patterns

    if _SILENT.fullmatch(answer):
        return OwnWords("")
    kept: list[str] = []
    refused = unknowing = False
    for match in patterns.PIECE.finditer(answer.replace("’", "'")):
        piece = match[0]
        if _begins_with(piece, patterns.UNKNOWN, patterns.ZH_UNKNOWN):
            # the part of a sentence behind the clause in which the model does not know
            unknowing, clauses = True, [clause[0] for clause in patterns.CLAUSE.finditer(piece)]
            while clauses and patterns.LEAD.fullmatch(clauses[0][:_LONGEST]):
                clauses = clauses[1:]
            rest = "".join(clauses[1:])
            piece = "" if patterns.GOES_ON.match(rest) else rest
        elif _begins_with(piece, patterns.REFUSAL, patterns.ZH_REFUSAL):
            refused = True
            while kept and patterns.LEAD.fullmatch(kept[-1][:_LONGEST]):  # a "Sorry." or "No." that leads to it
                kept = kept[:-1]
            continue
        kept.append(piece)
    if refused:
        kept = [piece for piece in kept if not _begins_with(piece, patterns.OFFER, patterns.ZH_OFFER)]
    elif patterns.APOLOGY.search(answer) and patterns.LEAD.fullmatch(answer[:_LONGEST]):
        return OwnWords("", refused=True)
    if not (refused or unknowing):
        return OwnWords(answer)
    return OwnWords("".join(kept).strip(" \t\r\n,;:，；：-—–"), refused, unknowing)


def _begins_with(piece: str, *patterns: re.Pattern[str]) -> bool:
    return any(pattern.match(piece[:_LONGEST]) for pattern in patterns)
