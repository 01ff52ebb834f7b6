"""OmniToM's settings of the launch of a run."""

from __future__ import annotations

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

PROMPT_SET = Setting(
    "prompt_set", gettext_noop("Prompt set"), NAMES[-1],
    stored=COLUMN, prompt_set=True, flag="prompt-set", flag_help="the built-in set if not given",
)  # fmt: skip
SETTINGS = (
    PROMPT_SET,
    Setting(
        "level",
        gettext_noop("Prompt level"),
        3,
        choices=LEVELS,
        refusal="The prompt level is {value}; expected 1 to 4.",
        stored=COLUMN,
        swept="levels",
        flag="level",
        flag_help="of extraction and labelling; 3 if not given",
    ),
    Setting(
        "examples",
        gettext_noop("Examples"),
        1,
        help=Sentence("Shown at level {with_examples}.", with_examples=WITH_EXAMPLES),
        most=MAX_EXAMPLES,
        refusal=f"A prompt can have 0 to {MAX_EXAMPLES} examples, not {{value}}.",
        stored=PARAMETER,
        flag="examples",
        flag_help=f"0 to {MAX_EXAMPLES}, at level {WITH_EXAMPLES}; 1 if not given",
        steps=(EXTRACT, LABEL),
        only=Only("level", WITH_EXAMPLES, f"are shown at level {WITH_EXAMPLES}, and the level is {{value}}"),
    ),
    Setting(
        "examples_from",
        gettext_noop("Examples from"),
        SAMPLE,
        choices=tuple(SOURCES.items()),
        help=gettext_noop("A category without any there takes the other’s. Stories that are asked never serve."),
        refusal=f"Examples come from {' or '.join(SOURCES)}, not {{value!r}}.",
        stored=PARAMETER,
        flag="examples-from",
        flag_help="sample if not given",
    ),
    Setting(
        "answer_format",
        gettext_noop("Answer format"),
        "text",
        choices=(("text", gettext_noop("Free text")), (STRUCTURED, gettext_noop("Structured output"))),
        stored=COLUMN,
        flag="answer-format",
        flag_help="text if not given",
    ),
    Setting(
        "judge_level",
        gettext_noop("Judge’s prompt level"),
        4,
        choices=LEVELS,
        refusal="The judge's prompt level is {value}; expected 1 to 4.",
        stored=PARAMETER,
        swept="judge_levels",
        flag="judge-level",
        flag_help="4 if not given",
        steps=(JUDGE,),
        unread=_TABLES_ALONE,
    ),
    Setting(
        "shots",
        gettext_noop("Judge’s examples"),
        3,
        most=MAX_EXAMPLES,
        help=Sentence(
            "Shown at level {with_examples}. The lexical judge compares words of the two tables, not meanings.",
            with_examples=WITH_EXAMPLES,
        ),
        refusal=f"The judge can have 0 to {MAX_EXAMPLES} examples, not {{value}}.",
        stored=PARAMETER,
        flag="shots",
        flag_help=f"the judge's examples: 0 to {MAX_EXAMPLES}, at level {WITH_EXAMPLES}; 3 if not given",
        steps=(JUDGE,),
        unread=_TABLES_ALONE,
        only=Only(
            "judge_level", WITH_EXAMPLES, f"are shown at level {WITH_EXAMPLES}, and the judge's level is {{value}}"
        ),
    ),
    Setting(
        "with_story",
        gettext_noop("The judge reads the story too"),
        True,
        stored=PARAMETER,
        flag="without-story",
        flag_help="the judge is not shown the story",
        steps=(JUDGE,),
        unread=_TABLES_ALONE,
    ),
    Setting(
        "judge_answer_format",
        gettext_noop("Judge’s answer format"),
        SAME,
        choices=((SAME, gettext_noop("As the answers")), (LINKS, gettext_noop("Links between numbered rows"))),
        help=gettext_noop("With links the judge says which rows match, and may say that it cannot tell."),
        stored=PARAMETER,
        flag="judge-answer-format",
        flag_help="same if not given",
        steps=(JUDGE,),
    ),
    Setting(
        "passes",
        gettext_noop("Judge’s passes"),
        1,
        least=1,
        most=MOST_PASSES,
        help=gettext_noop(
            "From the second on the rows are shuffled. The majority decides; rows that flip are counted."
        ),
        stored=PARAMETER,
        flag="passes",
        flag_help=f"1 to {MOST_PASSES}, each a call, from the second on with shuffled rows; 1 if not given",
        steps=(JUDGE,),
        unread=gettext_noop("is a baseline that answers alike in every pass"),
    ),
    Setting(
        "settle",
        gettext_noop("Settled before asking"),
        NOTHING,
        choices=(
            (NOTHING, gettext_noop("Nothing")),
            (EXACT, gettext_noop("Rows in the same words")),
            (NORMALISED, gettext_noop("The same words but for case, quotes and stops")),
        ),
        help=gettext_noop(
            "Such rows match by rule: the judge is not asked about them, nor about a story that has no others."
        ),
        stored=PARAMETER,
        flag="settle",
        flag_help="none if not given",
        steps=(JUDGE,),
    ),
    self_test_setting(JUDGE),
)
