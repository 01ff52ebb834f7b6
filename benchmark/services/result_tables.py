"""What runs came to as tables. Rows also have, under names with an underscore, what a page links them to.

`_entrant` and `_stage` say whose items a row rests on, `_where` which of them by the key of a column, as filters of the items page (see
`items.places_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.tables import Column, Table
from benchmark.services.absences import WITHIN
from benchmark.services.judge_test_tables import COLUMN, NOTE, notes_of, tests_of
from benchmark.services.leaderboards import Entry
from benchmark.services.people_columns import PEOPLE_NOTE, labelled_notes, own_columns, own_values
from benchmark.suites.omnitom.labels import COLUMNS
from benchmark.suites.omnitom.tables import ABBREVIATIONS, in_order, interval_of
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named
from benchmark.suites.story_scores import READINGS
from core.statistics import caution

GROUPS = {"official": "Official reading (%)", "repaired": "Repaired reading (%)"}
RANKING, MISSING = "Ranking", "Missing answers (%)"
RANK_NOTE = "Rank: by the score with every missing answer at its worst, an order that refusing cannot improve. Its brackets, from eight models on: 95 % bootstrap intervals."
GROUP_NOTE = (
    "Group: models without a common letter are shown to differ. Paired sign-flip test on these scores, Holm's correction over all pairs and "
    "categories. People are neither ranked nor tested."
)
READING_NOTE = (
    "Repaired leaves out what cannot be read, failed calls and judgements that are lacking; official counts what cannot be read as 0. "
    "Brackets: 95 % intervals over stories."
)
UNJUDGED_NOTE = (
    "Rows not judged: predicted and gold rows that the judge gave no count. They are in no estimate; bounds and interval take them as "
    "unmatched, and as matched."
)
UNMARKED = "Nothing is marked as best: {why}."
AT_THEIR_WORST = "Order, bold and letters count them at their worst."
LEFT_OUT = "Rows pooled over stories leave them out."


def stage_table(entries: Sequence[Entry], stage: str) -> Table:
    """Every figure of a stage: the ranking, what is missing, then both readings."""
    group = group_named(stage)
    measures, score = group.headers, group.headers[group.score]
    share = {"kind": "share", "group": MISSING}
    columns = [
        Column(key="model", header="Model"),
        *_ranking_columns("repaired", RANKING),
        Column(key="unusable", header="Left out", digits=1, **share),
        Column(key="low", header=f"{score}, worst case", interval="low_interval", best="high", **share),
        Column(key="high", header=f"{score}, best case", **share),
        *([Column(key="unjudged", header="Rows not judged", kind="count")] if group.judged else []),
    ]
    for reading in reversed(_readings(entries)):  # the repaired one, which the ranking goes by, first
        if reading == "official":
            columns += _ranking_columns(reading, GROUPS[reading])
        columns += [
            Column(
                key=f"{reading}_{name}",
                header=header,
                kind="share",
                group=GROUPS[reading],
                interval=f"{reading}_{name}_interval",
                best="high",
                worst=f"{reading}_{name}_worst" if reading == "repaired" else "",
            )
            for name, header in measures.items()
        ]
    columns += own_columns(entries)
    columns.append(Column(key="stories", header=nouns_of_group(stage)[1].capitalize(), kind="count"))
    columns += [COLUMN] if tests_of(entries) else []
    rows, below = _ranked([(one, _stage_row(one, stage)) for one in entries])
    for row in (*rows, *below):
        row["_where"] = {f"{reading}_{name}": measured(name, reading) for reading in READINGS for name in measures}
        row["_where"] |= {key: {"problem": "missing"} for key in ("unusable", "low", "high")}
        row["_where"]["unjudged"] = {"problem": "gaps"}
    made = Table(
        title=group.title,
        columns=columns,
        rows=rows,
        totals=below,
        lead=leads(entries, stage),
        notes=_notes(entries, stage),
        ranking=ranked_by(entries),
    )
    return with_settings(made)


def _ranking_columns(reading: str, group: str) -> list[Column]:
    rank = Column(key=f"{reading}_rank", header="Rank", kind="count", group=group, interval=f"{reading}_ranks")
    return [rank, Column(key=f"{reading}_group", header="Group", group=group)]


def missing_of(entry: Entry, stage: str) -> dict[str, Any]:
    """{stories, unusable, lost, low, high}: how many stories were asked for, how many have no score, how many of these judges or providers lost,
    and the score with all of them at their worst and at their best, None without a story."""
    if ranking := (entry.get("ranking") or {}).get("repaired"):
        held = {"stories": ranking["n"], "unusable": ranking["missing"], "lost": ranking["lost"]}
        return held | {"low": ranking["value"], "high": ranking["best"]}
    overall = entry["readings"]["repaired"]["overall"]
    low, high = overall["bounds"][group_named(stage).score] or (None, None)
    held = {"stories": overall["stories"] + overall["unusable"], "unusable": overall["unusable"], "lost": 0}
    return held | {"low": low, "high": high}


def left_out(missing: Mapping[str, Any]) -> float | None:
    """The share of the stories that have no score."""
    return missing["unusable"] / missing["stories"] if missing["stories"] else None


def leads(entries: Sequence[Entry], stage: str) -> list[str]:
    """What has to be known before the ranking is read: missing answers that differ, models without a rank, no letters."""
    models = [one for one in entries if one["kind"] != "person"]
    return [*_missing_differ(models, stage), *_lost(models, stage), *_without_letters(models), *_few_stories(models)]


def unlike_missing(
    stages: Mapping[str, Sequence[Entry]], *, titled: bool = True, counted: str = AT_THEIR_WORST
) -> list[str]:
    """Of tables without a ranking: at which stages missing answers differ between models, and by how much; `counted` says what becomes of them."""
    models = {stage: [one for one in held if one["kind"] != "person"] for stage, held in stages.items()}
    head = {stage: f"{group_named(stage).title}. " if titled else "" for stage in models}
    return [f"{head[stage]}{told}" for stage, held in models.items() for told in _missing_differ(held, stage, counted)]


def _few_stories(models: Sequence[Entry]) -> list[str]:
    """What the letters take for granted where there are any."""
    lettered = [one for one in models if any((one.get("group") or {}).values())]
    stories = min((held["n"] for one in lettered for held in one["ranking"].values() if held), default=0)
    why = caution(stories, "stories") if lettered else ""
    return [f"{why[:1].upper()}{why[1:]}."] if why else []


def missing_told(entries: Sequence[Entry], stage: str) -> str:
    """Between which shares the missing answers of models lie; empty where all left out equally much."""
    shares = {one["model"]: left_out(missing_of(one, stage)) or 0.0 for one in _models(entries)}
    return shares_told(shares, nouns_of_group(stage)[1])


def shares_told(shares: Mapping[str, float], nouns: str = "stories") -> str:
    """What `missing_told` says, from the share of each model's samples, which `nouns` names."""
    if len(set(shares.values())) < 2:
        return ""
    most = max(shares, key=shares.__getitem__)
    return f"missing answers differ: {100 * min(shares.values()):.1f} to {100 * shares[most]:.1f} % of the {nouns}, most of {most}"


def unjudged_told(entries: Sequence[Entry]) -> str:
    """Between which numbers the rows lie that judges left out; empty where they left out equally many of all models."""
    return rows_told({one["model"]: _unjudged(one) for one in _models(entries)})


def rows_told(counts: Mapping[str, int]) -> str:
    """What `unjudged_told` says, from the number of each model's rows."""
    if len(set(counts.values())) < 2:
        return ""
    most = max(counts, key=counts.__getitem__)
    return f"rows not judged differ: {min(counts.values()):,} to {counts[most]:,}, most of {most}"


def _missing_differ(models: Sequence[Entry], stage: str, counted: str = AT_THEIR_WORST) -> list[str]:
    return differ_told((missing_told(models, stage), unjudged_told(models)), counted)


def differ_told(parts: Iterable[str], counted: str = AT_THEIR_WORST) -> list[str]:
    """What differs, as a sentence, and after it what becomes of it; nothing where nothing differs."""
    told = "; ".join(filter(None, parts))
    return [f"{told[:1].upper()}{told[1:]}. {counted}"] if told else []


def _models(entries: Iterable[Entry]) -> list[Entry]:
    return [one for one in entries if one["kind"] != "person"]


def _lost(models: Sequence[Entry], stage: str) -> list[str]:
    """What is not the models' doing: why some have no rank, then of how many stories others lack something."""
    found: list[str] = []
    alike: dict[int, list[str]] = {}
    for one in models:
        ranking = (one.get("ranking") or {}).get("repaired") or {}
        if not ranking.get("lost"):
            continue
        if ranking.get("reason"):
            found.append(f"{one['model']}: {ranking['reason']}.")
        else:
            alike.setdefault(ranking["lost"], []).append(one["model"])
    for lost, names in alike.items():
        stories = f"{lost:,} {nouns_of_group(stage)[lost != 1]}"
        found.append(
            f"Judges or providers lost answers, or rows of them, in {stories} of {', '.join(names)}: that shows no difference "
            f"against {'it' if len(names) == 1 else 'them'}."
        )
    return found


def _without_letters(models: Sequence[Entry]) -> list[str]:
    held = next((one["no_letters"] for one in models if one.get("no_letters")), {})
    read = [name for name in _readings(models) if held.get(name)]
    whys = {held[name] for name in read}
    if len(whys) == 1 and len(read) == len(_readings(models)):
        return [f"No letters: {whys.pop()}."]
    return [f"No letters in the {name} reading: {held[name]}." for name in read]


def complete(entries: Sequence[Entry], reading: str) -> bool:
    """Whether the models' figures are of the same stories and of all rows, so that the highest can be marked as best."""
    return not incomplete(entries, reading)


def incomplete(entries: Sequence[Entry], reading: str) -> str:
    """Why the highest figure cannot be marked as best; official figures count as 0 what is missing."""
    models = _models(entries) if reading == "repaired" else []
    whys = {
        "the models answered different stories": any(
            one["readings"]["repaired"]["overall"]["unusable"] for one in models
        ),
        "judges left out rows": any(map(_unjudged, models)),
    }
    return " and ".join(why for why, holds in whys.items() if holds)


def unmarked(entries: Sequence[Entry], reading: str) -> list[str]:
    """The note of a table without marks; none where the best can be marked."""
    why = incomplete(entries, reading)
    return [UNMARKED.format(why=why)] if why else []


def with_settings(table: Table) -> Table:
    """With a column of the settings that not all rows share, where there are any."""
    if not any(row.get("_own") for row in table.rows):
        return table
    rows, totals = (
        [dict(row) | {"settings": row.get("_own") or None} for row in held] for held in (table.rows, table.totals)
    )
    columns = [*table.columns, Column(key="settings", header="Settings")]
    return replace(table, columns=columns, rows=rows, totals=totals)


def ranked_within(entries: Sequence[Entry]) -> list[str]:
    """Which prompts and which judge all models of a ranking have in common; frozen reports may be older than that."""
    told = _within(entries)
    return (
        [f"One ranking: {', '.join(told)}. What was asked or judged otherwise has a ranking of its own."]
        if told
        else []
    )


def _within(entries: Iterable[Entry]) -> list[str]:
    held = list(entries)
    found = {field: {name for one in held if (name := one.get("within", {}).get(field))} for field in WITHIN}
    return [f"{said} {'; '.join(sorted(found[field]))}" for field, said in WITHIN.items() if found[field]]


def ranked_by(entries: Iterable[Entry]) -> str:
    """The name of the ranking, as files have it."""
    return "; ".join(["worst case (missing answers at their worst)", *_within(entries)])


def _ranked(rows: Sequence[tuple[Entry, dict[str, Any]]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows to sort and to mark the best of, and those that stand below: experts, whose decisions are gold."""
    below = [row for one, row in rows if one.get("role") == "expert"]
    ranked = [row for one, row in rows if one.get("role") != "expert"]
    return (ranked, below) if ranked else (below, [])


_DIMENSION_OF = {f"acc_{column}": dimension for dimension, column in COLUMNS.items()}


def measured(name: str, reading: str) -> dict[str, str]:
    """The items behind a measure: of one dimension, with its cells."""
    if name in _DIMENSION_OF:
        return {"dimension": _DIMENSION_OF[name], "reading": reading}
    return {"problem": "used"} if reading == "repaired" else {}


def _readings(entries: Iterable[Entry]) -> list[str]:
    """Both, or only the repaired one where nobody has an official one: structured output."""
    return [name for name in READINGS if name == "repaired" or any(one["readings"][name] for one in entries)]


def unranked(entry: Entry) -> bool:
    """Whether the entry is out of the ranking: a person, or a model of which too much was lost."""
    ranking = (entry.get("ranking") or {}).get("repaired")
    return entry["kind"] == "person" or bool(ranking and ranking["rank"] is None)


def identity(entry: Entry, stage: str) -> dict[str, Any]:
    return {
        "model": entry["model"],
        "_key": entry["key"],
        "_kind": entry["kind"],
        "_unranked": unranked(entry),
        "_run": entry["run"],
        "_run_title": entry["run_title"],
        "_entrant": entry["entrant"],
        "_own": entry["own"],
        "_others": entry.get("others", 0),
        "_stage": stage,
        COLUMN.key: (entry.get("judge_test") or {}).get("told"),
    }


def _stage_row(entry: Entry, stage: str) -> dict[str, Any]:
    row = identity(entry, stage)
    for reading in READINGS:
        overall = (entry["readings"][reading] or {}).get("overall", {})
        for name in group_named(stage).headers:
            key = f"{reading}_{name}"
            row |= {key: overall.get(name)} | interval_of(f"{key}_interval", overall, name)
            row[f"{key}_worst"] = ((overall.get("bounds") or {}).get(name) or (None,))[0]
        ranking = (entry.get("ranking") or {}).get(reading) or {}
        row |= {f"{reading}_{name}": ranking.get(name) for name in ("rank", "ranks", "ranks_reason")}
        row[f"{reading}_group"] = entry["group"][reading]
    missing = missing_of(entry, stage)
    ranking = (entry.get("ranking") or {}).get("repaired") or {}
    row |= {"low_interval": ranking.get("interval"), "low_interval_reason": ranking.get("interval_reason")}
    return (
        row
        | own_values(entry, stage)
        | {"unusable": left_out(missing), "unjudged": _unjudged(entry)}
        | {name: missing[name] for name in ("low", "high", "stories")}
    )


def _unjudged(entry: Entry) -> int:
    """Rows of both tables without a judgement."""
    held = entry["readings"]["repaired"]["overall"].get("unjudged", {})
    return held.get("predicted", 0) + held.get("gold", 0)


def _notes(entries: Sequence[Entry], stage: str) -> list[str]:
    notes = [RANK_NOTE, GROUP_NOTE, READING_NOTE]
    group = group_named(stage)
    notes += group.notes
    if group.judged:
        notes += [UNJUDGED_NOTE] if any(_unjudged(one) for one in entries) else []
        notes += [NOTE, *notes_of(entries)] if tests_of(entries) else []
    notes += ranked_within(entries)
    notes += _unofficial(entries)
    if any(one["kind"] == "person" for one in entries):
        notes += [PEOPLE_NOTE, *labelled_notes(entries)]
    return notes


def _unofficial(entries: Sequence[Entry]) -> list[str]:
    """Why there is no official figure, a note for each reason."""
    models: dict[str, list[str]] = {}
    for one in entries:
        if not one["readings"]["official"]:
            models.setdefault(one["readings"].get("reason", ""), []).append(one["model"])
    return [
        why if len(names) == len(entries) else f"No official figure of {', '.join(names)}: {why}"
        for why, names in models.items()
        if why
    ]


def category_table(entries: Sequence[Entry], stage: str) -> Table:
    """The score of a stage by story category, official beside repaired."""
    held = {one["key"]: {name: by_category(one, name) for name in READINGS} for one in entries}
    categories = in_order(name for readings in held.values() for rows in readings.values() for name in rows)
    columns = [Column(key="model", header="Model")]
    heads = {"official": "Official", "repaired": "Repaired"}
    for category in categories:
        columns += [
            Column(
                key=f"{reading} {category}",
                header=heads[reading],
                kind="share",
                group=ABBREVIATIONS.get(category, category),
                interval=f"{reading} {category} interval",
                n=f"{reading} {category} n",
                best="high",
                worst=f"{reading} {category} worst" if reading == "repaired" else "",
            )
            for reading in _readings(entries)
        ]
    rows = []
    for one in entries:
        row = identity(one, stage) | {"_where": {}}
        for reading in READINGS:
            for category, figures in held[one["key"]][reading].items():
                key = f"{reading} {category}"
                row |= {key: figures[group_named(stage).score]} | interval_of(
                    f"{key} interval", figures, group_named(stage).score
                )
                row[f"{key} n"] = int(figures["stories"])
                row[f"{key} worst"] = ((figures.get("bounds") or {}).get(group_named(stage).score) or (None,))[0]
                row["_where"][key] = {"category": category} | measured(group_named(stage).score, reading)
        rows.append((one, row))
    names = [f"{ABBREVIATIONS[name]} {name}" for name in categories if name in ABBREVIATIONS]
    notes = ["; ".join(names) + "."] if names else []
    ranked, below = _ranked(rows)
    title, notes = (
        f"{group_named(stage).score_title} by {'story category' if suite_named(group_suite(stage)).protocol else 'category'} (%)",
        [*notes, f"n: {nouns_of_group(stage)[1]}.", *ranked_within(entries)],
    )
    lead = unlike_missing({stage: entries})
    made = Table(
        title=title, columns=columns, rows=ranked, totals=below, lead=lead, notes=notes, ranking=ranked_by(entries)
    )
    return with_settings(made)


def by_category(entry: Entry, reading: str) -> dict[str, Mapping[str, Any]]:
    return {row["story_category"]: row for row in (entry["readings"][reading] or {}).get("by_category", ())}
