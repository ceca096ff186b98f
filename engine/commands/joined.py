"""What people put on a text goes with the text when the text becomes a part of another text.

If a text was joined or appended to another text, no text of the files continues its atom any more, and the
atom is hidden. The tags, aliases, values of meta and edges that people added to it are then also given to the
atom that contains the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from backends.base import Reader
from engine.base.model import Direction
from engine.commands.alignment import MOVED_MIN
from engine.commands.conflicts import CONFLICTS_WITH
from engine.commands.file_texts import Known
from engine.commands.reconcile import GiveFacts, UpsertEdge, is_by_hand
from engine.commands.transaction import Command
from engine.ledger.journal import read_entry
from engine.ledger.queries import edges_at
from engine.ledger.records import type_name
from proofs.leaves import EdgeType


class Text(NamedTuple):
    """A present text of a file that was not in the file before."""

    content: str
    source: str | None
    atom: bytes


def given_on(rows: Reader, actor: str, lost: Iterable[Known], texts: Sequence[Text]) -> Iterator[Command]:
    """Yield the commands that give what is on lost texts to the atoms of the texts that contain them.

    A text contains another text if it has at least three quarters of its pairs of adjacent words. If only
    several texts of one file together have them, the text with most of them counts.

    Args:
        rows: The rows, with the effect of all other commands for the texts.
        actor: The actor who ingests, and whose own tags and edges are not given on.
        lost: The recorded texts that no present text continues.
        texts: The texts that may contain them.
    """
    places: dict[tuple[str, str], set[int]] | None = None
    for one in lost:
        edges = [
            edge
            for edge in edges_at(rows, one.record.id, Direction.BOTH, ())
            if is_by_hand(read_entry(rows, edge.payload_seq), actor)
        ]
        if not edges and one.record.last_seq == one.record.created_seq:
            continue
        if places is None:
            places = {}
            for at, text in enumerate(texts):
                for pair in _pairs(text.content):
                    places.setdefault(pair, set()).add(at)
        holder = _holder(_pairs(one.passage.content), places, texts)
        if holder is None or holder == one.record.id:
            continue
        yield GiveFacts(one.record.id, holder)
        for edge in edges:
            src, dst = (holder if end == one.record.id else end for end in (edge.src, edge.dst))
            name = type_name(rows, edge.type)
            if name != CONFLICTS_WITH:
                kind = EdgeType(edge.type[0]) if len(edge.type) == 1 else name
                yield UpsertEdge(src, kind, dst, edge.data)


def _pairs(content: str) -> set[tuple[str, str]]:
    """Return the pairs of adjacent words of a text, except those in its heading."""
    first, _, rest = content.partition("\n")
    return set(pairwise((rest if first.startswith("#") and rest.strip() else content).split()))


def _holder(
    pairs: set[tuple[str, str]], places: dict[tuple[str, str], set[int]], texts: Sequence[Text]
) -> bytes | None:
    """Return the atom of the text that contains these pairs of words, or None."""
    whole: Counter[str | None] = Counter()
    parts: Counter[int] = Counter()
    for pair in pairs:
        having = places.get(pair, set())
        parts.update(having)
        whole.update({texts[at].source for at in having})
    wanted = [source for source, number in whole.items() if number >= MOVED_MIN * len(pairs)]
    rated = [(-parts[at], at) for at in parts if texts[at].source in wanted]
    return texts[min(rated)[1]].atom if rated else None
