"""What the named transitions of workers write (states, outcomes, notes, who holds a row) is written beside its model
alone."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models

from core import bulk

ROOT = Path(__file__).resolve().parents[2]
BULK = {name for name, value in vars(bulk).items() if getattr(value, "__module__", "") == bulk.__name__}


def columns_of(model: type[models.Model]) -> set[str]:
    """The columns that the queryset of a model changes by its methods, read from its source: keywords of `update`, and
    names in what is given to `update_rows`, lists and rows of the module included."""
    queryset = type(model._default_manager.all())
    if queryset is models.QuerySet:
        return set()
    module = ast.parse(Path(inspect.getfile(queryset)).read_text(encoding="utf-8"))
    lists = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    } | {node.name: _fields(node) for node in module.body if isinstance(node, ast.ClassDef) and _is_row(node)}
    [body] = [node for node in module.body if isinstance(node, ast.ClassDef) and node.name == queryset.__name__]
    columns = {field.name for field in model._meta.concrete_fields}
    return columns & {name for method in body.body for name in _changed(method, lists)}


def _is_row(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)


def _fields(node: ast.ClassDef) -> ast.expr:
    """The names of a row's fields, as the list that they would be."""
    names = [line.target.id for line in node.body if isinstance(line, ast.AnnAssign)]
    return ast.parse(repr(names), mode="eval").body


def _changed(method: ast.AST, lists: dict[str, ast.expr]) -> Iterator[str]:
    calls = [node for node in ast.walk(method) if isinstance(node, ast.Call)]
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "update":
            yield from (keyword.arg for keyword in call.keywords if keyword.arg)
    changing = any(isinstance(call.func, ast.Name) and call.func.id == "update_rows" for call in calls)
    spread = any(keyword.arg is None for call in calls for keyword in call.keywords)
    if changing or spread:
        for node in ast.walk(method):
            held = lists.get(node.id) if isinstance(node, ast.Name) else node
            for part in ast.walk(held) if held is not None else ():
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


COLUMNS = {model.__name__: columns_of(model) for model in apps.get_app_config("workers").get_models()}
MACHINES = {name: apps.get_model("workers", name) for name, columns in COLUMNS.items() if columns}
WRITTEN = set().union(*COLUMNS.values())
STATES = {
    field.name for name, model in MACHINES.items() for field in model._meta.concrete_fields
    if field.choices and field.name in COLUMNS[name]
}  # fmt: skip
"""Those that have choices: no row may hold another one even in memory."""
OTHERS = {model.__name__ for model in apps.get_models()} - MACHINES.keys()
WRITERS = {Path(inspect.getfile(model)).relative_to(ROOT).as_posix() for model in MACHINES.values()}
BELOW = "core"
"""The package that knows none of these rows: its own columns may have the same names."""
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "update", "bulk_update", "save", "save_base"}
WRITES |= {f"a{name}" for name in WRITES}
LISTS = {None, "fields", "update_fields", "defaults", "create_defaults"}
"""Keywords whose values name columns; None is what two stars spread."""
_TABLES = "|".join(model._meta.db_table for model in MACHINES.values())
SQL = re.compile(
    rf"\bset\b[^;]*\b({'|'.join(STATES)})\W*=|\b(update|into|from only|copy)\W+({_TABLES})\b", re.IGNORECASE
)
SPOKEN_OF = re.compile(rf"{'|'.join(WRITTEN)}|{_TABLES}", re.IGNORECASE)
"""What every place that sets one of the columns holds: its name, or that of a table in SQL."""

ASSIGNING = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr


class Module:
    """The places of a module that set such a column; `names` are those of its variables that hold one as a column's
    name, `rows` the names by which it knows models of workers, and `saves` whether it saves anything."""

    def __init__(self, source: str) -> None:
        held = SPOKEN_OF.search(source)  # most modules hold none of the words
        self.tree = ast.parse(source if held else "")
        nodes = [*ast.walk(self.tree)]
        assigning = [node for node in nodes if isinstance(node, ASSIGNING) and node.value is not None]
        self.names: set[str] = set()
        self.rows = {
            alias.asname or alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workers.models")
            for alias in node.names
        }
        self.saves = bool(re.search(r"\.a?(save|save_base|bulk_update)\(", source))
        before = None if held else self.names
        while before != self.names:  # a list may be made of another list
            before = set(self.names)
            for node in assigning:
                self.names |= self._named(node)

    def _named(self, node: ASSIGNING) -> set[str]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        keyed = [target for target in targets if isinstance(target, ast.Subscript) and self.mentions(target.slice)]
        listed = targets if self.mentions(node.value) else keyed
        return {part.id for target in listed for part in ast.walk(target) if isinstance(part, ast.Name)}

    def mentions(self, node: ast.AST) -> bool:
        """Whether an expression holds the name of such a column."""
        return any(
            (isinstance(part, ast.Constant) and part.value in WRITTEN)
            or (isinstance(part, ast.Name) and part.id in self.names)
            or (isinstance(part, ast.keyword) and part.arg in WRITTEN)
            for part in ast.walk(node)
        )

    def places(self) -> list[str]:
        return [f"{node.lineno} {ast.unparse(node)[:80]}" for node in self.nodes(self.tree) if self.sets(node)]

    def nodes(self, tree: ast.AST) -> Iterator[ast.AST]:
        """The nodes outside of other models, whose own columns are theirs to set."""
        left = [tree]
        while left:
            inside = ast.iter_child_nodes(left.pop())
            own = [node for node in inside if not (isinstance(node, ast.ClassDef) and node.name in OTHERS)]
            yield from own
            left += own

    def sets(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del(), value=value) if name in WRITTEN:
                kept = name in STATES or self.saves  # other columns may be set in memory, where nothing is saved
                return kept and not (isinstance(value, ast.Name) and value.id == "self")
            case ast.Constant(value=str(text)):
                return bool(SQL.search(text))
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=name), *_]):
                return name in WRITTEN
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                return self._writes(node, called)
        return False

    def _writes(self, call: ast.Call, called: str) -> bool:
        about = {part.id for part in ast.walk(call.func) if isinstance(part, ast.Name)}
        if called in BULK:
            about |= {argument.id for argument in call.args[:1] if isinstance(argument, ast.Name)}
        made = called in MACHINES and (called in self.rows or isinstance(call.func, ast.Attribute))
        if about & OTHERS or not (made or called in BULK | WRITES):
            return False
        named = call.args if called in BULK | {"bulk_update", "abulk_update"} else []
        listed = [*named, *(keyword.value for keyword in call.keywords if keyword.arg in LISTS)]
        return any(keyword.arg in WRITTEN for keyword in call.keywords) or any(map(self.mentions, listed))


def places() -> dict[str, Module]:
    """By path every module of the packages that may know the rows, without migrations."""
    folders = [init.parent for init in ROOT.glob("*/__init__.py") if init.parent.name not in ("tests", BELOW)]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py")) if "migrations" not in path.parts]
    return {path.relative_to(ROOT).as_posix(): Module(path.read_text(encoding="utf-8")) for path in files}


def test_the_columns_are_those_that_transitions_write():
    assert {"Call", "Attempt", "Item", "Job", "Worker", "Batch"} == MACHINES.keys()
    assert {"state", "outcome", "note", "budget", "finished_at"} == COLUMNS["Job"]
    assert {"state", "worker", "polled_at", "done", "provider_id", "problem"} == COLUMNS["Batch"]
    assert {"outcome", "finished_at", "status", "headers", "problem", "body", "waits"} == COLUMNS["Attempt"]
    assert {"outcome", "worker", "state"} <= WRITTEN and {"state", "outcome"} == STATES


@pytest.mark.dear  # it would be the last of all, and the other processes would wait for it
def test_nobody_else_sets_one():
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
        "from workers.models import Job\nJob(title='x', state='paused')",
        "job.note = ''\njob.save()",
        "job.outcome = 'finished'",
        "Attempt.objects.filter(pk=1).update(outcome='unknown')",
        "update_rows(Attempt, ['outcome', 'waits'], rows)",
        "Job.objects.filter(pk=1).update(note='')",
        "running.update(note='')",
        "Batch.objects.filter(worker=worker).update(worker=None)",
        "Batch.objects.create(job=job, worker=worker)",
        "Item.objects.filter(pk=1).update(cost=F('cost') + 1, made=True)",
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
        "Job.objects.filter(state='paused').update(priority=1)",
        "shown.update({'state': job.state})",
        "item.cost += 1",
        "Item(key='a', answer='b')",
        "Job.objects.filter(pk=1).pause(note='')",
        "Job.objects.create(title='x')",
        "SnapshotItem(state='done')",
        "Endpoint.objects.filter(pk=1).update(state={})",
        "told = {'state': job.state}",
        "class EndpointRateLimit:\n    def keep(self):\n        self.save(update_fields=['state'])",
        "class Loop:\n    def __init__(self):\n        self.state = 1",
    ],
)
def test_reads_transitions_and_other_models_are_left_alone(line):
    assert Module(line).places() == []
