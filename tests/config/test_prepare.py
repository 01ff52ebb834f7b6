"""What precedes a start: static files are collected when something has changed, who needs them waits for them, and a
site that others reach never meets the sample's password."""

import json
import re
import shutil
import threading
from pathlib import Path

import pytest
from django.conf import settings as own_settings
from django.core.files.storage import FileSystemStorage
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from annotation.management.commands import prepare
from annotation.models import Project, User
from annotation.services.sample import PASSWORD
from config.static_files import HashedFiles
from core import preparing
from tests.patience import PATIENCE

OTHER = "another-long-password"
OWN = Path(own_settings.BASE_DIR, "static")
IMPORT = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](\.[^"']*)["']""")


@pytest.fixture
def collected(settings, tmp_path) -> Path:
    own = tmp_path / "own"
    own.mkdir()
    (own / "one.css").write_text("a { color: red }")
    settings.STATIC_ROOT, settings.STATICFILES_DIRS = str(tmp_path / "static"), [own]
    # Of all apps' files it takes seconds: tests/config/test_web.py prepares them.
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "config.static_files.HashedFiles"}}
    prepare.collect_static()
    return tmp_path / "static"


def broken(*_, **__):
    raise OSError("No space left on device")


def made(folder: Path) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}


def test_static_files_are_collected_where_something_changed_or_was_not_finished(collected, tmp_path, monkeypatch):
    before = made(collected)
    assert not prepare.collect_static()
    assert made(collected) == before and len(list(collected.glob("one.*.css"))) == 1
    (tmp_path / "own" / "one.css").write_text("a { color: tan }")
    assert prepare.collect_static()
    assert any("tan" in file.read_text() for file in collected.glob("one.*.css"))
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
    monkeypatch.delenv(preparing.NAME, raising=False)
    preparing.wait()  # where nothing is being prepared nobody waits
    begun = tmp_path / "var" / "preparing"
    monkeypatch.setenv(preparing.NAME, "")  # put back afterwards
    preparing.begin(begun)
    waiting = threading.Thread(target=preparing.wait, daemon=True)
    waiting.start()
    monkeypatch.setattr(prepare, "call_command", lambda *_, **__: None)
    with monkeypatch.context() as patch, pytest.raises(CommandError, match="No space"):
        patch.setattr(prepare, "collect_static", broken)
        call_command("prepare")
    waiting.join(5 * preparing.LOOK_SECONDS)
    assert begun.exists() and waiting.is_alive()
    monkeypatch.setattr(prepare, "collect_static", lambda: False)
    call_command("prepare")
    waiting.join(PATIENCE)
    assert not begun.exists() and not waiting.is_alive()


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


@pytest.mark.django_db
def test_others_never_meet_a_new_sample_or_its_password(monkeypatch, settings, request):
    """A site on every address, whose static files need no collecting."""
    monkeypatch.setattr(prepare, "collect_static", lambda: False)
    settings.HOST, settings.OPEN_TO_OTHERS = "0.0.0.0", True
    with pytest.raises(CommandError, match=r"HOST is 0\.0\.0\.0, so others can reach.*Start with SAMPLE=0"):
        call_command("prepare", sample=True)
    assert not User.objects.exists() and not Project.objects.exists()
    call_command("prepare")
    request.getfixturevalue("cast")
    call_command("prepare", sample=True)  # loads nothing where a project exists
    ada = User.objects.create_user("ada", password=PASSWORD)
    User.objects.create_user("bruno", password=OTHER)
    User.objects.create_user("dalia", password=PASSWORD, is_active=False)
    for sample in (True, False):
        with pytest.raises(CommandError, match=r"the password of ada is the sample's.*manage\.py changepassword NAME"):
            call_command("prepare", sample=sample)
    settings.OPEN_TO_OTHERS = False
    call_command("prepare", sample=True)  # this machine is served it
    settings.OPEN_TO_OTHERS = True
    ada.set_password(OTHER)
    ada.save()
    call_command("prepare", sample=True)


# --- scripts, which are asked for by the hash of what is in them: what a browser kept is never stale


def test_every_import_names_a_collected_file_by_its_hash(prepared, tmp_path):
    static = prepared(tmp_path / "var") / "static"
    hashed = json.loads((static / "staticfiles.json").read_text("utf-8"))["paths"]
    scripts = [static / hashed[one.relative_to(OWN).as_posix()] for one in OWN.rglob("*.js")]
    imported = [(one.parent / name).resolve() for one in scripts for name in IMPORT.findall(one.read_text("utf-8"))]
    assert len(imported) >= 7
    assert [one for one in imported if not one.is_file()] == []
    assert {one.relative_to(static.resolve()).as_posix() for one in imported} <= set(hashed.values())


def test_a_changed_module_renames_whatever_imports_it_at_first_or_second_hand(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()

    def stored(to: Path) -> dict[str, str]:
        shutil.copytree(folder, to)
        paths = {one.name: (FileSystemStorage(folder), one.name) for one in folder.iterdir()}
        found = HashedFiles(location=to, base_url="/static/").post_process(paths)
        return {name: hashed for name, hashed, _ in found if hashed and name in paths}

    (folder / "page.js").write_text('import { two } from "./module.js";\n')
    (folder / "module.js").write_text('import { one } from "./deep.js";\nexport const two = one + 1;\n')
    (folder / "deep.js").write_text("export const one = 1;\n")
    (folder / "other.js").write_text("const nothing = 0;\n")
    before = stored(tmp_path / "before")
    (folder / "deep.js").write_text("export const one = 11;\n")
    after = stored(tmp_path / "after")
    assert {name for name in before if before[name] != after[name]} == {"page.js", "module.js", "deep.js"}
    assert f'"./{after["deep.js"]}"' in (tmp_path / "after" / after["module.js"]).read_text()
