"""The people named in a text, their relatives and friends, and greetings, which only name people.

A run of capitalised words names a person if it contains a given name, or if the words around the run indicate
a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from engine.text.analyzer import STOP_WORDS
from engine.text.language.categories.marked_text import LISTS, MARGIN, Mark, MarkedText, is_word

_PARTICLES: Final = frozenset(LISTS["particles"])
_SHORT_FORMS: Final = frozenset(LISTS["short_forms"])
_BEFORE_NAMES: Final = Mark.HONORIFIC | Mark.ROLE | Mark.GREETING
_NOT_PERSON: Final = Mark.ORGANIZATION | Mark.PLACE_TITLE
_DATES: Final = Mark.TEMPORAL | Mark.NAME
_NOT_ALONE: Final = Mark.PLACE | Mark.TEMPORAL | Mark.SEASON | Mark.MONTH_SHORT | Mark.SPAN
_PLACED: Final = frozenset(LISTS["placed"])
_VERBS_OF_PEOPLE: Final = frozenset(LISTS["verbs_of_people"])
_OPENING_MAX: Final = 4
_ADDRESS_ENDS: Final = frozenset(",!.?-\n") | {"\u2013", "\u2014", ""}
_DESCRIBING: Final = frozenset(
    {"who", "which", "whose", "the", "a", "an", "our", "my", "his", "her", "and", "aged"}
)
_PREFIX_MIN: Final = 3
_LABEL_WORDS_MAX: Final = 3
_NAME_WORDS_MAX: Final = 4
NOUN_ENDINGS: Final = tuple(LISTS["noun_endings"])


class CapitalisedRun(NamedTuple):
    """A sequence of capitalised words: the tokens from `start` up to but excluding `end`."""

    start: int
    end: int
    words: tuple[str, ...]
    """The words of the run in lower case, without particles such as `da` and without the dots of initials."""
    marks: tuple[int, ...]
    """The marks of each word in `words` (see `marked_text.Mark`)."""

    def without_first(self, count: int) -> CapitalisedRun:
        """Return a copy of the run without the first `count` items of `words` and `marks`.

        `start` and `end` do not change.
        """
        return self._replace(words=self.words[count:], marks=self.marks[count:])


class NamedPeople(NamedTuple):
    """The runs of capitalised words in a text, and the runs among them that name people."""

    runs: list[CapitalisedRun]
    people: list[CapitalisedRun]
    """The runs that name people, one for each mention. The `words` of a run begin with the given name, if
    any."""
    absent: list[CapitalisedRun]
    """Those of `people` of whom the text speaks: neither the speaker of a line, nor whoever it addresses."""

    @property
    def several(self) -> bool:
        """True if the text speaks of at least two different people."""
        first, *others = [one.words for one in self.absent] or [()]
        return any(not _is_same_person(first, other) for other in others)

    @property
    def surnames(self) -> set[str]:
        """The last word of each name that has at least two words."""
        return {one.words[-1] for one in self.people if len(one.words) > 1}


def named_in(text: MarkedText) -> NamedPeople:
    """Return the runs of capitalised words in a text, and the runs among them that name people."""
    runs = list(_runs(text))
    people: list[CapitalisedRun] = []
    previous: CapitalisedRun | None = None
    for run in runs:
        person = _person(text, run, previous)
        if person is not None:
            people.append(person)
        previous = person
    speakers = [one for one in people if is_label(text, one.start, one.end)]
    absent = [one for one in people if one not in speakers]
    if speakers:
        absent = [one for one in absent if not is_addressed(text, one.end - len(one.words), one.end)]
    return NamedPeople(runs, people, absent)


def _runs(text: MarkedText) -> Iterator[CapitalisedRun]:
    parts: list[int] = []
    for at in text.capitals:
        if parts and not _continues(text, parts[-1], at):
            yield _run(text, parts)
            parts = []
        mark = text.marks[at]
        initial = len(text.tokens[at]) == 1 and text.words[at + 1] == "."
        dates = mark & _DATES == Mark.TEMPORAL and text.marks[at + 1] & Mark.NAME  # `Yesterday Jade came`
        if dates or (text.words[at] in STOP_WORDS and not mark & Mark.NAME and not initial):
            if parts:
                yield _run(text, parts)
                parts = []
            continue
        parts.append(at)
    if parts:
        yield _run(text, parts)


def _continues(text: MarkedText, last: int, at: int) -> bool:
    """Return True if two capitalised words belong to one run.

    Only the dot of an abbreviation, or particles such as `da`, may be between them.
    """
    if at - last == 1:
        return True
    between = text.tokens[last + 1 : at]
    if between == ["."]:
        return len(text.tokens[last]) == 1 or text.words[last] in _SHORT_FORMS
    return len(between) <= 2 and _PARTICLES.issuperset(between)


def _run(text: MarkedText, parts: list[int]) -> CapitalisedRun:
    words, marks = text.words, text.marks
    return CapitalisedRun(
        parts[0], parts[-1] + 1, tuple([words[at] for at in parts]), tuple([marks[at] for at in parts])
    )


def _person(text: MarkedText, run: CapitalisedRun, previous: CapitalisedRun | None) -> CapitalisedRun | None:
    """Return the name of a person within a run of capitalised words, or None if there is no name.

    `previous` is the previous run if it names a person, else None.
    """
    last = len(run.words) - 1
    skipped = 0
    while skipped < last and run.marks[skipped] & _BEFORE_NAMES:
        skipped += 1
    rest = run if not skipped else run.without_first(skipped)
    if is_label(text, run.start, run.end):
        return rest if _can_be_speaker(rest) else None
    if last and any(mark & _NOT_PERSON or mark & _DATES == Mark.TEMPORAL for mark in rest.marks):
        return None
    for at, mark in enumerate(rest.marks):
        alone = skipped + at == last
        hint = mark & Mark.NAME_HINT and not _is_used_as_name(text, run)
        if mark & Mark.NAME and not (alone and (hint or _place_follows(text, run.end))):
            return rest if not at else rest.without_first(at)
    if rest.marks[0] & _BEFORE_NAMES or max(map(len, rest.words)) < _PREFIX_MIN:
        return None
    return rest if skipped or _is_person_by_surroundings(text, rest, previous) else None


def _is_used_as_name(text: MarkedText, run: CapitalisedRun) -> bool:
    """Return True if a name that is also a word or a place is used as a name: `Rob met`, `with Jade`."""
    if run.marks[-1] & _NOT_ALONE or text.words[run.start - 1] in _PLACED:
        return False
    return not text.begins(run.start) or bool(
        text.marks[run.end] & (Mark.PAST | Mark.SPEAKING)
        or text.words[run.end] in _VERBS_OF_PEOPLE
        or text.words[run.end].endswith("ed")
    )


def _place_follows(text: MarkedText, at: int) -> bool:
    """Return True if there is a comma at index `at` and a place after it, as in `Rochester, Minnesota`."""
    return text.words[at] == "," and text.is_capital(at + 1) and bool(text.marks[at + 1] & Mark.PLACE)


def _can_be_speaker(run: CapitalisedRun) -> bool:
    """Return True if a run of capitalised words before a colon can name the speaker of the line.

    Such a run is a name, or its words are in no word list.
    """
    first, *_ = run.words
    if run.marks[0] & Mark.NAME or len(run.words) > _LABEL_WORDS_MAX:
        return len(run.words) <= _LABEL_WORDS_MAX
    return not any(run.marks) and not first.endswith(NOUN_ENDINGS) and len(first) > 1 and "-" not in first


def _is_person_by_surroundings(
    text: MarkedText, run: CapitalisedRun, previous: CapitalisedRun | None
) -> bool:
    """Return True if the words around a run, or an initial in it, indicate that the run names a person."""
    words, place = text.words, run.start - 1
    if len(run.words) == 1:
        if not run.marks[0] and _is_joined_to_name(text, run):
            return True
        spoken = text.marks[run.end] & Mark.SPEAKING or _is_greeted(text, run.start, run.end)
        return bool(spoken) and not run.marks[0]
    if len(run.words) > _NAME_WORDS_MAX or any(mark & Mark.PLACE for mark in run.marks):
        return False
    if any(len(word) == 1 for word in run.words[:-1]) and run.words[:2] != ("u", "s"):
        return True
    if words[place] == "by" or text.marks[place] & Mark.ROLE:
        return True
    if (
        previous is not None
        and words[place] in ("and", ",")
        and place == previous.end
        and len(previous.words) > 1
    ):
        return True
    return words[run.end + 1] == "born" and words[run.end] in ("(", "was")


def _is_joined_to_name(text: MarkedText, run: CapitalisedRun) -> bool:
    """Return True if `and` and a given name follow the run: `Finch and Willem Haas`."""
    mark = text.marks[run.end + 1]
    if text.words[run.end] != "and" or not text.is_capital(run.end + 1) or mark & _NOT_ALONE:
        return False
    return bool(mark & Mark.NAME) and not mark & Mark.NAME_HINT


def is_label(text: MarkedText, start: int, end: int) -> bool:
    """Return True if the words at `start:end` stand at the beginning of a line, with a colon: `Rob: …`."""
    return text.tokens[end] == ":" and text.tokens[start - 1] in ("", "\n")


def _is_greeted(text: MarkedText, start: int, end: int) -> bool:
    """Return True if a greeting is before the name at `start:end`: `Hey Rob!`, `Wow, Rob, …`."""
    greeting = start - 2 if text.tokens[start - 1] == "," else start - 1
    return bool(text.marks[greeting] & Mark.GREETING) and text.tokens[end] in _ADDRESS_ENDS


def is_addressed(text: MarkedText, start: int, end: int) -> bool:
    """Return True if the text calls somebody by the name at `start:end`, as in `Well done, Rob!`."""
    after, before = text.tokens[end], text.tokens[start - 1]
    if _is_greeted(text, start, end):
        return True
    if after == "," and text.words[end + 1] in _DESCRIBING:
        return False  # `Rob, our head, called`
    if before == "," and after != "," and not text.is_capital(start - 2):
        return not text.marks[start] & Mark.PLACE or bool(text.marks[start] & Mark.NAME)
    # `See you later Rob!`, `Rob, you got this`: few words before the name, and none who does something.
    opening = start
    while opening > start - _OPENING_MAX and not text.begins(opening):
        opening -= 1
    said = any(text.marks[at] & Mark.SUBJECT and text.words[at] != "you" for at in range(opening, start))
    listed = text.is_capital(end + 1) and text.words[end + 1][0] != "i"
    if opening == start and not text.marks[start] & Mark.NAME:
        return False  # `Hopefully, he will`
    return after in ("!", ",") and text.begins(opening) and not said and not listed


def _is_same_person(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if two names can refer to one person: `Terry Sanford` and `Terry`, `Melanie` and `Mel`."""
    if len(one) > len(other):
        one, other = other, one
    if not one:
        return True
    alike = any(_is_short_form(one[0], word) for word in other)
    # `Eddie Irvine` is more often `Edmund Irvine` than a relative of his.
    alike = alike or (one[-1] == other[-1] and one[0][:2] == other[0][:2])
    # With the same given name, a different surname is more often a birth name than that of another person.
    return alike and (len(one) == 1 or one[-1] == other[-1] or one[0] == other[0])


def _is_short_form(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _PREFIX_MIN and long.startswith(short))


GREETING_WORDS_MAX: Final = 8
"""A longer text is not a bare greeting."""

_OWNERS: Final = frozenset(LISTS["owners"])
_MARRIED: Final = frozenset({"divorced", "married", "marries", "marry", "marrying", "wed"})
_GREETS: Final = frozenset(LISTS["greets"])
_SALUTATION: Final = frozenset(LISTS["salutation"])


def has_relative(marked: MarkedText) -> bool:
    """Return True if the text says whose relative somebody is, or addresses a relative (`Mum`)."""
    if any(_is_of_somebody(marked, at) for at in marked.with_mark(Mark.KINSHIP)):
        return True
    if any(marked.words[at - 1] in _MARRIED for at in marked.capitals):
        return True
    return any(
        marked.is_capital(at) and (marked.is_capital(at + 1) or not marked.begins(at))
        for at in marked.with_mark(Mark.FAMILY)
    )


def _is_of_somebody(marked: MarkedText, at: int) -> bool:
    """Return True if the text says whose relative or friend somebody is: `my sister`, `daughter of Rob`."""
    if marked.words[at + 1] == "of" and marked.is_capital(at + 2):
        return True
    return any(
        marked.words[before] in _OWNERS or marked.tokens[before].endswith("'s") for before in (at - 1, at - 2)
    )


def is_bare_greeting(marked: MarkedText) -> bool:
    """Return True if a text only greets somebody: `Hi Rob, hello Jade!`, `Good morning, Mum`."""
    if marked.words[MARGIN] not in _GREETS or marked.numbers:
        return False
    words = [(word, at) for at, word in enumerate(marked.words) if is_word(word)]
    return len(words) <= GREETING_WORDS_MAX and all(
        word in _SALUTATION or (marked.is_capital(at) and word not in STOP_WORDS) for word, at in words
    )
