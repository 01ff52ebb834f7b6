"""Rows of a belief table as people paste them: pipes or tabs; actor, belief and, optionally, order."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from annotation.domain.columns import WrongColumns, as_displayed, cell_of, columns_of, key_of, restored
from annotation.domain.drafts import LONGEST
from annotation.domain.problems import LeftOut
from annotation.domain.schema import WORLD
from core.incoming.csv_text import BadSheet, CsvText
from core.incoming.sheets import SheetRow
from core.messages import Sentence, capitalised, gettext_noop
from core.wording import counted

JOINT = r"(?:,|;|&|/|\band\b|和|与|、)"
"""A regular expression that Python and JavaScript read alike, whether letters are small or not."""
NAMES_FOR_SCRIPTS = {"world": WORLD, "joint": JOINT}


MAX_ROWS = 500
PASTED = gettext_noop("Pasted text")
REQUIRED = ("actor", "belief")
SPELLINGS: Mapping[str, tuple[str, ...]] = {"belief": ("proposition",), "order": ("order_text",)}
_CELLS: Mapping[str, int] = {"actor": 0, "belief": 1, "order": 2}
"""Places where no first line names them."""
_ORDER = re.compile(
    r"(?:order\s*)?\d{1,2}(?:st|nd|rd|th)?(?:[\s-]*order)?|(?:zeroth|zero|first|second|third)(?:[\s-]*order)?|"
    r"[零一二三四\d]阶",
    re.IGNORECASE,
)
_PIPE = re.compile(r"(?<!\\)\|")
_SEPARATOR = re.compile(r":?-{3,}:?")
_NAME = re.compile(r"\b(?:(?:Mr|Mrs|Ms|Dr|St|Prof)\. )?[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)*")
_CHINESE_NAME = re.compile(r"小[\u4e00-\u9fff]")
_BEGINNERS = """
a about after afterwards again all also although an and another any as at because before both but by can come
could did do does during each either every everyone finally first for from good goodbye hello hers he her here
hey hi his how however i if i'm i’m in inside instead is it it's it’s its just last later let let's let’s look
many maybe meanwhile most my next no nobody not now of oh ok okay on once one only or our outside people
perhaps please she since so some somebody someone soon still suddenly sure thank thanks that the their then
there these they this those though three to today tomorrow tonight too two under until we well were what when
where whether which while who whose why will with without would yes yesterday yet you your monday tuesday
wednesday thursday friday saturday sunday january february march april june july august september october
november december christmas morning
"""
_BEGINNINGS = frozenset(_BEGINNERS.split())


class BadTable(ValueError):
    """A pasted table cannot be used; the message is one sentence that names the line."""


class TableRow(NamedTuple):
    actor: str
    belief: str
    order: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Actor and belief for comparisons: without case, articles of actors, outer spaces and final full stops."""
        actor, belief = (" ".join(text.split()).casefold().rstrip(".。．") for text in self[:2])
        return actor.removeprefix("the "), belief


def problem_of(row: TableRow) -> str:
    """Return in one sentence why a row cannot stand in a table, empty where it can."""
    for name, text in (("actor", row.actor), ("belief", row.belief), ("order", row.order)):
        if not text and name != "order":
            return Sentence("{name} is empty; expected a text.", name=name)
        if len(text) > LONGEST[name]:
            return Sentence("{name} is longer than {longest} characters.", name=name, longest=LONGEST[name])
        if "\x00" in text:
            return Sentence("{name} holds a NUL character.", name=name)
    return ""


def read_rows(text: str) -> list[TableRow]:
    """Return the rows of a pasted table, whose first line may name its columns; separator rows are skipped. Raises
    BadTable."""
    rows: list[TableRow] = []
    at: Mapping[str, int] | None = None
    for line, cells in _cells(text):
        if all(not cell.strip() or _SEPARATOR.fullmatch(cell.strip()) for cell in cells):
            continue
        if at is None and "actor" in map(key_of, cells):
            try:
                at, unused = columns_of(cells, PASTED, required=REQUIRED, spellings=SPELLINGS, line=line)
            except WrongColumns as error:
                raise BadTable(str(error)) from error
            if unused:
                sentence = gettext_noop("Line {line} names columns that are not used here: {keys}; leave them out.")
                raise BadTable(sentence.format(line=line, keys=", ".join(unused)))
            continue
        at = at or _CELLS
        row = _row(cells, at, line)
        if problem := problem_of(row):
            raise BadTable(Sentence("Line {line}: {problem}", line=line, problem=problem))
        rows.append(row)
        if len(rows) > MAX_ROWS:
            raise BadTable(Sentence("The table has more than {max_rows} rows.", max_rows=MAX_ROWS))
    return rows


def _row(cells: Sequence[str], at: Mapping[str, int], line: int) -> TableRow:
    """Return the row of a line. Raises BadTable where the line has cells too few, too many, or an order that may be the
    rest of a belief."""
    if any(cell.strip() for cell in cells[len(at) :]):
        sentence = gettext_noop("Line {line} has {count}; expected {keys}. A | within a text is written \\|.")
        raise BadTable(sentence.format(line=line, count=counted(len(cells), "cell"), keys=", ".join(at)))
    actor, belief, order = (cell_of(cells, at, name).strip() for name in _CELLS)
    if not actor or not belief:
        raise BadTable(Sentence("Line {line} needs an actor and a belief, with a tab or | between them.", line=line))
    order = as_displayed(order)
    if order and at is _CELLS and not _ORDER.fullmatch(order):
        sentence = gettext_noop(
            "Line {line} has the order {order}; expected a number, or a first line with the names {keys}."
        )
        raise BadTable(sentence.format(line=line, order=repr(order[:40]), keys=", ".join(_CELLS)))
    return TableRow(actor, belief, order)


def _cells(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line. Raises BadTable."""
    if "\t" not in text and "|" in text:
        for number, line in enumerate(re.split(r"\r\n?|\n", text), 1):
            bare = line.strip().removeprefix("|").removesuffix("|")
            yield number, [cell.replace(r"\|", "|") for cell in _PIPE.split(bare)]
        return
    try:
        for number, cells, problem in CsvText(io.StringIO(text, newline=""), PASTED, delimiter="\t").records():
            if problem:
                raise BadTable(Sentence("Line {number}: {problem}", number=number, problem=problem))
            yield number, cells
    except BadSheet as error:
        raise BadTable(str(error)) from error


def likely_actors(text: str) -> list[str]:
    """Names that a story mentions, to complete what is typed: words with a capital that do not merely begin a sentence,
    and Chinese names of the kind 小明."""
    names = set(_CHINESE_NAME.findall(text))
    for match in _NAME.finditer(text):
        words = re.sub(r"['’]s?$", "", match.group()).split()
        while words and words[0].casefold() in _BEGINNINGS:
            words = words[1:]
        if words and len(words[0]) > 1:
            names.add(" ".join(words))
    return sorted(names)


_SPELLINGS: Mapping[str, tuple[str, ...]] = {"story_id": (), "story": ("text",), **SPELLINGS}


class TableLine(NamedTuple):
    """A row of a spreadsheet of tables. `story` is the story's number, or its text where the row has no number; None
    where neither can be read. `problem` says what is wrong with the row, empty where it can be used. `text` is the
    story's text, empty where the row has only its number."""

    line: int
    story: int | str | None
    row: TableRow
    problem: str = ""
    text: str = ""


def read_tables(sheet: Iterable[SheetRow], file: str, left_out: LeftOut) -> Iterator[TableLine]:
    """Yield the rows of a spreadsheet in order. Raises WrongColumns and BadSheet."""
    rows = iter(sheet)
    header = next(rows, SheetRow(1, []))
    at, unused = columns_of(header.cells, file, required=REQUIRED, spellings=_SPELLINGS, line=header.line)
    left_out.add(unused)
    if not {"story_id", "story"} & at.keys():
        sentence = gettext_noop(
            "{file}, line {line}: no column says which story; expected story_id (its number) or story (its exact text)."
        )
        raise WrongColumns(sentence.format(file=file, line=header.line))
    for line, cells, problem in rows:
        actor, belief, order = (restored(cell_of(cells, at, name)).strip() for name in ("actor", "belief", "order"))
        row = TableRow(actor, belief, as_displayed(order))
        number, text = as_displayed(cell_of(cells, at, "story_id")), restored(cell_of(cells, at, "story"))
        is_number = number.isascii() and number.isdecimal() and len(number) < 19
        story: int | str | None = int(number) if is_number else text or None
        if problem:
            problem = capitalised(problem)
        elif number and not is_number:
            story = None
            problem = Sentence("story_id is {number}; expected the number of a story.", number=repr(number[:40]))
        elif not number and not text.strip():
            story = None
            problem = gettext_noop("The row names no story; expected a story_id or the text of a story.")
        else:
            problem = problem_of(row)
        yield TableLine(line, story, row, problem, text)
