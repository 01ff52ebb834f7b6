"""Pages of the site admin: the ledger, one call, spending."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.urls import reverse

from tests.workers.test_pages import HOSTILE, escaped
from workers.models import Attempt, Call
from workers.services import ledger as service

pytestmark = pytest.mark.django_db


# --- the ledger -------------------------------------------------------------------------------------------------------


def test_the_ledger_finds_by_every_field(page, make_endpoint, make_call):
    other = make_endpoint(name="other")
    first = make_call(answer="The key is in the bag", handler="prefill", request_id="req-1")
    second = make_call(other, state="failed", answer="", problem="No.", finished_at=datetime(2026, 3, 5, tzinfo=UTC))

    def found(**query) -> list[str]:
        text = page("workers:ledger", **query)
        return [call.uid for call in (first, second) if call.uid in text]

    assert found() == [first.uid, second.uid]
    for text in ("THE KEY", "who knows 1", "req-1", first.uid):
        assert found(text=text) == [first.uid], text
    assert found(endpoint="other") == found(state="failed") == found(day="2026-03-05") == [second.uid]
    assert found(text="nowhere") == found(endpoint="other", state="answered") == []
    # a day that is none is said, and what else was asked for still counts
    assert found(day="yesterday", state="failed") == [second.uid]
    assert "Enter a valid date." in page("workers:ledger", day="yesterday")


def test_calls_that_lost_an_answer_are_found(page, make_call):
    calm, lost = make_call(), make_call()
    Attempt.objects.create(call=lost, number=1, sent_at=lost.planned_at, outcome="unknown")
    text = page("workers:ledger", state="lost")
    assert lost.uid in text and calm.uid not in text


def test_the_list_reads_only_the_beginning_of_answers(page, make_call):
    make_call(answer="b" * 200 + "THE-END", cost=Decimal(0))
    text = page("workers:ledger")
    assert "b" * 80 in text and "THE-END" not in text
    assert "$0.0000" in text, "what cost nothing is told from what has no price"
    assert "answer" in service.search().first().get_deferred_fields()


def test_long_texts_are_shown_in_part_and_downloaded_whole(admin, page, make_call):
    body = {"messages": [{"role": "user", "content": "p" * 19_999 + "…¶" + "p" * 40_000}], "task": {"t": "s" * 30_000}}
    call = make_call(body=body, answer="a" * 19_999 + "…¶", reasoning="r" * 20_001)
    text = page("workers:call", call.uid)
    # 20,000 characters end with the first of two marks that no key or token of the page can hold
    assert "a…<" in text and "p…<" in text and "…¶" not in text
    assert "The first 20,000 of 20,001 characters." in text and len(text) < 100_000
    for name, part in (("answer", "a…¶"), ("prompt", "…¶p"), ("reasoning", "r" * 20_001), ("settings", "s" * 30_000)):
        assert f'href="?text={name}"' in text
        response = admin.get(reverse("workers:call", args=[call.uid]), {"text": name})
        assert part in response.content.decode()
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        assert response["Content-Disposition"] == f'attachment; filename="{call.uid}-{name}.txt"'
        assert response["X-Content-Type-Options"] == "nosniff"
    assert admin.get(reverse("workers:call", args=[call.uid]), {"text": "body"}).status_code == 404
    assert admin.get(reverse("workers:call", args=["nowhere"])).status_code == 404
    assert "characters." not in page("workers:call", make_call(answer="a" * 20_000).uid), "short ones are whole"
    assert len(page("workers:call", make_call(answer=json.dumps(["x" * 50] * 100_000)).uid)) < 80_000


def test_who_asked_says_what_for(page, make_call, make_endpoint, start):
    call = make_call()
    start(make_endpoint(), ["a-key"]).items.update(call=call, made=True, state="done")
    text = page("workers:call", call.uid).replace(" >", ">")
    assert '<bdi>Trial</bdi></a> <span class="muted">trial, item <span class="mono">a-key</span>' in text


def test_a_ledger_query_of_any_kind_is_answered(admin, page, make_call):
    call = make_call()
    for query in ("page=x", "page=-1", "page=99", "text=%00", "text=%ED%A0%80", f"text={'x' * 300}"):
        assert admin.get(f"{reverse('workers:ledger')}?{query}").status_code == 200, query
    for text in ("x" * 201, "a\0b"):
        found = page("workers:ledger", text=text)
        assert call.uid not in found and 'class="field-error"' in found and "No call matches" in found


def test_the_ledger_is_read_in_few_statements(statements, make_endpoint, make_call):
    make_call()
    few = statements("workers:ledger")
    for _ in range(30):
        make_call(make_endpoint())
    assert statements("workers:ledger") == few <= 8


def test_one_call_with_everything(page, make_call):
    body = {
        "model": "tiny",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Wo?"}],
    }
    call = make_call(body=body | {"seed": 42}, answer="Dort.", reasoning="Because.", cost=Decimal("0.001234"))
    headers = {"retry-after": "7"}
    Attempt.objects.create(
        call=call, number=1, sent_at=call.planned_at, outcome="throttled", status=429, headers=headers, problem="Busy.",
        waits=7
    )  # fmt: skip
    text = page("workers:call", call.uid)
    for expected in (
        "Be short.",
        "Wo?",
        "42",
        "Dort.",
        "Because.",
        "$0.001234",
        "throttled",
        "429",
        "retry-after",
        "Busy.",
    ):
        assert expected in text, expected


def test_a_call_of_every_shape_has_a_page(page, make_call):
    bodies = [
        {"model": "tiny", "system": [{"type": "text", "text": "Be short."}], "messages": []},
        {"model": "majority", "task": {"kind": "label"}, "sample": 0},
        {"messages": [{"role": "user", "content": "half a pair \ud800"}], "task": {"\udc00": ["\ud800"]}},
    ]
    for body in bodies:
        assert page("workers:call", make_call(body=body).uid)


def test_an_answer_of_any_kind_has_a_page(page, make_call):
    for answer in (
        '{"a": "\\ud800", "\\udc00": ["\\ud800"]}', "[" * 900 + "]" * 900, "[" * 100_000, '{"a": ' + "9" * 5000 + "}",
        '{"a"',
    ):  # fmt: skip
        assert page("workers:call", make_call(answer=answer).uid)


def test_questions_and_answers_are_text_and_nothing_else(page, make_call, make_endpoint):
    body = {"messages": [{"role": HOSTILE, "content": HOSTILE}], HOSTILE: HOSTILE}
    plain = make_call(body=body, answer=HOSTILE, reasoning=HOSTILE, answered_by=HOSTILE, request_id=HOSTILE)
    as_json = make_call(answer=json.dumps({"a": HOSTILE}), problem=HOSTILE, handler=HOSTILE[:30])
    for call in (plain, as_json):
        Attempt.objects.create(
            call=call, number=1, sent_at=call.planned_at, outcome="lost", problem=HOSTILE, headers={HOSTILE: HOSTILE}
        )
        assert escaped(page("workers:call", call.uid))
    assert escaped(page("workers:ledger"))
    assert escaped(page("workers:ledger", text=HOSTILE))


# --- spending ---------------------------------------------------------------------------------------------------------


def test_money_by_model_day_and_purpose(page, make_endpoint, make_call):
    assert "Nothing spent" in page("workers:spending")
    other, day = make_endpoint(name="other"), datetime(2026, 3, 5, 12, tzinfo=UTC)
    make_call(cost=None, finished_at=day)
    assert "<p> Unknown (1 call) for 1 answer, at the prices" in page("workers:spending")
    Call.objects.all().delete()
    make_call(cost=Decimal("1.5"), handler="prefill", finished_at=day)
    make_call(other, cost=Decimal("0.25"), handler="bench", finished_at=day, state="truncated")
    lost = make_call(other, state="failed", cost=Decimal(0), finished_at=day)
    Attempt.objects.create(call=lost, number=1, sent_at=day, outcome="unknown")
    # 1.5 + 0.25 of two answers; the failed call is none, its lost attempt may have been charged
    text = page("workers:spending")
    for part in ("$1.7500 for 2 answers", "1 answer was lost", "$1.5000", "$0.2500"):
        assert part in text, part
    by_day = page("workers:spending", by="day")
    assert "2026-03-05" in by_day and "$1.7500" in by_day
    assert "prefill" in page("workers:spending", by="handler") and page("workers:spending", by="nonsense")
    assert "$1.5000" in page("workers:endpoints")


def test_small_money_is_not_rounded_up_to_a_cent(page, make_call):
    make_call(cost=Decimal("0.0078"))
    for name in ("workers:spending", "workers:endpoints", "workers:ledger"):
        assert "$0.0078" in page(name) and "$0.01<" not in page(name) and "$0.01 " not in page(name), name
