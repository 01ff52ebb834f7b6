"""The suite OmniToM."""

from dataclasses import replace
from functools import partial

from annotation.domain.schema import Schema
from benchmark.controls.contract import Controllable
from benchmark.domain.matched_rows import METRICS
from benchmark.suites.contract import Asking, Gold, ItemPages, Released, Results, Suite, Texts
from benchmark.suites.groups import STRUCTURE, MetricGroup
from benchmark.suites.omnitom.analyses import ILLEGAL, MISSING
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2, TEXT, cell_labels
from benchmark.suites.omnitom.items import RECOVERED, item, lines, rows_by
from benchmark.suites.omnitom.items import labelled_by as labelled_by_scheme
from benchmark.suites.omnitom.judgements import NOTHING
from benchmark.suites.omnitom.judging import BY_ROLE, JUDGED, LEXICAL
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, OMNITOM_SCHEME, Scheme, bare, scheme_of
from benchmark.suites.omnitom.measure import by_chance, by_majority, labels_stated, matches_stated, measure, scores
from benchmark.suites.omnitom.methods import methods
from benchmark.suites.omnitom.people import people_measured
from benchmark.suites.omnitom.plots import pictures
from benchmark.suites.omnitom.prompting.offered import prompting_of
from benchmark.suites.omnitom.prompting.requests import MAX_TOKENS
from benchmark.suites.omnitom.released import PARSERS, exchange, score_answers
from benchmark.suites.omnitom.settings import PROMPT_SET, SETTINGS
from benchmark.suites.omnitom.steps import STEPS, expected, parse, request
from benchmark.suites.omnitom.tables import PUBLISHED, explorer_of, sections_of, tables
from benchmark.suites.questions import Resources
from benchmark.suites.settings import Option
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, gettext_noop


def _extraction(scheme: Scheme) -> MetricGroup:
    return MetricGroup(
        key=scheme.group(STAGE1),
        title=gettext_noop("Stage 1: extraction"),
        noun=gettext_noop("extraction"),
        shares=METRICS,
        headers={
            "precision": gettext_noop("Precision"),
            "recall": gettext_noop("Recall"),
            "f1": "F1",
            "f1_category_mean": gettext_noop("F1, categories"),
        },
        score="f1",
        score_title=gettext_noop("F1 of extraction"),
        prompt=EXTRACT,
        rests_on=(EXTRACT, JUDGE),
        scored=JUDGE,
        judged=True,
        category_mean="f1",
        notes=(
            gettext_noop(
                "F1 is the mean over stories; F1, categories is the mean of the categories' means, which the paper's "
                "table prints as overall."
            ),
        ),
        tells=STRUCTURE,
        finer=RECOVERED,
        says=matches_stated,
    )


def _labelling(scheme: Scheme) -> MetricGroup:
    shares = {key: scheme.share_of(key) for key in scheme.keys}
    return MetricGroup(
        key=scheme.group(STAGE2),
        title=gettext_noop("Stage 2: labelling"),
        noun=gettext_noop("labelling"),
        shares=scheme.shares,
        headers={
            ALL_DIMENSIONS: gettext_noop("Overall"),
            **{share: scheme.shorts[key] for key, share in shares.items()},
        },
        score=ALL_DIMENSIONS,
        score_title=gettext_noop("Accuracy of labelling"),
        prompt=LABEL,
        rests_on=(LABEL,),
        scored=LABEL,
        measured_in={share: {"dimension": key} for key, share in shares.items()},
        tells=STRUCTURE,
        chance=partial(by_chance, scheme),
        majority=partial(by_majority, scheme),
        says=labels_stated,
        finer=labelled_by_scheme(scheme),
    )


_NO_STORY = gettext_noop("Without a story there is nothing to extract.")
CONTROLS = Controllable(
    story="story",
    texts=("content.story", "gold.beliefs.*.actor", "gold.beliefs.*.belief"),
    actors=lambda sample: [belief["actor"] for belief in sample.gold["beliefs"]],
    senseless={"storyless": dict.fromkeys((EXTRACT, JUDGE), _NO_STORY)},
)


TAKEN_KEYS = ("id", "count")
"""Names of other fields and columns of answers."""
TAKEN_LABELS = (MISSING, ILLEGAL, "gold", "model", "total")
"""Names of other columns and rows of tables beside labels."""


def unfit(schema: Schema, resources: Resources) -> str:
    """Return what is wrong with gold that a suite for this schema is to ask about, as the end of a sentence about it;
    empty where it can."""
    theirs = resources.schema
    if theirs != schema:
        return (
            f"is labelled by {theirs.reference}; expected gold labelled by {schema.reference}, whose dimensions "
            f"a run measures."
        )
    names, labelled = [bare(key) for key in schema.keys], f"is labelled by {schema.reference}, whose dimension"
    for key, name in zip(schema.keys, names, strict=True):
        if key in TAKEN_KEYS:
            return f"{labelled} {key} has the name of another column of answers; expected another key."
        if names.count(name) > 1:
            return (
                f"{labelled} {key} differs from another one in digits and low lines alone, which answers leave out; "
                f"expected keys of other letters."
            )
        for value in schema[key].values:
            if value in TAKEN_LABELS:
                return (
                    f"{labelled} {key} has the label {value!r}, the name of another column of tables; expected "
                    f"another label."
                )
            if "|" in value:
                return (
                    f"{labelled} {key} has the label {value!r}, which no cell of a table with pipes can hold; expected "
                    f"one without."
                )
    return ""


def labelled_by(schema: Schema) -> Suite:
    """Return the suite for gold of a schema: OmniToM's own, or one that asks about, reads, counts and shows that
    schema's dimensions."""
    scheme = scheme_of(schema)
    return SUITE if scheme.official else suite_of(scheme)


def suite_of(scheme: Scheme) -> Suite:
    """Return the suite of a scheme. The released code does not know the dimensions of other schemas than OmniToM's:
    their suites have no official parses, no folder of the released runner and no files of answers to score."""
    schema, groups, prompting = scheme.schema, (_extraction(scheme), _labelling(scheme)), prompting_of(scheme.schema)
    title, official = gettext_noop("OmniToM"), scheme.official
    released = Released(summary=scores)
    if official:
        released = Released(
            summary=scores,
            score=score_answers,
            parsers=PARSERS,
            exchange=exchange,
            options=(
                Option("story_ids", "", "omnitom: the stories to score, such as 1,4-7 (default: those with answers)"),
                Option("max_stories", 0, "omnitom: at most so many stories (0: all)"),
                Option("seed", 1, "omnitom: seed of the intervals"),
            ),
        )
    named = Sentence("{suite}, labelled by {reference}", suite=title, reference=schema.reference)
    return Suite(
        name=scheme.group("omnitom"),
        title=title if official else named,
        noun=(gettext_noop("story"), gettext_noop("stories")),
        steps=STEPS,
        groups=groups,
        request=request,
        parse=parse,
        measure=measure,
        expected=expected,
        texts=Texts(told_by=("story",), story="story"),
        gold=Gold(
            family="" if official else "omnitom",
            unfit=partial(unfit, schema),
            schema=schema,
            labelled_by=labelled_by,
            people=groups[1].key,
            people_measured=people_measured,
            labels=cell_labels,
            answer_writers=(TEXT,),
        ),
        settings=tuple(
            replace(setting, default=prompting.names[-1]) if setting is PROMPT_SET else setting for setting in SETTINGS
        ),
        asking=Asking(
            max_tokens=MAX_TOKENS,
            temperature=gettext_noop("0, as published"),
            prompting=prompting,
            estimated_with={"settle": NOTHING},
            baselines=(LEXICAL,),
        ),
        judge=JUDGED if scheme.ordered else replace(JUDGED, groupings=(BY_ROLE,)),  # rows have no order
        controls=CONTROLS,
        released=released,
        results=Results(
            main=tuple(group.key for group in groups),
            methods=partial(methods, scheme),
            dependent=gettext_noop("the propositions of one story"),
            tables=partial(tables, scheme),
            pictures=partial(pictures, scheme),
            published=PUBLISHED if official else (),
            sections=sections_of(scheme),
            explorer=explorer_of(scheme),
            categories=TASKS,
            category_noun=gettext_noop("story category"),
        ),
        items=ItemPages(
            item=item,
            template="omnitom/item.html",
            below="omnitom/items/story.html",
            lines=lines,
            note=gettext_noop(
                "Scores: F1 of judging, mean accuracy of labelling; an extraction is scored by its judgement."
            ),
            rows=rows_by(scheme),
        ),
    )


SUITE = suite_of(OMNITOM_SCHEME)
