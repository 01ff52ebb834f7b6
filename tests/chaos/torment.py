"""Kills at random moments while work is under way, and the account afterwards."""

import random
import time
from collections import Counter
from dataclasses import dataclass

from tests.chaos.site import LEASE, Site

SHORTEST, LONGEST, DOWN = 0.1, 2.5, 0.5
"""Seconds between two kills, and that a killed process stays away at most."""


@dataclass
class Torment:
    """`url` is that of the model server; a job of `calls` questions runs at every moment of `kill` and `hang`."""

    site: Site
    url: str
    rng: random.Random
    calls: int
    asked: int = 0
    """Questions in all jobs so far."""

    def kill(self, times: int, *, batch: bool = False) -> None:
        """Kill any process but the console, `times` in all, and starts it again a moment later."""
        for _ in range(times):
            self._keep_busy(batch)
            time.sleep(self.rng.uniform(SHORTEST, LONGEST))
            name = self.rng.choice(sorted(self.site.commands))
            self._keep_busy(batch)
            self.site.kill(name)
            time.sleep(self.rng.uniform(0, DOWN))
            self.site.start(name)

    def hang(self, times: int, *, batch: bool = False) -> None:
        """Stops a worker for longer than its lease, `times` in all: others take over, and then it wakes up."""
        for _ in range(times):
            self._keep_busy(batch)
            time.sleep(self.rng.uniform(SHORTEST, LONGEST))
            self._keep_busy(batch)
            self.site.hang(self.rng.choice(self.site.workers), LEASE + 3)

    def without_broker(self) -> None:
        """The broker stays away while every worker is killed once: nobody is left whom a notification could reach."""
        self._keep_busy(False)
        if "redis" in self.site.commands:
            self.site.kill("redis")
        for name in self.site.workers:
            time.sleep(self.rng.uniform(SHORTEST, LONGEST))
            self.site.kill(name)
            self.site.start(name)

    def _keep_busy(self, batch: bool) -> None:
        if not self.site.ask("running"):
            self.site.ask("start", url=self.url, calls=self.calls, batch=batch)
            self.asked += self.calls


@dataclass
class Account:
    """What the ledger says against what the provider was paid for."""

    jobs: dict[str, int]
    items: dict[str, int]
    receipts: int
    items_with_receipt: int
    paid: int
    answered: int
    """Distinct calls with an answer."""
    unknown: int
    """Attempts listed as unknown: sent, or about to be, and no answer known."""
    unknown_paid: int
    """Those of them that were paid: paid = answered + unknown_paid."""
    unexplained: list[str]
    """Calls that were paid less often than answered, or more often than answered and unknown together."""
    left_in_flight: int
    batches: int
    workers_lost: int


def account(report: dict, paid: list[dict]) -> Account:
    """`report` is the console's, `paid` the model server's log."""
    times = Counter(row["call"] or report["custom_ids"].get(row.get("custom_id"), "nobody's") for row in paid)
    calls = report["calls"] | {uid: [False, 0] for uid in times if uid not in report["calls"]}
    bounds = {uid: (answered, answered + unknown) for uid, (answered, unknown) in calls.items()}
    answered = sum(low for low, _ in bounds.values())
    return Account(
        paid=len(paid),
        answered=answered,
        unknown=sum(high for _, high in bounds.values()) - answered,
        unknown_paid=len(paid) - answered,
        unexplained=[uid for uid, (low, high) in bounds.items() if not low <= times[uid] <= high],
        **{name: value for name, value in report.items() if name not in ("calls", "custom_ids")},
    )


def faults(found: Account, asked: int) -> list[str]:
    """One sentence for each promise that was broken; `asked` questions were in all jobs."""
    promises = {
        f"Not every job finished: {found.jobs}.": set(found.jobs) == {"finished"},
        f"Of {asked} items not all are done: {found.items}.": found.items == {"done": asked},
        f"{found.receipts} answers were taken in for {asked} items.": found.receipts == asked,
        f"Only {found.items_with_receipt} of {asked} items got an answer.": found.items_with_receipt == asked,
        f"{asked} different questions have {found.answered} answers.": found.answered == asked,
        f"Paid calls that the ledger does not explain: {found.unexplained[:5]}.": not found.unexplained,
        f"{found.left_in_flight} calls or attempts were left in flight.": not found.left_in_flight,
    }
    return [sentence for sentence, kept in promises.items() if not kept]
