"""Rows of a file of votes, sorted by story beside the memory: some stories' rows a temporary file."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import IO

from annotation.domain.votes_csv import VoteRow, vote_row

_MOST, _LEAST_STORIES = 256, 32
"""Shelves, and stories on each: so many rows are in memory at a time."""
_BUFFERED = 200
_IN_MEMORY = 256 * 1024


class Shelves:
    """Takes rows in any order and hands them back story by story, in the order of `numbers`, those of the project.

    Rows of a story that the project lacks come with the first ones.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        each = max(_LEAST_STORIES, -(-len(numbers) // _MOST))
        self._stories = [numbers[at : at + each] for at in range(0, len(numbers), each)] or [()]
        self._shelf_of = {number: shelf for shelf, part in enumerate(self._stories) for number in part}
        self._buffers: list[list[VoteRow]] = [[] for _ in self._stories]
        self._files: list[IO[bytes]] = [SpooledTemporaryFile(_IN_MEMORY) for _ in self._stories]  # noqa: SIM115

    def __enter__(self) -> Shelves:
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files:
            file.close()

    def put(self, row: VoteRow) -> None:
        shelf = self._shelf_of.get(row.story, 0)
        buffer = self._buffers[shelf]
        buffer.append(row)
        if len(buffer) >= _BUFFERED:
            self._empty(shelf)

    def _empty(self, shelf: int) -> None:
        plain = list(map(tuple, self._buffers[shelf]))  # rows of a class of their own take twice as long
        pickle.dump(plain, self._files[shelf], pickle.HIGHEST_PROTOCOL)
        self._buffers[shelf].clear()

    def each(self) -> Iterator[tuple[Sequence[int], list[VoteRow]]]:
        """Yield the numbers of some stories and their rows, in the order in which they were put."""
        for shelf, (stories, file) in enumerate(zip(self._stories, self._files, strict=True)):
            self._empty(shelf)
            end = file.tell()
            file.seek(0)
            rows: list[VoteRow] = []
            while file.tell() < end:
                rows += map(vote_row, pickle.load(file))
            file.close()
            if rows:
                yield stories, rows
