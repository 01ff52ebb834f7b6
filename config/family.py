"""Processes forked from one that has loaded what they need: they share its memory, and end with it."""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType

PAUSE_SECONDS = 2
"""Between the end of a process that is begun again and its next beginning."""
ENDING = (signal.SIGTERM, signal.SIGINT)


class Family:
    """The processes of a parent. Where one ends all end, so that whoever restarts the parent starts all anew; but for
    those that the parent itself begins again."""

    def __init__(self) -> None:
        self._alive = os.pipe()  # nobody writes to it: it ends with the parent, however that ends
        self._members: set[int] = set()
        self._again: dict[int, Callable[[], None]] = {}
        self._ending = False

    def fork(self, work: Callable[[], None], *, again: bool = False) -> None:
        """Have a new process do `work`, which ends at a SIGTERM; with `again`, another one whenever it ended."""
        sys.stdout.flush()
        sys.stderr.flush()  # or both would write what waits
        child = os.fork()
        if child == 0:
            os._exit(self._do(work))
        if again:
            self._again[child] = work
        else:
            self._members.add(child)

    def _do(self, work: Callable[[], None]) -> int:
        """Do the work in the new process, and return its exit status."""
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)  # the parent's would end its children
        os.close(self._alive[1])
        threading.Thread(target=self._end_with_parent, daemon=True).start()
        try:
            work()
        except SystemExit as error:
            return error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        return 0

    def _end_with_parent(self) -> None:
        os.read(self._alive[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def watch(self) -> int:
        """Wait until all have ended; return 0 where they were told to, 1 where one of them had failed: then those that
        would have been begun again get their SIGTERM when the parent ends, which waits for nothing that they finish."""
        for number in ENDING:
            signal.signal(number, self._end)
        failed = False
        while self._members or (self._again and not failed):
            died, status = os.wait()
            if work := self._again.pop(died, None):
                if not self._ending:
                    print(
                        f"A process ended ({os.waitstatus_to_exitcode(status)}); another begins.",
                        file=sys.stderr,
                        flush=True,
                    )
                    time.sleep(PAUSE_SECONDS)
                if not self._ending:
                    self.fork(work, again=True)
                if self._ending:  # since a moment ago
                    self._end()
            else:
                self._members.remove(died)
                failed |= not self._ending and status != 0
                self._end()
        return int(failed)

    def _end(self, number: int = 0, frame: FrameType | None = None) -> None:
        self._ending = True
        for child in self._members | self._again.keys():
            os.kill(child, signal.SIGTERM)
