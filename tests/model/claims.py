"""Random claims about the state that a history left, and whether they hold by the reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import cbor2
from hypothesis import strategies as st

from engine.text.analyzer import index_terms
from proofs import claims as kinds
from proofs.claims import Claim
from proofs.leaves import State
from proofs.log import leaf_hash
from proofs.log import root_of as log_root_of
from tests.model.reference import CHECKED, LIVE, Reference, Subject, identity
from tests.model.strategies import ATOMS

TYPES = st.sampled_from([b"\x01", b"\x04", b"\x05", b"\x06", b"\x80\x00", b"\x80\x01"])
TAGS = ("red", "two-words", "strasse", "é", "unheard")
TERMS = ("sea", "ship", "sail", "adr-016", "adr", "grösse", "x" * 64, "titl", "猫が", "unheard")
STRANGER = bytes([99] * 16)


class Drawn(NamedTuple):
    """The random numbers from which a claim is made once the state exists."""

    number: int
    first: int
    second: int
    code: bytes
    tag: str
    term: str
    state: State
    opened: bool
    wrong: bool
    """True if the claim uses a root that never existed."""


DRAWN = st.builds(
    Drawn,
    st.sampled_from(sorted(kinds.ALL)),
    ATOMS,
    ATOMS,
    TYPES,
    st.sampled_from(TAGS),
    st.sampled_from(TERMS),
    st.sampled_from(State),
    st.booleans(),
    st.booleans(),
)


def claim_of(model: Reference, atoms: tuple[bytes, bytes], drawn: Drawn) -> Claim | None:
    """Return the claim about the two atoms, or None if it would relate an atom to itself."""
    kind: Any = kinds.ALL[drawn.number]
    opened = drawn.opened and drawn.state is not State.ERASED
    edge = atoms[0], drawn.code, atoms[1]
    match drawn.number:
        case 1:
            return kinds.AtomIs(atoms[0], drawn.state, opened)
        case 2:
            return kinds.NoAtom(atoms[0])
        case 3 | 4 if atoms[0] == atoms[1]:
            return None
        case 3:
            return kinds.EdgeIs(*edge, drawn.state, opened)
        case 4:
            return kinds.NoEdge(*edge)
    of_two = {5: (atoms[0], drawn.tag), 6: (atoms[0], drawn.tag)}
    of_one = {7: drawn.tag, 8: drawn.tag, 9: drawn.term, 10: drawn.term}
    if drawn.number in of_one:
        return kind(of_one[drawn.number])  # type: ignore[no-any-return]
    return kind(*of_two.get(drawn.number) or _of_log(model, drawn))  # type: ignore[no-any-return]


def _of_log(model: Reference, drawn: Drawn) -> tuple[Any, ...]:
    """Return a drawn claim about the log."""
    seq = drawn.first * len(model.headers) // 8
    if drawn.number == kinds.EventIs.number:
        return seq, drawn.opened
    if drawn.number == kinds.LogBegins.number:
        return seq + 1, bytes(32) if drawn.wrong else _log_root(model, seq + 1)
    if drawn.wrong:
        return (bytes(32),)
    return (next(iter(_checkpoints(model)[drawn.first :]), model.root()),)


def everything(model: Reference) -> list[Claim]:
    """Return claims about everything that exists and about some things that do not; not all hold."""
    found: list[Claim] = []
    for atom in (*model.atoms, STRANGER):
        found += [kinds.NoAtom(atom), *(kinds.AtomIs(atom, state, opened=False) for state in State)]
        found += [kind(atom, tag) for tag in TAGS for kind in (kinds.HasTag, kinds.LacksTag)]
    for key in model.edges:
        for src, dst in ((key[:16], key[-16:]), (key[-16:], key[:16])):
            found += [kinds.EdgeIs(src, key[16:-16], dst, state, opened=False) for state in State]
            found.append(kinds.NoEdge(src, key[16:-16], dst))
    found += [kind(tag) for tag in TAGS for kind in (kinds.AtomsTagged, kinds.NoneTagged)]
    found += [kind(term) for term in TERMS for kind in (kinds.AtomsMentioning, kinds.NoneMentioning)]
    size = len(model.headers)
    found += [kinds.EventIs(seq) for seq in range(size + 1)]
    found += [kinds.LogBegins(end, _log_root(model, end)) for end in range(1, size + 2)]
    roots = dict.fromkeys((*_checkpoints(model), model.root(), bytes(32)))
    return found + [kind(root) for root in roots for kind in (kinds.RootRecorded, kinds.BeginsWithRoot)]


def holds(model: Reference, claim: Claim) -> bool:
    """Return True if the claim holds by the reference."""
    match claim:
        case kinds.AtomIs() | kinds.NoAtom():
            return _is(claim, model.atoms.get(claim.id))
        case kinds.EdgeIs() | kinds.NoEdge():
            return _is(claim, model.edges.get(claim.subject))
        case kinds.HasTag() | kinds.LacksTag():
            atom = model.atoms.get(claim.id)
            live = atom is not None and atom.state == LIVE
            return live and (claim.id in tagged(model, claim.identity)) is isinstance(claim, kinds.HasTag)
        case kinds.AtomsTagged() | kinds.NoneTagged():
            return bool(tagged(model, claim.identity)) is isinstance(claim, kinds.AtomsTagged)
        case kinds.AtomsMentioning() | kinds.NoneMentioning():
            return bool(mentioning(model, claim.term)) is isinstance(claim, kinds.AtomsMentioning)
        case kinds.EventIs():
            return claim.seq < len(model.headers)
        case kinds.LogBegins():
            size = claim.size
            return size <= len(model.headers) and claim.root == _log_root(model, size)
        case kinds.RootRecorded():
            return claim.root in _checkpoints(model)
        case kinds.BeginsWithRoot():
            return claim.root in {*_checkpoints(model), model.root()}


def tagged(model: Reference, tag: str) -> dict[bytes, Subject]:
    """Return the live atoms that have a tag, by ordinal."""
    return _live(model, lambda body: tag in map(identity, body["tags"]))


def mentioning(model: Reference, term: str) -> dict[bytes, Subject]:
    """Return the live atoms whose title or content has a term, by ordinal."""
    return _live(
        model, lambda body: term in [*index_terms(body["title"] or ""), *index_terms(body["content"])]
    )


def _live(model: Reference, passes: Any) -> dict[bytes, Subject]:
    found = {key: atom for key, atom in model.atoms.items() if atom.state == LIVE and passes(atom.body)}
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
