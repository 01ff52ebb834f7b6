"""OmniToM's settings of the launch of a run."""

from typing import Any

from benchmark.suites.judges import self_test_setting
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL
from benchmark.suites.omnitom.judgements import EXACT, LINKS, MOST_PASSES, NORMALISED, NOTHING, SAME
from benchmark.suites.omnitom.prompting.examples import MAX_EXAMPLES, SAMPLE, SOURCES, WITH_EXAMPLES
from benchmark.suites.omnitom.prompting.sets import NAMES
from benchmark.suites.omnitom.steps import STRUCTURED
from benchmark.suites.settings import COLUMN, PARAMETER, Only, Setting
from core.messages import Sentence, gettext_noop

LEVELS = (
    (1, gettext_noop("1: one sentence")),
    (2, gettext_noop("2: a paragraph")),
    (3, gettext_noop("3: stepwise sub-tasks")),
    (4, gettext_noop("4: criteria, categories and examples")),
)
_TABLES_ALONE = "is a baseline that reads the two tables alone"


def _setting(key: str, label: str, default: Any, flag_help: str, **more: Any) -> Setting:
    """Return a setting whose flag is its key; `more` are other fields."""
    about = {"stored": PARAMETER, "flag": key.replace("_", "-"), "flag_help": flag_help}
    return Setting(key, label, default, **about | more)


PROMPT_SET = _setting(
    "prompt_set", gettext_noop("Prompt set"), NAMES[-1], "the built-in set if not given", stored=COLUMN, prompt_set=True
)
SETTINGS = (
    PROMPT_SET,
    _setting(
        "level",
        gettext_noop("Prompt level"),
        3,
        "of extraction and labelling; 3 if not given",
        choices=LEVELS,
        refusal="The prompt level is {value}; expected 1 to 4.",
        stored=COLUMN,
        swept="levels",
    ),
    _setting(
        "examples",
        gettext_noop("Examples"),
        1,
        f"0 to {MAX_EXAMPLES}, at level {WITH_EXAMPLES}; 1 if not given",
        help=Sentence("Shown at level {with_examples}.", with_examples=WITH_EXAMPLES),
        most=MAX_EXAMPLES,
        refusal=f"A prompt can have 0 to {MAX_EXAMPLES} examples, not {{value}}.",
        steps=(EXTRACT, LABEL),
        only=Only("level", WITH_EXAMPLES, f"are shown at level {WITH_EXAMPLES}, and the level is {{value}}"),
    ),
    _setting(
        "examples_from",
        gettext_noop("Examples from"),
        SAMPLE,
        "sample if not given",
        choices=tuple(SOURCES.items()),
        help=gettext_noop("A category without any there takes the other’s. Stories that are asked never serve."),
        refusal=f"Examples come from {' or '.join(SOURCES)}, not {{value!r}}.",
    ),
    _setting(
        "answer_format",
        gettext_noop("Answer format"),
        "text",
        "text if not given",
        choices=(("text", gettext_noop("Free text")), (STRUCTURED, gettext_noop("Structured output"))),
        stored=COLUMN,
    ),
    _setting(
        "judge_level",
        gettext_noop("Judge’s prompt level"),
        4,
        "4 if not given",
        choices=LEVELS,
        refusal="The judge's prompt level is {value}; expected 1 to 4.",
        swept="judge_levels",
        steps=(JUDGE,),
        unread=_TABLES_ALONE,
    ),
    _setting(
        "shots",
        gettext_noop("Judge’s examples"),
        3,
        f"the judge's examples: 0 to {MAX_EXAMPLES}, at level {WITH_EXAMPLES}; 3 if not given",
        most=MAX_EXAMPLES,
        help=Sentence(
            "Shown at level {with_examples}. The lexical judge compares words of the two tables, not meanings.",
            with_examples=WITH_EXAMPLES,
        ),
        refusal=f"The judge can have 0 to {MAX_EXAMPLES} examples, not {{value}}.",
        steps=(JUDGE,),
        unread=_TABLES_ALONE,
        only=Only(
            "judge_level", WITH_EXAMPLES, f"are shown at level {WITH_EXAMPLES}, and the judge's level is {{value}}"
        ),
    ),
    _setting(
        "with_story",
        gettext_noop("The judge reads the story too"),
        True,
        "the judge is not shown the story",
        flag="without-story",
        steps=(JUDGE,),
        unread=_TABLES_ALONE,
    ),
    _setting(
        "judge_answer_format",
        gettext_noop("Judge’s answer format"),
        SAME,
        "same if not given",
        choices=((SAME, gettext_noop("As the answers")), (LINKS, gettext_noop("Links between numbered rows"))),
        help=gettext_noop("With links the judge says which rows match, and may say that it cannot tell."),
        steps=(JUDGE,),
    ),
    _setting(
        "passes",
        gettext_noop("Judge’s passes"),
        1,
        f"1 to {MOST_PASSES}, each a call, from the second on with shuffled rows; 1 if not given",
        least=1,
        most=MOST_PASSES,
        help=gettext_noop(
            "From the second on the rows are shuffled. The majority decides; rows that flip are counted."
        ),
        steps=(JUDGE,),
        unread=gettext_noop("is a baseline that answers alike in every pass"),
    ),
    _setting(
        "settle",
        gettext_noop("Settled before asking"),
        NOTHING,
        "none if not given",
        choices=(
            (NOTHING, gettext_noop("Nothing")),
            (EXACT, gettext_noop("Rows in the same words")),
            (NORMALISED, gettext_noop("The same words but for case, quotes and stops")),
        ),
        help=gettext_noop(
            "Such rows match by rule: the judge is not asked about them, nor about a story that has no others."
        ),
        steps=(JUDGE,),
    ),
    self_test_setting(JUDGE),
)
