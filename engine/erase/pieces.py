"""Pieces of text by which a content is recognised, and who else has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.validation import show_id
from engine.ledger.codec import decode_header
from engine.ledger.layout import PAYLOAD, journal_key
from engine.ledger.records import read_atom
from proofs.events import AtomBody, AtomDetail
from proofs.leaves import State

PIECES_MAX: Final = 24
"""Pieces of all contents together: those of the newest content first."""

PIECES_OF_ONE: Final = 4
"""Pieces of one content, apart from each other: a backend may cut one of them in two, hardly all."""

PIECE_BYTES: Final = 48

_BYTES_MIN: Final = 4
"""What is shorter says nothing: it stands somewhere in any file."""

_WORD: Final = re.compile(r"\S+")


class Elsewhere(NamedTuple):
    """Who else has a piece."""

    pieces: frozenset[int]
    """Numbers of the pieces that somebody else has."""
    atoms: tuple[str, ...]
    """Ids of the atoms, erased ones excepted, at most 20."""


def pieces_of(bodies: Iterable[AtomBody]) -> list[str]:
    """Runs of words of the contents and titles, those with the longest words; none twice."""
    found: dict[str, None] = {}
    for body in bodies:
        for text in (body.content, body.title or ""):
            found |= dict.fromkeys(_best(text))
    return list(found)[:PIECES_MAX]


def _best(text: str) -> Iterator[str]:
    """At most PIECES_OF_ONE pieces that do not overlap."""
    words = [found.span() for found in _WORD.finditer(text)]
    taken: list[tuple[int, int]] = []
    for start, end in sorted(words, key=lambda span: (span[0] - span[1], span[0])):
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            continue
        piece = text[start : start + PIECE_BYTES].encode()[:PIECE_BYTES].decode(errors="ignore").rstrip()
        if len(piece.encode()) < _BYTES_MIN:
            continue
        taken.append((start, start + len(piece)))
        yield piece
        if len(taken) == PIECES_OF_ONE:
            return


def elsewhere(rows: Reader, pieces: Sequence[str], destroyed: frozenset[int]) -> Elsewhere:
    """Which pieces stand in payloads of events other than `destroyed`, and in whose.

    Reads every payload there is.
    """
    if not pieces:
        return Elsewhere(frozenset(), ())
    raw = [piece.encode() for piece in pieces]
    any_piece = re.compile(b"|".join(map(re.escape, raw)))
    held, atoms = set[int](), dict[bytes, None]()
    for key, payload in rows.scan_prefix(PAYLOAD):
        seq = int.from_bytes(key[len(PAYLOAD) :], "big")
        if seq in destroyed or not any_piece.search(payload):
            continue
        held |= {number for number, piece in enumerate(raw) if piece in payload}
        header = rows.get(journal_key(seq))
        if header is not None:
            detail = decode_header(header, seq).detail
            if isinstance(detail, AtomDetail):
                atoms[detail.id] = None
    kept = [atom for atom in atoms if (record := read_atom(rows, atom)) and record.state is not State.ERASED]
    return Elsewhere(frozenset(held), tuple(map(show_id, kept[:20])))
