"""A report begins with the tables of its benchmark's paper."""

from types import SimpleNamespace

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.services.documents import Document
from benchmark.suites.perceiving import tables as of_three
from benchmark.suites.registry import keys_of, suites
from benchmark.views.reports import sections_in


def test_what_the_paper_prints_stands_first():
    for suite in suites():
        sections = sections_in(Document(kind="run", groups=dict.fromkeys(keys_of(suite), ())))
        papers = [section for section in suites()[suite].results.sections if section.paper]
        assert papers and all(section.tables for section in papers), f"{suite} says what its paper prints"
        assert sections[: len(papers)] == papers
        order = [section.paper for section in sections]
        assert order == sorted(order, reverse=True), "nothing stands between the tables of the paper"
        titles = [section.title for section in sections]
        assert len(titles) == len({*titles}), "no part stands twice"
        if suite in ("fantom", "percept-fantom"):  # sets are not parted by the categories of their questions
            parted = {name for section in sections for name in section.tables if name.startswith("categories-")}
            sets = {f"categories-{group.key}" for group in suites()[suite].groups if "ALL" in group.score_title}
            assert sets and not parted & sets and f"categories-{suite}-questions" in parted
    tombench, omnitom = suites()["tombench"], suites()["omnitom"]
    pictures = tombench.results.sections[0].pictures
    assert tombench.draws_categories(tombench.groups[0]) and "categories-tombench" in pictures, "where it names it"
    assert not any(map(omnitom.draws_categories, omnitom.groups)), "it has plots of its own"


def test_two_models_have_no_correlation_and_the_table_says_so():
    tasks = {"p": "Perception", "b": "Perception to belief", "q": "Questions"}
    both = [dict.fromkeys(of_three.SCENARIOS, BoundedEstimate(value, 9)) for value in (0.1, 0.7)]
    models = [
        (SimpleNamespace(kind="model", model=f"m{at}", family=""), dict.fromkeys(tasks, of_scenarios))
        for at, of_scenarios in enumerate(both)
    ]
    table = of_three.correlations_table(models, tasks, "repaired")
    assert {(row["r"].value, row["r"].n) for row in table.rows} == {(None, 2)}
    assert table.lead == ["No correlation over 2 models: a correlation needs at least 3 models."]
