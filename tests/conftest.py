"""What all tests share: quick settings, the cast of `tests/cast.py`, and what it does."""

import contextlib
import gc
import importlib
import itertools
import logging
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import caches
from django.test import override_settings
from django.utils import translation
from hypothesis import settings as hypothesis_settings

from tests import open_cursors
from tests.cast import Cast, new_cast, new_story
from tests.patience import PATIENCE
from tests.prepared import copy_migrated, copy_prepared, keep_migrated, migrate_once
from workers.domain import rate_limit
from workers.domain.rate_limit import TOP, RateLimit

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # playwright's sync API runs an event loop of its own

hypothesis_settings.register_profile("untimed", deadline=None)  # a busy machine makes no test fail
hypothesis_settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


gc.disable()  # until all tests are collected: nothing of it can go


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Import the files to be collected, each process beginning with another part of them: in one order, all would
    rewrite the assertions of the same file at the same time, ten seconds each, where nothing is kept yet."""
    if own := os.environ.get("PYTEST_XDIST_WORKER"):
        paths = [Path(arg.partition("::")[0]) for arg in session.config.args]
        found = [one for path in paths for one in (sorted(path.rglob("test_*.py")) if path.is_dir() else [path])]
        first = len(found) * int(own.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for path in found[first:] + found[:first]:
            with contextlib.suppress(Exception, pytest.skip.Exception):  # the collection tells what is wrong
                importlib.import_module(".".join(path.resolve().relative_to(ROOT).with_suffix("").parts))
    return (yield)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the garbage collector what is here to stay, and have it look seldom at the rest: it took a tenth of the
    time."""
    if session.config.getoption("loadgroup", False):
        scattered = [
            item.nodeid for item in session.items if item.get_closest_marker("xdist_group") and "@" not in item.nodeid
        ]
        assert not scattered, f"pytest-xdist keeps no groups together with pytest {pytest.__version__}: {scattered[:3]}"
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    open_cursors.close_left()


def pytest_sessionfinish() -> None:
    """Have pytest go through nothing of what the tests left, which it does twice."""
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    open_cursors.note_opened()


DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "live_server"}
ON_BOTH_DATABASES = re.compile(
    r"tests/(api/|judge/test_|test_urlconf|(annotation|workers)/test_\w*(import|archive|queue|count)"
    r"|benchmark/test_(archiving|datasets|import|items|killed|large_runs|leaderboard|reports|runs_service|structure))"
)
"""Tests of what databases do differently: every operation of the API, every page, what is written in bulk and queries
that are put together."""


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Mark what the pass on PostgreSQL takes (`pg`): tests of the people's part and of workers with
    transactions of their own, those of ON_BOTH_DATABASES, and those that are marked so.

    What is dear begins first, or one process would wait for the other at the end.
    """
    for item in items:
        mark = item.get_closest_marker("django_db")
        if not (mark or DATABASE_FIXTURES & set(getattr(item, "fixturenames", ()))):
            continue
        at_once = mark and mark.kwargs.get("transaction") and not item.nodeid.startswith("tests/benchmark/")
        if at_once or ON_BOTH_DATABASES.match(item.nodeid):
            item.add_marker("pg")
    yield  # tests are chosen by their markers, and put in order by what they do to the database
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """What is dear begins first; tests in the browser stand beside each other, so that a process starts it once."""
    dear, browser = (item.get_closest_marker(name) is not None for name in ("dear", "browser"))
    return int(browser) if dear else 3 - int(browser)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and vectors beside the checkout; tests that need it skip without it."""
    if not SHARED.is_dir():
        pytest.skip("the folder shared/ beside the checkout is absent")
    return SHARED


@pytest.fixture(scope="session")
def folder_of_all(tmp_path_factory) -> Path:
    """A folder of all processes of this run."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own


@pytest.fixture(scope="session")
def prepared(folder_of_all, django_db_setup) -> Callable[[Path], Path]:
    """Makes the data folder of an empty installation on SQLite: `prepared(tmp_path / "var")`."""
    return lambda var: copy_prepared(var, folder_of_all)


@pytest.fixture(scope="session")
def migrated_where_none_did(django_test_environment, folder_of_all) -> None:
    from django.db import connection

    migrate_once() if connection.vendor == "sqlite" else copy_migrated(folder_of_all)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix) -> None:
    """Have no commit wait for the disk: no test cuts the power, and what a process that is killed has written stays."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"


@pytest.fixture(scope="session")
def django_db_setup(migrated_where_none_did, django_db_setup, django_db_blocker, folder_of_all) -> None:
    """Has the migrations run from nothing, as pytest-django does, where no test process did, and keeps what they leave
    for `prepared`."""
    from django.db import connection

    if connection.vendor == "sqlite":
        with django_db_blocker.unblock():
            connection.ensure_connection()
            if connection.introspection.table_names():  # pytest-django makes none where no test that runs asks for one
                keep_migrated(connection.connection, folder_of_all)


@pytest.fixture(scope="session", autouse=True)
def contexts_of_pages_alone(django_test_environment) -> None:
    """`response.context` holds what the view gave the page's own template.

    Django copies the whole context for every included piece and every widget of a form too: a fifth of the time of a
    long page.
    """
    from django.template.base import Template
    from django.test.signals import template_rendered

    def render(template: Template, context) -> str:
        if context.template is template and not (template.name or "").startswith("django/forms/"):
            template_rendered.send(sender=template, template=template, context=context)
        return template.nodelist.render(context)

    Template._render = render  # Django sets its own back at the end of the session


@pytest.fixture(scope="session", autouse=True)
def little_is_done_between_tests(django_test_environment, folder_of_all) -> None:
    """Filled tables alone are emptied, connections are kept, what is dear to make is made once for all processes."""
    from django.db.backends.signals import connection_created
    from django.test import TransactionTestCase

    from tests.copies import empty_what_is_filled, share_copies_in
    from tests.kept_connections import note_opened, should_reload_connections

    TransactionTestCase._fixture_teardown = empty_what_is_filled
    TransactionTestCase._should_reload_connections = should_reload_connections
    connection_created.connect(note_opened)
    folder = folder_of_all / "copies"
    folder.mkdir(exist_ok=True)
    share_copies_in(folder)


NUMBERS = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def quick_and_local(django_test_environment, tmp_path_factory) -> Generator[None, None, None]:
    """Fast password hashing, plain static files, caches in memory, no limit of requests a minute, and no files outside
    the folder of the tests."""
    memory = "django.core.cache.backends.locmem.LocMemCache"
    static = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    throttle = "rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES"
    with (
        pytest.MonkeyPatch.context() as patch,
        override_settings(
            PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
            STORAGES={**settings.STORAGES, "staticfiles": static},
            CACHES={name: {"BACKEND": memory, "LOCATION": name} for name in settings.CACHES},
            SECURE_SSL_REDIRECT=False,
        ),
    ):
        patch.setattr(throttle, {"user": None, "anon": None})  # thousands a minute, of few people
        patch.setattr("core.kept.WAIT_SECONDS", PATIENCE)  # a busy machine computes everything later
        yield


@pytest.fixture(autouse=True)
def nothing_of_another_test(settings, tmp_path_factory) -> Generator[None, None, None]:
    """What a process keeps is known by ids and digests: another test's prompt set has the same id, and a test may
    change a dataset under its digest. No language that a request of a test chose outlives it, and no file."""
    from benchmark.services import asking

    asking._kept = OrderedDict()
    asking._loaded.cache_clear()
    for name in settings.CACHES:
        caches[name].clear()
    settings.MEDIA_ROOT = tmp_path_factory.getbasetemp() / f"media-{next(NUMBERS)}"  # few tests make it
    yield
    translation.deactivate()


@pytest.fixture
def cast(db) -> Cast:
    return new_cast()


@pytest.fixture
def make_story(cast):
    """Makes a story with a gold table: `make_story(rows=[(actor, belief), …])`."""
    return partial(new_story, cast)


@pytest.fixture
def assign(cast):
    """Assigns a story: `assign(story)` assigns it to Bob, Bea and Ben and returns their assignments."""
    from annotation.models import Assignment

    def make(story, annotators=None):
        return [
            Assignment.objects.create(story=story, annotator=person, slot=slot, overlap=cast.project.overlap)
            for slot, person in enumerate(annotators or cast.annotators, 1)
        ]

    return make


@pytest.fixture
def cast_vote(db):
    """Casts one vote: `cast_vote(assignment, proposition, dimension, label)`, with `at`, `key` and other fields of
    `Change`."""
    import uuid

    from django.utils import timezone

    from annotation.services.votes import Change, save_votes

    def make(assignment, proposition, dimension, label, **fields):
        now = timezone.now()
        at, key = fields.pop("at", now), fields.pop("key", uuid.uuid4().hex)
        change = Change(proposition.uid, dimension, label, at, key, **fields)
        return save_votes(by=assignment.annotator, assignment=assignment, changes=[change], now=now)[0]

    return make


@pytest.fixture
def undo(cast_vote):
    """Takes back the last vote in the story as the grid does: `undo(assignment)`, None where none is left."""
    from annotation.services.votes import last_undoable

    def make(assignment):
        event = last_undoable(by=assignment.annotator, assignment=assignment)
        if event is None:
            return None
        return cast_vote(assignment, event.proposition, event.dimension, event.previous, undoes=event.idempotency_key)

    return make


@pytest.fixture
def own_registry(monkeypatch) -> None:
    """Providers and baselines that the test registers are gone after it."""
    from workers.providers import registry
    from workers.providers.baseline import registered

    monkeypatch.setattr(registry, "_providers", dict(registry._providers))
    monkeypatch.setattr(registered, "_BASELINES", dict(registered._BASELINES))


@pytest.fixture(autouse=True)
def no_suite_fails_unnoticed(request) -> Generator[None, None, None]:
    """What a suite did not foresee is one sentence on a page of many, which a test about the rest of the page would not
    miss: it fails the test, but for those that are about it (`failing_suite`)."""
    from benchmark.suites import guards

    kept = _Kept()
    guards.log.addHandler(kept)
    yield
    guards.log.removeHandler(kept)
    if kept.messages and not request.node.get_closest_marker("failing_suite"):
        reasons = "\n".join(kept.messages)
        pytest.fail(f"{reasons}\nA test that is about a suite's failure has the mark failing_suite.", pytrace=False)


class _Kept(logging.Handler):
    """The messages that a logger wrote, with the errors that they are about."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.messages.append(f"{record.getMessage()} {error!r}")


@pytest.fixture(autouse=True)
def calls_start_at_once(monkeypatch) -> None:
    """No call waits for its start where no limit is stated and nothing is refused: pacing is what tests of workers are
    about. Paced, the calls of a run come two or three a turn of a worker, and its turns take the time of its test."""
    paced = RateLimit._rate
    monkeypatch.setattr(
        RateLimit,
        "_rate",
        lambda limit, most, flight=0: paced(limit, most, flight) if limit.denied or limit._limit(most) else TOP,
    )
    monkeypatch.setattr(rate_limit, "RATE", TOP)
