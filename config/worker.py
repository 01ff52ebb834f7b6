"""A worker: `python -m config.worker` makes the calls of all endpoints but local engines, `python -m config.worker
NAME` those of the engine endpoint of this name, one a GPU."""

import os
import sys

COMMON = ("--without-gossip", "--without-mingle", "--loglevel", "WARNING")


def main(engine: str = "") -> None:
    """Work until a SIGTERM, and then until what is in flight has come to its end."""
    from config.celery import app

    if engine:
        kind = ["--pool", "solo", "-Q", f"engine-{engine}", "-n", f"{engine}@%h"]
    else:
        kind = ["--pool", "threads", "--concurrency", "4", "-Q", "calls", "-n", f"calls-{os.getpid()}@%h"]
    app.worker_main(["--quiet", "worker", *kind, *COMMON])


if __name__ == "__main__":
    main(*sys.argv[1:])
