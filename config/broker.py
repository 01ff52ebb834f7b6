"""The broker of an installation without one: files in a folder, each written whole before it gets its name.

kombu's own transport lets a reader take a file that is half written, and the worker dies of it.
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
        hidden = os.path.join(self.data_folder_out, f".{name}.part")  # a reader looks for names that end in .msg
        with open(hidden, "wb") as file:
            file.write(str_to_bytes(dumps(payload)))
        os.rename(hidden, os.path.join(self.data_folder_out, name))


class Transport(filesystem.Transport):
    Channel = Channel
