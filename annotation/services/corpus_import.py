"""Import corpus files in short transactions. Importing a file again changes nothing, so that a broken-off import is
resumed by starting it again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from django.utils.translation import gettext

from annotation.domain.corpus_files import read_file
from annotation.domain.formats import CORPUS_FORMATS, WHAT_IT_SEEMS, CorpusFormat
from annotation.domain.left_out import LeftOut
from annotation.domain.problems import Problem, Problems
from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA, schema_details
from annotation.domain.story_rows import StoryRow
from annotation.models import BeliefTable, Membership, Project, Proposition, Role, Story, User
from annotation.services import audit
from annotation.services.attached_tables import Ambiguous, Candidate, attach, candidates_for, story_for
from annotation.services.counts import refresh
from annotation.services.import_results import not_taken, summary
from annotation.services.new_stories import NewStories
from annotation.services.recognition import Source
from annotation.services.short_writes import ShortWrites, with_last
from core.digests import text_digest
from core.messages import Sentence
from core.plain import plain
from core.wording import counted

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MOST_CHARACTERS = 300_000
"""The most characters of texts in one transaction."""

Identity = tuple
"""Identity of a story: (number,) of a row that has one, else (file name, digest of the text)."""


class _Kept(NamedTuple):
    """What is known of a story that this import has met or that the project holds: `translations` are digests by
    language, `number` is None where the project does not hold it."""

    fingerprint: str
    category: str
    translations: dict[str, str]
    number: int | None = None

    def is_as_in(self, row: StoryRow) -> bool:
        """Return whether a row says nothing else of the story; it may leave a translation out."""
        other = _of_row(row)
        same = (self.fingerprint, self.category) == (other.fingerprint, other.category)
        return same and other.translations.items() <= self.translations.items()


def _of_row(row: StoryRow) -> _Kept:
    return _Kept(row.fingerprint, row.category, _digests(row.translations))


def _digests(texts: dict[str, str]) -> dict[str, str]:
    return {language: text_digest(text) for language, text in texts.items()}


class ImportRefused(ValueError):
    """Refusal of an import: nothing was imported; the message is one sentence."""


@dataclass(slots=True)
class Imported:
    """The result of an import; `stories` counts the stories of the input, created or not. `attached` are stories that
    were in the project without a table and got theirs."""

    project: str
    stories: int = 0
    created: int = 0
    attached: int = 0
    unchanged: int = 0
    propositions: int = 0
    by_category: Counter = field(default_factory=Counter)
    problems: Problems = field(default_factory=Problems)
    left_out: LeftOut = field(default_factory=LeftOut)
    met: dict[Identity, _Kept] = field(default_factory=dict, repr=False)

    @property
    def categories(self) -> list[tuple[str, int]]:
        """Return how many stories of the input each category has, by its name."""
        return sorted(self.by_category.items())

    @property
    def taken(self) -> int:
        return self.created + self.attached

    @property
    def there(self) -> int:
        return self.unchanged

    @property
    def summary(self) -> str:
        done = (
            gettext("{created:,} created").format(created=self.created),
            gettext("{attached:,} given their table").format(attached=self.attached) if self.attached else "",
            gettext("{unchanged:,} unchanged").format(unchanged=self.unchanged),
        )
        stories, propositions = counted(self.stories, "story", "stories"), counted(self.propositions, "proposition")
        return summary(self.left_out, stories, done, propositions, not_taken(self.problems))

    def as_dict(self) -> dict:
        return {
            "summary": self.summary,
            "project": self.project,
            "stories": self.stories,
            "created": self.created,
            "attached": self.attached,
            "unchanged": self.unchanged,
            "propositions": self.propositions,
            "by_category": dict(self.categories),
            **self.left_out.as_json(),
            "problems": plain(self.problems.listed()),
        }


def files_of(paths: Iterable[Path], *, format: str) -> list[Path]:
    """Return the files to read, folders opened, in order of name. Raises ImportRefused where a path holds none."""
    chosen = CORPUS_FORMATS.values() if format == WHAT_IT_SEEMS else (CORPUS_FORMATS[format],)
    suffixes, files = [suffix for file_format in chosen for suffix in file_format.suffixes], list[Path]()
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.suffix.lower() in suffixes and file.is_file())
            if not inside:
                raise ImportRefused(
                    gettext("The folder {path} holds no {suffixes} file.").format(
                        path=path, suffixes=gettext(" or ").join(suffixes)
                    )
                )
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise ImportRefused(gettext("There is no file {path}.").format(path=path))
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
    progress: Callable[[str], None] = lambda message: None,
) -> Imported:
    """Import each (name, opener) of `sources`, which are in the format of that key. Creates the project where there is
    none and the sources hold a new story; its admin is `admin`, else `by`, and its label schema `schema`, else the
    default one.

    A broken line is a problem in the result and stops nothing else. `encoding` is that of files that are neither UTF-8
    nor UTF-16. With `strict` everything is read and compared first, and one problem means that nothing is kept. With
    `dry_run` nothing is kept either way. Raises ImportRefused, also where the project has another schema than `schema`.
    """
    _check_slug(project_slug)
    place = (by, project_slug, _schema_for(project_slug, schema), CORPUS_FORMATS[format], language, encoding)
    sources = list(sources)
    if strict:
        _refuse_problems(_Import(*place, None, keep=False).run(sources, lambda message: None))
    return _Import(*place, admin or by, keep=not dry_run).run(sources, progress)


def _check_slug(slug: str) -> None:
    if not SLUG.fullmatch(slug) or len(slug) > 60:
        raise ImportRefused(
            gettext("{slug!r} is not a project name; expected letters, digits and hyphens.").format(slug=slug[:60])
        )


def _schema_for(slug: str, chosen: Schema | None) -> Schema:
    """Return the schema of the project, or the one that it is to have. Raises ImportRefused."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        return chosen or DEFAULT_SCHEMA
    if chosen is not None and chosen != project.schema:
        raise ImportRefused(
            gettext("The project {slug} labels by {reference}, which stays; not {reference_2}.").format(
                slug=slug, reference=project.schema.reference, reference_2=chosen.reference
            )
        )
    return project.schema


def _refuse_problems(result: Imported) -> None:
    if result.problems:
        first = result.problems[0]
        raise ImportRefused(
            Sentence("{file}, line {line}: {message}", file=first.file, line=first.line, message=first.message)
        )


class _Import:
    """Compares the rows of files with what the project holds, and adds what is new: nothing is parsed in a
    transaction."""

    def __init__(
        self,
        by: User | None,
        slug: str,
        schema: Schema,
        format: CorpusFormat,
        language: str,
        encoding: str,
        admin: User | None,
        *,
        keep: bool,
    ) -> None:
        self.by, self.slug, self.format, self.admin, self.keep = by, slug, format, admin, keep
        self.language, self.encoding = language, encoding
        self.schema = schema
        self.project = Project.objects.filter(slug=slug).first()
        self.writes = ShortWrites()
        self.result = Imported(slug)
        self.stories = NewStories()
        self.attaching: list[tuple[int, StoryRow]] = []
        self.lines: dict[Identity, tuple[str, int]] = {}
        """File and line of each story that this import brings."""

    def run(self, sources: list[Source], progress: Callable[[str], None]) -> Imported:
        for name, opener in sources:
            with opener() as handle:
                self._file(handle, name)
            progress(f"{name}: {self.result.stories} stories so far")
        self.writes.tell_planner(Story, BeliefTable, Proposition)
        if self.project is not None:
            refresh(self.project)
        return self.result

    def _file(self, handle: BinaryIO, name: str) -> None:
        result, source = self.result, Path(name).name
        created, propositions, attached = result.created, result.propositions, result.attached
        for rows, is_last in with_last(self._batches(handle, name)):
            is_news = result.created > created or result.attached > attached
            if not self.keep or not (self._has_new(rows, source) or (is_last and is_news)):
                self._new_rows(rows, self._stored(rows, source), source)
                continue
            with self.writes.transaction(sum(map(_weight, rows))):
                self._lock_project()
                if not is_last and result.created == created:
                    self._record("corpus.import_started", name)
                self.stories.insert(self.project, self._new_rows(rows, self._stored(rows, source), source), source)
                attach(self.attaching)
                if is_last and (result.created > created or result.attached > attached):
                    stories, rows_made = result.created - created, result.propositions - propositions
                    tables = {"tables": result.attached - attached} if result.attached > attached else {}
                    self._record("corpus.imported", name, stories=stories, propositions=rows_made, **tables)

    def _has_new(self, rows: list[StoryRow], source: str) -> bool:
        stored = self._stored(rows, source)
        return any(self._identity(row, source) not in stored for row in rows) or self._has_tables(rows)

    def _has_tables(self, rows: list[StoryRow]) -> bool:
        by_text = candidates_for(self.project, rows) if self.project is not None else {}
        return any(candidate.is_bare for candidates in by_text.values() for candidate in candidates)

    def _batches(self, handle: BinaryIO, name: str) -> Iterator[list[StoryRow]]:
        """The file's stories, as many at once as a short transaction holds; what is broken goes to the problems."""
        batch: list[StoryRow] = []
        rows = characters = 0
        reading = {"format": self.format, "language": self.language, "encoding": self.encoding}
        reading["left_out"] = self.result.left_out
        for item in read_file(handle, name, keys=self.schema.keys, **reading):
            if isinstance(item, Problem):
                self.result.problems.add(item)
                continue
            batch.append(item)
            rows, characters = rows + _weight(item), characters + _characters(item)
            if rows >= self.writes.rows or characters >= _MOST_CHARACTERS:
                yield batch
                batch, rows, characters = [], 0, 0
        if batch:
            yield batch

    def _identity(self, row: StoryRow, source: str) -> Identity:
        return (row.number,) if row.number is not None else (source, row.digest)

    def _stored(self, rows: list[StoryRow], source: str) -> dict[Identity, _Kept]:
        """Return what is known of those rows that this import has met or that the project holds."""
        if self.project is None:
            return self.result.met
        numbers = [row.number for row in rows if row.number is not None]
        digests = [row.digest for row in rows if row.number is None]
        stories, stored = self.project.stories, dict[Identity, _Kept]()
        columns = ("number", "digest", "extra", "category__name", "translations")
        for is_numbered, alike in (
            (True, stories.filter(number__in=numbers) if numbers else None),
            (False, stories.filter(source=source, digest__in=digests) if digests else None),
        ):
            for number, digest, extra, category, translations in alike.values_list(*columns) if alike else ():
                fingerprint = extra.get("fingerprint", "") if is_numbered else ""
                kept = _Kept(fingerprint, category, _digests(translations), number)
                stored[(number,) if is_numbered else (source, digest)] = kept
        return stored

    def _new_rows(self, rows: list[StoryRow], stored: dict[Identity, _Kept], source: str) -> list[StoryRow]:
        """Count the rows and return those that the project lacks. A story that it holds is compared as it was imported,
        without later edits."""
        result, new_rows, self.attaching = self.result, [], []
        candidates = candidates_for(self.project, rows) if self.project is not None else {}
        for row in rows:
            identity = self._identity(row, source)
            if self._attaches(row, identity, candidates.pop(row.digest, [])):
                continue
            kept = result.met.get(identity, stored.get(identity))
            if kept is not None and not kept.is_as_in(row):
                result.problems.add(Problem(row.file, row.line, self._other_content(kept, identity)))
                continue
            if identity in result.met:
                continue
            result.met[identity] = kept or _of_row(row)
            result.stories += 1
            result.propositions += len(row.propositions or ())
            result.by_category[row.category] += 1
            if kept is not None:
                result.unchanged += 1
                continue
            result.created += 1
            self.lines[identity] = row.file, row.line
            new_rows.append(row)
        return new_rows

    def _other_content(self, kept: _Kept, identity: Identity) -> str:
        if identity not in self.lines:
            text = gettext("Story {number} is in the project already with other content; nothing was changed.")
            return text.format(number=kept.number)
        file, line = self.lines[identity]
        place = {"line": line, "file": Path(file).name}
        if len(identity) > 1:
            text = gettext(
                "This story has another category or translation in line {line} of {file}, which counts; "
                "this one was not taken."
            )
            return text.format(**place)
        return gettext(
            "Story {number} has other content in line {line} of {file}, which counts; this one was not taken."
        ).format(number=identity[0], **place)

    def _attaches(self, row: StoryRow, identity: Identity, candidates: list[Candidate]) -> bool:
        """Return whether the row is dealt with: it is the table of a story that is here, or fits none for sure."""
        if not row.propositions or identity in self.result.met:
            return False
        try:
            story = story_for(row, candidates)
        except Ambiguous as error:
            self.result.problems.add(Problem(row.file, row.line, str(error)))
            return True
        is_known = any(row.fingerprint == candidate.fingerprints[1] for candidate in candidates)
        if story is None and not is_known:
            return False
        self.result.met[identity] = _of_row(row)
        self.result.stories += 1
        self.result.propositions += len(row.propositions)
        self.result.by_category[row.category] += 1
        if story is None:
            self.result.unchanged += 1
        else:
            self.result.attached += 1
            self.attaching.append((story.pk, row))
        return True

    def _lock_project(self) -> None:
        """Make the project where there is none; two imports into it write one after the other."""
        if self.project is None:
            defaults = {"name": self.slug, "language": self.language}
            defaults |= {"schema_name": self.schema.name, "schema_version": self.schema.version}
            self.project, is_new = Project.objects.get_or_create(slug=self.slug, defaults=defaults)
            if is_new:
                self._record_project()
        Project.objects.select_for_update().get(pk=self.project.pk)

    def _record_project(self) -> None:
        admin = self.admin
        if admin is not None:
            Membership.objects.create(project=self.project, user=admin, role=Role.ADMIN)
        details = {"admin": admin.username} if admin is not None and admin != self.by else {}
        details |= schema_details(self.schema)
        audit.record(by=self.by, project=self.project, action="project.created", target=self.slug, **details)

    def _record(self, action: str, name: str, **counts: int) -> None:
        audit.record(
            by=self.by, project=self.project, action=action, target=name[-200:], format=self.format.key, **counts
        )


def _weight(row: StoryRow) -> int:
    return 1 + len(row.propositions or ())


def _characters(row: StoryRow) -> int:
    return len(row.text) + len(row.layout) + sum(map(len, row.translations.values()))
