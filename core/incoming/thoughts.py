"""Thoughts that a model wrote into its answer, and the answer that remains without them.

Servers without a reasoning parser leave a model's thoughts in the text. The marks are those of
- tags: `<think>`, `<thinking>`, `<thought>`, `<reasoning>`, in any case, with attributes, blanks or a prefix,
- Mistral's `[THINK]`, Kimi's `◁think▷`, Cohere's `<|START_THINKING|>`, OpenThinker's `<|begin_of_thought|>`, Gemma's
  `<|channel>thought`,
- harmony, the channels of gpt-oss: only `final` is an answer, also where a server removed the marks themselves.

The rules:
- An opening mark counts where a closing one follows it. Without one it counts only at the start of the text, of a line
  or of a sentence, and then the thought is unclosed: there is no answer.
- A closing mark without an opening one ends a thought that the question opened: all text before it is thought.
- The answer is the last text outside of thoughts. Earlier text is kept with the thoughts.
- A mark in quotes or backticks, or within a string of a JSON answer, is a mention of the mark and changes nothing. The
  same holds for an opening mark inside a sentence that no closing mark follows.
"""

import re
from typing import NamedTuple


class Split(NamedTuple):
    """An answer without its thoughts, "" if there is none; the `reasoning`, which is everything else without its marks;
    and whether the last thought is `unclosed`. A text without marks is returned as it is."""

    answer: str
    reasoning: str = ""
    unclosed: bool = False


_WORDS = r"(?:think|thinking|thoughts?|reasoning|antthinking)"
_PREFIX = r"\s{0,9}(?:\w{1,20}:)?"
_OPENINGS = (
    rf"<{_PREFIX}{_WORDS}(?:\s[^<>=]{{0,99}}=[^<>]{{0,300}})?\s{{0,9}}/?>",
    rf"◁{_PREFIX}{_WORDS}\s{{0,9}}▷",
    r"\[\s?(?:THINK|THINKING|THOUGHT|REASONING)\s?\]",
    r"<\|(?:START_THINKING|begin_of_thought)\|>",
    r"<\|channel>\s?thought\b",
)
_CLOSINGS = (
    rf"<\s{{0,9}}/{_PREFIX}{_WORDS}\s{{0,9}}>",
    rf"◁\s{{0,9}}/{_PREFIX}{_WORDS}\s{{0,9}}▷",
    r"\[\s?/\s?(?:THINK|THINKING|THOUGHT|REASONING)\s?\]",
    r"<\|(?:END_THINKING|end_of_thought)\|>",
    r"<channel\|>",
)
_AROUND_ANSWER = re.compile(r"<\|(?:(?:START|END)_RESPONSE|(?:begin|end)_of_solution)\|>")
_MARK = re.compile(f"(?P<closing>{'|'.join(_CLOSINGS)})|{'|'.join(_OPENINGS)}", re.IGNORECASE)
_ENDS_OF_SENTENCES = frozenset(".!?:。！？：…>")
_QUOTES = frozenset("\"'`“”‘’「」")
_BEFORE_QUOTES = frozenset(" \t\n([,:=，：（")
_JSON = re.compile(r"\s*(?:(?:```|~~~)[^\n{\[]{0,20})?\s*(?:\{\s*\"|\[\s*\{)")
_BEGINS_ANEW = re.compile(r"\s{0,99}[{\[`~]")
_CHANNEL = re.compile(
    r"(?:(?:<\|start\|>[^<]{0,100})?<\|channel\|>|\A)\s{0,9}(?P<channel>[a-z]{1,30})\b[^<]{0,300}"
    r"(?:<\|constrain\|>[^<]{0,100})?<\|message\|>"
)
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_BARE = re.compile(r"\s*(?:assistant(?:analysis|commentary|final)|analysis|commentary)")
_FINAL = re.compile(r"assistant\s{0,9}final")
"""Marks of harmony as a server leaves them that removes special tokens."""


def split_thoughts(text: str) -> Split:
    """Return the answer of a model's text and the thoughts in it. Takes time in proportion to the text."""
    if messages := list(_CHANNEL.finditer(text)):
        thoughts, rest = [_message(text[: messages[0].start()])], Split("", unclosed=True)
        ends = [*(message.start() for message in messages[1:]), len(text)]
        for message, end in zip(messages, ends, strict=True):
            content = _message(text[message.end() : end])
            if message["channel"] == "final" and content.strip():
                thoughts.append(rest.answer)
                rest = _of_marks(content)
                thoughts.append(rest.reasoning)
            else:
                thoughts.append(content)
        return Split(rest.answer.strip(), _text_of(thoughts), rest.unclosed)
    # Messages of harmony without its special tokens: `analysisShe left.assistantfinalYes`.
    opening = _BARE.match(text)
    if opening and (finals := [*_FINAL.finditer(text)]):
        thought = text[opening.end() : max(opening.end(), finals[-1].start())]
        rest = _of_marks(text[finals[-1].end() :])
        return Split(rest.answer.strip(), _text_of([thought, rest.reasoning]), rest.unclosed)
    # Without a final message `analysis` is a mark only where a word goes on directly behind it.
    if opening and text[opening.end() : opening.end() + 1].isalnum():
        return Split("", text[opening.end() :].strip(), unclosed=True)
    return _of_marks(text)


def without_thoughts(text: str) -> str:
    """Return the answer of a model's text, "" if it has nothing but thoughts."""
    return split_thoughts(text).answer


def _text_of(thoughts: list[str]) -> str:
    return "\n\n".join(filter(None, map(str.strip, thoughts)))


def _message(text: str) -> str:
    end = _END_OF_MESSAGE.search(text)
    return text[: end.start()] if end else text


def _of_marks(text: str) -> Split:
    marks = [mark for mark in _MARK.finditer(text) if not _is_quoted(text, mark)]
    if not marks:
        return Split(text)
    scan = _Scan(text, last_closing=max((mark.start() for mark in marks if mark["closing"]), default=-1))
    for mark in marks:
        scan.take(mark)
    return scan.result()


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark is a mention, between quotes of which the first one opens."""
    start, end = mark.span()
    before, after = text[max(0, start - 2) : start], text[end : end + 1]
    return after in _QUOTES and before[-1:] in _QUOTES and (len(before) == 1 or before[0] in _BEFORE_QUOTES)


class _Scan:
    """The parts of a text as its marks divide it. The first `thoughts` parts are thoughts, and so are those at the
    places in `closed`."""

    def __init__(self, text: str, *, last_closing: int) -> None:
        self.text, self.last_closing = text, last_closing
        self.parts: list[str] = []
        self.at, self.inside = 0, False
        self.thoughts, self.closed = 0, set[int]()
        self._begin(0)

    def take(self, mark: re.Match[str]) -> None:
        """Take the next mark; one that is a mention changes nothing."""
        if self._in_string(mark.start()) and not _BEGINS_ANEW.match(self.text, mark.end()):
            return
        if mark["closing"]:
            self._end(mark, is_thought=True)
        elif mark[0].endswith("/>"):
            self._end(mark, is_thought=self.inside)
        elif not self.inside and (mark.start() < self.last_closing or self._at_start(mark.start())):
            self._end(mark, is_thought=False)
            self.inside = True

    def result(self) -> Split:
        """Return the last part outside of thoughts that has a text as the answer, and the others as thoughts."""
        if not self.parts:
            return Split(self.text)
        parts = [*self.parts, self.text[self.at :]]
        if self.inside:
            return Split("", _text_of(parts), unclosed=True)
        places = range(len(parts) - 1, self.thoughts - 1, -1)
        place = next((at for at in places if at not in self.closed and parts[at].strip()), None)
        thoughts = [part for at, part in enumerate(parts) if at != place]
        answer = "" if place is None else _AROUND_ANSWER.sub("", parts[place]).strip()
        return Split(answer, _text_of(thoughts))

    def _end(self, mark: re.Match[str], *, is_thought: bool) -> None:
        """End a part at a mark. A thought that no mark opened takes all parts before it along."""
        self.parts.append(self.text[self.at : mark.start()])
        if is_thought and self.inside:
            self.closed.add(len(self.parts) - 1)
        elif is_thought:
            self.thoughts = len(self.parts)
        self.inside = False
        self._begin(mark.end())

    def _begin(self, at: int) -> None:
        self.at = self.counted = at
        self.is_json, self.quotes = _JSON.match(self.text, at) is not None, 0

    def _in_string(self, start: int) -> bool:
        if self.inside or not self.is_json:
            return False
        read = self.text[self.counted : start]
        self.quotes, self.counted = self.quotes + read.count('"') - read.count('\\"'), start
        return self.quotes % 2 == 1

    def _at_start(self, start: int) -> bool:
        before = self.text[max(self.at, start - 200) : start]
        sentence = before.rstrip()
        return not sentence or "\n" in before[len(sentence) :] or sentence[-1] in _ENDS_OF_SENTENCES
