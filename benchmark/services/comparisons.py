"""Two entrants on the stories of one dataset version: mean differences with Holm's correction over the table, and story
by story."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace

from annotation.models import Project
from benchmark.domain.inference import (
    Case,
    Cases,
    PairedDifference,
    adjusted,
    caution_text,
    fewest_units,
    paired_differences,
)
from benchmark.models import Run, RunItem, StoryScores
from benchmark.services.calibration import calibration
from benchmark.services.leaderboards import SEED, entrants_of
from benchmark.services.reports import reports_of
from benchmark.services.selections import Selection
from benchmark.suites.figures import (
    KeptScores,
    cases_by_story,
    categories_of,
    clusters_of,
    lacking,
    scores_by_story,
)
from benchmark.suites.questions import Columns
from benchmark.suites.registry import group_named, group_suite, keys_of, nouns_of_group, suite_named, units_of_group
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import label
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import differing_sentences, rows_text, shares_text
from core.kept import kept_as
from core.messages import Sentence, clauses, gettext_noop, labelled, word
from core.plain import NOT_KEPT
from core.statistics import mean_of, method
from judge.domain.corrections import CorrectedComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMetric(PairedDifference):
    """A metric of two entrants over all stories or those of one category: the means of both, `first` and `second`, None
    without a story, and their difference. `what` names the row, `key` is the metric's."""

    what: str
    key: str
    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class ComparedStory:
    """The scores of both on a story, None where one has none, and their difference."""

    number: int
    category: str
    first: float | None
    second: float | None
    difference: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two entrants on the same stories. Differences are first minus second, missing answers at their worst, over all
    stories or those of a selection, whose key is `split` and whose label is `selection`.

    `differ` says in which settings the two differ, `lead` who was not asked about all of the stories and how the two
    differ in what is missing, `judge_tests` what the self-tests of their judges came to. Of the stories the largest
    difference is first, and those that lack a score are last. `tests` is how many rows have one. `corrected` is the
    same without the judge's error, None where nothing can be corrected and for who may not know. `withheld` counts the
    stories that wait for the work of who reads it.
    """

    first: str
    second: str
    group: str
    parse: str
    rows: Sequence[ComparedMetric]
    stories: Sequence[ComparedStory]
    n: int
    method: str
    tests: int
    differ: str = ""
    split: str = ""
    selection: str = ""
    lead: Sequence[str] = ()
    judge_tests: Sequence[str] = ()
    corrected: CorrectedComparison | None = None
    withheld: int = field(default=0, metadata=NOT_KEPT)


NONE = gettext_noop("It has none.")
RUN_DELETED = gettext_noop("A run of the two was deleted; snapshots of comparisons with it stay as they are.")


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
    if first_run.dataset_id != second_run.dataset_id:
        raise NotComparable(
            gettext_noop("The two ran on different versions of the dataset, so their samples and gold differ.")
        )
    if first_run.answer_format != second_run.answer_format:
        raise NotComparable(
            gettext_noop("One answered in free text, the other in structured output; the two are never compared.")
        )
    if first_run.control != second_run.control:
        raise NotComparable(
            gettext_noop(
                "The two were asked under different controls, or one of them as published; the report of a run "
                "pairs it with its own controls."
            )
        )
    if first_run.suite != second_run.suite:
        raise NotComparable(gettext_noop("The two ran under different suites, which measure different things."))
    reports = reports_of(list(runs.values()))
    entrants_by_group = {}
    for group in keys_of(first_run.suite):
        by_key = {entrant.key: entrant for entrant in entrants_of(list(runs.values()), reports, group)}
        if first in by_key and second in by_key:
            entrants_by_group[group], _ = label([by_key[first], by_key[second]])
    if not entrants_by_group:
        raise NotComparable(gettext_noop("The two have no metric group in common, or no figures yet."))
    return [first_run, second_run], entrants_by_group


def why_unreadable(
    entrants: Sequence[EntrantResults], group: str, parse: str, selection: Selection | None = None
) -> str:
    """Return why one of the two has no figures of a parse, over the selection where there is one, in a sentence;
    empty where both have."""
    for entrant in entrants:
        if why := _why_unreadable(entrant, group, parse, selection):
            return Sentence("{model} has no {parse} figures. {why}", model=entrant.model, parse=word(parse), why=why)
    return ""


def _why_unreadable(entrant: EntrantResults, group: str, parse: str, selection: Selection | None) -> str:
    metrics = entrant.metrics
    if metrics.parses.of(parse):
        return ""
    scores = KeptScores(StoryScores.objects.get(pk=entrant.scores).metrics) if selection else KeptScores()
    if selection and (columns := scores.columns(group, parse)):
        return lacking(columns, selection.stories)
    return metrics.reason or NONE


def compare(
    entrants: Sequence[EntrantResults], group: str, parse: str, selection: Selection | None = None
) -> Comparison:
    """Return the comparison, cached by the scores of both entrants. Raises NotComparable."""
    if why := why_unreadable(entrants, group, parse, selection):
        raise NotComparable(why)
    how = method(seed=SEED, unit=units_of_group(group))
    over = [selection.key, selection.label, sorted(selection.stories)] if selection else None
    compared = [
        [[entrant.scores, entrant.model, entrant.own] for entrant in entrants],
        group,
        parse,
        how,
        over,
    ]
    comparison = kept_as("comparison", compared, lambda: _compare(entrants, group, parse, selection))
    return replace(comparison, judge_tests=notes_of(entrants))


def with_corrected(
    comparison: Comparison, entrants: Sequence[EntrantResults], runs: Sequence[Run], selection: Selection | None
) -> Comparison:
    """Return the comparison with the corrected scores of both, over the stories that it is of."""
    both = frozenset(set(entrants[0].numbers) & set(entrants[1].numbers))
    stories = both & selection.stories if selection else both
    return replace(comparison, corrected=calibration.of_pair(entrants, runs, comparison.group, stories))


def _compare(entrants: Sequence[EntrantResults], group: str, parse: str, selection: Selection | None) -> Comparison:
    rows = StoryScores.objects.filter(pk__in=[entrant.scores for entrant in entrants]).values_list("pk", "metrics")
    scores = {pk: KeptScores(metrics) for pk, metrics in rows}
    sides = [_columns(entrant, scores[entrant.scores], group, parse) for entrant in entrants]
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
    compared = _rows(sides, asked_both, group)
    repaired = [_columns(entrant, scores[entrant.scores], group, "repaired") for entrant in entrants]
    unit = units_of_group(group)
    tests = sum(row.p is not None for row in compared)
    return Comparison(
        first=entrants[0].model,
        second=entrants[1].model,
        group=group,
        parse=parse,
        differ=clauses(*(labelled(entrant.model, entrant.own) for entrant in entrants if entrant.own)),
        split=selection.key if selection else "",
        selection=selection.label if selection else "",
        lead=[
            *_not_asked(
                entrants,
                repaired,
                selection.stories if selection else set(categories),
                set(asked_both),
                suite_named(group_suite(group)).noun[1],
            ),
            *_unlike_missing(entrants, repaired, group, set(asked_both)),
        ],
        rows=compared,
        stories=_stories(sides, categories, group),
        n=compared[0].n,
        tests=tests,
        method=clauses(
            Sentence(
                "missing answers at their worst; {method}; two-sided sign-flip test over {unit}; Holm's "
                "correction over the {tests} tests of this table alone, not over all pairs of models as on "
                "the leaderboard",
                method=method(seed=SEED, unit=unit),
                unit=word(unit),
                tests=tests,
            ),
            caution_text(fewest_units(compared), unit),
        ),
    )


def _columns(entrant: EntrantResults, scores: KeptScores, group: str, parse: str) -> Columns:
    columns = scores.columns(group, parse)
    if columns is None:
        raise NotComparable(
            Sentence("{model} has no {parse} figures. {none}", model=entrant.model, parse=word(parse), none=NONE)
        )
    return columns


def _not_asked(
    entrants: Sequence[EntrantResults], sides: Sequence[Columns], stories: Set[int], both: Set[int], nouns: str
) -> list[str]:
    """Return a sentence on who was not asked about some of the stories, as only those of both are compared; none where
    both have all."""
    sentences = []
    for entrant, columns in zip(entrants, sides, strict=True):
        if lacks := len(stories - set(columns.stories)):
            how = gettext_noop("has not labelled") if entrant.kind == "person" else gettext_noop("was not asked about")
            sentences.append(
                Sentence(
                    "{model} {how} {lacks} of the {stories} {nouns}",
                    model=entrant.model,
                    how=how,
                    lacks=f"{lacks:,}",
                    stories=f"{len(stories):,}",
                    nouns=word(nouns),
                )
            )
    return (
        [
            Sentence(
                "{sentences}: only the {both} that both have are compared.",
                sentences=" and ".join(sentences),
                both=f"{len(both):,}",
            )
        ]
        if sentences
        else []
    )


def _unlike_missing(
    entrants: Sequence[EntrantResults], sides: Sequence[Columns], group: str, stories: Set[int]
) -> list[str]:
    """Return what `unlike_missing` says, of the stories that are compared."""
    if any(entrant.kind == "person" for entrant in entrants):
        return []
    shares, rows = {}, {}
    for entrant, columns in zip(entrants, sides, strict=True):
        cases = cases_by_story(columns, group_named(group).score)
        answered = [case for number, case in cases.items() if case and number in stories]
        shares[entrant.model] = sum(case.answered is None for case in answered) / len(answered) if answered else 0.0
        unjudged = columns.unjudged.items()
        rows[entrant.model] = sum(sum(counts) for number, counts in unjudged if int(number) in stories)
    return differing_sentences(
        (shares_text(shares, nouns_of_group(group)[1]), rows_text(rows)),
        gettext_noop("The differences count them at their worst."),
    )


def _rows(sides: Sequence[Columns], categories: Mapping[int, str], group: str) -> list[ComparedMetric]:
    """Return all measures over all stories, then the score by category of those that count for it: a category that all
    of them are of would be all again, and its test the same one."""
    score = group_named(group).score
    measures = [
        name for name in group_named(group).headers if name in sides[0].values
    ]  # a database keeps no order of keys
    parts = [(measures, "", sorted(categories))]
    counted = _counted(sides, score, all)
    names = sorted({category for story, category in categories.items() if story in counted})
    for name in names if len(names) > 1 else []:
        parts.append(([score], name, sorted(story for story, category in categories.items() if category == name)))
    tests = sum(len(names) for names, _, _ in parts)
    clusters = clusters_of(sides[0]) | clusters_of(sides[1])
    cases = {name: _cases(sides, name) for names, _, _ in parts for name in names}
    rows = [row for part in parts for row in _part(cases, clusters, *part, group, tests)]
    return adjusted(rows)


def _cases(sides: Sequence[Columns], name: str) -> dict[str, dict[int, Case | None]]:
    return {side: cases_by_story(columns, name) for side, columns in zip(("first", "second"), sides, strict=True)}


def _counted(sides: Sequence[Columns], name: str, of_sides: Callable[[Iterable[bool]], bool]) -> set[int]:
    """Return the stories that count for a figure, of both sides or of either: others have none by definition, as what
    is not the first question of a set."""
    cases = [cases_by_story(columns, name) for columns in sides]
    return {
        story
        for story in cases[0].keys() | cases[1].keys()
        if of_sides(by_story.get(story) is not None for by_story in cases)
    }


def _part(
    cases_by_name: Mapping[str, Mapping[str, Mapping[int, Case | None]]],
    clusters: Mapping[int, str],
    names: Sequence[str],
    category: str,
    stories: Sequence[int],
    group: str,
    tests: int,
) -> list[ComparedMetric]:
    """Return the rows of some measures over some stories; `tests` is how many there are in the whole table."""
    rows = []
    for name in names:
        cases = Cases.of(cases_by_name[name], set(stories), clusters)
        [pair] = paired_differences(cases, seed=SEED, tests=tests, unit=units_of_group(group))
        first, second = (float(mean) if cases.stories else None for mean in mean_of(cases.worst))
        tested = {field.name: getattr(pair, field.name) for field in fields(PairedDifference)} | {"category": category}
        what = category or group_named(group).headers[name]
        rows.append(ComparedMetric(what=what, key=name, first=first, second=second, **tested))
    return rows


def _stories(sides: Sequence[Columns], categories: Mapping[int, str], group: str) -> list[ComparedStory]:
    first, second = (scores_by_story(columns, group_named(group).score) for columns in sides)
    stories = []
    counted = _counted(sides, group_named(group).score, any)
    for number, category in categories.items():
        if number not in counted:
            continue
        first_score, second_score = first.get(number), second.get(number)
        gap = None if first_score is None or second_score is None else first_score - second_score
        stories.append(ComparedStory(number, category, first_score, second_score, gap))
    return sorted(stories, key=lambda story: (story.difference is None, -abs(story.difference or 0), story.number))


def items_behind(entrants: Sequence[EntrantResults], group: str, numbers: Sequence[int]) -> dict[tuple[str, int], int]:
    """Return {(entrant key, story number): the id of the item behind a figure}."""
    keys = {entrant.entrant: entrant.key for entrant in entrants if entrant.entrant}
    items = RunItem.objects.filter(entrant__in=keys, step=group_named(group).scored, sample__number__in=numbers)
    rows = items.values_list("entrant_id", "sample__number", "pk")
    return {(keys[entrant], number): pk for entrant, number, pk in rows}
