"""Superseding an atom, merging near-duplicates, and taking a merge back (docs/commands.md).

A merge leaves its trace in two places: the reason with which the other atom is tombstoned names the
one that is kept, and the data of the edge `supersedes` between them says what that one gained. From
these two `Unmerge` knows what to undo; nothing else is stored for it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from engine.base import limits, validation
from engine.base.errors import ConflictError, InvalidInputError, LimitError, RefusedError
from engine.base.model import Receipt
from engine.base.validation import atom_id, show_id
from engine.commands.atoms import Revise, Revive, Tag, Tombstone, Untag, live, recorded
from engine.commands.base import Transaction, receipt
from engine.commands.edges import Link, Unlink
from engine.ledger.codec import unpack
from engine.ledger.journal import entries_back
from engine.ledger.records import AtomRecord, EdgeRecord
from engine.text.analyzer import index_terms
from engine.text.simhash import NEAR_BITS, distance, fingerprint, near
from proofs.codec import pack
from proofs.events import AtomBody, EventKind, TagsBody
from proofs.leaves import EdgeType, State
from proofs.sets import tag_identity

SUPERSEDED: Final = "superseded"
"""The tag of an atom that another one took the place of: no answer to a question unless asked for."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """Have the atom `new` stand for `old`, which is kept, and no longer recalled unless asked for.

    `old` gets the tag `superseded`, and `new` an edge `supersedes` to it with the reason in its data.
    Taking the tag off, or the edge away, is all it takes to have it back.
    """

    old: str
    new: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where both are there.

        Raises:
            NotFoundError: one of them was never recorded.
            ConflictError: one of them is hidden, or the old one supersedes the new one.
        """
        reason = validation.line(self.reason, "reason", limits.REASON_BYTES_MAX)
        old, new = live(tx, self.old, "supersede"), live(tx, self.new, "supersede by")
        if old.id == new.id:
            raise InvalidInputError(f"atom {show_id(old.id)} cannot supersede itself")
        back = tx.edge(old.id, bytes([EdgeType.SUPERSEDES]), new.id)
        if back is not None and back.state is State.LIVE:
            raise ConflictError(
                f"atom {show_id(old.id)} supersedes {show_id(new.id)}",
                hint="take that back first: `engine history` of both says which events to revert",
            )
        first = len(tx.entries)
        data = pack({"reason": reason}) if reason else b""
        Link(show_id(new.id), EdgeType.SUPERSEDES, show_id(old.id), data=data).decide(tx)
        Tag(show_id(old.id), (SUPERSEDED,)).decide(tx)
        return receipt(old.id, State.LIVE, *tx.entries[first:])


MERGED: Final = "merged into "
"""How the reason of a merged atom's tombstone begins; the id of the kept atom follows."""

SUPERSEDES: Final = bytes([EdgeType.SUPERSEDES])


class Gain(NamedTuple):
    """What a merge gave the kept atom, and which edge its own took the place of."""

    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    replaced: tuple[float, bytes] | None = None
    """Weight and data of an edge `supersedes` that somebody had made."""
    aliases: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether it gave nothing."""
        return not (self.tags or self.buckets or self.aliases)

    def encode(self) -> bytes:
        """The data of the merge's edge: CBOR {"merged": {"tags", "buckets"}, "replaced": [weight, data]}.

        With "aliases" in "merged" where there are any.
        """
        gained = {"tags": list(self.tags), "buckets": list(self.buckets), "aliases": list(self.aliases)}
        if not self.aliases:
            del gained["aliases"]
        said: dict[str, Any] = {"merged": gained}
        return pack(said if self.replaced is None else said | {"replaced": list(self.replaced)})


def read_gain(data: bytes) -> Gain | None:
    """What an edge's data says of a merge; None where it says something else."""
    replaced: tuple[float, bytes] | None = None
    match unpack(data, "edge data") if data else None:
        case {"merged": {"tags": list(tags), "buckets": list(buckets), **more}, **rest}:
            match rest:
                case {"replaced": [float(weight), bytes(raw)]}:
                    replaced = weight, raw
        case _:
            return None
    try:
        kept = validation.tags(tags), validation.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX)
        aliases = validation.aliases(more.get("aliases", ())) or ()
    except InvalidInputError:
        return None
    found = Gain(*kept, replaced, aliases)
    return found if found.encode() == data else None


@dataclass(frozen=True, slots=True)
class Merge:
    """Have the atom `keep` stand for `other`, which says almost the same.

    `keep` gets the tags, buckets and aliases of `other`, and an edge `supersedes` to it; its meta and folder
    stay as they are. `other` is tombstoned, and keeps its own.
    With `force`, whatever they say. `Unmerge` takes all of it back.
    """

    keep: str
    other: str
    force: bool = False

    def decide(self, tx: Transaction) -> Receipt:
        """No event where `other` is merged into `keep` already.

        Raises:
            RefusedError: the two are not near-duplicates, and `force` is not set.
            ConflictError: one of them is tombstoned, or `other` supersedes `keep`.
            LimitError: `keep` would have too many tags, buckets or aliases, or gain more than an edge's
                data can say.
        """
        keep, other = recorded(tx, self.keep), recorded(tx, self.other)
        if keep.id == other.id:
            raise InvalidInputError(f"atom {show_id(keep.id)} cannot be merged into itself")
        former = _merge_of(tx, other)
        if former is not None and former.keep == keep.id:
            return receipt(keep.id, keep.state)
        for record, verb in ((keep, "merge into"), (other, "merge")):
            _refuse_merged(tx, record)
            live(tx, show_id(record.id), verb)
        _refuse_superseded(tx, keep, other)
        if not self.force:
            _refuse_unlike(tx, keep, other)
        first, known = len(tx.entries), _aliases(tx, keep)
        name, has = show_id(keep.id), set(map(tag_identity, keep.tags))
        gain = Gain(
            tuple(tag for tag in other.tags if tag_identity(tag) not in has),
            tuple(bucket for bucket in other.buckets if bucket not in keep.buckets),
            aliases=tuple(alias for alias in _aliases(tx, other) if alias not in known),
        )
        Tag(name, gain.tags).decide(tx)
        if gain.buckets or gain.aliases:
            buckets, aliases = (*keep.buckets, *gain.buckets), (*known, *gain.aliases)
            Revise(name, buckets=buckets, aliases=aliases).decide(tx)
        Tombstone(show_id(other.id), MERGED + name).decide(tx)
        _record(tx, keep.id, other.id, gain)
        return receipt(keep.id, State.LIVE, *tx.entries[first:])


@dataclass(frozen=True, slots=True)
class Unmerge:
    """Have an atom that was merged back, and what the kept one gained by it taken off that one.

    What the kept one has lost since, or was given again by hand, is left as it is.
    """

    other: str
    force: bool = False
    """Also where an atom with the same content was erased."""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is live.

        Raises:
            ConflictError: it was tombstoned otherwise than by a merge, or the kept atom has something to
                give back and is tombstoned.
        """
        other = recorded(tx, self.other)
        if other.state is State.LIVE:
            return receipt(other.id, State.LIVE)
        if other.state is State.ERASED:
            raise ConflictError(f"cannot unmerge atom {show_id(other.id)}: it is erased")
        merge = _merge_of(tx, other)
        if merge is None:
            raise ConflictError(
                f"atom {show_id(other.id)} was not merged; it is tombstoned: "
                f"{other.tombstoned_reason or 'no reason given'}",
                hint=f"bring it back as it is: engine revive {show_id(other.id)}",
            )
        first = len(tx.entries)
        _give_back(tx, other.id, merge)
        Revive(show_id(other.id), "unmerged", self.force).decide(tx)
        ends = show_id(merge.keep), EdgeType.SUPERSEDES, show_id(other.id)
        if Unlink(*ends, "unmerged").decide(tx).changed and merge.gain.replaced is not None:
            Link(*ends, *merge.gain.replaced).decide(tx)
        return receipt(other.id, State.LIVE, *tx.entries[first:])


class _Trace(NamedTuple):
    """The merge that an atom is tombstoned by."""

    keep: bytes
    edge: EdgeRecord
    gain: Gain


def _merge_of(tx: Transaction, other: AtomRecord) -> _Trace | None:
    """The merge that `other` is tombstoned by; None where it is live, or tombstoned otherwise."""
    if other.state is not State.TOMBSTONED or not other.tombstoned_reason.startswith(MERGED):
        return None
    try:
        keep = atom_id(other.tombstoned_reason.removeprefix(MERGED))
    except InvalidInputError:
        return None
    edge = tx.edge(keep, SUPERSEDES, other.id)
    gain = None if edge is None else read_gain(edge.data)
    return None if edge is None or gain is None else _Trace(keep, edge, gain)


def _refuse_merged(tx: Transaction, record: AtomRecord) -> None:
    former = _merge_of(tx, record)
    if former is not None:
        raise ConflictError(
            f"atom {show_id(record.id)} is merged into {show_id(former.keep)}",
            hint=f"merge with that one, or take it back first: engine unmerge {show_id(record.id)}",
        )


def _refuse_superseded(tx: Transaction, keep: AtomRecord, other: AtomRecord) -> None:
    # Whoever made that edge said which of the two is right: the corrected text must not come back.
    edge = tx.edge(other.id, SUPERSEDES, keep.id)
    if edge is not None and edge.state is State.LIVE:
        names = show_id(other.id), show_id(keep.id)
        raise ConflictError(
            f"atom {names[0]} supersedes {names[1]}, so that one cannot be kept instead",
            hint=f"merge the other way round: engine merge {names[0]} {names[1]}",
        )


def _refuse_unlike(tx: Transaction, keep: AtomRecord, other: AtomRecord) -> None:
    prints = {}
    for record in (keep, other):
        body = tx.body(record)
        # As the index does it: nothing reaches over the newline between title and content.
        prints[record.id] = fingerprint([*index_terms(body.title or ""), *index_terms(body.content)])
        if not prints[record.id]:
            raise RefusedError(
                f"atom {show_id(record.id)} is too short to be compared with another",
                hint="merge them all the same: --force",
            )
    if not near(prints[keep.id], prints[other.id]):
        raise RefusedError(
            f"atoms {show_id(keep.id)} and {show_id(other.id)} are not near-duplicates: their fingerprints "
            f"differ in {distance(prints[keep.id], prints[other.id])} bits, not in fewer than {NEAR_BITS}",
            hint="merge them all the same: --force",
        )


def _record(tx: Transaction, keep: bytes, other: bytes, gain: Gain) -> None:
    """Have the edge from the kept atom to the other, whose data says what a merge gave."""
    ends = show_id(keep), EdgeType.SUPERSEDES, show_id(other)
    edge = tx.edge(keep, SUPERSEDES, other)
    if edge is not None and edge.state is State.LIVE:
        former = read_gain(edge.data)
        if former is None:
            gain = gain._replace(replaced=(struct.unpack(">f", edge.weight)[0], edge.data))
        elif not gain.nothing:
            # Merged before, and then revived by hand: what that merge gave is still the merge's.
            kept = _still_given(tx, keep, edge, former)
            gain = Gain(
                (*kept.tags, *gain.tags),
                (*kept.buckets, *gain.buckets),
                former.replaced,
                (*kept.aliases, *gain.aliases),
            )
        else:
            return
        Unlink(*ends, "merged").decide(tx)
    ascending = tuple(sorted(gain.buckets)), gain.replaced, tuple(sorted(gain.aliases))
    data = Gain(validation.tags(gain.tags), *ascending).encode()
    if len(data) > limits.EDGE_DATA_BYTES_MAX:
        raise LimitError(
            f"merging {show_id(other)} would give {show_id(keep)} tags and names of {len(data)} bytes; "
            f"a merge of over {limits.EDGE_DATA_BYTES_MAX} could not be taken back",
            hint=f"put some of its tags on the kept atom first: engine tag {show_id(keep)} ...",
        )
    Link(*ends, data=data).decide(tx)


def _give_back(tx: Transaction, other: bytes, merge: _Trace) -> None:
    """Take off the kept atom what it got by a merge."""
    given = _still_given(tx, merge.keep, merge.edge, merge.gain)
    if given.nothing:
        return
    name = show_id(merge.keep)
    keep = recorded(tx, name)
    if keep.state is not State.LIVE:
        raise ConflictError(
            f"atom {show_id(other)} gave tags, buckets or aliases to {name}, which is tombstoned: "
            f"{keep.tombstoned_reason or 'no reason given'}",
            hint=f"bring {name} back first; or, to leave it as it is: engine revive {show_id(other)}",
        )
    if given.tags:
        Untag(name, given.tags).decide(tx)
    buckets = [bucket for bucket in keep.buckets if bucket not in given.buckets]
    aliases = [alias for alias in _aliases(tx, keep) if alias not in given.aliases]
    Revise(name, buckets=buckets, aliases=aliases).decide(tx)


def _aliases(tx: Transaction, record: AtomRecord) -> tuple[str, ...]:
    return tx.body(record).aliases or ()


def _still_given(tx: Transaction, keep: bytes, edge: EdgeRecord, gain: Gain) -> Gain:
    """What of a gain the kept atom has had ever since; what was put on it again later is not the merge's."""
    tags = {tag_identity(tag): tag for tag in gain.tags}
    buckets, aliases = set(gain.buckets), set(gain.aliases)
    for entry in entries_back(tx.rows, recorded(tx, show_id(keep)).last_seq):
        if entry.header.seq <= edge.payload_seq:
            break
        body = entry.body
        if isinstance(body, AtomBody):
            buckets.intersection_update(body.buckets)
            aliases.intersection_update(body.aliases or ())
            kept = set(map(tag_identity, body.tags))
            tags = {identity: tag for identity, tag in tags.items() if identity in kept}
        elif isinstance(body, TagsBody) and entry.header.kind is EventKind.TAGS_REMOVED:
            for tag in body.tags:
                tags.pop(tag_identity(tag), None)
    return Gain(tuple(tags.values()), tuple(sorted(buckets)), None, tuple(sorted(aliases)))
