"""Two models' answers to one story: the prompt once, both answers, both parses beside gold, and what differs."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from annotation.models import Assignment
from benchmark.models import Audience, RunItem
from benchmark.services import comparisons
from benchmark.services.comparisons import numbers_around, paired
from benchmark.suites.items import ReadLine, lines_of
from benchmark.suites.questions import Columns, ItemView, Question, Sample
from benchmark.suites.registry import suites
from benchmark.suites.settings import Settings
from tests.benchmark.results_world import HOSTILE, MUTE, STORIES


# --- the rule
def test_lines_of_two_answers_stand_beside_each_other():
    first = [
        ReadLine("it rains", "order", "1", "1", "1", right=True, officially_right=True),
        ReadLine("it rains", "truth", "True", "x", "False", right=False, officially_right=False),
        ReadLine("only here"),
    ]
    second = [
        ReadLine("it rains", "truth", "True", "False", "False", right=False, officially_right=False),
        ReadLine("it rains", "order", "1", "1", "2", right=False, officially_right=True),
    ]
    rows = paired([first, second])
    abouts = [("it rains", "order"), ("it rains", "truth"), ("only here", "")]
    assert [(row["about"], row["part"]) for row in rows] == abouts
    # order: 1 against 2; truth: the repaired parses agree and the official ones do not; what one side lacks
    # altogether has no parse on either
    assert [row["differs"] for row in rows] == [True, True, False]
    assert [[cell["right"] for cell in row["cells"]] for row in rows] == [[True, False], [False, False], [None, None]]
    assert [cell["apart"] for cell in rows[1]["cells"]] == [True, False]
    # a mark is what the score says and never that words are equal
    same = ReadLine("choice", gold="(b) the shed", official="(b) the shed", repaired="(b) the shed")
    [row] = paired([[replace(same, right=True, officially_right=True)], [same]])
    assert [cell["right"] for cell in row["cells"]] == [True, None] and row["differs"]
    assert [cell["apart"] for cell in row["cells"]] == [False, False]
    scored_otherwise = replace(same, right=True, officially_right=False)
    [row] = paired([[scored_otherwise], [replace(scored_otherwise, note="small print")]])
    assert all(cell["apart"] for cell in row["cells"]) and not row["differs"], "a note is not compared"
    # stories follow each other past closed ones
    pair = [SimpleNamespace(numbers=numbers) for numbers in ([1, 2, 3, 5], [1, 3, 4, 5])]
    assert numbers_around(pair, 3, {5}) == (1, None)


def test_a_category_that_is_all_that_counts_is_not_tested_twice():
    def side(values: list[float | None]) -> Columns:
        return Columns([1, 2, 3, 4], ["Fact", "List", "List", "List"], {"accuracy": values})

    sides = [side([None, 1.0, 0.0, 1.0]), side([None, 0.0, 0.0, None])]
    categories = dict(zip(sides[0].stories, sides[0].categories, strict=True))
    rows = comparisons._rows(sides, categories, "fantom-questions")
    assert [(row.what, row.n, row.category) for row in rows] == [("Accuracy", 2, "")]
    # what counts for neither is not listed, what counts for one has no difference
    listed = comparisons._stories(sides, categories, "fantom-questions")
    assert [(row["number"], row["difference"]) for row in listed] == [(2, 1.0), (3, 0.0), (4, None)]


# --- what each suite says
def _conversation(kind: str, gold: dict, options: tuple[str, ...] = (), topic: str = "") -> tuple[dict, dict]:
    content = {
        "kind": kind, "topic": topic, "options": list(options), "names": ["Ada", "Bo"], "conversation": "Ada: Hi",
        "question": "?",
        "scenario": "inaccessible", "order": "first-order", "character": "Ada",
    }  # fmt: skip
    return content, {"wrong": [], "key": 0, "perceivers": [["Ada"]]} | gold


CHOICE = _conversation("choice", {"key": 1, "right": ["Bo knows"]}, ("Bo does not", "Bo knows"))
LISTING = _conversation("list", {"right": ["Ada"], "wrong": ["Bo"]}, topic="info_accessibility")
YES_NO = _conversation("yes_no", {"right": ["no"]}, topic="info_accessibility")
FREE = _conversation("distance", {"right": ["in the red shed"], "wrong": ["under an old tree"]})
LOCATION = ({"kind": "fine", "question": "Where?"}, {"label": 2, "places": ["the box", "the bin"], "answer": "the bin"})
HIDDEN = ({"question": "Where?", "containers": ["jar", "crate"]}, {"answer": "jar", "candidates": []})
LETTERS = (
    {"story": "s", "question": "Who?", "options": ["A. Ada", "B. Bo"], "ability": "x"},
    {"answer": "B", "cell": "B", "ability": "x"},
)


def test_a_suite_says_in_words_what_was_said_and_marks_it_as_it_is_scored():
    for name, asked, answer, expected in [
        ("fantom", CHOICE, "(b)", ("(b) Bo knows", "(b) Bo knows", True)),
        ("fantom", CHOICE, "(a)", ("(b) Bo knows", "(a) Bo does not", False)),
        ("fantom", CHOICE, "hm", ("(b) Bo knows", None, None)),
        ("fantom", FREE, "in the red shed", ("in the red shed", "nearer to the right text", True)),
        ("fantom", FREE, "under an old tree", ("in the red shed", "nearer to the wrong text", False)),
        ("percept-fantom", CHOICE, "(b)", ("(b) Bo knows", "(b) Bo knows", True)),
        ("percept-fantom", LISTING, "Ada, Bo", ("Ada", "Ada, Bo", False)),
        ("percept-fantom", YES_NO, "No.", ("no", "no", True)),
        ("percept-fantom", YES_NO, "Yes.", ("no", "yes", False)),
        ("opentom", LOCATION, "the bin", ("the bin", "the bin", True)),
        ("opentom", LOCATION, "the box", ("the bin", "the box", False)),
        ("percept-tomi", HIDDEN, "In the jar", ("jar", "jar", True)),
        ("percept-tomi", HIDDEN, "In the crate", ("jar", "crate", False)),
        ("tombench", LETTERS, "[[{right}]]", ("Bo", "Bo", True)),
        ("tombench", LETTERS, "[[{wrong}]]", ("Bo", "Ada", False)),
    ]:
        suite = suites()[name]
        sample = Sample("k:1", "c", *asked, category="Belief", split="en", number=1)
        settings = Settings(
            {"method": "direct" if name == "tombench" else "plain", "embedder": "toy", "order": "seeded"}
        )
        question = Question(sample, "answer", settings, None)
        if name == "tombench":
            right = suite.expected(question)[2]
            answer = answer.format(right=right, wrong="BA"["AB".index(right)])
        parsed = suite.parse(question, answer)
        [line] = suite.items.lines(ItemView(question, answer, parsed.official, parsed.repaired, parsed.unreadable))
        assert (line.gold, line.repaired, line.right) == expected
        for verdict, score in ((line.right, parsed.repaired_score), (line.officially_right, parsed.score)):
            assert verdict is (None if score is None else bool(score))
        assert line.right is None or line.official == line.repaired
        assert ("The answer" in line.note) == bool(parsed.unreadable)


def test_of_perceivers_every_sentence_that_is_scored_has_its_mark():
    suite, story = suites()["percept-tomi"], ["Ada entered the hall", "The pen is in the jar", "Ada moved the pen"]
    gold = {"perceivers": [["Ada"], ["Ada"], ["Ada", "Bo"]], "answer": "jar", "candidates": []}
    sample = Sample("k", "c", {"sentences": story, "question": "?", "containers": ["jar"], "people": ["Ada"]}, gold)
    question = Question(sample, "perceptions", Settings({"method": "plain"}), None)
    answer = '[{"The pen is in the jar": ["Ada"]}, {"Ada moved the pen": ["Ada"]}]'
    parsed = suite.parse(question, answer)
    lines = suite.items.lines(ItemView(question, answer, parsed.official, parsed.repaired))
    assert [(line.about, line.gold, line.repaired, line.right) for line in lines] == [
        (story[1], "Ada", "Ada", True),
        (story[2], "Ada, Bo", "Ada", False),
    ]
    assert sum(bool(line.right) for line in lines) / len(lines) == parsed.repaired_score


def test_suites_have_lines_of_their_own_and_another_has_gold_and_readings_without_a_mark():
    assert len(suites()) > 5 and all(suite.items.lines.__wrapped__ is not lines_of for suite in suites().values())
    sample = Sample("1", "1", {}, {"right": ["the shed", "a shed"], "rows": [{"a": 1}]}, category="c", number=1)
    read = {"right": True, "score": {"f1": 0.5}}, {"right": False, "score": {"f1": 1}}
    assert lines_of(ItemView(Question(sample, "answer", Settings(), None), "text", *read)) == [
        ReadLine("Gold: right", gold="the shed, a shed"),
        ReadLine("Gold: rows, 1, a", gold="1"),
        ReadLine("Read: right", official="yes", repaired="no"),
        ReadLine("Read: score, f1", official="0.5", repaired="1"),
    ]


# --- the page
pages = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(world, client):
    def told(first: str, second: str, number: int = 3, status: int = 200, **more: str) -> str:
        query = {"a": world.entrant(first), "b": world.entrant(second)} | more
        response = client.get(f"{world.base}/results/compare/{number}/", query)
        assert response.status_code == status
        return " ".join(response.content.decode().split())

    return told


@pages
def test_both_answers_stand_beside_gold_and_the_prompt_stands_once(world, page):
    text = page("majority", "random", group="stage2")
    assert text.count("Prompt, the same for both") == 1 and text.count('aria-label="Raw answer"') == 2
    names = ("majority", "random")
    items = RunItem.objects.filter(entrant__run=world.run, sample__number=3, step="label", entrant__name__in=names)
    assert all(f"/items/{item.pk}/" in text for item in items) and items.count() == 2
    count, differing = (int(found) for found in re.search(r"All (\d+).*?(\d+) that differ", text).groups())
    assert count == 7 * len(items[0].sample.beliefs) == len(re.findall(r'<th scope="row"', text))
    only = page("majority", "random", group="stage2", only="differences")
    shown = len(re.findall(r'<th scope="row"', only))
    assert 0 < shown == differing == only.count("<strong>differs</strong>") < count
    # extractions and judgements are held against gold
    extracted = page("omniscient", HOSTILE, group="stage1", step="extract")
    assert extracted.count("<strong>differs</strong>") > 3 and "Steps of this story" in extracted
    assert MUTE in extracted and "<script>alert(1)</script>" not in extracted
    scored = page("omniscient", HOSTILE, group="stage1", step="no such step")  # the step that is scored comes first
    assert "matched" in scored and re.search(r'step=judge"\s*aria-current="page"', scored)


@pages
def test_a_comparison_leads_there_and_stories_follow_each_other(world, client, page):
    pair = {"a": world.entrant("majority"), "b": world.entrant("random")}
    text = client.get(f"{world.base}/results/compare/", pair | {"group": "stage2"}).content.decode()
    assert f"{world.base}/results/compare/3/?a={pair['a']}" in text
    text = page("majority", "random")
    assert "compare/2/?" in text and "compare/4/?" in text
    assert "compare/0/?" not in page("majority", "random", 1)
    assert f"compare/{STORIES + 1}/?" not in page("majority", "random", STORIES)
    page("majority", "random", 99, status=404)  # neither was asked about it
    assert "Choose two different entrants" in page("omniscient", "omniscient")
    assert "The two have no metric group in common" in page("omniscient", "random")
    # it waits for open work, and for who may see results
    world.show_to(Audience.EVERYONE)
    project = world.dataset.project
    story = project.stories.get(number=3)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=project.overlap)
    client.force_login(world.bob)
    page("majority", "random", 3, status=403)
    assert "compare/3/?" not in page("majority", "random", 4)
    world.show_to(Audience.ADMINS)
    page("majority", "random", 4, status=403)
