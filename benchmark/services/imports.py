"""A user's copy of a benchmark as a dataset: its samples are kept as they were read, under the digest of all of
them."""

import logging
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from django.db import transaction

from annotation.models import Project, User
from benchmark.domain.parameters import Options
from benchmark.models import Dataset, DatasetSample
from benchmark.services.datasets import keep_version
from benchmark.suites.contract import Suite
from benchmark.suites.copies import BadImport, Imported
from benchmark.suites.questions import Sample
from benchmark.suites.settings import Setting
from core.digests import text_digest
from core.incoming.damage import damage_as, fault_of, oversize
from core.messages import Sentence, gettext_noop, listed, word
from core.plain import Json
from core.texts import canonical, storable

log = logging.getLogger(__name__)

LONGEST_NAME = 200
_DATA = frozenset({".csv", ".json", ".jsonl", ".gz", ".txt"})
_ZIP = "the zip"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy as it was read with `options`, the digest of each of its samples, and that of all."""

    suite: Suite
    imported: Imported
    options: Options
    digests: Sequence[str]
    digest: str

    @property
    def summary(self) -> Json:
        """The copy in numbers, before it is kept as after: {title, digest, files, licence, unchecked, problems} as
        they are kept, and how many samples, clusters and sets it has, samples also by split and category."""
        samples = self.imported.samples
        return {
            "title": self.imported.title,
            "digest": self.digest,
            "files": dict(self.imported.files),
            "unchecked": self.imported.unchecked,
            "samples": len(samples),
            "clusters": len({sample.cluster for sample in samples}),
            "sets": len({sample.group for sample in samples if sample.group}),
            "by_split": dict(sorted(Counter(sample.split for sample in samples if sample.split).items())),
            "by_category": dict(sorted(Counter(sample.category for sample in samples).items())),
            "problems": [dict(problem) for problem in self.imported.problems],
            "licence": storable(self.imported.licence),
        }

    def kept_in(self, project: Project) -> Dataset | None:
        """Return the version that has these samples already."""
        return Dataset.objects.filter(project=project, digest=self.digest).first()


def copy_of(suite: Suite, path: Path, options: Options) -> Copy:
    """Read and check a copy, a folder or a file as the suite takes it; nothing is kept. Raises BadImport."""
    if suite.copied.load is None:
        raise BadImport(
            "{suite} has no samples of its own: it is asked about a project's published gold.", suite=suite.title
        )
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.suffix.lower() in _DATA and file.is_file() and not file.stat().st_size:
            raise BadImport("{file} is empty; expected the file as it was released.", file=file.name)
    chosen = checked(suite.copied.options, options)
    try:
        imported = suite.copied.load(path, **chosen)
    except BadImport:
        raise
    except Exception as error:
        log.exception("A copy could not be read as %s.", suite.title)
        raise BadImport(
            "The copy cannot be read as {suite} ({problem}); the log of the program says where.",
            suite=suite.title,
            problem=f"{type(error).__name__}: {error}"[:200],
        ) from error
    _check(suite, imported.samples)
    digests = [_digest(sample) for sample in imported.samples]
    return Copy(suite, imported, options, digests, text_digest("\n".join([suite.name, *digests])))


@contextmanager
def together(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the path that was named, or of several a folder that has them all under their names. Raises BadImport."""
    if missing := [path for path in paths if not path.exists()]:
        raise BadImport("There is no file or folder {missing}.", missing=missing[0])
    if len(paths) == 1:
        yield paths[0]
        return
    if len({path.name for path in paths}) < len(paths):
        raise BadImport("Two of the paths have one name; expected another for each.")
    with tempfile.TemporaryDirectory(prefix="credence-import-") as temporary:
        for path in paths:
            (Path(temporary) / path.name).symlink_to(path.resolve())
        yield Path(temporary)


def copy_in_archive(suite: Suite, file: BinaryIO, options: Options) -> Copy:
    """Read and check the copy in a zip of the folder, which may hold it as its only folder, or in the archive that the
    suite takes as it is; nothing is kept. `options` are those of the suite's `load_options`. Raises BadImport."""
    begins = file.read(4)
    file.seek(0)
    with tempfile.TemporaryDirectory(prefix="credence-import-") as temporary:
        path = Path(temporary)
        if suite.copied.archive and not begins.startswith(b"PK"):  # the released archive, as it is
            path /= suite.copied.archive
            with path.open("wb") as handle:
                shutil.copyfileobj(file, handle)
        else:
            path = _unpacked(file, path)
        try:
            return copy_of(suite, path, options)
        except BadImport as error:  # where a zip was unpacked says nothing to whoever sent it
            sentence = str(error)
            for folder in (path, Path(temporary)):
                sentence = sentence.replace(str(folder), _ZIP) if folder.is_dir() else sentence
            raise BadImport(sentence.replace(Path(temporary).name, _ZIP)) from error


def checked(settings: Sequence[Setting], options: Options) -> Options:
    """The options with defaults for those that are lacking. Raises BadImport."""
    names = {setting.name: setting for setting in settings}
    if unknown := sorted(set(options) - set(names)):
        raise BadImport(
            "There is no option {unknown}; there are: {names}.", unknown=repr(unknown[0]), names=listed(names) or "none"
        )
    try:
        return {name: setting.checked(options.get(name, setting.default)) for name, setting in names.items()}
    except ValueError as error:
        raise BadImport(str(error)) from error


@transaction.atomic
def keep_copy(*, by: User | None, project: Project, copy: Copy, note: str = "") -> tuple[Dataset, bool]:
    """Return (dataset of these samples, whether it is new): the same samples are one dataset."""
    suite, imported, digest_of_all = copy.suite, copy.imported, copy.digest
    Project.objects.select_for_update().get(pk=project.pk)
    if existing := copy.kept_in(project):
        return existing, False
    samples = [_row(at, *row) for at, row in enumerate(zip(imported.samples, copy.digests, strict=True))]
    dataset = keep_version(
        samples,
        by=by,
        project=project,
        digest=digest_of_all,
        action="dataset.imported",
        details={"suite": suite.name, "samples": len(samples)},
        suite=suite.name,
        propositions_count=0,
        note=storable(note)[:200],
        origin={
            "title": storable(imported.title),
            "licence": storable(imported.licence),
            "files": dict(imported.files),
            "options": dict(copy.options),
            "unchecked": imported.unchecked,
            "problems": [_plain(problem) for problem in imported.problems],
        },
    )
    return dataset, True


def _check(suite: Suite, samples: Sequence[Sample]) -> None:
    """Raise BadImport if there are no samples, or if names of one are wrong or not its own."""
    if not samples:
        raise BadImport("The copy of {suite} holds no {noun}.", suite=suite.title, noun=word(suite.noun[0]))
    keys: set[str] = set()
    for at, sample in enumerate(samples, start=1):
        for name in ("key", "cluster", "group", "category", "split"):
            value, wrong = getattr(sample, name), ""
            if not isinstance(value, str):
                wrong = Sentence("its {name} is {value}; expected a text.", name=name, value=f"{value!r:.80}")
            elif not value and name in ("key", "cluster"):
                wrong = Sentence("its {name} is empty.", name=name)
            elif len(value) > LONGEST_NAME and name not in ("category", "split"):  # these are cut
                text = gettext_noop("its {name} has {count} characters; expected {longest_name} at most.")
                wrong = Sentence(text, name=name, count=f"{len(value):,}", longest_name=LONGEST_NAME)
            if wrong:
                raise BadImport("{noun} {at} of the copy: {wrong}", noun=suite.noun[0].capitalize(), at=at, wrong=wrong)
        if storable(sample.key) in keys:
            raise BadImport(
                "Two {noun} have the key {sample}; expected one of its own for each.",
                noun=word(suite.noun[1]),
                sample=repr(sample.key),
            )
        keys.add(storable(sample.key))


def _row(at: int, sample: Sample, digest: str) -> DatasetSample:
    return DatasetSample(
        number=at + 1, key=storable(sample.key), cluster=storable(sample.cluster),
        group=storable(sample.group),
        category=storable(sample.category[:120]), split=storable(sample.split[:40]), content=_plain(sample.content),
        gold=_plain(sample.gold),
        digest=digest,
    )  # fmt: skip


def _digest(sample: Sample) -> str:
    """Raise BadImport where content or gold are not JSON: a number that is none, or lists in lists without end."""
    texts = {name: getattr(sample, name) for name in ("key", "cluster", "group", "category", "split")}
    try:
        text = canonical(texts | {"content": _plain(sample.content), "gold": _plain(sample.gold)})
    except (TypeError, ValueError, RecursionError) as error:
        raise BadImport(
            "Content or gold of {sample} cannot be kept as JSON ({error}).", sample=f"{sample.key!r:.80}", error=error
        ) from error
    return text_digest(text)


def _plain(value: Any) -> Any:
    """JSON as every database holds it."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(str(name)): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, Sequence) else value


def _unpacked(file: BinaryIO, folder: Path) -> Path:
    """The folder that a zip holds, without names that lead out of it. Raises BadImport."""
    text = gettext_noop("The file cannot be read as a zip archive ({error}); expected a zip of the folder.")
    damaged = damage_as(lambda error: BadImport(text, error=fault_of(error)), BadImport)
    with damaged, zipfile.ZipFile(file) as archive:
        if too_large := oversize(archive):
            raise BadImport("The archive {too_large}", too_large=too_large)
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
            if not parts or ".." in parts or parts[0] == "/" or any(":" in part or "\0" in part for part in parts):
                raise BadImport(
                    "The archive holds a file {filename}, which leads out of it.", filename=repr(entry.filename[:80])
                )
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            # piece by piece, and no more than its stated size, at which the library stops
            with archive.open(entry) as source, target.open("wb") as written:
                shutil.copyfileobj(source, written)
    paths = [path for path in folder.iterdir() if path.name != "__MACOSX"]
    return paths[0] if len(paths) == 1 and paths[0].is_dir() else folder
