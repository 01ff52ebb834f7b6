import csv
import html
import io
import json
import re
import zipfile
from itertools import cycle
from xml.etree import ElementTree

import pytest

from benchmark.models import AnswerFormat, Audience, RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.downloads import output_files, table_file
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import scores_of
from benchmark.suites.omnitom.parsing.official import JUDGED_COLUMNS
from tests.benchmark.evaluation import endpoint, started, worked_off
from tests.benchmark.results_world import HOSTILE, MUTE, STORIES, ResultsWorld, results_world
from workers.models import Endpoint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def base(world, client) -> str:
    client.force_login(world.alice)
    return f"{world.base}/runs/{world.run.uid}"


def lines_of(text: bytes) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text.decode(), newline="")))


def test_pictures_are_sent_anew_only_where_they_changed_and_in_both_widths(world, client, base):
    address = f"{base}/figures/dimensions-repaired.svg?theme=light"
    first = client.get(address)
    assert first["Cache-Control"] == "private, no-cache"
    again = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304 and not again.content
    dark = client.get(address.replace("light", "dark"), headers={"If-None-Match": first["ETag"]})
    assert dark.status_code == 200 and dark["ETag"] != first["ETag"] and dark.content != first.content
    assert dark["Content-Disposition"].startswith("inline")
    for page in (f"{base}/report/", f"{world.base}/results/"):
        text = html.unescape(client.get(page).content.decode())
        narrow = next(link for link in re.findall(r'href="([^"]+\.svg[^"]*width=column)"', text))
        wide = narrow.replace("width=column", "").rstrip("?&")
        assert f'href="{wide}"' in text
        answers = [client.get(address) for address in (wide, narrow)]
        widths = [float(re.search(r'viewBox="0 0 ([\d.]+) ', answer.content.decode())[1]) for answer in answers]
        assert widths == pytest.approx([6.3 * 72, 3 * 72], abs=0.1)
        assert ["-column" in answer["Content-Disposition"] for answer in answers] == [False, True]


@pytest.mark.dear
@pytest.mark.once
@pytest.mark.usefixtures("small_fonts")
def test_every_figure_in_every_format(world, client, base):
    starts, drawn = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}, set()
    for name in plots_of(document_of(world.run)):
        if name.startswith("confusion") and "-order-" not in name:
            continue  # drawn alike
        kind = name.partition("-")[0]
        again = kind in drawn  # by the same function, of other numbers
        drawn.add(kind)
        for suffix, start in [("svg", starts["svg"])] if again else starts.items():
            response = client.get(f"{base}/figures/{name}.{suffix}")
            assert response.status_code == 200 and response.content.startswith(start), (name, suffix)
    svg = ElementTree.fromstring(client.get(f"{base}/figures/leaderboard-stage2.svg").content)
    assert not [one for one in svg.iter() if one.tag.endswith("}script") or "style" in one.attrib]


OF_EACH_PARSE = (
    "dimensions", "orders", "orders-dimensions", "roles", "roles-dimensions", "match-counts", "volume", "unreadable",
    "main", "labels-truth-status", "confusion-1-context",
)  # fmt: skip


@pytest.mark.once
def test_every_table_in_every_format_with_the_numbers_of_score_outputs(world, client, base):
    names = tables_of(document_of(world.run))
    each = {f"{name}-{parse}" for name in OF_EACH_PARSE for parse in ("official", "repaired")}
    assert {"stage1", "stage2", *each} <= set(names)
    kinds = {"csv": "text/csv", "json": "application/json", "tex": "application/x-tex"}
    for (name, table), asked in zip(names.items(), cycle(kinds)):
        response = client.get(f"{base}/tables/{name}.{asked}")  # one format of each, the next of the next
        assert response.status_code == 200 and response["Content-Type"].startswith(kinds[asked]), name
        assert f"{name}.{asked}" in response["Content-Disposition"]
        files = {suffix: table_file(table(), suffix, name) for suffix in kinds}
        assert all(files.values()) and response.content == files[asked], name
    latex = client.get(f"{base}/tables/stage2.tex").content.decode()
    assert r"\label{tab:stage2}" in latex
    assert r"\{\{7{*}7\}\}" in latex or r"\{\{7*7\}\}" in latex, "no command of a name"
    # official figures as their six decimals times 100, so 0.268000 is 26.8, and formulas are defused
    rows = {row["Model"]: row for row in lines_of(client.get(f"{base}/tables/stage2.csv").content)}
    assert "'" + HOSTILE in rows
    told, expected = rows["majority"], scores_of(world.run)["majority"]
    official = float(expected["official"]["stage2"]["overall"]["overall_accuracy"])
    assert float(told["Official parse (%): Overall"]) == pytest.approx(100 * official, abs=1e-9)
    repaired = expected["repaired"]["stage2"]["overall"]
    for column, value in (("", repaired["overall_accuracy"]), (" low", repaired["interval"]["overall_accuracy"][0])):
        assert float(told[f"Repaired parse (%): Overall{column}"]) == pytest.approx(100 * value)


@pytest.mark.once
def test_what_is_not_there_is_not_found_and_who_may_download(world, client, base):
    other = world.another("majority", level=1)
    structured = world.another("majority", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    for path in (
        "tables/no-such.csv", "tables/stage1.exe", "figures/no-such.svg", "figures/orders-official.gif",
        "figures/orders-official.svg?theme=pink", "figures/orders-official.svg?width=9", "output/999999.zip",
        f"output/{other.entrants.get().pk}.zip",
        # structured answers have no official folder
        f"../{structured.uid}/output/{structured.entrants.get().pk}.zip",
    ):  # fmt: skip
        assert client.get(f"{base}/{path}").status_code == 404, path
    output = f"output/{world.run.entrants.first().pk}.zip"
    world.show_to(Audience.EXPERTS)
    for name, expected in (("alice", 200), ("esi", 200), ("bob", 403), ("charlie", 404)):
        client.force_login(getattr(world, name))
        for path in ("tables/stage2.csv", "figures/dimensions-repaired.svg", "scores.csv", output):
            assert client.get(f"{base}/{path}").status_code == expected, (name, path)


def test_scores_of_every_item(world, client, base):
    rows = lines_of(b"".join(client.get(f"{base}/scores.csv")))
    assert len(rows) == RunItem.objects.filter(entrant__run=world.run).count()
    assert {row["model"] for row in rows} == {"majority", "random", "omniscient", "'" + HOSTILE}
    mine = {row["story_id"]: row for row in rows if (row["model"], row["step"]) == ("majority", "label")}
    assert len(mine) == STORIES
    for story in scores_of(world.run)["majority"]["official"]["stage2"]["stories"]:
        expected = float(story["overall_accuracy"])
        assert float(mine[story["story_id"]]["official"]) == pytest.approx(expected, abs=5e-7)
    mute = [row for row in rows if row["model"].endswith(HOSTILE) and row["step"] == "label"]
    assert {(row["unreadable"], row["repaired"], row["official"]) for row in mute} == {("no readable row", "", "0.0")}


def output(world, client, base, name: str) -> zipfile.ZipFile:
    address = f"{base}/output/{world.run.entrants.get(name=name).pk}.zip"
    response = client.get(address)
    assert response.streaming and response["Content-Type"] == "application/zip"
    sent = b"".join(response)
    assert b"".join(client.get(address)) == sent, "the folder is the same every time"
    return zipfile.ZipFile(io.BytesIO(sent))


def test_the_raw_folder_holds_what_was_sent_and_what_came_back(world, client, base):
    raw = output(world, client, base, HOSTILE).read("labeling/raw/story_003.txt").decode()
    assert MUTE in raw and world.dataset.samples.get(number=3).text in raw and raw.startswith("[SYSTEM]")


@pytest.mark.once
def test_the_official_folder(world, client, base):
    """Manifest, raw and csv folders of each step, and metrics that are the official figures to the last digit."""
    archive = output(world, client, base, "omniscient")
    assert archive.testzip() is None
    names = archive.namelist()
    # extraction and judging: 2 raw, 1 + 2 csv each; stage 1 metrics
    assert len(names) == len(set(names)) == 2 + STORIES * 5 + 3
    manifest = json.loads(archive.read("manifest.json"))
    assert manifest["stories"] == list(range(1, STORIES + 1)) and manifest["judge_model"] == "lexical-judge"
    # a baseline was sent nothing, and the lexical judge saw two tables; labelling is other models' work
    nothing = ("api_provider", "temperature", "max_new_tokens")
    assert {manifest[name] for name in nothing} == {None} and manifest["stages"] == ["extract", "judge", "metrics"]
    assert (manifest["judge_fewshots"], manifest["include_story_context"]) == (0, False)
    records = [json.loads(line) for line in archive.read(manifest["dataset_path"]).decode().splitlines()]
    assert records == [story.record for story in world.dataset.samples.all()]
    expected = scores_of(world.run)["omniscient"]["official"]["stage1"]
    stories = lines_of(archive.read("metrics/stage1_story_metrics.csv"))
    assert stories == expected["stories"]
    [overall] = lines_of(archive.read("metrics/stage1_overall.csv"))
    assert overall == {name: value for name, value in expected["overall"].items() if name != "f1_category_mean"}
    judged = archive.read("judge/csv/story_001_predictions.csv").decode()
    assert judged.startswith(",".join(JUDGED_COLUMNS) + "\r\n")
    assert judged.count("\r\n") == int(stories[0]["pred_total"]) + 1


@pytest.mark.once
def test_the_manifest_says_what_was_sent(world):
    def manifest(run) -> dict:
        files = dict(output_files(run.entrants.get()))
        held = json.loads(files["manifest.json"])
        assert held["dataset_path"] in files
        return held

    reader = Endpoint.objects.filter(name="reader").first() or endpoint("reader", "scripted")
    models = {"endpoints": [reader], "steps": ["extract", "judge"], "judge": reader, "limit": 2, "max_tokens": 800}
    for judge_level, shots, with_story, fewshots in ((4, 2, True, 2), (2, 3, True, 0), (4, 0, False, 0)):
        plan = models | {"judge_level": judge_level, "shots": shots, "with_story": with_story}
        held = manifest(worked_off(started(dataset=world.dataset, **plan)))
        assert (held["judge_fewshots"], held["include_story_context"]) == (fewshots, with_story)
        assert (held["backend"], held["api_provider"], held["temperature"]) == ("scripted", None, 0.0)
        assert (held["max_new_tokens"], held["judge_model"]) == (800, "reader")
    for provider, sets in (("openai", True), ("anthropic", False)):
        model = endpoint(f"a-{provider}", provider, sets_temperature=sets)
        held = manifest(started(dataset=world.dataset, endpoints=[model], steps=["label"], limit=1))
        # no temperature that was not sent
        assert (held["api_provider"], held["temperature"]) == (provider, 0.0 if sets else None)
