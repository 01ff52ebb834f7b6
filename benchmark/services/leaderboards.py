"""Entrants of runs in order, with both parses, intervals and the groups that cannot be told apart.

The order is that of `inference.leaderboard`: by the worst case, on the same stories for all.

What the inference needs of stories is read only where the same set of scores was not compared before.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.inference import Case, Cases, Ranking, leaderboard
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.report_rows import BothParses
from benchmark.models import Run, StoryScores
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
from benchmark.services.judge_tests import summaries_of
from benchmark.services.judge_versions import version_failure
from benchmark.services.reports import EntrantMetrics, RunMetrics
from benchmark.services.selections import Selection
from benchmark.suites.figures import (
    cases_by_story,
    categories_of,
    clusters_of,
    lacking,
    official_metrics,
    repaired_metrics,
    with_intervals,
)
from benchmark.suites.questions import PARSES, BySample, Parse
from benchmark.suites.reasons import lost_by_judge
from benchmark.suites.registry import group_named, nouns_of_group, suite_named, units_of_group
from benchmark.suites.reports import GroupMetrics
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import REPETITIONS, label
from core.kept import kept_as
from core.messages import Sentence, gettext_noop
from core.plain import plain
from core.statistics import RESAMPLES, method

SEED = 1
AS_LONG = 400
"""Ranking models takes as long as the square of their number, and a model's answer in it this part of the time in which
it is scored: of twenty models as long as scoring all answers of the ranking."""


def settings_of(run: Run, group: str, *, reads: bool) -> dict[str, str]:
    """Return the settings of a run that bear on a metric group's figures, in words by name. `reads` says whether the
    entrant is given a prompt; without one, nothing is told of how prompts were made."""
    parameters, suite = run.parameters, suite_named(run.suite)
    if run.imported:
        return imported_in_words(run) | settings_in_words(run)
    if suite.asking.prompting is None:
        seed = {"seed": str(parameters.seed)}
        return {"prompts": run.prompt_set} | settings_in_words(run) | seed if reads else _without_method(run) | seed
    settings = {"prompts": run.prompt_set, "level": str(run.level)} if reads else {}
    settings["seed"] = str(parameters.seed)
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


def _without_method(run: Run) -> dict[str, str]:
    """`settings_in_words` without how models were prompted: a baseline answers by a rule of its own, and would stand in
    a ranking once for each method that it was launched by."""
    methods = {setting.label.lower() for setting in suite_named(run.suite).settings if setting.method}
    return {name: value for name, value in settings_in_words(run).items() if name not in methods}


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
    """Return the first entrant of each model and settings, with `others`, how many further ones there are. Not the best
    one: choosing among repetitions by their score would flatter. A baseline stands in every ranking, so how often it
    was asked does not part it in two."""
    newest_by_settings: dict[str, EntrantResults] = {}
    earlier: Counter[str] = Counter()
    for entrant in entrants:
        digests = {
            field: condition and condition[1] for field, condition in entrant.conditions.items()
        }  # a judge may have changed under its name
        same = json.dumps(
            [entrant.name, entrant.person, entrant.kind, plain(entrant.spec), _parting(entrant), digests],
            sort_keys=True,
        )
        if same in newest_by_settings:
            earlier[same] += 1
        else:
            newest_by_settings[same] = entrant
    return [replace(entrant, others=earlier[same]) for same, entrant in newest_by_settings.items()]


def _parting(entrant: EntrantResults) -> dict[str, str]:
    """Return the settings that make two rows of one name different rows."""
    once = {REPETITIONS} if entrant.kind == "baseline" else set()
    return {name: value for name, value in entrant.settings.items() if name not in once}


def ranked_entrants(
    entrants: Sequence[EntrantResults], group: str, selection: Selection | None = None, *, seed: int = SEED
) -> list[EntrantResults]:
    """Return the entrants as they are ranked over the selection: by rank of the repaired parse, then those without a
    rank, then people: annotators, then experts, whose decisions are gold."""
    if not entrants:
        return []
    models, of_selection, no_letters = _kept("ranking", entrants, group, selection, seed)
    ranked = [
        replace(
            entrant,
            metrics=of_selection.get(entrant.key) or entrant.metrics,
            ranking={parse: models[parse].get(entrant.key) for parse in PARSES},
            no_letters=no_letters,
        )
        for entrant in entrants
    ]
    return sorted(ranked, key=lambda entrant: _place(entrant, group))


def _place(entrant: EntrantResults, group: str) -> tuple[Any, ...]:
    ranking = entrant.ranking["repaired"]
    rank = ranking.rank if ranking else None
    value = entrant.parses.overall("repaired" if entrant.parses.repaired else "official").number_of(
        group_named(group).score
    )
    return ROLES.index(entrant.role), rank is None, rank or 0, 1.0 if value is None else -value, entrant.model


ROLES = ("", "annotator", "expert")
"""Models first: people are not ranked among them."""


def differences(
    entrants: Sequence[EntrantResults], group: str, selection: Selection | None = None, *, seed: int = SEED
) -> Mapping[str, Ranking]:
    """Return by parse the ranking with its pairs: every two models over the selection's stories and in each category,
    under the keys of their entrants. The letters of `ranked_entrants` rest on the same tests."""
    rankings: Mapping[str, Ranking] = _kept("differences", entrants, group, selection, seed)
    return rankings


def _kept(what: str, entrants: Sequence[EntrantResults], group: str, selection: Selection | None, seed: int) -> Any:
    """Return the part of `_compare` of that name, computed once for the same scores."""
    partial = [entrant for entrant in entrants if selection and set(entrant.numbers) != selection.stories]
    models = [entrant for entrant in entrants if entrant.kind != "person"]
    compared = [
        group,
        sorted((entrant.scores, entrant.key, entrant.model) for entrant in models),
        sorted(entrant.scores for entrant in partial),
        sorted(selection.stories) if selection and partial else None,
        method(seed=seed, unit=units_of_group(group)),
    ]
    parts: dict[str, Any] = {}

    def part(name: str) -> Any:
        if not parts:
            parts.update(_compare(models, partial, group, selection if partial else None, seed))
        return parts[name]

    def both() -> Any:
        other = "ranking" if what == "differences" else "differences"
        kept_as(other, compared, lambda: part(other))
        return part(what)

    return kept_as(what, compared, both)


def _compare(
    models: Sequence[EntrantResults],
    partial: Sequence[EntrantResults],
    group: str,
    selection: Selection | None,
    seed: int,
) -> dict[str, Any]:
    """Return the differences of all pairs by parse, and the ranking: the models by parse and key, the metrics of
    the selection by key if they are not the report's, and by parse the reason why there are no letters."""
    score_ids = {entrant.scores for entrant in (*models, *partial)}
    rows = StoryScores.objects.filter(pk__in=score_ids).values_list("pk", "metrics")
    scores = {pk: metrics[group] for pk, metrics in rows}
    by_sample = {pk: BySample.from_json(of_group) for pk, of_group in scores.items()}
    apart = {parse: _ranked(models, by_sample, group, parse, selection, seed) for parse in PARSES}
    ranked = {parse: comparison.compared() for parse, comparison in apart.items()}
    no_letters = {parse: comparison.no_letters for parse, comparison in apart.items()}
    part = {entrant.key: _part(entrant, scores[entrant.scores], group, selection, seed) for entrant in partial}
    return {"ranking": (ranked, part, no_letters), "differences": apart}


def _part(
    entrant: EntrantResults, kept: Mapping[str, Any], group: str, selection: Selection | None, seed: int
) -> GroupMetrics:
    """Return an entrant's metrics on the selection; those of a person also against gold with the person's own votes."""
    assert selection is not None, "a part is of a selection"
    scores, own = BySample.from_json(kept), kept.get("own")
    parses = _parses(scores, group, selection, seed)
    why = "" if parses.official else lacking(scores.official, selection.stories)
    return replace(
        entrant.metrics,
        parses=parses,
        own=_parses(BySample.from_json(own), group, selection, seed) if own else None,
        reason=why if scores.official else entrant.metrics.reason or why,
        levels=None,  # they are of the samples of a run
    )


def _parses(scores: BySample, group: str, selection: Selection, seed: int) -> BothParses:
    stories, rows = selection.stories, None
    rules = {"seed": seed, "resamples": RESAMPLES}
    if scores.official and (averages := official_metrics(scores.official, stories, group)):
        rows = with_intervals(averages, scores.official, stories, group, **rules)
    assert scores.repaired is not None, "the repaired parse has every story that was asked"
    return BothParses(rows, repaired_metrics(scores.repaired, stories, group, **rules))


UNHEARD = gettext_noop("nobody is ranked, as the judge has no verdict on any story")


def _ranked(
    models: Sequence[EntrantResults],
    scores: Mapping[int, BySample],
    group: str,
    parse: Parse,
    selection: Selection | None,
    seed: int,
) -> Ranking:
    cases: dict[str, dict[int, Case | None]] = {}
    categories: dict[int, str] = {}
    clusters: dict[int, str] = {}
    stories_of = {model.key: selection.stories if selection else set(model.numbers) for model in models}
    unheard = {model.key for model in models if _is_unheard(scores[model.scores], stories_of[model.key])}
    if unheard and not any(_is_usable(scores[model.scores], stories_of[model.key]) for model in models):
        return Ranking(no_letters=UNHEARD)
    for model in models:
        column, stories = scores[model.scores].of(parse), stories_of[model.key]
        if parse == "official" and model.key in unheard:
            continue
        if column and not (parse == "official" and lacking(column, stories)):
            cases[model.key] = cases_by_story(column, group_named(group).score)
            categories |= categories_of(column)
            clusters |= clusters_of(column)
    if not cases:
        return Ranking()
    all_cases = Cases.of(cases, set().union(*stories_of.values()), clusters)
    return leaderboard(
        all_cases, seed=seed, categories=categories, samples=nouns_of_group(group)[1], unit=units_of_group(group)
    )


def _is_unheard(scores: BySample, stories: Collection[int]) -> bool:
    """Return whether the judge has a verdict on none of a model's stories: official figures, which count each as not
    matched, are then nobody's opinion of it."""
    whys = _unreadable(scores, stories)
    return bool(whys) and all(map(lost_by_judge, whys))


def _is_usable(scores: BySample, stories: Collection[int]) -> bool:
    """Return whether any of a model's stories has a score by the careful parse."""
    return "" in _unreadable(scores, stories)


def _unreadable(scores: BySample, stories: Collection[int]) -> list[str]:
    """Return why the careful parse has no score of each story, empty where it has one."""
    column = scores.repaired
    return [column.unreadable.get(str(story), "") for story in stories] if column else []


def ranked_entrants_of_run(run: Run, report: RunMetrics, group: str) -> list[EntrantResults]:
    """Rank the entrants of one run against each other, over its own stories."""
    entrants = entrants_of([run], {run.pk: report}, group)
    labelled, _ = label(named(entrants))
    return ranked_entrants(labelled, group, seed=run.parameters.seed)
