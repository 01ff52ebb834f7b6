import json

import pytest

from benchmark.suites import registry
from benchmark.suites.omnitom.data import read_records, record_of
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.settled import baselines, published
from tests.benchmark.tiny.suite import SUITE
from tests.servers import ModelServer


@pytest.fixture(scope="session")
def omnitom(shared):
    """Reads one file of inputs with the figures that the released OmniToM code gave: `omnitom("unit_labels")`."""
    return lambda name: json.loads((shared / "vectors" / "omnitom" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def omnitom_run(shared, omnitom):
    """Records, raw texts by story and expected figures of an end-to-end case: `omnitom_run("e2e_perfect")`."""

    def read(name: str):
        case = omnitom(name)
        path = shared / "vectors" / "omnitom" / case["records_file"]
        with path.open("rb") as handle:
            records = read_records(handle, path.name)
        texts = {int(story): steps for story, steps in case.get("raw_outputs", {}).items()}
        return records, texts, case["expected"]

    return read


LABELS = {
    "order": "1",
    "truth_status": "True",
    "knowledge_access": "Private",
    "representation": "Implicit",
    "content_type": "Epistemic",
    "mental_source": "Inference",
    "context": "Neutral",
}


@pytest.fixture
def make_record():
    """Makes a record: `make_record(7, ("Ines", "The key is here"), …)`, labels alike, changed by `labels`."""

    def make(story_id: int, *rows, category: str = "False Belief Task", **labels):
        beliefs = [{"actor": actor, "belief": belief, "labels": LABELS | labels} for actor, belief in rows]
        return record_of({"story_id": story_id, "story_category": category, "story": "A story.", "beliefs": beliefs})

    return make


@pytest.fixture
def tiny(monkeypatch, own_registry):
    """The suite of sums, registered for one test."""
    registry.suites()
    monkeypatch.setattr(registry, "_suites", dict(registry._suites))
    monkeypatch.setattr(registry, "_groups", dict(registry._groups))
    registry.register(SUITE)
    return SUITE


@pytest.fixture
def small_fonts(monkeypatch) -> None:
    """Fonts in PDF files without their tables for kerning and ligatures, which a viewer does not read and which take
    half a PDF's time."""
    from fontTools.subset import Options

    dropped = [*Options._drop_tables_default, "GSUB", "GPOS", "GDEF", "kern"]
    monkeypatch.setattr(Options, "_drop_tables_default", dropped)


@pytest.fixture
def alice(cast, client):
    """The client of Alice, who administers the cast's project."""
    client.force_login(cast.alice)
    return client


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server of models, whose rules each test sets anew."""
    with ModelServer(folder=tmp_path_factory.mktemp("models")) as running:
        yield running


@pytest.fixture
def world(tmp_path, client) -> ResultsWorld:
    """The world of a finished run, Alice signed in."""
    held = results_world(tmp_path)
    client.force_login(held.alice)
    return held


@pytest.fixture
def gold(cast, make_story):
    """Four settled stories, published."""
    return published(cast, make_story)


@pytest.fixture
def models(db):
    """The baselines by name."""
    return baselines()
