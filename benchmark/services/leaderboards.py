"""Entrants of runs in order, with both readings, intervals and the groups that cannot be told apart.

What the inference needs of stories is read only where the same set of scores was not compared before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.cache import cache

from annotation.domain.anchoring.estimates import RESAMPLES
from benchmark.domain.inference import Aligned, leaderboard
from benchmark.domain.inference.bootstrap import method
from benchmark.models import Run, Stage, StoryScores
from benchmark.services.in_context import examples_told, judge_told
from benchmark.services.selections import Selection
from benchmark.services.story_scores import (
    READINGS,
    SCORE,
    categories_of,
    lacking,
    official_figures,
    repaired_figures,
    scores_by_story,
    with_intervals,
)

KEPT_SECONDS = 90 * 24 * 3600
KEPT_VERSION = 3
"""Of what `_compare` makes. Raise it with every change of that."""
SEED = 1

Entry = dict[str, Any]
"""One model (or person) of one run at one stage: {key, name, model, kind, role, run, run_title, entrant, settings, own, figures, numbers,
scores, spec}; `model` is its unique label, `figures` the stage's of the report, `scores` the id of its `StoryScores`."""


def settings_of(run: Run, stage: str) -> dict[str, str]:
    """What of a run's settings bears on a stage's figures: of what was sent, nothing that a prompt had no use for."""
    held = run.params
    found = {"prompts": run.prompt_set, "level": str(run.level), "seed": str(held.get("seed", 1))}
    if held.get("max_tokens"):
        found["longest answer"] = f"{held['max_tokens']:,} tokens"
    asked = Stage.EXTRACT if stage == "stage1" else Stage.LABEL
    if shown := examples_told(run, asked):
        found["examples"] = shown
    if stage == "stage1":
        found["judge"] = judge_told(run)
        if shown := examples_told(run, Stage.JUDGE):
            found["judge's examples"] = shown
    return found


def entries_of(runs: Sequence[Run], reports: Mapping[int, Any], stage: str) -> list[Entry]:
    """Everybody who has figures of the stage, in the order of the runs."""
    held = StoryScores.objects.filter(run__in=runs).values_list("run_id", "entrant_id", "person", "pk")
    scores = {(run, entrant, person): pk for run, entrant, person, pk in held}
    found = []
    for run in runs:
        specs = {one.pk: one.spec for one in run.entrants.all()}
        people = people_of(reports[run.pk]["entrants"])
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


def people_of(entrants: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What stands for the name of each person of a run: "Annotator 1", "Expert 1", the same on every run of the dataset."""
    return {one["name"]: f"{one['role'].capitalize()} {one['number']}" for one in entrants if one["id"] is None}


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
    """Gives each entry a `model` that no other has, by the settings in which those of its name differ, and the `own` settings that not
    all have; returns those that all share."""
    models = [one for one in entries if one["settings"]]
    common = {name: models[0]["settings"].get(name, "–") for name in _settings(models) if _alike(models, name)}
    taken: dict[str, int] = {}
    for one in entries:
        own = {name: value for name, value in one["settings"].items() if name not in common}
        one["own"] = _told(own)
        namesakes = [other for other in entries if other["name"] == one["name"]]
        asked = {name: _short(one["spec"].get(name)) for name in ENDPOINT_S if not _alike(namesakes, name, "spec")}
        differing = _told({name: value for name, value in own.items() if not _alike(namesakes, name)} | asked)
        model = f"{one['name']} ({differing})" if differing else one["name"]
        taken[model] = taken.get(model, 0) + 1
        one["model"] = f"{model} #{taken[model]}" if taken[model] > 1 else model
    return common


def _settings(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(name for one in entries for name in one["settings"]))


def _told(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _short(value: Any) -> str:
    """Of an endpoint's spec: options can be of any length."""
    told = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value or "–")
    return told if len(told) <= 40 else f"{told[:39]}…"


ENDPOINT_S = ("provider", "model", "revision", "base_url", "options")
"""What of an endpoint's spec tells two of one name apart."""


def _alike(entries: Sequence[Entry], name: str, of: str = "settings") -> bool:
    return len({json.dumps(one.get(of, {}).get(name), sort_keys=True) for one in entries}) == 1


def standing(
    entries: Sequence[Entry], stage: str, selection: Selection | None = None, *, seed: int = SEED
) -> list[Entry]:
    """The entries with `readings`, their figures on the selection, `group` by reading, and `out_of_reach` by reading, how many tests are too
    many for any to pass on so few stories, 0 where one can; best first by the repaired reading, experts last: their decisions are gold.

    Without an official reading `readings` has a `reason`, which says why.
    """
    if not entries:
        return []
    letters, part, out_of_reach = _kept("standing", entries, stage, selection, seed)
    found = []
    for one in entries:
        figures = part.get(one["key"]) or _own_figures(one)
        groups = {name: letters[name].get(one["key"]) for name in READINGS}
        found.append(one | {"readings": figures, "group": groups, "out_of_reach": out_of_reach})
    return sorted(found, key=lambda one: (one["role"] == "expert", -_score(one, stage), one["model"]))


def _own_figures(entry: Entry) -> dict[str, Any]:
    """Those of the entry's report."""
    held = entry["figures"]
    return {name: held[name] for name in READINGS} | ({} if held["official"] else {"reason": held.get("reason", "")})


def _score(entry: Entry, stage: str) -> float:
    repaired, official = entry["readings"]["repaired"], entry["readings"]["official"]
    value = repaired["overall"][SCORE[stage]] if repaired else official and official["overall"][SCORE[stage]]
    return -1.0 if value is None else float(value)


def differences(
    entries: Sequence[Entry], stage: str, selection: Selection | None = None, *, seed: int = SEED
) -> dict[str, Any]:
    """By reading {pairs, method, tests}: every two models over the selection's stories and in each category, as
    `inference.paired_differences` has them under the keys of their entries. The letters of `standing` rest on the same tests."""
    return _kept("differences", entries, stage, selection, seed)


def _kept(what: str, entries: Sequence[Entry], stage: str, selection: Selection | None, seed: int) -> Any:
    """What `_compare` calls so, made once for the same scores."""
    partial = [one for one in entries if selection and set(one["numbers"]) != selection.stories]
    rated = [one for one in entries if one["kind"] != "person"]
    asked = [
        KEPT_VERSION,
        stage,
        sorted((one["scores"], one["key"], one["model"]) for one in rated),
        sorted(one["scores"] for one in partial),
        sorted(selection.stories) if partial else None,
        method(seed=seed, resamples=RESAMPLES),
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
    """{"standing": (letters by reading and key, figures of the selection by key where they are not the report's own, tests that are
    out of reach), "differences": by reading}."""
    wanted = {one["scores"] for one in (*rated, *partial)}
    columns = {pk: held[stage] for pk, held in StoryScores.objects.filter(pk__in=wanted).values_list("pk", "figures")}
    letters, apart, out_of_reach = {}, {}, {}
    for reading in READINGS:
        found = _ranked(rated, columns, stage, reading, selection, seed)
        letters[reading] = {one["model"]: one["group"] for one in found["models"]}
        apart[reading] = {name: found[name] for name in ("pairs", "method", "tests")}
        out_of_reach[reading] = found["tests"] if found["too_few"] else 0
    part = {one["key"]: _part(one, columns[one["scores"]], stage, selection, seed) for one in partial}
    return {"standing": (letters, part, out_of_reach), "differences": apart}


def _part(entry: Entry, columns: Mapping[str, Any], stage: str, selection: Selection, seed: int) -> dict[str, Any]:
    """Both readings of the selection."""
    rules = {"seed": seed, "resamples": RESAMPLES}
    stories, official = selection.stories, columns["official"]
    figures = {"repaired": repaired_figures(columns["repaired"], stories, stage, **rules)}
    if why := lacking(official, stories):
        return figures | {"official": None, "reason": why if official else entry["figures"].get("reason", why)}
    return figures | {
        "official": with_intervals(official_figures(official, stories, stage), official, stories, stage, **rules)
    }


def _ranked(rated, columns, stage: str, reading: str, selection: Selection | None, seed: int) -> dict[str, Any]:
    scores: dict[str, dict[int, float | None]] = {}
    categories: dict[int, str] = {}
    for one in rated:
        held, stories = columns[one["scores"]][reading], selection.stories if selection else set(one["numbers"])
        if not held or (reading == "official" and lacking(held, stories)):
            continue
        scores[one["key"]] = {
            story: value for story, value in scores_by_story(held, SCORE[stage]).items() if story in stories
        }
        categories |= categories_of(held)
    if not scores:
        return {"models": [], "pairs": [], "method": "", "tests": 0, "too_few": False}
    return leaderboard(Aligned.of(scores), seed=seed, categories=categories)


def run_standing(run: Run, report: Mapping[str, Any], stage: str) -> list[Entry]:
    """One run's entrants against each other, over its own stories."""
    entries = entries_of([run], {run.pk: report}, stage)
    label(entries)
    return standing(entries, stage, seed=run.params.get("seed", 1))


STAGE_OF = {"stage1": Stage.JUDGE, "stage2": Stage.LABEL}
"""The kind of items that a stage's figures rest on."""
