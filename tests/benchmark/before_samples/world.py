"""The installation: a project of eight sample stories with people's votes, two frozen versions, and runs of all
kinds."""

from __future__ import annotations

import csv
import io
import uuid
from dataclasses import replace
from functools import partial
from pathlib import Path

from django.utils import timezone

from annotation.domain.sample_corpus import sample_records
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, Membership, Project, Proposition, Role, Story, User
from annotation.services.corpus_import import import_corpus
from annotation.services.splits import make_split
from annotation.services.votes import Change, save_votes
from benchmark.models import Audience, Dataset, ResultsVisibility, Run
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.datasets import freeze
from benchmark.services.follow_ups import ask_missing
from benchmark.services.judge_tests import current_test
from benchmark.services.shared_reports import freeze_comparison, freeze_run
from tests.benchmark.before_samples.figures import SLUG
from tests.benchmark.evaluation import endpoint, started, worked_off, write_records

NUMBERS = (1, 2, 3, 8, 9, 10, 15, 16)
ROWS = 5
PART, FOLLOWED, WAITING = "Four stories", "Followed up", "Waiting"
ROLES = {"alice": Role.ADMIN, "bob": Role.ANNOTATOR, "bea": Role.ANNOTATOR, "ben": Role.ANNOTATOR, "esi": Role.EXPERT}
UNREADABLE = "I would rather not."
LABELLED = ("1", "True", "Private", "Implicit", "Location", "Inference", "Neutral")
EXTRACTED = "Actor | Belief\nworld | The parcel is on the shelf.\nTomas | The parcel is in the cupboard."


def forgetful(body) -> str:
    """A judge by equal wording that leaves the last gold row out until it is asked again."""
    task = body["task"]
    again = body["messages"][-2]["role"] == "assistant" or "no judgement yet" in body["messages"][-1]["content"]
    rows, gold = task["predictions"], task["gold"]
    return "\n".join([
        "Prediction Table:", _judged([] if again else rows, gold), "",
        "Ground Truth Table:", _judged(gold[-1:] if again else gold[:-1], rows),
    ])  # fmt: skip


def weak(body) -> str:
    """Extracts the same two beliefs of every story and gives all rows the same labels."""
    task = body["task"]
    if task["kind"] == "extract":
        return EXTRACTED
    head = (
        "Actor | Belief | Order | Truth-Status | Knowledge-Access | Representation | Content Type | "
        "Mental-Source | Context"
    )
    return "\n".join([head, *(" | ".join([row["actor"], row["belief"], *LABELLED]) for row in task["rows"])])


def _judged(rows: list, others: list) -> str:
    text = io.StringIO()
    found = ((actor, belief, int([actor, belief] in [list(one) for one in others])) for actor, belief in rows)
    csv.writer(text, lineterminator="\n").writerows([("Actor", "Belief", "MatchCount"), *found])
    return text.getvalue().strip()


SCRIPTED = {"forgetful": forgetful, "weak": weak}
"""Functions of the scripted provider, which whoever works on the runs registers."""


def build(folder: Path) -> None:
    """Into an empty database."""
    project = _project(folder)
    first = freeze(by=User.objects.get(username="alice"), project=project, note="First")[0]
    models = _models()
    runs = _runs_of(first, models)
    Proposition.objects.filter(table__story__number=2, position=1).update(
        imported_labels=sample_records()[2].beliefs[0].labels
    )
    second = freeze(by=None, project=project, note="Second")[0]
    assert second != first
    everything = {"steps": ("extract", "judge", "label"), "judge": models["lexical-judge"]}
    chosen = [models[name] for name in ("majority", "omniscient")]
    worked_off(started(dataset=second, endpoints=chosen, title="Second version", **everything))
    _share(project, runs)
    started(dataset=first, endpoints=[models["random"], models["omniscient"]], title=WAITING, limit=6, **everything)


def _project(folder: Path) -> Project:
    records = [
        replace(one, beliefs=one.beliefs[:ROWS]).as_json() for one in sample_records() if one.story_id in NUMBERS
    ]
    path = write_records(folder / "records.jsonl", records)
    told = import_corpus(by=None, project_slug=SLUG, format="omnitom", sources=[(path.name, partial(path.open, "rb"))])
    assert not told.problems, told.problems
    project = Project.objects.get(slug=SLUG)
    for name, role in ROLES.items():
        person = User.objects.create_user(name, f"{name}@example.org", display_name=name.title())
        Membership.objects.create(project=project, user=person, role=role)
    make_split(by=None, project=project, name="calibration", rest="main", per_category=1, seed=1)
    _vote(project)
    ResultsVisibility.objects.create(project=project, audience=Audience.EVERYONE)
    return project


def _vote(project: Project) -> None:
    """Bob, Bea and Ben label the first story, Ben otherwise than the record in two dimensions; Bob a part of the
    second."""
    for place, story in enumerate(Story.objects.filter(project=project).order_by("number")[:2]):
        rows = list(Proposition.objects.gold_of(story))
        for slot, name in enumerate(("bob", "bea", "ben")[: 3 - 2 * place], 1):
            person = User.objects.get(username=name)
            assignment = Assignment.objects.create(story=story, annotator=person, slot=slot, overlap=project.overlap)
            now = timezone.now()
            changes = [
                Change(row.uid, key, _label(name, key, row.imported_labels), now, uuid.uuid4().hex)
                for row in rows[: ROWS - place]
                for key in DEFAULT_SCHEMA.keys[: 7 - 2 * place]
            ]
            save_votes(by=person, assignment=assignment, changes=changes, now=now)


def _label(name: str, key: str, labels: dict) -> str:
    return {"order": "2", "context": "Deceptive"}.get(key, labels[key]) if name == "ben" else labels[key]


def _models() -> dict:
    models = {name: endpoint(name, "baseline") for name in ("majority", "random", "omniscient", "lexical-judge")}
    failing = [{"when": _text(2), "fail": "rejected"}, {"when": _text(9), "text": UNREADABLE}]
    models["weak"] = endpoint("weak", options={"script": failing, "function": "weak"})
    models["mute"] = endpoint("mute", options={"default": UNREADABLE})
    models["schematic"] = endpoint("schematic")
    models["forgetful"] = endpoint("forgetful", options={"function": "forgetful"})
    return models


def _text(number: int) -> str:
    return next(one.story for one in sample_records() if one.story_id == number)[:60]


def _runs_of(dataset: Dataset, models: dict) -> dict[str, Run]:
    def run(title: str, *names: str, steps=("extract", "judge", "label"), judge: str = "lexical-judge", **plan) -> Run:
        asked = {"judge": models[judge]} if "judge" in steps else {}
        chosen = [models[name] for name in names]
        made = worked_off(started(dataset=dataset, endpoints=chosen, title=title, steps=steps, **asked, **plan))
        if test := current_test(made):
            worked_off(test)
        return made

    runs = {
        "all": run("All", "majority", "random", "omniscient", "weak", "mute", self_test=True),
        "part": run(PART, "majority", steps=("label",), limit=4),
        "structured": run("Structured", "omniscient", "schematic", form="structured"),
        "examples": run("With examples", "weak", "omniscient", level=4, examples=2, split="main", seed=3),
        "followed": run(FOLLOWED, "omniscient", steps=("extract", "judge"), judge="forgetful", self_test=True),
    }
    ask_missing(by=None, run=runs["followed"], now=timezone.now())
    worked_off(runs["followed"])
    runs["anew"] = run("Judged anew", "weak", "omniscient", steps=("judge",), judge="forgetful", source=runs["all"])
    return runs


def _share(project: Project, runs: dict[str, Run]) -> None:
    for name in ("all", "followed"):
        freeze_run(by=None, run=runs[name])
    for stage, names in {"stage1": ("weak", "omniscient"), "stage2": ("majority", "random")}.items():
        keys = [f"{runs['all'].uid}.{runs['all'].entrants.get(name=name).pk}" for name in names]
        held, entries = pair_of(project, *keys)
        found = compare(entries[stage], stage, "repaired", None)
        freeze_comparison(by=None, project=project, runs=held, keys=keys, comparison=found, title=stage)
