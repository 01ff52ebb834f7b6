"""One sentence for what can happen to the disk and to the database beneath everything: full, damaged, away, held, not
writable, not prepared."""

import errno

FULL = "{place}: the disk is full, so nothing was saved; make room, then try again. What was saved before is kept."
DAMAGED = "{place}: the file is damaged, or it is not a database; restore a backup, or name another database."
AWAY = (
    "{place}: the database cannot be reached; see that its server is up and that the address is right, then try again."
)
LOCKED = "{place}: another process holds the database; nothing was saved. Try again in a moment."
CLOSED = "{place}: it cannot be opened or written; see that the folder exists and that it may be written."
REFUSED = "{place}: the database server refuses the user or knows no such database; see the address."
OTHER_VERSION = (
    "{place}: it has no tables, or those of another version of the product; bring it up to date with `make "
    "prepare`, then start again."
)

_SQLITE = {5: LOCKED, 6: LOCKED, 8: CLOSED, 10: FULL, 11: DAMAGED, 13: FULL, 14: CLOSED, 23: CLOSED, 26: DAMAGED}
"""Kinds of trouble by primary result code (https://sqlite.org/rescode.html). An I/O error (10) is nearly always a quota
or a disk that is full."""
_SQLITE_ERROR = 1
"""Something that the SQL names is not there, or the SQL is wrong."""
_SQLSTATE = {
    "53100": FULL,
    "42P01": OTHER_VERSION,
    "42703": OTHER_VERSION,
    "25006": CLOSED,
    "55P03": LOCKED,
    "XX001": DAMAGED,
    "XX002": DAMAGED,
    "58030": FULL,
}
"""Kinds of trouble by SQLSTATE, else by its class, the first two characters
(https://www.postgresql.org/docs/current/errcodes-appendix.html)."""
_SQLSTATE_CLASSES = {"08": AWAY, "57": AWAY, "53": AWAY, "28": REFUSED, "3D": REFUSED}
_ERRNO = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EROFS: CLOSED,
    errno.ENOTDIR: CLOSED,
    errno.EACCES: CLOSED,
    errno.EPERM: CLOSED,
}


def sentence_of(error: BaseException, *, place: str) -> str | None:
    """Return what happened to the storage in one sentence, or None where `error` tells of something else.

    `place` names the database (its file, or host and name without a password); an OSError's own file takes its place.
    """
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, OSError):
            if sentence := _ERRNO.get(cause.errno or 0):
                return sentence.format(place=cause.filename or place)
        elif sentence := _of_database(cause):
            return sentence.format(place=place)
        cause = cause.__cause__ or cause.__context__
    return None


def _of_database(error: BaseException) -> str | None:
    if code := getattr(error, "sqlite_errorcode", None):
        if code == _SQLITE_ERROR and str(error).startswith(("no such table", "no such column")):
            return OTHER_VERSION
        return _SQLITE.get(code & 0xFF)
    if not hasattr(error, "sqlstate"):
        return None
    state = error.sqlstate
    if state is None:  # the connection could not be made, or broke
        return AWAY if type(error).__name__ in ("OperationalError", "ConnectionTimeout", "PoolTimeout") else None
    return _SQLSTATE.get(state) or _SQLSTATE_CLASSES.get(state[:2])
