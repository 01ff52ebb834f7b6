"""Parsing of values that a provider may send in any type: the type that is expected, or the value that stands for
nothing."""

import codecs
import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from core.messages import Sentence, gettext_noop
from core.plain import Json
from workers.providers.contract import Stop
from workers.providers.errors import Streamed, Unreadable

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
    """Return the reason, or `TOOLS` if tools were asked for: after a clean end, or without a text."""
    return TOOLS if tools and (not text or stop_of(reason)[0] is Stop.END) else reason


MOST = 2**31 - 1


EVENT_STREAM = "text/event-stream"
_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b": ")


def parse_json(content: bytes, media_type: str = "") -> Json:
    """Return a JSON object, as the provider sent it: its shape reads the fields. Raises Unreadable for anything else.
    `media_type` is what the server called it. A byte order mark before it counts for nothing.

    An answer may have been paid: it is read also where it nests deeper or says a field twice, which `core.incoming`
    refuses.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        payload = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Unreadable(
            Sentence("The answer is not UTF-8 (byte {start} of {content}).", start=error.start, content=len(content))
        ) from error
    except (ValueError, RecursionError) as error:
        if EVENT_STREAM in media_type.lower() or content.lstrip().startswith(_EVENTS):
            raise Streamed(gettext_noop("The answer is an event stream, which nobody asked for.")) from error
        page = gettext_noop("a web page, ") if content.lstrip()[:1] == b"<" else ""
        problem = Sentence(
            "The answer is {page}not JSON: {error}; it has {content} bytes.",
            page=page,
            error=str(error)[:120],
            content=len(content),
        )
        raise Unreadable(problem) from error
    if isinstance(payload, list) and len(payload) == 1 and isinstance(payload[0], dict) and payload[0].get("error"):
        return payload[0]  # Gemini's way to say an error
    if not isinstance(payload, dict):
        raise Unreadable(Sentence("The answer is a JSON {name}, expected an object.", name=type(payload).__name__))
    return payload


def count_of(value: Any) -> int:
    """Return a number of tokens; 0 for a value that is not one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else 0


def text_or_nothing(value: Any) -> str:
    """Return a text; "" for a value that is not one."""
    return value if isinstance(value, str) else ""


def object_of(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for a value that is not one."""
    return value if isinstance(value, Mapping) else {}


def content_of(content: Any) -> tuple[str, str]:
    """Return (text, thoughts) of a message's content, a text or parts. Raises Unreadable for anything else."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list):
        raise Unreadable(
            Sentence("The answer's content is a JSON {name}, expected a text.", name=type(content).__name__)
        )
    parts = [part for part in content if isinstance(part, Mapping)]
    thoughts = "\n".join(filter(None, (_thought_in(part) for part in parts if _is_thought(part))))
    texts = [part.get("text") for part in parts if part.get("type", "text") in _TEXTS and not _is_thought(part)]
    return "".join(map(text_or_nothing, texts)), thoughts


_TEXTS = ("text", "output_text")
_THOUGHTS = ("thinking", "reasoning", "thought")
"""Types of parts that are thoughts, and the fields that hold them."""


def _is_thought(part: Mapping[str, Any]) -> bool:
    kind = text_or_nothing(part.get("type")).lower()
    return part.get("thought") is True or any(name in kind for name in _THOUGHTS)


def _thought_in(part: Mapping[str, Any]) -> str:
    """Return the thought of a part: a text, or a list of parts with texts."""
    fields = (part.get(name) for name in (*_THOUGHTS, "text", "content", "summary"))
    thought = next((value for value in fields if isinstance(value, str | list)), "")
    if isinstance(thought, str):
        return thought
    texts = [inner.get("text") if isinstance(inner, Mapping) else inner for inner in thought]
    return "".join(map(text_or_nothing, texts))


def is_reported(input_tokens: int, output_tokens: int, text: str) -> bool:
    """Return whether these numbers of tokens are a usage: both are given for an answer with a text, else one."""
    return bool(input_tokens and output_tokens) if text else bool(input_tokens or output_tokens)


Count = Annotated[int, BeforeValidator(count_of)]
"""A field of a shape that is a number of tokens, 0 where it is not one."""
Text = Annotated[str, BeforeValidator(text_or_nothing)]
"""A field of a shape that is a text, empty where it is not one."""
Name = Annotated[str, BeforeValidator(lambda value: str(value or ""))]
"""A field of a shape that is named by whatever stands there, empty where nothing does."""
Given = Annotated[bool, BeforeValidator(bool)]
"""A field of a shape of which only counts whether it says anything."""
Inside = BeforeValidator(object_of)
"""Marks a field of a shape that is an object; anything else counts as an empty one."""
