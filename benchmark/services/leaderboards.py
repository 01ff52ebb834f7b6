"""Entrants of runs in order, with both readings, intervals and the groups that cannot be told apart.

The order is that of `inference.leaderboard`: by the worst case, on the same stories for all.

What the inference needs of stories is read only where the same set of scores was not compared before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.cache import cache

from benchmark.domain.inference import Case, Cases, differs, leaderboard
from benchmark.models import Run, StoryScores
from benchmark.services.conditions import FIELDS, asking_told, conditions_of, named, settings_told
from benchmark.services.in_context import examples_told, judge_told
from benchmark.services.judge_test_summaries import summaries_of
from benchmark.services.selections import Selection
from benchmark.suites.registry import group_named, nouns_of_group, suite_named
from benchmark.suites.showing.names import label
from benchmark.suites.shown import Entry
from benchmark.suites.story_scores import (
    READINGS,
    cases_by_story,
    categories_of,
    clusters_of,
    lacking,
    official_figures,
    repaired_figures,
    with_intervals,
)
from core.made_by import made_by
from core.statistics import RESAMPLES, method

KEPT_SECONDS = 90 * 24 * 3600
SEED = 1


def settings_of(run: Run, stage: str, *, reads: bool) -> dict[str, str]:
    """What of a run's settings bears on a stage's figures: of what was sent, nothing that a prompt had no use for; `reads` says whether
    there was a prompt."""
    held, suite = run.params, suite_named(run.suite)
    if suite.prompting is None:
        return ({"prompts": run.prompt_set} if reads else {}) | settings_told(run) | {"seed": str(held.get("seed", 1))}
    found = {"prompts": run.prompt_set, "level": str(run.level)} if reads else {}
    found["seed"] = str(held.get("seed", 1))
    found |= {name: value for name, value in asking_told(run).items() if reads or name == "repetitions"}
    if reads and held.get("max_tokens"):
        found["longest answer"] = f"{held['max_tokens']:,} tokens"
    if reads and (shown := examples_told(run, group_named(stage).prompt)):
        found["examples"] = shown
    if group_named(stage).judged:
        found["judge"] = judge_told(run)
        if suite.judging and (shown := examples_told(run, suite.judging.key)):
            found["judge's examples"] = shown
    return found


def entries_of(runs: Sequence[Run], reports: Mapping[int, Any], stage: str) -> list[Entry]:
    """Everybody who has figures of the stage, in the order of the runs."""
    held = StoryScores.objects.filter(run__in=runs).values_list("run_id", "entrant_id", "person", "pk")
    scores = {(run, entrant, person): pk for run, entrant, person, pk in held}
    found = []
    tests = summaries_of(runs) if group_named(stage).judged else {}
    for run in runs:
        specs = {one.pk: one.spec for one in run.entrants.all()}
        people = people_of(reports[run.pk]["entrants"])
        for row in reports[run.pk]["entrants"]:
            if row[stage] is None:
                continue
            person = "" if row["id"] else row["name"]
            reads = row["kind"] == "model"
            settings = {} if person else settings_of(run, stage, reads=reads)
            found.append({
                "key": f"{run.uid}.{row['id']}" if row["id"] else f"{run.uid}.p{list(people).index(person) + 1}",
                "name": people[person] if person else row["name"],
                "person": person,
                "kind": row["kind"],
                "role": row.get("role", ""),
                "run": run.uid,
                "run_title": run.title,
                "at": run.created_at,
                "entrant": row["id"],
                "settings": settings,
                "judge_test": tests.get(run.pk),
                "spec": specs.get(row["id"], {}),
                "conditions": dict.fromkeys(FIELDS) if person else conditions_of(run, stage, reads=reads),
                "figures": row[stage],
                "numbers": reports[run.pk]["numbers"],
                "scores": scores[run.pk, row["id"], person],
            })  # fmt: skip
    return found


def people_of(entrants: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What stands for the name of each person of a run: "Annotator 1", "Expert 1", the same on every run of the dataset."""
    return {one["name"]: f"{one['role'].capitalize()} {one['number']}" for one in entrants if one["id"] is None}


def newest(entries: Sequence[Entry]) -> list[Entry]:
    """The first of each model and settings, with `others`, how many further ones there are. Not the best one: choosing among
    repetitions by their score would flatter."""
    found: dict[str, Entry] = {}
    for one in entries:
        digests = {
            field: held and held[1] for field, held in one["conditions"].items()
        }  # a judge may have changed under its name
        same = json.dumps(
            [one["name"], one["person"], one["kind"], one["spec"], one["settings"], digests], sort_keys=True
        )
        if same in found:
            found[same]["others"] += 1
        else:
            found[same] = one | {"others": 0}
    return list(found.values())


def ranked_entrants(
    entries: Sequence[Entry], stage: str, selection: Selection | None = None, *, seed: int = SEED
) -> list[Entry]:
    """The entries with `readings`, their figures on the selection, `ranking` by reading, `group`, its letters, by reading, and `no_letters`,
    why there are none, by reading. By rank of the repaired reading, then who has none, then people: annotators, then experts, whose
    decisions are gold.

    A `ranking` is a model of `inference.leaderboard`, with `against`: {key: [difference, p_adjusted, shown to differ]} of those below it,
    and None of who is not ranked at all. Without an official reading `readings` has a `reason`, which says why.
    """
    if not entries:
        return []
    ranked, part, no_letters = _kept("ranking", entries, stage, selection, seed)
    found = []
    for one in entries:
        figures = part.get(one["key"]) or _own_figures(one)
        ranking = {name: ranked[name].get(one["key"]) for name in READINGS}
        group = {name: held["group"] if held else None for name, held in ranking.items()}
        found.append(one | {"readings": figures, "ranking": ranking, "group": group, "no_letters": no_letters})
    return sorted(found, key=lambda one: _place(one, stage))


def _place(entry: Entry, stage: str) -> tuple[Any, ...]:
    ranking = entry["ranking"]["repaired"]
    rank = ranking["rank"] if ranking else None
    return ROLES.index(entry["role"]), rank is None, rank or 0, -_score(entry, stage), entry["model"]


ROLES = ("", "annotator", "expert")
"""Models first: people are not ranked among them."""


def _own_figures(entry: Entry) -> dict[str, Any]:
    """Those of the entry's report."""
    held = entry["figures"]
    own = {"own": held["own"]} if "own" in held else {}
    return (
        {name: held[name] for name in READINGS} | own | ({} if held["official"] else {"reason": held.get("reason", "")})
    )


def _score(entry: Entry, stage: str) -> float:
    repaired, official = entry["readings"]["repaired"], entry["readings"]["official"]
    value = (
        repaired["overall"][group_named(stage).score]
        if repaired
        else official and official["overall"][group_named(stage).score]
    )
    return -1.0 if value is None else float(value)


def differences(
    entries: Sequence[Entry], stage: str, selection: Selection | None = None, *, seed: int = SEED
) -> dict[str, Any]:
    """By reading {pairs, method, tests}: every two models over the selection's stories and in each category, as
    `inference.paired_differences` has them under the keys of their entries. The letters of `ranked_entrants` rest on the same tests."""
    return _kept("differences", entries, stage, selection, seed)


def _kept(what: str, entries: Sequence[Entry], stage: str, selection: Selection | None, seed: int) -> Any:
    """What `_compare` calls so, made once for the same scores."""
    partial = [one for one in entries if selection and set(one["numbers"]) != selection.stories]
    rated = [one for one in entries if one["kind"] != "person"]
    asked = [
        made_by(),
        stage,
        sorted((one["scores"], one["key"], one["model"]) for one in rated),
        sorted(one["scores"] for one in partial),
        sorted(selection.stories) if partial else None,
        method(seed=seed, unit="stories"),
    ]
    key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    found = cache.get(f"{what}:{key}")
    if found is None:
        made = _compare(rated, partial, stage, selection if partial else None, seed)
        for name, one in made.items():
            cache.set(f"{name}:{key}", one, KEPT_SECONDS)
        found = made[what]
    return found


def _compare(rated, partial, stage: str, selection: Selection | None, seed: int) -> dict[str, Any]:
    """{"ranking": (rankings by reading and key, figures of the selection by key where they are not the report's own, why there are no
    letters by reading), "differences": by reading}."""
    wanted = {one["scores"] for one in (*rated, *partial)}
    columns = {pk: held[stage] for pk, held in StoryScores.objects.filter(pk__in=wanted).values_list("pk", "figures")}
    ranked, apart, no_letters = {}, {}, {}
    for reading in READINGS:
        found = _ranked(rated, columns, stage, reading, selection, seed)
        against = _against(found["pairs"])
        ranked[reading] = {one["model"]: one | {"against": against.get(one["model"], {})} for one in found["models"]}
        apart[reading] = {name: found[name] for name in ("pairs", "method", "tests")}
        no_letters[reading] = found["no_letters"]
    part = {one["key"]: _part(one, columns[one["scores"]], stage, selection, seed) for one in partial}
    return {"ranking": (ranked, part, no_letters), "differences": apart}


def _against(pairs: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[Any]]]:
    found: dict[str, dict[str, list[Any]]] = {}
    for one in pairs:
        if not one["category"]:
            found.setdefault(one["first"], {})[one["second"]] = [one["value"], one["p_adjusted"], differs(one)]
    return found


def _part(entry: Entry, columns: Mapping[str, Any], stage: str, selection: Selection, seed: int) -> dict[str, Any]:
    """Both readings of the selection, of a person also against gold with the person's own votes."""
    figures = _readings(columns, stage, selection, seed)
    if not figures["official"]:
        why = lacking(columns["official"], selection.stories)
        figures["reason"] = why if columns["official"] else entry["figures"].get("reason", why)
    return figures | ({"own": _readings(columns["own"], stage, selection, seed)} if "own" in columns else {})


def _readings(columns: Mapping[str, Any], stage: str, selection: Selection, seed: int) -> dict[str, Any]:
    rules = {"seed": seed, "resamples": RESAMPLES}
    stories, official = selection.stories, columns["official"]
    figures = {"repaired": repaired_figures(columns["repaired"], stories, stage, **rules), "official": None}
    if not lacking(official, stories):
        whole = official_figures(official, stories, stage)
        figures["official"] = with_intervals(whole, official, stories, stage, **rules)
    return figures


def _ranked(rated, columns, stage: str, reading: str, selection: Selection | None, seed: int) -> dict[str, Any]:
    cases: dict[str, dict[int, Case | None]] = {}
    categories: dict[int, str] = {}
    clusters: dict[int, str] = {}
    everything: set[int] = set()
    for one in rated:
        held, stories = columns[one["scores"]][reading], selection.stories if selection else set(one["numbers"])
        everything |= stories
        if held and not (reading == "official" and lacking(held, stories)):
            cases[one["key"]] = cases_by_story(held, group_named(stage).score)
            categories |= categories_of(held)
            clusters |= clusters_of(held)
    if not cases:
        return {"models": [], "pairs": [], "method": "", "tests": 0, "no_letters": ""}
    held = Cases.of(cases, everything, clusters)
    return leaderboard(held, seed=seed, categories=categories, samples=nouns_of_group(stage)[1])


def ranked_entrants_of_run(run: Run, report: Mapping[str, Any], stage: str) -> list[Entry]:
    """One run's entrants against each other, over its own stories."""
    entries = entries_of([run], {run.pk: report}, stage)
    named(entries)
    label(entries)
    return ranked_entrants(entries, stage, seed=run.params.get("seed", 1))
