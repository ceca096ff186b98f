"""The day on which a text was written, and the times in the text that depend on this day.

    2023-05-08; yesterday, i.e. 2023-05-07; last week, i.e. 2023-05-01 to 2023-05-07

Such a note stands in the heading of a text and never in the text. Its words are generated: the mentions
consist of the words and digits of the patterns in `engine.text.language.time_patterns`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from engine.base.characters import lazy
from engine.followers.names import is_page
from engine.ledger.records import AtomRecord
from engine.text.language.calendar import Weekday, When, Yearless, day_of, first_and_last, resolve
from engine.text.language.time_mentions import find_times
from proofs.events import AtomBody

MENTIONS_MAX: Final = 4
"""The largest number of times that a note resolves."""

CHARS_MAX: Final = 4000
"""Only this many characters at the beginning of a text are searched for times."""

_SENTENCE_END: Final = lazy(r"[.!?…]\s|\n")

_DEPENDING: Final = lazy(
    r"(?a:yesterday|tomorrow|tonight|last|next|past|previous|coming|current|\bago\b"
    r"|\bthis (?:[a-z]{1,9}day|w|m|y|q|d|s)|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\b(?:jan|feb|mar|apr|may|june|july|aug|sep|oct|nov|dec)[a-z]{0,6}\b)"
)
"""Matches, in lower case, a word of every time that depends on a day."""

_AHEAD: Final = lazy(
    r"\b(?ai:will|won't|going to|gonna|plan(?:s|ned|ning)?|upcoming|can't wait|looking forward|soon|"
    r"hop(?:e|ing)|wants?|excited (?:for|to)|scheduled|tomorrow|let's|shall|should|"
    r"(?:am|are|is) [a-z]{2,20}ing)\b"
    r"|(?ai:['\u2019](?:ll\b|(?:m|re|s) [a-z]{2,20}ing\b))"
)
"""Matches words of a sentence about the future: in it, `in March` is the next March and not the last one."""


def day_written(record: AtomRecord, body: AtomBody) -> date | None:
    """Return the UTC day on which an atom's text was written, or None if it is unknown.

    It is unknown for a page whose file states no day: then only the day on which the memory read the file is
    known.
    """
    stated = body.created is not None or not is_page(record.source)
    return day_of(record.created) if stated else None


def note_of(day: date | None, text: str, *, asked: bool) -> str:
    """Return the note for a text that was written on `day`; '' if the day is unknown.

    The note is also empty if no time in the text depends on the day, unless the question asks for a time
    (`asked`).
    """
    if day is None:
        return ""
    times = list(_times(text[:CHARS_MAX], day))
    return "; ".join([day.isoformat(), *times]) if times or asked else ""


def _times(text: str, day: date) -> Iterator[str]:
    """Yield the times in a text that depend on `day`, each with its first and its last day."""
    seen: set[str] = set()
    # Looking for times takes a microsecond for each character, and few texts and sentences have such a time.
    sentences = _SENTENCE_END.split(text) if _DEPENDING.search(text.lower()) else ()
    for sentence in (one for one in sentences if _DEPENDING.search(one.lower())):
        for mention in find_times(sentence):
            interval = resolve(_turned(sentence, mention.when), day)
            # An absolute time has an interval even without a day.
            if interval is None or resolve(mention.when, None) is not None or len(seen) == MENTIONS_MAX:
                continue
            meaning = _shown(*first_and_last(interval))
            said = " ".join(sentence[mention.start : mention.end].split())
            if meaning != day.isoformat() and said.casefold() not in seen:
                seen.add(said.casefold())
                yield f"{said}, i.e. {meaning}"


def _turned(sentence: str, when: When) -> When:
    """Return the meaning of a time; in a sentence about the future, a bare `Friday` is the next one."""
    if isinstance(when, Weekday | Yearless) and when.turn == 0 and _AHEAD.search(sentence):
        return when._replace(turn=1)
    return when


def _shown(first: date | None, last: date | None) -> str:
    """Return an interval in words: a day, a month, a year, or its first and last day."""
    if first is None or last is None:
        return f"until {last}" if first is None else f"from {first}"
    if first == last:
        return first.isoformat()
    following = last + timedelta(days=1)
    if first.day == following.day == 1:
        if following == (first.replace(day=28) + timedelta(days=4)).replace(day=1):
            return first.isoformat()[:7]
        if first.month == following.month == 1 and following.year == first.year + 1:
            return first.isoformat()[:4]
    return f"{first} to {last}"
