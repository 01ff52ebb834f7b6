"""Selections of stories that models are compared on, and entrants of runs in order, with both parses, intervals and the
groups that cannot be told apart.

The order is that of `inference.leaderboard`: by the worst case, on the same stories for all.

What the inference needs of stories is read only where the same set of scores was not compared before.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark.domain.inference import Case, Cases, Ranking, leaderboard
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.report_rows import BothParses
from benchmark.models import Dataset, Run, StoryScores
from benchmark.services.conditions import (
    FIELDS,
    Conditions,
    asking_in_words,
    conditions_of,
    imported_in_words,
    named,
    settings_in_words,
)
from benchmark.services.in_context import examples_text, judge_text
from benchmark.services.judges import summaries_of, version_failure
from benchmark.services.reports import EntrantMetrics, RunMetrics, report_of
from benchmark.suites.figures import (
    cases_by_story,
    categories_of,
    clusters_of,
    columns_of,
    lacking,
    official_metrics,
    repaired_metrics,
)
from benchmark.suites.questions import PARSES
from benchmark.suites.reasons import lost_by_judge, lost_outside
from benchmark.suites.registry import group_named, nouns_of_group, nouns_of_samples, suite_named, units_of_group
from benchmark.suites.reports import GroupMetrics
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import REPETITIONS, label
from core.kept import kept_as
from core.messages import Sentence, gettext_noop, word
from core.plain import plain
from core.statistics import RESAMPLES, method

OF_RUN = "run:"


@dataclass(frozen=True, slots=True)
class Selection:
    """`key` is empty for all stories, the name of a split, or `run:` and the id of a run; `stories` are numbers."""

    key: str
    label: str
    stories: frozenset[int]


def selections_of(dataset: Dataset, reports: Mapping[int, RunMetrics], runs: Sequence[Run]) -> list[Selection]:
    """Return the selections that some run covers: all stories, splits, and the stories of runs.

    Those that a run of this site covers come first, and of these the one in which a run has most answers, the largest
    where several have as many. What a run was to ask says nothing: it may have few answers.
    """
    rows = list(dataset.samples.values_list("number", "split"))
    label = Sentence("All {rows} {suite}", rows=f"{len(rows):,}", suite=nouns_of_samples(dataset.suite)[1])
    selections = [Selection("", label, frozenset(number for number, _ in rows))]
    for split in sorted({split for _, split in rows if split}):
        selections.append(_split(dataset, split, (number for number, own_split in rows if own_split == split)))
    for run in reversed(runs):
        own_selection = _of_run(run, reports[run.pk].numbers)
        if own_selection.stories and own_selection.stories not in {selection.stories for selection in selections}:
            selections.append(own_selection)
    covered = []  # (stories, answers of the entrant with most, whether they were made here) of each run
    for run in runs:
        groups = [group.key for group in suite_named(run.suite).main_groups]
        answers = [
            sum(_answers(row.groups.get(group)) for group in groups) for row in reports[run.pk].entrants if row.id
        ]
        covered.append((frozenset(reports[run.pk].numbers), max(answers, default=0), not run.made_elsewhere))
    preferred = []
    for selection in selections:
        if with_all := [(most, here) for stories, most, here in covered if selection.stories <= stories]:
            any_here = any(here for _, here in with_all)
            most = max(most for most, here in with_all if here or not any_here)
            preferred.append(((any_here, most, len(selection.stories)), selection))
    return [selection for _, selection in sorted(preferred, key=lambda row: row[0], reverse=True)]


def _answers(metrics: GroupMetrics | None) -> int:
    """Return the number of samples of a metric group that have an answer, readable or not."""
    if metrics is None:
        return 0
    row = metrics.parses.overall("repaired")
    return row.asked - sum(count for reason, count in row.unreadable_reasons.items() if lost_outside(reason))


def selection_named(dataset: Dataset, key: str, suite: str) -> Selection | None:
    """Return the selection of that key; None for all stories and for a key that names none, as a run of another suite
    than `suite`."""
    if key.startswith(OF_RUN):
        run = Run.objects.filter(dataset=dataset, suite=suite, uid=key.removeprefix(OF_RUN)).first()
        selection = run and _of_run(run, report_of(run).numbers)
    else:
        selection = key and _split(dataset, key, dataset.samples.filter(split=key).values_list("number", flat=True))
    return selection if selection and selection.stories else None


def _split(dataset: Dataset, split: str, numbers: Iterable[int]) -> Selection:
    stories = frozenset(numbers)
    nouns = nouns_of_samples(dataset.suite)[1]
    return Selection(
        split,
        Sentence("Split {split}: {stories} {nouns}", split=split, stories=f"{len(stories):,}", nouns=word(nouns)),
        stories,
    )


def _of_run(run: Run, numbers: Iterable[int]) -> Selection:
    stories = frozenset(numbers)
    return Selection(
        f"{OF_RUN}{run.uid}",
        Sentence(
            "{stories} {noun} of “{run}”",
            stories=f"{len(stories):,}",
            noun=word(suite_named(run.suite).noun[1]),
            run=run.title,
        ),
        stories,
    )


SEED = 1


def settings_of(run: Run, group: str, *, reads: bool) -> dict[str, str]:
    """Return the settings of a run that bear on a metric group's figures, in words by name. `reads` says whether the
    entrant is given a prompt; without one, nothing is told of how prompts were made."""
    parameters, suite = run.parameters, suite_named(run.suite)
    if run.imported:
        return imported_in_words(run) | settings_in_words(run)
    seed = {"seed": str(parameters.seed)}
    if suite.asking.prompting is None:
        # a baseline answers by a rule of its own: it would stand in a ranking once for each method of a launch
        methods = () if reads else [setting.label.lower() for setting in suite.settings if setting.method]
        words = {name: value for name, value in settings_in_words(run).items() if name not in methods}
        return ({"prompts": run.prompt_set} if reads else {}) | words | seed
    settings = ({"prompts": run.prompt_set, "level": str(run.level)} if reads else {}) | seed
    settings |= {name: value for name, value in asking_in_words(run).items() if reads or name == REPETITIONS}
    if reads and parameters.max_tokens:
        settings["longest answer"] = Sentence("{max_tokens} tokens", max_tokens=f"{parameters.max_tokens:,}")
    if reads and (examples := examples_text(run, group_named(group).prompt)):
        settings["examples"] = examples
    if group_named(group).judged:
        settings["judge"] = judge_text(run)
        if suite.judging and (examples := examples_text(run, suite.judging.key)):
            settings["judge's examples"] = examples
    return settings


def entrants_of(runs: Sequence[Run], reports: Mapping[int, RunMetrics], group: str) -> list[EntrantResults]:
    """Return each entrant and person with figures of the group, in the order of the runs. A judged group has none of
    runs whose suite cannot say what their judge is: what is known of it decides what is ranked together. Nor are there
    any of a run that was deleted while its report was computed."""
    if group_named(group).judged:
        runs = [run for run in runs if not version_failure(run)]
    entrants = []
    tests = summaries_of(runs) if group_named(group).judged else {}
    for run in runs:
        specs = {entrant.pk: entrant.asked_as for entrant in run.entrants.all()}
        people = people_of(reports[run.pk].entrants)
        asked: dict[bool, tuple[Mapping[str, str], Conditions]] = {}
        for row in reports[run.pk].entrants:
            metrics = row.groups.get(group)
            if metrics is None or row.story_scores is None:
                continue
            person = "" if row.id else row.name
            reads = row.kind == "model"
            if not person and reads not in asked:  # the same for all models of a run, and read from all that it keeps
                asked[reads] = settings_of(run, group, reads=reads), conditions_of(run, group, reads=reads)
            settings, conditions = ({}, dict.fromkeys(FIELDS)) if person else asked[reads]
            spec = specs.get(row.id or 0, EndpointSpec())
            entrants.append(EntrantResults(
                key=f"{run.uid}.{row.id}" if row.id else f"{run.uid}.p{list(people).index(person) + 1}",
                name=people[person] if person else row.name,
                person=person,
                kind=row.kind,
                role=row.role,
                run=run.uid,
                run_title=run.title,
                at=run.created_at,
                entrant=row.id,
                settings=settings,
                judge_test=tests.get(run.pk),
                spec=spec,
                family=spec.kin if reads else "",
                conditions=conditions,
                metrics=metrics,
                numbers=reports[run.pk].numbers,
                scores=row.story_scores,
            ))  # fmt: skip
    return entrants


def people_of(entrants: Sequence[EntrantMetrics]) -> dict[str, str]:
    """Return the pseudonym of each person of a run, by name: "Annotator 1", "Expert 1", the same on every run of the
    dataset."""
    return {entrant.name: f"{entrant.role.capitalize()} {entrant.number}" for entrant in entrants if entrant.id is None}


def newest(entrants: Sequence[EntrantResults]) -> list[EntrantResults]:
    """Return the first entrant of each model and settings, with `others`, the number of further ones. Not the best one:
    choosing among repetitions by their score would flatter. A baseline has one row, however often it was asked."""
    firsts: dict[str, EntrantResults] = {}
    earlier: Counter[str] = Counter()
    for entrant in entrants:
        once = {REPETITIONS} if entrant.kind == "baseline" else set()
        settings = {name: value for name, value in entrant.settings.items() if name not in once}
        # a judge may have changed under its name
        digests = {name: condition and condition[1] for name, condition in entrant.conditions.items()}
        identity = [entrant.name, entrant.person, entrant.kind, plain(entrant.spec), settings, digests]
        key = json.dumps(identity, sort_keys=True)
        earlier[key] += key in firsts
        firsts.setdefault(key, entrant)
    return [replace(entrant, others=earlier[key]) for key, entrant in firsts.items()]


ROLES = ("", "annotator", "expert")
"""Models first: people are not ranked among them."""


def ranked_entrants(
    entrants: Sequence[EntrantResults], group: str, selection: Selection | None = None, *, seed: int = SEED
) -> list[EntrantResults]:
    """Return the entrants as they are ranked over the selection: by rank of the repaired parse, then those without a
    rank, then people: annotators, then experts, whose decisions are gold."""
    if not entrants:
        return []
    score = group_named(group).score
    compared = _versions(entrants, group, selection, seed)

    def computed() -> tuple[Any, ...]:
        """Return the ranked models by parse and key, the metrics of the selection by key if they are not the report's,
        and by parse the reason why there are no letters."""
        rankings, partial = differences(entrants, group, selection, seed=seed), _partial(entrants, selection)
        scores = _scores_of(partial, group)
        return (
            {parse: {model.model: model for model in ranking.models} for parse, ranking in rankings.items()},
            {entrant.key: _part(entrant, scores[entrant.scores], group, selection, seed) for entrant in partial},
            {parse: ranking.no_letters for parse, ranking in rankings.items()},
        )

    models, metrics, no_letters = kept_as("ranking", compared, computed)

    def place(entrant: EntrantResults) -> tuple[int, bool, int, float, str]:
        ranking = entrant.ranking["repaired"]
        rank = ranking.rank if ranking else None
        value = entrant.parses.overall("repaired" if entrant.parses.repaired else "official").number_of(score)
        return ROLES.index(entrant.role), rank is None, rank or 0, 1.0 if value is None else -value, entrant.model

    ranked = [
        replace(
            entrant,
            metrics=metrics.get(entrant.key) or entrant.metrics,
            ranking={parse: models[parse].get(entrant.key) for parse in PARSES},
            no_letters=no_letters,
        )
        for entrant in entrants
    ]
    return sorted(ranked, key=place)


def differences(
    entrants: Sequence[EntrantResults], group: str, selection: Selection | None = None, *, seed: int = SEED
) -> Mapping[str, Ranking]:
    """Return by parse the ranking with its pairs: every two models over the selection's stories and in each category,
    under the keys of their entrants. The letters of `ranked_entrants` rest on the same tests."""
    compared = _versions(entrants, group, selection, seed)
    return kept_as("differences", compared, lambda: _compare(entrants, group, selection, seed))


def _partial(entrants: Sequence[EntrantResults], selection: Selection | None) -> list[EntrantResults]:
    """Return the entrants that were asked about more than the selection."""
    return [entrant for entrant in entrants if selection and set(entrant.numbers) != selection.stories]


def _versions(entrants: Sequence[EntrantResults], group: str, selection: Selection | None, seed: int) -> list[Any]:
    """Return the versions of what a ranking rests on: the scores of its entrants, and the stories if these are a part
    of them."""
    partial = _partial(entrants, selection)
    models = sorted((entrant.scores, entrant.key, entrant.model) for entrant in entrants if entrant.kind != "person")
    stories = sorted(selection.stories) if selection and partial else None
    how = method(seed=seed, unit=units_of_group(group))
    return [group, models, sorted(entrant.scores for entrant in partial), stories, how]


def _scores_of(entrants: Iterable[EntrantResults], group: str) -> dict[int, Any]:
    rows = StoryScores.objects.filter(pk__in={entrant.scores for entrant in entrants}).values_list("pk", "metrics")
    return {pk: metrics[group] for pk, metrics in rows}


def _part(
    entrant: EntrantResults, kept: Mapping[str, Any], group: str, selection: Selection | None, seed: int
) -> GroupMetrics:
    """Return an entrant's metrics on the selection; those of a person also against gold with the person's own votes."""
    assert selection is not None, "a part is of a selection"
    stories, rules = selection.stories, {"seed": seed, "resamples": RESAMPLES}

    def parses(scores: Mapping[str, Any]) -> BothParses:
        repaired = columns_of(scores, "repaired")
        assert repaired is not None, "the repaired parse has every story that was asked"
        return BothParses(
            official_metrics(columns_of(scores, "official"), stories, group, **rules),
            repaired_metrics(repaired, stories, group, **rules),
        )

    official, own, both = columns_of(kept, "official"), kept.get("own"), parses(kept)
    why = "" if both.official else lacking(official, stories)
    return replace(
        entrant.metrics,
        parses=both,
        own=parses(own) if own else None,
        reason=why if official else entrant.metrics.reason or why,
        levels=None,  # they are of the samples of a run
    )


UNHEARD = gettext_noop("nobody is ranked, as the judge has no verdict on any story")


def _compare(
    entrants: Sequence[EntrantResults], group: str, selection: Selection | None, seed: int
) -> dict[str, Ranking]:
    """Rank the models over the selection's stories by parse. Official figures count a story without a verdict of the
    judge as not matched, so a model without any verdict is ranked in the repaired parse only."""
    models = [entrant for entrant in entrants if entrant.kind != "person"]
    whole = selection if _partial(entrants, selection) else None
    stories = {model.key: whole.stories if whole else set(model.numbers) for model in models}
    scores = {
        pk: {parse: columns_of(kept, parse) for parse in PARSES} for pk, kept in _scores_of(models, group).items()
    }
    unheard, usable = set(), False
    for model in models:
        repaired = scores[model.scores]["repaired"]
        whys = [repaired.unreadable.get(str(story), "") for story in stories[model.key]] if repaired else []
        usable = usable or "" in whys
        if whys and all(map(lost_by_judge, whys)):
            unheard.add(model.key)
    if unheard and not usable:
        return dict.fromkeys(PARSES, Ranking(no_letters=UNHEARD))
    rankings: dict[str, Ranking] = {}
    for parse in PARSES:
        cases: dict[str, dict[int, Case | None]] = {}
        categories: dict[int, str] = {}
        clusters: dict[int, str] = {}
        for model in models:
            column = scores[model.scores][parse]
            official = parse == "official"
            if column and not (official and (model.key in unheard or lacking(column, stories[model.key]))):
                cases[model.key] = cases_by_story(column, group_named(group).score)
                categories |= categories_of(column)
                clusters |= clusters_of(column)
        rules: dict[str, Any] = {"samples": nouns_of_group(group)[1], "unit": units_of_group(group)}
        aligned = Cases.of(cases, set().union(*stories.values()), clusters) if cases else None
        rankings[parse] = leaderboard(aligned, seed=seed, categories=categories, **rules) if aligned else Ranking()
    return rankings


def ranked_entrants_of_run(run: Run, report: RunMetrics, group: str) -> list[EntrantResults]:
    """Rank the entrants of one run against each other, over its own stories."""
    entrants = entrants_of([run], {run.pk: report}, group)
    labelled, _ = label(named(entrants))
    return ranked_entrants(labelled, group, seed=run.parameters.seed)
