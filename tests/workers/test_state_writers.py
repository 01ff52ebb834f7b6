"""The state of a call, item, job, worker or batch is written beside its model alone, by named transitions."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

from core import bulk

ROOT = Path(__file__).resolve().parents[2]
MACHINES = {
    model.__name__: model
    for model in apps.get_app_config("workers").get_models()
    if any(field.name == "state" and field.choices for field in model._meta.concrete_fields)
}
OTHERS = {model.__name__ for model in apps.get_models()} - MACHINES.keys()
WRITERS = {Path(inspect.getfile(model)).relative_to(ROOT).as_posix() for model in MACHINES.values()}
BULK = {name for name, value in vars(bulk).items() if getattr(value, "__module__", "") == bulk.__name__}
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "update", "bulk_update", "save", "save_base"}
WRITES |= {f"a{name}" for name in WRITES}
LISTS = {None, "fields", "update_fields", "defaults", "create_defaults"}
"""Keywords whose values name columns; None is what two stars spread."""
SQL = re.compile(
    (
        rf"\bset\b[^;]*\bstate\W*=|\b(update|into|from "
        rf"only|copy)\W+({'|'.join(model._meta.db_table for model in MACHINES.values())})\b"
    ),
    re.IGNORECASE,
)

SPOKEN_OF = re.compile(rf"state|{'|'.join(model._meta.db_table for model in MACHINES.values())}", re.IGNORECASE)
"""What every place that sets a state holds: the column's name, or that of a table in SQL."""


class Module:
    """The places of a module that set a state; `names` are those of its variables that hold the word as a column's
    name."""

    def __init__(self, source: str) -> None:
        held = SPOKEN_OF.search(source)  # most modules hold none of the words
        self.tree = ast.parse(source if held else "")
        self.names: set[str] = set()
        before = None if held else self.names
        while before != self.names:  # a list may be made of another list
            before = set(self.names)
            for node in ast.walk(self.tree):
                self.names |= self._named(node)

    def _named(self, node: ast.AST) -> set[str]:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) or node.value is None:
            return set()
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        keyed = [target for target in targets if isinstance(target, ast.Subscript) and self.mentions(target.slice)]
        targets_of_state = targets if self.mentions(node.value) else keyed
        return {part.id for target in targets_of_state for part in ast.walk(target) if isinstance(part, ast.Name)}

    def mentions(self, node: ast.AST) -> bool:
        """Whether an expression holds the column's name."""
        return any(
            (isinstance(part, ast.Constant) and part.value == "state")
            or (isinstance(part, ast.Name) and part.id in self.names)
            or (isinstance(part, ast.keyword) and part.arg == "state")
            for part in ast.walk(node)
        )

    def places(self) -> list[str]:
        return [f"{node.lineno} {ast.unparse(node)[:80]}" for node in self.nodes(self.tree) if self.sets(node)]

    def nodes(self, tree: ast.AST) -> Iterator[ast.AST]:
        """The nodes outside of other models, whose own `state` is theirs to set."""
        left = [tree]
        while left:
            inside = ast.iter_child_nodes(left.pop())
            own = [node for node in inside if not (isinstance(node, ast.ClassDef) and node.name in OTHERS)]
            yield from own
            left += own

    def sets(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr="state", ctx=ast.Store() | ast.Del(), value=value):
                return not (isinstance(value, ast.Name) and value.id == "self")
            case ast.Constant(value=str(text)):
                return bool(SQL.search(text))
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value="state"), *_]):
                return True
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                return self._writes(node, called)
        return False

    def _writes(self, call: ast.Call, called: str) -> bool:
        about = {part.id for part in ast.walk(call.func) if isinstance(part, ast.Name)}
        if called in BULK:
            about |= {argument.id for argument in call.args[:1] if isinstance(argument, ast.Name)}
        if about & OTHERS or called not in BULK | WRITES | MACHINES.keys():
            return False
        listed = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in LISTS)]
        return any(keyword.arg == "state" for keyword in call.keywords) or any(map(self.mentions, listed))


def places() -> dict[str, Module]:
    """By path every module of the packages, without migrations."""
    folders = [init.parent for init in ROOT.glob("*/__init__.py") if init.parent.name != "tests"]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py")) if "migrations" not in path.parts]
    return {path.relative_to(ROOT).as_posix(): Module(path.read_text(encoding="utf-8")) for path in files}


def test_nobody_else_sets_a_state():
    assert {"Call", "Item", "Job", "Worker", "Batch"} <= MACHINES.keys()
    modules = places()
    assert {
        name: writes for name, module in modules.items() if name not in WRITERS and (writes := module.places())
    } == {}
    assert [name for name in WRITERS if not modules[name].places()] == []


@pytest.mark.parametrize(
    "lines",
    [
        "job.state = 'paused'",
        "job.note, job.state = '', 'paused'",
        "for call.state in states: call.save()",
        "setattr(job, 'state', 'paused')",
        "Job(title='x', state='paused')",
        "models.Job(title='x', state='paused')",
        "Job.objects.create(state='paused')",
        "Job.objects.filter(pk=1).update(state='paused')",
        "job.items.update(state='done')",
        "rows.update(state='done')",
        "Item.objects.bulk_update(items, ['state'])",
        "job.save(update_fields=['note', 'state'])",
        "Job.objects.update_or_create(pk=1, defaults={'state': 'paused'})",
        "changes = {'state': 'paused'}\nJob.objects.filter(pk=1).update(**changes)",
        "changes = {}\nchanges['state'] = 'paused'\nJob.objects.filter(pk=1).update(**changes)",
        "changes = dict(state='paused')\nJob.objects.filter(pk=1).update(**changes)",
        "update_rows(Call, ['state', 'problem'], rows)",
        "insert_rows(model, ['state'], rows)",
        "_ASKED = ['uid', 'state']\n_ALL = [*_ASKED, 'body']\ninsert_missing(Call, _ALL, rows, unique='key')",
        "cursor.execute('UPDATE workers_call SET problem = 1')",
        "cursor.execute(f'UPDATE {table} SET \"state\" = %s', [1])",
        "cursor.execute('INSERT INTO \"workers_item\" (job) VALUES (1)')",
    ],
)
def test_another_writer_is_found(lines):
    assert len(Module(lines).places()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "Job.objects.filter(state='paused').update(note='')",
        "Job.objects.filter(pk=1).pause(note='')",
        "Job.objects.create(title='x')",
        "SharedItem(state='done')",
        "Endpoint.objects.filter(pk=1).update(state={})",
        "told = {'state': job.state}",
        "class EndpointRateLimit:\n    def keep(self):\n        self.save(update_fields=['state'])",
        "class Loop:\n    def __init__(self):\n        self.state = 1",
    ],
)
def test_reads_transitions_and_other_models_are_left_alone(line):
    assert Module(line).places() == []
