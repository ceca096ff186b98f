"""Superseding an atom, merging near-duplicates, and reverting a merge (docs/commands.md).

A merge of two atoms keeps the first and tombstones the second. It is recorded in two places. The reason of
the second atom's tombstone names the kept atom. An edge of type `supersedes` leads from the first atom to the
second; the data of this edge lists the tags, buckets and aliases that the kept atom gained. `Unmerge` reads
the reason and the data to find out what to undo; no other data is stored for `Unmerge`.
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
from engine.commands.edges import Link, Unlink
from engine.commands.transaction import Transaction, receipt
from engine.followers.tags import SUPERSEDED
from engine.ledger.journal import entries_back
from engine.ledger.layout import unpack
from engine.ledger.records import AtomRecord, EdgeRecord
from engine.text.analyzer import index_terms
from engine.text.simhash import NEAR_BITS, distance, fingerprint, near
from proofs.codec import pack
from proofs.events import AtomBody, EventKind, TagsBody
from proofs.leaves import EdgeType, State, tag_identity


@dataclass(frozen=True, slots=True)
class Supersede:
    """Replace the atom `old` by `new`. `old` stays live, but recall returns it only on request.

    `old` gets the tag `superseded`. An edge of type `supersedes` leads from `new` to `old`; its data contains
    the reason. Removing either the tag or the edge reverts the replacement.
    """

    old: str
    new: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add the tag and the edge, or no event if both exist.

        Raises:
            InvalidInputError: Both ids are of the same atom.
            NotFoundError: One of the atoms was never recorded.
            ConflictError: One of the atoms is hidden, or `old` supersedes `new`.
        """
        reason = validation.line(self.reason, "reason", limits.REASON_BYTES_MAX)
        old, new = live(tx, self.old, "supersede"), live(tx, self.new, "supersede by")
        if old.id == new.id:
            raise InvalidInputError(f"atom {show_id(old.id)} cannot supersede itself")
        back = tx.edge(old.id, bytes([EdgeType.SUPERSEDES]), new.id)
        if back is not None and back.state is State.LIVE:
            raise ConflictError(
                f"atom {show_id(old.id)} already supersedes {show_id(new.id)}",
                hint="revert that change first: `engine history` of both atoms lists the events to revert",
            )
        first = len(tx.events)
        data = pack({"reason": reason}) if reason else b""
        Link(show_id(new.id), EdgeType.SUPERSEDES, show_id(old.id), data=data).decide(tx)
        Tag(show_id(old.id), (SUPERSEDED,)).decide(tx)
        return receipt(old.id, State.LIVE, *tx.events[first:])


_SUPERSEDES: Final = bytes([EdgeType.SUPERSEDES])
MERGED: Final = "merged into "
"""The beginning of the reason with which a merge tombstones an atom. The id of the kept atom follows."""


class MergeGain(NamedTuple):
    """The values that a merge added to the kept atom, and the edge that the merge replaced."""

    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    replaced: tuple[float, bytes] | None = None
    """The weight and data of the edge of type `supersedes` before the merge; None if there was no edge."""
    aliases: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if the merge added no values to the kept atom."""
        return not (self.tags or self.buckets or self.aliases)

    def encode(self) -> bytes:
        """Return the data of the edge that records the merge.

        It is the CBOR map {"merged": {"tags", "buckets", "aliases"}, "replaced": [weight, data]}. "aliases"
        and "replaced" are left out if they are empty.
        """
        gained = {"tags": list(self.tags), "buckets": list(self.buckets), "aliases": list(self.aliases)}
        if not self.aliases:
            del gained["aliases"]
        content: dict[str, Any] = {"merged": gained}
        return pack(content if self.replaced is None else content | {"replaced": list(self.replaced)})


def read_gain(data: bytes) -> MergeGain | None:
    """Return the gain (the added values) recorded in an edge's data, or None if no merge wrote the data."""
    replaced: tuple[float, bytes] | None = None
    match unpack(data, "edge data") if data else None:
        case {"merged": {"tags": list(tags), "buckets": list(buckets), **more}, **rest}:
            match rest:
                case {"replaced": [float(weight), bytes(raw)]}:
                    replaced = weight, raw
        case _:
            return None
    try:
        checked = validation.tags(tags), validation.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX)
        aliases = validation.aliases(more.get("aliases", ())) or ()
    except InvalidInputError:
        return None
    gain = MergeGain(*checked, replaced, aliases)
    return gain if gain.encode() == data else None


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge the near-duplicate `other` into the atom `keep`. `Unmerge` reverts it.

    `keep` gets the tags, buckets and aliases of `other`, and an edge of type `supersedes` to `other`; the
    meta and folder of `keep` stay as they are. `other` is tombstoned and keeps its own fields. With `force`,
    the atoms need not be near-duplicates.
    """

    keep: str
    other: str
    force: bool = False

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that merge the atoms, or no event if `other` is already merged into `keep`.

        Raises:
            InvalidInputError: Both ids are of the same atom.
            RefusedError: The atoms are not near-duplicates, and `force` is not set.
            ConflictError: One of the atoms is tombstoned, or `other` supersedes `keep`.
            LimitError: `keep` would have too many tags, buckets or aliases, or the list of added values is
                too large for the data of an edge.
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
        first, present = len(tx.events), _aliases(tx, keep)
        name, has = show_id(keep.id), set(map(tag_identity, keep.tags))
        gain = MergeGain(
            tuple(tag for tag in other.tags if tag_identity(tag) not in has),
            tuple(bucket for bucket in other.buckets if bucket not in keep.buckets),
            aliases=tuple(alias for alias in _aliases(tx, other) if alias not in present),
        )
        Tag(name, gain.tags).decide(tx)
        if gain.buckets or gain.aliases:
            buckets, aliases = (*keep.buckets, *gain.buckets), (*present, *gain.aliases)
            Revise(name, buckets=buckets, aliases=aliases).decide(tx)
        Tombstone(show_id(other.id), MERGED + name).decide(tx)
        _record(tx, keep.id, other.id, gain)
        return receipt(keep.id, State.LIVE, *tx.events[first:])


@dataclass(frozen=True, slots=True)
class Unmerge:
    """Revive a merged atom, and remove from the kept atom the values that the merge added.

    Values that were removed from the kept atom since the merge, or removed and added again, are left as they
    are.
    """

    other: str
    force: bool = False
    """Revive the atom even if another atom with the same content was erased."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that undo the merge of the atom, or no event if the atom is live.

        Raises:
            ConflictError: The atom is tombstoned, but not by a merge; or the merge added values to the kept
                atom, and that atom is tombstoned.
        """
        other = recorded(tx, self.other)
        if other.state is State.LIVE:
            return receipt(other.id, State.LIVE)
        if other.state is State.ERASED:
            raise ConflictError(f"cannot unmerge atom {show_id(other.id)}: it is erased")
        merge = _merge_of(tx, other)
        if merge is None:
            raise ConflictError(
                f"atom {show_id(other.id)} was not merged; it was tombstoned for a different reason: "
                f"{other.tombstoned_reason or 'none given'}",
                hint=f"revive it instead (`engine revive {show_id(other.id)}`)",
            )
        first = len(tx.events)
        _remove_gain(tx, other.id, merge)
        Revive(show_id(other.id), "unmerged", self.force).decide(tx)
        ends = show_id(merge.keep), EdgeType.SUPERSEDES, show_id(other.id)
        if Unlink(*ends, "unmerged").decide(tx).changed and merge.gain.replaced is not None:
            Link(*ends, *merge.gain.replaced).decide(tx)
        return receipt(other.id, State.LIVE, *tx.events[first:])


class _MergeRecord(NamedTuple):
    """The merge by which an atom was tombstoned, as recorded in the journal."""

    keep: bytes
    edge: EdgeRecord
    gain: MergeGain


def _merge_of(tx: Transaction, other: AtomRecord) -> _MergeRecord | None:
    """Return the merge by which `other` was tombstoned, or None if it was not tombstoned by a merge."""
    if other.state is not State.TOMBSTONED or not other.tombstoned_reason.startswith(MERGED):
        return None
    try:
        keep = atom_id(other.tombstoned_reason.removeprefix(MERGED))
    except InvalidInputError:
        return None
    edge = tx.edge(keep, _SUPERSEDES, other.id)
    gain = None if edge is None else read_gain(edge.data)
    return None if edge is None or gain is None else _MergeRecord(keep, edge, gain)


def _refuse_merged(tx: Transaction, record: AtomRecord) -> None:
    former = _merge_of(tx, record)
    if former is not None:
        raise ConflictError(
            f"atom {show_id(record.id)} is merged into {show_id(former.keep)}",
            hint=f"merge with that atom, or revert the merge first (`engine unmerge {show_id(record.id)}`)",
        )


def _refuse_superseded(tx: Transaction, keep: AtomRecord, other: AtomRecord) -> None:
    # The edge shows which of the two texts is the corrected one; a merge must not keep the superseded text.
    edge = tx.edge(other.id, _SUPERSEDES, keep.id)
    if edge is not None and edge.state is State.LIVE:
        names = show_id(other.id), show_id(keep.id)
        raise ConflictError(
            f"atom {names[0]} supersedes {names[1]}, so the merge cannot keep {names[1]}",
            hint=f"keep the other atom instead (`engine merge {names[0]} {names[1]}`)",
        )


_FORCE_HINT: Final = "merge them anyway with --force (in Python, force=True)"


def _refuse_unlike(tx: Transaction, keep: AtomRecord, other: AtomRecord) -> None:
    prints = {}
    for record in (keep, other):
        body = tx.body(record)
        # As in the index, title and content are analyzed separately, so no term spans both.
        prints[record.id] = fingerprint([*index_terms(body.title or ""), *index_terms(body.content)])
        if not prints[record.id]:
            raise RefusedError(
                f"atom {show_id(record.id)} is too short to be compared with other atoms",
                hint=_FORCE_HINT,
            )
    if not near(prints[keep.id], prints[other.id]):
        raise RefusedError(
            f"atoms {show_id(keep.id)} and {show_id(other.id)} are not near-duplicates: their fingerprints "
            f"differ in {distance(prints[keep.id], prints[other.id])} bits; "
            f"near-duplicates differ in fewer than {NEAR_BITS}",
            hint=_FORCE_HINT,
        )


def _record(tx: Transaction, keep: bytes, other: bytes, gain: MergeGain) -> None:
    """Add the edge from the kept atom to the merged atom. Its data lists the values that the merge added."""
    ends = show_id(keep), EdgeType.SUPERSEDES, show_id(other)
    edge = tx.edge(keep, _SUPERSEDES, other)
    if edge is not None and edge.state is State.LIVE:
        former = read_gain(edge.data)
        if former is None:
            gain = gain._replace(replaced=(struct.unpack(">f", edge.weight)[0], edge.data))
        elif not gain.is_empty:
            # The atom was merged before and then revived: unmerging also removes the values of that merge.
            earlier = _remaining_gain(tx, keep, edge, former)
            gain = MergeGain(
                (*earlier.tags, *gain.tags),
                (*earlier.buckets, *gain.buckets),
                former.replaced,
                (*earlier.aliases, *gain.aliases),
            )
        else:
            return
        Unlink(*ends, "merged").decide(tx)
    ascending = tuple(sorted(gain.buckets)), gain.replaced, tuple(sorted(gain.aliases))
    data = MergeGain(validation.tags(gain.tags), *ascending).encode()
    if len(data) > limits.EDGE_DATA_BYTES_MAX:
        raise LimitError(
            f"merging {show_id(other)} would add tags, buckets and aliases of {len(data)} bytes to "
            f"{show_id(keep)}; to be reversible, a merge may add at most {limits.EDGE_DATA_BYTES_MAX} bytes",
            hint=f"add some of the tags to the kept atom first (`engine tag {show_id(keep)} ...`)",
        )
    Link(*ends, data=data).decide(tx)


def _remove_gain(tx: Transaction, other: bytes, merge: _MergeRecord) -> None:
    """Remove from the kept atom the values that the merge added."""
    gain = _remaining_gain(tx, merge.keep, merge.edge, merge.gain)
    if gain.is_empty:
        return
    name = show_id(merge.keep)
    keep = recorded(tx, name)
    if keep.state is not State.LIVE:
        raise ConflictError(
            f"cannot unmerge atom {show_id(other)}: the kept atom {name} has tags, buckets or aliases from "
            f"the merge, but is tombstoned: {keep.tombstoned_reason or 'no reason given'}",
            hint=f"revive {name} first; or revive only the merged atom (`engine revive {show_id(other)}`)",
        )
    if gain.tags:
        Untag(name, gain.tags).decide(tx)
    buckets = [bucket for bucket in keep.buckets if bucket not in gain.buckets]
    aliases = [alias for alias in _aliases(tx, keep) if alias not in gain.aliases]
    Revise(name, buckets=buckets, aliases=aliases).decide(tx)


def _aliases(tx: Transaction, record: AtomRecord) -> tuple[str, ...]:
    return tx.body(record).aliases or ()


def _remaining_gain(tx: Transaction, keep: bytes, edge: EdgeRecord, gain: MergeGain) -> MergeGain:
    """Return the added values that the kept atom has had without interruption since the merge.

    A value that was removed and added again later no longer counts as added by the merge.
    """
    tags = {tag_identity(tag): tag for tag in gain.tags}
    buckets, aliases = set(gain.buckets), set(gain.aliases)
    for entry in entries_back(tx.rows, recorded(tx, show_id(keep)).last_seq):
        if entry.header.seq <= edge.payload_seq:
            break
        body = entry.body
        if isinstance(body, AtomBody):
            buckets.intersection_update(body.buckets)
            aliases.intersection_update(body.aliases or ())
            present = set(map(tag_identity, body.tags))
            tags = {identity: tag for identity, tag in tags.items() if identity in present}
        elif isinstance(body, TagsBody) and entry.header.kind is EventKind.TAGS_REMOVED:
            for tag in body.tags:
                tags.pop(tag_identity(tag), None)
    return MergeGain(tuple(tags.values()), tuple(sorted(buckets)), None, tuple(sorted(aliases)))
