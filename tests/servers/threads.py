"""A server in a thread of this process, for a handler that a test writes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOOK = 0.01
"""Seconds between looks whether it shall end: the library's own half a second is what most tests would wait for."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """Of more connections at once than the library's five, the rest would try again after a second."""

    def handle_error(self, *_: object) -> None:
        """A client that hangs up in the middle is what some tests are about."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer by `handler` on a free port of 127.0.0.1, and yield the address."""
    handler.log_message = lambda *_: None
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=[LOOK], daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
