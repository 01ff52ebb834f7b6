"""Import corpus files in short transactions. Importing a file again changes nothing, so that an interrupted import is
resumed by starting it again."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

from django.utils.translation import gettext

from annotation.domain.formats import CORPUS_FORMATS, WHAT_IT_SEEMS
from annotation.domain.problems import Problem
from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA, schema_details
from annotation.domain.stories import StoryRow, read_file
from annotation.models import BeliefTable, Membership, Project, Proposition, Role, Story, User
from annotation.services import audit
from annotation.services.import_results import ImportResult, Source
from annotation.services.new_stories import MARK, Ambiguous, attach, candidates_for, insert_stories, story_for
from annotation.services.short_writes import ShortWrites, with_last
from core.digests import text_digest
from core.messages import Sentence, gettext_noop
from core.wording import counted

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MOST_CHARACTERS = 300_000
"""The most characters of texts in one transaction."""
Identity = tuple[Any, ...]
"""Identity of a story: (number,) of a row that has one, else (file name, digest of the text)."""


class _Known(NamedTuple):
    """Content of a story that this import has met or that the project holds. `translations` are digests by language,
    `number` is None for a story that the project does not hold."""

    fingerprint: str
    category: str
    translations: dict[str, str]
    number: int | None = None

    def is_as_in(self, row: StoryRow) -> bool:
        """Return whether a row agrees; it may leave a translation out."""
        same = (self.fingerprint, self.category) == (row.fingerprint, row.category)
        return same and _digests(row.translations).items() <= self.translations.items()


def _digests(texts: dict[str, str]) -> dict[str, str]:
    return {language: text_digest(text) for language, text in texts.items()}


class ImportRefused(ValueError):
    """Refusal of an import: nothing was imported; the message is one sentence."""


@dataclass(slots=True)
class Imported(ImportResult):
    """`stories` counts the stories of the input, `attached` those that were in the project and got their table."""

    project: str = ""
    stories: int = 0
    attached: int = 0
    propositions: int = 0
    by_category: Counter[str] = field(default_factory=Counter)
    SIZE: ClassVar = "stories"
    NOUN: ClassVar = ("story", "stories")
    OUTCOMES: ClassVar = {
        "created": gettext_noop("{created:,} created"), "attached": gettext_noop("{attached:,} given their table"),
        "unchanged": gettext_noop("{unchanged:,} unchanged"),
    }  # fmt: skip
    TAKEN: ClassVar = ("created", "attached")
    COUNTS: ClassVar = ("project", "stories", "created", "attached", "unchanged", "propositions")

    @property
    def categories(self) -> list[tuple[str, int]]:
        """The number of stories of the input in each category, by name."""
        return sorted(self.by_category.items())

    @property
    def clauses(self) -> tuple[str, ...]:
        return (counted(self.propositions, "proposition"),)

    def as_dict(self) -> dict[str, Any]:
        return ImportResult.as_dict(self) | {"by_category": dict(self.categories)}


def files_of(paths: Iterable[Path], *, format: str) -> list[Path]:
    """Return the files to read, folders opened, in order of name. Raises ImportRefused if a path holds none."""
    chosen = CORPUS_FORMATS.values() if format == WHAT_IT_SEEMS else (CORPUS_FORMATS[format],)
    suffixes, files = [suffix for file_format in chosen for suffix in file_format.suffixes], list[Path]()
    for path in paths:
        if path.is_file():
            files.append(path)
            continue
        if not path.is_dir():
            raise ImportRefused(gettext("There is no file {path}.").format(path=path))
        inside = sorted(file for file in path.iterdir() if file.suffix.lower() in suffixes and file.is_file())
        if not inside:
            text = gettext("The folder {path} holds no {suffixes} file.")
            raise ImportRefused(text.format(path=path, suffixes=gettext(" or ").join(suffixes)))
        files += inside
    return files


def import_corpus(
    *,
    by: User | None,
    project_slug: str,
    format: str,
    sources: Iterable[Source],
    language: str = "en",
    encoding: str = "",
    dry_run: bool = False,
    strict: bool = False,
    admin: User | None = None,
    schema: Schema | None = None,
) -> Imported:
    """Import each (name, opener) of `sources`, which are in the format of that key. Creates the project if there is
    none and the sources hold a new story; its admin is `admin`, else `by`, and its label schema `schema`, else the
    default one.

    A broken line is a problem in the result and stops nothing else. `encoding` is that of files that are neither UTF-8
    nor UTF-16. With `strict` everything is read and compared first, and one problem means that nothing is kept. With
    `dry_run` nothing is kept. Raises ImportRefused, also if the project has another schema than `schema`.
    """
    if not SLUG.fullmatch(project_slug) or len(project_slug) > 60:
        text = gettext("{slug!r} is not a project name; expected letters, digits and hyphens.")
        raise ImportRefused(text.format(slug=project_slug[:60]))
    own_schema = _schema_for(project_slug, schema)
    reading = {"format": CORPUS_FORMATS[format], "language": language, "encoding": encoding, "keys": own_schema.keys}
    sources = list(sources)
    if strict:
        checked = _Import(by, project_slug, own_schema, reading, None, keep=False).run(sources)
        if checked.problems:
            first = checked.problems[0]
            raise ImportRefused(
                Sentence("{file}, line {line}: {message}", file=first.file, line=first.line, message=first.message)
            )
    return _Import(by, project_slug, own_schema, reading, admin or by, keep=not dry_run).run(sources)


def _schema_for(slug: str, chosen: Schema | None) -> Schema:
    """Return the schema of the project, or the one of a new project. Raises ImportRefused."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        return chosen or DEFAULT_SCHEMA
    if chosen not in (None, project.schema):
        text = gettext("The project {slug} labels by {reference}, which stays; not {reference_2}.")
        raise ImportRefused(text.format(slug=slug, reference=project.schema.reference, reference_2=chosen.reference))
    return project.schema


class _Import:
    """Compares the rows of files with the project, and adds the new ones. Nothing is parsed in a transaction."""

    def __init__(
        self, by: User | None, slug: str, schema: Schema, reading: dict[str, Any], admin: User | None, *, keep: bool
    ) -> None:
        self.by, self.slug, self.schema, self.reading, self.admin, self.keep = by, slug, schema, reading, admin, keep
        self.project = Project.objects.filter(slug=slug).first()
        self.writes = ShortWrites()
        self.result = Imported(project=slug)
        self.met: dict[Identity, _Known] = {}
        self.lines: dict[Identity, tuple[str, int]] = {}
        """File and line of each story that this import brings."""

    def run(self, sources: list[Source]) -> Imported:
        for name, opener in sources:
            with opener() as handle:
                self._file(handle, name)
        self.writes.tell_planner(Story, BeliefTable, Proposition)
        return self.result

    def _file(self, handle: BinaryIO, name: str) -> None:
        result, source = self.result, Path(name).name
        before = {count: getattr(result, count) for count in ("created", "propositions", "attached")}
        for rows, is_last in with_last(self._batches(handle, name)):
            if not self.keep:
                self._new_rows(rows, source)
                continue
            with self.writes.transaction(sum(map(_weight, rows))):
                project = self._lock_project()
                new, attaching = self._new_rows(rows, source)
                done = {count: getattr(result, count) - number for count, number in before.items()}
                if new and not is_last and done["created"] == len(new):
                    self._record("corpus.import_started", name)
                insert_stories(project, new, source)
                attach(attaching)
                if is_last and (done["created"] or done["attached"]):
                    tables = {"tables": done["attached"]} if done["attached"] else {}
                    counts = {"stories": done["created"], "propositions": done["propositions"], **tables}
                    self._record("corpus.imported", name, **counts)

    def _batches(self, handle: BinaryIO, name: str) -> Iterator[list[StoryRow]]:
        """Yield the file's stories, as many at once as a short transaction holds. Broken lines go to the problems."""
        batch: list[StoryRow] = []
        rows = characters = 0
        for item in read_file(handle, name, **self.reading, left_out=self.result.left_out):
            if isinstance(item, Problem):
                self.result.problems.add(item)
                continue
            batch.append(item)
            rows += _weight(item)
            characters += len(item.text) + len(item.layout) + sum(map(len, item.translations.values()))
            if rows >= self.writes.rows or characters >= _MOST_CHARACTERS:
                yield batch
                batch, rows, characters = [], 0, 0
        if batch:
            yield batch

    def _stored(self, rows: list[StoryRow], source: str) -> dict[Identity, _Known]:
        """Return the known stories among these rows: of the project, or met by this import if there is no project."""
        if self.project is None:
            return self.met
        numbers = [row.number for row in rows if row.number is not None]
        digests = [row.digest for row in rows if row.number is None]
        columns = ("number", "digest", "extra", "category__name", "translations")
        stories, stored = self.project.stories.values_list(*columns), dict[Identity, _Known]()
        for number, _, extra, category, translations in stories.filter(number__in=numbers) if numbers else ():
            fingerprint = extra.get("fingerprint", "")
            stored[number,] = _Known(fingerprint, category, _digests(translations), number)
        for number, digest, _, category, translations in (
            stories.filter(source=source, digest__in=digests) if digests else ()
        ):
            stored[source, digest] = _Known("", category, _digests(translations), number)
        return stored

    def _new_rows(self, rows: list[StoryRow], source: str) -> tuple[list[StoryRow], list[tuple[Story, StoryRow]]]:
        """Count the rows; return those that the project lacks, and tables with their story. A story of the
        project is compared as it was imported, without later edits."""
        new: list[StoryRow] = []
        attaching: list[tuple[Story, StoryRow]] = []
        stored = self._stored(rows, source)
        candidates = candidates_for(self.project, rows) if self.project is not None else {}
        for row in rows:
            identity = (row.number,) if row.number is not None else (source, row.digest)
            if row.propositions and identity not in self.met:
                candidates_here = candidates.pop(row.digest, [])
                if self._is_table_of_one(identity, row, candidates_here, attaching):
                    continue
            known = self.met.get(identity, stored.get(identity))
            if known is not None and not known.is_as_in(row):
                if identity in self.lines:
                    file, line = self.lines[identity]
                    text = gettext(
                        "The story has other content in line {line} of {file}, which counts; this one was not taken."
                    ).format(line=line, file=Path(file).name)
                else:
                    text = gettext(
                        "Story {number} is in the project already with other content; nothing was changed."
                    ).format(number=known.number)
                self.result.problems.add(Problem(row.file, row.line, text))
            elif identity not in self.met:
                self._meet(identity, row, known)
                if known is not None:
                    self.result.unchanged += 1
                    continue
                self.result.created += 1
                self.lines[identity] = row.file, row.line
                new.append(row)
        return new, attaching

    def _meet(self, identity: Identity, row: StoryRow, known: _Known | None = None) -> None:
        self.met[identity] = known or _Known(row.fingerprint, row.category, _digests(row.translations))
        self.result.stories += 1
        self.result.propositions += len(row.propositions or ())
        self.result.by_category[row.category] += 1

    def _is_table_of_one(
        self, identity: Identity, row: StoryRow, candidates: list[Any], attaching: list[tuple[Story, StoryRow]]
    ) -> bool:
        """Return whether the row is the table of a story of the project. One that fits several is a problem."""
        try:
            story = story_for(row, candidates)
        except Ambiguous as error:
            self.result.problems.add(Problem(row.file, row.line, str(error)))
            return True
        if story is not None:
            self.result.attached += 1
            attaching.append((story, row))
        elif any(row.fingerprint == story.extra.get(MARK, "") for story in candidates):
            self.result.unchanged += 1
        else:
            return False
        self._meet(identity, row)
        return True

    def _lock_project(self) -> Project:
        """Create the project if there is none. Two imports into it write one after the other."""
        if self.project is None:
            defaults = {"name": self.slug, "language": self.reading["language"]}
            defaults |= {"schema_name": self.schema.name, "schema_version": self.schema.version}
            self.project, is_new = Project.objects.get_or_create(slug=self.slug, defaults=defaults)
            if is_new:
                admin = self.admin
                if admin is not None:
                    Membership.objects.create(project=self.project, user=admin, role=Role.ADMIN)
                details = {"admin": admin.username} if admin is not None and admin != self.by else {}
                details |= schema_details(self.schema)
                audit.record(by=self.by, project=self.project, action="project.created", target=self.slug, **details)
        return Project.objects.select_for_update().get(pk=self.project.pk)

    def _record(self, action: str, name: str, **counts: int) -> None:
        key = self.reading["format"].key
        audit.record(by=self.by, project=self.project, action=action, target=name[-200:], format=key, **counts)


def _weight(row: StoryRow) -> int:
    return 1 + len(row.propositions or ())
