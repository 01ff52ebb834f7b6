from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from core.plain import Json

if TYPE_CHECKING:  # the statistics libraries take a second to load
    from annotation.domain.anchoring.estimates import Estimate


class Command(ProjectCommand):
    help = (
        "What models' drafts did to the belief tables of a project: tables begun with one against tables written "
        "blind, with intervals over stories."
    )
    arguments = {"--seed": {"type": int, "default": 1}}

    def on(self, project: Project, *, seed: int, **options: Any) -> Json:
        from annotation.services.anchoring import effect_of  # the statistics libraries take a second to load

        return effect_of(project, seed=seed)

    def say(self, report: Json) -> None:
        self.stdout.write(f"Stories with a model's draft: {report['drafted']}.")
        for name, tables in report["arms"].items():
            self.stdout.write(
                "{:8}{drawn} drawn, {handed_in} handed in, {reconciled} reconciled".format(name, **tables)
            )
        fates = "{kept} kept, {edited} edited, {deleted} deleted, {added} added".format(**report["rows"])
        self.stdout.write(f"Rows of tables that began with a draft: {fates}.")
        if report["effect"] is None:
            self.stdout.write("No table of either kind is handed in yet.")
            return
        for row in report["effect"]["measures"]:
            is_number = row["measure"] in ("rows", "minutes")  # the others are shares
            self.stdout.write(f"\n{row['told']}")
            for name in ("shown", "blind", "difference"):
                self.stdout.write(f"  {name:12}{_text(row[name], is_number, signed=name == 'difference')}")
            p = row["effect_reason"] if row["p_adjusted"] is None else f"p = {row['p_adjusted']:.4f}, adjusted"
            self.stdout.write(f"  {p}")
        self.stdout.write(report["effect"]["method"])


def _text(estimate: Estimate, is_number: bool, *, signed: bool) -> str:
    """Return the value, interval and n of an estimate; the reason where one of the first two is undefined."""
    if estimate.value is None:
        return f"–, {estimate.reason}"
    scale, unit = (1, "") if is_number else (100, " points" if signed else " %")
    value, *ends = (
        f"{scale * number:{'+' if signed else ''}z.1f}" for number in (estimate.value, *(estimate.interval or ()))
    )
    interval = f"{ends[0]} to {ends[1]}" if ends else estimate.reason
    return f"{value}{unit}, {interval}, n = {estimate.n}"
