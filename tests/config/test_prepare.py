"""What precedes a start: static files are collected when something has changed, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from annotation.management.commands import prepare
from annotation.models import Project
from core import preparing


@pytest.fixture
def collected(settings, tmp_path) -> Path:
    own = tmp_path / "own"
    own.mkdir()
    (own / "one.css").write_text("a { color: red }")
    settings.STATIC_ROOT, settings.STATICFILES_DIRS = str(tmp_path / "static"), [own]
    # Of all apps' files it takes seconds: tests/config/test_loading.py prepares them.
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "config.static_files.HashedFiles"}}
    prepare.collect_static()
    return tmp_path / "static"


def broken(*_, **__):
    raise OSError("No space left on device")


def made(folder: Path) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}


def test_nothing_is_made_anew_where_nothing_changed(collected):
    before = made(collected)
    assert not prepare.collect_static()
    assert made(collected) == before and len(list(collected.glob("one.*.css"))) == 1


def test_a_changed_file_is_collected(collected, tmp_path):
    source = tmp_path / "own" / "one.css"
    source.write_text("a { color: tan }")
    assert prepare.collect_static()
    assert any("tan" in file.read_text() for file in collected.glob("one.*.css"))


def test_what_was_not_finished_is_collected_again(collected, tmp_path, monkeypatch):
    (tmp_path / "own" / "two.css").write_text("b {}")
    with monkeypatch.context() as patch:
        patch.setattr(prepare, "call_command", broken)
        with pytest.raises(OSError, match="No space"):
            prepare.collect_static()
    prepare.collect_static()
    assert list(collected.glob("two.*.css"))


@pytest.mark.django_db
def test_the_database_is_migrated_where_a_migration_is_left(monkeypatch):
    called: list[str] = []
    monkeypatch.setattr(prepare, "call_command", lambda name, **_: called.append(name))
    prepare.migrate()
    assert called == []
    app, last = max(MigrationRecorder(connection).applied_migrations(), key=lambda key: (key[0] == "workers", key[1]))
    MigrationRecorder(connection).record_unapplied(app, last)
    prepare.migrate()
    assert called == ["migrate"]


@pytest.mark.django_db
def test_who_waits_goes_on_only_once_all_is_there(monkeypatch, tmp_path):
    begun = tmp_path / "preparing"
    monkeypatch.setenv(preparing.NAME, "")  # put back afterwards
    preparing.begin(begun)
    monkeypatch.setattr(prepare, "call_command", lambda *_, **__: None)
    with monkeypatch.context() as patch, pytest.raises(CommandError, match="No space"):
        patch.setattr(prepare, "collect_static", broken)
        call_command("prepare")
    assert begun.exists()
    monkeypatch.setattr(prepare, "collect_static", lambda: False)
    call_command("prepare")
    assert not begun.exists()


@pytest.mark.once  # tests/annotation/test_sample.py loads it into each database
@pytest.mark.django_db
def test_the_sample_comes_once_and_only_where_it_is_asked_for(collected, capsys, monkeypatch):
    evaluated = []  # its runs: tests/benchmark/test_sample_results.py
    monkeypatch.setattr("benchmark.management.commands.load_sample.add_results", evaluated.append)
    call_command("prepare")
    assert "Sample log-ins" not in capsys.readouterr().out and not Project.objects.exists()
    call_command("prepare", sample=True)
    call_command("prepare", sample=True)
    assert capsys.readouterr().out.count("Sample log-ins") == 2
    assert {*evaluated} == {Project.objects.get()}
