"""Thoughts in a model's text: which marks count, what remains as the answer, and how long it takes."""

from core.incoming.thoughts import split_thoughts
from tests.marked import FINAL, MARKS

MARKED = {
    "reasoning": "<reasoning>no</reasoning>\nYes",
    "upper case": "<THINK>no</Think>Yes",
    "attributes": '<thinking effort="high" id=3>no</thinking>Yes',
    "blanks": "< think >no</ think >Yes",
    "prefix": "<seed:think>no</seed:think>Yes",
    "begin of thought": "<|begin_of_thought|>no<|end_of_thought|>Yes",
    "harmony with all marks": f"<|start|>assistant<|channel|>analysis<|message|>no<|end|>{FINAL}Yes<|return|>",
    "harmony in JSON": "<|channel|>analysis<|message|>no<|end|><|channel|>final <|constrain|>json<|message|>Yes",
    "harmony begun by the prompt": f"no<|end|>{FINAL}Yes",
    "harmony without marks": "analysisno, I think.assistantfinalYes",
    "harmony without marks, with roles": "assistantanalysisno, I think.assistantfinalYes",
    "harmony without marks, on lines": "analysis\nno, I think.\nassistantfinal\nYes",
    "harmony without marks, three messages": "analysisno.assistantcommentaryno.assistantfinalYes",
    "harmony without marks, only final": "assistantfinalYes",
    "thinking in brackets": "[THINKING]no[/THINKING]Yes",
    "reasoning in brackets": "[reasoning]no[/reasoning]Yes",
    "marks around the answer": "<|START_THINKING|>no<|END_THINKING|><|START_RESPONSE|>Yes<|END_RESPONSE|>",
    "closing only, inside a line": "She left, so no.</think>Yes",
    "closed by another mark": "<think>no</thinking>Yes",
    "closed twice": "<think>no</think>not that</think>Yes",
    "two thoughts": "<think>no</think>\n<think>not that</think>\nYes",
    "a draft between thoughts": "<think>no</think>No.<think>wait</think>Yes",
    "nested": "<think>no <think>really</think> no</think>Yes",
    "another mark inside": "<think>no <reasoning>step</reasoning> no</think>Yes",
    "marks named inside": "<think>no; I must end with `</think>`.</think>Yes",
    "preamble": "Sure, let me see. <think>no</think>Yes",
    "preamble on its own line": "Sure.\n<think>no</think>\nYes",
    "behind the answer": "Yes\n<think>no doubt</think>",
    "thought without a word": "<think>\n\n</think>\n\nYes",
    "nothing but a mark": "<think/>Yes",
} | {f"{name} of readers": text.format(thought="no", answer="Yes") for name, text in MARKS.items()}
UNCLOSED = (
    "<think>Would it be no? She left.",
    "Sure. <thinking>Would it be no?",
    "Yes\n[THINK]Would it be no?",
    "<think>no</think>\n<think>or yes",
    "◁think▷no",
    "<|channel|>analysis<|message|>no",
    "<|channel|>analysis<|message|>no<|end|>",
    "analysisWe have to say no",
    "analysiswe have to say no",
    "assistantanalysisWe have to say no",
)
UNMARKED = (
    "",
    "Yes",
    "Mia thinks that <think> is a tag.",
    "The tag `<think>` ends with `</think>`.",
    "The screen says “</think>”.",
    "Mia | she read <reasoning> on the wall | 1",
    "<thought experiment>",
    "She was [thinking] of the key.",
    "analysis",
    "analysis\nShe left.",
    "Analysis of the story: yes",
    "analysis of the story: yes",
    '{"rows": [{"actor": "Mia", "belief": "the note says </think> or \\"<think>\\"", "order": "1"}]}',
    '```json\n{"verdict": "the note says <think>hm</think>"}\n```',
)


def test_a_thought_is_taken_off_and_an_unclosed_one_is_no_answer():
    for name, text in MARKED.items():
        answer, reasoning, unclosed = split_thoughts(text)
        assert (answer, unclosed) == ("Yes", False), name
        assert ("no" in reasoning) == ("no" in text.replace("nothing", "")), name
        assert split_thoughts(answer) == ("Yes", "", False)
    for text in UNCLOSED:
        answer, reasoning, unclosed = split_thoughts(text)
        assert (answer, unclosed) == ("", True) and "no" in reasoning, text
    assert split_thoughts("<think>no</think>\n") == ("", "no", False)
    assert split_thoughts("So it is no.\n</think>") == ("", "So it is no.", False)
    for thought in [
        '{"rows": ["draft"]} is "not" right.',
        '{"rows": ["dra',
        '[{"a": "5" of rope"}] or',
        '[[B]], the 5" rope.',
    ]:
        for opening in ("", "<think>"):
            assert split_thoughts(f'{opening}{thought}</think>{{"rows": ["final"]}}').answer == '{"rows": ["final"]}'


def test_a_mention_of_a_mark_stays():
    for text in UNMARKED:
        assert split_thoughts(text) == (text, "", False)
    mention = "Mia thinks that <think> is a tag."
    assert split_thoughts(f"<think>hm</think>{mention}").answer == mention


def test_a_megabyte_of_marks_is_split():
    """Quadratic time would be hours."""
    for piece in ["<think>", "</think>", "<", "< think ", "<think =", '{"</think>', "<|channel|>a", f"{FINAL}a", "\n"]:
        text = piece * (1_000_000 // len(piece))
        assert len("".join(split_thoughts(text)[:2])) <= 2 * len(text)
