"""What a proof shows for each claim about the log, read from the journal (SPEC: Proofs, Log claims)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.base import Reader
from engine.base.errors import CorruptionError, InvalidInputError, NotFoundError, RefusedError
from engine.ledger.erasures import erased_at
from engine.ledger.journal import read_entry, read_header
from engine.ledger.layout import journal_key, payload_key
from engine.ledger.roots import Roots
from engine.store.past import past_store
from engine.store.store import Store
from engine.trust.notes.history import read_history
from engine.trust.proving.log_paths import LogPaths
from proofs import claims as kinds
from proofs.errors import ProofError
from proofs.events import CheckpointBody, CheckpointDetail
from proofs.file import Link, Opening
from proofs.heads import check_opening

NOTHING_KNOWN: Mapping[bytes, Opening] = {}


class LogWitnesses:
    """Reads witnesses of log claims, in the log of the first `size` events."""

    def __init__(
        self,
        store: Store,
        rows: Reader,
        size: int,
        sizes: Mapping[bytes, int],
        known: Mapping[bytes, Opening] = NOTHING_KNOWN,
    ) -> None:
        """`sizes` says of overall roots how many events they cover, `known` what they are made of."""
        self._store = store
        self._rows = rows
        self.size = size
        self.paths = LogPaths(rows, size)
        self._sizes = sizes
        self._known = known

    def of(self, claim: kinds.LogClaim) -> list[Any]:
        """The fields of the witness of `claim`.

        Raises:
            NotFoundError: there is no such event, or no checkpoint holds the root.
            RefusedError: the claim does not hold.
            CorruptionError: a row is missing or malformed.
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
                return [list(opening), self._prefix(opening.size, opening.log_root)]

    def link(self, seq: int) -> Link:
        """The header of event `seq`, and its path."""
        raw = self._rows.get(journal_key(seq))
        if raw is None:
            raise CorruptionError(f"journal header {seq} is missing", family="journal", seq=seq)
        return Link(raw, b"".join(self.paths.inclusion(seq, self.size)))

    def recorded(self, seq: int) -> Opening:
        """What the overall root in checkpoint `seq` is made of.

        Raises:
            RefusedError: event `seq` is no checkpoint.
            CorruptionError: its payload is not what made up its root.
        """
        entry = read_entry(self._rows, seq)
        detail, body = entry.header.detail, entry.body
        if not isinstance(detail, CheckpointDetail) or not isinstance(body, CheckpointBody):
            raise RefusedError(
                f"event {seq}, the last one of the log of {seq + 1}, is no checkpoint, so it holds no roots",
                hint="use a note of `engine checkpoint`, or prove against an overall root",
            )
        opening = Opening(seq, self.paths.root(seq), *body.roots)
        try:
            check_opening(self._store.identity.store_id, opening, detail.root)
        except ProofError as error:
            raise CorruptionError(f"checkpoint {seq} holds another root: {error}", seq=seq) from error
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
                    hint=f"claim `event {claim.seq} sealed`",
                )
            raise CorruptionError(f"payload {claim.seq} is missing", family="payload", seq=claim.seq)
        return [header, payload, path]

    def check_rows(self, size: int, root: bytes) -> None:
        """Before it is said that the log had another root: make sure that the headers say so, too.

        Raises:
            CorruptionError: rows of the log are damaged.
        """
        if read_history(self._rows, [size]).roots.get(size) == root:
            raise CorruptionError("rows of the log are not those of its headers", hint="run `engine rebuild`")

    def _prefix(self, size: int, root: bytes) -> bytes:
        if size > self.size:
            raise RefusedError(f"the claim does not hold: this log has {self.size} events, not {size}")
        if self.paths.root(size) != root:
            self.check_rows(size, root)
            raise RefusedError(
                f"the claim does not hold: this log of {self.size} events begins with another one of {size}"
            )
        return b"".join(self.paths.consistency(size, self.size))

    def _checkpoint(self, root: bytes) -> int:
        """The seq of the newest checkpoint that holds `root`."""
        for seq in range(self.size - 1, -1, -1):
            detail = read_header(self._rows, seq)[0].detail
            if isinstance(detail, CheckpointDetail) and detail.root == root:
                return seq
        raise NotFoundError(
            f"no checkpoint among {self.size} events holds the root {root.hex()}",
            hint="an earlier root is also found by its size: `prefix-root ROOT SIZE`",
        )

    def _earlier(self, root: bytes) -> Opening:
        """What an earlier overall root of this store is made of."""
        size = self._sizes.get(root)
        if size is None:
            return self._known.get(root) or self.recorded(self._checkpoint(root))
        if not 0 < size <= self.size:
            raise InvalidInputError(f"an earlier root is of 1 to {self.size} events, not {size}")
        with past_store(self._rows, size) as store, store.view(*store.followers) as rows:
            roots = store.roots(rows)
        if roots.overall != root:
            raise RefusedError(f"the claim does not hold: the root of {size} events is another one")
        return opening_of(roots)


def opening_of(roots: Roots) -> Opening:
    """The roots of a store as a proof shows them."""
    return Opening(roots.size, roots.log, *roots.namespaces)
