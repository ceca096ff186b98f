"""Whose doing the tags of an atom are: files and imports take back only what they put there themselves."""

from __future__ import annotations

from engine.ledger.journal import read_entry
from engine.ledger.records import AtomRecord, Lookup
from proofs.events import AtomBody, EventKind, TagsBody
from proofs.sets import tag_identity


def by_others(rows: Lookup, record: AtomRecord, actor: str) -> tuple[set[str], set[str]]:
    """The tags, by identity, that anybody but `actor` has put on an atom, and taken off it.

    What they did last with each counts. Reads the atom's history; a revision repeats the tags that were
    there, so what a body of `actor` says is nobody's doing.
    """
    last: dict[str, bool] = {}
    seq: int | None = record.last_seq
    while seq is not None:
        header, body, _ = read_entry(rows, seq)
        if header.actor != actor and isinstance(body, AtomBody | TagsBody):
            for tag in map(tag_identity, body.tags):
                last.setdefault(tag, header.kind is not EventKind.TAGS_REMOVED)
        seq = header.prev
    return {tag for tag, put in last.items() if put}, {tag for tag, put in last.items() if not put}
