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
