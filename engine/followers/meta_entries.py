"""The follower `meta-entries`: which atoms have an entry in their meta (SPEC: Entries of meta).

    m/ ‖ label[16] ‖ chunk u16    the atoms with this key and this value

The rows are not hashed, and no root depends on them. The key of a row contains the label of the entry. A row
is a chunk of a set of ordinals (`engine.followers.chunks`). Ordinals of earlier versions of an atom stay in
the set, as in the sets of the follower `tags`. So each result is intersected with the live ordinals. Erasing
an atom removes all its ordinals.

Only queries with a condition on meta read these rows. Therefore other queries do not update them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from backends.base import Batch, Reader
from engine.followers import chunks
from engine.followers.base import Follower
from engine.followers.membership import joining_and_erased
from engine.ledger.journal import identity_for, read_identity
from engine.ledger.layout import META_ENTRIES
from proofs.codec import pack
from proofs.events import AtomBody, Entry, Scalar
from proofs.labels import label_of
from proofs.leaves import CHUNK_BITS

if TYPE_CHECKING:
    from pyroaring import BitMap

_CHUNK_BYTES: Final = 2
_GROUP: Final = 18
"""The number that stands for entries of meta among the numbers of groups in a label."""


class MetaEntriesFollower(Follower):
    """Maintains the rows that list the atoms with each entry of meta."""

    name = "meta-entries"
    version = 1
    prefixes = (META_ENTRIES,)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Add the ordinals of new versions to the rows of their entries; remove the ordinals of erased atoms.

        Raises:
            CorruptionError: a row is malformed.
        """
        keys = partial(_keys, identity_for(entries, rows).label_key)
        joining, erased = joining_and_erased(entries, rows, keys)
        new = {key: [one & 0xFFFF for one in ordinals] for key, ordinals in joining.items()}
        leaving = partial(_of_chunk, erased) if erased else None
        chunks.update(rows, batch, META_ENTRIES, new, leaving)


def _keys(label_key: bytes, body: AtomBody, ordinal: int) -> Iterable[bytes]:
    """Return the keys of the rows that contain this ordinal."""
    if body.meta is None:
        return ()
    chunk = (ordinal >> CHUNK_BITS).to_bytes(_CHUNK_BYTES, "big")
    return [_prefix(label_key, key, value) + chunk for key, value in body.meta.items()]


def _of_chunk(ordinals: set[int], key: bytes) -> list[int]:
    chunk = int.from_bytes(key[-_CHUNK_BYTES:], "big")
    return [ordinal & 0xFFFF for ordinal in ordinals if ordinal >> CHUNK_BITS == chunk]


def _prefix(label_key: bytes, key: str, value: Scalar) -> bytes:
    """Return the prefix of the keys of an entry's rows. True and 1 are different values, as in CBOR."""
    return META_ENTRIES + label_of(label_key, _GROUP, pack([key, value]))


def with_any(rows: Reader, key: str, values: Iterable[Scalar]) -> BitMap:
    """Return the ordinals of the atoms whose meta has `key` with one of `values`, including dead atoms.

    Raises:
        CorruptionError: a row is malformed.
    """
    from pyroaring import BitMap

    members, label_key = BitMap(), read_identity(rows).label_key
    for value in values:
        for row, raw in rows.scan_prefix(_prefix(label_key, key, value)):
            members |= chunks.members(raw, int.from_bytes(row[-_CHUNK_BYTES:], "big"), row)
    return members
