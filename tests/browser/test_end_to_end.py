"""The whole way of a bare story in real Chromium against the product's own server, as `make serve` starts it, by
keyboard: two experts write its belief table apart, one reconciles them, three people label it, an expert settles the
rest, an admin publishes the gold. In the middle of each the server is killed and started again; the export holds all.
What documentation says of how many keys a row and a cell take is counted on the way."""

import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from tests.browser.driving import press, wait_until
from tests.forks import Fork, Forks
from tests.patience import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.dear]

PASSWORD = "long enough to pass"
ANNOTATORS = ("ada", "bo", "cy")
PEOPLE = dict.fromkeys(ANNOTATORS, "annotator") | {"eve": "expert", "ed": "expert", "ann": "admin"}
ROWS = [("world", "The key is in the drawer.")] + [
    (actor, f"The key is in the {place}.")
    for actor in ("Ines", "Tomas", "Helena", "Mr. Varga")
    for place in ("bag", "drawer")
]
PUBLISHED = """
import json
from annotation.models import Project
from benchmark.services.gold_samples import present_digest
project = Project.objects.get()
digest = present_digest(project)
print(json.dumps([[one.version, one.digest == digest, one.samples.count()] for one in project.datasets.all()]))
"""
COUNT_KEYS = """addEventListener("keydown", ({ key, altKey, ctrlKey, target }) => {
  const isLetter = key.length === 1 && !altKey && !ctrlKey && target.matches("input, textarea");
  if (isLetter || ["Alt", "Control", "Shift"].includes(key)) return;
  sessionStorage.keys = 1 + Number(sessionStorage.keys ?? 0);
}, true)"""
"""Counts what reaches the page: a key with its modifiers is one, and letters of words that are written are none."""
MAJORITY, OPEN = {2, 6}, {4, 5, 8}
PREPARATION = """
import json
from django.core.management import call_command
from django.test import Client
from annotation.models import Membership, Project, User
project = Project.objects.create(slug="minds", name="Minds", overlap=3, speed_floor_ms=0, table_experts=2)
cookies = dict()
for name, role in {people!r}.items():
    user = User.objects.create_user(name, password={password!r} if name == "ada" else None)
    Membership.objects.create(project=project, user=user, role=role)
    client = Client()
    client.force_login(user)
    cookies[name] = [[one, morsel.value] for one, morsel in client.cookies.items()]
call_command("import_corpus", "omnitom", {stories!r}, "--project", "minds", stdout=open("/dev/null", "w"))
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
        self._wait_until_it(listens=True)

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self._wait_until_it(listens=False)  # its workers are waited for by nobody, and hold the port till they end

    def _wait_until_it(self, *, listens: bool) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with socket.socket() as probe:
                probe.settimeout(1)
                if (probe.connect_ex(("127.0.0.1", self.port)) == 0) == listens:
                    return
            time.sleep(0.1)
        raise AssertionError("the server did not start" if listens else "the server did not end")


@pytest.fixture
def server(prepared, tmp_path):
    var = prepared(tmp_path / "var")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    own = {"CREDENCE_VAR": str(var), "DJANGO_SETTINGS_MODULE": "config.settings", "PORT": str(port)}
    own |= {"WORKERS": "2", "THREADS": "4"}
    with Forks(inherited | own) as forks:
        running = Server(var, forks, port)
        yield running
        running.kill()


@pytest.fixture
def cookies(server, tmp_path) -> dict[str, list[list[str]]]:
    """The project as it is prepared, and the cookies of people who are logged in, by their names."""
    text = "Ines puts the key in the bag. Tomas moves it to the drawer; Helena and Mr. Varga are at the ferry."
    record = {"story_id": 7, "story_category": "False Belief Task", "story": text, "beliefs": []}
    stories = tmp_path / "story.jsonl"
    stories.write_text(json.dumps(record) + "\n")
    prepared_by = PREPARATION.format(people=PEOPLE, password=PASSWORD, stories=str(stories))
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
        context.add_init_script(COUNT_KEYS)
        page = context.new_page()
        if name != "ada":
            context.add_cookies([{"name": one, "value": value, "url": server.url} for one, value in cookies[name]])
            return page
        page.goto("/login/")
        page.focus("[name=username]")
        for text, key in ((name, "Tab"), (PASSWORD, "Enter")):
            press(page, [text], key)
        page.wait_for_url("**/p/minds/work/")
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


def keys_pressed(page) -> int:
    """Return how many keys were pressed in this window since it was asked last."""
    return page.evaluate("[Number(sessionStorage.keys ?? 0), delete sessionStorage.keys][0]")


def open_by_keyboard(page, address: str, selector: str, leads_to: str = "") -> None:
    """Open the page at the address and, by Tab and Enter, what the selector names; wait for what that leads to, which
    has no keys counted yet."""
    page.goto(address)
    link = page.locator(selector).first
    link.wait_for()
    for _ in range(60):
        if link.evaluate("one => one === document.activeElement"):
            break
        press(page, "Tab")
    press(page, "Enter")
    if leads_to:
        page.wait_for_selector(leads_to, state="attached")


REWORDED, ONLY_EVE, ONLY_ED = 3, 7, 2
"""Rows that Ed puts otherwise, that Ed does not have, and that Eve does not have."""


def wait_saved(page) -> None:
    wait_until(page, "document.getElementById('save-state').textContent === 'all saved'")


def write_table(page, server, rows: list[tuple[str, str]], *, killed_before: int | None = None) -> None:
    """Write a draft and hand it in; before one of its rows the server is killed, and started again two rows later."""
    open_by_keyboard(page, "/p/minds/tables/", "main a[href*='/draft/']", "html[data-draft-ready]")
    keys_pressed(page)
    for at, (actor, belief) in enumerate(rows):
        if at == killed_before:
            server.kill()
        if at:
            press(page, "Enter")
        offered = page.evaluate("[...document.querySelectorAll('#names [data-actor]')].map((one) => one.dataset.actor)")
        press(page, f"Alt+{1 + offered.index(actor)}", [belief])
        if killed_before is not None and at == killed_before + 2:
            page.wait_for_selector("#trouble:not([hidden])")
            server.start()
    assert len(rows) <= keys_pressed(page) <= 2 * len(rows), "of a row: its actor's number, and Enter for the next"
    wait_saved(page)
    press(page, "Alt+h")
    page.wait_for_selector("#hand-in[open]")
    press(page, "Enter")
    page.wait_for_selector("text=Your table is handed in.")


def reconcile(page, server) -> None:
    open_by_keyboard(page, "/p/minds/tables/", "main a[href*='/reconcile/']", "text=Open the reconciliation")
    press(page, "Enter")
    page.wait_for_selector("html[data-pairs-ready]", state="attached")
    assert page.inner_text("#count") == "3 of 9 rows to decide"
    keys_pressed(page)
    press(page, "a")
    wait_saved(page)
    server.kill()
    press(page, "a")
    page.wait_for_selector("#trouble:not([hidden])")
    server.start()
    press(page, "b")
    wait_saved(page)
    assert keys_pressed(page) == 3, "one a row to decide"
    press(page, "f", "Enter")
    page.wait_for_selector("text=Where the table of story 7 comes from")


def label(page, server, person: int) -> None:
    open_by_keyboard(page, "/p/minds/work/", "main a[href*='/p/minds/work/']", "html[data-grid-ready]")
    keys_pressed(page)
    for row in range(len(ROWS)):
        if person == 1 and row == 4:
            server.kill()
        press(page, ["".join(digits(row, person))])
        if person == 1 and row == 6:
            page.wait_for_selector("#save-state >> text=not saved")
            server.start()
    page.wait_for_selector("#finished:not([hidden])")
    wait_saved(page)
    assert keys_pressed(page) == 7 * len(ROWS), "one a cell"
    assert page.inner_text("#progress-text") == f"{7 * len(ROWS)} / {7 * len(ROWS)}"


def adjudicate(page, server) -> None:
    story = "main a[href*='/adjudication/story/']"
    open_by_keyboard(page, "/p/minds/adjudication/", story, "[data-keys] .cell-current")
    content = DEFAULT_SCHEMA["content_type"]
    keys_pressed(page)
    for left, row in zip(range(len(OPEN), 0, -1), sorted(OPEN), strict=True):
        assert page.text_content("#todo") == str(left)
        if left == 2:
            server.kill()
        press(page, str(content.digit(expected(row)["content_type"])))
        if left == 2:
            page.wait_for_selector("#save-state >> text=not saved")
            server.start()
        page.wait_for_selector(f"#todo >> text={left - 1}")
        wait_saved(page)
        assert keys_pressed(page) <= 2, "of a cell: its label, and Enter for the next"
        press(page, "Enter")


def publish(page, server) -> None:
    """Publish the gold; the server is killed as soon as it is asked to, and then there is no version or a whole one."""
    button = "main form[action$='/publish/'] button"
    with page.expect_request("**/publish/"):
        open_by_keyboard(page, "/p/minds/datasets/", button)
    server.kill()
    server.start()
    assert published(server) in ([], [[1, True, 1]])
    open_by_keyboard(page, "/p/minds/datasets/", button, "text=version 1")
    page.wait_for_selector("tbody tr")
    assert published(server) == [[1, True, 1]]


def published(server) -> list[list]:
    """Return of each version its number, whether its digest is that of the gold as it stands, and its samples."""
    return json.loads(server.manage("shell", "-v", "0", "-c", PUBLISHED).splitlines()[-1])


@pytest.mark.path
def test_a_bare_story_becomes_published_gold_by_keyboard_and_kills_lose_nothing(server, visit, tmp_path):
    eves = [row for at, row in enumerate(ROWS) if at != ONLY_ED]
    eds = [row for at, row in enumerate(ROWS) if at != ONLY_EVE]
    eds[REWORDED] = (ROWS[REWORDED][0], "The key must be lying in the bag.")
    write_table(visit("eve"), server, eves, killed_before=3)
    write_table(visit("ed"), server, eds)
    reconcile(visit("eve"), server)
    server.manage("assign", "--project", "minds", "--annotators", ",".join(ANNOTATORS))
    for person, name in enumerate(ANNOTATORS):
        label(visit(name), server, person)
    adjudicate(visit("eve"), server)
    publish(visit("ann"), server)

    gold = tmp_path / "gold.jsonl"
    server.manage("export_gold", "--project", "minds", "--format", "omnitom", "--output", str(gold))
    (record,) = map(json.loads, gold.read_text().splitlines())
    assert [(belief["actor"], belief["belief"]) for belief in record["beliefs"]] == [*eves, ROWS[ONLY_ED]]
    assert [belief["labels"] for belief in record["beliefs"]] == [expected(row) for row in range(len(ROWS))]
    votes = tmp_path / "votes.csv"
    server.manage("export_gold", "--project", "minds", "--format", "long-csv", "--output", str(votes))
    assert len(votes.read_text().splitlines()) == 1 + 3 * 7 * len(ROWS)
