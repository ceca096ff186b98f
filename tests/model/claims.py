"""Random claims about the state that a history left, and whether they hold by the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cbor2
from hypothesis import strategies as st

from engine.text.analyzer import index_terms
from proofs import claims as kinds
from proofs.claims import Claim, StateClaim
from proofs.leaves import Direction, Group, State
from proofs.limits import ORDINAL_MAX
from proofs.log import leaf_hash
from proofs.log import root_of as log_root_of
from tests.model.reference import CHECKED, HEAD, LIVE, Reference, Subject, identity
from tests.model.strategies import ATOMS

TYPES = st.sampled_from(["derived_from", "part_of", "references", "listens_on", "listens on"])
TAGS = ("red", "two-words", "strasse", "é", "unheard")
SETS = [(Group.TAG, tag) for tag in TAGS]
SETS += [
    (Group.KIND, "note"),
    (Group.KIND, "unheard"),
    (Group.PROVENANCE, "internal"),
    (Group.SOURCE, "a.md"),
]
TERMS = ("sea", "ship", "sail", "adr-016", "adr", "grösse", "x" * 64, "titl", "猫が", "unheard")
STRANGER = bytes([99] * 16)
KEPT = (State.LIVE, State.TOMBSTONED)
NO_TYPE = bytes([0xFF] * 8)
"""The code of no predicate."""
NOT_SEEN = bytes([9] * 16), 1, bytes(32)


class Drawn(NamedTuple):
    """The random numbers from which a claim is made once the state exists."""

    number: int
    first: int
    second: int
    type: str
    name: tuple[Group, str]
    """The group and the value of a set."""
    term: str
    state: State
    opened: bool
    wrong: bool
    """True if the claim uses a root that never existed."""
    bounds: tuple[int, int]
    """The first and the last ordinal of a range."""
    direction: Direction


DRAWN = st.builds(
    Drawn,
    st.sampled_from(sorted(kinds.ALL)),
    ATOMS,
    ATOMS,
    TYPES,
    st.sampled_from(SETS),
    st.sampled_from(TERMS),
    st.sampled_from(State),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(0, ORDINAL_MAX), (0, 1), (1, 3), (2, 2), (9, ORDINAL_MAX)]),
    st.sampled_from(Direction),
)


def claim_of(model: Reference, atoms: tuple[bytes, bytes], drawn: Drawn) -> Claim | None:
    """Return the claim about the two atoms, or None if it would relate an atom to itself."""
    kind: Any = kinds.ALL[drawn.number]
    opened = drawn.opened and drawn.state is not State.ERASED
    kept = drawn.state if drawn.state is State.TOMBSTONED else State.LIVE
    code = model.types.get(drawn.type, NO_TYPE)
    group, value = drawn.name
    of_edge = atoms[0], code, atoms[1]
    arguments: dict[int, tuple[Any, ...]] = {
        1: (atoms[0], drawn.state, opened),
        2: (atoms[0],),
        3: (*of_edge, drawn.state, opened),
        4: of_edge,
        15: (atoms[0], drawn.direction, code if drawn.opened else None),
        16: (atoms[0], kept),
    }
    arguments |= dict.fromkeys((5, 6), (atoms[0], value, kept, group))
    bounds = {"first": drawn.bounds[0], "last": drawn.bounds[1]}
    if drawn.number in {3, 4} and atoms[0] == atoms[1]:
        return None
    if drawn.number in {7, 8}:
        return kind(value, group, **bounds)  # type: ignore[no-any-return]
    if drawn.number in {9, 10}:
        return kind(drawn.term, **bounds)  # type: ignore[no-any-return]
    return kind(*arguments.get(drawn.number) or _of_log(model, drawn))  # type: ignore[no-any-return]


def _of_log(model: Reference, drawn: Drawn) -> tuple[Any, ...]:
    """Return a drawn claim about the log."""
    seq = drawn.first * len(model.headers) // 8
    if drawn.number == kinds.EventIs.number:
        return seq, drawn.opened and seq > 0
    if drawn.number == kinds.LogBegins.number:
        return seq + 1, bytes(32) if drawn.wrong else _log_root(model, seq + 1)
    if drawn.number == kinds.HeadSeen.number:
        seen = _seen(model)[drawn.first :]
        return seen[0] if seen and not drawn.wrong else NOT_SEEN
    if drawn.wrong:
        return (bytes(32),)
    return (next(iter(_checkpoints(model)[drawn.first :]), model.root()),)


def everything(model: Reference) -> list[Claim]:
    """Return claims about everything that exists and about some things that do not; not all hold."""
    found: list[Claim] = []
    for atom in (*model.atoms, STRANGER):
        found += [kinds.NoAtom(atom), *(kinds.AtomIs(atom, state, opened=False) for state in State)]
        found += [kind(atom, tag) for tag in TAGS for kind in (kinds.HasTag, kinds.LacksTag)]
        found += [kinds.TagsOf(atom, state) for state in KEPT]
        found += [kinds.EdgesOf(atom, direction) for direction in Direction]
    for key in model.edges:
        for src, dst in ((key[:16], key[-16:]), (key[-16:], key[:16])):
            found += [kinds.EdgeIs(src, key[16:-16], dst, state, opened=False) for state in State]
            found.append(kinds.NoEdge(src, key[16:-16], dst))
    found += [kind(value, group) for group, value in SETS for kind in (kinds.AtomsTagged, kinds.NoneTagged)]
    found += [kind(term) for term in TERMS for kind in (kinds.AtomsMentioning, kinds.NoneMentioning)]
    size = len(model.headers)
    found += [kinds.EventIs(seq, opened=seq > 0) for seq in range(size + 1)]
    found += [kinds.HeadSeen(*head) for head in dict.fromkeys((*_seen(model), NOT_SEEN))]
    found += [kinds.LogBegins(end, _log_root(model, end)) for end in range(1, size + 2)]
    roots = dict.fromkeys((*_checkpoints(model), model.root(), bytes(32)))
    return found + [kind(root) for root in roots for kind in (kinds.RootRecorded, kinds.BeginsWithRoot)]


def holds(model: Reference, claim: Claim) -> bool:
    """Return True if the claim holds by the reference."""
    match claim:
        case kinds.EventIs():
            return claim.seq < len(model.headers)
        case kinds.LogBegins():
            size = claim.size
            return size <= len(model.headers) and claim.root == _log_root(model, size)
        case kinds.RootRecorded():
            return claim.root in _checkpoints(model)
        case kinds.BeginsWithRoot():
            return claim.root in {*_checkpoints(model), model.root()}
        case kinds.HeadSeen():
            return (claim.store_id, claim.size, claim.root) in _seen(model)
        case _:
            return _is_so(model, claim)


def _is_so(model: Reference, claim: StateClaim) -> bool:
    match claim:
        case kinds.AtomIs() | kinds.NoAtom():
            return _is(claim, model.atoms.get(claim.id))
        case kinds.EdgeIs() | kinds.NoEdge():
            return _is(claim, model.edges.get(claim.subject))
        case kinds.AtomsTagged() | kinds.NoneTagged():
            return bool(tagged(model, claim)) is isinstance(claim, kinds.AtomsTagged)
        case kinds.AtomsMentioning() | kinds.NoneMentioning():
            return bool(mentioning(model, claim)) is isinstance(claim, kinds.AtomsMentioning)
        case kinds.EdgesOf():
            return True
        case kinds.HasTag() | kinds.LacksTag() | kinds.TagsOf():
            atom = model.atoms.get(claim.id)
            if atom is None or atom.state != claim.state:
                return False
            if isinstance(claim, kinds.TagsOf):
                return True
            return named(atom, claim.group, claim.value) is isinstance(claim, kinds.HasTag)


def named(atom: Subject, group: Group, value: str) -> bool:
    """Return True if an atom has a tag or another value of a group."""
    if group is Group.TAG:
        return value in map(identity, atom.body["tags"])
    return bool(atom.body[group.name.lower()] == value)


def edges_of(model: Reference, claim: kinds.EdgesOf) -> dict[tuple[bytes, bytes], Subject]:
    """Return the edges that a claim is about, by type and other end."""
    found = {}
    for key, edge in model.edges.items():
        ends = (key[:16], key[-16:]) if claim.direction is Direction.FROM else (key[-16:], key[:16])
        if ends[0] == claim.id and claim.code in {None, key[16:-16]}:
            found[key[16:-16], ends[1]] = edge
    return dict(sorted(found.items()))


def tagged(model: Reference, claim: kinds.AtomsTagged | kinds.NoneTagged) -> dict[bytes, Subject]:
    """Return the live atoms in the range of a claim that have its tag or other value, by ordinal."""
    return _live(model, claim, lambda atom: named(atom, claim.group, claim.value))


def mentioning(model: Reference, claim: kinds.AtomsMentioning | kinds.NoneMentioning) -> dict[bytes, Subject]:
    """Return the live atoms in the range of a claim whose title or content has its term, by ordinal."""

    def has(atom: Subject) -> bool:
        body = atom.body
        return claim.term in [*index_terms(body["title"] or ""), *index_terms(body["content"])]

    return _live(model, claim, has)


def _live(model: Reference, claim: Any, passes: Callable[[Subject], bool]) -> dict[bytes, Subject]:
    found = {
        key: atom
        for key, atom in model.atoms.items()
        if atom.state == LIVE and claim.first <= atom.ordinal <= claim.last and passes(atom)
    }
    return dict(sorted(found.items(), key=lambda pair: pair[1].ordinal))


def _is(claim: Claim, found: Subject | None) -> bool:
    if isinstance(claim, kinds.AtomIs | kinds.EdgeIs):
        return found is not None and found.state == claim.state
    return found is None


def _log_root(model: Reference, size: int) -> bytes:
    return log_root_of([leaf_hash(header) for header in model.headers[:size]])


def _checkpoints(model: Reference) -> list[bytes]:
    """Return the roots in the journal, the oldest first."""
    pairs = zip(model.kinds, model.headers, strict=True)
    return [cbor2.loads(header)[7] for kind, header in pairs if kind == CHECKED]


def _seen(model: Reference) -> list[tuple[bytes, int, bytes]]:
    """Return the heads of other stores in the journal, the oldest first."""
    pairs = zip(model.kinds, model.headers, strict=True)
    details = [cbor2.loads(header)[7:] for kind, header in pairs if kind == HEAD]
    return [(store_id, size, root) for store_id, size, _, root in details if root is not None]
