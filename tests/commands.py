"""Commands of manage.py, each in a process of its own, of a program that was loaded once: to load it takes longer than
most commands."""

import gc
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
Run = Callable[..., subprocess.CompletedProcess[str]]


REMOVED = ("DATABASE_URL", "REDIS_URL", "SITE_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "BEHIND_TLS")


def environment_of(var: Path, **names: str) -> dict[str, str]:
    """The environment of an installation with its data in `var` that knows nothing else of this one's."""
    kept = {name: value for name, value in os.environ.items() if name not in REMOVED}
    return kept | {"CREDENCE_VAR": str(var)} | names


def started(var: Path, *arguments: str, **names: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments, in that environment, to its end."""
    of = {"cwd": ROOT, "env": environment_of(var, **names), "timeout": PATIENCE}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **of)


@contextmanager
def program(var: Path, **environment: str) -> Iterator[Run]:
    """Yield what runs a command with its data in `var`: `run("migrate", "-v", "0")`; with `limit=N` no file of it grows
    beyond N bytes."""
    command, pipe = [sys.executable, "-m", "tests.commands"], subprocess.PIPE
    environment = environment_of(var, **{"DJANGO_SETTINGS_MODULE": "config.settings"} | environment)
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True) as loaded:

        def run(*arguments: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
            loaded.stdin.write(json.dumps({"arguments": arguments, "limit": limit}) + "\n")
            loaded.stdin.flush()
            told = loaded.stdout.readline()
            assert told, "the program did not start; its reason is in the captured stderr"
            return subprocess.CompletedProcess(arguments, **json.loads(told))

        yield run


def _answer_each_line() -> None:
    gc.disable()  # until all is loaded: nothing of it can go
    import django

    django.setup()
    import config.urls  # noqa: F401  which the checks before a command load

    gc.freeze()  # no command collects what all of them share
    gc.enable()
    for line in sys.stdin:
        print(json.dumps(_run(**json.loads(line))), flush=True)


def _run(arguments: list[str], limit: int | None) -> dict:
    with TemporaryFile() as out, TemporaryFile() as err:
        child = os.fork()
        if not child:
            _become(arguments, limit, out.fileno(), err.fileno())
        _, status = os.waitpid(child, 0)
        stdout, stderr = (os.pread(one.fileno(), os.fstat(one.fileno()).st_size, 0).decode() for one in (out, err))
        return {"returncode": os.waitstatus_to_exitcode(status), "stdout": stdout, "stderr": stderr}


def _become(arguments: list[str], limit: int | None, out: int, err: int) -> None:
    """Be the command from here on; it ends the process, as it would by itself."""
    import manage

    signal.alarm(PATIENCE)
    for place, file in enumerate((os.open(os.devnull, os.O_RDONLY), out, err)):
        os.dup2(file, place)
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["manage.py", *arguments]
    manage.main()
    sys.exit()


if __name__ == "__main__":
    _answer_each_line()
