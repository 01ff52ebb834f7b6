"""What tests of runs share: generated stories with gold, endpoints, and runs worked off in this process."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random

from django.utils import timezone

from annotation.models import Project
from annotation.services.corpus_import import import_corpus
from bench.make_corpus import CATEGORIES, belief_of, stories_of
from benchmark.models import Dataset, Run
from benchmark.services.datasets import publish_version
from benchmark.services.launches import start_run
from tests.benchmark.planning import planned
from tests.copies import copied
from tests.servers import ModelServer
from workers.models import Endpoint
from workers.services.endpoints import save_endpoint
from workers.services.run_to_end import run_to_end


def generated(count: int, *, seed: int = 1, most: int = 12) -> list[dict]:
    """Records of made-up stories, the categories in turn, with 5 to `most` propositions each."""
    rng = Random(seed)
    texts = [text for _, text in stories_of(None, rng)][:count]
    return [
        {
            "story_id": number,
            "story_category": list(CATEGORIES)[number % len(CATEGORIES)],
            "story": f"{text} This is story {number}.",
            "beliefs": [belief_of(rng, 100 * number + at) for at in range(rng.randint(5, most))],
        }
        for number, text in enumerate(texts, 1)
    ]


def corpus(folder: Path, *, seed: int = 1) -> Iterator[dict]:
    """Records of the size of OmniToM: the real stories of a ToMBench folder, with made-up propositions."""
    rng = Random(seed)
    for number, (category, text) in enumerate(stories_of(folder, rng), 1):
        beliefs = [belief_of(rng, 100 * number + at) for at in range(25)]
        yield {"story_id": number, "story_category": category, "story": text, "beliefs": beliefs}


def write_records(path: Path, records: Iterable[dict]) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path


def published(path: Path, *, slug: str = "oracle") -> Dataset:
    """The records of a file as the gold of a project, published: once for each file where nothing else is there yet."""
    digest = sha256(path.read_bytes()).hexdigest()
    return copied(f"published {path.name} {slug} {digest}", lambda: _published(path, slug))


def _published(path: Path, slug: str) -> Dataset:
    found = import_corpus(by=None, project_slug=slug, format="omnitom", sources=[(path.name, partial(path.open, "rb"))])
    assert not found.problems, found.problems
    return publish_version(by=None, project=Project.objects.get(slug=slug))[0]


def endpoint(name: str, provider: str = "scripted", **fields) -> Endpoint:
    return save_endpoint(by="", values={"name": name, "provider": provider, "model": name, **fields})


class OracleWorld:
    """The records as a dataset version, an oracle's server that knows them, and an endpoint for each of its `skills` by
    name."""

    def __init__(
        self, folder: Path, records: Iterable[dict], server: ModelServer, skills: Mapping[str, Mapping]
    ) -> None:
        self.server, self.log = server, folder / "served.jsonl"
        path = write_records(folder / "records.jsonl", records)
        known = {"records": str(path), "served": str(self.log), "skills": skills}
        server.control(answer="oracle", oracle=known, rules=[], before="", latency=0.0)
        self.dataset = published(path)
        asked = {"provider": "openai", "base_url": f"{server.url}/v1", "max_concurrency": 16}
        self.models = {name: endpoint(name, **asked) for name in skills}
        self.before = len(server.paid())

    def run(self, *models: str, work: bool = True, **plan) -> Run:
        """A run of these models, of `model` without a name, with everything asked and `judge` judging unless `plan`
        says more."""
        plan = {"steps": ("extract", "judge", "label"), "judge": self.models["judge"]} | plan
        run = started(dataset=self.dataset, endpoints=[self.models[name] for name in models or ("model",)], **plan)
        return worked_off(run) if work else run

    def served(self, model: str) -> dict[str, dict[int, dict]]:
        """What the oracle put down: {step: {story: what it served}} of the model, and of the judge about all."""
        found: dict[str, dict[int, dict]] = {}
        for line in map(json.loads, self.log.read_text().splitlines()):
            if line["model"] in (model, "judge"):
                found.setdefault(line["step"], {})[line["story_id"]] = line
        return found

    @property
    def paid(self) -> int:
        """Calls since it was made."""
        return len(self.server.paid()) - self.before


def started(**plan) -> Run:
    return start_run(by=None, plan=planned(**plan), now=timezone.now())


def worked_off(run: Run) -> Run:
    """The run when nothing of it is left to do: in this process, as `run_benchmark --wait` does it."""
    run.job.refresh_from_db()
    run_to_end(job=run.job)
    return run
