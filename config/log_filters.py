"""What the log leaves out."""

from __future__ import annotations

import logging


class RefusalFilter(logging.Filter):
    """A refused request stays one line; Django adds the trace of the exception that refused it, which hides real failures."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True
