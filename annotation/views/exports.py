import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import ProjectAccess, UserRequest, check_whole_gold, open_work, project_access
from annotation.domain.archive_format import BadArchive
from annotation.domain.formats import DATA_SET, GOLD, STREAMED, VOTES
from annotation.forms.corpus import ArchiveForm
from annotation.models import Role
from annotation.services.archive_export import export_archive
from annotation.services.archive_import import import_archive
from annotation.services.archive_sections import left_out
from annotation.services.gold_export import export_lines
from annotation.services.progress import Progress
from core.views.pages import in_english, streamed


def export(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    return _page(request, access, ArchiveForm())


def _page(request: UserRequest, access: ProjectAccess, form: ArchiveForm) -> HttpResponse:
    totals = Progress(access.project).totals()
    context = {
        "unsettled": totals.unlabelled,
        "imported": totals.imported,
        "form": form,
        "waiting": len(open_work(access)),
        "formats": {"gold": GOLD.key, "votes": VOTES.key, "data_set": DATA_SET.key},
    }
    return render(request, "annotation/exports/export.html", access.context | context)


def archive(request: UserRequest, slug: str) -> HttpResponseBase:
    """The whole project as one file on GET; on POST the site admin makes a new project from such a file."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    if request.method != "POST":
        check_whole_gold(access)
        scratch = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
        export_archive(project=access.project, target=scratch, now=timezone.now())
        scratch.seek(0)
        return FileResponse(scratch, as_attachment=True, filename=f"{slug}-archive.zip")
    if not request.user.is_superuser:
        raise PermissionDenied(gettext("Only the site admin makes projects."))
    form = ArchiveForm(request.POST, request.FILES)
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            rows = import_archive(
                by=request.user,
                source=chosen["file"],
                slug=chosen["slug"],
                now=timezone.now(),
                matched=chosen["people"],
            )
        except BadArchive as error:
            form.add_error("file", str(error))
        else:
            messages.success(request, gettext("The archive is now the project {slug}.").format(slug=chosen["slug"]))
            for sentence in left_out(rows):
                messages.info(request, gettext(sentence))
            return redirect("annotation:project", chosen["slug"])
    return _page(request, access, form)


@in_english
def download(request: UserRequest, slug: str, format: str) -> HttpResponseBase:
    access = project_access(request.user, slug, role=Role.ADMIN)
    check_whole_gold(access)
    if format == DATA_SET.key:
        from annotation.services.croissant import write_croissant  # mlcroissant takes a third of a second to load

        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / slug
            write_croissant(access.project, folder, site_url=settings.SITE_URL, now=timezone.now())
            packed = shutil.make_archive(str(Path(scratch) / "packed"), "zip", folder)
            handle = open(packed, "rb")  # noqa: SIM115 - it outlives its folder, and the response closes it
        return FileResponse(handle, as_attachment=True, filename=DATA_SET.file_name(slug))
    if format not in STREAMED:
        raise Http404(gettext("There is no such format."))
    chosen, options = STREAMED[format], request.GET
    lines = export_lines(
        access.project, chosen, complete_only="complete" in options, pseudonyms="pseudonyms" in options
    )
    return streamed(lines, chosen.file_name(slug), f"{chosen.media_type}; charset=utf-8")
