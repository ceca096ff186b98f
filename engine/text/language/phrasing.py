"""The phrasing of English questions: introductory and closing phrases, times that are asked for, and lists.

Greetings, thanks, and phrases such as "can you remind me what we said about" are removed from the beginning
and the end until no pattern matches. The interrogative and the words next to it decide whether a question
asks when. The subjects of a question are listed in "Anna, Boris and Clara". The patterns match lower-case
words that are separated by single spaces; all repetitions are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from engine.base.characters import lazy
from engine.text.language.question_model import Entity
from engine.text.language.tokenizer import Token

_FIRST_PIECES: Final = 48
_LAST_PIECES: Final = 12
_ROUNDS_MAX: Final = 8
_CLOSING_MARKS: Final = frozenset(".?!,;:\u2026\u3002\uff1f\uff01")

_MARK: Final = r"(?:[,.!?:;\u2026\u2012-\u2015-] ){0,3}"
_COMMA: Final = r"(?:[,.!:;\u2026\u2012-\u2015-] ){1,3}"
_WE: Final = r"(?:i|we|you|u|they)"
_ABOUT: Final = r"(?:about|on|regarding|concerning|with regards? to|with respect to|related to)"
_SAY: Final = (
    r"(?:said|say|told (?:you|me)|tell (?:you|me)|talked|talk|spoke|speak|discussed|discuss|wrote|write|"
    r"written|noted|note|saved|save|stored|store|recorded|record|decided|decide|know|knew|have|had|got|"
    r"remember|remembered|mentioned|mention|learned|learn)"
)
_NOTES: Final = (
    r"(?:notes?|memory|memories|entries|messages?|records?|information|info|details?|facts?|news|"
    r"updates?|stuff|things?)"
)
_SOMETHING: Final = (
    r"(?:(?:what|everything|anything|something|whatever|all|more|(?:a )?(?:bit|little)(?: more)?|some|any|"
    rf"the) )?(?:(?:(?:of )?(?:my|our|your|the) )?{_NOTES} )?(?:that )?"
)
_SAID: Final = rf"(?:{_WE} (?:have |had |ever |already |last )?{_SAY} (?:down )?)?"
_TOPIC: Final = rf"{_SOMETHING}{_SAID}(?:{_ABOUT}|of) "
_ASK: Final = (
    r"(?:tell me|tell us|remind me|show me|give me|let me know|find out|find me|find|look up|look for|"
    r"search for|search(?: through)?|recall|remember|explain(?: to me)?|"
    r"help me (?:find|remember|recall|understand)|bring up|pull up|fetch|get me|check|summari[sz]e|"
    r"describe|know|learn|hear|see)"
)
_MODAL: Final = r"(?:can|could|would|will)"
_COULD: Final = (
    rf"(?:{_MODAL} (?:you|we|i)|(?:you|we|i) {_MODAL}|would you mind|"
    r"i(?: would|'d| want| need|'m trying| am trying)(?: like)?(?: you)? to|i want|i need|let's|let us|"
    r"let me|please|kindly|just|quickly|maybe|perhaps|possibly)"
)
_STATE: Final = (
    r"(?:state|status|situation|news|updates?|info|information|progress|word|standing|developments?|details)"
)
_NOW: Final = r"(?:latest|current|present|newest|most recent|up-to-date)"
_WHAT_IS: Final = r"(?:what is|what's|whats|what are|what was|what were)"

_PREFIXES: Final = {
    r"(?:hi|hello|hey) (?:[^ ,]{1,32} ){1,2}?, ": "hi |he",
    r"(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))"
    rf"(?: (?:there|all|again|everyone|team))? {_MARK}": "hi |he|g",
    rf"(?:please|pls|kindly) {_MARK}": "pl|kindly",
    r"(?:so|ok|okay|well|now|right|also|and|but|um+|uh+|hmm+|oh|anyway|btw|sorry|thanks|thank you|"
    r"excuse me|by the way|quick question|one (?:more |quick )?(?:thing|question)|just curious|"
    r"out of curiosity|i hope (?:you're|you are|this finds you|all is) (?:doing )?well) "
    rf"{_COMMA}": "so|o|we|now|right|a|b|u|hmm|thank|excuse|quick|just|i hope",
    r"i(?:'m| am|'ve been| have been| was)?(?: just)? (?:wondering|wonder|curious|trying to remember|"
    rf"trying to recall|looking for|searching for|interested in) (?:if |whether |{_TOPIC}|about )?": "i |i'",
    r"i (?:forgot|forget|can't remember|cannot remember|can't recall|don't remember|don't recall) "
    rf"(?:{_TOPIC})?": "i ",
    rf"(?:{_COULD} ){{1,4}}{_ASK} (?:{_TOPIC}|{_ABOUT} |if |whether )?": (
        "can |could |would |will |you |we |i |i'|let|please |kindly |just |quickly |maybe |perhaps |possibly "
    ),
    rf"(?:tell me|remind me|show me|let me know|give me) (?:{_TOPIC}|if |whether )?": (
        "tell|remind|show|let|give"
    ),
    rf"(?:summari[sz]e|describe|recall|look up|search for|search|find|explain) {_TOPIC}": (
        "summari|describe|recall|look|search|find|explain"
    ),
    r"(?:describe|summari[sz]e|look up|search for) ": "describe|summari|look|search",
    rf"(?:do|did|can|could) {_WE} (?:still |happen to |perhaps |ever )?(?:remember|recall) (?:{_TOPIC})?": (
        "do |did |can |could "
    ),
    rf"(?:do|did|have|had) {_WE} (?:still |happen to |ever |already )?{_SAY} {_SOMETHING}{_ABOUT} ": (
        "do |did |ha"
    ),
    r"(?:do|would) you (?:happen to )?know (?:if |whether |about |anything about )?": "do |would ",
    rf"what (?:else )?(?:do|did|have|had|can|could) {_WE} (?:just |ever |already |all |last |still )?"
    rf"(?:{_SAY}|find) (?:me |down )?{_ABOUT} ": "what ",
    rf"(?:is|are|was|were) there {_SOMETHING}(?:known |said |noted |recorded |written |to know )?"
    rf"{_ABOUT} ": "is there|are there|was there|were there",
    rf"{_WE} {_SAY} {_SOMETHING}{_ABOUT} ": "i |we |you |u |they ",
    rf"(?:any|some) {_NOTES} (?:{_ABOUT}|of|from) ": "any |some ",
    rf"any (?:ideas?|clue|thoughts) (?:(?:{_ABOUT}|of|as to) )?": "any ",
    r"(?:give me |show me |i need |get me )?(?:a|the) (?:short |brief )?(?:summary|overview|recap) of ": (
        "give|show|i need|get|a |the "
    ),
    rf"(?:(?:{_WHAT_IS}|give me|i need) )?(?:the |our |my )?{_NOW} {_STATE} "
    r"(?:of|on|about|for|with|regarding|in) ": (
        "what|give|i need|the |our |my |latest|current|present|newest|most|up-to-date"
    ),
    rf"(?:{_WHAT_IS}|give me|i need) (?:the |our |my )?(?:{_NOW}|{_STATE}) "
    r"(?:of|on|about|with|regarding) ": "what|give|i need",
    r"(?:what is|what's|whats) (?:new|up|happening|going on) (?:with|in|about) ": "what",
    r"where (?:do (?:we|things)|are we) (?:stand )?(?:with|on) ": "where ",
}
"""Pattern of an introductory phrase → the possible beginnings of that phrase, separated by `|`. Compiling all
patterns takes 12 ms, so a pattern is compiled only when a text starts with one of its beginnings."""
_BEGINNINGS: Final = [(tuple(beginnings.split("|")), pattern) for pattern, beginnings in _PREFIXES.items()]
_SUFFIX: Final = (
    r" (?:please|pls|thanks|thanks a lot|thank you|thank you (?:so|very) much|thx|cheers|btw|by the way|"
    r"if (?:you|u) (?:can|could|know|remember|don't mind)|if possible|do you (?:know|remember|recall)|"
    r"can you (?:remember|recall)|or not)(?: [,.!?:;\u2026])*$"
)


def core_of(pieces: Sequence[Token]) -> tuple[int, int]:
    """Return the range of `pieces` that remains without introductory and closing phrases.

    If no word would be left, return the range of all pieces.
    """
    first, last = 0, len(pieces)
    for _ in range(_ROUNDS_MAX):
        head = "".join(f"{piece.low} " for piece in pieces[first : min(last, first + _FIRST_PIECES)])
        opening = _match_prefix(head)
        tail = "".join(f" {piece.low}" for piece in pieces[max(first, last - _LAST_PIECES) : last])
        closing = _compiled(_SUFFIX).search(tail)
        if opening is None and closing is None:
            break
        first += opening.group().count(" ") if opening else 0
        last -= closing.group().count(" ") if closing else 0
    if (first, last) == (0, len(pieces)):
        return first, last
    while last > first and pieces[last - 1].text in _CLOSING_MARKS:
        last -= 1
    while first < last and pieces[first].text in _CLOSING_MARKS:
        first += 1
    return (first, last) if any(piece.word for piece in pieces[first:last]) else (0, len(pieces))


def _match_prefix(text: str) -> re.Match[str] | None:
    """Return the match of the first pattern of `_PREFIXES` that matches at the start of `text`, or None."""
    for beginnings, pattern in _BEGINNINGS:
        if text.startswith(beginnings) and (match := _compiled(pattern).match(text)):
            return match
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_PIECES_MAX: Final = 400
"""Only this many pieces at the beginning of a question are searched for the interrogative. A longer text is
usually a story and not a question."""

_AUX: Final = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|hasn't|haven't|hadn't|won't|wouldn't|can't|couldn't)"
)
_BEFORE: Final = (
    r"(?:(?:in|on|at|by|from|to|for|since|until|with|after|before|during|around|under|and|but|of|about) )?"
)
_OPENING: Final = lazy(rf"{_BEFORE}(?P<word>when|where)(?:'s|s)?\b(?!.*, (?:what|which|who|how|why)\b)")
_FIRST: Final = lazy(rf"{_BEFORE}(?P<word>what|which|who|whom|whose|how|why)(?:'s|s)?\b")
_YES_OR_NO: Final = lazy(rf"{_AUX} ")
_INNER_INTERROGATIVE: Final = lazy(
    # Inside a sentence "when" and "where" are conjunctions unless an auxiliary or the end follows.
    r"\b(?P<word>what|which|who|whom|whose|how|why"
    rf"|(?:when|where)(?=(?:'s)? {_AUX}\b| ?[?.,]| ?$))(?:'s|s)?\b"
)

_IS_THE: Final = r"(?: (?:is|are|was|were|the|exact|specific|approximate|total|average|highest|lowest)){0,3}"
_TIMES: Final = lazy(
    rf"how (?:long ago|recently|soon)\b|(?:what|which){_IS_THE} "
    r"(?:time|date|day|weekday|month|year|week|weekend|season|decade|century|era|hour)\b"
)


def asks_when(pieces: Sequence[Token]) -> bool:
    """Return True if a question asks for a time. `pieces` is the core of the question."""
    core = " ".join(piece.low for piece in pieces[:_PIECES_MAX])
    from_interrogative = _from_interrogative(core)
    return from_interrogative.startswith("when") or _TIMES.match(from_interrogative) is not None


def _from_interrogative(core: str) -> str:
    """Return the part of `core` that begins with the interrogative, or "" if there is no interrogative.

    If a statement precedes the interrogative, the last interrogative in the text is used.
    """
    match = _OPENING.match(core) or _FIRST.match(core)
    if match is None and _YES_OR_NO.match(core) is None:
        match = max(_INNER_INTERROGATIVE.finditer(core), key=re.Match.start, default=None)
    return core[match.start("word") :] if match else ""


_BETWEEN: Final = lazy(
    r"(?:['\u2019]s?)?\s*(?:[,;/&+]|and\b|or\b|nor\b|vs\b\.?|versus\b|with\b)\s*(?:(?:and|or|nor)\b\s*)?"
    r"(?:(?:about|also|both|either|the|an?|my|our|your|his|her|their)\b\s*){0,3}"
)
"""The words between two subjects of a list."""


def listed(core: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Return the entities that stand in the longest list of entities in the core of a question.

    Only commas, slashes and words such as "and" stand between the entities of a list. All of them are names,
    or none is. The result is empty if there is no list of at least two entities. Of lists of equal length,
    the first counts.
    """
    places = sorted((core.find(one.text), at) for at, one in enumerate(entities))
    best: list[int] = []
    run: list[int] = []
    end = -1
    for start, at in places:
        if start < 0:
            continue
        follows = bool(run) and entities[run[-1]].proper == entities[at].proper
        if follows and end <= start and _BETWEEN.fullmatch(core[end:start].lower()):
            run.append(at)
        else:
            run = [at]
        end = start + len(entities[at].text)
        best = run if len(run) > len(best) else best
    return tuple(entities[at] for at in best) if len(best) > 1 else ()


_ASKED: Final = lazy(r"\b(?:what|which|whose|how many|how much) (?:(?:kinds?|types?|sorts?) of )?$")
_ASKED_CHARS: Final = 24


def is_asked_for(core: str, entity: Entity) -> bool:
    """Return True if the entity is the kind of answer that is asked for, as in "which city"."""
    if entity.proper:
        return False
    start = core.find(entity.text)
    before = core[max(0, start - _ASKED_CHARS) : max(0, start)].lower()
    return _ASKED.search(before) is not None
