"""The digests of judges that stand in rows already: another one would part their rankings, self-tests and
calibrations from those that come."""

from __future__ import annotations

import pytest

from benchmark.models import Run
from benchmark.services.judge_versions import version_of
from workers.models import Endpoint

MODEL = {"name": "judge", "family": "f", "provider": "openai", "model": "judge-1", "options": {"effort": "low"}}
RULES = {"name": "lexical-judge", "provider": "baseline", "model": "lexical-judge", "options": {"threshold": 0.6}}
ANEW = {"judge_answer_format": "links", "passes": 3, "settle": "exact"}
pytestmark = pytest.mark.once
CASES = {
    "rules": (RULES, "text", {}, "d2226e970af22eb0"),
    "text": (MODEL, "text", {}, "a5299c1115e0b563"),
    "without the story": (MODEL, "text", {"with_story": False, "judge_level": 2}, "9b41ca22b221360e"),
    "structured, with examples": (MODEL, "structured", {"shots": 2, "examples_from": "sample"}, "becbb409eb76f1a0"),
    "links, in passes": (MODEL, "text", ANEW, "541d6d9682046e75"),
}


def run_of(spec: dict, answer_format: str, settings: dict) -> Run:
    provider = {name: spec[name] for name in ("provider", "model", "name")}
    params = {"judge_level": 4, "with_story": True, "shots": 0, "seed": 5, **settings}
    return Run(
        suite="omnitom", answer_format=answer_format, params=params, judge=Endpoint(**provider),
        spec={"judge": spec, "prompts": {"judge": "0" * 64}},
    )  # fmt: skip


def test_the_digest_of_a_version_stays():
    for spec, answer_format, chosen, digest in CASES.values():
        assert version_of(run_of(spec, answer_format, chosen))[:16] == digest
