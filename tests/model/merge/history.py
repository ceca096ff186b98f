"""Random histories of a family of stores, and what must hold after each step.

A history is a sequence of bytes, so that Hypothesis makes and shrinks it fast: the number of stores, the
store that is away, and four bytes a step.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import permutations
from typing import Final

from tests.model.merge.law import ERASED, LIVE, VERSIONS, Body, Dot, Kind, State, Subject, identity
from tests.model.merge.store import Store

ATOMS: Final = (0, 1)
EDGES: Final = ((0, 1), (1, 0))
TAGS: Final = ("a", "A", "b")
SETS: Final = ((), ("a",), ("A", "b"))
WORDS: Final = ("x", "y", "z")
STEP: Final = 4
LEAVES: Final = 0xD4
"""The step in which a store leaves the family, and another one joins."""


class Family:
    """Some stores, and beside them, from outside, what each of their originals had really seen."""

    def __init__(self, stores: int, away: int) -> None:
        self._most = stores + 1
        self.stores = [self.new_store(number, self._most) for number in range(stores)]
        self.away = away
        self.left: dict[int, int] = {}
        """A store that was removed, or whose machine was lost; and how many of its events others may get."""
        self.past: dict[Dot, frozenset[Dot]] = {}
        self.taken: list[set[Dot]] = [set() for _ in range(stores)]
        """By store, the originals that it took in or wrote."""
        self.stated: dict[Dot, tuple[Kind, Subject, Body]] = {}
        self.erasures: list[Dot] = []

    def new_store(self, number: int, stores: int) -> Store:
        """Return a store that has written nothing."""
        return Store(number, stores)

    def run(self, history: bytes) -> None:
        """Do the steps of a history, then exchange everything, and check after each step."""
        for at in range(0, len(history) - STEP + 1, STEP):
            self.step(*history[at : at + STEP])
        self.exchange(history)

    def step(self, what: int, who: int, which: int, how: int) -> None:
        """Do one step."""
        store = self.stores[who % len(self.stores)]
        if store.number in self.left:
            return
        if what == LEAVES:
            self.leave(store, which, how)
        elif what % 3 == 0:
            other = self.stores[which % len(self.stores)]
            if other is not store and self.away not in {store.number, other.number}:
                self.pull(store, other, how % 8 + 1)
                self.check_kept(store)
        elif what % 16 == 1:
            self.check_rebuild(store)
            self.stores[store.number] = store.rebuilt()
        else:
            size = len(store.journal)
            self.command(store, what // 3, which, how, who)
            self.note(store, size)
            self.check(store)

    def leave(self, store: Store, which: int, how: int) -> None:
        """Let a store leave for ever. A new one joins: another device, or one that was restored.

        A removed store counts as far as a remaining one had taken it in. If its machine was lost, some events
        after that may have been published. Payloads are missing in what was published only if the erasure was
        published, too; whoever removes a store takes in all of that before.
        """
        if self.left:
            return
        number, size = store.number, len(store.journal)
        known = max(other.seen[other.number][number] for other in self.stores if other is not store)
        end = known if which % 2 else known + (size - known) * (how % 4) // 3
        erasing = (seq for seq in range(end, size) if store.journal[seq].kind is Kind.ERASED)
        self.left[number] = end = max(erasing, default=end - 1) + 1
        for dot in [dot for dot in self.past if dot[0] == number and dot[1] >= end]:
            del self.past[dot], self.stated[dot]
        self.erasures = [dot for dot in self.erasures if dot in self.past]
        self.stores.append(self.new_store(len(self.stores), self._most))
        self.taken.append(set())

    def command(self, store: Store, what: int, which: int, how: int, time: int) -> None:
        """Call a local command, mostly one that is possible."""
        atom, edge = ATOMS[which % len(ATOMS)], EDGES[which // 2 % len(EDGES)]
        word, tags, tag = WORDS[how % 3], SETS[how // 3 % 3], TAGS[how % 3]
        created = how if how & 64 else None
        match what % 16, store.state(atom):
            case (15, _):
                store.register(word, time)
            case (_, None | State(state="erased")):
                store.add(atom, Body(f"{atom}{word}", tags, created), time, force=what % 2 > 0)
            case (0 | 1, _):
                store.erase(atom, time)
            case (2 | 3 | 4, _):
                store.link(edge, word, time)
            case (5 | 6, _):
                store.hide(edge, word, time)
            case (_, State(state="tombstoned")):
                store.revive(atom, time)
            case (7, _):
                store.hide(atom, word, time)
            case (8 | 9, _):
                store.tag(atom, tag, time, there=True)
            case (10 | 11, _):
                store.tag(atom, tag, time, there=False)
            case _:
                store.revise(atom, f"{atom}{word}", tags, time)

    def note(self, store: Store, size: int) -> None:
        """Note from outside what the originals that a command appended had seen."""
        for seq in range(size, len(store.journal)):
            event, dot = store.journal[seq], (store.number, seq)
            if dot in store.dots:
                assert event.subject is not None
                assert event.payload
                assert event.payload[0] is not None
                self.past[dot] = frozenset(self.taken[store.number])
                self.taken[store.number].add(dot)
                if event.kind is Kind.ERASED:
                    self.erasures.append(dot)
                self.stated[dot] = event.kind, event.subject, event.payload[0]

    def pull(self, store: Store, other: Store, most: int) -> bool:
        """Pull and check; a second pull of the same adds nothing."""
        known = store.seen[store.number][other.number]
        if other.number in self.left:
            most = min(most, self.left[other.number] - known)
        found = store.pull(other, most)
        if found:
            end = store.seen[store.number][other.number]
            self.taken[store.number] |= {
                dot for dot in self.past if dot[0] == other.number and known <= dot[1] < end
            }
            self.check(store)
            size = len(store.journal)
            assert not store.pull(other, 0)
            assert size == len(store.journal)
        return found

    def exchange(self, history: bytes) -> None:
        """Pull everything in an order that the history decides, and check that all stores agree."""
        there = [store for store in self.stores if store.number not in self.left]
        every = permutations(range(len(self.stores)), 2)
        pairs = [pair for pair in every if pair[0] not in self.left]
        pairs.sort(key=lambda pair: history[pair[0] * 5 + pair[1] :][:1])
        for _ in range(3 * len(self.stores)):
            found = [self.pull(self.stores[one], self.stores[two], 1 << 20) for one, two in pairs]
            if not any(found):
                break
        else:
            raise AssertionError("pulls bring forth further pulls")
        first = there[0]
        for store in there:
            assert self.taken[store.number] == self.past.keys()
            assert self._only_edges_missing(store)
            assert _summary(store) == _summary(first)
            assert store.names == first.names
            assert [store.known.lost(atom) for atom in ATOMS] == [self.lost(atom) for atom in ATOMS]
            assert store.documents() == first.documents()
            self.check_kept(store)
            self.check_rebuild(store)

    def _only_edges_missing(self, store: Store) -> bool:
        """Return True if all originals are recorded, except reached ones on edges."""
        missing = self.past.keys() - store.dots.keys()
        return all(
            isinstance(self.stated[dot][1], tuple) and self._reached(dot, self.past.keys()) for dot in missing
        )

    def lost(self, atom: int) -> list[Dot]:
        """Return the lost edits of an atom, computed from outside."""
        on_atom = [dot for dot, (_, subject, _) in self.stated.items() if subject == atom]
        pairs = [
            (version, erasure)
            for version in on_atom
            for erasure in self.erasures
            if self.stated[version][0] in VERSIONS and self.stated[erasure][1] == atom
            if version not in self.past[erasure] and erasure not in self.past[version]
        ]
        noticed = {pair[0] for pair in pairs if any(self.past[dot].issuperset(pair) for dot in on_atom)}
        return sorted({version for version, _ in pairs} - noticed)

    # Checks. ---------------------------------------------------------------------------------------

    def check(self, store: Store) -> None:
        """Check that the fold gives what the law says, and that nothing acknowledged is lost."""
        for subject in (*ATOMS, *EDGES):
            ours, law = store.state(subject), store.known.state(subject)
            assert ours == law, (subject, ours, law)
        versions = [
            one.dot
            for originals in store.known.by_subject.values()
            for one in originals
            if one.kind in VERSIONS and one.body is not None and not isinstance(one.subject, tuple)
        ]
        assert store.documents() == sorted(versions)

    def check_rebuild(self, store: Store) -> None:
        """Check that the journal alone gives everything that later decisions depend on."""
        again = store.rebuilt()
        assert again.journal == store.journal
        assert again.records == store.records
        assert again.known.by_subject == store.known.by_subject
        assert (again.seen, again.names, again.ordinals) == (store.seen, store.names, store.ordinals)
        assert again.known.summary() == store.known.summary()

    def _reached(self, dot: Dot, known: AbstractSet[Dot]) -> bool:
        """Return True if a known erasure has not been seen by this original, computed from outside."""
        kind, subject, _ = self.stated[dot]
        ends = subject if isinstance(subject, tuple) else (subject,)
        unseen = (self.stated[one] for one in self.erasures if one in known and one not in self.past[dot])
        return kind is not Kind.ERASED and any(where in ends for _, where, _ in unseen)

    def check_kept(self, store: Store) -> None:
        """Check from outside: what no erasure reaches is there, and what one reaches is not."""
        taken = self.taken[store.number]
        for originals in store.known.by_subject.values():
            for one in originals:
                assert {dot for dot in taken if dot[1] < one.seen[dot[0]]} == self.past[one.dot]
                assert one.body in (None, self.stated[one.dot][2])
        texts = {
            store.dot_of(seq)
            for seq, event in enumerate(store.journal)
            if event.subject is not None
            and event.kind is not Kind.ERASED
            and event.payload
            and event.payload[0]
        }
        for dot in taken:
            kind, subject, _ = self.stated[dot]
            if kind is Kind.ERASED:
                continue
            if self._reached(dot, taken):
                assert dot not in texts
                continue
            if self._reached(dot, self.past.keys()) and store.known.awaits_erasure(subject):
                continue  # a void original announced the erasure
            self._check_original(store, dot)

    def _check_original(self, store: Store, dot: Dot) -> None:
        """Check that what a surviving original states holds, unless one that had seen it changed it."""
        kind, subject, body = self.stated[dot]
        state = store.state(subject)
        assert state is not None
        assert state.state != ERASED, (dot, state)
        later = [self.stated[one] for one in self.taken[store.number] if dot in self.past[one]]
        seen_by = [(what, other) for what, where, other in later if where == subject]
        if kind in VERSIONS or kind is Kind.REVIVED:
            assert state.state == LIVE or any(what is Kind.HIDDEN for what, _ in seen_by)
        if kind in VERSIONS and state.state == LIVE and not any(what in VERSIONS for what, _ in seen_by):
            conflict = store.known.conflict(subject)
            assert dot in conflict or (not conflict and state.text == body.text)
        for name in map(identity, body.tags if kind is not Kind.UNTAGGED else ()):
            assert name in dict(state.tags) or any(
                (name in map(identity, other.tags)) is (what is Kind.UNTAGGED)
                for what, other in seen_by
                if what in VERSIONS or what is Kind.UNTAGGED
            )


def _summary(store: Store) -> object:
    """Return what stores agree in; erased edges are left out, because not all of them are recorded."""
    states, conflicts, lost = store.known.summary()
    kept = {
        one: state for one, state in states.items() if not isinstance(one, tuple) or state.state != ERASED
    }
    return kept, conflicts, lost


def play(history: bytes) -> None:
    """Play a history whose first two bytes say how many stores there are, and which one is away."""
    stores = 3 + history[0] % 3
    Family(stores, history[1] % (2 * stores)).run(history[2:])
