"""The follower `requests`: the events of each request key (SPEC: Requests).

    q/ ‖ label[16] ‖ chunk u48    the events that an actor's key is recorded in

The rows are not hashed, and no root depends on them. The key of a row contains the label of an actor and a
request key. A row is a chunk of a set of seqs (`engine.followers.chunks`). A call that needs several commits
records its key with the part of its commands that each commit carries out; the rows list the events of all
parts together. If an erasure destroys the payload of an event, the event is removed from the rows.

Only commits with a key read these rows. Therefore other commits do not update them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple, overload

from backends.base import Batch, Reader
from engine.followers import chunks
from engine.followers.base import Follower
from engine.ledger.journal import earlier_headers, identity_for, read_identity
from engine.ledger.layout import REQUESTS
from proofs.codec import pack
from proofs.events import ERASING_KINDS, Entry
from proofs.labels import label_of
from proofs.leaves import CHUNK_BITS

if TYPE_CHECKING:
    from pyroaring import FrozenBitMap

_CHUNK_BYTES: Final = 6
_GROUP: Final = 19
"""The number that stands for request keys among the numbers of groups in a label."""
FIRST_MAX: Final = 10**12 - 1
"""The highest number of a command in a call of several commits."""

_PART: Final = re.compile(r"#(0|[1-9][0-9]{0,11})\+([1-9][0-9]{0,3})\Z", re.ASCII)


class Part(NamedTuple):
    """The commands of a call that one commit carried out: `size` commands, from number `first` on."""

    first: int
    size: int

    @property
    def stop(self) -> int:
        """The number of the first command after the part."""
        return self.first + self.size


class OtherParts(Exception):
    """The commands of a call were divided into other commits the first time. `count` come before the cut."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count


class KeysBehind(Exception):
    """The rows of the request keys lack so many events that they must be updated first."""


def joined(key: str, part: Part | None) -> str:
    """Return the text that the events of a commit record as their request."""
    return key if part is None else f"{key}#{part.first}+{part.size}"


def separated(request: str) -> tuple[str, Part | None]:
    """Return the key and the part that `joined` was given."""
    match = _PART.search(request)
    return (request, None) if match is None else (request[: match.start()], Part(*map(int, match.groups())))


class Once(NamedTuple):
    """The key of a call whose commits are made once, and the part of its commands that one commit has."""

    key: str
    part: Part | None = None
    """None if all commands of the call are in one commit."""

    @property
    def request(self) -> str:
        """The text that the events record."""
        return joined(self.key, self.part)

    def of_part(self, first: int, count: int) -> Once:
        """Return the key for the commit of `count` commands, from number `first` on."""
        return Once(self.key, Part(first, count))


class RequestsFollower(Follower):
    """Maintains the rows that list the events of each request key."""

    name = "requests"
    version = 1
    prefixes = (REQUESTS,)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Add the events that record a key to the rows of their keys; remove events with destroyed payloads.

        Raises:
            CorruptionError: a row or a header is malformed.
        """
        label_key = identity_for(entries, rows).label_key
        joining: dict[bytes, list[int]] = {}
        destroyed: set[int] = set()
        for header, body, _ in entries:
            if body is not None and body.request is not None:
                prefix = prefix_of(label_key, header.actor, body.request)
                chunk = (header.seq >> CHUNK_BITS).to_bytes(_CHUNK_BYTES, "big")
                joining.setdefault(prefix + chunk, []).append(header.seq & 0xFFFF)
            if header.kind in ERASING_KINDS:
                destroyed.update(earlier.seq for earlier in earlier_headers(rows, header))
        leaving = partial(_of_chunk, destroyed) if destroyed else None
        chunks.update(rows, batch, REQUESTS, joining, leaving)


def row_prefix(label_key: bytes, actor: str, key: str) -> bytes:
    """Return the prefix of the rows that list the events of a key. Each actor has keys of its own."""
    return REQUESTS + label_of(label_key, _GROUP, pack([actor, key]))


@lru_cache(maxsize=1024)
def prefix_of(label_key: bytes, actor: str, request: str) -> bytes:
    """Return `row_prefix` for the key in a recorded text, which many events of a call have in common."""
    return row_prefix(label_key, actor, separated(request)[0])


def _of_chunk(seqs: Iterable[int], key: bytes) -> list[int]:
    chunk = int.from_bytes(key[-_CHUNK_BYTES:], "big")
    return [seq & 0xFFFF for seq in seqs if seq >> CHUNK_BITS == chunk]


class Seqs(Sequence[int]):
    """The ascending seqs of the events of one key."""

    def __init__(self, stored: Sequence[tuple[int, FrozenBitMap]], later: Sequence[int]) -> None:
        """Begin with the chunks that are stored, each with its number, and with the seqs after them."""
        self._stored, self._later = stored, later
        self._ends = list(accumulate((len(lows) for _, lows in stored), initial=0))

    def __len__(self) -> int:
        return self._ends[-1] + len(self._later)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        at += len(self) if at < 0 else 0
        if at >= self._ends[-1]:
            return self._later[at - self._ends[-1]]
        number = bisect_right(self._ends, at) - 1
        chunk, lows = self._stored[number]
        return (chunk << CHUNK_BITS) + lows[at - self._ends[number]]


def stored_seqs(rows: Reader, actor: str, key: str) -> list[tuple[int, FrozenBitMap]]:
    """Return the stored chunks of the events of a key, each with its number.

    Raises:
        CorruptionError: a row is malformed.
    """
    stored = rows.scan_prefix(row_prefix(read_identity(rows).label_key, actor, key))
    return [(int.from_bytes(row[-_CHUNK_BYTES:], "big"), chunks.members(raw, 0, row)) for row, raw in stored]
