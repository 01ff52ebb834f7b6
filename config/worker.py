"""A worker that makes the calls of all endpoints but local engines: `python -m config.worker`."""

from __future__ import annotations

import os


def main() -> None:
    """Work until a SIGTERM, and then until what is in flight has come to its end."""
    from config.celery import app

    app.worker_main(
        ["--quiet", "worker", "--pool", "threads", "--concurrency", "4", "-Q", "calls", "-n", f"calls-{os.getpid()}@%h",
         "--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    )  # fmt: skip


if __name__ == "__main__":
    main()
