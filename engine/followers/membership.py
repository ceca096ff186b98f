"""The changes that events make to rows that contain ordinals of atoms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from backends.base import Reader
from engine.ledger.journal import erased_ordinals
from proofs.events import AtomBody, Entry, EventKind


def joining_and_erased(
    entries: Sequence[Entry], rows: Reader, keys: Callable[[AtomBody, int], Iterable[bytes]]
) -> tuple[dict[bytes, list[int]], set[int]]:
    """Return the ordinals of new versions of atoms by the keys of their rows, and those of erased atoms.

    `keys` returns the keys of the rows to which a version belongs, given its body and its ordinal.
    """
    joining: dict[bytes, list[int]] = {}
    erased: set[int] = set()
    for header, body, _ in entries:
        if type(body) is AtomBody:
            ordinal: int = header.detail.ordinal  # type: ignore[union-attr]
            for key in keys(body, ordinal):
                joining.setdefault(key, []).append(ordinal)
        elif header.kind is EventKind.ERASED:
            erased |= erased_ordinals(rows, header)
    return joining, erased
