"""Words of the audit log on datasets, runs, results and watches."""

from django.utils.translation import pgettext_lazy

from annotation.services.audit import register

ACTIONS = {
    "alignment.judge_chosen": pgettext_lazy("audit log", "judge of the alignments chosen"),
    "dataset.published": pgettext_lazy("audit log", "version published"),
    "dataset.imported": pgettext_lazy("audit log", "question set imported"),
    "judge.tested": pgettext_lazy("audit log", "judge tested"),
    "prompts.discarded": pgettext_lazy("audit log", "prompt set discarded"),
    "prompts.loaded": pgettext_lazy("audit log", "prompt set loaded"),
    "snapshot.saved": pgettext_lazy("audit log", "snapshot saved"),
    "results.entered": pgettext_lazy("audit log", "row of results entered"),
    "results.entry_changed": pgettext_lazy("audit log", "entered row changed"),
    "results.entry_removed": pgettext_lazy("audit log", "entered row removed"),
    "results.shown": pgettext_lazy("audit log", "audience of results changed"),
    "run.archived": pgettext_lazy("audit log", "run archived"),
    "run.deleted": pgettext_lazy("audit log", "run deleted"),
    "run.extended": pgettext_lazy("audit log", "run extended"),
    "run.followed_up": pgettext_lazy("audit log", "missing rows asked for"),
    "run.imported": pgettext_lazy("audit log", "answers imported"),
    "run.read_again": pgettext_lazy("audit log", "answers read again"),
    "run.renamed": pgettext_lazy("audit log", "run renamed"),
    "run.restored": pgettext_lazy("audit log", "run restored"),
    "run.started": pgettext_lazy("audit log", "run started"),
    "sweep.model_chosen": pgettext_lazy("audit log", "model of a sweep chosen"),
    "watch.noted": pgettext_lazy("audit log", "note on a watch"),
    "watch.resumed": pgettext_lazy("audit log", "watch resumed"),
    "watch.started": pgettext_lazy("audit log", "watch started"),
    "watch.stopped": pgettext_lazy("audit log", "watch stopped"),
}
DETAILS = {
    "answers": pgettext_lazy("audit log", "answers"),
    "asked": pgettext_lazy("audit log", "asked model"),
    "calls": pgettext_lazy("audit log", "calls"),
    "changed": pgettext_lazy("audit log", "changed"),
    "digest": pgettext_lazy("audit log", "digest"),
    "endpoint": pgettext_lazy("audit log", "endpoint"),
    "every": pgettext_lazy("audit log", "days between"),
    "file": pgettext_lazy("audit log", "file"),
    "files": pgettext_lazy("audit log", "files"),
    "items": pgettext_lazy("audit log", "items"),
    "group": pgettext_lazy("audit log", "metric group"),
    "judge": pgettext_lazy("audit log", "judge"),
    "judgements": pgettext_lazy("audit log", "judgements"),
    "models": pgettext_lazy("audit log", "models"),
    "once_published": pgettext_lazy("audit log", "once published"),
    "rounds": pgettext_lazy("audit log", "rounds"),
    "samples": pgettext_lazy("audit log", "questions"),
    "steps": pgettext_lazy("audit log", "steps"),
    "suite": pgettext_lazy("audit log", "suite"),
    "title": pgettext_lazy("audit log", "title"),
    "version": pgettext_lazy("audit log", "version"),
}


def register_words() -> None:
    """Have the audit log say these words."""
    register(ACTIONS, DETAILS)
