"""The suite FANToM."""

from __future__ import annotations

from typing import Any

from benchmark.methods.program import method_setting, wording_digest
from benchmark.suites.contract import Option, Setting, Suite
from benchmark.suites.conversations.baselines import BASELINES
from benchmark.suites.conversations.controls import CONTROLS
from benchmark.suites.conversations.item_page import item_of
from benchmark.suites.conversations.question_types import SHORT_TYPES
from benchmark.suites.conversations.read_lines import answer_lines
from benchmark.suites.conversations.sources import ARCHIVE, SOURCE
from benchmark.suites.fantom.embedding import EMBEDDERS, MINILM, TOY, embedder_named
from benchmark.suites.fantom.measure import GROUPS, measure
from benchmark.suites.fantom.samples import FULL, SHORT, load
from benchmark.suites.fantom.scoring import score_answers
from benchmark.suites.fantom.steps import ANSWER, EMBEDDER, METHODS, PROGRAM, STEPS, expected, parse, request
from benchmark.suites.fantom.tables import PUBLISHED, SECTIONS, pictures, tables
from benchmark.suites.reported import Reported, Sections, asked_by
from core.language import gettext_noop

PROMPT_SET = "fantom-1"
CONVERSATION = Setting(
    "conversation",
    gettext_noop("Conversations"),
    SHORT,
    help=(
        gettext_noop(
            "The full ones have characters who do not take part in the short ones; more questions are then about "
            "what somebody missed."
        )
    ),
    choices=((SHORT, gettext_noop("short, the part that matters")), (FULL, "full")),
)
METHOD = method_setting(METHODS)


class EmbedderSetting(Setting):
    """A setting whose value is an embedder that is installed."""

    def checked(self, value: Any) -> Any:
        """The name of the embedder. Raises ValueError with one sentence."""
        name = super().checked(value)
        embedder_named(name)
        return name


_CALLED = {TOY: gettext_noop("toy: counts of words"), MINILM: "all-MiniLM-L6-v2"}
EMBEDDING = EmbedderSetting(
    EMBEDDER,
    "Embedder",
    TOY,
    help=(
        gettext_noop(
            "Judges beliefs in free words. The toy one counts words and needs nothing; minilm, a sentence model, "
            "needs the packages of requirements-embedder.txt; another one is a folder that the server names."
        )
    ),
    choices=tuple((name, _CALLED.get(name, name)) for name in EMBEDDERS),
)


def _methods(reported: Reported) -> Sections:
    embedder = EMBEDDING.in_words(reported.settings[EMBEDDER])
    return [
        asked_by(METHOD.in_words(reported.settings["method"]), PROMPT_SET),
        (
            "Scoring",
            "A set, all questions on one piece of information, is right where all its answers are (ALL); ALL* also "
            "takes the beliefs in free words, which are right where their embedding is nearer to the right text than "
            f"to the wrong one (embedder: {embedder}). The official parse takes answers as the benchmark’s released "
            "code does, which looks for names and words inside others and takes one right option beside another; the "
            "control then has what is accessible of any set. The repaired parse takes whole words, one option and "
            "an unambiguous yes or no alone; what it cannot read is missing, with bounds; the control then has the "
            "sets that are wholly accessible. Intervals resample conversations with all their questions.",
        ),
    ]


SUITE = Suite(
    name="fantom",
    title=gettext_noop("FANToM"),
    steps=STEPS,
    program=PROGRAM,
    groups=GROUPS,
    request=request,
    parse=parse,
    measure=measure,
    expected=expected,
    score=score_answers,
    options=(
        Option(
            EMBEDDER,
            TOY,
            gettext_noop(f"what judges beliefs in free words: {' or '.join(EMBEDDERS)}"),
            tuple(EMBEDDERS),
        ),
    ),
    load=load,
    told_by=(frozenset({"set_id", "short_context", "full_context"}),),
    source=SOURCE,
    archive=ARCHIVE,
    load_options=(CONVERSATION,),
    noun=("question", "questions"),
    cluster=("conversation", "conversations"),
    settings=(METHOD, EMBEDDING),
    max_tokens=1024,
    prompts={step.key: wording_digest(METHODS) for step in STEPS},
    prompts_version=PROMPT_SET,
    controls=CONTROLS,
    item=lambda view: item_of(view, ANSWER),
    item_template="fantom/item.html",
    lines=lambda view: answer_lines(view, ANSWER),
    methods=_methods,
    tables=tables,
    pictures=pictures,
    published=PUBLISHED,
    sections=SECTIONS,
    categories=SHORT_TYPES,
    category_noun="type",
    dependent="questions of a conversation",
    baselines=BASELINES,
)
