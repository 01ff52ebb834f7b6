"""Files of any format on the page *Import*: recognising, checking and importing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from annotation.domain.columns import WrongColumns
from annotation.domain.formats import IMPORTED, LABELS, TABLES, WHAT_IT_SEEMS, FileFormat
from annotation.models import Project, User
from annotation.services.corpus_import import ImportRefused, import_corpus
from annotation.services.import_results import ImportResult
from annotation.services.recognition import Seen, Source, look_at, other_format
from annotation.services.table_import import import_tables
from annotation.services.vote_import import ImportBroken, import_votes
from core.incoming.encodings import BadText
from core.incoming.sheets import BadSheet
from core.plain import Json


@dataclass(frozen=True, slots=True)
class Answer:
    """Guess of what files are, and the result if they were imported or checked. Without a result, `refusal` is the
    reason."""

    seen: Seen
    format: FileFormat | None = None
    result: ImportResult | None = None
    refusal: str = ""
    kept: bool = False

    @property
    def seems(self) -> str:
        """The guess of what the files are. Empty if it is not known, or part of the refusal (`other_format`)."""
        fits = self.format is None or self.format in self.seen.formats
        return self.seen.sentence if fits and self.seen.formats else ""

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
    seen = look_at(sources, encoding=encoding)
    if seen.problem:
        return Answer(seen, refusal=seen.problem)
    if format == WHAT_IT_SEEMS:
        if not seen.formats:
            return Answer(seen, refusal=seen.sentence)
        chosen = seen.formats[0]
    else:
        chosen = IMPORTED[format]
        if sentence := other_format(seen, chosen.key):
            return Answer(seen, chosen, refusal=sentence)
    keep = keep and (chosen != TABLES or not replace or sure)
    options: Json = {"by": by, "encoding": encoding, "dry_run": not keep}
    try:
        if chosen not in (TABLES, LABELS):
            options |= {"project_slug": project.slug, "format": chosen.key, "language": language}
            return Answer(seen, chosen, import_corpus(**options, sources=sources), kept=keep)
        if len(sources) > 1:
            text = gettext("{title}: {sources} files; choose one at a time.")
            raise ImportRefused(text.format(title=chosen.title, sources=len(sources)))
        ((name, opener),) = sources
        with opener() as handle:
            options |= {"project": project, "handle": handle, "file": name, "now": now}
            result = import_tables(**options, replace=replace) if chosen == TABLES else import_votes(**options)
    except (ImportRefused, ImportBroken, WrongColumns, BadSheet, BadText) as error:
        return Answer(seen, chosen, refusal=str(error))
    return Answer(seen, chosen, result, kept=keep)
