"""Witnesses (the data that proves a claim) of claims about the state, and openings of the trees (SPEC, 20.1).

A claim that does not hold is refused, and the error suggests a similar claim that holds. The rows are not
trusted: the complete proof is verified before it is returned.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, Final, NamedTuple

from backends.base import Reader
from engine.base.errors import CorruptionError, NotFoundError, RefusedError
from engine.base.validation import show_id
from engine.followers.tags import chunk_row, tags_of
from engine.followers.trees import leaf_keys, read_value
from engine.ledger.journal import erased_at, read_header
from engine.ledger.layout import EDGE_FROM, EDGE_TO, decode_stored, ordinal_key, payload_key, tree_prefix
from engine.ledger.pages import (
    LEAF_BYTES,
    SLOTS,
    Slots,
    child_path,
    decode_page,
    missing_page,
    nibble_of,
    parent_level,
    slot_root,
)
from engine.store.store import Store
from engine.store.views import Roots
from engine.trust.proving.index_witnesses import IndexRows
from proofs import claims as kinds
from proofs import limits
from proofs.claim_words import words_of
from proofs.claims import AtomIs, EdgeIs, StateClaim
from proofs.hashing import (
    DIGEST_BYTES,
    EDGES,
    TREE_HASHER,
    TreeHasher,
    edges_beginning,
    position,
)
from proofs.labels import unsalted
from proofs.leaves import (
    CHUNK_BITS,
    LARGEST,
    Direction,
    Group,
    State,
    Value,
    bits_of,
    edge_key,
    edge_leaf,
    encode_value,
    members_in,
)
from proofs.list_claims import chunks_of
from proofs.proof_file import TREES, Opening, TreeOpening
from proofs.rows import read_postings
from proofs.smt import NODE, NOTHING, OTHER_LEAF, OWN_LEAF, bit_of

_ENDS: Final = {Direction.FROM: EDGE_FROM, Direction.TO: EDGE_TO}
"""Direction → the beginning of the rows that list the edges in this direction by their end."""


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
        self.complete: set[bytes] = set()
        """The beginnings of places in the `edges` tree for which the proof must list every leaf."""
        self.keys: dict[str, set[bytes]] = {namespace: set() for namespace in TREES}
        """Namespace → the digests of the keys for which the proof must contain a path in the namespace's
        tree."""

    @property
    def index(self) -> IndexRows:
        """The rows of the index, read on first use."""
        if self._index is None:
            self._index = IndexRows(self._store.index, self.rows)
        return self._index

    @property
    def label_key(self) -> bytes:
        """The label key of the store."""
        return self._store.identity.label_key

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
                return self._member(claim)
            case kinds.EdgesOf():
                return [self._edges(claim)]
            case kinds.TagsOf():
                return self._tags_of(claim)
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
        self._require(namespace, leaf_keys(namespace, claim.subject)[0])
        return []

    def _member(self, claim: kinds.HasTag | kinds.LacksTag) -> list[Any]:
        value = self._kept(claim)
        number = value.ordinal >> CHUNK_BITS
        live, chunk = self._set(Group.LIVE, "", number), self._set(claim.group, claim.value, number)
        has = bool(_bits(chunk) >> (value.ordinal & 0xFFFF) & 1)
        if has is not isinstance(claim, kinds.HasTag):
            problem = f"the atom {'has' if has else 'lacks'} the {claim.group.name.lower()} {claim.value!r}"
            other = kinds.HasTag if has else kinds.LacksTag
            raise ClaimNotTrueError(problem, other(claim.id, claim.value, claim.state, claim.group))
        return [self._shown("atoms", claim.id, value), live, chunk]

    def _tags_of(self, claim: kinds.TagsOf) -> list[Any]:
        value = self._kept(claim)
        live = self._set(Group.LIVE, "", value.ordinal >> CHUNK_BITS)
        key, tags = tags_of(self.rows, value.ordinal)
        self._require("tags", key)
        return [self._shown("atoms", claim.id, value), live, tags]

    def _kept(self, claim: kinds.HasTag | kinds.LacksTag | kinds.TagsOf) -> Value:
        """Return the value of an atom whose content was not erased, in the state of the claim."""
        value = self._value("atoms", claim.id)
        if value.state != claim.state:
            problem = f"the atom is {State(value.state).name.lower()}, not {claim.state.name.lower()}"
            raise ClaimNotTrueError(problem, kinds.AtomIs(claim.id, State(value.state), opened=False))
        return value

    def _edges(self, claim: kinds.EdgesOf) -> list[list[bytes]]:
        """Return the key and the value of every leaf beside those of the atom's edges, and of these."""
        beginning = edges_beginning(claim.direction, claim.id, claim.code)
        self.complete.add(beginning)
        listed = []
        for key in self._edge_leaves(claim, beginning):
            src, dst = (key[1:17], key[-16:]) if key[0] == Direction.FROM else (key[-16:], key[1:17])
            value = self._value(EDGES, edge_key(src, key[17:-16], dst))
            self.keys[EDGES].add(position(EDGES, key))
            listed.append([key, encode_value(value)])
        return listed

    def _edge_leaves(self, claim: kinds.EdgesOf, beginning: bytes) -> list[bytes]:
        """Return the keys of all leaves in the subtree that a claim is about, ascending."""
        found = []
        for direction, end in self._ends_in(claim):
            prefix = _ENDS[direction]
            for row, _ in self.rows.scan_prefix(prefix + end + b"/"):
                code, other = row[len(prefix) + 17 : -17], row[-16:]
                key = edge_leaf(direction, end, code, other)
                if position(EDGES, key).startswith(beginning):
                    found.append(key)
        return sorted(found)

    def _ends_in(self, claim: kinds.EdgesOf) -> Iterator[tuple[Direction, bytes]]:
        """Yield the end that a claim is about, and others whose edges stand in the same subtree."""
        whole = edges_beginning(claim.direction, claim.id, None)
        own = sum(1 for _ in self.rows.scan_prefix(_ENDS[claim.direction] + claim.id + b"/"))
        yield claim.direction, claim.id
        if len(leaves_below(self.rows, EDGES, whole)) == own:
            return
        # Another end shares the first bytes of the hash, one in millions: look for it among all ends.
        for direction, prefix in _ENDS.items():
            previous = claim.id if direction == claim.direction else b""
            for row, _ in self.rows.scan_prefix(prefix):
                end = row[len(prefix) : len(prefix) + 16]
                if end not in {previous, claim.id} and edges_beginning(direction, end, None) == whole:
                    yield direction, end
                previous = end

    def _tagged(self, claim: kinds.AtomsTagged | kinds.NoneTagged) -> list[Any]:
        sets: list[Any] = []
        live: list[int] = []
        for number in chunks_of(claim, self.index.ordinals):
            chunk = self._set(claim.group, claim.value, number)
            if chunk is None:
                sets.append(None)
                continue
            alive = self._set(Group.LIVE, "", number)
            sets.append([chunk, alive])
            both = _bits(chunk) & _bits(alive)
            ordinals = (number << CHUNK_BITS | member for member in members_in(both))
            live += [ordinal for ordinal in ordinals if claim.first <= ordinal <= claim.last]
        named = f"the {claim.group.name.lower()} {claim.value!r}"
        if isinstance(claim, kinds.AtomsTagged):
            if not live:
                raise ClaimNotTrueError(
                    f"no live atom{_span(claim)} has {named}", _turned(claim, kinds.NoneTagged)
                )
            return [sets, self._listed(live)]
        if live:
            raise ClaimNotTrueError(f"{_counted(live)} {named}", _turned(claim, kinds.AtomsTagged))
        return [sets]

    def _mentioning(self, claim: kinds.AtomsMentioning | kinds.NoneMentioning) -> list[Any]:
        entries, starts = self.index.entries(claim.term.encode(), claim.first, claim.last)
        mentioned = [
            start + posting.offset
            for (_, shown, _), start in zip(entries, starts, strict=True)
            if type(shown) is bytes
            for posting in decode_stored(read_postings, unsalted(shown), LARGEST, LARGEST)
        ]
        numbers = sorted({ordinal >> CHUNK_BITS for ordinal in mentioned})
        lives = {number: self._set(Group.LIVE, "", number) for number in numbers}
        alive = {number: frozenset(members_in(_bits(raw))) for number, raw in lives.items()}
        within = (ordinal for ordinal in mentioned if claim.first <= ordinal <= claim.last)
        live = [ordinal for ordinal in within if ordinal & 0xFFFF in alive[ordinal >> CHUNK_BITS]]
        shown = [entries, list(lives.values())]
        if isinstance(claim, kinds.AtomsMentioning):
            if not live:
                problem = f"no live atom{_span(claim)} has the term {claim.term!r}"
                raise ClaimNotTrueError(problem, _turned(claim, kinds.NoneMentioning))
            return [*shown, self._listed(live)]
        if live:
            problem = f"{_counted(live)} the term {claim.term!r}"
            raise ClaimNotTrueError(problem, _turned(claim, kinds.AtomsMentioning))
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
        self._require(namespace, leaf_keys(namespace, key)[0])
        return encode_value(value)

    def _set(self, group: Group, name: str, number: int) -> bytes | None:
        key, committed = chunk_row(self.rows, (group, name), number)
        self._require("tags", key)
        return committed

    def _require(self, namespace: str, key: bytes) -> None:
        self.keys[namespace].add(position(namespace, key))


def _turned(claim: Any, kind: type[Any]) -> Any:
    """Return the claim of another class about the same things."""
    return kind(**{field.name: getattr(claim, field.name) for field in fields(claim)})


def _span(claim: Any) -> str:
    """Return a phrase for the ordinals to which a claim is limited; an empty text if it is not limited."""
    whole = (claim.first, claim.last) == (0, limits.ORDINAL_MAX)
    return "" if whole else f" with an ordinal from {claim.first} to {claim.last}"


def _bits(committed: bytes | None) -> int:
    """Return the members of a chunk behind its salt, as the bits of an integer."""
    return 0 if committed is None else decode_stored(bits_of, unsalted(committed))


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
    one = roots.identity
    return Opening(one.rules, one.label_commitment, roots.size, roots.log, dict(roots.named_roots))


PAGE_BITS = 4


def leaves_below(rows: Reader, namespace: str, beginning: bytes) -> list[bytes]:
    """Return the key digests of all leaves of a tree that begin with these bytes, ascending.

    Raises:
        CorruptionError: A page is malformed or missing.
    """
    opener = _Opener(rows, namespace, [], TREE_HASHER)
    return opener.below(0, b"", beginning)


def open_tree(
    rows: Reader,
    namespace: str,
    keys: Iterable[bytes],
    hasher: TreeHasher = TREE_HASHER,
    complete: Iterable[bytes] = (),
) -> TreeOpening:
    """Return the opening of the tree of `namespace` for all key digests in `keys`.

    For each of `complete`, the beginning of key digests, the opening also leads to the place of these bytes
    followed by zeros.

    The opening contains the hashes that are needed to compute the root from the leaves at these keys. Each
    page on the paths to the keys is read once.

    Raises:
        CorruptionError: A page on the path to a key is malformed or missing.
    """
    ends = (beginning.ljust(DIGEST_BYTES, b"\0") for beginning in complete)
    opener = _Opener(rows, namespace, sorted({*keys, *ends}), hasher)
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

    def below(self, depth: int, path: bytes, beginning: bytes) -> list[bytes]:
        """Return the key digests below a page that begin with `beginning`, ascending."""
        page_key = self._prefix + bytes([depth]) + path
        stored = self._rows.get(page_key)
        if stored is None:
            if depth:
                raise missing_page(page_key)
            return []
        found = []
        for nibble, slot in enumerate(decode_page(page_key, depth, path, stored)):
            if len(slot) == LEAF_BYTES:
                found += [slot[:DIGEST_BYTES]] if slot.startswith(beginning) else []
            elif (slot and depth >= 2 * len(beginning)) or (slot and nibble_of(beginning, depth) == nibble):
                found += self.below(depth + 1, child_path(path, depth, nibble), beginning)
        return found

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
