"""Programs that `make serve` keeps running: `python -m config.supervised -c config/supervisord.conf`, supervisor with
its programs started at once, the one that prepares beside those that need what it prepares: those load meanwhile, and
wait for it (core/preparing.py). Where it fails all end.

Supervisor itself starts programs after its first wait for their output, a second in which there is none.
"""

import os
import sys
from pathlib import Path

from supervisor import events, supervisord
from supervisor.states import SupervisorStates

from config.web import address, listen
from core import preparing

PREPARES = "prepare"
"""The name of the program that prepares."""


class Supervisor(supervisord.Supervisor):  # the library has no types
    failed = False

    def runforever(self) -> None:
        events.subscribe(events.ProcessStateExitedEvent, self.note_end)
        for group in sorted(self.process_groups.values()):
            group.transition()
        super().runforever()

    def note_end(self, event: events.ProcessStateExitedEvent) -> None:
        if event.process.config.name == PREPARES and not event.expected:
            Supervisor.failed = True
            self.options.mood = SupervisorStates.SHUTDOWN


if __name__ == "__main__":
    listen(*address()).close()  # before anything is prepared for nothing
    preparing.begin(Path(os.environ["CREDENCE_VAR"]) / "preparing")
    supervisord.Supervisor = Supervisor  # main() makes one by this name
    supervisord.main()
    sys.exit(int(Supervisor.failed))
