from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotation.management.json_command import JsonCommand
from core.plain import Json
from judge.models import AlignmentStudy
from judge.services.calibration import (
    calibrated,
    calibration_document,
    choice_document,
    choose_calibrated,
    judge_of_version,
    reported,
)
from judge.services.panels import bridge_document, panel_document


class Command(JsonCommand):
    help = (
        "Prints the calibration report of every judge that judged the tables which people aligned in a study, or keeps "
        "with --choose which of them is used and why."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--study", required=True, metavar="NAME")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--judge", default="", metavar="VERSION", help="only this one; the beginning is enough")
        what.add_argument("--panel", action="store_true", help="all judges together, with families and weights")
        parser.add_argument("--own", action="store_true", help="with --panel: judges vote on their own family, too")
        what.add_argument("--bridge", nargs=2, metavar="VERSION", help="what changes from the first to the second")
        what.add_argument(
            "--choose", metavar="VERSION", help="keep with the study that this judge is used; says what that replaces"
        )
        parser.add_argument("--reason", metavar="TEXT", help="why it is chosen; the log keeps earlier choices")

    def say(self, result: Json) -> None:
        lines = {"majority": _panel, "reordered": _bridge, "replaced": _kept, "settled": _reports}
        for line in next(lines[key] for key in lines if key in result)(result):
            self.stdout.write(line)

    def work(self, **options: Any) -> Json:
        study = AlignmentStudy.objects.filter(project=self.project(options["project"]), name=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r} in {options['project']}.")
        if (options["choose"] is None) != (options["reason"] is None):
            raise CommandError("--choose and --reason go together: which judge is used, and why.")
        if options["choose"] is not None:
            judge, before = judge_of_version(calibrated(study)[0], options["choose"]), choice_document(study)
            choose_calibrated(by=None, study=study, judge=judge.brief, reason=options["reason"], now=timezone.now())
            after = choice_document(study)
            return {"study": study.name, "chosen": after, "replaced": before if before != after else None}
        if options["panel"]:
            return panel_document(study, apart=not options["own"])
        if options["bridge"]:
            return bridge_document(study, *options["bridge"])
        judges, settled = calibrated(study)
        chosen = [judge for judge in judges if judge.version.startswith(options["judge"])]
        if options["judge"] and not chosen:
            raise CommandError(f"No judge of version {options['judge']!r} judged tables of this study.")
        return calibration_document(study, study.name, len(settled), reported(study, judges, chosen))


def _kept(document: Json) -> Iterator[str]:
    yield f"study: {document['study']}"
    yield f"chosen: {_choice(document['chosen'])}"
    if replaced := document["replaced"]:
        yield f"in place of: {_choice(replaced)} (chosen by {replaced['by'] or 'a command'}, {replaced['at']})"


def _choice(chosen: Json | None) -> str:
    return f"{chosen['judge']} ({chosen['version'][:12]}), {chosen['reason']}" if chosen else "none"


def _reports(document: Json) -> Iterator[str]:
    yield f"study: {document['study']}"
    yield f"settled tables: {document['settled']:,}"
    yield f"chosen: {_choice(document['chosen'])}"
    for judge in document["judges"]:
        overall = judge["calibration"]["overall"]
        yield f"{judge['judge']} ({judge['version'][:12]}): {judge['reason']}"
        yield from (f"  {judge[key]}" for key in ("caution", "highest") if judge[key])
        known, tables = f"{judge['known']:,} of {overall['rows']:,}", f"{judge['aligned_tables']:,}"
        yield f"  rows with both verdicts: {known} in {tables} tables"
        yield from _agreement(overall, document["table"])
        for model, corrected in judge["corrected"].items():
            f1 = corrected["scores"]["f1"]
            alone = f"judge alone {_share(f1['judged'])}, people alone {_share(f1['human'])}"
            yield f"  {model}: {document['score']} corrected {_estimate(f1)}, {alone}"


def _agreement(agreement: Json, table: str) -> Iterator[str]:
    names = {"by_story": f"agreement by {table}", "by_row": "agreement by row"}
    for key in ("by_story", "by_row", "sensitivity", "specificity"):
        yield f"  {names.get(key, key)}: {_estimate(agreement[key])}"
    kappa = agreement["kappa"]
    yield "  kappa: " + (_none(kappa) if kappa["value"] is None else f"{kappa['value']:.3f} {_ends(kappa, 1, 3)}")


def _panel(document: Json) -> Iterator[str]:
    yield f"tables that people aligned and all judged: {document['tables']:,}"
    for judge in document["judges"].values():
        yield f"{judge['judge']}, family {judge['family'] or 'unknown'}, left out of {judge['left_out']:,} tables"
        yield from _agreement(judge["agreement"], document["table"])
    for name in ("majority", "weighted"):
        yield name
        yield from _agreement(document[name], document["table"])


def _bridge(document: Json) -> Iterator[str]:
    order = {True: "the order changes", False: "the order stays", None: "whether the order changes cannot be told"}
    yield f"{document['old']['judge']} to {document['new']['judge']}, over {document['tables']:,} tables"
    yield order[document["reordered"]]
    for model in document["models"]:
        before, after = model["silent"]
        p = "" if model["p"] is None else f", p {model['p']:.4f}"
        scores = f"{_share(model['old']['value'])} to {_share(model['new']['value'])}"
        yield f"  {model['model']}: {scores}, {_estimate(model['change'])}{p}"
        yield f"    rows without a verdict: {before:,} before, {after:,} after, of {model['rows']:,}"
    yield f"rows on which both have a verdict: {document['rows']:,}, the same {_estimate(document['same'])}"


def _share(value: float | None) -> str:
    return "not known" if value is None else f"{100 * value:.2f} %"


def _estimate(estimate: Json) -> str:
    return _none(estimate) if estimate["value"] is None else f"{_share(estimate['value'])} {_ends(estimate, 100, 1)}"


def _ends(estimate: Json, scale: int, places: int) -> str:
    """Return the interval, or the reason why there is none."""
    if not (ends := estimate["interval"]):
        return f"({estimate['reason']})"
    return f"[{scale * ends[0]:.{places}f}, {scale * ends[1]:.{places}f}]"


def _none(estimate: Json) -> str:
    return f"not known ({estimate['reason']})" if estimate["reason"] else "not known"
