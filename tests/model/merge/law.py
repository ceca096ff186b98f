"""The merge law as a pure function: from a set of originals, and what each of them had seen, to a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple

Dot = tuple[int, int]
"""The store that wrote an original, and the seq of the original there."""

Subject = int | tuple[int, int]
"""An atom, or the two ends of an edge."""

Rank = tuple[Dot, ...]


class Kind(Enum):
    """The kinds of events. One member stands for the kinds on atoms and on edges that mean the same."""

    ADDED = "atom_added, edge_added"
    REVISED = "atom_revised"
    HIDDEN = "atom_tombstoned, edge_removed"
    REVIVED = "atom_revived"
    TAGGED = "tags_added"
    UNTAGGED = "tags_removed"
    ERASED = "erased, edge_erased"
    VERSION_NOTED = "version_noted"
    NOTED = "atom_noted, edge_noted"
    HEAD = "foreign_head"
    REGISTERED = "edge_type_registered"


VERSIONS: Final = (Kind.ADDED, Kind.REVISED)
STATEMENTS: Final = (*VERSIONS, Kind.HIDDEN, Kind.REVIVED, Kind.TAGGED, Kind.UNTAGGED, Kind.ERASED)
"""The kinds of originals."""


class Body(NamedTuple):
    """What an event states: a text (the content, the weight of an edge, or a reason), tags and a time."""

    text: str
    tags: tuple[str, ...] = ()
    created: int | None = None


class Original(NamedTuple):
    """An original as a store knows it."""

    dot: Dot
    kind: Kind
    subject: Subject
    body: Body | None
    """None if the payload is destroyed, or was before the original arrived."""
    time: int
    seen: tuple[int, ...]
    """By store, the number of its first events that are in the past of this original."""


class State(NamedTuple):
    """The merged state of a subject."""

    state: str
    current: Dot | None = None
    text: str = ""
    created: int = 0
    updated: int = 0
    tags: tuple[tuple[str, str], ...] = ()
    """Identity and spelling, ascending."""
    hidden: tuple[int, str] | None = None
    """Time and reason, if it is tombstoned."""


LIVE, TOMBSTONED, ERASED = "live", "tombstoned", "erased"


def has_seen(late: Original, early: Original) -> bool:
    """Return True if `early` is in the past of `late`."""
    return early.dot[1] < late.seen[early.dot[0]]


def heads(originals: Sequence[Original]) -> list[Original]:
    """Return the originals that no other one has seen."""
    return [one for one in originals if not any(has_seen(other, one) for other in originals)]


def ranks(originals: Iterable[Original]) -> dict[Dot, Rank]:
    """Return the rank of each: the greatest rank in its past, followed by its dot."""
    found: list[tuple[Original, Rank]] = []
    for one in sorted(originals, key=lambda one: sum(one.seen)):
        best = max((rank for other, rank in found if has_seen(one, other)), default=())
        found.append((one, (*best, one.dot)))
    return {one.dot: rank for one, rank in found}


def greatest(originals: Sequence[Original]) -> Original:
    """Return the original with the greatest rank."""
    rank = ranks(originals)
    return max(originals, key=lambda one: rank[one.dot])


class Known:
    """The originals that a store knows, by subject, and what they amount to."""

    def __init__(self) -> None:
        self.by_subject: dict[Subject, list[Original]] = {}
        self._states: dict[Subject, State | None] = {}
        """States that were computed since the last change; only for speed."""

    def add(self, original: Original) -> None:
        """Take an original in."""
        self.by_subject.setdefault(original.subject, []).append(original)
        self._states.clear()

    def destroy(self, subject: Subject) -> None:
        """Forget what the originals on the subject state, except erasures."""
        originals = self.by_subject.get(subject, ())
        self.by_subject[subject] = [
            one if one.kind is Kind.ERASED else one._replace(body=None, time=0) for one in originals
        ]
        self._states.clear()

    def erasures(self, subject: Subject) -> list[Original]:
        """Return the known erasures of an atom, or of the ends of an edge."""
        ends = subject if isinstance(subject, tuple) else (subject,)
        return [one for end in ends for one in self.by_subject.get(end, ()) if one.kind is Kind.ERASED]

    def unreached(self, subject: Subject) -> list[Original]:
        """Return the originals on a subject that no known erasure reaches."""
        originals = [one for one in self.by_subject.get(subject, ()) if one.kind is not Kind.ERASED]
        for erasure in self.erasures(subject):
            originals = [one for one in originals if has_seen(one, erasure)]
        return originals

    def awaits_erasure(self, subject: Subject) -> bool:
        """Return True if a void original on the subject, or on an end, is reached by no known erasure."""
        places = (subject, *subject) if isinstance(subject, tuple) else (subject,)
        return any(one.body is None for place in places for one in self.unreached(place))

    def surviving(self, subject: Subject) -> list[Original]:
        """Return the originals on a subject that take part in its state."""
        return [] if self.awaits_erasure(subject) else self.unreached(subject)

    def state(self, subject: Subject) -> State | None:
        """Return the merged state of a subject, or None if it was never recorded."""
        if subject not in self._states:
            self._states[subject] = self._state(subject)
        return self._states[subject]

    def _state(self, subject: Subject) -> State | None:
        originals = self.surviving(subject)
        versions = [one for one in originals if one.kind in VERSIONS]
        if not versions:
            return State(ERASED) if self.by_subject.get(subject) else None
        current = greatest(versions)
        assert current.body is not None
        hides = [one for one in originals if one.kind is Kind.HIDDEN]
        about = [*versions, *hides, *(one for one in originals if one.kind is Kind.REVIVED)]
        live = any(one.kind is not Kind.HIDDEN for one in heads(about))
        hidden = None
        if not live:
            by = greatest(hides)
            assert by.body is not None
            hidden = by.time, by.body.text
        atom = not isinstance(subject, tuple)
        created = current.time if current.body.created is None else current.body.created
        return State(
            LIVE if live else TOMBSTONED,
            current.dot,
            current.body.text,
            created if atom else 0,
            max(one.time for one in originals) if atom else 0,
            _tags(originals),
            hidden,
        )

    def conflict(self, subject: Subject) -> list[Dot]:
        """Return the heads among the versions of a live subject if they are not all equal."""
        state = self.state(subject)
        if state is None or state.state != LIVE:
            return []
        found = heads([one for one in self.surviving(subject) if one.kind in VERSIONS])
        texts = {one.body.text for one in found if one.body is not None}
        return sorted(one.dot for one in found) if len(texts) > 1 else []

    def lost(self, atom: int) -> list[Dot]:
        """Return the lost edits of an atom."""
        erasures, originals = self.erasures(atom), self.by_subject.get(atom, [])
        found = []
        for one in originals:
            against = [
                erasure for erasure in erasures if not has_seen(one, erasure) and not has_seen(erasure, one)
            ]
            noticed = any(
                has_seen(other, one) and has_seen(other, erasure)
                for other in originals
                for erasure in against
            )
            if one.kind in VERSIONS and against and not noticed:
                found.append(one.dot)
        return sorted(found)

    def summary(self) -> tuple[dict[Subject, State], dict[Subject, list[Dot]], dict[int, list[Dot]]]:
        """Return everything in which stores with the same originals agree."""
        atoms = [subject for subject in self.by_subject if not isinstance(subject, tuple)]
        return (
            {subject: state for subject in self.by_subject if (state := self.state(subject))},
            {subject: found for subject in self.by_subject if (found := self.conflict(subject))},
            {atom: found for atom in atoms if (found := self.lost(atom))},
        )


def identity(tag: str) -> str:
    """Return the identity of a tag."""
    return tag.lower()


def _tags(originals: Sequence[Original]) -> tuple[tuple[str, str], ...]:
    stated = [tag for one in originals if one.body is not None for tag in one.body.tags]
    found = []
    for name in sorted(set(map(identity, stated))):
        about = [one for one in originals if _speaks_of(one, name)]
        spelled = [(one.dot, spelling) for one in heads(about) if (spelling := _spelling(one, name))]
        if spelled:
            found.append((name, max(spelled)[1]))
    return tuple(found)


def _speaks_of(one: Original, name: str) -> bool:
    assert one.body is not None
    return one.kind in VERSIONS or name in map(identity, one.body.tags)


def _spelling(one: Original, name: str) -> str | None:
    """Return the spelling in which an original states a tag, or None if it removes the tag."""
    assert one.body is not None
    if one.kind is Kind.UNTAGGED:
        return None
    return next((tag for tag in one.body.tags if identity(tag) == name), None)
