"""A model server of our own: both providers' protocols on 127.0.0.1, with every fault on demand."""

from tests.servers.process import ModelServer

__all__ = ["ModelServer"]
