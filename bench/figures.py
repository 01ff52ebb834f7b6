"""Keep every figure of the sample's pages, and compare two such files: `python bench/figures.py write FILE`,
`python bench/figures.py compare BEFORE AFTER`.

`write` makes a fresh sample with question sets and runs, follows links from the first page as a project admin, and
keeps each row of a table and each number outside of tables. `compare` lists the figures of the first file that the
second does not have, and ends with 1 if there are any. Figures are compared as they are printed, without times and
identifiers; a figure that moved to another page is not missing.

Arms and samples of items are drawn again in each sample, and of some pages only a few are opened. Two files of one
version differ in these: compare those first.
"""

import argparse
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict, deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared"
EACH = 14
"""Addresses opened of one name, with other arguments or filters: enough for every suite and every parse."""
TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|\+\d\d:?\d\d)?)?|\b\d\d:\d\d(?::\d\d)?\b"
    r"|\b\d+(?:\.\d+)?\s(?:ms|s|seconds?|minutes?|hours?|days?) ago"
    r"|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* \d{4}"
)
COMPUTING = b'<meta http-equiv="refresh" content="1">'
"""A page whose figures are being computed asks again."""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
LEFT_OUT = ("script", "style", "nav", "footer", "svg")
IDENTIFIER = re.compile(r"\b(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-z0-9]{8,}\b")
SETS = {"opentom": "data/OpenToM", "percept-tomi": "data/Percept-ToMi/Percept-ToMi.csv", "tombench": "data/ToMBench"}
RUNS = (
    ("fantom", "random", "--limit", 40),
    ("opentom", "random", "--limit", 120, "--repetitions", 3),
    ("opentom", "majority", "--limit", 120),
    ("percept-tomi", "random", "--limit", 60, "--method", "plain", "--method", "cot"),
    ("tombench", "random", "--limit", 200, "--control", "renamed", "--control", "storyless"),
    ("tombench", "first-option", "--limit", 200),
)
"""Suite, baseline and options of `run_benchmark`."""


def plain(text: str) -> str:
    return IDENTIFIER.sub("·", TIME.sub("·", " ".join(text.split())))


class Reader(HTMLParser):
    """Rows of tables, sentences with a digit outside of tables, and the addresses that a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self._open: Counter = Counter()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self._open[tag] += 1
        self.links += [value for name, value in attributes if name in ("href", "hx-get") and tag != "link" and value]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            (self.rows or self.rows.append([]) or self.rows)[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open[tag] -= 1

    def handle_data(self, data: str) -> None:
        if any(self._open[tag] > 0 for tag in LEFT_OUT):
            return
        if self._open["table"] > 0:
            if self.rows and self.rows[-1]:
                self.rows[-1][-1] += " " + data
        elif self._open["body"] > 0 and re.search(r"\d", data):
            self.texts.append(plain(data))


def figures_of_html(content: str) -> dict[str, list]:
    """The rows of all tables of a page, and the sentences outside of them that have a digit."""
    reader = Reader()
    reader.feed(content)
    rows = [[plain(cell) for cell in row] for row in reader.rows]
    return {"rows": [row for row in rows if any(row)], "numbers": sorted(set(reader.texts))}


def figures_of(response) -> dict[str, list]:
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    content = b"".join(response.streaming_content) if response.streaming else response.content
    if kind == "text/html":
        return figures_of_html(content.decode())
    if kind == "text/csv":
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig")))
        return {"rows": [[plain(cell) for cell in line] for line in lines]}
    if kind in ("application/json", "text/plain", "application/x-tex", "text/x-tex"):
        return {"numbers": sorted({plain(line) for line in content.decode().splitlines() if re.search(r"\d", line)})}
    return {}


def links_of(content: str, address: str) -> list[str]:
    reader = Reader()
    reader.feed(content)
    parts = [urlsplit(urljoin("http://testserver" + address, link)) for link in reader.links]
    return [part.path + (f"?{part.query}" if part.query else "") for part in parts if part.netloc == "testserver"]


def crawl(client) -> dict[str, dict]:
    """Figures by the name of the address and the number of the visit, breadth first."""
    from django.urls import Resolver404, resolve

    waiting, seen, pages = deque(["/"]), {"/"}, {}
    visits: Counter = Counter()
    while waiting:
        address = waiting.popleft()
        try:
            name = resolve(address.partition("?")[0]).view_name
        except Resolver404:
            continue
        if visits[name] >= EACH or name == "logout":
            continue
        visits[name] += 1
        response = client.get(address, follow=True)
        while COMPUTING in getattr(response, "content", b""):
            time.sleep(1)
            response = client.get(address, follow=True)
        if response.status_code >= 500:
            print("failed:", response.status_code, address, file=sys.stderr)
        pages[f"{name} {visits[name]}"] = {"status": response.status_code, **figures_of(response)}
        if response.headers.get("Content-Type", "").startswith("text/html") and response.content.strip():
            for link in links_of(response.content.decode(), response.request["PATH_INFO"]):
                if link not in seen:
                    seen.add(link)
                    waiting.append(link)
    return pages


def command(*arguments: object) -> None:
    """Run a command of the product. Raises CalledProcessError where it fails: a file would lack its figures."""
    subprocess.run([sys.executable, "manage.py", *map(str, arguments)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def make_runs(folder: Path) -> None:
    """Question sets from reference data, where they are, and runs of baselines over them, in the sample's project."""
    questions = DATA / "data/FANToM/flattened_fantom.csv"
    making = [sys.executable, ROOT / "bench/make_fantom.py", folder / "fantom", "--questions", questions]
    subprocess.run(making, check=True, stdout=subprocess.DEVNULL)
    for suite, path in {"fantom": folder / "fantom", **{name: DATA / path for name, path in SETS.items()}}.items():
        command("import_suite", suite, path, "--project", "sample")
    for suite, baseline, *options in RUNS:
        command("run_benchmark", "--project", "sample", "--suite", suite, "--endpoint", baseline, *options, "--wait")


def write(target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("CREDENCE_VAR", folder)
        sys.path.insert(0, str(ROOT))
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        command("prepare", "--sample")
        make_runs(Path(folder))
        import django

        django.setup()
        from django.conf import settings
        from django.test import Client

        from annotation.models import User

        settings.ALLOWED_HOSTS = ["*"]
        client = Client(raise_request_exception=False)
        client.force_login(User.objects.get(username="admin"))
        pages = crawl(client)
    target.write_text(json.dumps(pages, ensure_ascii=False, indent=1, sort_keys=True))
    print(json.dumps({"pages": len(pages), "rows": sum(len(page.get("rows", ())) for page in pages.values())}))


def by_name(pages: dict[str, dict]) -> dict[str, Counter]:
    """How often each row of a table and each sentence with a number stands on the pages of one name."""
    counted: dict[str, Counter] = defaultdict(Counter)
    for key, page in pages.items():
        name = key.rpartition(" ")[0]
        counted[name].update(" | ".join(row) for row in page.get("rows", ()))
        counted[name].update(page.get("numbers", ()))
    return counted


def compare(before: Path, after: Path) -> int:
    old, new = (by_name(json.loads(path.read_text())) for path in (before, after))
    everywhere = Counter(line for lines in new.values() for line in lines)
    lost = 0
    for name in sorted(old):
        missing = [line for line in old[name] if line not in new.get(name, ()) and line not in everywhere]
        lost += len(missing)
        if missing:
            print(f"{name}: {len(missing)} of {len(old[name])} lines are gone")
            for line in missing[:8]:
                print("   ", line[:200])
    return 1 if lost else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    sys.exit(write(options.files[0]) if options.action == "write" else compare(*options.files))
