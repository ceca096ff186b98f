"""Looking for what is erased, before and after: in the store's files, and along every way of asking.

That it is found before shows that the looking works; only then does not finding it after mean anything.
A content is recognised by pieces of its text, those that nobody else has.
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
from engine.base.model import Direction
from engine.base.validation import show_id
from engine.followers.tags import tag_counts
from engine.ledger.codec import decode_header
from engine.ledger.journal import read_entry
from engine.ledger.layout import PAYLOAD, journal_key
from engine.ledger.queries import get_atom
from engine.ledger.records import read_atom
from engine.query.context.neighbours import context
from engine.query.duplicates import duplicates
from engine.query.explore.explorer import Explorer
from engine.query.graph.bright import structured_graph
from engine.query.graph.find import Form, find, get_edges
from engine.query.recall.recall import recall
from engine.query.view import View
from engine.store.past import history, history_item
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


_CHILD = """
import json, sys
given = json.load(sys.stdin)
pieces = [bytes.fromhex(piece) for piece in given["pieces"]]
longest = max(map(len, pieces), default=1)
found = {}
for path in given["files"]:
    try:
        file = open(path, "rb")
    except FileNotFoundError:
        continue
    with file:
        kept = b""
        while chunk := file.read(1 << 20):
            held = kept + chunk
            for number, piece in enumerate(pieces):
                if piece in held:
                    found.setdefault(path, []).append(number)
            kept = held[-(longest - 1):] if longest > 1 else b""
json.dump({path: sorted(set(numbers)) for path, numbers in found.items()}, sys.stdout)
"""


def search(files: Sequence[Path], pieces: Sequence[bytes]) -> dict[str, list[int]]:
    """In which files which of `pieces` (by number) stand; those in none are left out.

    Raises:
        OSError: a file cannot be read.
    """
    if not files or not pieces:
        return {}
    asked = json.dumps({"files": list(map(str, files)), "pieces": [piece.hex() for piece in pieces]})
    done = subprocess.run(  # noqa: S603  our own interpreter and script; what is sought goes in by its input
        [sys.executable, "-I", "-c", _CHILD], input=asked, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"the files could not be searched: {done.stderr.strip()[-200:]}")
    found: dict[str, list[int]] = json.loads(done.stdout)
    return found


_ECHOED: Final = frozenset({"query", "terms", "question", "path", "reason"})
"""Fields of answers that repeat what was asked, or what whoever erased said."""

QUERY_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where pieces of the content were found."""

    files: tuple[str, ...]
    """Names of files of the store, its folder left out."""
    answers: tuple[str, ...]
    """Names of the ways of asking: get, recall, find, …"""


def look(asked: View, atom: str, seqs: Sequence[int], pieces: Sequence[str]) -> Sighting:
    """Look for `pieces` of the content of `atom`, whose events are `seqs`, everywhere."""
    files = asked.store.backend.files()
    found = search(files, [piece.encode() for piece in pieces])
    names = sorted({path.rpartition("/")[2] for path in found})
    answers = [name for name, ask in _ways(asked, atom, seqs, pieces).items() if _mentions(ask, pieces)]
    return Sighting(tuple(names), tuple(answers))


def _ways(
    asked: View, atom: str, seqs: Sequence[int], pieces: Sequence[str]
) -> Mapping[str, Callable[[], Any]]:
    """Every way of asking that could show the content, by its name."""
    words = " ".join(" ".join(pieces).split()[:QUERY_WORDS])
    explorer = Explorer(asked)
    index = asked.store.index

    def read(ask: Callable[[Reader], Any]) -> Callable[[], Any]:
        def asking() -> Any:
            with asked.searchable() as rows:
                return ask(rows)

        return asking

    return {
        "get": read(lambda rows: get_atom(rows, atom)),
        "find": read(lambda rows: find(rows, limit=50, form=Form.FULL)),
        "history": read(lambda rows: history(rows, atom)),
        "log": read(lambda rows: [history_item(rows, read_entry(rows, seq)) for seq in seqs]),
        "tags": read(tag_counts),
        "edges": read(lambda rows: get_edges(rows, atom, direction=Direction.BOTH, tombstoned=True)),
        "duplicates": read(lambda rows: duplicates(rows, index, of=atom)),
        "recall": read(lambda rows: recall(rows, asked, words, limit=10).hits),
        "recall within a budget": read(lambda rows: recall(rows, asked, words, budget=20_000).hits),
        "context": read(lambda rows: context(rows, asked, words, 20_000)),
        "bright": read(lambda rows: structured_graph(rows, asked, words, 10)),
        "explore-recall": lambda: explorer.explore_recall(words),
        "explore-peek": lambda: explorer.explore_peek(atom),
        "explore-expand": lambda: explorer.explore_expand(atom),
        "explore-neighbors": lambda: explorer.explore_neighbors(atom),
    }


def _mentions(ask: Callable[[], Any], pieces: Sequence[str]) -> bool:
    """Whether an answer has one of `pieces` in it; an error has none."""
    try:
        said = "\n".join(_texts(ask()))
    except EngineError as error:
        said = str(error)
    return any(piece in said for piece in pieces)


def _texts(value: Any) -> Iterator[str]:
    """All texts in an answer, but for what it repeats of the question."""
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
