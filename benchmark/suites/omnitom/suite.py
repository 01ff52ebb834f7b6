"""What OmniToM says of itself."""

from __future__ import annotations

from benchmark.controls.contract import Controllable
from benchmark.suites.contract import STRUCTURE, MetricGroup, Option, Suite
from benchmark.suites.omnitom.categories import CATEGORIES
from benchmark.suites.omnitom.exchange import exchange
from benchmark.suites.omnitom.item_filters import ROWS
from benchmark.suites.omnitom.item_pages import item
from benchmark.suites.omnitom.judging import JUDGED
from benchmark.suites.omnitom.labels import COLUMNS, DIMENSIONS
from benchmark.suites.omnitom.measure import measure
from benchmark.suites.omnitom.methods import judge_sees, methods
from benchmark.suites.omnitom.metrics import STAGE1_SHARES, STAGE2_SHARES
from benchmark.suites.omnitom.parsers import PARSERS
from benchmark.suites.omnitom.people import people_measured
from benchmark.suites.omnitom.prompting.offered import PROMPTING
from benchmark.suites.omnitom.read_lines import lines
from benchmark.suites.omnitom.scoring import score_answers
from benchmark.suites.omnitom.settings import SETTINGS
from benchmark.suites.omnitom.shown.main import PUBLISHED
from benchmark.suites.omnitom.shown.pictures import pictures
from benchmark.suites.omnitom.shown.sections import EXPLORER, SECTIONS
from benchmark.suites.omnitom.shown.tables import tables
from benchmark.suites.omnitom.sizes import SIZES
from benchmark.suites.omnitom.steps import EXTRACT, JUDGE, LABEL, STEPS, expected, parse, request, unfit
from benchmark.suites.omnitom.summary import scores
from benchmark.suites.omnitom.tables import HEADERS, LABELS

EXTRACTION = MetricGroup(
    key="stage1",
    called=EXTRACT,
    title="Stage 1: extraction",
    noun="extraction",
    shares=STAGE1_SHARES,
    headers={"precision": "Precision", "recall": "Recall", "f1": "F1", "f1_category_mean": "F1, categories"},
    score="f1",
    score_title="F1 of extraction",
    prompt=EXTRACT,
    rests_on=(EXTRACT, JUDGE),
    scored=JUDGE,
    judged=True,
    category_mean="f1",
    notes=(
        "F1 is the mean over stories; F1, categories is the mean of the categories' means, which the paper's table prints as overall.",
    ),
    tells=STRUCTURE,
)
LABELLING = MetricGroup(
    key="stage2",
    called=LABEL,
    title="Stage 2: labelling",
    noun="labelling",
    shares=STAGE2_SHARES,
    headers={
        "overall_accuracy": "Overall",
        **{f"acc_{COLUMNS[dimension]}": HEADERS[dimension] for dimension in DIMENSIONS},
    },
    labels={f"acc_{COLUMNS[dimension]}": LABELS[dimension] for dimension in DIMENSIONS},
    score="overall_accuracy",
    score_title="Accuracy of labelling",
    prompt=LABEL,
    rests_on=(LABEL,),
    scored=LABEL,
    measured_in={f"acc_{COLUMNS[dimension]}": {"dimension": dimension} for dimension in DIMENSIONS},
    tells=STRUCTURE,
)

_NO_STORY = "Without a story there is nothing to extract."
CONTROLS = Controllable(
    story="story",
    texts=("content.story", "gold.beliefs.*.actor", "gold.beliefs.*.belief"),
    senseless={"storyless": dict.fromkeys((EXTRACT, JUDGE), _NO_STORY)},
)


SUITE = Suite(
    name="omnitom",
    title="OmniToM",
    steps=STEPS,
    groups=(EXTRACTION, LABELLING),
    main=(EXTRACTION.key, LABELLING.key),
    request=request,
    parse=parse,
    measure=measure,
    summary=scores,
    expected=expected,
    story="story",
    unfit=unfit,
    noun=("story", "stories"),
    people=LABELLING.key,
    people_measured=people_measured,
    settings=SETTINGS,
    max_tokens=6000,
    temperature="0, as published",
    prompting=PROMPTING,
    sizes=SIZES,
    judge=JUDGED,
    controls=CONTROLS,
    methods=methods,
    dependent="the propositions of one story",
    judge_sees=judge_sees,
    tables=tables,
    pictures=pictures,
    published=PUBLISHED,
    sections=SECTIONS,
    explorer=EXPLORER,
    categories=CATEGORIES,
    category_noun="story category",
    item=item,
    item_template="omnitom/item.html",
    item_below="omnitom/items/story.html",
    lines=lines,
    items_note="Scores: F1 of judging, mean accuracy of labelling; an extraction is scored by its judgement.",
    rows=ROWS,
    score=score_answers,
    parsers=PARSERS,
    exchange=exchange,
    options=(
        Option("story_ids", "", "omnitom: the stories to score, such as 1,4-7 (default: those with answers)"),
        Option("max_stories", 0, "omnitom: at most so many stories (0: all)"),
        Option("seed", 1, "omnitom: seed of the intervals"),
    ),
)
