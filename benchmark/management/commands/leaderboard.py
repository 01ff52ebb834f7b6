from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.management.commands._files import check_output, content_of, written
from benchmark.models import Dataset, Form
from benchmark.services.conditions import FIELDS
from benchmark.services.differences import pair_table, pairs_of
from benchmark.services.documents import board_document, tables_of
from benchmark.services.leaderboard_scope import answer_format_to_show, leaderboard_of, version_to_show
from benchmark.services.plot_data import figures_of, score_of
from benchmark.services.selections import selection_named
from benchmark.suites.registry import group_named
from benchmark.suites.showing.missing import leads, left_out, missing_of
from benchmark.suites.story_scores import READINGS

KINDS = ("model", "baseline", "person")


class Command(JsonCommand):
    help = (
        "Prints the leaderboard of a version of the gold. With --output it writes one of its tables (csv, json, tex) or figures (svg, pdf, "
        "png), or the differences between all pairs."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dataset", type=int, metavar="VERSION", help="the newest one with runs if not given")
        parser.add_argument("--form", choices=Form.values, help="text, unless all runs are structured")
        parser.add_argument("--split", metavar="NAME", help="only stories of this split, or run:ID for those of a run")
        parser.add_argument(
            "--prompts", metavar="NAME", help="the ranking of models that were asked so; of most models if not given"
        )
        parser.add_argument(
            "--judge", metavar="NAME", help="the ranking of models that were judged so; of most models if not given"
        )
        parser.add_argument("--all-runs", action="store_true", help="not only the newest of each setting")
        parser.add_argument("--kind", choices=KINDS, help="only these rows; differences have all pairs")
        parser.add_argument("--name", metavar="NAME", help="the table or figure to write, such as stage2")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")

    def work(self, **options) -> dict:
        check_output(options)
        project = self.project(options["project"])
        dataset = _version(project, options["dataset"])
        form = options["form"] or answer_format_to_show(dataset)
        asked = {field: options[field] or "" for field in FIELDS}
        found = leaderboard_of(dataset, form, options["split"], all_runs=options["all_runs"], asked=asked)
        if (full := {field: _full_name(field, name, found) for field, name in asked.items()}) != asked:
            found = leaderboard_of(dataset, form, options["split"], all_runs=options["all_runs"], asked=full)
        named = selection_named(dataset, options["split"] or "")
        if options["split"] and (named is None or found["chosen"] is None or found["chosen"].stories != named.stories):
            known = ", ".join(one.key for one in found["selections"] if one.key) or "none"
            raise ValueError(f"No run covers the split {options['split']!r}; there are: {known}.")
        kind = options["kind"]
        stages = {
            stage: [one for one in entries if not kind or one["kind"] == kind]
            for stage, (entries, _) in found["stages"].items()
        }
        told = {
            "project": project.slug,
            "dataset": dataset.version,
            **({"title": dataset.title} if dataset.title else {}),
            "form": str(form),
            "stories": found["chosen"].label if found["chosen"] else "",
            "stages": {stage: [_row(one, stage) for one in entries] for stage, entries in stages.items()},
            "rankings": {
                stage: dict(one.chosen) | {"others": list(one.others)} for stage, one in found["rankings"].items()
            },
            "notes": {stage: leads(entries, stage) for stage, entries in stages.items()},
            "absent": [one.as_json() for one in found["absent"]],
        }
        for one in found["absent"]:
            if one.failed:  # the others are told with the ranking
                self.note(str(one))
        if not options["output"]:
            return told
        document = board_document("Leaderboard", stages, found["absent"])
        tables = tables_of(document) | _differences(found)
        return told | written(
            options["output"], content_of(options["output"], options["name"], tables, figures_of(document))
        )

    def say(self, result: dict) -> None:
        copy = f"{result.get('title')}, version {result['dataset']}"
        what = copy if "title" in result else f"Version {result['dataset']} of the gold"
        self.stdout.write(f"{what}, {result['form']}, {result['stories'] or 'no finished run'}")
        for stage, rows in result["stages"].items():
            if rows:
                wide = max(len(group_named(stage).score_title) + 4, *(len(row["model"]) for row in rows))
                heads = "".join(f"{reading:>22}" for reading in READINGS)
                self.stdout.write(
                    f"\n{f'{group_named(stage).score_title} (%)':{wide}}{'rank':>6}{heads}{'left out':>10}{'worst to best':>16}  group"
                )
            for row in rows:
                figures = "".join(f"{_told(row[reading]):>22}" for reading in READINGS)
                missing = f"{_percent(row['left_out']):>10}{_ends(row):>16}"
                self.stdout.write(
                    f"{row['model']:{wide}}{row['rank'] or '–':>6}{figures}{missing}  {row['group'] or '–'}"
                )
            for note in (
                (*result["notes"][stage], *_no_intervals(rows), *_apart(result["rankings"][stage])) if rows else ()
            ):
                self.stdout.write(note)
            for note in _uncovered(result["absent"], stage):
                self.stdout.write(note)
        if not any(result["stages"].values()):
            self.note("No finished run has figures of these stories; --dataset and --split choose others.")
        if "path" in result:
            self.stdout.write(f"\npath: {result['path']}")


def _full_name(field: str, name: str, found: Mapping[str, Any]) -> str:
    """The name of the rankings' `field` that is `name`, or alone begins with it: `lexical-judge` for `lexical-judge, rules 3`."""
    known = found["conditions"][field]
    alike = [one for one in known if one.startswith(f"{name}, ")]
    if not name or name in known:
        return name
    if len(alike) != 1:
        what = f"{len(alike)} rankings have" if alike else "No ranking has"
        raise ValueError(f"{what} the {field} {name!r}; there are: {'; '.join(known) or 'none'}.")
    return alike[0]


def _version(project: Project, number: int | None) -> Dataset:
    held = version_to_show(project) if number is None else project.datasets.filter(version=number).first()
    if held is None:
        known = ", ".join(map(str, project.datasets.values_list("version", flat=True))) or "none"
        what = "no frozen gold" if number is None else f"no version {number} of its gold"
        raise ValueError(f"{project.slug} has {what}; there are: {known}.")
    return held


def _row(entry: Mapping[str, Any], stage: str) -> dict[str, Any]:
    return {
        "model": entry["model"],
        "kind": entry["kind"],
        "run": entry["run"],
        "settings": entry["settings"],
        **({"judge_test": entry["judge_test"]} if entry["judge_test"] else {}),
        **_ranking(entry),
        **_missing(entry, stage),
        **{reading: _number(score_of(entry, reading, stage)) for reading in READINGS},
    }


def _ranking(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Rank, its interval from eight models on, and letters; why there is no rank."""
    ranking = entry["ranking"]["repaired"] or {}
    held = {"rank": ranking.get("rank"), "rank_interval": ranking.get("ranks"), "group": entry["group"]["repaired"]}
    return held | ({"reason": ranking["reason"]} if ranking.get("rank") is None and ranking.get("reason") else {})


def _missing(entry: Mapping[str, Any], stage: str) -> dict[str, Any]:
    """How many stories have no score, how many of these judges or providers lost, and what the score is with them at their worst and best."""
    missing = missing_of(entry, stage)
    counts = {name: missing[name] for name in ("stories", "unusable", "lost")}
    return counts | {"left_out": left_out(missing), "worst_case": missing["low"], "best_case": missing["high"]}


def _number(figure: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Official values are texts of six decimals."""
    return None if figure is None or figure["value"] is None else dict(figure) | {"value": float(figure["value"])}


def _differences(found: Mapping[str, Any]) -> dict[str, Any]:
    """The tables `differences-STAGE-READING`, which hold all pairs."""

    def made(stage: str, reading: str):
        entries = found["stages"][stage][0]
        rows, method = pairs_of(entries, stage, found["chosen"], reading)
        absent = [one.told for one in found["absent"] if one.stage == stage]
        return replace(pair_table(rows, stage, reading, method, entries), absent=absent)

    return {
        f"differences-{stage}-{reading}": partial(made, stage, reading)
        for stage, (entries, _) in found["stages"].items()
        for reading in READINGS
        if any(one["readings"][reading] for one in entries)
    }


def _apart(ranking: Mapping[str, Any]) -> list[str]:
    """What stands in rankings of its own, and how to see it."""
    told = []
    for one in ranking["others"]:
        options = " ".join(f"--{field} {shlex.quote(one[field])}" for field in FIELDS if one[field])
        told.append(f"{', '.join(dict.fromkeys(one['models']))} ({one['rows']} with {options})")
    return [f"Ranked apart: {'; '.join(told)}."] if told else []


def _uncovered(absent: Sequence[Mapping[str, Any]], stage: str) -> list[str]:
    """Models whose runs have a part of the stories, and how to see them."""
    told = [
        f"{one['model']} ({one['why']}; --split run:{one['run']})"
        for one in absent
        if one["stage"] == stage and "covered" in one
    ]
    return [f"Without a run on all of these stories: {'; '.join(told)}."] if told else []


NO_INTERVAL = "[–]"


def _no_intervals(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why figures that are printed have no interval."""
    figures = [row[reading] for row in rows for reading in READINGS if row[reading]]
    reasons = dict.fromkeys(one["reason"] for one in figures if one.get("reason") and not one["interval"])
    return [f"No interval {NO_INTERVAL}: {'; or '.join(reasons)}."] if reasons else []


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _ends(row: Mapping[str, Any]) -> str:
    """Worst and best case, where something is missing: answers, or rows that a judge left out."""
    low, high = row["worst_case"], row["best_case"]
    return f"{100 * low:.1f} to {100 * high:.1f}" if low != high else ""


def _told(figure: Mapping[str, Any] | None) -> str:
    if figure is None:
        return "–"
    ends = "[{:.1f}, {:.1f}]".format(*(100 * end for end in figure["interval"])) if figure["interval"] else NO_INTERVAL
    return f"{100 * figure['value']:.2f} {ends}".strip()
