"""Reasons why an answer has no score, in words that reports, tables and tests share."""

from core.messages import Sentence, gettext_noop

NO_GOLD = gettext_noop("no gold propositions")
"""Reason why a sample without gold has no estimate: not the answer's fault, so it is not counted as unreadable."""
NO_ANSWER = gettext_noop("no answer")
UNREADABLE = gettext_noop("no readable row")
NO_JUDGEMENT = gettext_noop("no judgement")
NOT_STRUCTURED = gettext_noop("not structured: the endpoint ignored the schema")
"""A table in a run of structured output: there the endpoint has to hold its answers to the schema."""
JUDGE_NOT_STRUCTURED = gettext_noop("the judge's answer is not structured: its endpoint ignored the schema")
REFUSED = gettext_noop("the model refused")
TRUNCATED = gettext_noop("the answer was cut off")
NOT_WHOLE = gettext_noop("it is not a whole answer")
UNKNOWING = gettext_noop("says that the model does not know")
"""An answer without one: the model does not refuse, and commits to nothing."""
"""Ends of calls that say more than an answer that cannot be read."""
OPEN = gettext_noop("no answer yet")
CALL_FAILED = gettext_noop("the call failed")
CANCELLED = gettext_noop("cancelled")
NOT_IN_FILE = gettext_noop("the imported file has no answer")
JUDGE_S = {
    REFUSED: gettext_noop("the judge refused"),
    TRUNCATED: gettext_noop("the judge's answer was cut off"),
    NOT_WHOLE: gettext_noop("the judge's answer is not whole"),
}
"""An unreadable judgement for reasons that are told of any model in the same words."""
OF_JUDGE = "judgement: "
_OF_JUDGES = {*JUDGE_S.values(), NO_JUDGEMENT, JUDGE_NOT_STRUCTURED}
LOST_OUTSIDE = {OPEN, CALL_FAILED, CANCELLED, NOT_IN_FILE, *_OF_JUDGES}
_OF_ANSWERS = ("holds ", "is ", "names ", "says ", "was ")
"""Beginnings of reasons that need the answer before them to be a sentence."""
_ENDS = {
    REFUSED: gettext_noop("The model refused."),
    TRUNCATED: gettext_noop("The answer was cut off."),
    NOT_WHOLE: gettext_noop("The answer is not whole."),
}
"""Reasons that are clauses of their own, as sentences."""


def sentence_of(unreadable: str) -> str:
    """Return why an answer is unreadable as it can stand alone."""
    return (
        Sentence("The answer {unreadable}.", unreadable=unreadable)
        if unreadable.startswith(_OF_ANSWERS)
        else unreadable
    )


def note_of(unreadable: str) -> str:
    """Return why an answer is unreadable as a sentence beside what was read of it; empty of a usable one."""
    if not unreadable:
        return ""
    if unreadable.startswith(_OF_ANSWERS):
        return sentence_of(unreadable)
    return _ENDS.get(unreadable) or Sentence("Unreadable: {unreadable}.", unreadable=unreadable)


def lost_by_judge(reason: str) -> bool:
    """Return whether a sample is unreadable since its judge has no verdict."""
    return reason in _OF_JUDGES or reason.startswith(OF_JUDGE)


def lost_outside(reason: str) -> bool:
    """Return whether a sample is unreadable for something that the model did not do: its call or the judge's."""
    return reason in LOST_OUTSIDE or reason.startswith(OF_JUDGE)


def questions_unanswered(missing: int, total: int) -> str:
    """Return why a sample of `total` questions has no official score: how many have no answer; empty where all do."""
    if not missing:
        return ""
    if total == 1:
        return gettext_noop("its only question has no answer")
    if missing == 1:
        return Sentence("{missing} of its {total} questions has no answer", missing=missing, total=total)
    return Sentence("{missing} of its {total} questions have no answer", missing=missing, total=total)


def tries_unanswered(missing: int, total: int) -> str:
    """Return why a sample that was asked `total` times has no official score; empty where every try has an answer."""
    if not missing:
        return ""
    if total == 1:
        return gettext_noop("its only try has no answer")
    if missing == 1:
        return Sentence("{missing} of its {total} tries has no answer", missing=missing, total=total)
    return Sentence("{missing} of its {total} tries have no answer", missing=missing, total=total)
