"""Filters of the log: refusals in one line, no keys of models, storage failures as sentences."""

import logging

from core.storage import trouble_of
from workers.providers.redaction import redact


class RefusalFilter(logging.Filter):
    """A refused request stays one line; Django adds the trace of the exception that refused it, which hides real
    failures."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


class KeyFilter(logging.Filter):
    """Take the keys of models out of messages and traces: whatever a server sent back, the log does not hold it."""

    _traces = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if (clean := redact(message)) != message:
            record.msg, record.args = clean, None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._traces.formatException(record.exc_info)
        record.exc_text = redact(record.exc_text) if record.exc_text else record.exc_text
        record.stack_info = redact(record.stack_info) if record.stack_info else record.stack_info
        return True


class StorageFilter(logging.Filter):
    """A full disk or a database that is away is logged in a sentence: a trace for every request would fill the log, and
    says less."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if error is not None and (trouble := trouble_of(error)):
            record.msg, record.args = f"{record.getMessage()}: {trouble}", ()
            record.exc_info = record.exc_text = None
        return True
