"""The suite OpenToM."""

from collections.abc import Mapping

from benchmark.controls.contract import Controllable
from benchmark.methods.answering import COT, FIRST
from benchmark.methods.perceptom import NOTHING_PERCEIVED, PERCEPTOM
from benchmark.methods.program import method_setting, wording_digest
from benchmark.suites.answers import AnswerIds
from benchmark.suites.contract import Asking, Copied, ItemPages, Released, Results, Suite, Texts
from benchmark.suites.items import ReadLine
from benchmark.suites.opentom.data import ALL, GENRES, LONG, PARTS, SOURCE, ids_of, load
from benchmark.suites.opentom.measure import GROUP, measure
from benchmark.suites.opentom.parsing import COARSE, FINE, NEITHER, OUTSIDE, UNREADABLE
from benchmark.suites.opentom.scoring import score_answers
from benchmark.suites.opentom.steps import (
    ALONE,
    ANSWER,
    JOINT,
    METHODS,
    PROGRAM,
    STEPS,
    TELL,
    expected,
    labels_of,
    parse,
    request,
    right_label,
)
from benchmark.suites.opentom.tables import PUBLISHED, SECTIONS, pictures, tables
from benchmark.suites.questions import PARSES, ItemContext, ItemView
from benchmark.suites.reasons import note_of
from benchmark.suites.reports import Reported, Sections, asked_by
from benchmark.suites.settings import Option, Setting
from core.messages import Sentence, gettext_noop
from workers.providers.baseline.baseline import Baseline, generator, seeded

PROMPT_SET = "opentom-1"
NARRATIVES = Setting(
    "narratives",
    gettext_noop("Narratives"),
    ALL,
    help=gettext_noop("The split “sampled” has the questions on which the benchmark’s own figures rest."),
    choices=((ALL, gettext_noop("all 596 narratives")), (LONG, gettext_noop("the 100 long narratives"))),
)

PART = Setting(
    "part",
    gettext_noop("Questions about places"),
    COARSE,
    help=gettext_noop("Both parts of the released code number their questions alike."),
    choices=((COARSE, gettext_noop("coarse: is it where it was")), (FINE, gettext_noop("fine: where is it"))),
)


def _item(view: ItemView) -> ItemContext:
    sample = view.question.sample
    gold, read = right_label(sample), _read(view)
    answers = [
        {"text": text, "right": label == gold, **{name: label == value for name, value in read.items()}}
        for text, label in _labels(view).items()
    ]
    fields = {name: sample.content[name] for name in ("story", "question", "perspective")}
    answered = bool(view.answer) and view.question.step == ANSWER
    return fields | {
        "genre": sample.category,
        "answers": answers,
        "unreadable": note_of(view.unreadable) if answered else "",
        "outside": str((view.repaired or {}).get("outside", "")),
    }


def _labels(view: ItemView) -> Mapping[str, int]:
    """Return the labels of what may be answered, and of what the answer gives instead."""
    sample, other = view.question.sample, (view.repaired or {}).get("outside")
    neither = {"neither place": NEITHER} if sample.content["kind"] == FINE else {}
    return labels_of(sample) | neither | ({f"“{other}”": OUTSIDE} if other else {})


def _read(view: ItemView) -> dict[str, int | None]:
    return {
        name: (parsed or {}).get("label") for name, parsed in zip(PARSES, (view.official, view.repaired), strict=True)
    }


def _lines(view: ItemView) -> list[ReadLine]:
    """Return the label of the answer; officially one that cannot be read, or whose gold cannot, is not counted."""
    sample = view.question.sample
    if view.question.step != ANSWER:
        return []
    words: dict[int | None, str | None] = {number: text for text, number in _labels(view).items()}
    words |= {UNREADABLE: gettext_noop("none of the answers"), None: None}
    gold, official, repaired = right_label(sample), *_read(view).values()
    counted = official not in (None, UNREADABLE) and sample.gold["label"] is not None
    return [
        ReadLine(
            about=sample.content["question"],
            gold=words[gold],
            official=words[official],
            repaired=words[repaired],
            right=None if repaired is None else repaired == gold,
            officially_right=official == sample.gold["label"] if counted else None,
            note=note_of(view.unreadable) if view.answer else "",
        )
    ]


def _methods(reported: Reported) -> Sections:
    return [
        asked_by(SETTING.in_words(reported.settings.options["method"]), PROMPT_SET),
        (
            "Scoring",
            "Macro F1 is over the labels that occur in gold or answers, of the answers that could be read. The "
            "official parse takes labels as the benchmark’s released code does, with the persons and places of a "
            "plot read by name; it looks for words inside others, and takes an answer that is as much one place as "
            "the other for a third label; of an answer by chain of thought it reads the last line, of one line what "
            "follows the last “Therefore”. The repaired parse takes whole words alone, an answer that leaves it "
            "between several or refuses for none, and one that is none of the possible answers for wrong. "
            "Intervals resample narratives with all their questions.",
        ),
    ]


_TASK = {"key": "x", "choices": ["Yes", "No"], "majority": "No"}
SETTING = method_setting(METHODS)
CONTROLS = Controllable(
    story="story",
    texts=(
        "content.story", "content.question", "content.first.question", "content.people", "gold.answer", "gold.places",
        "gold.object", "gold.mover", "gold.observer",
    ),
    named=lambda sample: [(sample.gold["mover"],), (sample.gold["observer"],)],
    refused={"storyless": {PERCEPTOM.name: NOTHING_PERCEIVED}},
)  # fmt: skip
SUITE = Suite(
    name="opentom",
    title=gettext_noop("OpenToM"),
    steps=STEPS,
    asking=Asking(
        program=PROGRAM,
        max_tokens=1024,
        prompts={step.key: wording_digest((JOINT,) if step.key == FIRST else ALONE) for step in STEPS},
        prompts_version=PROMPT_SET,
        baselines=(
            Baseline(
                name="random",
                task=TELL,
                answer=lambda body: str(generator(body, body["task"]["key"]).choice(body["task"]["choices"])),
                sample=_TASK,
                settings=seeded,
            ),
            Baseline(name="majority", task=TELL, answer=lambda body: str(body["task"]["majority"]), sample=_TASK),
        ),
    ),
    groups=(GROUP,),
    request=request,
    parse=parse,
    measure=measure,
    expected=expected,
    released=Released(
        score=score_answers,
        options=(
            Option(
                PART.name,
                COARSE,
                Sentence("the questions about places: {coarse} or {fine}", coarse=COARSE, fine=FINE),
                PARTS,
            ),
            Option(
                COT.name, False, gettext_noop("the answers are by chain of thought: read what follows the reasoning")
            ),
        ),
        answer_ids=AnswerIds(ids_of, (PART,)),
    ),
    texts=Texts(told_by=("story", "question")),
    copied=Copied(load=load, source=SOURCE, options=(NARRATIVES,)),
    noun=(gettext_noop("question"), gettext_noop("questions")),
    cluster=(gettext_noop("narrative"), gettext_noop("narratives")),
    settings=(SETTING,),
    controls=CONTROLS,
    items=ItemPages(item=_item, template="opentom/item.html", lines=_lines),
    results=Results(
        methods=_methods,
        tables=tables,
        pictures=pictures,
        published=PUBLISHED,
        sections=SECTIONS,
        categories=GENRES,
        category_noun=gettext_noop("genre"),
        dependent=gettext_noop("questions of a narrative"),
    ),
)
