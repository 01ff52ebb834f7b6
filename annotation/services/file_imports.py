"""Files of any format on the page *Import*: recognising, checking and importing them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from annotation.domain.columns import WrongColumns
from annotation.domain.formats import LABELS, TABLES, WHAT_IT_SEEMS, FileFormat
from annotation.models import Project, User
from annotation.services.corpus_import import ImportRefused, import_corpus
from annotation.services.import_results import ImportResult
from annotation.services.recognition import Source, format_of
from annotation.services.table_import import import_tables
from annotation.services.vote_import import ImportBroken, import_votes
from core.incoming.encodings import BadText
from core.incoming.sheets import BadSheet
from core.plain import Json


@dataclass(frozen=True, slots=True)
class Answer:
    """What files seem to be, and the result if they were imported or checked, else the reason in `refusal`."""

    format: FileFormat | None = None
    seems: str = ""
    result: ImportResult | None = None
    refusal: str = ""
    kept: bool = False

    @property
    def heading(self) -> str:
        """The outcome of the files as a whole."""
        if self.result is None:
            return gettext("Nothing was imported")
        return self.result.heading(kept=self.kept)


def import_files(
    *,
    by: User,
    project: Project,
    sources: Sequence[Source],
    now: datetime,
    keep: bool,
    format: str = WHAT_IT_SEEMS,
    language: str = "en",
    encoding: str = "",
    replace: bool = False,
    sure: bool = False,
) -> Answer:
    """Import files into a project, or only check them. A file that cannot be read to its end refuses all.
    `replace` writes over existing tables, if the reader is `sure`."""
    try:
        chosen, seems = format_of(sources, format, encoding=encoding)
    except (BadSheet, BadText) as error:
        return Answer(refusal=str(error))
    keep = keep and (chosen != TABLES or not replace or sure)
    options: Json = {"by": by, "encoding": encoding, "dry_run": not keep}
    try:
        if chosen not in (TABLES, LABELS):
            options |= {"project_slug": project.slug, "format": chosen.key, "language": language}
            return Answer(chosen, seems, import_corpus(**options, sources=sources), kept=keep)
        if len(sources) > 1:
            text = gettext("{title}: {sources} files; choose one at a time.")
            raise ImportRefused(text.format(title=chosen.title, sources=len(sources)))
        ((name, opener),) = sources
        with opener() as handle:
            options |= {"project": project, "handle": handle, "file": name, "now": now}
            result = import_tables(**options, replace=replace) if chosen == TABLES else import_votes(**options)
    except (ImportRefused, ImportBroken, WrongColumns, BadSheet, BadText) as error:
        return Answer(chosen, seems, refusal=str(error))
    return Answer(chosen, seems, result, kept=keep)
