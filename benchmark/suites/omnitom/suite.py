"""The suite OmniToM."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from annotation.domain.schema import Schema
from benchmark.controls.contract import Controllable
from benchmark.suites.contract import Asking, Gold, ItemPages, Released, Results, Suite, Texts
from benchmark.suites.groups import STRUCTURE, MetricGroup
from benchmark.suites.omnitom import items
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2, TEXT, cell_labels
from benchmark.suites.omnitom.items import RECOVERED, item, lines, rows_by
from benchmark.suites.omnitom.judging import LEXICAL, judge_of
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, OMNITOM_SCHEME, SCHEMA, Scheme, scheme_of
from benchmark.suites.omnitom.measure import by_chance, by_majority, labels_stated, matches_stated, measure, scores
from benchmark.suites.omnitom.methods import judge_sees, methods
from benchmark.suites.omnitom.people import people_measured
from benchmark.suites.omnitom.plots import pictures
from benchmark.suites.omnitom.prompting.offered import prompting_of
from benchmark.suites.omnitom.prompting.requests import MAX_TOKENS
from benchmark.suites.omnitom.released import PARSERS, exchange, score_answers
from benchmark.suites.omnitom.results import STAGE1_SHARES
from benchmark.suites.omnitom.schemas import Keys, unfit
from benchmark.suites.omnitom.settings import PROMPT_SET, SETTINGS
from benchmark.suites.omnitom.steps import SIZES, STEPS, expected, parse, request
from benchmark.suites.omnitom.tables import PUBLISHED, SECTIONS, explorer_of, sections_of, tables
from benchmark.suites.registry import named_by
from benchmark.suites.settings import Option
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, gettext_noop

EXTRACTION = MetricGroup(
    key=STAGE1,
    title=gettext_noop("Stage 1: extraction"),
    noun=gettext_noop("extraction"),
    shares=STAGE1_SHARES,
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
        (
            gettext_noop(
                "F1 is the mean over stories; F1, categories is the mean of the categories' means, which the paper's "
                "table prints as overall."
            )
        ),
    ),
    tells=STRUCTURE,
    finer=RECOVERED,
    says=matches_stated,
)


def _labelling(scheme: Scheme) -> MetricGroup:
    shares = {key: scheme.share_of(key) for key in scheme.keys}
    return MetricGroup(
        key=STAGE2,
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
        finer=items.labelled_by(scheme),
    )


LABELLING = _labelling(OMNITOM_SCHEME)

_NO_STORY = gettext_noop("Without a story there is nothing to extract.")
CONTROLS = Controllable(
    story="story",
    texts=("content.story", "gold.beliefs.*.actor", "gold.beliefs.*.belief"),
    actors=lambda sample: [belief["actor"] for belief in sample.gold["beliefs"]],
    senseless={"storyless": dict.fromkeys((EXTRACT, JUDGE), _NO_STORY)},
)


def labelled_by(schema: Schema) -> Suite:
    """Return the suite for gold of a schema: OmniToM's own, or one that asks about, reads, counts and shows that
    schema's dimensions."""
    scheme = scheme_of(schema)
    return SUITE if scheme.official else _of_schema(scheme)


def _of_schema(scheme: Scheme) -> Suite:
    """Return the suite of dimensions that the released code does not know: without official parses, a folder, or files
    of answers to score."""
    schema = scheme.schema
    groups = tuple(replace(group, key=named_by(group.key, schema)) for group in (EXTRACTION, _labelling(scheme)))
    keys = Keys({group.key: renamed.key for group, renamed in zip((EXTRACTION, LABELLING), groups, strict=True)})
    explorer, prompting = explorer_of(scheme), prompting_of(schema)
    return replace(
        SUITE,
        name=named_by(SUITE.name, schema),
        gold=replace(
            SUITE.gold,
            family=SUITE.name,
            unfit=partial(unfit, schema),
            schema=schema,
            people=groups[1].key,
            people_measured=keys.of_person(people_measured),
        ),
        title=Sentence("{suite}, labelled by {reference}", suite=SUITE.title, reference=schema.reference),
        groups=groups,
        results=replace(
            SUITE.results,
            main=tuple(group.key for group in groups),
            methods=keys.of_methods(partial(methods, scheme)),
            tables=keys.of_outputs(partial(tables, scheme)),
            pictures=keys.of_outputs(partial(pictures, scheme)),
            published=(),
            sections=sections_of(scheme, keys.renamed),
            explorer=replace(explorer, choices=keys.chosen(explorer.choices)),
        ),
        measure=keys.measured(measure),
        released=replace(
            SUITE.released, summary=keys.summed(scores), score=None, parsers={}, exchange=None, options=()
        ),
        settings=tuple(
            replace(setting, default=prompting.names[-1]) if setting is PROMPT_SET else setting for setting in SETTINGS
        ),
        prompting=prompting,
        methods=keys.of_methods(partial(methods, scheme)),
        tables=keys.of_outputs(partial(tables, scheme)),
        pictures=keys.of_outputs(partial(pictures, scheme)),
        published=(),
        sections=sections_of(keys.renamed),
        explorer=replace(explorer, choices=keys.chosen(explorer.choices)),
        rows=rows_by(scheme),
        judge=judge_of(scheme),
        score=None,
        parsers={},
        exchange=None,
        options=(),
    )


SUITE = Suite(
    name="omnitom",
    title=gettext_noop("OmniToM"),
    steps=STEPS,
    groups=(EXTRACTION, LABELLING),
    results=Results(
        main=(EXTRACTION.key, LABELLING.key),
        methods=partial(methods, OMNITOM_SCHEME),
        dependent=gettext_noop("the propositions of one story"),
        tables=partial(tables, OMNITOM_SCHEME),
        pictures=partial(pictures, OMNITOM_SCHEME),
        published=PUBLISHED,
        sections=SECTIONS,
        explorer=explorer_of(OMNITOM_SCHEME),
        categories=TASKS,
        category_noun=gettext_noop("story category"),
    ),
    request=request,
    parse=parse,
    measure=measure,
    released=Released(
        summary=scores,
        score=score_answers,
        parsers=PARSERS,
        exchange=exchange,
        options=(
            Option("story_ids", "", "omnitom: the stories to score, such as 1,4-7 (default: those with answers)"),
            Option("max_stories", 0, "omnitom: at most so many stories (0: all)"),
            Option("seed", 1, "omnitom: seed of the intervals"),
        ),
    ),
    expected=expected,
    texts=Texts(
        told_by=("story",),
        story="story",
    ),
    gold=Gold(
        unfit=partial(unfit, SCHEMA),
        schema=SCHEMA,
        labelled_by=labelled_by,
        people=LABELLING.key,
        people_measured=people_measured,
        labels=cell_labels,
        answer_writers=(TEXT,),
    ),
    noun=(gettext_noop("story"), gettext_noop("stories")),
    settings=SETTINGS,
    asking=Asking(
        max_tokens=MAX_TOKENS,
        temperature=gettext_noop("0, as published"),
        prompting=prompting_of(SCHEMA),
        sizes=SIZES,
        baselines=(LEXICAL,),
    ),
    judge=replace(judge_of(OMNITOM_SCHEME), sees=judge_sees),
    controls=CONTROLS,
    items=ItemPages(
        item=item,
        template="omnitom/item.html",
        below="omnitom/items/story.html",
        lines=lines,
        note=gettext_noop(
            "Scores: F1 of judging, mean accuracy of labelling; an extraction is scored by its judgement."
        ),
        rows=rows_by(OMNITOM_SCHEME),
    ),
)
