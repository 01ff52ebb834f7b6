from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotation.management.json_command import JsonCommand
from benchmark.domain.tables import Row
from benchmark.management.commands._files import content_of, written
from benchmark.management.commands._labelled import labelling_named
from benchmark.management.commands._runs import percent
from benchmark.services.gold_kind_tables import MOVES, NAMES, VOTES, tables_of
from benchmark.services.gold_kinds import OVERALL, GoldMetrics, gold_metrics_of
from core.plain import WHERE_THERE_IS_ONE

TABLES = ("by-kind", "ranks", "swaps", "ceiling", "moves", "standing-in", "annotators", "by-dimension")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedKinds:
    """The figures on each kind of gold: numbers of `stories` and, by kind, of cells, what is not known of their votes,
    and the rows of the tables; and the file that was written."""

    stories: int
    cells: Mapping[str, int]
    stories_with_imported_votes: int
    votes_not_known_to_be_blind: int
    scores: Sequence[Row]
    ranks: Sequence[Row]
    moves: Sequence[Row]
    ceiling: Sequence[Row]
    standing_in: Sequence[Row]
    path: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    bytes: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


class Command(JsonCommand):
    help = (
        "Says what models score on each kind of gold of a published version: from blind votes, unanimous, of the "
        "majority, adjudicated; and whether ranks change. With --output it writes a table (csv, json, tex)."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dataset", type=int, metavar="VERSION", help="the newest that models labelled without it")
        parser.add_argument("--dimension", metavar="KEY", help="all dimensions if not given")
        parser.add_argument("--name", choices=TABLES, help="the table to write; by-kind if not given")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")

    def work(self, **options) -> PrintedKinds:
        if options["name"] and not options["output"]:
            raise ValueError("--name says what to write: say where, too, with --output PATH.")
        metrics = gold_metrics_of(labelling_named(options["project"], options["dataset"]))
        tables = tables_of(metrics, _dimension(metrics, options["dimension"]))
        kept = metrics.provenance
        result = PrintedKinds(
            stories=len(metrics.stories),
            cells={kind.value: count for kind, count in metrics.kinds.items()},
            stories_with_imported_votes=kept.imported,
            votes_not_known_to_be_blind=kept.unknown,
            scores=tables["by-kind"]().rows,
            ranks=tables["ranks"]().rows,
            moves=tables["moves"]().rows,
            ceiling=tables["ceiling"]().rows,
            standing_in=tables["standing-in"]().rows,
        )
        if not options["output"]:
            return result
        name = options["name"] or TABLES[0]
        file = written(options["output"], content_of(options["output"], name, tables, None))
        return replace(result, path=file.path, bytes=file.bytes)

    def say(self, result: PrintedKinds) -> None:
        counts = ", ".join(f"{NAMES[kind]} {count:,}" for kind, count in result.cells.items())
        self.stdout.write(f"{result.stories} stories; cells: {counts}.")
        for row in result.scores:
            scores = ", ".join(f"{NAMES[kind]} {percent(row[kind])}" for kind in result.cells)
            self.stdout.write(f"{row['model']}: {scores}")
        for row in result.ranks:
            tau = "–" if row["tau"] is None else f"{row['tau']:.2f}"
            self.stdout.write(f"{row['kind']} beside {row['beside']}: Kendall's tau {tau}, {row['swaps']} pairs swap.")
        for row in result.moves:
            moves = ", ".join(f"{name} {percent(row[move])}" for move, name in MOVES.items())
            self.stdout.write(f"Moved, {row['dimension']}: {moves}")
        for row in result.ceiling:
            shares = ", ".join(f"{name} {percent(row[votes])}" for votes, name in VOTES.items())
            self.stdout.write(f"In the place of a left-out annotator, {row['who']}: {shares}")
        for row in result.standing_in:
            rate = "–" if row["over_stories"] is None else f"{row['over_stories']:.2f}"
            summary = f"advantage {percent(row['advantage'])}, winning rate over stories {rate}"
            self.stdout.write(f"As an annotator, {row['model']}, {row['votes'].lower()}: {summary}")
        if result.path is not None:
            self.stdout.write(f"path: {result.path}")


def _dimension(metrics: GoldMetrics, key: str | None) -> int:
    if key is None:
        return OVERALL
    if key not in metrics.keys:
        raise ValueError(f"--dimension {key}: there is none of that name; there are: {', '.join(metrics.keys)}.")
    return metrics.keys.index(key)
