"""A new database is made by one migration an app; one that has run some of those that it stands for runs the others."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from tests.benchmark.before_samples.loading import installation

pytestmark = [pytest.mark.django_db, pytest.mark.once]
OURS = ("workers", "annotation", "judge", "benchmark")


@pytest.fixture(scope="module")
def single() -> dict[str, set[str]]:
    """By app the migrations that one stands for in a new database."""
    replacing = MigrationLoader(None).replacements
    return {app: {name for _, name in one.replaces} for (app, _), one in replacing.items()}


@pytest.fixture
def plan():
    """What is still to run where these have run: `plan([(app, name), …])`."""

    def planned(have_run) -> list[tuple[str, str]]:
        recorder = MigrationRecorder(connection)
        (recorder.migration_qs.filter(app__in=OURS) if have_run else recorder.migration_qs).delete()
        recorder.migration_qs.bulk_create(recorder.Migration(app=app, name=name) for app, name in have_run)
        executor = MigrationExecutor(connection)
        executor.loader.check_consistent_history(connection)
        return [(one.app_label, one.name) for one, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]

    return planned


def test_a_new_database_runs_no_migration_that_another_stands_for(plan, single):
    to_run = plan([])
    assert set(OURS) == set(single) <= {app for app, _ in to_run}
    assert [(app, name) for app, name in to_run if name in single.get(app, ())] == []


def test_where_all_have_run_only_what_came_after_is_left(plan, single):
    have_run = [(app, name) for app in OURS for name in single[app]]
    assert not [(app, name) for app, name in plan(have_run) if name in single[app] or name.startswith("0001_squashed")]


@pytest.mark.parametrize("behind", OURS)
def test_the_single_ones_go_on_where_some_have_run(plan, single, behind):
    last = max(single[behind])
    have_run = [(app, name) for app in OURS for name in single[app] if (app, name) != (behind, last)]
    assert [(app, name) for app, name in plan(have_run) if name in single[app]] == [(behind, last)]


def test_the_installation_that_the_tests_keep_goes_on_by_the_single_ones(plan, single):
    then = installation()["migrations"]
    have_run = {(app, name) for app in single if app in then for name in single[app] if name <= then[app]}
    to_run = plan(have_run)
    begun = [one for one in to_run if one[0] in then]
    assert {one for one in begun if one[1] in single[one[0]]} == {
        (app, name) for app in then.keys() & single for name in single[app]
    } - have_run
    assert [name for _, name in begun if name.startswith("0001_squashed")] == []
