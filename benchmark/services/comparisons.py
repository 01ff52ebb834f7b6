"""Two entrants on the stories of one dataset version: mean differences with Holm's correction over the table, and story by story."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from django.core.cache import cache

from benchmark.domain.inference import Cases, differs, paired_differences
from benchmark.domain.tables import Column, Table
from benchmark.models import Run, RunItem, StoryScores
from benchmark.services.leaderboards import KEPT_SECONDS, SEED, entries_of
from benchmark.services.reports import reports_of
from benchmark.services.selections import Selection
from benchmark.suites.registry import group_named, keys_of, nouns_of_group
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import differ_told, rows_told, shares_told
from benchmark.suites.showing.names import label
from benchmark.suites.shown import Entry
from benchmark.suites.story_scores import cases_by_story, categories_of, lacking, scores_by_story
from core.made_by import made_by
from core.statistics import caution, holm, mean_of, method

Comparison = dict[str, Any]


class NotComparable(ValueError):
    """Says in one sentence why two entrants cannot be compared."""


def pair_of(project, first: str, second: str) -> tuple[list[Run], dict[str, list[Entry]]]:
    """(their runs, both entries by stage where both have it) from two keys `<run>.<entrant>`. Raises NotComparable."""
    uids = [key.partition(".")[0] for key in (first, second)]
    held = Run.objects.filter(project=project, uid__in=[uid for uid in uids if uid.isalnum()]).select_related(
        "dataset", "judge"
    )
    runs = {run.uid: run for run in held.prefetch_related("entrants")}
    if not all(uid in runs for uid in uids) or first == second:
        raise NotComparable("Choose two different entrants of this project's runs.")
    one, other = (runs[uid] for uid in uids)
    if one.dataset_id != other.dataset_id:
        raise NotComparable("The two ran on different versions of the dataset, so their stories and gold differ.")
    if one.form != other.form:
        raise NotComparable("One answered in free text, the other in structured output; the two are never compared.")
    if one.suite != other.suite:
        raise NotComparable("The two ran under different suites, which measure different things.")
    reports = reports_of(list(runs.values()))
    found = {}
    for stage in keys_of(one.suite):
        by_key = {entry["key"]: entry for entry in entries_of(list(runs.values()), reports, stage)}
        if first in by_key and second in by_key:
            found[stage] = [by_key[first], by_key[second]]
            label(found[stage])
    if not found:
        raise NotComparable("The two have no stage in common, or no figures yet.")
    return [one, other], found


def unread(entries: Sequence[Entry], stage: str, reading: str, selection: Selection | None = None) -> str:
    """Why one of the two has no figures of a reading, over the selection where there is one, in a sentence; empty where both have."""
    for one in entries:
        if why := _unread(one, stage, reading, selection):
            return f"{one['model']} has no {reading} figures. {why}".strip()
    return ""


def _unread(entry: Entry, stage: str, reading: str, selection: Selection | None) -> str:
    held = entry["figures"]
    if held[reading]:
        return ""
    columns = selection and StoryScores.objects.get(pk=entry["scores"]).figures[stage][reading]
    return lacking(columns, selection.stories) if columns else held.get("reason") or "It has none."


def compare(entries: Sequence[Entry], stage: str, reading: str, selection: Selection | None = None) -> Comparison:
    """{first, second, stage, reading, differ, split, selection, rows, stories, n, tests, method, lead}, first minus second, missing answers at their worst, over all
    stories or those of the selection, which `split` is the key and `selection` the label of; `differ` says in which settings the two do, `lead` who was not asked about all of the stories, and in what is missing,
    `judge_tests` what the self-tests of their judges came to. Kept
    by both entrants' scores.

    A row is {what, key, category, first, second, value, interval, n, p, p_adjusted, answered}; a story {number, category, first, second, difference},
    the largest difference first, those that lack a score last. Raises NotComparable.
    """
    if why := unread(entries, stage, reading, selection):
        raise NotComparable(why)
    how = method(seed=SEED, unit="stories")
    over = [selection.key, selection.label, sorted(selection.stories)] if selection else None
    asked = [
        made_by(),
        [[one["scores"], one["model"], one["own"]] for one in entries],
        stage,
        reading,
        how,
        over,
    ]
    key = "comparison:" + hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    found = cache.get(key)
    if found is None:
        found = _compare(entries, stage, reading, selection)
        cache.set(key, found, KEPT_SECONDS)
    return found | {"judge_tests": notes_of(entries)}


def _compare(entries: Sequence[Entry], stage: str, reading: str, selection: Selection | None) -> Comparison:
    held = dict(StoryScores.objects.filter(pk__in=[one["scores"] for one in entries]).values_list("pk", "figures"))
    sides = [held[one["scores"]][stage][reading] for one in entries]
    categories = categories_of(sides[0]) | categories_of(sides[1])
    if selection:
        categories = {number: name for number, name in categories.items() if number in selection.stories}
        if not categories:
            raise NotComparable(f"The two have no story in common with {selection.label}.")
    asked_both = {number: categories[number] for number in categories if all(number in one["stories"] for one in sides)}
    rows = _rows(sides, asked_both, stage)
    repaired = [held[one["scores"]][stage]["repaired"] for one in entries]
    return {
        "first": entries[0]["model"],
        "second": entries[1]["model"],
        "stage": stage,
        "reading": reading,
        "differ": "; ".join(f"{one['model']}: {one['own']}" for one in entries if one["own"]),
        "split": selection.key if selection else "",
        "selection": selection.label if selection else "",
        "lead": [
            *_not_asked(entries, repaired, selection.stories if selection else set(categories), set(asked_both)),
            *_unlike_missing(entries, repaired, stage, set(asked_both)),
        ],
        "rows": rows,
        "stories": _stories(sides, categories, stage),
        "n": rows[0]["n"],
        "tests": (tests := sum(row["p"] is not None for row in rows)),
        "method": (
            f"missing answers at their worst; {method(seed=SEED, unit='stories')}; two-sided sign-flip test over stories; Holm's correction over "
            f"the {tests} tests of this table alone, not over all pairs of models as on the leaderboard"
            + (
                f"; {why}"
                if (why := caution(min((row["n"] for row in rows if row["p"] is not None), default=0), "stories"))
                else ""
            )
        ),
    }


def _not_asked(entries: Sequence[Entry], sides: Sequence[Mapping], stories: Set[int], both: Set[int]) -> list[str]:
    """Who was not asked about some of the stories, and that only those of both are compared; nothing where both have all."""
    told = []
    for entry, columns in zip(entries, sides, strict=True):
        if lacks := len(stories - set(columns["stories"])):
            how = "has not labelled" if entry["kind"] == "person" else "was not asked about"
            told.append(f"{entry['model']} {how} {lacks:,} of the {len(stories):,} stories")
    return [f"{' and '.join(told)}: only the {len(both):,} that both have are compared."] if told else []


def _unlike_missing(entries: Sequence[Entry], sides: Sequence[Mapping], stage: str, stories: Set[int]) -> list[str]:
    """What `unlike_missing` says, of the stories that are compared."""
    if any(one["kind"] == "person" for one in entries):
        return []
    shares, rows = {}, {}
    for entry, columns in zip(entries, sides, strict=True):
        held = cases_by_story(columns, group_named(stage).score)
        asked = [case for number, case in held.items() if case and number in stories]
        shares[entry["model"]] = sum(case.answered is None for case in asked) / len(asked) if asked else 0.0
        unjudged = columns.get("unjudged", {}).items()
        rows[entry["model"]] = sum(sum(counts) for number, counts in unjudged if int(number) in stories)
    return differ_told(
        (shares_told(shares, nouns_of_group(stage)[1]), rows_told(rows)), "The differences count them at their worst."
    )


def _rows(sides: Sequence[Mapping], categories: Mapping[int, str], stage: str) -> list[dict[str, Any]]:
    """All measures over all stories, then the score by category."""
    measures = [
        name for name in group_named(stage).headers if name in sides[0]["values"]
    ]  # a database keeps no order of keys
    parts = [(measures, "", sorted(categories))]
    names = sorted(set(categories.values()))
    for name in names if len(names) > 1 else []:  # one alone would be all stories again
        parts.append(
            ([group_named(stage).score], name, sorted(story for story, held in categories.items() if held == name))
        )
    tests = sum(len(names) for names, _, _ in parts)
    rows = [row for part in parts for row in _part(sides, *part, stage, tests)]
    return [row | {"p_adjusted": one} for row, one in zip(rows, holm([row["p"] for row in rows]), strict=True)]


def _part(sides, names: Sequence[str], category: str, stories: Sequence[int], stage: str, tests: int) -> list[dict]:
    """The rows of some measures over some stories; `tests` is how many there are in the whole table."""
    found = []
    for name in names:
        held = {side: cases_by_story(columns, name) for side, columns in zip(("first", "second"), sides, strict=True)}
        cases = Cases.of(held, set(stories))
        [pair] = paired_differences(cases, seed=SEED, tests=tests)
        first, second = (float(mean) if cases.stories else None for mean in mean_of(cases.worst))
        row = {"what": category or group_named(stage).headers[name], "key": name, "category": category}
        found.append(row | pair | {"category": category, "first": first, "second": second})
    return found


def _stories(sides: Sequence[Mapping], categories: Mapping[int, str], stage: str) -> list[dict[str, Any]]:
    first, second = (scores_by_story(columns, group_named(stage).score) for columns in sides)
    found = []
    for number, category in categories.items():
        one, other = first.get(number), second.get(number)
        gap = None if one is None or other is None else one - other
        found.append({"number": number, "category": category, "first": one, "second": other, "difference": gap})
    return sorted(found, key=lambda row: (row["difference"] is None, -abs(row["difference"] or 0), row["number"]))


def told_apart(row: Mapping[str, Any]) -> str:
    """Whether a test shows a difference, in a word."""
    return "–" if row["p_adjusted"] is None else "yes" if differs(row) else "no"


def count_column(stage: str) -> Column:
    """How many samples a difference is over."""
    return Column(key="n", header=nouns_of_group(stage)[1].capitalize(), kind="count")


def answered_columns(stage: str) -> tuple[Column, ...]:
    """Beside a difference with missing answers at their worst, what it is where nothing is missing."""
    counted = replace(count_column(stage), key="answered_n", group="Answered by both")
    difference = Column(key="answered_value", header="Difference", unit="points", kind="share", group=counted.group)
    return difference, counted


def answered_by_both(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row holds for `answered_columns`; frozen comparisons may be older than these."""
    return {f"answered_{name}": value for name, value in (row.get("answered") or {}).items()}


def difference_table(comparison: Comparison) -> Table:
    """The measures over all stories, of labelling each dimension among them, and the score by category."""
    first, second = comparison["first"], comparison["second"]
    columns = [
        Column(key="part", header="Over"),
        Column(key="what", header="Figure"),
        Column(key="first", header=first, unit="%", kind="share"),
        Column(key="second", header=second, unit="%", kind="share"),
        Column(key="value", header="Difference", unit="points", kind="share", interval="interval"),
        Column(key="p", header="p", kind="number", digits=4),
        Column(key="p_adjusted", header="p, Holm", kind="number", digits=4),
        Column(key="shown", header="Shown to differ"),
        count_column(comparison["stage"]),
        *(answered_columns(comparison["stage"]) if any(row.get("answered") for row in comparison["rows"]) else ()),
    ]
    everything = f"All {nouns_of_group(comparison['stage'])[1]}"
    rows = [
        row
        | {"part": "Category" if row["category"] else everything, "shown": told_apart(row)}
        | {"interval_reason": row.get("reason")}
        | answered_by_both(row)
        for row in comparison["rows"]
    ]
    title = f"{group_named(comparison['stage']).score_title}: {first} minus {second}, {comparison['reading']} reading"
    told = {"Stories": comparison.get("selection"), "Settings that differ": comparison.get("differ")}
    notes = [f"{what}: {said}." for what, said in told.items() if said]
    notes += comparison.get("judge_tests", [])
    how = comparison["method"]
    notes.append(f"{how[:1].upper()}{how[1:]}.")
    return Table(title=title, columns=columns, rows=rows, lead=comparison.get("lead", ()), notes=notes)


def story_table(comparison: Comparison) -> Table:
    columns = [
        Column(key="number", header="Story"),
        Column(key="category", header="Category"),
        Column(key="first", header=comparison["first"], unit="%", kind="share"),
        Column(key="second", header=comparison["second"], unit="%", kind="share"),
        Column(key="difference", header="Difference", unit="points", kind="share"),
    ]
    title = f"{group_named(comparison['stage']).score_title} by story, {comparison['reading']} reading"
    return Table(title=title, columns=columns, rows=comparison["stories"], lead=comparison.get("lead", ()))


def tables_of(comparison: Comparison) -> dict[str, Callable[[], Table]]:
    """The tables by name, made when they are asked for."""
    return {"differences": lambda: difference_table(comparison), "stories": lambda: story_table(comparison)}


def items_behind(entries: Sequence[Entry], stage: str, numbers: Sequence[int]) -> dict[tuple[str, int], int]:
    """(entry key, story number) → the id of the item behind a figure."""
    wanted = {one["entrant"]: one["key"] for one in entries if one["entrant"]}
    held = RunItem.objects.filter(entrant__in=wanted, stage=group_named(stage).scored, sample__number__in=numbers)
    rows = held.values_list("entrant_id", "sample__number", "pk")
    return {(wanted[entrant], number): pk for entrant, number, pk in rows}
