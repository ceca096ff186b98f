"""What people did to an atom's tags, told from the journal: whose they are, and which must stay away."""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.ledger.records import AtomRecord, Lookup
from engine.store.past import subject_history
from proofs.events import AtomBody, EventKind, TagsBody
from proofs.sets import tag_identity

DREAMER: Final = "dreamer"
"""The actor of every event of the dreamer."""


class Tagged(NamedTuple):
    """An atom's tags by their identities."""

    others: frozenset[str]
    """Those it has from others."""
    own: frozenset[str]
    """Those it has from the dreamer."""
    removed: frozenset[str]
    """Those that somebody took off it and nobody but the dreamer would put back."""


def tagged(rows: Lookup, record: AtomRecord) -> Tagged:
    """Whose the tags of an atom are.

    A revision that repeats a tag leaves it whose it was; one that leaves it out has taken it off.
    """
    if record.last_seq == record.created_seq:
        return Tagged(frozenset(map(tag_identity, record.tags)), frozenset(), frozenset())
    own: dict[str, bool] = {}
    removed: set[str] = set()
    for entry in subject_history(rows, record.last_seq):
        dreamt = entry.header.actor == DREAMER
        if isinstance(entry.body, AtomBody):
            said = set(map(tag_identity, entry.body.tags))
            removed = (removed | (own.keys() - said)) - said
            own = {tag: own.get(tag, dreamt) for tag in said}
        elif isinstance(entry.body, TagsBody) and entry.header.kind is EventKind.TAGS_ADDED:
            for tag in map(tag_identity, entry.body.tags):
                own[tag] = dreamt
                if not dreamt:
                    removed.discard(tag)
        elif isinstance(entry.body, TagsBody):
            for tag in map(tag_identity, entry.body.tags):
                own.pop(tag, None)
                removed.add(tag)
    return Tagged(
        frozenset(tag for tag, dreamt in own.items() if not dreamt),
        frozenset(tag for tag, dreamt in own.items() if dreamt),
        frozenset(removed),
    )
