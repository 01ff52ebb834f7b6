"""The broker of an installation without one: files in a folder, each written whole before it gets its name.

kombu's own transport lets a reader take a file that is half written, and the worker ends on it.
"""

import os
import uuid
from time import time_ns
from typing import Any

from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{time_ns() // 1_000_000}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(os.path.join(self.data_folder_out, name), message)

    def get_table(self, exchange: str) -> list[Any]:
        try:
            return super().get_table(exchange)  # type: ignore[no-untyped-call]
        except ValueError:  # left empty by a worker that was killed as it wrote it
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        bound = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        table = self.get_table(exchange)
        if bound not in table:
            _write_whole(str(self._exchange_file(exchange)), [bound, *table])  # type: ignore[no-untyped-call]


def _write_whole(path: str, payload: Any) -> None:
    folder, name = os.path.split(path)
    hidden = os.path.join(folder, f".{name}.{uuid.uuid4()}.part")  # no reader looks for such a name
    with open(hidden, "wb") as file:
        file.write(str_to_bytes(dumps(payload)))  # type: ignore[no-untyped-call]
    os.rename(hidden, path)


class Transport(filesystem.Transport):
    Channel = Channel
