"""A cache of atoms that answered earlier questions, for one state of the journal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.ledger.journal import LogState
from engine.ledger.records import AtomRecord
from proofs.events import AtomBody

CHARS_MAX: Final = 1 << 20
"""The largest number of characters of the contents in the cache."""

ATOM_CHARS: Final = 1 << 10
"""The number of characters counted for an atom besides its content: about the bytes of its objects."""


class KnownAtoms:
    """Records and bodies of atoms by ordinal, in one state of the journal. Safe to use from several threads.

    Successive questions are often about the same things, and reading an atom takes four rows.
    """

    def __init__(self) -> None:
        self._atoms: dict[int, tuple[AtomRecord, AtomBody]] = {}
        self._chars = 0
        self.get = self._atoms.get
        """Return the atom with an ordinal, or None if it is not in the cache."""

    def add(self, atoms: Iterable[tuple[AtomRecord, AtomBody]]) -> None:
        """Add atoms; forget all others if there would be too many characters."""
        for record, body in atoms:
            size = ATOM_CHARS + len(body.content)
            if self._chars + size > CHARS_MAX:
                self._atoms.clear()
                self._chars = 0
            if size <= CHARS_MAX:
                self._chars += size
                self._atoms[record.ordinal] = record, body


class KnownAtomsCache:
    """The known atoms for one state of the journal: the state at the time of the last question."""

    def __init__(self) -> None:
        self._latest: tuple[LogState, KnownAtoms] | None = None

    def atoms(self, log: LogState) -> KnownAtoms:
        """Return the atoms that are known in the state `log`."""
        latest = self._latest
        if latest is None or latest[0] != log:
            latest = self._latest = log, KnownAtoms()
        return latest[1]
