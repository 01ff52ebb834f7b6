"""Thoughts in the answers of providers: a completion holds them as reasoning, and the estimate counts them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.marked import MARKS, UNCLOSED, completed
from workers.domain.pricing import estimated_tokens
from workers.models import Call
from workers.providers.anthropic.backend import completion_of as anthropic_completion
from workers.providers.chat_completions import completion_of
from workers.providers.contract import EMPTY, ONLY_REASONING, Completion, Stop, Usage
from workers.providers.contract import UNCLOSED as WITHIN_REASONING
from workers.providers.scripted.backend import ScriptedBackend


def chat(content: object, **message) -> Completion:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
    return completion_of({"model": "tiny", "choices": [choice]}, {})


def test_a_thought_in_the_text_is_reasoning_with_every_provider():
    for mark in MARKS:
        text = MARKS[mark].format(thought="Maybe no.", answer="Yes")
        blocks = {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        for completion in (completed(text), chat(text), chat([{"type": "text", "text": text}]),
                           anthropic_completion(blocks, {})):  # fmt: skip
            assert (completion.text, completion.stop, completion.problem) == ("Yes", Stop.END, "")
            assert "Maybe no." in completion.reasoning


def test_an_unclosed_thought_is_no_answer_and_says_so():
    for mark in UNCLOSED:
        text = UNCLOSED[mark].format(thought="Maybe no.")
        completion = chat(text)
        assert (completion.text, completion.stop, completion.problem) == ("", Stop.OTHER, WITHIN_REASONING)
        assert "Maybe no." in completion.reasoning
        cut = completed(text, Stop.LENGTH)
        assert (cut.text, cut.stop) == ("", Stop.LENGTH)


def test_an_answer_without_a_word_says_what_it_lacks():
    assert (completed(" \n").stop, completed("").problem) == (Stop.OTHER, EMPTY)
    assert completed("<think>no</think>\n").problem == ONLY_REASONING
    assert completed("", Stop.FILTER).stop is Stop.FILTER


def test_reasoning_that_came_apart_stays_before_what_was_in_the_text():
    completion = chat("<think>in the text</think>Yes", reasoning_content="apart")
    assert (completion.text, completion.reasoning) == ("Yes", "apart\n\nin the text")


def test_a_part_that_is_a_thought_is_reasoning():
    for part in [
        {"type": "thinking", "thinking": "Maybe no."},
        {"type": "thinking", "thinking": [{"type": "text", "text": "Maybe no."}]},
        {"type": "reasoning", "reasoning": "Maybe no."},
        {"type": "reasoning", "text": "Maybe no."},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Maybe no."}]},
        {"type": "reasoning_content", "content": "Maybe no."},
        {"type": "thought", "thought": "Maybe no."},
        {"type": "text", "thought": True, "text": "Maybe no."},
    ]:
        completion = chat([part, {"type": "text", "text": "Yes"}])
        assert (completion.text, completion.reasoning) == ("Yes", "Maybe no.")
        assert (chat([part]).problem, chat([part]).text) == (ONLY_REASONING, "")


def test_parts_that_hold_nothing_to_read_are_no_thoughts():
    completion = chat([{"type": "thinking", "thinking": 7}, {"type": "redacted_thinking", "data": "x"}, 3, "Yes"])
    assert (completion.text, completion.reasoning, completion.problem) == ("", "", EMPTY)


@pytest.mark.django_db(transaction=True)
def test_thoughts_count_where_tokens_are_estimated(make_endpoint, start, run_worker, monkeypatch):
    thought = "Ines was away when it happened. " * 40

    async def complete(self, body, *, timeout, call):
        parts = [{"type": "thinking", "thinking": thought}, {"type": "text", "text": f"<think>{thought}</think>Yes"}]
        return chat(parts)

    monkeypatch.setattr(ScriptedBackend, "complete", complete)
    start(make_endpoint(), ["a"])
    run_worker()
    call = Call.objects.get()
    assert (call.answer, call.state, call.usage_told) == ("Yes", "answered", False)
    assert call.reasoning == f"{thought}\n\n{thought.strip()}"
    assert call.reasoning_tokens == estimated_tokens(call.reasoning)
    assert call.output_tokens == call.reasoning_tokens + estimated_tokens("Yes")


def test_a_completion_that_is_made_again_is_the_same():
    completion = Completion("<think>no</think>Yes", Stop.END, Usage(), "tiny", reasoning="apart")
    assert replace(completion, body="as it came") == replace(replace(completion), body="as it came")
    assert replace(completion).reasoning == "apart\n\nno"
