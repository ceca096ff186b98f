"""Witnesses (the data that proves a claim) of claims about the state, and openings of the trees (SPEC, 20.1).

A claim that does not hold is refused, and the error suggests a similar claim that holds. The rows are not
trusted: the complete proof is verified before it is returned.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from backends.base import Reader
from engine.base.errors import CorruptionError, NotFoundError, RefusedError
from engine.base.validation import show_id
from engine.followers.trees import read_value
from engine.ledger.journal import erased_at, read_header
from engine.ledger.layout import TAGS, decode_stored, ordinal_key, payload_key, tree_prefix
from engine.ledger.pages import (
    LEAF_BYTES,
    SLOTS,
    Slots,
    child_path,
    decode_page,
    missing_page,
    parent_level,
    slot_root,
)
from engine.store.store import Store
from engine.store.views import Roots
from engine.trust.proving.index_witnesses import IndexRows
from proofs import claims as kinds
from proofs.claim_words import words_of
from proofs.claims import AtomIs, EdgeIs, StateClaim
from proofs.hashing import DIGEST_BYTES, TREE_HASHER, TreeHasher, key_digest
from proofs.leaves import (
    CHUNK_BITS,
    LARGEST,
    Group,
    State,
    Value,
    bits_of,
    contains,
    encode_value,
    members_in,
    set_row,
)
from proofs.proof_file import TREES, Opening, TreeOpening
from proofs.rows import read_postings
from proofs.smt import NODE, NOTHING, OTHER_LEAF, OWN_LEAF, bit_of


class ClaimNotTrueError(RefusedError):
    """Raised for a claim that does not hold.

    `instead` is a similar claim that holds. If `sealed` is set, the payload that this claim is about was
    destroyed and cannot be part of the proof.
    """

    def __init__(self, problem: str, instead: StateClaim, *, sealed: bool = False) -> None:
        super().__init__(f"the claim does not hold: {problem}", hint=_hint(instead, sealed=sealed))
        self.instead = instead


class NeverRecorded(NotFoundError):
    """Raised for a claim about an atom or edge that was never recorded.

    `instead` is the claim that the atom or edge was never recorded.
    """

    def __init__(self, what: str, instead: StateClaim) -> None:
        super().__init__(f"{what} was never recorded", hint=_hint(instead, sealed=True))
        self.instead = instead


def _hint(instead: StateClaim, *, sealed: bool) -> str:
    if not sealed and isinstance(instead, (AtomIs, EdgeIs)) and instead.state is not State.ERASED:
        instead = replace(instead, opened=True)
    return f"this claim holds instead: {' '.join(words_of(instead))}"


class Witnesses:
    """Reads witnesses of claims about the state from one snapshot, and collects the needed tree keys."""

    def __init__(self, store: Store, rows: Reader) -> None:
        """Prepare to read from the snapshot `rows` of `store`. Every follower must be up to date in it."""
        self.rows = rows
        self._store = store
        self._index: IndexRows | None = None
        self.keys: dict[str, set[bytes]] = {namespace: set() for namespace in TREES}
        """Namespace → the digests of the keys for which the proof must contain a path in the namespace's
        tree."""

    @property
    def index(self) -> IndexRows:
        """The rows of the index, read on first use."""
        if self._index is None:
            self._index = IndexRows(self._store.index, self.rows)
        return self._index

    def fresh(self) -> Witnesses:
        """Return a new reader of the same snapshot that has not collected any keys."""
        return Witnesses(self._store, self.rows)

    def of(self, claim: kinds.StateClaim) -> list[Any]:
        """Return the fields of the witness for `claim`.

        Raises:
            ClaimNotTrueError: The claim does not hold.
            NeverRecorded: The claim is about an atom or edge that was never recorded.
            CorruptionError: A row is missing or malformed.
        """
        match claim:
            case kinds.AtomIs() | kinds.EdgeIs():
                return self._recorded(claim)
            case kinds.NoAtom() | kinds.NoEdge():
                return self._absent(claim)
            case kinds.HasTag() | kinds.LacksTag():
                return self._tag(claim)
            case kinds.AtomsTagged() | kinds.NoneTagged():
                return self._tagged(claim)
            case kinds.AtomsMentioning() | kinds.NoneMentioning():
                return self._mentioning(claim)

    def _recorded(self, claim: kinds.AtomIs | kinds.EdgeIs) -> list[Any]:
        namespace = "atoms" if isinstance(claim, kinds.AtomIs) else "edges"
        value = self._value(namespace, claim.subject)
        if value.state != claim.state:
            state = State(value.state)
            problem = f"the atom or edge is {state.name.lower()}, not {claim.state.name.lower()}"
            raise ClaimNotTrueError(problem, replace(claim, state=state, opened=False))
        payload = self.rows.get(payload_key(value.payload_seq)) if claim.opened else None
        if claim.opened and payload is None:
            erased = erased_at(self.rows, read_header(self.rows, value.payload_seq)[0])
            if erased is not None:
                raise ClaimNotTrueError(
                    f"event {erased} erased the content of the atom or edge",
                    replace(claim, opened=False),
                    sealed=True,
                )
            raise CorruptionError(f"payload {value.payload_seq} is missing", family="payload")
        return [self._shown(namespace, claim.subject, value), payload]

    def _absent(self, claim: kinds.NoAtom | kinds.NoEdge) -> list[Any]:
        namespace = "atoms" if isinstance(claim, kinds.NoAtom) else "edges"
        value = read_value(self.rows, namespace, claim.subject)
        if value is not None:
            raise ClaimNotTrueError("the atom or edge is recorded", _in_state(claim, value))
        self._require(namespace, claim.subject)
        return []

    def _tag(self, claim: kinds.HasTag | kinds.LacksTag) -> list[Any]:
        value = self._value("atoms", claim.id)
        if value.state != State.LIVE:
            problem = (
                f"the atom is {State(value.state).name.lower()}, and claims about tags cover live atoms only"
            )
            raise ClaimNotTrueError(problem, kinds.AtomIs(claim.id, State(value.state), opened=False))
        chunk = self._set(Group.TAG, claim.identity, value.ordinal >> CHUNK_BITS)
        has = chunk is not None and decode_stored(contains, chunk, value.ordinal & 0xFFFF)
        if has is not isinstance(claim, kinds.HasTag):
            problem = f"the atom {'has' if has else 'lacks'} the tag {claim.identity!r}"
            raise ClaimNotTrueError(
                problem, (kinds.HasTag if has else kinds.LacksTag)(claim.id, claim.identity)
            )
        return [self._shown("atoms", claim.id, value), chunk]

    def _tagged(self, claim: kinds.AtomsTagged | kinds.NoneTagged) -> list[Any]:
        sets: list[Any] = []
        live: list[int] = []
        for number in range(-(-self.index.ordinals // (1 << CHUNK_BITS))):
            chunk = self._set(Group.TAG, claim.identity, number)
            if chunk is None:
                sets.append(None)
                continue
            alive = self._set(Group.LIVE, "", number)
            sets.append([chunk, alive])
            both = _bits(chunk) & _bits(alive)
            live += [number << CHUNK_BITS | member for member in members_in(both)]
        if isinstance(claim, kinds.AtomsTagged):
            if not live:
                raise ClaimNotTrueError(
                    f"no live atom has the tag {claim.identity!r}", kinds.NoneTagged(claim.identity)
                )
            return [sets, self._listed(live)]
        if live:
            problem = f"{_counted(live)} the tag {claim.identity!r}"
            raise ClaimNotTrueError(problem, kinds.AtomsTagged(claim.identity))
        return [sets]

    def _mentioning(self, claim: kinds.AtomsMentioning | kinds.NoneMentioning) -> list[Any]:
        entries = self.index.entries(claim.term.encode())
        mentioned = [
            start + posting.offset
            for (_, shown, _), start in zip(entries, self.index.starts(), strict=True)
            if type(shown) is bytes
            for posting in decode_stored(read_postings, shown, LARGEST, LARGEST)
        ]
        numbers = sorted({ordinal >> CHUNK_BITS for ordinal in mentioned})
        lives = {number: self._set(Group.LIVE, "", number) for number in numbers}
        alive = {number: frozenset(members_in(_bits(raw))) for number, raw in lives.items()}
        live = [ordinal for ordinal in mentioned if ordinal & 0xFFFF in alive[ordinal >> CHUNK_BITS]]
        shown = [entries, list(lives.values())]
        if isinstance(claim, kinds.AtomsMentioning):
            if not live:
                raise ClaimNotTrueError(
                    f"no live atom has the term {claim.term!r}", kinds.NoneMentioning(claim.term)
                )
            return [*shown, self._listed(live)]
        if live:
            problem = f"{_counted(live)} the term {claim.term!r}"
            raise ClaimNotTrueError(problem, kinds.AtomsMentioning(claim.term))
        return shown

    def _listed(self, ordinals: list[int]) -> list[list[bytes]]:
        listed = []
        atoms = self.rows.multi_get(list(map(ordinal_key, ordinals)))
        for ordinal, atom in zip(ordinals, atoms, strict=True):
            value = None if atom is None else read_value(self.rows, "atoms", atom)
            if atom is None or value is None:
                raise CorruptionError(f"ordinal {ordinal} does not belong to a live atom", family="ordinals")
            listed.append([atom, self._shown("atoms", atom, value)])
        return listed

    def _value(self, namespace: str, key: bytes) -> Value:
        value = read_value(self.rows, namespace, key)
        if value is None:
            if namespace == "atoms":
                raise NeverRecorded(f"atom {show_id(key)}", kinds.NoAtom(key))
            raise NeverRecorded("the edge", kinds.NoEdge(key[:16], key[16:-16], key[-16:]))
        return value

    def _shown(self, namespace: str, key: bytes, value: Value) -> bytes:
        """Return the encoded value of a leaf of a tree, and add the key of the leaf to the collected keys."""
        self._require(namespace, key)
        return encode_value(value)

    def _set(self, group: Group, name: str, number: int) -> bytes | None:
        key = set_row(group, name, number)
        self._require("tags", key)
        return self.rows.get(TAGS + key)

    def _require(self, namespace: str, key: bytes) -> None:
        self.keys[namespace].add(key_digest(namespace, key))


def _bits(chunk: bytes | None) -> int:
    return 0 if chunk is None else decode_stored(bits_of, chunk)


def _counted(live: list[int]) -> str:
    return "1 live atom has" if len(live) == 1 else f"{len(live):,} live atoms have"


def _in_state(claim: kinds.NoAtom | kinds.NoEdge, value: Value) -> kinds.AtomIs | kinds.EdgeIs:
    """Return the claim that states the present state of a recorded atom or edge."""
    state = State(value.state)
    if isinstance(claim, kinds.NoAtom):
        return kinds.AtomIs(claim.id, state, opened=False)
    return kinds.EdgeIs(claim.src, claim.code, claim.dst, state, opened=False)


def opening_of(roots: Roots) -> Opening:
    """Return the roots of a store, in the form in which a proof contains them."""
    return Opening(roots.size, roots.log, *roots.namespaces)


PAGE_BITS = 4


def open_tree(
    rows: Reader, namespace: str, keys: Iterable[bytes], hasher: TreeHasher = TREE_HASHER
) -> TreeOpening:
    """Return the opening of the tree of `namespace` for all key digests in `keys`.

    The opening contains the hashes that are needed to compute the root from the leaves at these keys. Each
    page on the paths to the keys is read once.

    Raises:
        CorruptionError: A page on the path to a key is malformed or missing.
    """
    opener = _Opener(rows, namespace, sorted(keys), hasher)
    opener.page(0, b"", 0, len(opener.keys))
    return TreeOpening(bytes(opener.shape), b"".join(opener.hashes))


class _Opener:
    """A traversal of one tree that collects the shape and the hashes of an opening."""

    def __init__(self, rows: Reader, namespace: str, keys: list[bytes], hasher: TreeHasher) -> None:
        self._rows = rows
        self._prefix = tree_prefix(namespace)
        self.keys = keys
        self._hasher = hasher
        self.shape = bytearray()
        self.hashes: list[bytes] = []

    def page(self, depth: int, path: bytes, first: int, last: int) -> None:
        """Collect the part of the opening below the page at `path`, for the keys `first` to `last` - 1.

        `first` and `last` are indexes into `keys`, and `depth` is the number of nibbles in `path`.
        """
        page_key = self._prefix + bytes([depth]) + path
        stored = self._rows.get(page_key)
        if stored is None and depth:
            raise missing_page(page_key)
        levels: list[Slots] = [
            [b""] * SLOTS if stored is None else decode_page(page_key, depth, path, stored)
        ]
        while len(levels[0]) > 1:
            levels.insert(0, parent_level(levels[0], self._hasher))
        self._place(_Page(depth, path, levels), 0, 0, first, last)

    def _place(self, page: _Page, level: int, at: int, first: int, last: int) -> None:
        """Collect the part of the opening below node `at` of a level, for the keys `first` to `last` - 1."""
        slot = page.levels[level][at]
        if not slot:
            self.shape.append(NOTHING)
        elif len(slot) == LEAF_BYTES:
            self._leaf(slot, first, last)
        elif level == PAGE_BITS:
            self.page(page.depth + 1, child_path(page.path, page.depth, at), first, last)
        else:
            self.shape.append(NODE)
            bit = PAGE_BITS * page.depth + level
            split = first + bisect_left(self.keys[first:last], 1, key=lambda key: bit_of(key, bit))
            for side, (low, high) in enumerate(((first, split), (split, last))):
                if low < high:
                    self._place(page, level + 1, 2 * at + side, low, high)
                else:
                    self.hashes.append(slot_root(page.levels[level + 1][2 * at + side], self._hasher))

    def _leaf(self, leaf: bytes, first: int, last: int) -> None:
        if leaf[:DIGEST_BYTES] in self.keys[first:last]:
            self.shape.append(OWN_LEAF)
        else:
            self.shape.append(OTHER_LEAF)
            self.hashes.append(leaf)


class _Page(NamedTuple):
    """A tree page on the path to a key: its position, and the nodes of each level, the top level first."""

    depth: int
    path: bytes
    levels: list[Slots]
