"""The broker of an installation without one: files in a folder, each written whole before it gets its name.

kombu's own transport lets a reader take a file that is half written, and the worker ends on it.
"""

from __future__ import annotations

import os
import uuid
from time import time_ns

from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps

ALIAS = "files"


class Channel(filesystem.Channel):
    def _put(self, queue, payload, **kwargs) -> None:
        name = f"{time_ns() // 1_000_000}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(os.path.join(self.data_folder_out, name), payload)

    def get_table(self, exchange) -> list:
        try:
            return super().get_table(exchange)
        except ValueError:  # left empty by a worker that was killed as it wrote it
            return []

    def _queue_bind(self, exchange, routing_key, pattern, queue) -> None:
        bound = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        table = self.get_table(exchange)
        if bound not in table:
            _write_whole(str(self._exchange_file(exchange)), [bound, *table])


def _write_whole(path: str, payload) -> None:
    folder, name = os.path.split(path)
    hidden = os.path.join(folder, f".{name}.{uuid.uuid4()}.part")  # no reader looks for such a name
    with open(hidden, "wb") as file:
        file.write(str_to_bytes(dumps(payload)))
    os.rename(hidden, path)


class Transport(filesystem.Transport):
    Channel = Channel
