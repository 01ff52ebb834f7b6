"""The web server: `python -m config.web`, on HOST and PORT with WORKERS processes of THREADS threads each; and
`--with-worker` a worker beside them.

Waitress takes a request whole before a thread works on it, so that connections which send slowly, or half a request,
keep nobody waiting. The application is loaded once and the processes are forked from it: they share its memory and the
listening socket, and take even shares of the connections.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from config import environment
from config.environment import bracketed, integer, problems
from core import preparing

if TYPE_CHECKING:
    from waitress.server import TcpWSGIServer

CONNECTIONS = 1000
"""Open connections that one process holds; more wait to be accepted."""
SILENCE = 60
"""Seconds after which a connection that neither sends nor takes anything is closed."""
SWITCH_SECONDS = 0.0005
"""Seconds that one thread computes before another has its turn. With Python's 5 ms a saved vote, which has some twenty
turns, waits for a tenth of a second while an uploaded file is read."""
CONCESSIONS = 5
"""Number of times that a process leaves a new connection to those that hold fewer; then it takes it, as they may be
busy."""
CONCESSION_SECONDS = 0.001
PAUSE_SECONDS = 2
"""Between the end of a process that is begun again and its next beginning."""
ENDING = (signal.SIGTERM, signal.SIGINT)


def address() -> tuple[str, int]:
    """Return host and port; end with a sentence where the port is none."""
    host, port = environment.host(), integer("PORT", 8000, low=1, high=65535)
    if problems:
        sys.exit(" ".join(problems))
    return host, port


def listen(host: str, port: int, *, backlog: int | None = None) -> socket.socket:
    """Return a socket that takes connections there; end with a sentence where none can be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, backlog=backlog, dualstack_ipv6=both)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0].lower()
        sys.exit(f"Port {port} of {host}: {reason}; choose another, as with PORT=8001.")


def main(*, with_worker: bool = False) -> None:
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.urls import reverse

    host, port = address()
    workers = integer("WORKERS", 2, low=1, high=64)
    threads = integer("THREADS", 8, low=1, high=256)
    if problems:
        sys.exit(" ".join(problems))
    gc.disable()  # nothing of what is loaded ends before the server does
    wrong = ""
    try:  # before the processes part: they share what it takes
        django.setup()
        reverse("login")  # reads every view and address; libraries that compute and draw come in where they are used
    except ImproperlyConfigured as error:
        wrong = str(error)
    preparing.wait()  # comes to no end where the settings are wrong, and says so itself
    if wrong := wrong or _refusal():
        sys.exit(wrong)
    listening = listen(host, port, backlog=1024)
    from config import wsgi  # noqa: F401  (notes which static files there are)

    gc.freeze()  # a collection writes to all that it looks at, and what is written to is shared no more
    gc.enable()
    counts = memoryview(mmap.mmap(-1, 4 * workers)).cast("I")  # in memory that all processes share
    family = Family()
    print(f"Credence is at http://{bracketed(host)}:{port}/", flush=True)
    for number in range(workers):
        family.fork(partial(_serve, listening, threads, Share(counts, number)))
    if with_worker:
        family.fork(partial(_work, listening), again=True)
    sys.exit(family.watch())


def _refusal() -> str:
    """Return why this installation may not be served, "" if it may."""
    from django.conf import settings
    from django.core import checks
    from django.db import DatabaseError, connections

    from annotation.services.sample import refuse_public_log_ins
    from core.management.json_command import ENVIRONMENT
    from core.storage import trouble_of

    problems = checks.run_checks(tags=[ENVIRONMENT])
    if sentences := [problem.msg for problem in problems if problem.is_serious() and not problem.is_silenced()]:
        return " ".join(sentences)
    try:
        if settings.OPEN_TO_OTHERS:
            refuse_public_log_ins(host=settings.HOST, loading=False)
    except ValueError as error:
        return str(error)
    except DatabaseError as error:
        return trouble_of(error) or str(error)
    finally:
        connections.close_all()  # before the processes part: no two of them share a connection
    return ""


def _work(listening: socket.socket) -> None:
    from config import worker

    listening.close()  # or the address would stay taken for as long as it works off what is in flight
    worker.main()


class Family:
    """The processes of a parent. Where one ends all end, so that whoever restarts the parent starts all anew; but for
    those that the parent itself begins again."""

    def __init__(self) -> None:
        self._alive = os.pipe()  # nobody writes to it: it ends with the parent, however that ends
        self._members: set[int] = set()
        self._again: dict[int, Callable[[], None]] = {}
        self._ending = False

    def fork(self, work: Callable[[], None], *, again: bool = False) -> None:
        """Have a new process do `work`, which ends at a SIGTERM; with `again`, another one whenever it ended."""
        sys.stdout.flush()
        sys.stderr.flush()  # or both would write what waits
        child = os.fork()
        if child == 0:
            os._exit(self._do(work))
        if again:
            self._again[child] = work
        else:
            self._members.add(child)

    def _do(self, work: Callable[[], None]) -> int:
        """Do the work in the new process, and return its exit status."""
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)  # the parent's would end its children
        os.close(self._alive[1])
        threading.Thread(target=self._end_with_parent, daemon=True).start()
        try:
            work()
        except SystemExit as error:
            return error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        return 0

    def _end_with_parent(self) -> None:
        os.read(self._alive[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def watch(self) -> int:
        """Wait until all have ended; return 0 where they were told to, 1 where one of them had failed: then those that
        would have been begun again get their SIGTERM when the parent ends, which waits for nothing that they finish."""
        for number in ENDING:
            signal.signal(number, self._end)
        failed = False
        while self._members or (self._again and not failed):
            died, status = os.wait()
            if work := self._again.pop(died, None):
                if not self._ending:
                    print(
                        f"A process ended ({os.waitstatus_to_exitcode(status)}); another begins.",
                        file=sys.stderr,
                        flush=True,
                    )
                    time.sleep(PAUSE_SECONDS)
                if not self._ending:
                    self.fork(work, again=True)
                if self._ending:  # since a moment ago
                    self._end()
            else:
                self._members.remove(died)
                failed |= not self._ending and status != 0
                self._end()
        return int(failed)

    def _end(self, number: int = 0, frame: FrameType | None = None) -> None:
        self._ending = True
        for child in self._members | self._again.keys():
            os.kill(child, signal.SIGTERM)


class Share:
    """The share of one process in the open connections. They stay open, so that the process that accepted most of them
    would serve most people, slowly, while others have nothing to do. `counts` has the connections that each holds."""

    def __init__(self, counts: memoryview[int], number: int) -> None:
        self._counts, self._number = counts, number
        self._conceded = 0

    def of(self, server: TcpWSGIServer) -> None:
        """Have the server accept only what those who hold fewer connections do not take."""
        accept, readable = server.handle_accept, server.readable

        def counted() -> bool:
            self._counts[self._number] = len(server.active_channels)
            return readable()

        def accept_if_due() -> None:
            if self._counts[self._number] > min(self._counts) and self._conceded < CONCESSIONS:
                self._conceded += 1
                time.sleep(CONCESSION_SECONDS)  # in which the others can take it
                return
            self._conceded = 0
            accept()
            counted()

        server.readable, server.handle_accept = counted, accept_if_due


def _serve(listening: socket.socket, threads: int, share: Share) -> None:
    import waitress
    from django.conf import settings

    from config.wsgi import application

    sys.setswitchinterval(SWITCH_SECONDS)
    for number in ENDING:
        signal.signal(number, _leave)
    server = waitress.create_server(
        application,
        sockets=[listening],
        threads=threads,
        connection_limit=CONNECTIONS,
        channel_timeout=SILENCE,
        max_request_body_size=settings.IMPORT_MAX_BYTES + settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        clear_untrusted_proxy_headers=not settings.TRUST_PROXY,
        asyncore_use_poll=True,
        ident=None,
    )
    share.of(server)
    server.run()


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main(with_worker="--with-worker" in sys.argv)
