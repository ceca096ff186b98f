"""Witnesses (the data that proves a claim) of claims about the log, and paths in the log (SPEC, 20.6).

The algorithms are defined in RFC 9162, sections 2.1.3.1 and 2.1.4.1; `proofs.log` verifies their
results. Each hash in a path is the root of a range of leaves, and the range divides into complete subtrees.
The roots of these subtrees are read from the rows of the follower `log`. For events that the follower has not
processed yet, they are computed from the headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from backends.base import Reader
from engine.base.errors import CorruptionError, InvalidInputError, NotFoundError, RefusedError
from engine.followers.base import check_cursor, read_cursor
from engine.followers.log import WIDTH_BITS, LogFollower, complete_root, read_hashes
from engine.ledger.journal import erased_at, read_entry, read_header
from engine.ledger.layout import journal_key, payload_key
from engine.store.past import past_store
from engine.store.store import Store
from engine.trust.notes.known_checkpoints import read_history
from engine.trust.proving.witnesses import opening_of
from proofs import claims as kinds
from proofs.basis import check_opening
from proofs.errors import ProofError
from proofs.events import CheckpointBody, CheckpointDetail, ForeignHeadDetail
from proofs.log import EMPTY_ROOT, left_half, node_hash
from proofs.proof_file import CheckpointLink, Opening


def complete_subtrees(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the height and index of each of the largest complete subtrees in a range, from the left."""
    while start < stop:
        height = (stop - start).bit_length() - 1
        if start:
            height = min(height, (start & -start).bit_length() - 1)
        yield height, start >> height
        start += 1 << height


class LogPaths:
    """Computes roots and paths of the log, for every size that the log has had, from one snapshot.

    Computing a path in a log of a million events reads about 500 rows. The roots of complete subtrees
    with 256 or more leaves are cached. An object must not be used by several threads at the same time.
    """

    def __init__(self, rows: Reader, size: int) -> None:
        """Prepare to compute paths in the log of the first `size` events.

        No method can be called for a larger size. `rows` contains at least `size` headers; rows of the
        follower may be missing.

        Raises:
            CorruptionError: The follower's cursor does not belong to this journal.
        """
        self.size = size
        self._rows = rows
        self._known: dict[tuple[int, int], bytes] = {}
        cursor = read_cursor(rows, LogFollower.name)
        self._followed = 0
        if cursor is not None and cursor.version == LogFollower.version:
            check_cursor(rows, LogFollower.name, cursor, max(size, cursor.size))
            self._followed = cursor.size

    def root(self, size: int) -> bytes:
        """Return the root of the first `size` events; for size 0 it is `proofs.log.EMPTY_ROOT`.

        Raises:
            InvalidInputError: The log never had that size.
            CorruptionError: A row is missing or malformed. Every method can raise this error.
        """
        self._check("size", size, 0, self.size)
        return self._range(0, size) if size else EMPTY_ROOT

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Return the sibling hashes on the path from leaf `index` to the root of the first `size` events.

        Raises:
            InvalidInputError: The log never had that size, or `index` is not less than `size`.
        """
        self._check("size", size, 1, self.size)
        self._check("index", index, 0, size - 1)
        path, start, stop = [], 0, size
        while stop - start > 1:
            middle = start + left_half(stop - start)
            if index < middle:
                path.append(self._range(middle, stop))
                stop = middle
            else:
                path.append(self._range(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, old: int, size: int) -> list[bytes]:
        """Return the consistency proof between the log sizes `old` and `size`; empty if they are equal.

        Raises:
            InvalidInputError: The log never had `old` or `size` events, or `old` is 0 or greater than `size`.
        """
        self._check("size", size, 1, self.size)
        self._check("older size", old, 1, size)
        path, start, stop = [], 0, size
        while stop != old:
            middle = start + left_half(stop - start)
            if old <= middle:
                path.append(self._range(middle, stop))
                stop = middle
            else:
                path.append(self._range(start, middle))
                start = middle
        # The root of a range at the left edge is the older root, which the verifier already knows.
        if start:
            path.append(self._range(start, stop))
        return path[::-1]

    def hashes(self, level: int, start: int, stop: int) -> list[bytes]:
        """Return the roots of complete subtrees of 256^level leaves, from subtree `start` up to `stop`.

        Raises:
            InvalidInputError: One of the subtrees is not complete.
        """
        self._check("the number of subtrees", stop, start, self.size >> WIDTH_BITS * level)
        followed = self._followed >> WIDTH_BITS * level if level else stop
        stored = min(max(followed, start), stop)
        hashes = read_hashes(self._rows, level, start, stored)
        # Beyond the follower's cursor, compute the roots from the headers.
        return hashes + [self._complete(WIDTH_BITS * level, index) for index in range(stored, stop)]

    def subtrees(self, start: int, stop: int) -> list[bytes]:
        """Return the roots of the complete subtrees into which the leaves `start` to `stop` − 1 divide."""
        return [self._complete(height, index) for height, index in complete_subtrees(start, stop)]

    def _range(self, start: int, stop: int) -> bytes:
        """Return the root of a range of leaves: a complete subtree, or leaves up to the end of a log."""
        count = stop - start
        if not count & (count - 1):
            height = count.bit_length() - 1
            return self._complete(height, start >> height)
        middle = start + left_half(stop - start)
        return node_hash(self._range(start, middle), self._range(middle, stop))

    def _complete(self, height: int, index: int) -> bytes:
        """Return the root of the subtree with the leaves index · 2^height up to (index + 1) · 2^height."""
        place = height, index
        if place not in self._known:
            level = height // WIDTH_BITS
            if height == WIDTH_BITS * level > 0 and (index + 1) << height > self._followed:
                level -= 1
            count = 1 << height - WIDTH_BITS * level
            root = complete_root(self.hashes(level, index * count, (index + 1) * count))
            if height < WIDTH_BITS:
                return root
            self._known[place] = root
        return self._known[place]

    def _check(self, what: str, value: int, least: int, most: int) -> None:
        if not least <= value <= most:
            raise InvalidInputError(f"{what} is {value}, but must be from {least} to {most} in this log")


NOTHING_KNOWN: Mapping[bytes, Opening] = {}


class LogWitnesses:
    """Reads witnesses of claims about the log of the first `size` events."""

    def __init__(
        self,
        store: Store,
        rows: Reader,
        size: int,
        sizes: Mapping[bytes, int],
        known: Mapping[bytes, Opening] = NOTHING_KNOWN,
    ) -> None:
        """Prepare witnesses for the log of the first `size` events.

        Args:
            store: The store.
            rows: A snapshot of the store.
            size: The number of events.
            sizes: A mapping from earlier overall roots to the number of events that each covers.
            known: A mapping from overall roots to the roots from which each was computed.
        """
        self._store = store
        self._rows = rows
        self.size = size
        self.paths = LogPaths(rows, size)
        self._sizes = sizes
        self._known = known

    def of(self, claim: kinds.LogClaim) -> list[Any]:
        """Return the fields of the witness of `claim`.

        Raises:
            NotFoundError: There is no such event, or no checkpoint contains the root.
            RefusedError: The claim does not hold.
            CorruptionError: A row is missing or malformed.
        """
        match claim:
            case kinds.EventIs():
                return self._event(claim)
            case kinds.LogBegins():
                return [self._prefix(claim.size, claim.root)]
            case kinds.RootRecorded():
                return list(self.link(self._checkpoint(claim.root)))
            case kinds.BeginsWithRoot():
                opening = self._earlier(claim.root)
                return [opening.plain(), self._prefix(opening.size, opening.log_root)]
            case kinds.HeadSeen():
                return list(self.link(self._seen(claim)))

    def _seen(self, claim: kinds.HeadSeen) -> int:
        """Return the seq of the first event that records that this head of another store was seen."""
        for seq in range(self.size):
            seen = read_header(self._rows, seq)[0].detail
            if isinstance(seen, ForeignHeadDetail) and seen.states(claim.store_id, claim.size, claim.root):
                return seq
        raise NotFoundError(f"none of {self.size} events records that this head was seen")

    def link(self, seq: int) -> CheckpointLink:
        """Return the header of event `seq` and the inclusion path of the event."""
        raw = self._rows.get(journal_key(seq))
        if raw is None:
            raise CorruptionError(f"journal header {seq} is missing", family="journal", seq=seq)
        return CheckpointLink(raw, b"".join(self.paths.inclusion(seq, self.size)))

    def recorded(self, seq: int) -> Opening:
        """Return the roots from which the overall root in checkpoint `seq` was computed.

        Raises:
            RefusedError: Event `seq` is not a checkpoint.
            CorruptionError: The overall root does not follow from the roots in the payload of the checkpoint.
        """
        identity, entry = self._store.identity, read_entry(self._rows, seq)
        detail, body = entry.header.detail, entry.body
        if not isinstance(detail, CheckpointDetail) or not isinstance(body, CheckpointBody):
            raise RefusedError(
                f"event {seq}, the last that the log head covers, is not a checkpoint and contains no roots",
                hint="use a note from `engine checkpoint`, or prove against an overall root",
            )
        opening = Opening(
            identity.rules, identity.label_commitment, seq, self.paths.root(seq), dict(body.roots)
        )
        try:
            check_opening(identity.store_id, opening, detail.root)
        except ProofError as error:
            raise CorruptionError(
                f"the overall root in checkpoint {seq} does not follow from its other roots: {error}", seq=seq
            ) from error
        return opening

    def _event(self, claim: kinds.EventIs) -> list[Any]:
        if claim.seq >= self.size:
            raise NotFoundError(f"event {claim.seq} is not in the log of {self.size} events")
        header, path = self.link(claim.seq)
        payload = self._rows.get(payload_key(claim.seq)) if claim.opened else None
        if claim.opened and payload is None:
            erased = erased_at(self._rows, read_header(self._rows, claim.seq)[0])
            if erased is not None:
                raise RefusedError(
                    f"the payload of event {claim.seq} was destroyed by event {erased}",
                    hint=f"claim `event {claim.seq} sealed` instead",
                )
            raise CorruptionError(f"payload {claim.seq} is missing", family="payload", seq=claim.seq)
        return [header, payload, path]

    def check_rows(self, size: int, root: bytes) -> None:
        """Raise CorruptionError if the log's rows are damaged: the headers give `root`, but the rows do not.

        Call this function before you refuse a claim for the reason that the log has a different root.
        """
        if read_history(self._rows, [size]).roots.get(size) == root:
            raise CorruptionError(
                "rows of the log do not match the headers of the journal", hint="run `engine rebuild`"
            )

    def _prefix(self, size: int, root: bytes) -> bytes:
        if size > self.size:
            raise RefusedError(f"the claim does not hold: this log has only {self.size} events, not {size}")
        if self.paths.root(size) != root:
            self.check_rows(size, root)
            raise RefusedError(
                f"the claim does not hold: the first {size} events of this log have a different root"
            )
        return b"".join(self.paths.consistency(size, self.size))

    def _checkpoint(self, root: bytes) -> int:
        """Return the seq of the newest checkpoint event that contains the overall root `root`."""
        for seq in range(self.size - 1, -1, -1):
            detail = read_header(self._rows, seq)[0].detail
            if isinstance(detail, CheckpointDetail) and detail.root == root:
                return seq
        raise NotFoundError(
            f"no checkpoint among {self.size} events contains the root {root.hex()}",
            hint="give the number of events that an earlier root covers: `prefix-root ROOT SIZE`",
        )

    def _earlier(self, root: bytes) -> Opening:
        """Return the roots from which an earlier overall root of this store was computed."""
        size = self._sizes.get(root)
        if size is None:
            return self._known.get(root) or self.recorded(self._checkpoint(root))
        if not 0 < size <= self.size:
            raise InvalidInputError(f"an earlier root must cover 1 to {self.size} events, not {size}")
        with past_store(self._rows, size) as store, store.view(*store.followers) as rows:
            roots = store.roots(rows)
        if roots.overall != root:
            raise RefusedError(
                f"the claim does not hold: the first {size} events have a different overall root"
            )
        return opening_of(roots)
