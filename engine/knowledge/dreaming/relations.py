"""The relations that a text states between names.

    parts with their speaker ──▶ sentences ──▶ names and titles ──▶ the words that state a relation

Both ends of a relation are names (`sentence_names`), or the speaker of a line. On a page that has a title,
`it` and `the film` stand for the page. Anything else that is no name states nothing. The words are in
`data/relations.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from engine.knowledge.dreaming.sentence_names import TIMES, Known, Phrase, SentenceNames
from engine.knowledge.dreaming.tokenized_text import is_person, tokens_of_name
from engine.text.analyzer import index_terms
from engine.text.language.categories.marked_text import MARGIN, MARKS, Mark, tokens_of
from engine.text.language.lexicon import ADVERBS, FUNCTION_WORDS, read_lists
from engine.text.language.parts_of_speech import forms_of, is_past, is_verb
from engine.text.language.tokenizer import sentences_of

SYMMETRIC: Final = frozenset(
    ["married_to", "partner_of", "sibling_of", "relative_of", "friend_of", "works_with"]
)
"""The predicates that hold in both directions. Only one edge is added for a pair of entities."""
_LASTING: Final = SYMMETRIC | {"lives_in", "manages", "member_of", "owns", "studies_at", "works_at"}
"""The predicates of what can end. A sentence that says that something ended does not state them."""

_LISTS: Final = read_lists(__package__, "relations.txt")
_DOUBTS: Final = frozenset(_LISTS["doubts"])
_ENDED: Final = frozenset(_LISTS["ended"])
_FILLERS: Final = frozenset(_LISTS["auxiliaries"]) | ADVERBS
"""The words that may stand between a subject and its verb."""
_SPEAKERS: Final = frozenset(["i", "i'm", "i've", "we", "we're", "we've"])
_MINE: Final = frozenset(["my", "our"])
_HERE: Final = frozenset(["it", "he", "she"])
_COPULAS: Final = frozenset(["is", "was", "are", "were", "became"])
_DESCRIBING: Final = frozenset(["who", "which", "a", "an", "the", "our", "my"])
_CALLED: Final = frozenset(["called", "named"])
_JOINED: Final = frozenset(["and", "&"])
_BREAKS: Final = frozenset(["", *',;:.!?()\u2014\u2013-"\u201c\u201d'])
_CLAUSES: Final = frozenset(["but", "because", "so", "while", "when", "where", "then", "since"])
"""The words that begin another clause."""
_QUOTES: Final = frozenset('"\u201c')
_BEFORE_BEARERS: Final = frozenset(["'", "name", "is", "are", *_CALLED, *",-:"])
SENTENCE_CHARS_MAX: Final = 600
"""A longer sentence states nothing: it is usually a list or a table."""
_GAP_MAX: Final = 4
"""The largest number of words, such as `a small town called`, between a verb and its object."""
_WALK_MAX: Final = 14
"""The largest number of words that are searched for the subject."""
_LABEL: Final = re.compile(
    r"^[ \t]*([^\W\d_][\w.'-]{0,40}(?: [^\W\d_][\w.'-]{0,40}){0,2}):[ \t]+(?=\S)", re.MULTILINE
)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NAMED: Final = re.compile(r".[\s\"\u201c('][A-Z][^\W_]")
"""What every sentence with two names has."""

Triple = tuple[str, str, str]
"""Subject, predicate and object."""


class Statement(NamedTuple):
    """A relation that a sentence of a text states."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    """The sentence is the part of the text from `start` up to but excluding `end`."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The relation in lower case; for a symmetric predicate, with its ends in alphabetical order."""
        ends = self.subject.lower(), self.object.lower()
        if self.predicate in SYMMETRIC:
            ends = min(ends), max(ends)
        return ends[0], self.predicate, ends[1]


class Pattern(NamedTuple):
    """Words between a subject and an object that state a relation."""

    predicate: str
    subject: str
    """The kind of the subject: `person` or `any`."""
    object: str
    words: tuple[str, ...]
    """The words after the first one, by which the pattern is found."""
    noun: bool = False
    """True if other words may stand between the subject and these words: `is a village in`."""
    flipped: bool = False
    """True if the object of the words is the subject of the predicate."""


class Role(NamedTuple):
    """A noun that says what its bearer is to an owner: `my sister Anna`."""

    predicate: str
    flipped: bool
    """True if the owner is the subject of the predicate: the owner of a daughter is her parent."""


@lru_cache(1 << 14)
def _stem(word: str) -> str:
    return next(iter(index_terms(word)), word)


def _tables() -> tuple[dict[str, list[Pattern]], dict[str, Role]]:
    patterns: dict[str, list[Pattern]] = {}
    roles: dict[str, Role] = {}
    for head, entries in _LISTS.items():
        predicate, *kinds = head.split()
        for entry in entries if kinds else ():
            if kinds[0] == "role":
                roles[entry] = Role(predicate, kinds[-1] == "<")
                continue
            first, *rest = entry.strip("~<").split()
            subject, object_ = kinds
            signs = {"noun": entry.startswith("~"), "flipped": entry.endswith("<")}
            one = Pattern(predicate, subject, object_, tuple(rest), **signs)
            stem = _stem(first)
            for form in [first] if first.startswith("=") else [stem, *forms_of(stem)]:
                patterns.setdefault(form, []).append(one)
    return patterns, roles


_PATTERNS, _ROLES = _tables()


@lru_cache(1 << 14)
def _patterns_of(word: str) -> list[Pattern]:
    return [*_PATTERNS.get(_stem(word), ()), *_PATTERNS.get(f"={word}", ())]


@lru_cache(1 << 14)
def _role_of(word: str) -> Role | None:
    singular = word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
    return _ROLES.get(word) or _ROLES.get(singular)


def may_state(text: str) -> bool:
    """Return False for a text in which no two words can be names, and which so states nothing."""
    return _NAMED.search(text) is not None


def _can_state(sentence: str) -> bool:
    """Return True if a sentence may state something. Most sentences cannot, and their names are not read."""
    if len(sentence) > SENTENCE_CHARS_MAX or "?" in sentence or not may_state(sentence):
        return False
    words = {word.removesuffix("'s") for word in tokens_of(sentence.lower().replace("\u2019", "'"))}
    return not _QUOTES.isdisjoint(words) or any(
        _role_of(word) or any(words.issuperset(pattern.words) for pattern in _patterns_of(word))
        for word in words
    )


def statements_of(text: str, page: str | None, known: Known) -> list[Statement]:
    """Return the statements of a text, each once. `page` is the title of the page that the text is from."""
    found: dict[tuple[str, str, str], Statement] = {}
    page = None if page is None else page.split(" (")[0]
    text = _CODE.sub(lambda block: " " * len(block[0]), text)
    for start, end, speaker in _segments(text, known):
        for sentence in filter(_can_state, sentences_of(text[start:end])):
            for subject, predicate, object_ in _Sentence(sentence, speaker, page, known).triples():
                place = re.compile(r"\s+".join(map(re.escape, sentence.split()))).search(text, start, end)
                at = (start, end) if place is None else place.span()
                statement = Statement(subject, predicate, object_, *at)
                if subject.lower() != object_.lower():
                    found.setdefault(statement.key, statement)
    return list(found.values())


def _segments(text: str, known: Known) -> Iterator[tuple[int, int, str | None]]:
    """Yield the parts of a text with the name of their speaker: `Rob: …` begins a part that Rob says."""
    start, speaker = 0, None
    for label in _LABEL.finditer(text):
        words = tuple(label[1].lower().split())
        if known(words) or MARKS.get(words[0], 0) & Mark.NAME:
            yield start, label.start(), speaker
            start, speaker = label.end(), label[1]
    yield start, len(text), speaker


class _Sentence:
    """A sentence of one speaker, or of a page, and what it states."""

    def __init__(self, sentence: str, speaker: str | None, page: str | None, known: Known) -> None:
        self._speaker = speaker
        self._page = page
        self._names = SentenceNames(sentence, page, known)
        self._words = self._names.words
        self._starts, self._ends = self._names.starts, self._names.ends

    def triples(self) -> Iterator[Triple]:
        """Yield what the sentence states."""
        for at in range(MARGIN, self._names.end):
            word = self._words[at]
            if self._names.is_capital(at) and at > MARGIN and word not in _SPEAKERS:
                continue
            for pattern in _patterns_of(word):
                yield from self._of_pattern(at, pattern)
            role = _role_of(word)
            if role is not None and not self._is_doubted(at, role.predicate):
                yield from self._of_role(at, role)
        yield from self._titles()

    def _of_pattern(self, at: int, pattern: Pattern) -> Iterator[Triple]:
        after = self._after(at, pattern.words)
        if after is None or self._is_doubted(at, pattern.predicate):
            return
        kind = "maker" if pattern.flipped else pattern.object
        objects = [one.text for one in self._objects(after) if self._names.fits(one, kind)]
        for subject in self._subjects(at, pattern) if objects else ():
            for one in objects:
                yield _triple(subject, pattern.predicate, one, flipped=pattern.flipped)

    def _after(self, at: int, words: tuple[str, ...]) -> int | None:
        """Return the index after the words of a pattern, or None. Times may stand between the words."""
        at += 1
        for word in words:
            while self._words[at] != word and self._is_aside(at):
                at += 1
            if self._words[at] != word:
                return None
            at += 1
        return at

    def _is_aside(self, at: int) -> bool:
        word = self._words[at]
        time = word.isdigit() or bool(MARKS.get(word, 0) & TIMES)
        return time or word.endswith("ly") or (word == "on" and self._words[at + 1].isdigit())

    def _is_doubted(self, at: int, predicate: str) -> bool:
        """Return True if the sentence denies, doubts or wishes what stands at `at`, or says that it ended."""
        start = at
        while start > MARGIN and self._words[start - 1] not in ("but", ";", "\u2014"):
            start -= 1
        before = self._words[start:at]
        if not _DOUBTS.isdisjoint(before) or any(word.endswith("n't") for word in before):
            return True
        return "if" in self._words or (predicate in _LASTING and not _ENDED.isdisjoint(self._words))

    # -- objects ------------------------------------------------------------------------------------------

    def _objects(self, at: int, *, owning: bool = False) -> list[Phrase]:
        """Return the names at `at`, or after a few words such as `a town called`, joined by `and`.

        With `owning`, the names may have possessive endings: `my daughter Sara's birthday`.
        """
        found: list[Phrase] = []
        at = self._first_object(at)
        listed = joined = False
        while (phrase := self._starts.get(at)) is not None:
            if self._names.owns(phrase) and not owning:
                return []
            found.append(phrase)
            after = phrase.end + (self._words[phrase.end] == ",")
            joined = joined or self._words[after] in _JOINED
            listed = listed or after > phrase.end
            if after == phrase.end and self._words[after] not in _JOINED:
                break
            at = after + (self._words[after] in _JOINED)
        if found and self._words[found[-1].end] == "or":
            return []
        # In `Paris, France`, the second name is no object. In `Paris, Rome and Oslo`, all names are.
        return found[:1] if listed and not joined else found

    def _first_object(self, at: int) -> int:
        start = at
        while at - start < _GAP_MAX and at not in self._starts and self._is_between(at):
            at += 1
        apposed = self._words[at] == "," and at != start + 1 and at + 1 in self._starts
        if apposed and self._words[self._starts[at + 1].end] in _BREAKS:
            at += 1  # `this amazing woman, Jean, who`
        end = self._starts[at].end if at in self._starts else at
        return end + 1 if self._words[end] in _CALLED and end + 1 in self._starts else at

    def _is_between(self, at: int) -> bool:
        word = self._words[at]
        if word in _CALLED or word in ("someone", "somebody"):
            return True
        plain = word.isalpha() and not self._names.is_capital(at) and word != "that"
        return plain and FUNCTION_WORDS.get(word, "DET") == "DET" and not is_past(word)

    # -- subjects -----------------------------------------------------------------------------------------

    def _subjects(self, at: int, pattern: Pattern) -> list[str]:
        """Return the subjects of the words at `at`, or nothing if they are not sure."""
        left = at if self._words[at] in _SPEAKERS else at - 1
        stated = not pattern.noun or pattern.subject == "person" or is_past(self._words[at])
        for _ in range(_WALK_MAX):
            word, phrase = self._words[left], self._ends.get(left + 1)
            stated = stated or word in _COPULAS
            if phrase is None:
                if not self._is_skipped(left, pattern):
                    return self._subject_at(left, at, pattern)
                left -= 1
            elif pattern.noun and self._is_modifier(phrase, at):
                left = phrase.start - 1
            elif FUNCTION_WORDS.get(self._words[phrase.start - 1]) != "ADP":
                return self._listed(phrase, pattern) if stated else []
            elif pattern.noun:
                left = phrase.start - 2
            else:
                return []
        return []

    def _is_skipped(self, at: int, pattern: Pattern) -> bool:
        """Return True if the word at `at` may stand between a subject and the words of a pattern."""
        word = self._words[at]
        if word in _SPEAKERS or word in _HERE or word in _BREAKS or word in ("who", "which"):
            return False
        if word in _FILLERS or (word.endswith("ly") and word.isalpha()):
            return True
        if not pattern.noun or word in _CLAUSES or word in _JOINED or word in _MINE:
            return False
        return not (pattern.subject == "any" and is_past(word))

    def _is_modifier(self, phrase: Phrase, at: int) -> bool:
        """Return True if the phrase is before or ends with a noun: `a 1994 Bollywood film directed by`."""
        after = self._words[phrase.end]
        plain = after.replace("-", "").isalpha() and after not in _FILLERS and after not in FUNCTION_WORDS
        return phrase.noun or (phrase.end < at and (plain or after == "/"))

    def _subject_at(self, left: int, at: int, pattern: Pattern) -> list[str]:
        """Return the subjects for a word that is no name: `I`, `who`, `it`, or what a clause begins after."""
        word = self._words[left]
        if word in _SPEAKERS or (word in _MINE and pattern.noun):
            return self._said()
        if word in ("who", "which"):
            described = self._ends.get(left - (self._words[left - 1] == ","))
            if described is None or (word == "who" and not self._names.fits(described, "person")):
                return []
            return self._listed(described, pattern)
        if word in _HERE:
            return self._of_page(pattern, person=word != "it")
        if word in _JOINED:
            return self._shared(left, pattern)
        described = self._described(left) if word == "," else None
        if described is not None:
            return self._listed(described, pattern)
        return self._elided(left + 1, at, pattern) if word in _BREAKS else []

    def _described(self, end: int) -> Phrase | None:
        """Return the name that words between commas describe: `Lena Fischer, who keeps bees, lives in`."""
        start = next(
            (at for at in range(end - 2, max(MARGIN, end - _WALK_MAX), -1) if self._words[at] == ","), 0
        )
        return self._ends.get(start) if self._words[start + 1] in _DESCRIBING else None

    def _listed(self, phrase: Phrase, pattern: Pattern) -> list[str]:
        """Return the names that end with a phrase: `Anna and Rob`."""
        found: list[str] = []
        current: Phrase | None = phrase
        while current is not None and self._names.fits(current, pattern.subject):
            if self._names.owns(current):
                break
            found.append(current.text)
            joined = self._words[current.start - 1] in _JOINED
            current = self._ends.get(current.start - 1) if joined else None
        return found[::-1]

    def _said(self) -> list[str]:
        return [] if self._speaker is None else [self._speaker]

    def _of_page(self, pattern: Pattern, *, person: bool) -> list[str]:
        """Return the title of the page, if it can be what `he` or `it` means."""
        if self._page is None or self._speaker is not None:
            return []
        fits = person == is_person(tokens_of_name(self._page)) and (person or pattern.subject == "any")
        return [self._page] if fits else []

    def _elided(self, start: int, at: int, pattern: Pattern) -> list[str]:
        """Return the subject of a clause that begins at `start` without one: `Just watched Dune`.

        It is the speaker. After `the film`, and after a page's title with a comma, it is the page.
        """
        if self._words[start] == "the" and start == MARGIN:
            return self._of_page(pattern, person=False)
        title = self._starts.get(MARGIN)
        if pattern.noun and title is not None and title.text == self._page and self._words[start - 1] == ",":
            return [title.text]
        if self._words[start - 1] == "," and start - MARGIN > 3:
            return []
        while start < at and self._words[start] in _FILLERS and not is_past(self._words[start]):
            start += 1
        word = self._words[start]
        return self._said() if is_past(word) or word.endswith("ing") else []

    def _shared(self, at: int, pattern: Pattern) -> list[str]:
        """Return the subject that the verb before the `and` at `at` has, if it is clear."""
        before = [word for word in self._words[MARGIN:at] if FUNCTION_WORDS.get(word) == "PRON"]
        speaking = [word for word in self._words[MARGIN:at] if word in _SPEAKERS]
        if speaking and all(word in _SPEAKERS or word in _MINE for word in before):
            return self._said()
        first = self._starts.get(MARGIN)
        verb = first is not None and not speaking and is_verb(self._words[first.end])
        return self._listed(first, pattern) if first is not None and verb else []

    # -- roles --------------------------------------------------------------------------------------------

    def _of_role(self, at: int, role: Role) -> Iterator[Triple]:
        """Yield the statements of `my sister Anna`, `Anna is Rob's sister` and `the sister of Rob`."""
        pattern = Pattern(role.predicate, "person", "any", (), noun=True, flipped=role.flipped)
        if self._words[at + 1] in ("of", "to") and role.predicate != "partner_of":
            owners = [one.text for one in self._objects(at + 2) if self._names.fits(one, "person")]
            bearers = (
                self._subjects(at, pattern) if owners and self._words[at - 1] in ("a", "an", "the") else []
            )
        else:
            owners, before = self._owners(at, pattern)
            kind = "any" if role.predicate == "likes" else "person"
            named = self._bearers(at + 1, before) if owners else []
            bearers = [one.text for one in named if self._names.fits(one, kind)]
        for owner in owners:
            for bearer in bearers:
                yield _triple(bearer, role.predicate, owner, flipped=role.flipped)
        if self._words[at].endswith("s") and self._words[at - 1] in _COPULAS and not role.flipped:
            for one, other in combinations(self._subjects(at, pattern), 2):
                yield one, role.predicate, other  # `Anna and Rob are friends`

    def _owners(self, at: int, pattern: Pattern) -> tuple[list[str], int]:
        """Return the owner, up to two words before a noun, and the index at which the owner begins."""
        for left in range(at - 1, at - 4, -1):
            word, phrase = self._words[left], self._ends.get(left + 1)
            if phrase is not None and self._names.owns(phrase):
                return [phrase.text], phrase.start
            if word in _MINE:
                return self._said(), left
            if word in ("a", "an", "another"):
                named = self._words[at + 1] in _CALLED and pattern.flipped
                return (self._subjects(left, pattern) if named else []), left
            if not word.isalpha() or word in FUNCTION_WORDS:
                break
        return [], at

    def _bearers(self, after: int, before: int) -> list[Phrase]:
        """Return the names beside a noun and its owner: `, Anna`, `called Anna`, `is Anna`, `Anna is …`."""
        words, at = self._words, after
        if words[at].isalpha() and words[at + 1] == "is":
            at += 1  # `my favorite book is Dune`
        while at < after + 4 and words[at] in _BEFORE_BEARERS:
            at += 1
        found = self._objects(at, owning=True) if at in self._starts else []
        if found:
            apposed = words[at - 1] != "," or words[found[-1].end] in _BREAKS
            several = words[after - 1].endswith("s")
            return (found if several else found[:1]) if apposed else []
        before -= 2 if words[before - 2 : before] == ["one", "of"] else 0
        if words[before - 1] not in ("is", "was", "are") and words[after] not in _BREAKS:
            return []
        one = self._ends.get(before - (words[before - 1] in ("is", "was", "are", ",", "-")))
        return [] if one is None or FUNCTION_WORDS.get(words[one.start - 1]) == "ADP" else [one]

    def _titles(self) -> Iterator[Triple]:
        """Yield the statements of `"Becoming Nicole" by Amy Ellis Nutt` and `Ed Sheeran's "Perfect"`."""
        for title in self._starts.values():
            author = self._starts.get(title.end + 1) if self._words[title.end] == "by" else None
            noun = self._names.is_noun(title.end, verbs=True)
            owner = None if noun else self._ends.get(title.start)
            if title.quoted and owner is not None and self._names.owns(owner):
                yield owner.text, "created", title.text
            full = author is not None and author.end - author.start > 1
            if title.quoted and author is not None and full and self._names.fits(author, "person"):
                yield author.text, "created", title.text


def _triple(subject: str, predicate: str, object_: str, *, flipped: bool) -> Triple:
    return (object_, predicate, subject) if flipped else (subject, predicate, object_)
