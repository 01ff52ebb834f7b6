"""Imports corpus files: each file is one transaction, importing it again changes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from django.db import transaction

from annotation.domain.corpus_files import Problem, PropositionRow, StoryRow, read_file
from annotation.models import BeliefTable, Category, Membership, Project, Proposition, Role, Story, User
from annotation.services import audit

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
FORMATS = {"omnitom": ".jsonl", "tombench": ".jsonl"}
_BATCH = 200


class ImportRefused(ValueError):
    """Nothing was imported; the message is one sentence."""


class _KeepNothing(Exception):
    pass


@dataclass(slots=True)
class Imported:
    """`stories` counts what the input holds, created or not."""

    project: str
    stories: int = 0
    created: int = 0
    unchanged: int = 0
    propositions: int = 0
    by_category: Counter = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    met: set[tuple] = field(default_factory=set, repr=False)

    def as_dict(self) -> dict:
        return {
            "project": self.project,
            "stories": self.stories,
            "created": self.created,
            "unchanged": self.unchanged,
            "propositions": self.propositions,
            "by_category": dict(sorted(self.by_category.items())),
            "problems": [problem.as_dict() for problem in self.problems],
        }


def files_of(paths: Iterable[Path], *, format: str) -> list[Path]:
    """The files to read, folders opened, in order of name. Raises ImportRefused where a path holds none."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix == FORMATS[format] and one.is_file())
            if not inside:
                raise ImportRefused(f"The folder {path} holds no {FORMATS[format]} file.")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise ImportRefused(f"There is no file {path}.")
    return found


def import_corpus(
    *,
    by: User | None,
    project_slug: str,
    format: str,
    sources: Iterable[tuple[str, Callable[[], BinaryIO]]],
    language: str = "en",
    dry_run: bool = False,
    strict: bool = False,
    admin: User | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> Imported:
    """Imports each (name, opener) of `sources`. Creates the project where there is none and the sources hold a story;
    its admin is `admin`, else `by`.

    A broken line is a problem in the result and stops nothing else; with `strict` it stops everything and nothing is
    kept. With `dry_run` nothing is kept either way. Raises ImportRefused.
    """
    result = Imported(project_slug)
    try:
        with transaction.atomic():
            project, is_new = _project(by, project_slug, language, admin or by)
            for name, opener in sources:
                with opener() as handle, transaction.atomic():
                    _import_file(by, project, handle, name, format, language, result, strict)
                progress(f"{name}: {result.stories} stories so far")
            if dry_run or (is_new and not result.created):
                raise _KeepNothing
    except _KeepNothing:
        pass
    return result


def _project(by: User | None, slug: str, language: str, admin: User | None) -> tuple[Project, bool]:
    if not SLUG.fullmatch(slug) or len(slug) > 60:
        raise ImportRefused(f"{slug[:60]!r} is no project name; expected letters, digits and hyphens.")
    project, is_new = Project.objects.get_or_create(slug=slug, defaults={"name": slug, "language": language})
    if is_new:
        if admin is not None:
            Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
        told = {"admin": admin.username} if admin is not None and admin != by else {}
        audit.record(by=by, project=project, action="project.created", target=slug, **told)
    return project, is_new


def _import_file(by, project, handle, name, format, language, result: Imported, strict: bool) -> None:
    before = (result.created, result.propositions)
    importer = _FileImport(project, format, Path(name).name)
    batch: list[StoryRow] = []
    for item in read_file(handle, name, format=format, language=language):
        if isinstance(item, Problem):
            if strict:
                raise ImportRefused(f"{item.file}, line {item.line}: {item.message}")
            result.problems.append(item)
            continue
        batch.append(item)
        if len(batch) == _BATCH:
            importer.save(batch, result)
            batch = []
    importer.save(batch, result)
    if strict and result.problems:
        first = result.problems[0]
        raise ImportRefused(f"{first.file}, line {first.line}: {first.message}")
    if result.created > before[0]:
        audit.record(
            by=by,
            project=project,
            action="corpus.imported",
            target=name[-200:],
            format=format,
            stories=result.created - before[0],
            propositions=result.propositions - before[1],
        )


class _FileImport:
    """Compares the rows of one file with what the project holds, and adds what is new."""

    def __init__(self, project: Project, format: str, source: str) -> None:
        self.project, self.format, self.source = project, format, source
        self.categories = {one.name: one for one in project.categories.all()}
        self.next_number = 1 + max(project.stories.values_list("number", flat=True), default=0)
        self.by_text = dict.fromkeys(project.stories.filter(source=source).values_list("digest", flat=True), "")

    def save(self, rows: list[StoryRow], result: Imported) -> None:
        fresh = self._fresh(rows, result)
        stories = Story.objects.bulk_create([self._story(row) for row in fresh])
        with_table = [(row, story) for row, story in zip(fresh, stories, strict=True) if row.propositions is not None]
        tables = BeliefTable.objects.bulk_create([BeliefTable(story=story) for _, story in with_table])
        propositions = [
            self._proposition(table, position, one)
            for (row, _), table in zip(with_table, tables, strict=True)
            for position, one in enumerate(row.propositions, 1)
        ]
        Proposition.objects.bulk_create(propositions, batch_size=1000)
        result.created += len(stories)
        result.propositions += sum(len(row.propositions or ()) for row in rows)

    def _fresh(self, rows: list[StoryRow], result: Imported) -> list[StoryRow]:
        """The rows that the project lacks. One that it holds is compared by what was imported, not by what people
        made of it since."""
        held = self._held(rows) if self.format == "omnitom" else self.by_text
        fresh = []
        for row in rows:
            identity = row.number if self.format == "omnitom" else row.digest
            if held.get(identity, row.fingerprint) != row.fingerprint:
                message = f"Story {row.number} is in the project already with other content; nothing was changed."
                result.problems.append(Problem(row.file, row.line, message))
                continue
            met = (identity,) if self.format == "omnitom" else (self.source, identity)
            if met in result.met:
                continue
            result.met.add(met)
            result.stories += 1
            result.by_category[row.category] += 1
            if identity in held:
                result.unchanged += 1
                continue
            held[identity] = row.fingerprint
            fresh.append(row)
        return fresh

    def _held(self, rows: list[StoryRow]) -> dict[int, str]:
        """Number and fingerprint of the stories that the project holds under the numbers of these rows."""
        stories = self.project.stories.filter(number__in=[row.number for row in rows])
        return {number: extra.get("fingerprint", "") for number, extra in stories.values_list("number", "extra")}

    def _story(self, row: StoryRow) -> Story:
        category = self.categories.get(row.category)
        if category is None:
            category = Category.objects.create(project=self.project, name=row.category)
            self.categories[row.category] = category
        number = row.number
        if number is None:
            number, self.next_number = self.next_number, self.next_number + 1
        return Story(
            project=self.project,
            number=number,
            category=category,
            text=row.text,
            language=row.language,
            translations=row.translations,
            source=self.source,
            digest=row.digest,
            extra=_marks(fingerprint=row.fingerprint, layout=row.layout),
        )

    @staticmethod
    def _proposition(table: BeliefTable, position: int, row: PropositionRow) -> Proposition:
        return Proposition(
            table=table,
            position=position,
            actor=row.actor,
            belief=row.belief,
            imported_labels=row.labels,
            extra=_marks(layout=row.layout),
        )


def _marks(**marks: str) -> dict[str, str]:
    return {name: value for name, value in marks.items() if value}
