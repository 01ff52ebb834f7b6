"""Files of any format that the page *Import* takes: what they seem to be, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from annotation.domain.columns import WrongColumns
from annotation.domain.formats import IMPORTED, LABELS, TABLES, WHAT_IT_SEEMS, FileFormat
from annotation.models import Project, User
from annotation.services.corpus_import import ImportRefused, import_corpus
from annotation.services.import_results import ImportResult, heading
from annotation.services.recognition import Seen, Source, look_at, other_format
from annotation.services.table_import import import_tables
from annotation.services.vote_import import ImportBroken, import_votes
from core.incoming.encodings import BadText
from core.incoming.sheets import BadSheet


@dataclass(frozen=True, slots=True)
class Asked:
    """Request to import files: the key of a format, or WHAT_IT_SEEMS; `replace` writes tables over others, once
    somebody has seen what that opens again and is `sure`."""

    format: str = WHAT_IT_SEEMS
    language: str = "en"
    encoding: str = ""
    replace: bool = False
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Guess of what files are, and the result where they were imported or checked: without one, `refusal` says why, or
    the question of `seen` is open."""

    seen: Seen
    format: FileFormat | None = None
    result: ImportResult | None = None
    refusal: str = ""
    kept: bool = False

    @property
    def seems(self) -> str:
        """The guess of what the files are; empty where that is not known, or the refusal says it (`other_format`)."""
        fits = self.format is None or self.format in self.seen.formats
        return self.seen.sentence if fits and self.seen.formats else ""

    @property
    def heading(self) -> str:
        """The outcome of the files as a whole."""
        if self.result is None:
            return gettext("Nothing was imported") if self.refusal else gettext("Nothing was imported yet")
        return heading(self.result, kept=self.kept)


def import_files(
    *, by: User, project: Project, sources: Sequence[Source], asked: Asked, now: datetime, keep: bool
) -> Answer:
    """Import files into a project, or only check them. A file that cannot be read to its end refuses all. If nobody
    chose a format and other pages take such files, too, they are checked and nothing is kept: somebody has to say what
    they are to become."""
    seen = look_at(sources, encoding=asked.encoding)
    if seen.problem:
        return Answer(seen, refusal=seen.problem)
    if asked.format == WHAT_IT_SEEMS:
        if not seen.here:
            return Answer(seen, refusal="" if seen.elsewhere else seen.sentence)
        chosen, keep = seen.here[0], keep and not seen.elsewhere
    else:
        chosen = IMPORTED[asked.format]
        if sentence := other_format(seen, chosen.key):
            return Answer(seen, chosen, refusal=sentence)
    keep = keep and (chosen != TABLES or not asked.replace or asked.sure)
    try:
        result = _imported(by, project, sources, chosen, asked, now, keep)
    except (ImportRefused, ImportBroken, WrongColumns, BadSheet, BadText) as error:
        return Answer(seen, chosen, refusal=str(error))
    return Answer(seen, chosen, result, kept=keep)


def _imported(
    by: User, project: Project, sources: Sequence[Source], chosen: FileFormat, asked: Asked, now: datetime, keep: bool
) -> ImportResult:
    if chosen not in (TABLES, LABELS):
        return import_corpus(
            by=by,
            project_slug=project.slug,
            format=chosen.key,
            sources=sources,
            language=asked.language,
            encoding=asked.encoding,
            dry_run=not keep,
        )
    if len(sources) > 1:
        raise ImportRefused(
            gettext("{title}: {sources} files; choose one at a time.").format(title=chosen.title, sources=len(sources))
        )
    ((name, opener),) = sources
    with opener() as handle:
        options = {"by": by, "project": project, "handle": handle, "file": name, "now": now, "dry_run": not keep}
        if chosen == TABLES:
            return import_tables(**options, encoding=asked.encoding, replace=asked.replace)
        return import_votes(**options, encoding=asked.encoding)
