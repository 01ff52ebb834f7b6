"""Words that suites and figures have one by one, and pages show: what a sample is called, steps, parses, roles."""

from __future__ import annotations

from core.language import gettext_noop

SAMPLES = (
    gettext_noop("story"),
    gettext_noop("stories"),
    gettext_noop("question"),
    gettext_noop("questions"),
    gettext_noop("sample"),
    gettext_noop("samples"),
    gettext_noop("conversation"),
    gettext_noop("conversations"),
    gettext_noop("narrative"),
    gettext_noop("narratives"),
    gettext_noop("set"),
    gettext_noop("sets"),
    gettext_noop("category"),
    gettext_noop("genre"),
    gettext_noop("type"),
)
LACKING = (
    gettext_noop("no answer {count}"),
    gettext_noop("no answer yet {count}"),
    gettext_noop("no gold propositions {count}"),
    gettext_noop("no judgement {count}"),
    gettext_noop("no usable row {count}"),
    gettext_noop("cancelled {count}"),
    gettext_noop("the answer was cut off {count}"),
    gettext_noop("the call failed {count}"),
    gettext_noop("the imported file has no answer {count}"),
    gettext_noop("the judge refused {count}"),
    gettext_noop("the judge's answer was cut off {count}"),
    gettext_noop("the model refused {count}"),
)
"""Reasons of `benchmark.suites.reasons`, each with how many samples have it."""
STEPS = (
    gettext_noop("Extraction"),
    gettext_noop("Judging"),
    gettext_noop("Follow-up"),
    gettext_noop("Labelling"),
    gettext_noop("Answering"),
    gettext_noop("extraction"),
    gettext_noop("extractions"),
    gettext_noop("labelling"),
    gettext_noop("answering"),
    gettext_noop("answer"),
    gettext_noop("answers"),
)
PARSES = (gettext_noop("official"), gettext_noop("repaired"), gettext_noop("Official"), gettext_noop("Repaired"))
KINDS = (gettext_noop("parse"), gettext_noop("baseline"), gettext_noop("person"))
ROLES = (gettext_noop("annotator"), gettext_noop("expert"), gettext_noop("admin"), gettext_noop("data"))
SETTINGS = (
    gettext_noop("prompts"),
    gettext_noop("level"),
    gettext_noop("seed"),
    gettext_noop("longest answer"),
    gettext_noop("judge"),
    gettext_noop("max_tokens"),
)
MARKS = (gettext_noop("Group {letters}"),)
"""What stands beside marks of pictures (`core.views.charts`)."""
PERTURBED = (
    gettext_noop("identical {share}"),
    gettext_noop("paraphrase {share}"),
    gettext_noop("negated {share}"),
    gettext_noop("other actor {share}"),
    gettext_noop("other place or feeling {share}"),
    gettext_noop("{share}, {missing} unanswered"),
    gettext_noop("identical"),
    gettext_noop("paraphrase"),
    gettext_noop("negated"),
    gettext_noop("other actor"),
    gettext_noop("other place or feeling"),
)
ANSWER_FORMATS = (
    gettext_noop("Free text"),
    gettext_noop("Structured output"),
    gettext_noop("Free text · {names}"),
    gettext_noop("Structured output · {names}"),
)
RANKED = (
    gettext_noop("{prompts}, level {level}"),
    gettext_noop("with the story"),
    gettext_noop("without the story"),
    gettext_noop("asked with {names}"),
    gettext_noop("judged by {names}"),
)
UNITS = (
    gettext_noop("points"),
    gettext_noop("share"),
    gettext_noop("order"),
    gettext_noop("dimension"),
    gettext_noop("order and dimension"),
    gettext_noop("actor role and dimension"),
    gettext_noop("story category"),
    gettext_noop("first"),
    gettext_noop("second"),
    gettext_noop("Coarse location"),
    gettext_noop("Fine location"),
    gettext_noop("Multi-hop"),
)
NOTES = (
    gettext_noop("Rows are pooled over stories; brackets: 95 % intervals over stories; n: cells."),
    gettext_noop("none is settled"),
    gettext_noop("level {level}"),
    gettext_noop("free"),
    gettext_noop("seed for random"),
    gettext_noop("threshold for the lexical judge"),
)
