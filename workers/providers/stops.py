"""Reasons why an answer ended, in the words of every provider."""

from __future__ import annotations

from core.messages import Sentence, gettext_noop
from workers.providers.contract import Stop

DECLINED = "refusal"
_STOPS = {
    Stop.END: ("stop", "end_turn", "stop_sequence", "eos", "eos_token"),
    Stop.LENGTH: ("length", "max_tokens", "model_length", "max_length", "model_context_window_exceeded"),
    Stop.REFUSAL: (DECLINED,),
    Stop.FILTER: (
        "content_filter",
        "content_filtered",
        "safety",
        "sensitive",
        "recitation",
        "prohibited_content",
        "blocklist",
        "spii",
        "guardrail_intervened",
    ),
}
_STOP_BY_REASON = {reason: stop for stop, reasons in _STOPS.items() for reason in reasons}
TOOLS = "tool_calls"
_TOOLS = (TOOLS, "function_call", "tool_use")
STOP_SENTENCES = {
    Stop.END: "",
    Stop.LENGTH: gettext_noop("The answer ended at the token limit."),
    Stop.REFUSAL: gettext_noop("Refused by the provider: the model declined to answer."),
    Stop.FILTER: gettext_noop("Refused by the provider: its content filter stopped the answer."),
    Stop.OTHER: gettext_noop("The answer ended for a reason that is not known."),
}


def stop_of(reason: object) -> tuple[Stop, str]:
    """Return why the model stopped, and a sentence where it did not end by itself. `reason` is what the provider gave,
    None for nothing.

    An unknown reason counts as no answer: the text may be half of one.
    """
    name = str(reason).lower().replace("-", "_")
    if name.startswith("content_filter:"):  # with what it found
        name = "content_filter"
    if (stop := _STOP_BY_REASON.get(name)) is not None:
        return stop, STOP_SENTENCES[stop]
    if reason in _TOOLS:
        return Stop.OTHER, gettext_noop("The model asked for a tool to be called instead of answering.")
    if not reason:
        return Stop.OTHER, gettext_noop("The provider does not say why the answer ended.")
    return Stop.OTHER, Sentence("The answer ended for a reason that is not known: {reason}.", reason=str(reason)[:80])


def unless_tools(reason: object, *, text: str, tools: bool) -> object:
    """Return the reason, or `TOOLS` where tools were asked for: with a text only in place of a clean end, without a
    text always."""
    return TOOLS if tools and (not text or stop_of(reason)[0] is Stop.END) else reason
