"""Searching the store's files and the answers of all queries for the content that is being erased.

The same search runs before and after the erasure. If the search found the content before the erasure and
finds nothing afterwards, the content is gone. If the search found nothing before the erasure, it proves
nothing. The content is recognized by pieces of its text that no payload of another atom contains.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from backends.base import Reader
from engine.base.errors import EngineError
from engine.base.validation import show_id
from engine.ledger.layout import PAYLOAD, decode_header, journal_key, payload_key
from engine.ledger.records import read_atom
from engine.store.store import Store
from proofs.events import AtomBody, AtomDetail
from proofs.leaves import State

PIECES_MAX: Final = 24
"""The maximum number of pieces to search for, or PIECES_OF_ONE for each of many atoms. Pieces of the newest
content are chosen first."""

PIECES_OF_ONE: Final = 4
"""The maximum number of pieces of one text.

The pieces do not overlap. A backend may split a text within its files, so the search can miss a single piece.
It is unlikely to miss all pieces.
"""

PIECE_BYTES: Final = 48
"""The maximum number of bytes of a piece."""

_BYTES_MIN: Final = 4
"""The minimum number of bytes of a piece. A shorter piece could occur in a file by chance."""

_WORD: Final = re.compile(r"\S+")


class SharedPieces(NamedTuple):
    """The pieces that also occur in payloads of events that are not being erased."""

    pieces: frozenset[int]
    """The pieces that payloads of other events also contain, as indexes into the list of all pieces."""
    atoms: tuple[str, ...]
    """The ids of at most 20 atoms that are not erased and whose payloads contain shared pieces."""


def pieces_of(bodies: Iterable[AtomBody], most: int = PIECES_MAX) -> list[str]:
    """Return distinct pieces of contents and titles. A piece begins at one of the longest words of a text."""
    pieces: dict[str, None] = {}
    for body in bodies:
        for text in (body.content, body.title or ""):
            pieces |= dict.fromkeys(_pieces_of_text(text))
    return list(pieces)[:most]


def _pieces_of_text(text: str) -> Iterator[str]:
    """Yield at most PIECES_OF_ONE non-overlapping pieces of a text, starting with the longest words."""
    words = [match.span() for match in _WORD.finditer(text)]
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


def shared_pieces(rows: Reader, pieces: Sequence[str], destroyed: frozenset[int]) -> SharedPieces:
    """Return the pieces that occur in payloads of events not in `destroyed`, and the atoms of these events.

    The function reads every payload in the store.
    """
    if not pieces:
        return SharedPieces(frozenset(), ())
    raw = [piece.encode() for piece in pieces]
    shared, atoms = set[int](), dict[bytes, None]()
    for key, payload in rows.scan_prefix(PAYLOAD):
        seq = int.from_bytes(key[len(PAYLOAD) :], "big")
        found = () if seq in destroyed else [number for number, piece in enumerate(raw) if piece in payload]
        if not found:
            continue
        shared.update(found)
        header = rows.get(journal_key(seq))
        if header is not None:
            detail = decode_header(header, seq).detail
            if isinstance(detail, AtomDetail):
                atoms[detail.id] = None
    others = [
        atom for atom in atoms if (record := read_atom(rows, atom)) and record.state is not State.ERASED
    ]
    return SharedPieces(frozenset(shared), tuple(map(show_id, others[:20])))


_CHILD = """
import json, sys
request = json.load(sys.stdin)
pieces = [bytes.fromhex(piece) for piece in request["pieces"]]
longest = max(map(len, pieces), default=1)
found = {}
for path in request["files"]:
    try:
        file = open(path, "rb")
    except FileNotFoundError:
        continue
    with file:
        overlap = b""
        while chunk := file.read(1 << 20):
            window = overlap + chunk
            for number, piece in enumerate(pieces):
                if piece in window:
                    found.setdefault(path, []).append(number)
            overlap = window[-(longest - 1):] if longest > 1 else b""
json.dump({path: sorted(set(numbers)) for path, numbers in found.items()}, sys.stdout)
"""


def search(files: Sequence[Path], pieces: Sequence[bytes]) -> dict[str, list[int]]:
    """Return a mapping: each file that contains any of `pieces` → the indexes of the pieces in the file.

    Raises:
        OSError: a file cannot be read.
    """
    if not files or not pieces:
        return {}
    request = json.dumps({"files": list(map(str, files)), "pieces": [piece.hex() for piece in pieces]})
    done = subprocess.run(  # noqa: S603  our own interpreter and script; the pieces are passed on stdin
        [sys.executable, "-I", "-c", _CHILD], input=request, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"the files could not be searched: {done.stderr.strip()[-200:]}")
    matches: dict[str, list[int]] = json.loads(done.stdout)
    return matches


_ECHOED: Final = frozenset({"query", "terms", "question", "path", "reason"})
"""The names of answer fields that repeat the query or the reason for the erasure.

The search ignores these fields.
"""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The files and the query answers in which pieces of the content were found."""

    files: tuple[str, ...]
    """The names of the store's files that contain a piece, without the path of the folder."""
    answers: tuple[str, ...]
    """The names of the queries whose answers contain a piece, such as `get`, `recall` and `find`."""


Queries = Callable[[Sequence[str], Sequence[int], Sequence[str]], Mapping[str, Sequence[Callable[[], Any]]]]
"""A function that returns, by name, the calls of queries whose answers could contain the content of atoms.

Its arguments are the ids of the atoms, the seqs of their events, and pieces of the contents.
"""


def stored_pieces(store: Store, seqs: Sequence[int], pieces: Sequence[str]) -> list[bytes]:
    """Return the bytes by which the files are searched for `pieces` of the contents of events.

    The files of a sealed store have no piece of a text, so they are searched for the encrypted payloads.
    """
    if store.backend.seal is None or not pieces:
        return [piece.encode() for piece in pieces]
    found = [store.backend.stored(payload_key(seq)) for seq in seqs]
    return [raw[:PIECE_BYTES] for raw in found if raw]


def find_occurrences(
    store: Store,
    queries: Queries,
    atoms: Sequence[str],
    seqs: Sequence[int],
    pieces: Sequence[str],
    stored: Sequence[bytes],
) -> Occurrences:
    """Search answers for `pieces` of `atoms`, whose events are `seqs`, and files for `stored`."""
    files = store.backend.files()
    matches = search(files, stored)
    names = sorted({path.rpartition("/")[2] for path in matches})
    answers = [
        name
        for name, calls in queries(atoms, seqs, pieces).items()
        if any(_shows(call, pieces) for call in calls)
    ]
    return Occurrences(tuple(names), tuple(answers))


def _shows(query: Callable[[], Any], pieces: Sequence[str]) -> bool:
    """Return True if the answer to the query, or its error message, contains one of `pieces`."""
    try:
        answer = "\n".join(_texts(query()))
    except EngineError as error:
        answer = str(error)
    return any(piece in answer for piece in pieces)


def _texts(value: Any) -> Iterator[str]:
    """Yield all strings in an answer, except strings in the fields that `_ECHOED` lists."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            if one.name not in _ECHOED:
                yield from _texts(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _ECHOED:
                yield from _texts(key)
                yield from _texts(inner)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _texts(inner)
