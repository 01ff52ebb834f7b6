"""Changes of a belief table by command. Rows of a draft, of a reconciliation and of the gold table are named by their
number, from 1, as `table rows` lists them; a new row needs none."""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.utils import timezone

from annotation.domain.drafts import Change, RowState
from annotation.domain.reconciliation import PairState, Status, adopted
from annotation.domain.tables import TableRow
from annotation.management.json_command import ProjectCommand, member_named
from annotation.models import Project, Proposition, Story, User
from annotation.services import belief_tables, drafts, reconciliation
from core.ids import new_uid

WORDS = ("actor", "belief", "order", "remark")
ACTIONS: dict[str, tuple[str, Callable[[User, Story], object]]] = {
    "hand-in": ("handed in", lambda by, story: drafts.hand_in(by=by, story=story, now=timezone.now())),
    "take-back": ("taken back", lambda by, story: drafts.take_back(by=by, story=story)),
    "release": ("released", lambda by, story: drafts.release_slot(by=None, story=story, expert=by)),
    "open": ("opened", lambda by, story: reconciliation.open_pairs(story=story, by=by, now=timezone.now())),
    "agree": ("agreed to", lambda by, story: reconciliation.agree(by=by, story=story, now=timezone.now())),
    "finish": ("made of its pairs", lambda by, story: reconciliation.finish(by=by, story=story, now=timezone.now())),
    "reopen": ("opened again", lambda by, story: reconciliation.reopen(by=by, story=story)),
}
"""The outcome in words, and the function of the pages."""


class Command(ProjectCommand):
    help = "Does to the belief table of a story what an expert does on its pages."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=[*ACTIONS, "rows", *ROWS])
        parser.add_argument("--story", required=True, type=int, metavar="NUMBER")
        parser.add_argument("--expert", required=True, metavar="NAME", help="user name of who does it")
        rows = parser.add_argument_group("one row", ", ".join(ROWS))
        rows.add_argument("--row", type=int, metavar="NUMBER", help="counted from 1; without it a new row, below all")
        for name in WORDS:
            rows.add_argument(f"--{name}", metavar="TEXT")
        rows.add_argument("--keep", choices=["a", "b"], default="", help="decide: whose words")
        rows.add_argument("--with", type=int, dest="other", metavar="NUMBER", help="link: the other row")
        rows.add_argument("--drop", action="store_true", help="leave the row out, or take it away")

    def on(self, project: Project, *, action: str, expert: str, **options: Any) -> dict[str, Any]:
        story = project.stories.select_related("project").filter(number=options["story"]).first()
        if story is None:
            raise ValueError(f"There is no story {options['story']} in {project.slug}.")
        by = member_named(project, expert)
        report = {"project": project.slug, "story": story.number, "expert": by.username}
        if action == "rows":
            pairs, gold = reconciliation.pairs_of(story), Proposition.objects.gold_of(story)
            return report | {"rows": {
                "draft": list(map(_line, drafts.live_rows(drafts.own_draft(story=story, expert=by)))),
                "pairs": [f"{_line(pair)} [{pair.kind}, {pair.status or 'open'}]" for pair in pairs],
                # an expert who still labels the story sees no label of it
                "gold": [f"{row.actor}: {row.belief}" for row in gold],
            }}  # fmt: skip
        if action in ACTIONS:
            outcome, act = ACTIONS[action]
            act(by, story)
            return report | {"done": outcome}
        words = {name: options[name] for name in WORDS if options[name] is not None}
        if options["row"] is None and not words.get("belief", "").strip():
            raise ValueError("A new row needs --belief; name one that is there by --row.")
        outcome, change = ROWS[action]
        change(by, story, words, options)
        return report | {"row": options["row"], "done": outcome}

    def say(self, result: dict[str, Any]) -> None:
        if "rows" in result:
            for table, lines in result["rows"].items():
                self.stdout.writelines(f"{table} {number}. {line}\n" for number, line in enumerate(lines, 1))
        elif "row" in result:
            row = f"Row {result['row']}" if result["row"] else "A new row"
            self.stdout.write(f"{row} of story {result['story']} is {result['done']}.")
        else:
            self.stdout.write(f"The table of story {result['story']} is {result['done']}.")


def _line(row: Any) -> str:
    return f"{row.actor}: {row.belief}" + (f" (order {row.order_text})" if row.order_text else "")


def _numbered(rows: Sequence[Any], number: int | None) -> Any:
    """Return the row of a number. Raises ValueError if there is none."""
    if number is None or not 1 <= number <= len(rows):
        raise ValueError(f"There is no row {number}; expected 1 to {len(rows)}.")
    return rows[number - 1]


def _stated(row: Any, place: float, kind: type) -> tuple[str, Any, Any]:
    """Return the uid, base and state of a change: those of the row, or of a new one at the place."""
    return (new_uid(), None, kind(place=place)) if row is None else (row.uid, row.state, row.state)


def _draft_row(by: User, story: Story, words: dict[str, str], options: dict[str, Any]) -> None:
    """Change a row of the expert's own draft, add one below all, or take one away."""
    rows = list(drafts.live_rows(drafts.own_draft(story=story, expert=by)))
    row = None if options["row"] is None else _numbered(rows, options["row"])
    uid, base, state = _stated(row, rows[-1].place + 1 if rows else 1.0, RowState)
    state = replace(state, **words, removed=options["drop"] and row is not None)
    key, now = new_uid() + new_uid(), timezone.now()
    change = Change(uid, base, state, key, key, now, kind="delete" if options["drop"] else "type")
    drafts.save_rows(by=by, story=story, changes=[change], now=now)


def _decide(by: User, story: Story, words: dict[str, str], options: dict[str, Any]) -> None:
    """Keep A's or B's words in a pair, or others, or leave it out; without a number, add one."""
    rows = list(reconciliation.pairs_of(story))
    pair = None if options["row"] is None else _numbered(rows, options["row"])
    uid, base, state = _stated(pair, max((row.place for row in rows), default=0.0) + 1, PairState)
    kept: dict[str, str] = {}
    if pair is not None and options["keep"]:
        own, other = pair.sides if options["keep"] == "a" else pair.sides[::-1]
        if own is None:
            raise ValueError(f"{options['keep'].upper()} did not write this row.")
        kept = adopted(own, other)._asdict()
    status = Status.DROPPED if options["drop"] and pair is not None else Status.KEPT
    key, now = new_uid() + new_uid(), timezone.now()
    decision = Change(uid, base, replace(state, **kept | words, status=status.value), key, key, now)
    ((_, quicker),) = reconciliation.decide(by=by, story=story, decisions=[decision], now=now)
    if quicker:
        raise ValueError(f"{quicker} decided this row meanwhile; look at it again.")


def _link(by: User, story: Story, words: dict[str, str], options: dict[str, Any]) -> None:
    """Link two rows that say the same."""
    rows = list(reconciliation.pairs_of(story))
    first, second = _numbered(rows, options["row"]), _numbered(rows, options["other"])
    key, now = new_uid() + new_uid(), timezone.now()
    reconciliation.link(by=by, story=story, first=first.uid, second=second.uid, key=key, now=now)


def _separate(by: User, story: Story, words: dict[str, str], options: dict[str, Any]) -> None:
    """Separate a pair of linked rows into two."""
    row = _numbered(list(reconciliation.pairs_of(story)), options["row"])
    reconciliation.separate(by=by, story=story, row=row.uid, key=new_uid() + new_uid(), now=timezone.now())


def _gold_row(by: User, story: Story, words: dict[str, str], options: dict[str, Any]) -> None:
    """Reword a row of the gold table, take one out, or add one below all."""
    now = timezone.now()
    if "remark" in words:
        raise ValueError("A row of the gold table has no --remark here; its page shows where it comes from.")
    if options["row"] is None:
        row = TableRow(*(words.get(name, "") for name in ("actor", "belief", "order")))
        belief_tables.add_rows(by=by, story=story, rows=[row], now=now)
        return
    proposition = _numbered(list(Proposition.objects.gold_of(story)), options["row"])
    if options["drop"]:
        belief_tables.remove(by=by, proposition=proposition, now=now)
    elif "order" in words:
        raise ValueError("The order of a row of the gold table cannot be changed; add a row in its place.")
    else:
        texts = {name: words.get(name, getattr(proposition, name)) for name in ("actor", "belief")}
        belief_tables.reword(by=by, proposition=proposition, **texts, now=now)


ROWS: dict[str, tuple[str, Callable[[User, Story, dict[str, str], dict[Any, Any]], None]]] = {
    "draft-row": ("written in the draft", _draft_row),
    "decide": ("decided among the pairs", _decide),
    "link": ("linked among the pairs", _link),
    "separate": ("separated among the pairs", _separate),
    "gold-row": ("changed in the gold table", _gold_row),
}
"""The outcome in words, and the function of the pages."""
