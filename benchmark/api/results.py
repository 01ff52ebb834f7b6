"""Results of runs: reports, leaderboards, comparisons, their tables, and sweeps."""

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from annotation.models import Role
from benchmark.access import results_access, run_access, run_document
from benchmark.addresses import (
    ChosenLeaderboard,
    chosen_comparison,
    chosen_leaderboard,
    leaderboard_document_of,
    of_parse,
    table_named,
)
from benchmark.api.description import CSV, FILES, NO_ACCESS, RUN, SLUG, TABLE, LaTeX, answers_in
from benchmark.api.requests import ComparisonFilter, LeaderboardFilter, ParseFilter, SweepFilter
from benchmark.api.shapes import ComparisonOut, LeaderboardOut, MetricOut, ReportOut, TableOut
from benchmark.domain.tables import Table, table_data
from benchmark.services.comparison_tables import tables_of as tables_of_comparison
from benchmark.services.comparisons import Comparison, NotComparable
from benchmark.services.conditions import FIELDS
from benchmark.services.documents import Document, absent_from, tables_of
from benchmark.services.downloads import TABLE_TYPES, table_file
from benchmark.services.runs import sweep_of
from benchmark.services.sweep_results import choosings_of
from benchmark.suites.registry import group_named, ordered_keys
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.plain import Json

TABLE_ANSWERS = answers_in(
    {CSV.media_type: "A header and the rows, numbers unrounded.", LaTeX.media_type: "The table as it is printed."},
    TableOut, 400, 403, why=NO_ACCESS,
)  # fmt: skip
_APART = {422: ("The two cannot be compared.", "The two ran under different suites, which measure different things.")}


class TableView(GenericAPIView):
    renderer_classes = FILES

    def file(self, request: Request, table: Table, name: str) -> HttpResponse:
        """Return the table in the accepted format."""
        suffix = request.accepted_renderer.format
        response = HttpResponse(table_file(table, suffix), content_type=f"{TABLE_TYPES[suffix]}; charset=utf-8")
        if suffix != "json":
            response["Content-Disposition"] = f'attachment; filename="{name}.{suffix}"'
        return response


class Report(GenericAPIView):
    @extend_schema(
        operation_id="run_report_read",
        tags=["runs"],
        parameters=[SLUG, RUN],
        responses=answers(ReportOut, 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str, run: str) -> Response:
        """The report of a run: what made it, the ranking of each metric group with intervals, and the names of its
        tables."""
        read_query(request, Strict)
        document = run_document(run_access(request.user, slug, run))
        report = {
            "title": document.title,
            "facts": document.facts,
            "methods": document.methods,
            "samples": document.stories,
            **_metrics(document, document.withheld),
        }
        return Response(ReportOut(report).data)


def _metrics(document: Document, withheld: int) -> Json:
    """Return the rankings of a document by metric group, and the names of its tables."""
    tables, groups = tables_of(document), []
    for group in ordered_keys(document.groups):
        described, empty = group_named(group), Table(title="", columns=(), rows=())
        table = tables[group]() if group in tables else replace(empty, absent=absent_from(document, group))
        named = {"key": group, "score": described.score_title}
        groups.append(table_data(replace(table, title=described.title)) | named)
    return {"withheld": withheld, "groups": groups, "tables": list(tables)}


class RunTable(TableView):
    @extend_schema(
        operation_id="run_tables_read",
        tags=["runs"],
        parameters=[SLUG, RUN, TABLE, ParseFilter],
        responses=TABLE_ANSWERS,
    )
    def get(self, request: Request, slug: str, run: str, table: str) -> HttpResponse:
        """A table of the report, by its name there: JSON, or a file with `format=csv` or `format=tex`."""
        document = run_document(run_access(request.user, slug, run))
        parse = read_query(request, ParseFilter).get("parse", "")
        named = table_named(tables_of(document), table, document.withheld)
        return self.file(request, of_parse(named, parse), f"{slug}-{run}-{table}")


class Leaderboard(GenericAPIView):
    @extend_schema(
        operation_id="leaderboard_read",
        tags=["runs"],
        parameters=[SLUG, LeaderboardFilter],
        responses=answers(LeaderboardOut, 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The finished runs of a version in one ranking for each metric group. 404 where there is no version, split or
        condition of that name."""
        chosen, document, _ = _leaderboard_asked_for(request, slug)
        leaderboard = chosen.leaderboard
        body = {
            "version": chosen.dataset.version,
            "suite": chosen.suite,
            "answer_format": chosen.answer_format,
            "selection": _selection(leaderboard.chosen) if leaderboard.chosen else None,
            "selections": [_selection(selection) for selection in leaderboard.selections],
            "conditions": leaderboard.conditions,
            **_metrics(document, leaderboard.withheld),
        }
        return Response(LeaderboardOut(body).data)


class LeaderboardTable(TableView):
    @extend_schema(
        operation_id="leaderboard_tables_read",
        tags=["runs"],
        parameters=[SLUG, TABLE, LeaderboardFilter],
        responses=TABLE_ANSWERS,
    )
    def get(self, request: Request, slug: str, table: str) -> HttpResponse:
        """A table of the leaderboard, by its name there: JSON, or a file with `format=csv` or `format=tex`."""
        chosen, document, parse = _leaderboard_asked_for(request, slug)
        named = table_named(tables_of(document), table, chosen.leaderboard.withheld)
        return self.file(request, of_parse(named, parse), f"{slug}-leaderboard-{table}")


def _leaderboard_asked_for(request: Request, slug: str) -> tuple[ChosenLeaderboard, Document, str]:
    """Return the leaderboard that was asked for and no other one, as its page would show, with its document and the
    parse that was named. Raises Http404."""
    access = results_access(request.user, slug)
    asked = read_query(request, LeaderboardFilter)
    params = {name: str(value) for name, value in asked.items()}
    chosen = chosen_leaderboard(params, access)
    if chosen is None:
        raise Http404("There is no dataset yet.")
    leaderboard = chosen.leaderboard
    there = {
        "suite": [suite.name for suite in chosen.suites],
        "version": [str(dataset.version) for dataset in chosen.datasets],
        "split": [selection.key for selection in leaderboard.selections],
        **{field: leaderboard.conditions[field] for field in FIELDS},
    }
    for name, names in there.items():
        if name in params and params[name] not in names:
            raise Http404(f"There is no {name} {params[name]!r}; there are {', '.join(filter(None, names)) or 'none'}.")
    return chosen, leaderboard_document_of(chosen, asked), asked.get("parse", "")


def _selection(selection: Any) -> Json:
    return {"key": selection.key, "label": selection.label, "samples": len(selection.stories)}


class ComparisonView(GenericAPIView):
    def compared(self, request: Request, slug: str) -> Comparison:
        """Return the comparison that was asked for, as its reader may see it. Raises CannotBeDone, Http404."""
        access = results_access(request.user, slug)
        asked = read_query(request, ComparisonFilter)
        try:
            chosen = chosen_comparison(asked, access)
        except NotComparable as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        comparison = chosen.comparison
        if asked.get("group", comparison.group) != comparison.group:
            raise Http404(
                f"The two have no metric group {asked['group']!r} in common; expected {', '.join(chosen.entrants)}."
            )
        if asked.get("parse", comparison.parse) != comparison.parse:
            raise CannotBeDone(chosen.unofficial)
        if asked.get("split", comparison.split) != comparison.split:
            raise Http404(f"There is no split {asked['split']!r}.")
        return comparison


class ComparisonOfTwo(ComparisonView):
    @extend_schema(
        operation_id="comparison_read",
        tags=["runs"],
        parameters=[SLUG, ComparisonFilter],
        responses=answers(ComparisonOut, 400, 403, 422, why=NO_ACCESS | _APART),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Two models side by side: differences with intervals and Holm's correction, and the samples on which they
        differ most."""
        comparison = self.compared(request, slug)
        names = ("first", "second", "group", "parse", "split", "differ", "n", "tests", "withheld")
        tables = {name: table_data(make()) for name, make in tables_of_comparison(comparison).items()}
        return Response(ComparisonOut({name: getattr(comparison, name) for name in names} | tables).data)


class ComparisonTable(ComparisonView, TableView):
    @extend_schema(
        operation_id="comparison_tables_read",
        tags=["runs"],
        parameters=[SLUG, TABLE, ComparisonFilter],
        responses=TABLE_ANSWERS | {(422, "application/json"): answers(None, 422, why=_APART)[422]},
    )
    def get(self, request: Request, slug: str, table: str) -> HttpResponse:
        """A table of the comparison (differences, stories): JSON, or a file with `format=csv` or `format=tex`."""
        named = table_named(tables_of_comparison(self.compared(request, slug)), table)
        return self.file(request, named, f"{slug}-comparison-{table}")


# --- the sweep of a launch
_CANDIDATE = {
    "key": serializers.CharField(help_text="As rankings have it."),
    "model": serializers.CharField(),
    "level": serializers.IntegerField(),
    "score": serializers.FloatField(allow_null=True),
}
_AGAINST = _CANDIDATE | {
    "difference": serializers.FloatField(allow_null=True, help_text="The score of the one looked at less this one's."),
    "interval": serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="95 % interval of the difference, over stories."
    ),
    "n": serializers.IntegerField(help_text="Samples that the difference is over."),
    "p": serializers.FloatField(allow_null=True, help_text="Of a sign-flip test over stories; null where none can be."),
    "adjusted": serializers.FloatField(allow_null=True, help_text="p after Holm's correction over all pairs."),
    "shown": serializers.BooleanField(help_text="Whether the two are shown to differ."),
}
_PICK = {
    "model": serializers.CharField(),
    "level": serializers.IntegerField(),
    "reason": serializers.CharField(),
    "by": serializers.CharField(allow_null=True, help_text="User name; null for who is not here any more."),
    "at": serializers.DateTimeField(),
}
_GROUP = {
    "group": serializers.CharField(source="group.key", help_text="Key of the metric group."),
    "chosen": inline_serializer("ChosenModelOut", _PICK, source="pick", allow_null=True),
    "candidates": inline_serializer("CandidateOut", _CANDIDATE, many=True),
    "looked": serializers.CharField(
        source="looked.key", help_text="Key of the candidate that is tested against all others."
    ),
    "found": serializers.CharField(source="finding", help_text="What the test says of it."),
    "beyond": serializers.CharField(
        allow_null=True, help_text="Why no test here can show a difference; null if one can."
    ),
    "without_optimism": MetricOut(
        allow_null=True,
        help_text="Its score and interval, corrected for choosing the highest; null where another one is higher.",
    ),
    "against": inline_serializer("AgainstOut", _AGAINST, many=True),
}


class SweepOut(serializers.Serializer):
    runs = serializers.ListField(child=serializers.CharField(), help_text="uids, in the order of the launch.")
    groups = inline_serializer("SweepGroupOut", _GROUP, many=True)


class Sweep(GenericAPIView):
    @extend_schema(
        operation_id="runs_sweep_read",
        tags=["runs"],
        parameters=[SLUG, RUN, SweepFilter],
        responses=answers(SweepOut, 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str, run: str) -> Response:
        """Every model at every level of the sweep that a run was launched in, by metric group, with the one that was
        chosen and why. That one, else the best, is tested against all others. Of a run of no sweep there are none."""
        runs = sweep_of(run_access(request.user, slug, run, role=Role.ADMIN).run)
        beside = read_query(request, SweepFilter).get("beside")
        groups = choosings_of(runs, [beside] if beside else [])
        return Response(SweepOut({"runs": [sweep_run.uid for sweep_run in runs], "groups": groups}).data)
