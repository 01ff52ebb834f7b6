import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg


@contextmanager
def own_database(url: str) -> Iterator[str]:
    """The URL of a fresh database on the server of `url`, dropped at the end; "" stays "", which is SQLite."""
    if not url:
        yield ""
        return
    name = f"credence_chaos_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
