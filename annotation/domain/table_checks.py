"""Warnings about rows of a belief table while it is written, in the language of who writes it. None of them forbids
anything: a story may need it so."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from annotation.domain.schema import ORDERS, WORLD, is_world, orders_text
from annotation.domain.tables import JOINT, TableRow, likely_actors
from core.language import gettext
from core.plain import Json

NEAR = 90.0
"""The score out of 100 from which two propositions of one actor are said to be nearly the same."""
_CLOSE_NAME = 70.0
_PRONOUN = re.compile(r"\b(he|she|they|him|them|himself|herself|themselves|hers|theirs)\b|[他她]们?", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(his|her|their)\b", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z]\w+")
_JOINT = re.compile(r";|,? (?:and|but|because|while|whereas|although) |，(?:而且|但是|但|因为|并且)|；")
_VERB = re.compile(
    r"\b(is|are|was|were|has|have|had|will|would|can|could|does|did|do|wants?|knows?|thinks?|believes?|goes|went|said"
    r"|says?|puts?|sees?|saw|leaves?|left|\w{2,}ed|ate|became|began|bought|broke|brought|came|drank|drove|fell|felt"
    r"|forgot|found|gave|got|heard|held|hid|kept|knew|lost|made|met|ran|sat|sent|slept|sold|spoke|stole|stood|thought"
    r"|threw|told|took|went|woke|wore|wrote)\b",
    re.IGNORECASE,
)
_VERB_FIRST = re.compile(r"^(?:then |also |not )*(?:(?:he|she|they|it) [a-z]|[a-z]{2,}(?:s|ed)\b)")
_MENTAL = re.compile(
    r"(?P<subject>[\w.’']+(?: [\w.’']+)?) (?:(?:does|do|did|will) not |never |also |now |still )*"
    r"(?:(?:think|believe|know|expect|assume|suspect|doubt|realise|realize|remember|guess|want|wish|hope|fear|see|hear"
    r"|feel|notice|understand|intend|worry|imagine|pretend)(?:s|es|d|ed)?"
    r"|thought|knew|saw|heard|felt|understood|forgets?|forgot|worries|worried)\b"
    r"|(?P<subject_zh>[\u4e00-\u9fff]{1,4}?)(?:认为|觉得|知道|以为|相信|想要|希望|担心|感到|看见|看到|听见|听到|明白|记得)"
)
_STATE_OF_MIND = re.compile(
    r"\b(hurts?|sad|happy|glad|angry|annoy(?:s|ed)|upset|disappointed|interested|afraid|scared|worried|surprised|jealous"
    r"|proud|ashamed|offen[cs]e|offended|embarrassed|excited|bored|lonely|confused|curious|guilty|sorry|aware|unaware"
    r"|sure|certain|seen|known|meant?|likes?|loves?|hates?|enjoys?|prefers?|trusts?|lies|lied|lying|jok(?:es|ed|ing)"
    r"|irony|ironic|sarcastic|secret)\b|like\b|生气|高兴|难过|伤心|害怕|喜欢|失望|惊讶|骗|秘密",
    re.IGNORECASE,
)
"""What tells of a mind without naming what it holds: it may be one more than the wording names."""
_NEGATION = re.compile(r"\b(?:not|no|never|nobody|nothing)\b|n['’]t\b|不|没")
_PARTS = re.compile(rf"\s*{JOINT}\s*", re.IGNORECASE)
_GROUPS = {"everyone", "everybody", "nobody", "others", "people", "all", "both", "group", "they", "大家", "所有人"}
_ARTICLE = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)


def checks(rows: Sequence[TableRow], texts: Sequence[str], orders: Sequence[str] = ORDERS) -> list[list[Json]]:
    """Return the warnings of each row of a table, each with its `text` and the `field` that it is about: actor, belief
    or order. `texts` are the story and its translations, `orders` those that a row can have."""
    names = list({name: None for text in texts for name in likely_actors(text)})
    keys, warned = [row.key for row in rows], list[list[Json]]()
    for at, row in enumerate(rows):
        ambiguous = compound = ""
        if pronoun := _pronoun(row.belief):
            ambiguous = gettext("“{pronoun}” may be read as anybody: write the name.").format(pronoun=pronoun)
        if _is_compound(row.belief):
            compound = gettext("This seems to say two things: split it where each can be true alone.")
        found = [
            ("actor", _of_actor(row.actor.strip(), texts, names)),
            ("belief", ambiguous),
            ("belief", compound),
            ("order", _of_order(row, orders)),
            ("belief", _repeated(keys[:at], keys[at])),
        ]
        warned.append([{"field": field, "text": text} for field, text in found if text and row.belief.strip()])
    return warned


def parts_of(actor: str) -> list[str]:
    """Return the members that the name of a group tells: "Ines and Tomas" has two."""
    return [part for part in _PARTS.split(actor.strip()) if part]


def is_named(actor: str, text: str) -> bool:
    """Return whether a story names this actor: every member of a group, each word of a name."""
    folded = text.casefold()
    for part in parts_of(actor):
        plain = _ARTICLE.sub("", part).casefold()
        if plain in {WORLD, *_GROUPS}:
            continue
        if plain.isascii():
            words = re.findall(r"[\w.]+", plain.replace("’s", "").replace("'s", ""))
            patterns = [rf"(?<!\w){re.escape(word.rstrip('.'))}(?!\w)" for word in words]
            named = bool(words) and all(re.search(pattern, folded) for pattern in patterns)
        else:
            named = plain in folded
        if not named:
            return False
    return True


def _of_actor(actor: str, texts: Sequence[str], names: list[str]) -> str:
    if not actor:
        return gettext("No actor yet.")
    if any(is_named(actor, text) for text in texts):
        return ""
    if close := process.extractOne(actor, names, scorer=fuzz.ratio, score_cutoff=_CLOSE_NAME):
        return gettext("The story does not name {actor}. Is it {name}?").format(actor=actor, name=close[0])
    return gettext("The story does not name {actor}.").format(actor=actor)


def _pronoun(belief: str) -> str:
    if match := _PRONOUN.search(belief):
        return match.group()
    for match in _POSSESSIVE.finditer(belief):
        before = _NAME.findall(belief[: match.start()])
        if not [name for name in before if not _POSSESSIVE.fullmatch(name)]:
            return match.group()
    return ""


def _is_compound(belief: str) -> bool:
    for match in _JOINT.finditer(belief):
        left, right = belief[: match.start()], belief[match.end() :].strip()
        if not left.isascii() or not right.isascii() or ";" in match.group():
            return bool(left.strip() and right)
        if _VERB.search(left) is None and not re.search(r"\b[a-z]\w+s\b", left):
            continue
        if _VERB.search(right) or _VERB_FIRST.match(right):
            return True
    return False


def depth_of(actor: str, belief: str) -> int:
    """Return the least order that the wording asks for: each mind that is named adds one to the actor's own."""
    if is_world(actor):
        return 0
    subjects = [(match["subject"] or match["subject_zh"]).casefold() for match in _MENTAL.finditer(belief)]
    own = {actor.strip().casefold(), "he", "she", "they"}
    if subjects and own & {subjects[0], *subjects[0].split()}:
        subjects = subjects[1:]
    return 1 + len(subjects)


def _of_order(row: TableRow, orders: Sequence[str]) -> str:
    order, is_fact = row.order.strip(), is_world(row.actor)
    if not order:
        return ""
    if order not in orders:
        return gettext("The order is {order}; expected {orders}.").format(order=order, orders=orders_text(orders))
    if "0" in orders and is_fact and order != "0":
        return gettext("Narrated facts (world) have order 0, not {order}.").format(order=order)
    if "0" in orders and not is_fact and row.actor.strip() and order == "0":
        return gettext("Order 0 is for narrated facts (world); an actor's own belief has 1.")
    depth = depth_of(row.actor, row.belief)
    if str(depth) not in orders:
        return ""
    if int(order) < depth:
        return gettext("The wording names a mind within a mind: order {depth}?").format(depth=depth)
    if int(order) > max(depth, 1) + bool(_STATE_OF_MIND.search(row.belief)):
        text = gettext("The wording names fewer minds than order {order} has: order {depth}?")
        return text.format(order=order, depth=depth)
    return ""


def _repeated(earlier: Sequence[tuple[str, str]], key: tuple[str, str]) -> str:
    """Return the warning that an earlier row of the same actor says the same, exactly or nearly; rows are given by
    their keys."""
    near = ""
    for number, (actor, belief) in enumerate(earlier, 1):
        if actor != key[0] or not belief:
            continue
        if belief == key[1]:
            return gettext("The same as row {number}.").format(number=number)
        # A statement and its denial differ by a word and are not the same.
        denies = bool(_NEGATION.search(belief)) != bool(_NEGATION.search(key[1]))
        if not near and not denies and fuzz.token_sort_ratio(key[1], belief) >= NEAR:
            near = gettext("Nearly the same as row {number}.").format(number=number)
    return near
