"""Words that code has one by one, and pages show: the states of jobs, items and calls, and roles in a conversation."""

from core.messages import gettext_noop

STATES = (
    gettext_noop("preparing"),
    gettext_noop("running"),
    gettext_noop("paused"),
    gettext_noop("finished"),
    gettext_noop("cancelled"),
    gettext_noop("waiting"),
    gettext_noop("held back"),
    gettext_noop("in flight"),
    gettext_noop("in a batch"),
    gettext_noop("done"),
    gettext_noop("unreadable"),
    gettext_noop("failed"),
    gettext_noop("planned"),
    gettext_noop("reserved"),
    gettext_noop("sent"),
    gettext_noop("answered"),
    gettext_noop("truncated"),
    gettext_noop("refused"),
    gettext_noop("unknown"),
    gettext_noop("job"),
    gettext_noop("run"),
)
ROLES = (gettext_noop("system"), gettext_noop("user"), gettext_noop("assistant"))
