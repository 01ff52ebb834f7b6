"""Results of a sweep: models by prompt level, and the choice of a model and level by paired tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any

from django.db import transaction

from annotation.models import User
from annotation.services import audit
from benchmark.domain.inference import Pair
from benchmark.domain.tables import NOTHING, Cell, Cells, Column, Table
from benchmark.models import Run, SweepPick
from benchmark.services.calibration import Levels, calibration
from benchmark.services.comparison_tables import count_column
from benchmark.services.conditions import named
from benchmark.services.leaderboards import differences, entrants_of, ranked_entrants
from benchmark.services.plans import swept_settings
from benchmark.services.reports import reports_of
from benchmark.services.runs import NO_LEVEL, judges_of_launch, level_name, level_of
from benchmark.suites.contract import Suite
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import suite_named, units_of_group
from benchmark.suites.settings import Setting
from benchmark.suites.showing.entrants import in_rank_order, label
from core.language import gettext
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, noted
from core.plain import Json
from core.statistics import Estimate, beyond_reach, holm
from judge.domain.calibration.selection import choice_text, highest_text

LONGEST_REASON = 2000
WAITS = "waits"
"""The key of a row of a judge that has no estimate at some level yet."""
NO_PROMPT = gettext_noop("no prompt")
NOTE = gettext_noop(
    "Intervals are 95 % over stories. The last column names the levels of a model that are not shown to differ from "
    "the best cell of its block: paired over the same stories and adjusted for all pairs of cells."
)
JUDGES = gettext_noop("Judges (agreement with people)")
JUDGED_NOTE = gettext_noop(
    "Agreement of a judge: the share of rows of a table on which people and the judge agree whether they are matched, "
    "averaged over the tables that people aligned; the test is paired over stories, with Holm’s correction. Judges "
    "without a verdict on a table of the best one are not compared. A judge that reads no prompt has the level –, in a "
    "column of its own."
)
OPEN_NOTE = gettext_noop("Judges have figures here once people aligned tables of these models and gold.")
PAIRED_NOTE = gettext_noop(
    "Paired over the same stories, missing answers at their worst; p adjusted for all pairs of cells of a block."
)
BEYOND_NOTE = gettext_noop(
    "In a block of so few stories no difference can be shown in so many tests at once, however large it is."
)


def swept_by(runs: Sequence[Run]) -> tuple[Suite, Setting]:
    """Return the suite of a sweep's runs and the setting that differs between them."""
    suite = suite_named(runs[0].suite)
    return suite, next(setting for setting in swept_settings(suite).values() if setting not in suite.judging_settings)


class Block:
    """One metric group of a sweep: every model at every level by the repaired parse, the tests between them, and the
    candidate that is compared with all others: one whose key is in `looked`, else the pick, else the best."""

    def __init__(
        self, runs: Sequence[Run], group: MetricGroup, kept: SweepPick | None = None, looked: Sequence[str] = ()
    ) -> None:
        self.group, self.kept, self._seed = group, kept, runs[0].parameters.seed
        self.setting = swept_by(runs)[1].name
        levels = {run.uid: level_of(run, self.setting) for run in runs}
        entrants = [
            entrant
            for entrant in entrants_of(runs, reports_of(runs), group.key)
            if entrant.kind != "person" and entrant.metrics.parses.of("repaired")
        ]
        self.entrants = ranked_entrants(label(named(entrants))[0], group.key, seed=self._seed) if entrants else []
        self.ranked: list[Json] = []  # {key, model, level, name, score, cell, entrant, run}
        for entrant in self.entrants:
            model, level = entrant.spec.name or entrant.name, levels[entrant.run]
            metrics = entrant.parses.overall("repaired")
            cell, score = metrics.cells.get(group.score, NOTHING), metrics.number_of(group.score)
            cell = Cell(score, cell.interval, reason=cell.reason, bounds=cell.bounds)
            row = {"key": entrant.key, "model": model, "level": level, "name": f"{model} {level_name(level)}"}
            self.ranked.append(row | {"score": score, "cell": cell, "entrant": entrant.entrant, "run": entrant.run})
        self.candidates = sorted(self.ranked, key=lambda row: (row["model"], row["level"]))
        best = next((entrant.key for entrant in in_rank_order(self.entrants, "repaired")), None)
        self.best = next((row for row in self.ranked if row["key"] == best), None)
        chosen = [row for row in self.candidates if row["key"] in looked], [self.chosen], [self.best]
        self.looked: Json = next((row for rows in chosen for row in rows if row), {})

    @cached_property
    def _tested(self) -> tuple[Mapping[frozenset[str], Pair], Estimate | None]:
        """Every two candidates, by their keys, with p adjusted for all of these pairs, and the score of the best
        without the optimism of choosing it."""
        if not self.entrants:
            return {}, None
        ranking = differences(self.entrants, self.group.key, seed=self._seed)["repaired"]
        pairs = [pair for pair in ranking.pairs if not pair.category]
        adjusted = zip(pairs, holm([pair.p for pair in pairs]), strict=True)
        return {
            frozenset((pair.first, pair.second)): replace(pair, p_adjusted=p) for pair, p in adjusted
        }, ranking.first

    def pair(self, row: Json, other: Json) -> Pair | None:
        """Return the pair of two candidates. Returns None if one of them is not ranked."""
        return self._tested[0].get(frozenset((row["key"], other["key"])))

    def alike(self, row: Json) -> bool | None:
        """Return whether a candidate is not shown to differ from the best. Returns None if they cannot be compared."""
        if self.best is None or row is self.best:
            return self.best is not None
        pair = self.pair(row, self.best)
        return None if pair is None or pair.value is None else not pair.differs()

    @property
    def title(self) -> str:
        return noted(self.group.title, self.group.headers[self.group.score])

    @property
    def chosen(self) -> Json | None:
        """The candidate that was chosen. None if there is none or its run was deleted."""
        entrant = self.kept.entrant_id if self.kept else None
        return next((row for row in self.candidates if entrant and row["entrant"] == entrant), None)

    @property
    def seen(self) -> str:
        """A token of the current pick. Empty without one."""
        return self.kept.seen if self.kept else ""

    @property
    def reason(self) -> str:
        """The reason of the pick. Empty if `looked` is not the pick."""
        return self.kept.reason if self.kept and self.chosen == self.looked else ""

    @cached_property
    def against(self) -> list[Json]:
        """The other candidates with the difference of `looked` and each: {difference, interval, reason, n, p, adjusted,
        shown, verdict}."""
        rows = []
        for other in self.candidates:
            if other is self.looked:
                continue
            pair = self.pair(self.looked, other)
            if pair is None:
                empty = dict.fromkeys(("difference", "interval", "reason", "p", "adjusted", "verdict"))
                rows.append(other | empty | {"n": 0, "shown": False})
                continue
            value, ends = pair.value, pair.interval and list(pair.interval)
            if pair.first == other["key"]:
                value, ends = value and -value, ends and [-ends[1], -ends[0]]
            tested = {"n": pair.n, "p": pair.p, "adjusted": pair.p_adjusted, "shown": pair.differs()}
            found = {"difference": value, "interval": ends, "reason": pair.reason, "verdict": pair.verdict}
            rows.append(other | found | tested)
        return rows

    @property
    def beyond(self) -> str | None:
        """A clause that says why no test of this group can show a difference. None if one can."""
        tested = [pair for pair in self._tested[0].values() if pair.p is not None]
        units = max((pair.clusters or pair.n for pair in tested), default=0)
        return beyond_reach(units, len(tested), units_of_group(self.group.key)) or None

    @property
    def without_optimism(self) -> Estimate | None:
        """The score of `looked` corrected for being the highest. None if it is not the highest, or the only one."""
        return self._tested[1] if self.best and self.looked is self.best else None

    @property
    def highest(self) -> str:
        """The score of the best candidate without the optimism of choosing it, in words. Empty without one."""
        estimate = self._tested[1]
        return highest_text(self.best["name"], len(self.candidates), estimate) if self.best and estimate else ""

    @property
    def finding(self) -> str:
        """One sentence about how `looked` compares with the others."""
        names: dict[str, list[str]] = {"worse": [], "alike": [], "better": [], "apart": []}
        for row in self.against:
            value = row["difference"]
            verdict = "worse" if (value or 0.0) > 0 else "better"
            names["apart" if value is None else verdict if row["shown"] else "alike"].append(row["name"])
        return choice_text(self.looked["name"], **names, without=gettext("not compared with {judges}"))

    @property
    def pick(self) -> Json | None:
        """{model, level, reason, by, at} of the pick. None without one."""
        if self.kept is None:
            return None
        entrant, by = self.kept.entrant, self.kept.by
        return {
            "model": entrant.name,
            "level": level_of(entrant.run, self.setting),
            "reason": self.kept.reason,
            "by": by.username if by else None,
            "at": self.kept.at.isoformat(),
        }


def choosings_of(runs: Sequence[Run], looked: Sequence[str] = ()) -> list[Block]:
    """Return the metric groups of a sweep that have candidates. `looked` are keys of candidates that are compared with
    all others."""
    if not runs:
        return []
    made = SweepPick.objects.filter(project=runs[0].project_id, launch=runs[0].provenance.launch)
    picks = {pick.group: pick for pick in made.select_related("entrant__run", "by")}
    blocks = [Block(runs, group, picks.get(group.key), looked) for group in swept_by(runs)[0].groups]
    return [block for block in blocks if block.looked]


def _share(key: str, header: str, **more: Any) -> Column:
    return Column(key=key, header=header, kind="share", unit="%", **more)


def sweep_tables(runs: Sequence[Run], reader: User, looked: Sequence[str] = ()) -> dict[str, Callable[[], Table]]:
    """Return functions that make the tables of a sweep, by name. Judges appear if the reader may see how people
    aligned. `looked` has the keys of the candidates that are compared with all others."""
    return {
        "levels": partial(levels_table, runs, reader),
        "models": partial(models_table, runs),
        "paired": lambda: paired_table(choosings_of(runs, looked)),
    }


def levels_table(runs: Sequence[Run], reader: User) -> Table:
    """Return one block per metric group, with a row per model and a column per level. The judges' agreement with people
    is a block below the group that is judged."""
    suite, setting = swept_by(runs)
    blocks = [Block(runs, group) for group in suite.groups]
    by_judge, highest = calibration.by_level(runs[0], reader)
    judges = _judge_rows(runs, reader, by_judge)
    rows: list[Cells] = []
    for block in blocks:
        by_model: dict[str, dict[int, tuple[Cell, bool | None]]] = {}
        for row in block.ranked:
            by_model.setdefault(row["model"], {})[row["level"]] = row["cell"], block.alike(row)
        rows += [_level_row(block.title, model, block.group.key, estimates) for model, estimates in by_model.items()]
        rows += judges if block.group.judged else []
    levels = {level for row in rows for level in row["levels"]} | {level_of(run, setting.name) for run in runs}
    columns = [
        _share(f"l{level}", level_name(level), best="high", label=NO_PROMPT if level == NO_LEVEL else "")
        for level in (*(value for value, _ in setting.choices), NO_LEVEL)
        if level in levels
    ]
    calibrated = any(row["best"] for row in judges)
    open_ = runs[0].judge and (not judges or any(row.get(WAITS) for row in judges))
    return Table(
        title=Sentence("{setting} by model", setting=setting.label),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *columns,
            Column(key="best", header=gettext_noop("Best level")),
            Column(key="alike", header=gettext_noop("Not shown to differ from the best")),
        ],
        rows=rows,
        section="block",
        mark_across=True,
        notes=[
            NOTE,
            *(labelled(block.group.title, block.highest) for block in blocks if block.highest),
            *([JUDGED_NOTE] if calibrated else []),
            *([OPEN_NOTE] if open_ else []),
            *([highest] if highest and calibrated else []),
        ],
    )


def _level_row(
    block: str, model: str, group: str, estimates: Mapping[int, tuple[Cell, bool | None]], waits: str = ""
) -> Cells:
    """Return a row of the table of levels from the estimate at each level and whether it is not shown to differ from
    the best of its block: None if the two cannot be compared."""
    ordered = sorted(estimates)
    values = {level: value for level in ordered if (value := estimates[level][0].value) is not None}
    together, apart = (
        listed(level_name(level) for level in ordered if estimates[level][1] is alike) for alike in (True, None)
    )
    not_compared = Sentence("not compared: {apart}", apart=apart) if apart else ""
    return {
        "block": block,
        "model": model,
        "group": group,
        "levels": set(estimates),
        **{f"l{level}": cell for level, (cell, _) in estimates.items()},
        "best": listed(level_name(level) for level in values if values[level] == max(values.values())) or None,
        "alike": clauses(together, not_compared, waits) or None,
    }


def _judge_rows(runs: Sequence[Run], reader: User, calibrated: Levels) -> list[Cells]:
    """Return the rows of the judges that the newest study of the same gold calibrated, and of the judges of the launch.
    The latter name the levels that were not calibrated. A single judge that reads no prompt has no row, as nothing of
    judges was swept."""
    launched = judges_of_launch(runs[0])
    if [*launched.values()] == [[NO_LEVEL]]:
        launched = {}
    aligns = calibration.still_aligns(runs[0], reader) if runs[0].judge else False
    rows = []
    for name in dict.fromkeys([*calibrated, *launched]):
        estimates = {}
        for level, (agreement, alike) in calibrated.get(name, {}).items():
            value = agreement.by_story
            estimates[level] = (
                Cell(value.value, value.interval, reason=value.reason or None, bounds=value.bounds),
                alike,
            )
        waits = [level for level in launched.get(name, ()) if level not in estimates]
        at = listed(map(level_name, waits))
        why = Sentence("you still align: {at}", at=at) if aligns else Sentence("not aligned yet: {at}", at=at)
        row = _level_row(JUDGES, name, "judges", estimates, why if waits else "")
        rows.append(row | {"levels": row["levels"] | set(waits)} | ({WAITS: True} if waits else {}))
    return rows


def models_table(runs: Sequence[Run]) -> Table:
    """Return the models at the highest level of the sweep with the score of each metric group, best first."""
    suite, setting = swept_by(runs)
    highest = max(level_of(run, setting.name) for run in runs)
    there = [run for run in runs if level_of(run, setting.name) == highest]
    blocks = [block for group in suite.groups if (block := Block(there, group)).ranked]
    rows: dict[str, Cells] = {}
    for block in blocks:
        for row in block.ranked:
            rows.setdefault(row["model"], {"model": row["model"]})[block.group.key] = row["cell"]

    def scores(row: Mapping[str, Any]) -> list[float]:
        values = [row.get(block.group.key, NOTHING).value for block in blocks]
        return [-1.0 if value is None else value for value in values]

    heads = {block.group.key: (block.group.title, block.group.headers[block.group.score]) for block in blocks}
    return Table(
        title=Sentence("Models at {setting} {highest}", setting=setting.label.lower(), highest=highest),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *(_share(key, f"{title.partition(':')[0]}, {head}", best="high") for key, (title, head) in heads.items()),
        ],
        rows=sorted(rows.values(), key=scores, reverse=True),
        notes=[
            gettext_noop(
                "Choose by a paired difference, not by the highest number: the table of levels says what differs."
            )
        ],
    )


def paired_table(blocks: Sequence[Block]) -> Table:
    """Return one block per metric group, in which one candidate is compared with every other model and level."""
    return Table(
        title=gettext_noop("Beside every other model and level"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            _share("score", gettext_noop("Score")),
            Column(
                key="difference", header=gettext_noop("The one looked at less this one"), kind="share", unit="points"
            ),
            *(count_column(block.group.key) for block in blocks[:1]),
            Column(key="p", header=gettext_noop("p, Holm"), kind="number", digits=4),
            Column(key="shown", header=gettext_noop("Shown to differ")),
        ],
        rows=[
            {
                "block": labelled(block.title, block.looked["name"]),
                "model": other["name"],
                "score": other["score"],
                "difference": Cell(other["difference"], other["interval"], reason=other["reason"]),
                "n": other["n"] or None,
                "p": other["adjusted"],
                "shown": other["verdict"],
            }
            for block in blocks
            for other in block.against
        ],
        section="block",
        notes=[PAIRED_NOTE, *([BEYOND_NOTE] if any(block.beyond for block in blocks) else [])],
    )


class ChoiceRefused(ValueError):
    """A choice that cannot be kept, with the reason."""


@transaction.atomic
def choose_model(
    *, by: User | None, runs: Sequence[Run], key: str, group: str, reason: str, now: datetime, seen: str | None = None
) -> None:
    """Keep the model and level that is chosen for a metric group, with the reason. The log keeps earlier choices.

    `seen` is the token of the pick that the person looked at, and None replaces any pick. Raises ChoiceRefused if
    another pick was kept meanwhile, without a score of the model, and without a reason of fitting length."""
    locked = Run.objects.select_for_update().filter(pk__in=[run.pk for run in runs]).order_by("pk")
    there = {run.uid for run in locked.only("uid")}
    block = next((block for block in choosings_of(runs, [key]) if block.group.key == group), None)
    if block is None or block.looked["key"] != key or block.looked["run"] not in there:
        raise ChoiceRefused(gettext_noop("The sweep has no score of that model."))
    reason = reason.replace("\x00", "").strip()
    kept, entrant = block.kept, block.looked["entrant"]
    if kept and (kept.entrant_id, kept.reason, kept.by) == (entrant, reason, by):
        return
    if seen is not None and seen != block.seen:
        name = block.chosen["name"] if block.chosen else kept.entrant.name if kept else ""
        text = gettext_noop(
            "{model} was chosen since you opened this page; keep your choice again to replace that one."
        )
        raise ChoiceRefused(Sentence(text, model=name))
    if not reason:
        raise ChoiceRefused(gettext_noop("Say why this model is chosen."))
    if len(reason) > LONGEST_REASON:
        text = gettext_noop("The reason has {reason} characters; at most {longest_reason} are kept.")
        raise ChoiceRefused(Sentence(text, reason=f"{len(reason):,}", longest_reason=f"{LONGEST_REASON:,}"))
    run = runs[0]
    SweepPick.objects.update_or_create(
        project=run.project,
        launch=run.provenance.launch,
        group=group,
        defaults={"entrant_id": entrant, "reason": reason, "by": by, "at": now},
    )
    audit.record(
        by=by,
        project=run.project,
        action="sweep.model_chosen",
        target=run.uid,
        group=block.group.title,
        model=block.looked["name"],
        reason=reason,
    )
