"""Mark that the database and the static files are being brought up to date (`prepare`), as `make serve` does beside the
loading of what needs them: a file that is there for so long."""

import os
import time
from pathlib import Path

NAME = "CREDENCE_PREPARING"
"""The variable with the path of the file, for those who are to wait for its end."""
LOOK_SECONDS = 0.01


def begin(path: Path) -> None:
    """Have the processes that this one starts wait until `done`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch()
    os.environ[NAME] = str(path)


def done() -> None:
    """Let those go on who wait."""
    if path := os.environ.get(NAME):
        Path(path).unlink(missing_ok=True)


def wait() -> None:
    """Return once all is up to date: at once where nobody said that it is not."""
    path = os.environ.get(NAME)
    while path and os.path.exists(path):
        time.sleep(LOOK_SECONDS)
