"""A suite of two files registers itself and goes its whole way, with not one line of the product changed for it."""

import inspect
import io
import json
import random
import re
import zipfile
from dataclasses import fields, replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Membership
from benchmark.domain.plots.text import THEMES
from benchmark.domain.tables import Absent
from benchmark.management.commands._plans import options_given
from benchmark.models import Dataset, Run, RunItem, Snapshot
from benchmark.services.asking import settings_of
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.documents import document_of, tables_of
from benchmark.services.leaderboards import differences
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import report_of
from benchmark.suites import registry
from benchmark.suites.answers import Parser
from benchmark.suites.copies import BadImport, CopyFile, CopySource, Imported
from benchmark.suites.items import Filter, Rows
from benchmark.suites.questions import Sample
from benchmark.suites.settings import OF_EVERY_RUN, Setting
from core.incoming import damage
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.tiny.suite import ROWS, SUITE, right
from tests.benchmark.tiny_copies import SUMS, imported, zipped
from tests.cast import Cast, new_cast
from tests.copies import copied
from workers.providers.baseline.registered import registered_baseline

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def admin(client, cast):
    client.force_login(cast.alice)
    return client


@pytest.fixture
def cast(request, db) -> Cast:
    if "run" not in request.fixturenames:
        return new_cast()
    request.getfixturevalue("tiny")
    return copied("tiny suite", _with_run)


@pytest.fixture
def run(cast) -> Run:
    return Run.objects.select_related("job", "dataset").get()


@pytest.fixture
def get(cast, admin):
    """The answer of the admin's page of this name: `get("run_item", uid, pk, **asked)`."""

    def answered(name: str, *args, status: int = 200, **asked):
        found = admin.get(reverse(f"benchmark:{name}", args=[cast.project.slug, *args]), asked)
        assert found.status_code == status, name
        return found

    return answered


def _with_run() -> Cast:
    """The cast with a finished run, imported and launched on the pages."""
    cast, admin = new_cast(), Client()
    admin.force_login(cast.alice)
    assert imported(admin, cast).status_code == 302
    dataset = Dataset.objects.get()
    for name in ("adder", "counter"):
        make_endpoint(name, provider="baseline", model=name)
    sent = {
        "dataset": dataset.version, "endpoints": ["adder", "counter"], "steps": ["repeat", "sum", "sum"],
        "politeness": "now", "repetitions": 2, "max_tokens": 20, "seed": 3, "title": "Two adders",
    }  # fmt: skip
    launch, estimate, preview = (
        reverse(f"benchmark:{name}", args=[cast.project.slug]) for name in ("launch", "estimate", "prompt_preview")
    )
    page = written(admin.get(launch, {"dataset": dataset.version}))
    assert "Tiny sums" in page and "Tone" in page
    told = written(admin.get(estimate, sent))
    assert "96 calls" in told and "12 sums" in told
    assert "now: 1 + 2 = ?" in written(admin.get(preview, sent | {"shown": "sum"}))
    launched = admin.post(launch, sent)
    assert launched.status_code == 302, launched.content.decode()
    assert work_off(Run.objects.get()).steps == ["repeat", "sum"], "a step that is named twice is asked once"
    return cast


def import_page(admin, cast, sums: str | None = None, file: SimpleUploadedFile | None = None, **fields):
    """The answer of the page to a copy of the sums, or to this file."""
    address = reverse("benchmark:import_copy", args=[cast.project.slug, "tiny"])
    headers = {"HX-Request": "true"} if fields.pop("part", False) else {}
    return admin.post(address, {"file": file or zipped(sums=sums), "set_most": "99", **fields}, headers=headers)


def changed_copy(monkeypatch, **fields) -> None:
    """Register the suite with another way of reading copies."""
    monkeypatch.setitem(registry._suites, "tiny", replace(SUITE, copied=replace(SUITE.copied, **fields)))


PROBLEM = {"file": "sums.txt", "line": 2, "message": "The sum is large."}


def with_a_problem(path, most: int):
    return replace(SUITE.copied.load(path, most=most), problems=[PROBLEM], licence="Free to add.")


# --- copies
def test_a_copy_that_cannot_be_read_is_one_sentence_and_another_is_imported_once(
    tiny, admin, cast, tmp_path, monkeypatch
):
    def told(sums: str | None = None, **how) -> str:
        return import_page(admin, cast, sums, **how).content.decode()

    for file, sentence in (
        (zipped(other="1 2"), "sums.txt cannot be read"),
        (zipped(sums="1 2\n3"), "sums.txt, line 2: &#x27;3&#x27;; expected two whole numbers."),
        (SimpleUploadedFile("a.zip", b"no zip"), "cannot be read as a zip archive"),
        (zipped(sums=""), "sums.txt is empty; expected the file as it was released."),
    ):
        assert sentence in told(file=file)
    for options, sentence in (
        ([], r"sums\.txt cannot be read"),
        (["--option", "least=1"], "expected some of: most=99"),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("import_suite", "tiny", str(tmp_path), "--project", cast.project.slug, *options)
    with monkeypatch.context() as patch:
        patch.setattr(damage.oversize, "__kwdefaults__", {"most_bytes": 100, "most_files": 1})
        assert "The archive unpacks to more than 0 MB." in told("1 2\n" * 99)
        assert "The archive holds 2 files; expected at most 1." in told(file=zipped(sums="1 2\n", other="1"))

    def refusing(path, most):
        raise BadImport(f"sums.txt is missing in {path}, {path.parent.name}; expected a copy.")

    with monkeypatch.context() as patch:
        changed_copy(patch, load=refusing)
        missing = "sums.txt is missing in the zip, the zip; expected a copy."
        assert missing in imported(admin, cast).content.decode(), "not the folder it was unpacked in"
    assert not Dataset.objects.exists()
    imported(admin, cast)
    dataset = Dataset.objects.get()
    assert (dataset.suite, dataset.title, dataset.stories_count, dataset.note) == ("tiny", "Sums", len(SUMS), "ours")
    first = dataset.samples.first()
    assert (first.key, first.cluster, first.number, first.gold) == ("sum-0", "cluster-0", 1, {"sum": 3})
    imported(admin, cast)
    assert Dataset.objects.count() == 1
    imported(admin, cast, set_most="5")
    assert sorted(Dataset.objects.values_list("stories_count", flat=True)) == [8, 12]


def test_a_damaged_zip_of_a_copy_is_one_sentence(tiny, admin, cast):
    raw = zipped(sums="".join(f"{at} {at * at}\n" for at in range(40))).read()
    refused = 0
    for seed in range(60):
        rng, damaged = random.Random(seed), bytearray(raw)
        for _ in range(rng.choice((1, 4))):
            damaged[rng.randrange(4, len(raw))] = rng.randrange(256)
        response = import_page(admin, cast, file=SimpleUploadedFile("a.zip", bytes(damaged)))
        assert response.status_code in (200, 302), seed
        refused += "cannot be read as a zip archive" in response.content.decode()
    assert refused > 20


def test_its_copy_is_kept_by_the_command_which_says_what_is_in_it(tiny, cast, tmp_path, monkeypatch):
    for folder, name, text in (("a", "sums.txt", "1 2\n8 9\n2 2\n"), ("b", "LICENSE", "Ours."), ("c", "sums.txt", "1")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
    changed_copy(monkeypatch, load=lambda path, most: replace(with_a_problem(path, most), licence=""))

    def told(*more, files=("a",)) -> dict:
        out, paths = io.StringIO(), [tmp_path / file for file in files]
        call_command("import_suite", "tiny", *paths, *more, "--json", project=cast.project.slug, stdout=out)
        return json.loads(out.getvalue())

    dry = told("--dry-run")
    assert dry["dataset"] is None and not Dataset.objects.exists()
    kept = told()
    dataset = Dataset.objects.get()
    assert kept == dry | {"dataset": dataset.version} == {
        "project": cast.project.slug, "suite": "tiny", "dataset": 1, "digest": dataset.digest, "samples": 3,
        "files": dataset.origin["files"], "unchecked": "", "by_category": {"large": 1, "small": 2},
        "title": "Sums", "clusters": 2, "sets": 0, "by_split": {}, "licence": "", "terms": "", "problems": [PROBLEM],
    }  # fmt: skip
    assert dataset.origin["problems"] == [PROBLEM]
    assert told() == kept and Dataset.objects.count() == 1
    # several files are one copy
    assert told(files=("a/sums.txt", "b/LICENSE"))["samples"] == 3
    for files, sentence in (
        (("a/sums.txt", "c/sums.txt"), "Two of the paths have one name"),
        (("no",), "There is no file or folder"),
    ):
        with pytest.raises(CommandError, match=sentence):
            told(files=files)


def test_the_page_checks_a_copy_without_keeping_it(tiny, admin, cast, monkeypatch):
    files = (CopyFile("sums.txt", "the sums"),)
    source = CopySource("its author", "https://sums.example", "Add freely.", "Sums are counted.", files)
    changed_copy(monkeypatch, load=with_a_problem, source=source)
    needed = written(admin.get(reverse("benchmark:import_copy", args=[cast.project.slug, "tiny"])))
    for text in ("https://sums.example", "Add freely.", "Sums are counted.", "sums.txt", "the sums"):
        assert text in needed
    checked = written(import_page(admin, cast, "1 2\n8 9", check="1", part=True))
    assert "<html" not in checked and not Dataset.objects.exists()
    for text in ("The sum is large.", "Free to add.", "Nothing is kept before you press Import."):
        assert text in checked
    assert "expected two whole numbers" in written(import_page(admin, cast, "1", check="1", part=True))
    kept = import_page(admin, cast, "1 2\n8 9")
    dataset = Dataset.objects.get()
    assert kept["Location"] == reverse("benchmark:dataset", args=[cast.project.slug, dataset.version])
    shown = written(admin.get(kept["Location"]))
    for text in ("The sum is large.", "Free to add.", dataset.digest, "Largest number", "https://sums.example"):
        assert text in shown
    again = written(import_page(admin, cast, "1 2\n8 9", check="1"))
    assert "already: an import makes no new one." in again and Dataset.objects.count() == 1


UNFORESEEN = [
    (KeyError("id"), "The copy cannot be read as Tiny sums (KeyError: 'id'); the log of the program says where."),
    ([], "The copy of Tiny sums holds no sum."),
    ([Sample("a", "c", {}, {})] * 2, "Two sums have the key 'a'; expected one of its own for each."),
    ([Sample("a\0", "c", {}, {}), Sample("a\u2400", "c", {}, {})], "Two sums have the key 'a\u2400'"),
    ([Sample(None, "c", {}, {})], "Sum 1 of the copy: its key is None; expected a text."),
    ([Sample("", "c", {}, {})], "Sum 1 of the copy: its key is empty."),
    ([Sample("a", "c" * 201, {}, {})], "Sum 1 of the copy: its cluster has 201 characters; expected 200 at most."),
    ([Sample("a", "c", {}, {}, category=7)], "Sum 1 of the copy: its category is 7; expected a text."),
    ([Sample("a", "c", {"n": float("inf")}, {})], "Content or gold of 'a' cannot be kept as JSON"),
    ([Sample("a", "c", {"n": {1}}, {})], "Content or gold of 'a' cannot be kept as JSON"),
]


@pytest.mark.once
def test_what_a_suite_did_not_foresee_in_a_copy_is_one_sentence(cast, tmp_path):
    def brought(samples) -> Dataset:
        def load(folder, *, most):
            if isinstance(samples, Exception):
                raise samples
            return Imported("S\0", samples)

        suite = replace(SUITE, copied=replace(SUITE.copied, load=load))
        return import_benchmark(by=None, project=cast.project, suite=suite, folder=tmp_path, options={})[0]

    for samples, told in UNFORESEEN:
        with pytest.raises(BadImport, match=re.escape(told)):
            brought(samples)
    assert not Dataset.objects.exists()
    # texts are kept as every database holds them
    odd = Sample("a\0", "房\ud800", {"text": "\0谁"}, {}, category="\udfff", split="\0", group="\0")
    held = brought([odd]).samples.get()
    assert (held.key, held.cluster, held.category, held.content) == ("a\u2400", "房?", "?", {"text": "\u2400谁"})
    assert (held.split, held.group, held.dataset.title) == ("\u2400", "\u2400", "S\u2400")


# --- what is refused
def test_what_two_suites_cannot_share_is_refused(run):
    other = replace(SUITE, name="other", groups=())
    groups = tuple(replace(SUITE.groups[0], key=f"other-{at}") for at in (1, 2))
    own = Rows(("sum",), (Filter("state", "State"),), ROWS.count)
    read = replace(SUITE.released, parsers={"extract": Parser(lambda text, tables: {})})
    assert {field.name for field in fields(settings_of(run))} | run.params.keys() <= OF_EVERY_RUN
    for suite, sentence in (
        (replace(other, items=replace(SUITE.items, rows=own)), "a parameter 'state' of its own; expected another name"),
        (replace(SUITE, name="other", groups=groups), "Two metric groups of other have the score title 'Right sums'"),
        (replace(other, released=read), "Two suites parse answers of the kind 'extract'"),
        (replace(other, settings=(Setting("seed", "Seed", 1),)), "Every run has a parameter 'seed'; expected another"),
    ):
        with pytest.raises(ValueError, match=sentence):
            registry.register(suite)
    registry.register(other)  # the same baselines: two suites may share a kind of task
    theirs = next(one for one in registry.suites()["tombench"].asking.baselines if one.name == "random")
    mine = replace(theirs, answer=lambda body: "A")
    with pytest.raises(ValueError, match=r"a baseline 'random' for tasks 'choose' already, .* than that of third"):
        registry.register(replace(SUITE, name="third", groups=(), asking=replace(SUITE.asking, baselines=(mine,))))
    assert registered_baseline("random", "choose") is theirs


@pytest.mark.once
def test_a_setting_is_told_in_words_and_one_that_cannot_be_is_refused():
    proud, who = Setting("proud", "Proud", False), Setting("who", "Who", "me")
    for setting, told, shown in [
        (proud, "proud=maybe", "Proud is 'maybe'; expected yes or no."),
        (proud, "humble=1", "expected some of: proud=no."),
        (who, "who=a\0", "Who is 'a\\x00'; expected a text of up to 200 characters, without NUL."),
        (who, f"who={'x' * 201}", "expected a text of up to 200 characters, without NUL."),
        (Setting("echo", "Echo", 0, most=3), "echo=4", "Echo is 4; expected a whole number from 0 to 3."),
    ]:
        with pytest.raises(ValueError, match=re.escape(shown)):
            options_given([setting], [told])
    assert proud.in_words(True) == "yes" and Setting("echo", "Echo", 0).in_words(0) == "0"
    assert Setting("tone", "Tone", "a", choices=(("a", "polite"),)).in_words("a") == "polite"


@pytest.mark.once
def test_what_has_no_use_for_the_suite_is_refused_before_anything_is_asked(run, cast):
    adder, held = run.entrants.get(name="adder").endpoint, run.dataset
    lost = make_endpoint("lost", provider="vllm", model="lost")
    both = Plan(held, [adder], ["repeat", "sum"], suite="tiny", options={"politeness": "now"})
    repeats = Plan(held, [adder], ["repeat"], "tiny")
    structured = replace(repeats, options={"answer_format": "structured"})
    for plan, sentence in (
        (replace(repeats, steps=["sum"]), "Adding needs answers: choose repeating too."),
        (replace(repeats, judge=adder), "Nobody judges Tiny sums: leave the judge out."),
        (structured, "Tiny sums is answered in free text alone."),
        (replace(repeats, endpoints=[lost]), "lost has no address: say where its server answers."),
        (replace(both, category="other"), "leaves no sum of this dataset"),
        (replace(both, limit=-1), "The number of sums is -1; expected 0 to"),
    ):
        with pytest.raises(RunRefused, match=sentence):
            check(plan)
    asked = ("run_benchmark", "--project", cast.project.slug, "--suite", "tiny", "--endpoint", "adder")
    for options, sentence in (
        (["--step", "nope"], "--step is 'nope'; expected some of repeat, sum, or all."),
        (["--level", "3"], "--level is of no use for Tiny sums: leave it out."),
        (["--without-story"], "--without-story is of no use for Tiny sums: leave it out."),
    ):
        with pytest.raises(CommandError, match=re.escape(sentence)):
            call_command(*asked, *options)


# --- a run
@pytest.mark.once
def test_a_run_asks_every_step_of_every_repetition_and_every_page_shows_it(run, get, client, cast):
    assert (run.suite, run.params["repetitions"], run.params["options"]) == ("tiny", 2, {"politeness": "now"})
    places = RunItem.objects.filter(entrant__run=run)
    assert places.count() == 2 * 2 * 2 * len(SUMS) and not places.filter(call=None).exists()
    sums = places.filter(step="sum", entrant__name="adder")
    assert {one.repetition for one in sums} == {0, 1} and set(sums.values_list("repaired_score", flat=True)) == {1.0}
    assert len(set(places.values_list("call", flat=True))) == places.count()  # a repetition is a call of its own
    of_run = {name: get(name, run.uid).content.decode() for name in ("run", "run_made", "run_results", "run_report")}
    get("run_items", run.uid, step="sum", problem="used")
    item = get("run_item", run.uid, places.filter(step="sum").first().pk).content.decode()
    assert "Sum 1" in item and "Adding" in item
    listed = {name: get(name).content.decode() for name in ("leaderboard", "differences", "datasets", "runs")}
    assert "Right sums" in listed["leaderboard"] and "100.0" in listed["leaderboard"]
    made, report = of_run["run_made"], of_run["run_report"]
    assert "judge_level" not in made and "example" not in made and "<dt>repetitions</dt>" in made
    assert '<dt>Tone</dt><dddir="auto">curt</dd>' in "".join(made.split())
    assert "Tiny sums has no official folder." in report and "categories-tiny-repaired.svg" in report
    assert "12 of the 12 sums of Sums" in report and "small" in report
    # members with open work see it all: the numbers of its samples are no numbers of stories
    Membership.objects.filter(project=cast.project, user=cast.bob).update(role="admin")
    client.force_login(cast.bob)
    get("run_report", run.uid)


def test_its_own_filter_finds_items_by_what_their_answers_hold(run, get):
    """Six of the twelve sums have two digits, and each was asked twice."""
    adder = run.entrants.get(name="adder").pk
    page = get("run_items", run.uid, model=adder, digits="2")
    text = written(page)
    assert page.context["page"].paginator.count == 12 and text.count("1 of 1") == 12 and ">Rows meant</th>" in text
    assert {len(str(row["item"].repaired["said"])) for row in page.context["rows"]} == {2}
    assert "By rows of the answer" in text and "Digits" in text
    for other in ("MatchCount", "Actor role", "Extraction without a judgement", "Not structured"):
        assert other not in text
    for asked, count in (({"digits": "3"}, 48), ({"step": "repeat", "digits": "2"}, 0)):  # 3 is no such choice
        assert get("run_items", run.uid, model=adder, **asked).context["page"].paginator.count == count
    assert "Choose a model" in written(get("run_items", run.uid, digits="1"))


def test_it_is_compared_shared_and_downloaded(run, get, admin, cast, tmp_path):
    """What is resampled whole is the same in a comparison as on the leaderboard, and has its name."""
    slug, told = cast.project.slug, io.StringIO()
    call_command("leaderboard", project=slug, json=True, stdout=told)
    rows = {row["model"]: row for row in json.loads(told.getvalue())["groups"]["tiny"]}
    assert rows["adder"]["repaired"]["value"] == 1.0 and rows["counter"]["rank"] == 2
    told = io.StringIO()
    call_command("leaderboard", project=slug, stdout=told)
    assert told.getvalue().startswith("Sums, version 1, text, ")
    keys = [f"{run.uid}.{pk}" for pk in run.entrants.order_by("pk").values_list("pk", flat=True)]
    _, entrants = pair_of(cast.project, *keys)
    compared = compare(entrants["tiny"], "tiny", "repaired")
    row = next(row for row in compared.rows if not row.category)
    (pair,) = (pair for pair in differences(entrants["tiny"], "tiny")["repaired"].pairs if not pair.category)
    assert (row.n, row.clusters) == (12, 6)
    assert (abs(row.value), row.p) == (abs(pair.value), pair.p)
    assert sorted(map(abs, row.interval or ())) == sorted(map(abs, pair.interval or ()))
    assert "sign-flip test over sheets" in compared.method and "stories" not in compared.method
    for name in ("leaderboard", "differences"):
        page = get(name).content.decode()
        assert "intervals over sheets" in page and "over stories" not in page, name
    page = get("compare", a=keys[0], b=keys[1], group="tiny").content.decode()
    assert "Right sums" in page and "All sums" in page and "All stories" not in page
    call_command(
        "results", "differences", "--project", slug, "--run", run.uid, "--other-run", run.uid, "--model", "adder",
        "--other-model", "counter", "--output", str(tmp_path / "a.csv"), stdout=io.StringIO()
    )  # fmt: skip
    assert ",Sums," in (tmp_path / "a.csv").read_text().splitlines()[0]
    admin.post(reverse("benchmark:save_run_snapshot", args=[slug, run.uid]), {"title": "Ours"})
    shared = Snapshot.objects.get().uid
    page = get("snapshot", shared).content.decode()
    assert "Right sums" in page and "Sums at a glance" in page
    get("snapshot_table", shared, "glance-repaired", "json")
    get("snapshot_plot", shared, "glance-repaired", "pdf")
    for table in ("tiny", "categories-tiny", "repetitions-tiny-repaired", "glance-official"):
        assert b"adder" in get("run_table", run.uid, table, "csv").content
    picture = get("run_plot", run.uid, "leaderboard-tiny", "svg").content
    assert picture.startswith(b"<?xml") and b"over stories" not in picture
    scores = b"".join(get("run_scores", run.uid).streaming_content).decode()
    assert len(scores.splitlines()) == 1 + RunItem.objects.filter(entrant__run=run).count()


@pytest.mark.once
def test_a_table_and_a_plot_of_its_own_stand_in_its_own_section_and_in_files_light_and_dark(run, get):
    assert len(inspect.getsourcelines(inspect.unwrap(right))[0]) <= 30
    for name in ("run_results", "run_report"):
        response = get(name, run.uid, parse="repaired")
        parts = {part["title"]: part for part in response.context["sections"]["parts"]}
        assert [one["name"] for one in parts["Sums at a glance"]["plots"]] == ["glance-repaired"]
        table = parts["Sums at a glance"]["tables"][0]
        assert table["title"] == "Right at a glance, repaired parse"
        cells = {row["cells"][0]["text"]: row["cells"][1] for row in table["rows"]}
        assert cells["adder"]["text"] == "100.00" and "step=sum" in cells["adder"]["href"]
        assert response.context["explorer"] is None
    page = response.content.decode()
    for name, theme in THEMES.items():
        at = [run.project.slug, run.uid, "glance-repaired", "svg"]
        address = f"{reverse('benchmark:run_plot', args=at)}?theme={name}"
        assert re.search(rf'<img\s+class="drawn in-{name}"\s+src="{re.escape(address)}"', page), name
        drawn = get("run_plot", *at[1:], theme=name).content.decode()
        # surface, marks and words in the colours of the theme, and the data in words
        assert all(colour in drawn for colour in (theme.surface, theme.chart, theme.ink))
        assert "adder" in drawn and re.search(r"Right: adder 100\.0 .*counter ", drawn)
        for suffix, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
            file = get("run_plot", run.uid, "glance-repaired", suffix, theme=name, width="column")
            assert file.content.startswith(start)


@pytest.mark.once
def test_its_own_table_and_picture_name_who_is_not_in_them(run):
    document = document_of(run)
    own = {"glance-official", "glance-repaired"}
    assert own <= set(tables_of(document)) & set(plots_of(document))
    # who has open work sees of these what the suite calls whole
    assert set(tables_of(replace(document, withheld=1))) == {"tiny"}
    assert set(plots_of(replace(document, withheld=1))) == {"leaderboard-tiny", *own}
    late = Absent("late", "all 24 calls failed")
    steps = document.groups["tiny"]
    entry = steps[1]
    metrics = replace(entry.metrics, parses=replace(entry.parses, official=None), reason="No answer is official.")
    steps[1] = replace(entry, metrics=metrics)
    document = replace(document, absent={"tiny": [late]})
    lacking = [late, Absent(entry.model, "No answer is official")]
    assert tables_of(document)["glance-official"]().absent == lacking
    assert plots_of(document)["glance-official"].absent == tuple(lacking)
    assert tables_of(document)["glance-repaired"]().absent == [late]


def test_a_suite_may_make_the_folder_of_its_released_code(run, get, tmp_path, monkeypatch):
    adder = run.entrants.get(name="adder").pk
    get("official_output", run.uid, adder, status=404)
    with pytest.raises(CommandError, match=r"^Tiny sums has no official folder\.$"):
        call_command("runs", "download", run.uid, what="official", model="adder", output=str(tmp_path / "a.zip"))

    def exchange(exchanged):
        for sample in exchanged.samples[:2]:
            call = exchanged.exchanges([sample])[sample.key]["sum"]
            assert call.output == exchanged.answers[sample.key]["sum"]
            yield f"{sample.key}.txt", f"{exchanged.asked.model} {json.loads(call.user)['text']} {call.output}".encode()

    monkeypatch.setitem(registry._suites, "tiny", replace(SUITE, released=replace(SUITE.released, exchange=exchange)))
    archive = zipfile.ZipFile(io.BytesIO(b"".join(get("official_output", run.uid, adder).streaming_content)))
    assert {name: archive.read(name) for name in archive.namelist()} == {
        "sum-0.txt": b"adder now: 1 + 2 = ? 3", "sum-1.txt": b"adder now: 3 + 4 = ? 7",
    }  # fmt: skip


def test_it_is_run_again_and_extended_and_has_its_pages_without_an_answer(run, get, admin, cast):
    at = [cast.project.slug, run.uid]
    assert admin.post(reverse("benchmark:run_again", args=at)).status_code == 302
    made = work_off(Run.objects.order_by("-pk").first())
    assert not made.job.items.filter(made=True).exists()
    make_endpoint("late", provider="baseline", model="adder")
    page = written(get("extend_run", run.uid))
    assert "more models or sums" in page and "late" in page
    sent = {"endpoints": ["late"]}
    assert "48 calls" in written(get("estimate_extension", run.uid, **sent))
    assert admin.post(reverse("benchmark:extend_run", args=at), sent).status_code == 302
    work_off(run)
    assert RunItem.objects.filter(entrant__name="late", step="sum", repaired_score=1.0).count() == 2 * len(SUMS)
    page = written(get("run", run.uid))
    assert "12 sums" in page and "tone curt" in page and "Judge anew" not in page
    told = io.StringIO()
    asked = ("--suite", "tiny", "--endpoint", "adder", "--option", "politeness=please", "--wait", "--json")
    call_command("run_benchmark", "--project", cast.project.slug, *asked, stdout=told)
    assert json.loads(told.getvalue())["scores"]["repaired"]["tiny"]["overall"]["right"] == 1.0
    lacking = Run.objects.order_by("-pk").first()
    RunItem.objects.filter(entrant__run=lacking, step="sum", sample__number=1).update(call=None)
    for name, args in (
        ("run_results", [lacking.uid]), ("run_report", [lacking.uid]), ("leaderboard", []), ("differences", []),
    ):  # fmt: skip
        get(name, *args)
    metrics = report_of(lacking).entrants[0].groups["tiny"]
    assert metrics.parses.official is None and metrics.analyses["official"] is None
    assert metrics.analysed("repaired").kept["facets"]["parity"]["odd"]["bounds"][0] < 1.0
