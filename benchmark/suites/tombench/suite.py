"""The suite ToMBench."""

from benchmark.controls.contract import Controllable
from benchmark.methods.program import method_setting
from benchmark.suites.answers import AnswerIds
from benchmark.suites.contract import Asking, Copied, ItemPages, Released, Results, Suite, Texts
from benchmark.suites.items import ReadLine
from benchmark.suites.lettered import Lettered
from benchmark.suites.questions import ItemContext, ItemView
from benchmark.suites.reasons import note_of
from benchmark.suites.reports import Published, Reported, Sections, asked_by
from benchmark.suites.results import Section
from benchmark.suites.settings import Option, Setting
from benchmark.suites.tombench.data import (
    AS_LOGGED,
    BOTH,
    NAMES,
    RELEASED,
    SEEDED,
    SOURCE,
    TRIES,
    UNSAID,
    UNSHUFFLED,
    ids_of,
    load,
    shown_in,
)
from benchmark.suites.tombench.metrics import GROUP, measure, score_answers
from benchmark.suites.tombench.steps import (
    ANSWER,
    BASELINES,
    METHODS,
    PROGRAM,
    PROMPT_SET,
    STEPS,
    expected,
    parse,
    request,
    wording,
)
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, gettext_noop

METHOD = method_setting(METHODS)
ORDER = Setting(
    "order",
    gettext_noop("Order of the options"),
    SEEDED,
    help=gettext_noop("The released code draws the orders of its five tries from one sequence for each file."),
    choices=(
        (SEEDED, gettext_noop("drawn from seed, question and try")),
        (RELEASED, gettext_noop("as the released code draws it")),
    ),
    of_imports=(
        (AS_LOGGED, gettext_noop("as the files show it")),
        (UNSHUFFLED, gettext_noop("as the data have it, unshuffled")),
    ),
)
LANGUAGE = Setting(
    "language", gettext_noop("Language"), UNSAID, choices=((UNSAID, gettext_noop("as the answers show")),
    *NAMES.items()),
    help=gettext_noop("The released code calls the questions of both languages alike."),
)  # fmt: skip
LANGUAGES = Setting(
    "languages",
    gettext_noop("Languages"),
    BOTH,
    help=gettext_noop("Each language of an item is a question of its own; a run can take one split."),
    choices=(
        (BOTH, gettext_noop("English and Chinese")),
        ("en", gettext_noop("English")),
        ("zh", gettext_noop("Chinese")),
    ),
)


def _item(view: ItemView) -> ItemContext:
    """Return story, question, and the options as this try shows them, with the right one and what either parse
    takes."""
    sample, displayed = view.question.sample, shown_in(view.question)
    official, repaired = ((parsed or {}).get("choice") for parsed in (view.official, view.repaired))
    options = [
        {
            "letter": letter,
            "text": text,
            "original": original,
            "right": original == sample.gold["answer"],
            "official": official == original,
            "repaired": repaired == original,
        }
        for letter, text, original in zip(displayed.letters, displayed.texts, displayed.originals, strict=True)
    ]
    answered = bool(view.answer) and view.question.step == ANSWER
    fields = {name: sample.content[name] for name in ("story", "question", "ability")}
    return fields | {
        "options": options,
        "try": view.question.repetition + 1,
        "unreadable": note_of(view.unreadable) if answered else "",
        "outside": repaired if answered and repaired not in (None, *displayed.originals) else "",
    }


def _lines(view: ItemView) -> list[ReadLine]:
    """Return the option that the answer chooses in this try, by its text, with the letter under which the model was
    shown it."""
    if view.question.step != ANSWER:
        return []
    sample, displayed = view.question.sample, shown_in(view.question)
    gold = sample.gold["answer"]
    texts, letters = (
        dict(zip(displayed.originals, values, strict=True)) for values in (displayed.texts, displayed.letters)
    )
    official, repaired = ((parsed or {}).get("choice") for parsed in (view.official, view.repaired))
    note = note_of(view.unreadable) if view.unreadable and view.answer is not None else ""
    if not note and repaired in letters:
        note = Sentence("Shown as {order}; right is {right}.", order=letters[repaired], right=letters[gold])
    return [
        ReadLine(
            about=sample.content["question"],
            gold=texts[gold],
            official=None if official is None else texts.get(official, "no option"),
            repaired=None if repaired is None else texts.get(repaired, repaired),
            right=None if repaired is None else repaired == gold,
            officially_right=None if official is None else official == sample.gold["cell"],
            note=note,
        )
    ]


def _methods(reported: Reported) -> Sections:
    tries = reported.settings.repetitions
    released = reported.settings.options.get(ORDER.name) == RELEASED
    drawn = (
        gettext_noop("as the released code draws it")
        if released
        else gettext_noop("drawn from the seed, the item and the try")
    )
    return [
        asked_by(METHOD.in_words(reported.settings.options["method"]), PROMPT_SET),
        (
            "Scoring",
            f"The options were shown in another order in each of {tries} tries, {drawn}; the majority of the tries is "
            "the answer, a tie goes to the option chosen first. The official parse extracts a letter as the "
            "benchmark's released code does, which takes A where it finds none; the repaired parse takes an answer "
            "that names no option, or more than one, for no vote, and a letter that was not offered for a wrong one.",
        ),
    ]


CONTROLS = Controllable(
    story="story",
    texts=("content.story", "content.question", "content.options"),
    language=lambda sample: sample.split,
    senseless={"shuffled": {"": gettext_noop("Its options stand in another order in each repetition anyway.")}},
)
_BY_TASK = f"categories-{GROUP.key}"
PUBLISHED = tuple(
    Published(f"task.{task}", task, gettext_noop("Accuracy by task"), {_BY_TASK: task})
    for task in (*TASKS, gettext_noop("Unexpected Outcome Test"))
)
SUITE = Suite(
    name="tombench",
    title=gettext_noop("ToMBench"),
    steps=STEPS,
    asking=Asking(
        program=PROGRAM,
        repetitions=TRIES,
        max_tokens=1000,
        prompts=wording(),
        prompts_version=PROMPT_SET,
        baselines=BASELINES,
    ),
    groups=(GROUP,),
    request=request,
    parse=parse,
    measure=measure,
    expected=expected,
    texts=Texts(
        story="story",
        told_by=("story", "question"),
        told_apart_by=("options",),
        lettered=Lettered(ANSWER, "options", ORDER.name),
    ),
    copied=Copied(load=load, source=SOURCE, options=(LANGUAGES,)),
    noun=(gettext_noop("question"), gettext_noop("questions")),
    settings=(METHOD, ORDER),
    controls=CONTROLS,
    items=ItemPages(item=_item, template="tombench/item.html", lines=_lines),
    results=Results(
        methods=_methods,
        published=PUBLISHED,
        sections=(Section(gettext_noop("Accuracy by task"), (_BY_TASK,), (_BY_TASK,), paper=True),),
        categories=TASKS,
    ),
    released=Released(
        score=score_answers,
        options=(Option(LANGUAGE.name, "en", "tombench: the language of the questions", ("en", "zh")),),
        answer_ids=AnswerIds(ids_of, (LANGUAGE,), {ORDER.name: RELEASED}),
    ),
)
