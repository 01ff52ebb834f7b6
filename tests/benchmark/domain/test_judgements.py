"""Judgements row by row: links, passes with shuffled rows, rows that are settled by rule, and what decides."""

import json

from benchmark.suites.omnitom import judgements
from benchmark.suites.omnitom.data import GoldRow
from benchmark.suites.omnitom.judgements import EXACT, LINKS, NORMALISED, NOTHING, Judging, judged, settled, unsettled
from benchmark.suites.omnitom.parsing.answers import PredictedRow
from benchmark.suites.settings import Settings
from judge.domain.judgements import CANNOT_TELL, MATCHED, UNMATCHED, PassVerdict, row_judgement

PREDICTED = [PredictedRow("Bo", text, "") for text in ("a", "b", "c")]
GOLD = [GoldRow("Bo", text, (), "1", ("Bo", text)) for text in ("a", "B.", "z", "y")]
OPTIONS = {"answer_format": "text", "judge_answer_format": LINKS, "passes": 1, "settle": NOTHING}


def judging(sample: str = "", **options: object) -> Judging:
    return Judging.of(Settings(OPTIONS | options, seed=7, judge_reads_prompts=True), sample)


def test_more_than_half_of_the_verdicts_decide():
    for counts, count, flipped in [
        ((1,), 1, False),
        ((2, 2, 1), 2, False),  # all say matched: no flip, the commonest count
        ((1, 0, 1), 1, True),
        ((1, 0), None, True),  # one against one: doubtful, neither 0 nor 1
        ((0, None, None), None, True),  # two of three cannot tell
        ((0, 0, None), 0, True),
        ((None,), None, False),
    ]:
        row = row_judgement(None, tuple(PassVerdict(one, None) for one in counts))
        assert (row.count, row.flipped, row.missing, row.settled) == (count, flipped, False, False)
        assert row.cannot_tell == (count is None)
    # a row that a pass leaves out rests on the others, and is missing in none or all
    assert row_judgement(None, (None, PassVerdict(1, None))).verdicts == (MATCHED,)
    left_out = row_judgement(None, (None, None))
    assert left_out.missing and not left_out.cannot_tell and left_out.count is None
    assert row_judgement((0, 2), ()).count == 2 and row_judgement((), ()).settled


def test_a_seed_and_a_sample_make_each_order_and_the_first_pass_shows_rows_as_they_stand():
    how = Judging(passes=3, seed=1, key="12")
    assert how.order(0, 0, 5) == [0, 1, 2, 3, 4]
    orders = {tuple(how.order(turn, side, 20)) for turn in (1, 2) for side in (0, 1)}
    assert len(orders) == 4 and all(sorted(order) == list(range(20)) for order in orders)
    for other in (Judging(passes=3, seed=2, key="12"), Judging(passes=3, seed=1, key="13")):
        assert how.order(1, 0, 20) != other.order(1, 0, 20)


def shown(how: Judging, turn: int, links: dict[int, list[int]], cannot: tuple[int, ...] = ()) -> str:
    """An answer that says of predicted rows `links`, by their places in the tables, as pass `turn` numbers them."""
    first, second = how.order(turn, 0, len(PREDICTED)), how.order(turn, 1, len(GOLD))
    rows = [
        {"id": first.index(at) + 1, "matches": [second.index(to) + 1 for to in matches], "cannot_tell": at in cannot}
        for at, matches in links.items()
    ]
    return json.dumps({"predictions": rows, "gold": []})


def test_answers_to_shuffled_rows_come_back_to_their_rows():
    how = judging("4", passes=3)
    texts = {
        "judge": shown(how, 0, {0: [0, 2], 1: [1], 2: []}),
        "judge2": shown(how, 1, {0: [0, 2], 1: [], 2: [3]}, cannot=(2,)),
        "judge3": shown(how, 2, {0: [0, 2], 1: [1]}),
    }
    predicted, gold = judged(texts, PREDICTED, GOLD, how)
    assert [(row.links, row.count, row.flipped) for row in predicted] == [
        ((0, 2), 2, False), ((1,), 1, True), (None, None, True)
    ]  # fmt: skip
    assert predicted[2].verdicts == (UNMATCHED, CANNOT_TELL) and predicted[2].cannot_tell
    assert all(row.missing for row in gold)
    repaired = {"pred": [row.count for row in predicted], "gold": [row.count for row in gold]}
    detail = judgements.detail_of((predicted, gold), how)
    kept = judgements.rows_kept(json.loads(json.dumps(repaired | detail)))
    assert [(row.count, row.links, row.verdicts, row.settled) for side in kept for row in side] == [
        (row.count, row.links, row.verdicts, row.settled) for side in (predicted, gold) for row in side
    ]


def test_without_the_form_nobody_may_say_that_it_cannot_tell():
    text = json.dumps({"predictions": [{"id": 1, "matches": [1], "cannot_tell": True}], "gold": []})
    for answer_format, count in (("same", 1), (LINKS, None)):
        how = judging(answer_format="structured", judge_answer_format=answer_format)
        row = judged({"judge": text}, PREDICTED, GOLD, how)[0][0]
        assert (row.count, row.missing) == (count, False)


def test_rows_in_the_same_words_are_settled_by_rule():
    rows, gold = ([(row.actor, row.belief) for row in side] for side in (PREDICTED, GOLD))
    assert unsettled(rows, gold, NOTHING) == ([0, 1, 2], [0, 1, 2, 3])
    assert settled(rows, gold, EXACT) == ([(0,), None, None], [(0,), None, None, None])
    assert settled(rows, gold, NORMALISED) == ([(0,), (1,), None], [(0,), (1,), None, None])
    # Equal rows all match: two predictions of one gold row are settled with it, which then counts 2.
    assert settled(rows[:1] * 2, gold[:1], EXACT) == ([(0,), (0,)], [(0, 1)])
    assert settled([], gold, EXACT) == ([], [(), (), (), ()])  # nothing can match
    answer = shown(Judging(), 0, {0: [], 1: [2]})  # what it says of a settled row is not asked for
    predicted, _ = judged({"judge": answer}, PREDICTED, GOLD, judging(settle=EXACT))
    assert [(row.count, row.settled) for row in predicted] == [(1, True), (1, False), (None, False)]
