"""Output of commands: files and folders, never written over what no command made."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


@contextmanager
def file_output(target: str, **how: Any) -> Iterator[Any]:
    """Open the file (`how` goes to `open`) beside its place and move it there: a failure leaves no half file.

    Raises ValueError where `target` is empty, a folder or a device, or cannot be written.
    """
    path = _named(target, "file")
    try:
        if path.is_dir():
            raise ValueError(f"{path} is a folder; expected the path of a file.")
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is a device or a pipe; expected the path of a file.")
        if not path.parent.is_dir():
            raise ValueError(f"There is no folder {path.parent} to write {path.name} into.")
        partial = path.with_name(path.name + ".partial")
        try:
            with partial.open(**how) as handle:
                yield handle
            partial.replace(path)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}.") from error


@contextmanager
def folder_output(target: str, *, names: Collection[str], mark: str) -> Iterator[Path]:
    """Make a new folder whose files move to `target` in the end; a failure leaves what was there before.

    `target` may hold nothing but files of `names`, with `mark` among them: an earlier output. Raises ValueError
    otherwise.
    """
    folder, created = _named(target, "folder"), False
    try:
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is not a folder; expected the path of a folder.")
        entries = sorted(folder.iterdir()) if folder.exists() else []
        strange = [entry.name for entry in entries if entry.name not in names or entry.is_dir()]
        if strange or (entries and folder / mark not in entries):
            which = strange[0] if strange else entries[0].name
            raise ValueError(
                f"The folder {folder} holds {which}, which no earlier export wrote; expected a new or an empty folder."
            )
        created = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".partial-", dir=folder) as inside:
            yield Path(inside)
            for file in sorted(Path(inside).iterdir()):
                file.replace(folder / file.name)
    except OSError as error:
        raise ValueError(f"{folder} cannot be written: {error.strerror or error}.") from error
    finally:
        if created:
            with suppress(OSError):  # it stays where it holds something
                folder.rmdir()


def _named(target: str, kind: str) -> Path:
    if not str(target).strip():
        raise ValueError(f"--output is empty; expected the path of a {kind}.")
    return Path(target)
