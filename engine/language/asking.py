"""What kind of thing a question asks for, told by its interrogative and the words beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from engine.language.model import Ask
from engine.language.pieces import Piece

_PIECES_MAX: Final = 400
"""A question is read this far: who writes more tells a story first."""

_AUX: Final = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|hasn't|haven't|hadn't|won't|wouldn't|can't|couldn't)"
)
_BEFORE: Final = (
    r"(?:(?:in|on|at|by|from|to|for|since|until|with|after|before|during|around|under|and|but|of|about) )?"
)
_OPENING: Final = re.compile(rf"{_BEFORE}(?P<word>when|where)(?:'s|s)?\b(?!.*, (?:what|which|who|how|why)\b)")
_FIRST: Final = re.compile(rf"{_BEFORE}(?P<word>what|which|who|whom|whose|how|why)(?:'s|s)?\b")
_YES_OR_NO: Final = re.compile(rf"{_AUX} ")
_ASKING: Final = re.compile(
    # Inside a sentence "when" and "where" are conjunctions unless an auxiliary follows, or nothing.
    r"\b(?P<word>what|which|who|whom|whose|how|why"
    rf"|(?:when|where)(?=(?:'s)? {_AUX}\b| ?[?.,]| ?$))(?:'s|s)?\b"
)

_IS_THE: Final = r"(?: (?:is|are|was|were|the|exact|specific|approximate|total|average|highest|lowest)){0,3}"
_WORDS: Final = r"(?: [a-z'-]{1,20}){0,2}?"
_TIMES: Final = re.compile(
    rf"how (?:long ago|recently|soon)\b|(?:what|which){_IS_THE} "
    r"(?:time|date|day|weekday|month|year|week|weekend|season|decade|century|era|hour)\b"
)
_QUANTITIES: Final = re.compile(
    r"how (?:many|much|often|old|long|far|tall|big|large|frequently|high|deep|heavy)\b"
    rf"|(?:what|which){_IS_THE} (?:number|amount|quantity|count|percentage|price|cost|age|population)\b"
)
_PLACES: Final = re.compile(
    rf"(?:what|which){_WORDS} (?:place|places|city|cities|town|country|countries|state|states|location|"
    r"locations|province|region|continent|village|county|island|address|street|venue|district|neighbou?rhood|spot)\b"
)
_PERSONS: Final = re.compile(
    rf"(?:what|which)(?: of the)?{_WORDS} (?:person|people|man|woman|boy|girl|actor|actors|actress|actresses|"
    r"director|author|writer|singer|musician|player|politician|friend|colleague|neighbou?r|artist|composer|"
    r"president|king|queen|senator|rapper|poet|scientist|founder|founders|teacher|doctor)\b"
)
_RELATED: Final = r"(?:related|connected|linked|associated|tied|alike|similar|different)"
_RELATIONS: Final = re.compile(
    rf"\bhow (?:is|are|was|were) (?:[^ ]{{1,40}} ){{1,16}}{_RELATED}\b"
    r"|\bhow (?:do|does|did) (?:[^ ]{1,40} ){1,16}(?:relate|connect|differ|compare|know)\b"
    r"|\b(?:relations?|relationships?|connections?|links?|differences?|similarity|similarities|overlap) "
    r"(?:is |was |are |were |do |does |exists? )?(?:there )?between\b"
    rf"|\b(?:have (?:[a-z]{{1,12}} )?in common|{_RELATED} to each other|know each other)\b"
    r"|\bwhat is (?:[^ ]{1,40} ){1,3}(?:relation|relationship|connection) (?:to|with)\b"
)
_NOW: Final = re.compile(
    r"\b(?:latest|newest|most recent|most recently|current|currently|at the moment|at present|right now|"
    r"these days|nowadays|as of now|up to date|up-to-date|what's new|what is new|"
    r"where (?:do (?:we|things) stand|are we))\b"
)


def kind_of(pieces: Sequence[Piece], first: int, *, dated: bool) -> Ask:
    """What is asked for in `pieces`, whose core begins at index `first`; `dated` if it names a date."""
    core = _joined(pieces[first : first + _PIECES_MAX])
    asking = _asking(core)
    if asking.startswith("when") or _TIMES.match(asking):
        return Ask.WHEN
    if _QUANTITIES.match(asking):
        return Ask.HOW_MANY
    if _RELATIONS.search(core):
        return Ask.RELATION
    told = asking != "" and not core.startswith(asking)  # "X, the current head of Y, was born where?"
    if not (dated or told) and _NOW.search(_joined(pieces[:_PIECES_MAX])):
        return Ask.LATEST
    if asking.startswith("where") or _PLACES.match(asking):
        return Ask.WHERE
    if asking.startswith("who") or _PERSONS.match(asking):
        return Ask.WHO
    return Ask.OTHER


def _asking(core: str) -> str:
    """`core` from its interrogative on; empty if it has none. After a statement the last one counts."""
    found = _OPENING.match(core) or _FIRST.match(core)
    if found is None and _YES_OR_NO.match(core) is None:
        found = max(_ASKING.finditer(core), key=re.Match.start, default=None)
    return core[found.start("word") :] if found else ""


def _joined(pieces: Sequence[Piece]) -> str:
    return " ".join(piece.low for piece in pieces)
