"""The plots of a parse, from the entrants of a report."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.matched_rows import METRICS
from benchmark.domain.tables.estimates import metric_of
from benchmark.suites.omnitom.analyses import BUCKETS, NO_CONFUSION, CountedLabels, Stage1Analyses, Stage2Analyses
from benchmark.suites.omnitom.kinds import KINDS
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.plots import (
    LabelCounts,
    VolumeRow,
    accuracy_by_dimension,
    by_kind,
    confusion,
    f1_by_category,
    label_distribution,
    match_counts,
    volume,
)
from benchmark.suites.omnitom.step_keys import STAGE1, STAGE2
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import finding_of, findings_of
from benchmark.suites.showing.missing import complete, missing_text, unjudged_text
from core.messages import clauses, gettext_noop


def without_bounds(entrants: Sequence[EntrantResults], group: str, parse: str) -> str:
    """Return what a picture of the rows that were read leaves out, where models left out unlike much; official figures
    count it as 0."""
    note = missing_text(entrants, group) if parse == "repaired" else ""
    return f"{note}; left out here, without bounds, as nobody knows what these answers hold" if note else ""


LINES_TAKE_THEM = "marks leave them out, lines take them as unmatched and as matched"


def _without_rows(entrants: Sequence[EntrantResults], group: str, parse: str, becomes: str) -> str:
    """Return what `without_bounds` says, and what becomes of rows that judges left out where they are unlike many."""
    note = unjudged_text(entrants) if parse == "repaired" and group == STAGE1 else ""
    return clauses(without_bounds(entrants, group, parse), note and clauses(note, becomes))


def by_category(entrants: Sequence[EntrantResults], parse: str) -> Plot:
    rows = [
        ModelRow(
            entrant.model,
            {category: metric_of(row, "f1") for category, row in entrant.parses.by_category(parse).items()},
        )
        for entrant in entrants
    ]
    return f1_by_category(rows, parse=parse)


def dimensions(entrants: Sequence[EntrantResults], parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    rows = []
    for entrant in entrants:
        overall = entrant.parses.overall(parse)
        values = {name: overall.value_of(scheme.share_of(name)) for name in scheme.keys}
        rows.append(ModelRow(entrant.model, values, overall.value_of("overall_accuracy")))
    drawn = accuracy_by_dimension(rows, parse=parse, bold_best=complete(entrants, parse), heads=scheme.shorts)
    return drawn.about(note=without_bounds(entrants, STAGE2, parse))


def extraction_by_kind(entrants: Sequence[EntrantResults], by: str, parse: str) -> Plot:
    return _by_kind(
        findings_of(entrants, parse, Stage1Analyses),
        by,
        parse,
        {"F1": "f1", "Precision": "precision", "Recall": "recall"},
        gettext_noop("Extraction"),
    )


def labelling_by_kind(entrants: Sequence[EntrantResults], by: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    heads = {"Overall": "overall", **{head: name for name, head in scheme.shorts.items()}}
    analysed = findings_of(entrants, parse, Stage2Analyses)
    return _by_kind(analysed, by, parse, heads, gettext_noop("Labelling accuracy"))


def _by_kind(
    analysed: Sequence[tuple[EntrantResults, Stage1Analyses | Stage2Analyses]],
    by: str,
    parse: str,
    panels: dict[str, str],
    score: str,
) -> Plot:
    panel_rows = {
        title: [
            ModelRow(entrant.model, {kind: analyses.kinds[kind][name] for kind in KINDS[by]})
            for entrant, analyses in analysed
        ]
        for title, name in panels.items()
    }
    group = STAGE1 if score == "Extraction" else STAGE2
    note = _without_rows([entrant for entrant, _ in analysed], group, parse, LINES_TAKE_THEM)
    return by_kind(panel_rows, by=by, score=score, parse=parse).about(note=note)


def volume_against_shares(entrants: Sequence[EntrantResults], parse: str) -> Plot:
    rows = []
    for entrant, analyses in findings_of(entrants, parse, Stage1Analyses):
        overall, a_story = entrant.parses.overall(parse), analyses.volume.predicted_per_story
        shares = {name: metric_of(overall, name) for name in METRICS}
        rows.append(VolumeRow(model=entrant.model, predicted_per_story=a_story, **shares))
    return volume(rows, parse=parse)


def counts_of_matches(entrants: Sequence[EntrantResults], parse: str) -> Plot:
    rows = {
        entrant.model: {name: analyses.match_counts.rows[name] for name in BUCKETS}
        for entrant, analyses in findings_of(entrants, parse, Stage1Analyses)
    }
    return match_counts(rows, parse=parse).about(note=_without_rows(entrants, STAGE1, parse, "left out here"))


def labels(entrant: EntrantResults, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    analyses = finding_of(entrant, parse, Stage2Analyses)
    tables = {name: _label_counts(analyses.labels[name]) for name in scheme.keys} if analyses else {}
    return label_distribution(tables, model=entrant.model, parse=parse, titles=scheme.titles)


def _label_counts(counts: CountedLabels) -> dict[str, LabelCounts]:
    in_gold, predicted = counts.in_gold, counts.in_answers
    reasons = _reasons(counts)
    return {
        label: LabelCounts(
            gold=in_gold.gold[at],
            predicted=predicted.predicted[at],
            gold_interval=in_gold.gold_ends[at],
            interval=predicted.ends[at],
            reason=reasons[at],
        )
        for at, label in enumerate(counts.labels)
    }


def _reasons(counts: CountedLabels) -> list[str]:
    """Return why a predicted or a gold share has no interval."""
    sides = counts.in_answers.reasons, counts.in_gold.gold_reasons
    return [why or other for why, other in zip(*sides, strict=True)]


def confusion_of(entrant: EntrantResults, dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    analyses = finding_of(entrant, parse, Stage2Analyses)
    counts = analyses.confusion[dimension] if analyses else NO_CONFUSION
    table = {
        gold: dict(zip(counts.said, rows, strict=True)) for gold, rows in zip(counts.gold, counts.rows, strict=True)
    }
    return confusion(table, dimension=dimension, model=entrant.model, parse=parse, titles=scheme.titles)
