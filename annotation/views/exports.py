from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.access import project_access
from annotation.models import Role
from annotation.services.croissant import write_croissant
from annotation.services.gold_export import omnitom_lines, unsettled_cells, vote_lines


def export(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    context = {"unsettled": unsettled_cells(access.project)}
    return render(request, "annotation/exports/export.html", access.context | context)


def download(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    if format == "omnitom":
        return _streamed(
            omnitom_lines(access.project, complete_only="complete" in request.GET),
            f"{slug}-gold.jsonl",
            "application/jsonlines",
        )
    if format == "long-csv":
        return _streamed(
            vote_lines(access.project, pseudonyms="pseudonyms" in request.GET), f"{slug}-votes.csv", "text/csv"
        )
    if format == "croissant":
        return _croissant(access.project)
    raise Http404("There is no such format.")


def _streamed(lines, name: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _croissant(project) -> FileResponse:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / project.slug
        write_croissant(project, folder, site_url=settings.SITE_URL, now=timezone.now())
        packed = shutil.make_archive(str(Path(scratch) / "packed"), "zip", folder)
        handle = tempfile.TemporaryFile()
        handle.write(Path(packed).read_bytes())
    handle.seek(0)
    return FileResponse(handle, as_attachment=True, filename=f"{project.slug}-croissant.zip")
