from __future__ import annotations

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._files import content_of, written
from benchmark.management.commands._labelled import labelling_named
from benchmark.services.doubtful_gold import doubtful_gold, doubtful_table
from core.plain import Json, plain


class Command(JsonCommand):
    help = (
        "Lists gold labels of a published version that good models of several families agree against, for experts to "
        "look at again, the least credible first. With --output it writes the table (csv, json, tex)."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dataset", type=int, metavar="VERSION", help="the newest that models labelled without it")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")

    def work(self, **options) -> Json:
        labelling = labelling_named(options["project"], options["dataset"])
        gold = doubtful_gold(labelling)
        table = doubtful_table(gold, labelling.dataset.schema)
        result: Json = {
            "version": labelling.dataset.version,
            "families": gold.families,
            "waiting": len(gold.waiting),
            "looked_at": len(gold.looked_at),
            "left_out": gold.left_out,
            "cells": plain(table.rows),
        }
        if output := options["output"]:
            content = content_of(output, "doubtful-gold", {"doubtful-gold": lambda: table}, None)
            result |= plain(written(output, content))
        return result

    def say(self, result: Json) -> None:
        self.stdout.write(
            f"Version {result['version']}, {result['families']} families of models: {result['waiting']} cells to look "
            f"at, {result['looked_at']} looked at, {result['left_out']} changed since they were published."
        )
        for cell in result["cells"]:
            label = f" → {cell['label']}" if cell["label"] else ""
            self.stdout.write(
                f"{cell['place']}. story {cell['story']}, {cell['actor']}: {cell['belief']} – {cell['dimension']}, "
                f"{cell['against']} of {cell['heard']} families: {cell['state']}{label}"
            )
        if "path" in result:
            self.stdout.write(f"path: {result['path']}")
