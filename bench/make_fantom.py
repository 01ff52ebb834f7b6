"""Makes a copy of FANToM of its real size: `python bench/make_fantom.py FOLDER --questions flattened_fantom.csv
[--perceived Percept-FANToM.csv]`.

The released file is in no repository. Questions, options and their order are the real ones, from the list of questions
that comes with PercepToM: the right option is found by drawing the order again as the released code does. Conversations
are real where Percept-FANToM has them. Who knows what is made up, from the beliefs.
"""

import argparse
import csv
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ORDER_SEED = 99
Row = Mapping[str, str]
_OPTIONS = re.compile(r"^(.*?)\n\(a\) (.*?)\n\(b\) (.*?)\n\nChoose an answer", re.DOTALL)


def make(folder: Path, questions: Path, perceived: Path | None = None) -> Path:
    """Write fantom_v1.json to a folder and return its path."""
    with questions.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    told = _conversations(perceived) if perceived else {}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "fantom_v1.json"
    file.write_text(json.dumps(list(_records(rows, told))), encoding="utf-8")
    return file


def _conversations(perceived: Path) -> dict[str, str]:
    parts: dict[str, list[str]] = {}
    with perceived.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            parts.setdefault(row["part_id"], []).append(row["utterance"])
    return {part: "\n".join(lines) for part, lines in parts.items()}


def _records(rows: Sequence[Row], told: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    sets: dict[str, list[Row]] = {}
    for row in rows:
        sets.setdefault(row["set_id"], []).append(row)
    draws, spare = random.Random(ORDER_SEED), list(told.values()) or ["Ana: Hello.\nBen: Hello, Ana."]
    for number, (set_id, of_set) in enumerate(sets.items()):
        text = told.get(set_id.rsplit("-", 1)[0], spare[number % len(spare)])
        yield _record(set_id, of_set, text, draws)


def _record(set_id: str, rows: Sequence[Row], text: str, draws: random.Random) -> dict[str, Any]:
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row["question_type"], []).append(row)
    beliefs = [_belief(row, draws) for row in rows if row["question_type"].endswith("multiple-choice")]
    record: dict[str, Any] = {
        "conv_id": int(set_id.split("-")[0]),
        "part_id": set_id.rsplit("-", 1)[0],
        "set_id": set_id,
    }
    record |= {"short_context": text, "full_context": text, "beliefQAs": beliefs}
    record["factQA"] = {"question": kinds["fact"][0]["question"], "correct_answer": beliefs[0]["correct_answer"]}
    for topic, name in (("answerability", "answerability"), ("info_accessibility", "infoAccessibility")):
        record |= _knowing(name, kinds[f"tom:{topic}:list"][0], kinds[f"tom:{topic}:binary"], beliefs)
    return record


def _belief(row: Row, draws: random.Random) -> dict[str, str]:
    found = _OPTIONS.match(row["question"])
    if found is None:
        raise ValueError(f"Row {row['index']}: the question has no two options.")
    question, first, second = found.groups()
    wrong, right = (first, second) if draws.choice([True, False]) else (second, first)
    scenario = row["question_type"].split(":")[2]
    second_order = re.search(r"belie\w+ .*(belie|think)", question)
    return {
        "question": question,
        "tom_type": f"second-order:{'accessible' if scenario == 'accessible' else 'cyclic'}"
        if second_order
        else "first-order",
        "correct_answer": right,
        "wrong_answer": wrong,
        "missed_info_accessibility": scenario,
    }


def _knowing(name: str, everybody: Row, single: Sequence[Row], beliefs: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    people = [row["question"].partition("Does ")[2].split(" know", 1)[0] for row in single]
    missed = " ".join(one["question"] for one in beliefs if one["missed_info_accessibility"] == "inaccessible")
    unaware = [person for person in people if person in missed][:1]
    scenario = {"missed_info_accessibility": "inaccessible" if unaware else "accessible"}
    aware = [person for person in people if person not in unaware]
    lists = {"question": everybody["question"], "correct_answer": aware, "wrong_answer": unaware}
    answers = [
        ("no" if person in unaware else "yes", row["question"]) for person, row in zip(people, single, strict=True)
    ]
    binary = [{"question": question, "correct_answer": answer} | scenario for answer, question in answers]
    return {f"{name}QA_list": lists | scenario, f"{name}QAs_binary": binary}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--perceived", type=Path)
    chosen = parser.parse_args()
    print(make(chosen.folder, chosen.questions, chosen.perceived))


if __name__ == "__main__":
    main()
