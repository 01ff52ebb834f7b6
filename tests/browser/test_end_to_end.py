"""The whole way in real Chromium against the product's own server, as `make serve` starts it: three people label a
story by keyboard, the server is killed meanwhile and started again, an expert settles the rest, the export holds it."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from tests.browser.waiting import wait_until
from tests.forks import Fork, Forks
from tests.patience import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.dear]

PASSWORD = "long enough to pass"
ANNOTATORS = ("ada", "bo", "cy")
ROWS = [("world", "The key is in the drawer.")] + [
    (actor, f"The key is in the {place}.")
    for actor in ("Ines", "Tomas", "Helena", "Mr. Varga")
    for place in ("bag", "drawer")
]
MAJORITY, OPEN = {2, 6}, {4, 5, 8}
PREPARATION = """
import json
from django.core.management import call_command
from django.test import Client
from annotation.models import Membership, Project, User
project = Project.objects.create(slug="minds", name="Minds", overlap=3, speed_floor_ms=0)
cookies = dict()
for name in {people!r}:
    user = User.objects.create_user(name, password={password!r} if name == "ada" else None)
    Membership.objects.create(project=project, user=user, role="expert" if name == "eve" else "annotator")
    client = Client()
    client.force_login(user)
    cookies[name] = [[one, morsel.value] for one, morsel in client.cookies.items()]
call_command("import_corpus", "omnitom", {stories!r}, "--project", "minds", stdout=open("/dev/null", "w"))
call_command("assign", "--project", "minds", "--annotators", {annotators!r}, stdout=open("/dev/null", "w"))
print(json.dumps(cookies))
"""


class Server:
    """The product with a database of its own; `kill` is SIGKILL to all of its processes."""

    def __init__(self, var: Path, forks: Forks, port: int) -> None:
        self.var, self.forks, self.port = var, forks, port
        self.process: Fork | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def manage(self, *arguments: str) -> str:
        log = self.var / f"{arguments[0]}.log"
        code = self.forks.start("manage", *arguments, log=log).wait()
        assert code == 0, log.read_text()
        return log.read_text()

    def start(self) -> None:
        self.process = self.forks.start("config.web", log=self.var / "web.log")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def server(prepared, tmp_path):
    var = prepared(tmp_path / "var")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    own = {
        "CREDENCE_VAR": str(var),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PORT": str(port),
        "WORKERS": "2",
        "THREADS": "4",
    }
    with Forks(inherited | own) as forks:
        running = Server(var, forks, port)
        yield running
        running.kill()


@pytest.fixture
def cookies(server, tmp_path) -> dict[str, list[list[str]]]:
    """The project as it is prepared, and the cookies of people who are logged in, by their names."""
    record = {
        "story_id": 7,
        "story_category": "False Belief Task",
        "story": "Ines puts the key in the bag. Tomas moves it to the drawer; Helena and Mr. Varga are at the ferry.",
        "beliefs": [{"actor": actor, "belief": belief} for actor, belief in ROWS],
    }
    stories = tmp_path / "story.jsonl"
    stories.write_text(json.dumps(record) + "\n")
    prepared_by = PREPARATION.format(
        people=(*ANNOTATORS, "eve"), password=PASSWORD, stories=str(stories), annotators=",".join(ANNOTATORS)
    )
    told = server.manage("shell", "-v", "0", "-c", prepared_by)
    server.start()
    return json.loads(told.splitlines()[-1])


@pytest.fixture
def visit(browser, server, cookies):
    """Opens a window of a person's own: Ada logs in through the form, by keyboard, the others have."""
    contexts = []

    def enter(name: str):
        context = browser.new_context(base_url=server.url, viewport={"width": 1280, "height": 800})
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()
        if name != "ada":
            context.add_cookies([{"name": one, "value": value, "url": server.url} for one, value in cookies[name]])
            return page
        page.goto("/login/")
        page.focus("[name=username]")
        for key in (name, "Tab", PASSWORD, "Enter"):
            page.keyboard.press(key) if key in ("Tab", "Enter") else page.keyboard.type(key)
        page.get_by_role("heading", name="Your projects", level=1).wait_for()
        return page

    yield enter
    for context in contexts:
        context.close()


def digits(row: int, person: int) -> list[str]:
    """What annotator `person` presses on row `row` (both from 0): agreed but for the content types of some rows."""
    content = 1 + row % 4
    if row in OPEN or (row in MAJORITY and person == 2):
        content += person + 1
    return ["0" if row == 0 else "1", "1", "2", "1", str(content), "1" if row == 0 else "2", "4"]


def expected(row: int) -> dict[str, str]:
    chosen = digits(row, 0)
    return {
        one.key: next(label.value for label in one.labels if label.digit == int(digit))
        for one, digit in zip(DEFAULT_SCHEMA.dimensions, chosen, strict=True)
    }


def open_by_keyboard(page, selector: str) -> None:
    link = page.locator(selector).first
    link.wait_for()
    for _ in range(60):
        if link.evaluate("one => one === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def test_three_people_a_killed_server_an_expert_and_the_export(server, visit, tmp_path):
    for person, name in enumerate(ANNOTATORS):
        page = visit(name)
        page.goto("/p/minds/work/")
        open_by_keyboard(page, "main a[href*='/p/minds/work/']")
        page.wait_for_selector("html[data-grid-ready]", state="attached")
        for row in range(len(ROWS)):
            if person == 1 and row == 4:
                server.kill()
            page.keyboard.type("".join(digits(row, person)))
            if person == 1 and row == 6:
                page.wait_for_selector("#save-state >> text=not saved")
                server.start()
        page.wait_for_selector("#finished:not([hidden])")
        wait_until(page, "document.getElementById('save-state').textContent === 'all saved'")
        assert page.inner_text("#progress-text") == f"{7 * len(ROWS)} / {7 * len(ROWS)}"

    page = visit("eve")
    page.goto("/p/minds/adjudication/")
    open_by_keyboard(page, "main a[href*='/adjudication/story/']")
    page.wait_for_selector("[data-keys] .cell-current")
    content = DEFAULT_SCHEMA["content_type"]
    for left, row in zip(range(len(OPEN), 0, -1), sorted(OPEN), strict=True):
        assert page.text_content("#todo") == str(left)
        page.keyboard.press(str(content.digit(expected(row)["content_type"])))
        page.wait_for_selector(f"#todo >> text={left - 1}")
        page.keyboard.press("Enter")

    gold = tmp_path / "gold.jsonl"
    server.manage("export_gold", "--project", "minds", "--format", "omnitom", "--output", str(gold))
    (record,) = map(json.loads, gold.read_text().splitlines())
    assert [belief["labels"] for belief in record["beliefs"]] == [expected(row) for row in range(len(ROWS))]
    votes = tmp_path / "votes.csv"
    server.manage("export_gold", "--project", "minds", "--format", "long-csv", "--output", str(votes))
    assert len(votes.read_text().splitlines()) == 1 + 3 * 7 * len(ROWS)
