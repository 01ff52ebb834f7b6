"""Prompts: prompt sets as versioned text files, the requests made from them, and in-context examples.

Levels are those of the TELeR taxonomy (OmniToM, appendix C.1): 1 one sentence, 2 a paragraph, 3 stepwise sub-tasks, 4
criteria, a block by story category and examples besides. The answer format `text` asks for the tables that official
scoring parses, `structured` for JSON that a schema holds to the closed label sets (`parsing/structured.py` reads it).
"""

from benchmark.suites.omnitom.prompting.examples import MAX_EXAMPLES, Example, examples_for
from benchmark.suites.omnitom.prompting.requests import (
    MAX_TOKENS,
    extraction_request,
    judging_request,
    labelling_request,
)
from benchmark.suites.omnitom.prompting.sets import LEVELS, PromptSet, built_in, load_prompt_set
from benchmark.suites.omnitom.prompting.templates import ANSWER_FORMATS, Template

__all__ = [
    "ANSWER_FORMATS",
    "LEVELS",
    "MAX_EXAMPLES",
    "MAX_TOKENS",
    "Example",
    "PromptSet",
    "Template",
    "built_in",
    "examples_for",
    "extraction_request",
    "judging_request",
    "labelling_request",
    "load_prompt_set",
]
