"""Processes that `make serve` keeps alive: `python -m config.supervised -c config/supervisord.conf`, supervisor with
its programs started at once.

Supervisor itself starts them after its first wait for their output, a second in which there is none.
"""

from __future__ import annotations

from supervisor import supervisord


class Supervisor(supervisord.Supervisor):  # the library has no types
    def runforever(self) -> None:
        for group in sorted(self.process_groups.values()):
            group.transition()
        super().runforever()


if __name__ == "__main__":
    supervisord.Supervisor = Supervisor  # main() makes one by this name
    supervisord.main()
