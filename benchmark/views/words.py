"""Words that figures of all suites have one by one, and pages show: parses, roles, settings, units."""

from core.messages import gettext_noop

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
UNITS = (gettext_noop("points"), gettext_noop("share"))
NOTES = (
    gettext_noop("none is settled"),
    gettext_noop("free"),
    gettext_noop("seed for random"),
    gettext_noop("threshold for the lexical judge"),
)
