"""A full disk, a damaged database file and a database that is away: one sentence, at the start as at work, and nothing
half done."""

import logging
import sqlite3
import stat
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.test import Client

from annotation.models import User
from config.log_filters import StorageFilter
from core.storage_trouble import sentence_of
from tests.commands import program, started

RECORD = '{"story_id": 1, "story_category": "Hinting Task", "story": "Ines waits.", "beliefs": []}\n'
MIGRATE = ["migrate", "-v", "0"]


def says_one_sentence(done, *parts: str) -> None:
    told = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert len(told) == 1 and all(part in told[0] for part in parts), done.stderr


@pytest.fixture(scope="module")
def installation(prepared, tmp_path_factory) -> Path:
    return prepared(tmp_path_factory.mktemp("installation") / "var")


def import_of(stories: Path, text: str = RECORD) -> list[str]:
    stories.write_text(text)
    return ["import_corpus", "omnitom", str(stories), "--project", "minds"]


def test_a_database_that_is_away_unprepared_or_damaged_is_one_sentence_at_the_start_and_at_work(tmp_path):
    at_work = import_of(tmp_path / "stories.jsonl")
    with program(tmp_path / "away", DATABASE_URL="postgres://credence:secret@127.0.0.1:1/minds") as run:
        for command in (MIGRATE, ["load_sample", "--once"], at_work):
            done = run(*command)
            says_one_sentence(done, "127.0.0.1:1/minds", "cannot be reached")
            assert "secret" not in done.stderr
    database = tmp_path / "var" / "credence.sqlite3"
    with program(database.parent) as run:
        says_one_sentence(run(*at_work), "credence.sqlite3", "make prepare")
        for content in (b"no database at all " * 400, b"SQLite format 3\0" + b"\xff" * 8000):
            database.write_bytes(content)
            for command in (MIGRATE, at_work):
                says_one_sentence(run(*command), "credence.sqlite3", "damaged")
                assert database.read_bytes() == content
    (tmp_path / "file").write_text("")  # where no folder can be made
    done = started(tmp_path / "file" / "var", "manage.py", "check")
    assert done.returncode == 1 and "Traceback" not in done.stderr and str(tmp_path / "file") in done.stderr


@pytest.mark.django_db(transaction=True)
def test_a_missing_table_or_column_is_told_apart_from_other_wrong_sql():
    told = []
    for sql in ("SELECT 1 FROM nowhere", "SELECT colour FROM annotation_story", "SELEC 1"):
        with pytest.raises(Exception) as caught, connection.cursor() as cursor:
            cursor.execute(sql)
        told.append(sentence_of(caught.value, place="Here"))
    missing, column, wrong = told
    assert missing == column and wrong is None
    assert missing.startswith("Here: it has no tables, or those of another version")


def test_a_full_disk_stops_an_import_with_one_sentence_and_keeps_nothing_half_done(installation):
    long = RECORD.replace("Ines waits.", "Ines waits. " * 2000 + "AT").replace(": 1,", ": AT,")
    importing = import_of(
        installation.parent / "many.jsonl", "".join(long.replace("AT", str(n)) for n in range(1, 200))
    )
    size = (installation / "credence.sqlite3").stat().st_size
    with program(installation) as run:
        says_one_sentence(run(*importing, limit=size + 200_000), "disk is full")
        held = sqlite3.connect(installation / "credence.sqlite3")
        whole, tables = (
            held.execute(f"SELECT count(*) FROM annotation_{name}").fetchone()[0] for name in ("story", "belieftable")
        )
        assert whole == tables and whole < 199  # stories that are kept are kept whole
        assert held.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        held.close()
        again = run(*importing)
        assert again.returncode == 0, again.stderr


# --- at work


@pytest.fixture
def full(db):
    """A SQLite database that cannot take another page."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL's own full disk cannot be made here; its code is tested below")
    with connection.cursor() as cursor:
        most = cursor.execute("PRAGMA max_page_count").fetchone()[0]
        free = cursor.execute("PRAGMA freelist_count").fetchone()[0]
        cursor.execute("CREATE TABLE filler (content BLOB)")
        cursor.execute("INSERT INTO filler VALUES (zeroblob(%s))", [4096 * (free + 1)])
        cursor.execute("PRAGMA max_page_count = 1")  # that is: as many as there are now
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA max_page_count = {most}")


def test_a_page_and_the_api_say_that_nothing_can_be_saved(cast, full):
    client = Client(raise_request_exception=False)
    client.force_login(cast.alice)
    answer = client.post("/p/minds/guidelines/order/", {"text": "Ines waits. " * 1600})
    assert answer.status_code == 503 and answer["Retry-After"] == "10"
    assert "Nothing can be saved just now" in answer.content.decode() and "sqlite3" not in answer.content.decode()
    User.objects.update(is_superuser=True)
    endpoint = {"name": "m", "provider": "scripted", "model": "m", "options": {"default": "Ines waits. " * 4000}}
    answer = client.post("/api/v1/endpoints/", endpoint, content_type="application/json")
    assert answer.status_code == 503, answer.content
    assert "nothing was saved" in answer.json()["error"]["message"] and answer["Retry-After"] == "10"


def of_postgresql(state: str) -> OperationalError:
    error = OperationalError("told by the server")
    error.__cause__ = Exception("told by the server")
    error.__cause__.sqlstate = state
    return error


def test_what_postgresql_says_by_its_code_is_a_sentence_and_stands_in_the_log_in_place_of_a_trace():
    for state, part in {
        "53100": "disk is full",
        "57P01": "cannot be reached",
        "08006": "cannot be reached",
        "28P01": "refuses the user",
        "3D000": "knows no such database",
        "XX001": "damaged",
        "25006": "cannot be opened or written",
    }.items():
        told = sentence_of(of_postgresql(state), place="db.example:5432/minds")
        assert part in told and told.startswith("db.example:5432/minds: ")
    assert sentence_of(of_postgresql("23505"), place="db.example:5432/minds") is None
    error = of_postgresql("53100")
    record = logging.LogRecord("django.request", logging.ERROR, "", 0, "Internal Server Error: %s", ("/p/",), None)
    record.exc_info = (type(error), error, None)
    assert StorageFilter().filter(record) and record.exc_info is None
    assert record.getMessage().startswith("Internal Server Error: /p/: ") and "disk is full" in record.getMessage()


def test_data_and_database_are_their_owner_s_alone_from_the_first_moment(installation, tmp_path):
    def modes(*paths: Path) -> set[int]:
        return {stat.S_IMODE(path.stat().st_mode) for path in paths}

    database, elsewhere = installation / "credence.sqlite3", tmp_path / "shared" / "minds.sqlite3"
    assert modes(installation) == {0o700} and modes(database) == {0o600}
    installation.chmod(0o755)
    database.chmod(0o644)
    assert started(installation, "-c", "import config.settings").returncode == 0
    assert modes(installation) == {0o700} and modes(database) == {0o600}
    with program(tmp_path / "var", DATABASE_URL=f"sqlite:///{elsewhere}") as run:
        done = run(*MIGRATE, "contenttypes")  # the first tables are enough
        assert done.returncode == 0, done.stderr
    assert elsewhere.stat().st_size and modes(*elsewhere.parent.iterdir()) == {0o600}
