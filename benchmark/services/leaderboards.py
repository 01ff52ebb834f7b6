"""Finished runs of a dataset version in order, with both readings, intervals and the groups that cannot be told apart.

What the inference needs of stories is read only where the same set of scores was not compared before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from annotation.domain.anchoring.estimates import RESAMPLES
from benchmark.models import Dataset, Run, Stage, StoryScores
from benchmark.services.reports import reports_of
from benchmark.services.story_scores import (
    READINGS,
    SCORE,
    official_figures,
    repaired_figures,
    scores_by_story,
    with_intervals,
)
from workers.models import JobState

KEPT_SECONDS = 90 * 24 * 3600
SEED = 1

Entry = dict[str, Any]
"""One model (or person) of one run at one stage: {key, name, model, kind, role, run, run_title, entrant, settings, own, figures, numbers,
scores, spec}; `model` is its unique label, `figures` the stage's of the report, `scores` the id of its `StoryScores`."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Stories of a dataset version that models are compared on; `key` is what an address calls it."""

    key: str
    label: str
    stories: frozenset[int]


def finished_runs(dataset: Dataset, form: str) -> list[Run]:
    """Newest first, their entrants loaded."""
    held = Run.objects.filter(dataset=dataset, form=form, job__state=JobState.FINISHED)
    return list(held.select_related("judge", "project", "dataset").prefetch_related("entrants"))


def selections_of(dataset: Dataset, reports: Mapping[int, Any], runs: Sequence[Run]) -> list[Selection]:
    """Those that some run covers, the largest first: all stories, splits, and what else a run was made on."""
    rows = list(dataset.stories.values_list("number", "split"))
    found = [Selection("", f"All {len(rows):,} stories", frozenset(number for number, _ in rows))]
    for split in sorted({split for _, split in rows if split}):
        stories = frozenset(number for number, of in rows if of == split)
        found.append(Selection(split, f"Split {split}: {len(stories):,} stories", stories))
    for run in reversed(runs):
        stories = frozenset(reports[run.pk]["numbers"])
        if stories and stories not in {one.stories for one in found}:
            found.append(Selection(f"run:{run.uid}", f"{len(stories):,} stories of “{run.title}”", stories))
    covered = [frozenset(report["numbers"]) for report in reports.values()]
    kept = [one for one in found if any(one.stories <= run for run in covered)]
    return sorted(kept, key=lambda one: -len(one.stories))


def settings_of(run: Run, stage: str) -> dict[str, str]:
    """What of a run's settings bears on a stage's figures."""
    held = run.params
    found = {"prompts": run.prompt_set, "level": str(run.level), "seed": str(held.get("seed", 1))}
    if run.level == 4:
        found["examples"] = str(held.get("examples"))
    if stage == "stage1":
        story = "with the story" if held.get("with_story") else "without the story"
        found["judge"] = f"{run.judge.name if run.judge else '–'}, level {held.get('judge_level')}, {story}"
        found["judge's examples"] = str(held.get("shots"))
    return found


def entries_of(runs: Sequence[Run], reports: Mapping[int, Any], stage: str) -> list[Entry]:
    """Everybody who has figures of the stage, in the order of the runs."""
    held = StoryScores.objects.filter(run__in=runs).values_list("run_id", "entrant_id", "person", "pk")
    scores = {(run, entrant, person): pk for run, entrant, person, pk in held}
    found = []
    for run in runs:
        specs = {one.pk: one.spec for one in run.entrants.all()}
        people = _people(reports[run.pk]["entrants"])
        for row in reports[run.pk]["entrants"]:
            if row[stage] is None:
                continue
            person = "" if row["id"] else row["name"]
            settings = {} if person else settings_of(run, stage)
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
                "spec": specs.get(row["id"], {}),
                "figures": row[stage],
                "numbers": reports[run.pk]["numbers"],
                "scores": scores[run.pk, row["id"], person],
            })  # fmt: skip
    return found


def _people(entrants: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What stands for the name of each person of a run: "Annotator 1", "Expert 1"."""
    found: dict[str, str] = {}
    for role in ("annotator", "expert"):
        names = [one["name"] for one in entrants if one["id"] is None and one.get("role", "annotator") == role]
        found |= {name: f"{role.capitalize()} {at}" for at, name in enumerate(names, 1)}
    return found


def newest(entries: Sequence[Entry]) -> list[Entry]:
    """The first of each model and settings, with `others`, how many further ones there are. Not the best one: choosing among
    repetitions by their score would flatter."""
    found: dict[str, Entry] = {}
    for one in entries:
        same = json.dumps([one["name"], one["person"], one["kind"], one["spec"], one["settings"]], sort_keys=True)
        if same in found:
            found[same]["others"] += 1
        else:
            found[same] = one | {"others": 0}
    return list(found.values())


def label(entries: Sequence[Entry]) -> dict[str, str]:
    """Gives each entry a `model` that no other has and the `own` settings in which it differs; returns those that all share."""
    models = [one for one in entries if one["settings"]]
    names = list(dict.fromkeys(name for one in models for name in one["settings"]))
    common = {name: models[0]["settings"].get(name, "–") for name in names if _alike(models, name)}
    taken: dict[str, int] = {}
    for one in entries:
        own = {name: value for name, value in one["settings"].items() if name not in common}
        one["own"] = ", ".join(f"{name} {value}" for name, value in own.items())
        twice = sum(other["name"] == one["name"] for other in entries) > 1
        model = f"{one['name']} ({one['own']})" if twice and one["own"] else one["name"]
        taken[model] = taken.get(model, 0) + 1
        one["model"] = f"{model} #{taken[model]}" if taken[model] > 1 else model
    return common


def _alike(entries: Sequence[Entry], name: str) -> bool:
    return len({one["settings"].get(name) for one in entries}) == 1


def standing(
    entries: Sequence[Entry], stage: str, selection: Selection | None = None, *, seed: int = SEED
) -> list[Entry]:
    """The entries with `readings`, their figures on the selection, and `group` by reading; best first by the repaired one, experts
    last: their decisions are gold."""
    if not entries:
        return []
    inference, part = _compared(entries, stage, selection, seed)
    found = []
    for one in entries:
        figures = part.get(one["key"]) or {name: one["figures"][name] for name in READINGS}
        if one["figures"]["answered"] < one["figures"]["asked"]:
            figures = figures | {"official": None}  # official scoring has none where an answer is missing
        groups = {name: inference[name].get(one["key"]) if figures[name] else None for name in READINGS}
        found.append(one | {"readings": figures, "group": groups})
    return sorted(found, key=lambda one: (one["role"] == "expert", -_score(one, stage), one["model"]))


def _score(entry: Entry, stage: str) -> float:
    repaired, official = entry["readings"]["repaired"], entry["readings"]["official"]
    value = repaired["overall"][SCORE[stage]] if repaired else official and official["overall"][SCORE[stage]]
    return -1.0 if value is None else float(value)


def _compared(entries: Sequence[Entry], stage: str, selection: Selection | None, seed: int):
    """(letters by reading and key, figures of the selection by key where they are not the report's own)."""
    rated = [one for one in entries if one["kind"] != "person"]
    partial = [one for one in entries if selection and set(one["numbers"]) != selection.stories]
    asked = [
        stage,
        sorted((one["scores"], one["key"], one["model"]) for one in rated),
        sorted(one["scores"] for one in partial),
        sorted(selection.stories) if partial else None,
        seed,
    ]
    key = "standing:" + hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    found = cache.get(key)
    if found is None:
        found = _compare(rated, partial, stage, selection if partial else None, seed)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _compare(rated, partial, stage: str, selection: Selection | None, seed: int):
    wanted = {one["scores"] for one in (*rated, *partial)}
    columns = dict(StoryScores.objects.filter(pk__in=wanted).values_list("pk", "figures"))
    inference = {reading: _ranked(rated, columns, stage, reading, selection, seed) for reading in READINGS}
    part = {}
    for one in partial:
        held = columns[one["scores"]][stage]
        rules = {"seed": seed, "resamples": RESAMPLES}
        official = official_figures(held["official"], selection.stories, stage) if held["official"] else None
        if official:
            official = with_intervals(official, held["official"], selection.stories, stage, **rules)
        part[one["key"]] = {
            "official": official,
            "repaired": repaired_figures(held["repaired"], selection.stories, stage, **rules),
        }
    return inference, part


def _ranked(rated, columns, stage: str, reading: str, selection: Selection | None, seed: int) -> dict[str, str | None]:
    from benchmark.domain.inference import Aligned, leaderboard  # SciPy takes a second to load

    scores = {}
    for one in rated:
        held = scores_by_story(columns[one["scores"]][stage][reading], SCORE[stage])
        if kept := {story: value for story, value in held.items() if not selection or story in selection.stories}:
            scores[one["key"]] = kept
    found = leaderboard(Aligned.of(scores), seed=seed) if scores else {"models": []}
    return {one["model"]: one["group"] for one in found["models"]}


def board(dataset: Dataset, form: str, key: str | None, *, all_runs: bool = False) -> dict[str, Any]:
    """{selections, chosen, stages: {stage: (entries, shared settings)}, runs}. `key` names a selection; an unknown one is the
    largest."""
    runs = finished_runs(dataset, form)
    reports = reports_of(runs)
    selections = selections_of(dataset, reports, runs)
    chosen = next((one for one in selections if one.key == key), selections[0] if selections else None)
    fitting = [run for run in runs if chosen and chosen.stories <= set(reports[run.pk]["numbers"])]
    stages = {}
    for stage in ("stage1", "stage2"):
        entries = entries_of(fitting, reports, stage)
        entries = entries if all_runs else newest(entries)
        common = label(entries)
        stages[stage] = (standing(entries, stage, chosen), common)
    return {"selections": selections, "chosen": chosen, "stages": stages, "runs": runs, "fitting": fitting}


def run_standing(run: Run, report: Mapping[str, Any], stage: str) -> list[Entry]:
    """One run's entrants against each other, over its own stories."""
    entries = entries_of([run], {run.pk: report}, stage)
    label(entries)
    return standing(entries, stage, seed=run.params.get("seed", 1))


STAGE_OF = {"stage1": Stage.JUDGE, "stage2": Stage.LABEL}
"""The kind of items that a stage's figures rest on."""
