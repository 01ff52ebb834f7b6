from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotation.management.json_command import JsonCommand
from annotation.models import Project, Role, User
from benchmark.models import Run
from core.plain import Json
from judge.models import AlignmentStudy
from judge.services.alignment_report import progress_of
from judge.services.alignment_tables import alignable_runs, load_tables, origin_of, units_of
from judge.services.studies import Plan, drawn_of, grow_study, make_study, strata_of


class Command(JsonCommand):
    help = (
        "Has people align models' tables with gold: draws them at random from runs and gives them out. "
        "With --preview it only counts; with --more it draws further tables of a study that there is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True, metavar="TEXT", help="of the study")
        parser.add_argument("--run", action="append", default=[], metavar="UID", help="may be given several times")
        parser.add_argument("--tables", type=int, metavar="N", help="how many are drawn")
        parser.add_argument("--more", type=int, metavar="N", help="further tables of the study of this name")
        parser.add_argument(
            "--annotator", action="append", default=[], metavar="NAME", help="may be given several times"
        )
        parser.add_argument("--overlap", type=int, default=2, metavar="N", help="people a table")
        parser.add_argument("--most-links", type=int, default=1, metavar="N", help="of a row, 1 to 3")
        parser.add_argument("--blind-share", type=int, default=0, metavar="N", help="per cent that see no proposals")
        parser.add_argument("--split", default="", metavar="NAME")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--audience", choices=[Role.EXPERT.value, Role.ADMIN.value], default=Role.EXPERT.value)
        parser.add_argument("--preview", action="store_true", help="say what would be drawn")

    def work(self, **options: Any) -> Json:
        project = self.project(options["project"])
        members = {user.username: user for user in User.objects.filter(memberships__project=project)}
        if stranger := next((name for name in options["annotator"] if name not in members), None):
            raise CommandError(f"{stranger!r} is not a member of {project.name}.")
        people = [members[name] for name in dict.fromkeys(options["annotator"])]
        load, now = partial(load_tables, project=project), timezone.now()
        if options["more"] is not None:
            grown = AlignmentStudy.objects.filter(project=project, name=options["name"]).first()
            if grown is None:
                raise CommandError(f"There is no study {options['name']!r} in this project.")
            grow_study(by=None, study=grown, more=options["more"], load=load, annotators=people, now=now)
            return _summary(grown)
        if options["tables"] is None:
            raise CommandError("Say how many tables are drawn with --tables, or with --more of a study that there is.")
        runs = _runs(project, options["run"])
        units = units_of(runs, split=options["split"])
        if options["preview"]:
            drawn = drawn_of(units, options["tables"], options["seed"])
            strata = strata_of(units, drawn)
            return {"strata": {" · ".join(name): {"there": there, "drawn": k} for name, there, k in strata}}
        plan = Plan(
            options["name"], options["tables"], options["seed"], options["overlap"], options["most_links"],
            options["audience"], options["blind_share"],
        )  # fmt: skip
        study = make_study(
            by=None, project=project, plan=plan, units=units, load=load, annotators=people,
            origin=origin_of(runs, split=options["split"]), now=now,
        )  # fmt: skip
        return _summary(study)


def _summary(study: AlignmentStudy) -> Json:
    progress = progress_of(study)
    return {"study": study.uid, "name": study.name, "tables": progress.tables, "alignments": progress.wanted}


def _runs(project: Project, uids: list[str]) -> list[Run]:
    runs = {run.uid: run for run in alignable_runs(project)}
    if not uids:
        raise CommandError("Say which runs the tables are of with --run.")
    for uid in uids:
        if uid not in runs:
            raise CommandError(f"There is no run {uid!r} with tables to align in this project.")
    return [runs[uid] for uid in dict.fromkeys(uids)]
