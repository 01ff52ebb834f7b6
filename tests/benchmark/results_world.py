"""A finished run of baselines, with a model of a hostile name whose answers nobody can read, for tests of what pages
show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import Membership, Role, User
from benchmark.domain.tables import Cell
from benchmark.models import Audience, Dataset, ResultsVisibility, Run
from benchmark.services.reports import report_of
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records
from tests.copies import copied
from workers.models import Endpoint

HOSTILE = '=HYPERLINK("x")<script>alert(1)</script>{{7*7}}'
MUTE = "I would rather not."
STORIES = 9


@dataclass
class ResultsWorld:
    dataset: Dataset
    run: Run
    models: dict[str, Endpoint]
    alice: User
    esi: User
    bob: User
    charlie: User

    @property
    def base(self) -> str:
        return f"/p/{self.dataset.project.slug}"

    @property
    def live(self) -> str:
        """The address of the run's page."""
        return f"{self.base}/runs/{self.run.uid}/"

    def show_to(self, audience: Audience) -> None:
        ResultsVisibility.objects.update_or_create(project=self.dataset.project, defaults={"audience": audience})

    def entrant(self, name: str) -> str:
        """The key that addresses call an entrant by."""
        return f"{self.run.uid}.{self.run.entrants.get(name=name).pk}"

    def another(self, *names: str, **plan) -> Run:
        chosen = {"steps": ("extract", "judge", "label"), "judge": self.models["lexical-judge"]} | plan
        return worked_off(started(dataset=self.dataset, endpoints=[self.models[name] for name in names], **chosen))


def results_world(folder) -> ResultsWorld:
    """A finished run over nine stories with its report, made once."""
    return copied("results", lambda: _made(folder))


def _made(folder) -> ResultsWorld:
    """Nine stories in the categories' turn; Alice administers, Esi is the expert, Bob annotates, Charlie is a
    stranger."""
    dataset = published(write_records(folder / "records.jsonl", generated(STORIES)), slug="om")
    names = ("majority", "random", "omniscient", "lexical-judge")
    models = {name: Endpoint.objects.filter(name=name).first() or endpoint(name, "baseline") for name in names}
    models[HOSTILE] = endpoint("mute", options={"default": MUTE})
    Endpoint.objects.filter(name="mute").update(name=HOSTILE)  # no form lets it through; pages do not rely on that
    models[HOSTILE].refresh_from_db()
    people = {}
    for name, role in (("alice", Role.ADMIN), ("esi", Role.EXPERT), ("bob", Role.ANNOTATOR), ("charlie", None)):
        held = User.objects.filter(username=name).first()
        people[name] = held or User.objects.create_user(name, f"{name}@example.org", "correct-horse-battery")
        if role:
            Membership.objects.create(project=dataset.project, user=people[name], role=role)
    world = ResultsWorld(dataset=dataset, run=None, models=models, **people)
    world.run = world.another("majority", "random", "omniscient", HOSTILE)
    report_of(world.run)
    return world


def values(row: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values of a row of a table."""
    return {key: cell.value if isinstance(cell, Cell) else cell for key, cell in row.items()}
