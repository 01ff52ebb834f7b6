from __future__ import annotations

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._files import content_of, written
from benchmark.management.commands._labelled import labelling_named
from benchmark.management.commands._runs import percent
from benchmark.services.gold_kind_tables import MOVES, NAMES, VOTES, tables_of
from benchmark.services.gold_kinds import OVERALL, GoldMetrics, gold_metrics_of
from core.plain import Json, plain

TABLES = ("by-kind", "ranks", "swaps", "ceiling", "moves", "standing-in", "annotators", "by-dimension")
PRINTED = {
    "scores": "by-kind",
    "ranks": "ranks",
    "moves": "moves",
    "ceiling": "ceiling",
    "standing_in": "standing-in",
}
"""The tables whose rows the command prints, by their key in JSON."""


class Command(JsonCommand):
    help = (
        "Prints what models score on each kind of gold of a published version: from blind votes, unanimous, of the "
        "majority, adjudicated; and whether ranks change. With --output it writes a table (csv, json, tex)."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dataset", type=int, metavar="VERSION", help="the newest that models labelled without it")
        parser.add_argument("--dimension", metavar="KEY", help="all dimensions if not given")
        parser.add_argument("--name", choices=TABLES, help="the table to write; by-kind if not given")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")

    def work(self, **options) -> Json:
        if options["name"] and not options["output"]:
            raise ValueError("--name says what to write: say where, too, with --output PATH.")
        metrics = gold_metrics_of(labelling_named(options["project"], options["dataset"]))
        tables = tables_of(metrics, _dimension(metrics, options["dimension"]))
        result = {
            "stories": len(metrics.cells.stories),
            "cells": {kind.value: count for kind, count in metrics.kinds.items()},
            "stories_with_imported_votes": metrics.provenance["imported"],
            "votes_not_known_to_be_blind": metrics.provenance["unknown"],
        } | {key: plain(tables[name]().rows) for key, name in PRINTED.items()}
        if options["output"]:
            content = content_of(options["output"], options["name"] or TABLES[0], tables, None)
            result |= plain(written(options["output"], content))
        return result

    def say(self, result: Json) -> None:
        write = self.stdout.write
        counts = ", ".join(f"{NAMES[kind]} {count:,}" for kind, count in result["cells"].items())
        write(f"{result['stories']} stories; cells: {counts}.")
        for row in result["scores"]:
            write(f"{row['model']}: " + _shares(row, {kind: NAMES[kind] for kind in result["cells"]}))
        for row in result["ranks"]:
            tau = "–" if row["tau"] is None else f"{row['tau']:.2f}"
            write(f"{row['kind']} beside {row['beside']}: Kendall's tau {tau}, {row['swaps']} pairs swap.")
        for row in result["moves"]:
            write(f"Moved, {row['dimension']}: " + _shares(row, MOVES))
        for row in result["ceiling"]:
            write(f"In the place of a left-out annotator, {row['who']}: " + _shares(row, VOTES))
        for row in result["standing_in"]:
            rate = "–" if row["over_stories"] is None else f"{row['over_stories']:.2f}"
            summary = f"advantage {percent(row['advantage'])}, winning rate over stories {rate}"
            write(f"As an annotator, {row['model']}, {row['votes'].lower()}: {summary}")
        if "path" in result:
            write(f"path: {result['path']}")


def _shares(row: Json, names: dict) -> str:
    return ", ".join(f"{name} {percent(row[key])}" for key, name in names.items())


def _dimension(metrics: GoldMetrics, key: str | None) -> int:
    if key is None:
        return OVERALL
    if key not in metrics.keys:
        raise ValueError(f"--dimension {key}: there is none of that name; there are: {', '.join(metrics.keys)}.")
    return metrics.keys.index(key)
