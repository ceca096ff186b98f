"""Titles and labels of atoms in lists for people: the short id, the name and the state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.validation import atom_id
from engine.followers.names import page_title
from engine.ledger.entities import ENTITY
from engine.ledger.queries import (
    body_of,
    short_id,
)
from engine.ledger.records import AtomRecord, Lookup, read_atom
from engine.text.language.snippets import beginning
from proofs.leaves import State

NAMED_BY_TEXT: Final = frozenset({ENTITY, "observation"})
"""The kinds of atoms whose content is shown as the name of the atom. The title of such an atom
holds the type of the entity or the name of the observed entity (`engine.knowledge`)."""

NAME_CHARS: Final = 48
"""The largest length of a name in a list, in characters."""

TITLE_CHARS: Final = 40
"""The largest number of characters shown of the first words of an atom without a title."""


class Label(NamedTuple):
    """The label of an atom in a list: its short id, its name and its state."""

    id: str
    """The first digits of the id: at least 8, and enough digits that no other id begins with them."""
    name: str
    """The name of an entity, a title, or the beginning of the text; empty if the atom is erased."""
    state: State


def labels_of(rows: Reader, ids: Iterable[str]) -> dict[str, Label]:
    """Return the labels of the atoms with these whole ids. An id that was never recorded is left out."""
    labels: dict[str, Label] = {}
    for text in dict.fromkeys(ids):
        record = read_atom(rows, atom_id(text))
        if record is not None:
            labels[text] = Label(short_id(rows, record.id), _shown_name(rows, record), record.state)
    return labels


def _shown_name(rows: Reader, record: AtomRecord) -> str:
    """Return the name of an atom in a list; a piece of a page has the title of the page."""
    if record.kind in NAMED_BY_TEXT or record.state is State.ERASED:
        return name_of(rows, record, NAME_CHARS)
    return beginning(title_of(rows, record), NAME_CHARS)


def name_of(rows: Lookup, record: AtomRecord, chars: int) -> str:
    """Return the name of an atom in at most `chars` characters; it is empty if the atom is erased."""
    if record.state is State.ERASED:
        return ""
    if record.kind not in NAMED_BY_TEXT and record.title is not None:
        return beginning(record.title, chars)
    return beginning(body_of(rows, record).content, chars)


def title_of(rows: Reader, record: AtomRecord) -> str:
    """Return the title of an atom's page, else the atom's own title, else the first words of its text."""
    body = body_of(rows, record)
    return page_title(body) or record.title or beginning(body.content, TITLE_CHARS)


def shown_titles(rows: Reader, ids: Iterable[str]) -> dict[str, str]:
    """Return id → title (`title_of`) for each of these atoms that is recorded and not erased."""
    records = ((one, read_atom(rows, atom_id(one))) for one in dict.fromkeys(ids))
    return {
        one: title_of(rows, record)
        for one, record in records
        if record is not None and record.state is not State.ERASED
    }
