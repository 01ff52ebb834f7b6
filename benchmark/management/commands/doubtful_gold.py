from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from annotation.management.json_command import JsonCommand
from benchmark.domain.tables import Row
from benchmark.management.commands._files import content_of, written
from benchmark.management.commands._labelled import labelling_named
from benchmark.services.doubtful_gold import doubtful_gold
from benchmark.services.doubtful_tables import doubtful_table
from core.plain import WHERE_THERE_IS_ONE

NAME = "doubtful-gold"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedDoubts:
    """The doubtful cells of a version, rows of their table, how many of them wait, were looked at, and were left out
    because they changed; and the file that was written."""

    version: int
    families: int
    waiting: int
    looked_at: int
    left_out: int
    cells: Sequence[Row]
    path: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    bytes: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


class Command(JsonCommand):
    help = (
        "Lists gold labels of a published version that good models of several families agree against, for experts to "
        "look at again, the least credible first. With --output it writes the table (csv, json, tex)."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dataset", type=int, metavar="VERSION", help="the newest that models labelled without it")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")

    def work(self, **options) -> PrintedDoubts:
        labelling = labelling_named(options["project"], options["dataset"])
        gold = doubtful_gold(labelling)
        table = doubtful_table(gold, labelling.dataset.schema)
        result = PrintedDoubts(
            version=labelling.dataset.version,
            families=gold.families,
            waiting=len(gold.waiting),
            looked_at=len(gold.looked_at),
            left_out=gold.left_out,
            cells=table.rows,
        )
        if not options["output"]:
            return result
        file = written(options["output"], content_of(options["output"], NAME, {NAME: lambda: table}, None))
        return replace(result, path=file.path, bytes=file.bytes)

    def say(self, result: PrintedDoubts) -> None:
        self.stdout.write(
            f"Version {result.version}, {result.families} families of models: {result.waiting} cells to look "
            f"at, {result.looked_at} looked at, {result.left_out} changed since they were published."
        )
        for cell in result.cells:
            label = f" → {cell['label']}" if cell["label"] else ""
            self.stdout.write(
                f"{cell['place']}. story {cell['story']}, {cell['actor']}: {cell['belief']} – {cell['dimension']}, "
                f"{cell['against']} of {cell['heard']} families: {cell['state']}{label}"
            )
        if result.path is not None:
            self.stdout.write(f"path: {result.path}")
