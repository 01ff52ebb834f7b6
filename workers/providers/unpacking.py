"""Unpacking an answer piece by piece, however far it grows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from core.messages import Sentence
from workers.providers.errors import Unreadable

PIECE = 64 * 1024
"""Bytes that are unpacked at once."""
Unpack = Callable[[bytes], Iterator[bytes]]


def unpacking(encoding: str) -> Unpack:
    """Return a function that unpacks one piece after the other. It raises Unreadable after what it could not unpack,
    and for an encoding that nobody asked for."""
    match encoding.strip().lower():
        case "" | "identity":
            return lambda packed: iter([packed])
        case "gzip" | "x-gzip" | "deflate":
            return _Inflating().unpack

    def refuse(packed: bytes) -> Iterator[bytes]:
        yield packed
        raise Unreadable(
            Sentence(
                "The answer is packed as {encoding}; expected gzip, deflate or none.", encoding=repr(encoding[:40])
            )
        )

    return refuse


class _Inflating:
    """gzip, zlib, and deflate without a frame, in pieces of bounded size however far they grow."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(32 + zlib.MAX_WBITS)
        self._begun = False

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        while packed:
            try:
                piece = self._stream.decompress(packed, PIECE)
            except zlib.error as error:
                if self._begun:
                    yield packed
                    raise Unreadable(Sentence("The answer could not be unpacked ({error}).", error=error)) from error
                self._stream, self._begun = zlib.decompressobj(-zlib.MAX_WBITS), True
                continue
            self._begun = True
            packed = self._stream.unconsumed_tail
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")
                self._stream = zlib.decompressobj(32 + zlib.MAX_WBITS)
            yield piece
