"""The web server: `python -m config.web`, on HOST and PORT with WORKERS processes of THREADS threads each.

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
from types import FrameType
from typing import TYPE_CHECKING

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


def main() -> None:
    from config.environment import integer, problems, text

    host = text("HOST", "127.0.0.1")
    port = integer("PORT", 8000, low=1, high=65535)
    workers = integer("WORKERS", 2, low=1, high=64)
    threads = integer("THREADS", 8, low=1, high=256)
    if problems:
        sys.exit(" ".join(problems))
    try:
        listening = socket.create_server((host, port), backlog=1024)
    except OSError as error:
        sys.exit(f"{host}, port {port}: {error.strerror.lower()}; HOST and PORT choose another address.")
    gc.disable()  # nothing of what is loaded ends before the server does
    _load()  # before the processes part: they share what it takes
    gc.freeze()  # a collection writes to all that it looks at, and what is written to is shared no more
    gc.enable()
    alive, shares = os.pipe(), Shares(workers)
    _watch([_fork(listening, threads, alive, Share(shares, number)) for number in range(workers)])


def _load() -> None:
    from django.core.exceptions import ImproperlyConfigured

    try:
        from config import wsgi  # noqa: F401
    except ImproperlyConfigured as error:
        sys.exit(str(error))


class Shares:
    """Connections that each process holds, in memory that all of them share."""

    def __init__(self, processes: int) -> None:
        self.held = memoryview(mmap.mmap(-1, 4 * processes)).cast("I")


class Share:
    """The share of one process in the open connections. They stay open, so that the process that accepted most of them
    would serve most people, slowly, while others have nothing to do."""

    def __init__(self, shares: Shares, number: int) -> None:
        self._held, self._number = shares.held, number
        self._conceded = 0

    def of(self, server: TcpWSGIServer) -> None:
        """Have the server accept only what those who hold fewer connections do not take."""
        accept, readable = server.handle_accept, server.readable

        def counted() -> bool:
            self._held[self._number] = len(server.active_channels)
            return readable()

        def accept_if_due() -> None:
            if not self.concedes():
                accept()
                counted()

        server.readable, server.handle_accept = counted, accept_if_due

    def concedes(self) -> bool:
        """Return whether to leave a waiting connection to others, after a moment in which they can take it."""
        if self._held[self._number] == min(self._held) or self._conceded == CONCESSIONS:
            self._conceded = 0
            return False
        self._conceded += 1
        time.sleep(CONCESSION_SECONDS)
        return True


def _fork(listening: socket.socket, threads: int, alive: tuple[int, int], share: Share) -> int:
    """Return the id of a new process that serves until it gets a SIGTERM, and then ends what it has begun.

    `alive` is a pipe that nobody writes to: it ends with this process, however that dies, and the new one with it.
    """
    child = os.fork()
    if child == 0:
        os.close(alive[1])
        threading.Thread(target=_end_with, args=(alive[0],), daemon=True).start()
        _serve(listening, threads, share)
        os._exit(0)
    return child


def _end_with(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _serve(listening: socket.socket, threads: int, share: Share) -> None:
    import waitress
    from django.conf import settings

    from config.wsgi import application

    sys.setswitchinterval(SWITCH_SECONDS)
    for number in (signal.SIGTERM, signal.SIGINT):
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


def _watch(children: list[int]) -> None:
    """Wait for the processes. One that dies takes the others with it: whoever keeps the server alive starts all
    anew."""

    def end(number: int, frame: FrameType | None) -> None:
        for child in children:
            os.kill(child, signal.SIGTERM)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    died, status = os.wait()
    children.remove(died)
    end(signal.SIGTERM, None)
    while children:
        children.remove(os.wait()[0])
    sys.exit(os.waitstatus_to_exitcode(status) and 1)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
