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
        blocks = [{"type": "text", "text": text}]
        by_anthropic = anthropic_completion({"content": blocks, "stop_reason": "end_turn"}, {})
        for completion in (completed(text), chat(text), chat(blocks), by_anthropic):
            assert (completion.text, completion.stop, completion.problem) == ("Yes", Stop.END, ""), mark
            assert "Maybe no." in completion.reasoning
    for mark in UNCLOSED:  # an unclosed thought is no answer
        text = UNCLOSED[mark].format(thought="Maybe no.")
        completion = chat(text)
        assert (completion.text, completion.stop, completion.problem) == ("", Stop.OTHER, WITHIN_REASONING), mark
        assert "Maybe no." in completion.reasoning
        cut = completed(text, Stop.LENGTH)
        assert (cut.text, cut.stop) == ("", Stop.LENGTH)
    completion = chat("<think>in the text</think>Yes", reasoning_content="apart")
    assert (completion.text, completion.reasoning) == ("Yes", "apart\n\nin the text")
    made = Completion("<think>no</think>Yes", Stop.END, Usage(), "tiny", reasoning="apart")
    assert replace(made, body="as it came") == replace(replace(made), body="as it came"), "made again it is the same"
    assert replace(made).reasoning == "apart\n\nno"


def test_an_answer_without_a_word_says_what_it_lacks():
    assert (completed(" \n").stop, completed("").problem) == (Stop.OTHER, EMPTY)
    assert completed("<think>no</think>\n").problem == ONLY_REASONING
    assert completed("", Stop.FILTER).stop is Stop.FILTER


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
        assert (completion.text, completion.reasoning) == ("Yes", "Maybe no."), part
        assert (chat([part]).problem, chat([part]).text) == (ONLY_REASONING, "")
    # parts that hold nothing to read are no thoughts
    completion = chat([{"type": "thinking", "thinking": 7}, {"type": "redacted_thinking", "data": "x"}, 3, "Yes"])
    assert (completion.text, completion.reasoning, completion.problem) == ("", "", EMPTY)


@pytest.mark.django_db(transaction=True)
def test_thoughts_count_where_tokens_are_estimated(make_endpoint, worked, monkeypatch):
    thought = "Ines was away when it happened. " * 40

    async def complete(self, body, *, timeout, call):
        text = {"type": "text", "text": f"<think>{thought}</think>Yes"}
        return chat([{"type": "thinking", "thinking": thought}, text])

    monkeypatch.setattr(ScriptedBackend, "complete", complete)
    worked(make_endpoint(), ["a"])
    call = Call.objects.get()
    assert (call.answer, call.state, call.usage_told) == ("Yes", "answered", False)
    assert call.reasoning == f"{thought}\n\n{thought.strip()}"
    assert call.reasoning_tokens == estimated_tokens(call.reasoning)
    assert call.output_tokens == call.reasoning_tokens + estimated_tokens("Yes")
