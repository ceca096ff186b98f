"""Payloads that are gone: each must have been destroyed by a later event, and none of those may be left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from backends.base import Reader, Row
from engine.base.errors import CorruptionError
from engine.ledger.codec import decode_header
from engine.ledger.erasures import encode_seq, subject_key
from engine.ledger.journal import RawEntry, earlier_headers
from engine.ledger.layout import ERASURE, erasure_key, payload_key
from engine.trust.audit.compare import Difference
from proofs.codec import kind_of
from proofs.events import ERASING_KINDS, AtomDetail, Header


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A checkpoint whose roots of `tags` and `index` cannot be made again; its others were found right."""

    seq: int
    erased: int
    """The first event after it that destroyed payloads from before it."""


class ByHeaders(Reader):
    """Rows in which those about what was erased are as the headers say, whatever is stored."""

    def __init__(self, rows: Reader) -> None:
        """Until headers are noted, none of them erases anything."""
        self._rows = rows
        self._erasures: dict[bytes, bytes] = {}

    def note(self, seq: int, raw: bytes) -> None:
        """Take a header as it is stored; those that cannot be read are for others to judge."""
        if kind_of(raw) in ERASING_KINDS:
            with suppress(CorruptionError):
                key = erasure_key(subject_key(decode_header(raw, seq).detail))
                self._erasures[key] = encode_seq(seq)

    def get(self, key: bytes) -> bytes | None:
        """As stored, or as the headers say."""
        return self._erasures.get(key) if key.startswith(ERASURE) else self._rows.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """As stored."""
        return self._rows.scan(start, end, reverse=reverse)


class Destroyed:
    """What is known of destroyed payloads while a journal is replayed."""

    def __init__(self, rows: Reader) -> None:
        """`rows` are those of the store, not of the replay."""
        self._rows = rows
        self._lost: dict[bytes, int] = {}

    @property
    def by(self) -> int | None:
        """The first event, of those to come, that destroyed payloads of atoms from before here."""
        return min(self._lost.values(), default=None)

    def follow(self, event: RawEntry) -> Iterator[Difference]:
        """Take the next event; yields payloads that it destroyed and that are still there."""
        header = event.entry.header
        if event.erased is not None and isinstance(header.detail, AtomDetail):
            self._lost[header.detail.id] = event.erased
        if header.kind in ERASING_KINDS:
            self._lost.pop(subject_key(header.detail), None)
            yield from self._left(header)

    def _left(self, erased: Header) -> Iterator[Difference]:
        for header in earlier_headers(self._rows, erased):
            key = payload_key(header.seq)
            if self._rows.get(key) is not None:
                problem = f"payload is still there, and event {erased.seq} destroyed it"
                yield Difference("payload", key.hex(), header.seq, problem)
