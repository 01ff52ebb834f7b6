"""The vectors of ToMBench, and a small copy of its folder to be damaged."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites.copies import Imported
from benchmark.suites.questions import Sample
from benchmark.suites.tombench import data
from benchmark.suites.tombench.data import OfferedOptions


@pytest.fixture(scope="session")
def vectors(shared: Path) -> dict[str, Any]:
    return json.loads((shared / "vectors" / "tombench" / "vectors.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def tombench(shared: Path) -> Imported:
    return data.load(shared / "data" / "ToMBench")


@pytest.fixture(scope="session")
def vector_items(vectors: dict[str, Any], tombench: Imported) -> dict[tuple[str, str], Sample]:
    """The questions of the vectors by language and their name there: the task and the place in its file, from 0."""
    held = {(sample.split, data.question_id(sample, 0)[:-2]): sample for sample in tombench.samples}
    names = [f"{task}/{one['line']}" for task, items in vectors["items"].items() for one in items]
    return {(language, name): held[language, name] for language in ("en", "zh") for name in names}


@pytest.fixture(scope="session")
def tries(vector_items) -> dict[str, dict[str, OfferedOptions]]:
    """The options of every try, by language and question of the vectors, in the official order."""
    orders = data.released_orders([*vector_items.values()])
    shown: dict[str, dict[str, OfferedOptions]] = {"en": {}, "zh": {}}
    for (language, name), sample in vector_items.items():
        for attempt, order in enumerate(orders[sample.key]):
            shown[language][f"{name}/{attempt}"] = data.show(data.options_of(sample), order)
    return shown


TEXTS = {
    "en": ("Ines hides the key in the box.", "Where is the key?", ["A. Drawer", "B.Box", "Bag", "D: Vase"]),
    "zh": ("伊内斯把钥匙藏在盒子里。", "钥匙在哪里？", ["A.抽屉", "B. 盒子"]),
}
"""A question in our own words."""


def question(language: str = "en", **content: Any) -> Sample:
    held = dict(zip(("story", "question", "options"), TEXTS[language], strict=True)) | content
    gold = {"answer": "B", "cell": "B", "ability": "Belief: Location false beliefs"}
    return Sample(f"second-task:1:{language}", "second-task:1", held, gold, category="Second Task", split=language)


def record(**changed: object) -> dict[str, object]:
    """One line of a file."""
    texts = dict(zip(("STORY", "QUESTION", "故事", "问题"), (*TEXTS["en"][:2], *TEXTS["zh"][:2]), strict=True))
    options = {"选项": ("A.抽屉", "B. 盒子", "C: 书包", "D. 花瓶"), "OPTION-": ("Drawer", "B. Box", "Bag", "Vase")}
    lettered = {prefix + "ABCD"[at]: text for prefix, held in options.items() for at, text in enumerate(held)}
    gold = {"能力\nABILITY": "Belief: Location false beliefs", "序号\nINDEX": 1, "答案\nANSWER": "B"}
    return texts | lettered | gold | changed


def released(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Take the files of a folder for those of ToMBench, and return the folder."""
    files = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.jsonl"))}
    patch.setattr(data, "DIGESTS", files)
    return folder


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a folder of two files, the second of them with the given lines, that counts as ToMBench."""

    def write(*lines: object) -> Path:
        texts = [line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines]
        (tmp_path / "First Task.jsonl").write_bytes(json.dumps(record()).encode() + b"\n")
        (tmp_path / "Second Task.jsonl").write_bytes(b"".join(text + b"\n" for text in texts))
        (tmp_path / "LICENSE").write_text("Use it well.")
        return released(monkeypatch, tmp_path)

    return write
