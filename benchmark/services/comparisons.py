"""Two entrants on the stories of one dataset version: mean differences with Holm's correction over the table, and story
by story; and their answers to one story.

A line of two answers is {about, part, gold, cells, differs}, with a cell for each side: {official, repaired, right,
officially_right, note, apart}. `apart` says that the official parse has something else or another verdict.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace

from annotation.models import Project
from benchmark.domain.inference import Cases, PairedDifference, adjusted, caution_text, fewest_units, paired_differences
from benchmark.models import Run, RunItem, StoryScores
from benchmark.services.item_detail import asked_of, lines_on_page, sample_of, shortened, texts_of
from benchmark.services.items import state_of
from benchmark.services.leaderboards import SEED, Selection, entrants_of
from benchmark.services.reports import reports_of
from benchmark.suites.contract import Suite
from benchmark.suites.figures import cases_by_story, categories_of, clusters_of, columns_of, lacking, scores_by_story
from benchmark.suites.groups import MetricGroup
from benchmark.suites.items import ReadLine
from benchmark.suites.questions import Columns
from benchmark.suites.registry import group_named, group_suite, keys_of, nouns_of_group, suite_named, units_of_group
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import label
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import differing_sentences, rows_text, shares_text
from core.kept import kept_as
from core.messages import Sentence, clauses, gettext_noop, labelled, word
from core.plain import NOT_KEPT, Json
from core.statistics import mean_of, method
from judge.domain.corrections import CorrectedComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMetric(PairedDifference):
    """The metric `key` over all stories or those of one category: the means of both and their difference. `what` names
    the row."""

    what: str
    key: str
    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two entrants on the same stories. Differences are first minus second, missing answers at their worst."""

    first: str
    second: str
    group: str
    parse: str
    rows: Sequence[ComparedMetric]
    stories: Sequence[Json]
    """{number, category, first, second, difference} of each story, scores None where there is none: the largest
    difference first, stories that lack a score last."""
    n: int
    method: str
    tests: int
    """The number of rows with a test."""
    differ: str = ""
    """The settings in which the two differ."""
    split: str = ""
    selection: str = ""
    """The key and the label of the selection. Both are "" for all stories."""
    lead: Sequence[str] = ()
    """Who was not asked about all of the stories, and how the two differ in what is missing."""
    judge_tests: Sequence[str] = ()
    """The results of the self-tests of their judges."""
    corrected: CorrectedComparison | None = None
    """The same without the judge's error. None if nothing can be corrected, and for a reader who may not know."""
    withheld: int = field(default=0, metadata=NOT_KEPT)
    """The number of stories that wait for the work of the reader."""


RUN_DELETED = gettext_noop("A run of the two was deleted; snapshots of comparisons with it stay as they are.")
ALIKE = {
    "dataset_id": gettext_noop("The two ran on different versions of the dataset, so their samples and gold differ."),
    "answer_format": gettext_noop(
        "One answered in free text, the other in structured output; the two are never compared."
    ),
    "control": gettext_noop(
        "The two were asked under different controls, or one of them as published; the report of a run pairs it with "
        "its own controls."
    ),
    "suite": gettext_noop("The two ran under different suites, which measure different things."),
}
"""Fields of runs that two have to share, with the refusal if they do not."""


class NotComparable(ValueError):
    """Two entrants that cannot be compared. Its text says why in one sentence."""


class NotChosen(NotComparable):
    """No two entrants to be compared were named."""


def pair_of(project: Project, first: str, second: str) -> tuple[list[Run], dict[str, list[EntrantResults]]]:
    """Return (the two runs, both entrants by each metric group that both have) of two keys `<run>.<entrant>`. Raises
    NotComparable, and NotChosen where a key is empty."""
    if not (first and second):
        raise NotChosen(
            gettext_noop("Choose two models on the leaderboard, under “Compare two”; a run's page compares its own.")
        )
    uids = [uid for key in (first, second) if (uid := key.partition(".")[0]).isalnum()]
    chosen_runs = Run.objects.filter(project=project, uid__in=uids).select_related("dataset", "judge")
    runs = {run.uid: run for run in chosen_runs.prefetch_related("entrants")}
    if len(uids) < 2 or not all(uid in runs for uid in uids) or first == second:
        gone = Run.with_deleted.filter(project=project, uid__in=uids, deleted_at__isnull=False).exists()
        raise NotComparable(
            RUN_DELETED if gone else gettext_noop("Choose two different entrants of this project's runs.")
        )
    first_run, second_run = (runs[uid] for uid in uids)
    for name, refusal in ALIKE.items():
        if getattr(first_run, name) != getattr(second_run, name):
            raise NotComparable(refusal)
    reports = reports_of(list(runs.values()))
    pairs = {}
    for group in keys_of(first_run.suite):
        by_key = {entrant.key: entrant for entrant in entrants_of(list(runs.values()), reports, group)}
        if first in by_key and second in by_key:
            pairs[group], _ = label([by_key[first], by_key[second]])
    if not pairs:
        raise NotComparable(gettext_noop("The two have no metric group in common, or no figures yet."))
    return [first_run, second_run], pairs


def why_unreadable(
    entrants: Sequence[EntrantResults], group: str, parse: str, selection: Selection | None = None
) -> str:
    """Return why one of the two has no figures of a parse, over the selection if there is one, in a sentence. Returns
    "" if both have."""
    for entrant in entrants:
        if entrant.parses.of(parse):
            continue
        why = entrant.metrics.reason or gettext_noop("It has none.")
        if selection:
            kept = StoryScores.objects.get(pk=entrant.scores).metrics
            if columns := columns_of(kept.get(group), parse):
                why = lacking(columns, selection.stories)
        if why:
            return Sentence("{model} has no {parse} figures. {why}", model=entrant.model, parse=word(parse), why=why)
    return ""


def compare(
    entrants: Sequence[EntrantResults], group: str, parse: str, selection: Selection | None = None
) -> Comparison:
    """Return the comparison, cached by the scores of both entrants. Raises NotComparable."""
    if why := why_unreadable(entrants, group, parse, selection):
        raise NotComparable(why)
    how = method(seed=SEED, unit=units_of_group(group))
    over = [selection.key, selection.label, sorted(selection.stories)] if selection else None
    sides = [[entrant.scores, entrant.model, entrant.own] for entrant in entrants]
    versions = [sides, group, parse, how, over]
    comparison = kept_as("comparison", versions, lambda: _compare(entrants, group, parse, selection))
    return replace(comparison, judge_tests=notes_of(entrants))


def _compare(entrants: Sequence[EntrantResults], group: str, parse: str, selection: Selection | None) -> Comparison:
    rows = StoryScores.objects.filter(pk__in=[entrant.scores for entrant in entrants])
    scores = dict(rows.values_list("pk", "metrics"))
    sides, repaired = (
        [columns for entrant in entrants if (columns := columns_of(scores[entrant.scores].get(group), name))]
        for name in (parse, "repaired")
    )
    categories = categories_of(sides[0]) | categories_of(sides[1])
    if selection:
        categories = {number: name for number, name in categories.items() if number in selection.stories}
        if not categories:
            raise NotComparable(
                Sentence(
                    "The two have no {group} in common with {selection}.",
                    group=nouns_of_group(group)[0],
                    selection=selection.label,
                )
            )
    of_both = {*sides[0].stories} & {*sides[1].stories}
    asked_both = {number: category for number, category in categories.items() if number in of_both}
    compared, unit = _rows(sides, asked_both, group), units_of_group(group)
    tests = sum(row.p is not None for row in compared)
    how = Sentence(
        "missing answers at their worst; {method}; two-sided sign-flip test over {unit}; Holm's correction over the "
        "{tests} tests of this table alone, not over all pairs of models as on the leaderboard",
        method=method(seed=SEED, unit=unit),
        unit=word(unit),
        tests=tests,
    )
    asked = selection.stories if selection else set(categories)
    return Comparison(
        first=entrants[0].model,
        second=entrants[1].model,
        group=group,
        parse=parse,
        rows=compared,
        stories=_stories(sides, categories, group),
        n=compared[0].n,
        tests=tests,
        method=clauses(how, caution_text(fewest_units(compared), unit)),
        differ=clauses(*(labelled(entrant.model, entrant.own) for entrant in entrants if entrant.own)),
        split=selection.key if selection else "",
        selection=selection.label if selection else "",
        lead=[
            *_not_asked(entrants, repaired, group, asked, len(asked_both)),
            *_unlike_missing(entrants, repaired, group, set(asked_both)),
        ],
    )


def _not_asked(
    entrants: Sequence[EntrantResults], sides: Sequence[Columns], group: str, stories: Set[int], both: int
) -> list[str]:
    """Say who was not asked about some of the stories, as only those of both are compared."""
    nouns, parts = suite_named(group_suite(group)).noun[1], []
    for entrant, columns in zip(entrants, sides, strict=True):
        if lacks := len(stories - set(columns.stories)):
            how = gettext_noop("has not labelled") if entrant.kind == "person" else gettext_noop("was not asked about")
            counts = {"lacks": f"{lacks:,}", "stories": f"{len(stories):,}", "nouns": word(nouns)}
            text = gettext_noop("{model} {how} {lacks} of the {stories} {nouns}")
            parts.append(Sentence(text, model=entrant.model, how=how, **counts))
    text = gettext_noop("{sentences}: only the {both} that both have are compared.")
    return [Sentence(text, sentences=" and ".join(parts), both=f"{both:,}")] if parts else []


def _unlike_missing(
    entrants: Sequence[EntrantResults], sides: Sequence[Columns], group: str, stories: Set[int]
) -> list[str]:
    """Say how models differ in what is missing of the compared stories."""
    if any(entrant.kind == "person" for entrant in entrants):
        return []
    shares, rows = {}, {}
    for entrant, columns in zip(entrants, sides, strict=True):
        cases = cases_by_story(columns, group_named(group).score)
        asked = [case for number, case in cases.items() if case and number in stories]
        shares[entrant.model] = sum(case.answered is None for case in asked) / len(asked) if asked else 0.0
        unjudged = columns.unjudged.items()
        rows[entrant.model] = sum(sum(counts) for number, counts in unjudged if int(number) in stories)
    parts = shares_text(shares, nouns_of_group(group)[1]), rows_text(rows)
    return differing_sentences(parts, gettext_noop("The differences count them at their worst."))


def _rows(sides: Sequence[Columns], categories: Mapping[int, str], group: str) -> list[ComparedMetric]:
    """Return all measures over all stories, then the score by category of the stories that count for it. One category
    alone would be all stories again."""
    headers, score, unit = group_named(group).headers, group_named(group).score, units_of_group(group)
    names = [name for name in headers if name in sides[0].values]
    cases = {name: [cases_by_story(columns, name) for columns in sides] for name in (*names, score)}
    counted = {name for story, name in categories.items() if all(side.get(story) for side in cases[score])}
    parts: list[tuple[str, str | None]] = [(name, None) for name in names]
    parts += [(score, category) for category in sorted(counted) if len(counted) > 1]
    clusters, rows = clusters_of(sides[0]) | clusters_of(sides[1]), []
    for name, category in parts:
        stories = {story for story, own in categories.items() if category in (None, own)}
        both = Cases.of(dict(zip(("first", "second"), cases[name], strict=True)), stories, clusters)
        [pair] = paired_differences(both, seed=SEED, tests=len(parts), unit=unit)
        tested = {field.name: getattr(pair, field.name) for field in fields(PairedDifference)}
        first, second = (float(mean) if both.stories else None for mean in mean_of(both.worst))
        means = {"first": first, "second": second, "category": category or ""}
        rows.append(ComparedMetric(what=category or headers[name], key=name, **tested | means))
    return adjusted(rows)


def _stories(sides: Sequence[Columns], categories: Mapping[int, str], group: str) -> list[Json]:
    """Return the stories that count for the score of either side."""
    score = group_named(group).score
    cases = [cases_by_story(columns, score) for columns in sides]
    scores = [scores_by_story(columns, score) for columns in sides]
    rows: list[Json] = []
    for number, category in categories.items():
        if any(side.get(number) for side in cases):
            first, second = (side.get(number) for side in scores)
            difference = None if first is None or second is None else first - second
            both = {"first": first, "second": second, "difference": difference}
            rows.append({"number": number, "category": category, **both})
    return sorted(rows, key=lambda row: (row["difference"] is None, -abs(row["difference"] or 0), row["number"]))


def items_behind(entrants: Sequence[EntrantResults], group: str, numbers: Sequence[int]) -> dict[tuple[str, int], int]:
    """Return {(entrant key, story number): the id of the item behind a figure}."""
    keys = {entrant.entrant: entrant.key for entrant in entrants if entrant.entrant}
    items = RunItem.objects.filter(entrant__in=keys, step=group_named(group).scored, sample__number__in=numbers)
    rows = items.values_list("entrant_id", "sample__number", "pk")
    return {(keys[entrant], number): pk for entrant, number, pk in rows}


# --- answers to one story
Item = RunItem | None


def items_of(pair: Sequence[EntrantResults], number: int, suite: Suite) -> dict[str, list[Item]]:
    """Return the items of both sides about a story by step, in the first repetition. Steps without an item are left
    out."""
    rows = RunItem.objects.filter(
        entrant__in=[entrant.entrant for entrant in pair if entrant.entrant], sample__number=number, repetition=0
    ).select_related("sample", "call", "item", "entrant__endpoint", "entrant__run__dataset", "entrant__run__project")
    items = {(item.step, item.entrant_id): item for item in rows}
    sides = {step.key: [items.get((step.key, entrant.entrant or 0)) for entrant in pair] for step in suite.steps}
    return {step: of_step for step, of_step in sides.items() if any(of_step)}


def side_by_side(items: Sequence[Item], closed: Set[int], *, only: bool) -> Json:
    """Return two items of one step: the `prompts`, one if both were asked alike, the `sides` with their answers, and
    the `lines` of both parses, with `only` those that differ."""
    sides: list[Json] = []
    for item in items:
        if item is None:
            sides.append({"item": None, "asked": (), "lines": (), "failed": ""})
            continue
        call = item.call or (item.item.call if item.item else None)
        own_lines, failed = lines_on_page(item)
        asked = asked_of(call, texts_of(item.entrant.run.dataset, closed))
        answer = shortened(call.answer) if call and call.answer else None
        side = {"item": item, "state": state_of(item), "asked": asked, "answer": answer}
        sides.append(side | {"lines": own_lines, "failed": failed})
    prompts = [side["asked"] for side in sides if side["asked"]]
    same = all(prompt == prompts[0] for prompt in prompts)
    lines = paired([side["lines"] for side in sides])
    shown = [line for line in lines if line["differs"] or not only]
    for line, above in zip(shown[1:], shown, strict=False):
        line["again"] = line["about"] == above["about"]
    return {
        "prompts": prompts[:1] if same else prompts,
        "same_prompt": same,
        "sides": sides,
        "lines": shown,
        "count": len(lines),
        "differing": sum(line["differs"] for line in lines),
        "failed": list(dict.fromkeys(side["failed"] for side in sides if side["failed"])),
    }


def paired(sides: Sequence[Sequence[ReadLine]]) -> list[Json]:
    """Return each line of either side, in the order of the first."""
    by_place = [{(line.about, line.part): line for line in reversed(lines)} for lines in sides]
    rows = []
    for about, part in dict.fromkeys((line.about, line.part) for lines in sides for line in lines):
        lines = [of_side.get((about, part), ReadLine("")) for of_side in by_place]
        gold = next((line.gold for line in lines if line.gold is not None), None)
        verdicts = {(line.official, line.repaired, line.right, line.officially_right) for line in lines}
        cells = []
        for line in lines:
            apart = (line.official, line.officially_right) != (line.repaired, line.right)
            names = ("official", "repaired", "right", "officially_right", "note")
            cell = {name: getattr(line, name) for name in names}
            cells.append(cell | {"apart": line.official is not None and apart})
        rows.append({"about": about, "part": part, "gold": gold, "cells": cells, "differs": len(verdicts) > 1})
    return rows


def set_beside(
    pair: Sequence[EntrantResults], items: Sequence[Item], group: MetricGroup, closed: Set[int]
) -> list[Json]:
    """Return a line for each question of the item's set, with its `number`, whether it is shown `here` and whether it
    `counts`. Returns nothing if the metric group counts no sets or an answer has several lines."""
    here = next(item for item in items if item)
    if group.unit is None or not here.sample.group:
        return []
    ids = [entrant.entrant for entrant in pair if entrant.entrant]
    rows = RunItem.objects.filter(
        entrant__in=ids, step=here.step, repetition=0,
        sample__group=here.sample.group, sample__dataset=here.sample.dataset_id,
    ).exclude(sample__number__in=closed)  # fmt: skip
    by_number: dict[int, dict[int, RunItem]] = {}
    for item in rows.select_related("sample", "call", "entrant__run__dataset").order_by("sample__number"):
        by_number.setdefault(item.sample.number, {})[item.entrant_id] = item
    questions = []
    for number, by_entrant in by_number.items():
        sides = [lines_on_page(by_entrant[pk])[0] if pk in by_entrant else [] for pk in ids]
        if not any(sides) or any(len(lines) > 1 for lines in sides):
            return []
        [line] = paired(sides)
        sample = sample_of(next(iter(by_entrant.values())))
        counts = group.counts is None or group.counts(sample)
        questions.append(line | {"number": number, "here": number == here.sample.number, "counts": counts})
    return questions if len(questions) > 1 else []


def numbers_around(pair: Sequence[EntrantResults], number: int, closed: Set[int]) -> tuple[int | None, int | None]:
    """Return the numbers of the open stories before and after this one that both were asked about."""
    both = frozenset.intersection(*(frozenset(entrant.numbers) for entrant in pair)) - closed
    before = max((other for other in both if other < number), default=None)
    return before, min((other for other in both if other > number), default=None)
