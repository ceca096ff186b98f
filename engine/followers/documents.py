"""What the index is told of a document, worked out from an atom's body (SPEC: Index)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from engine.followers.segments import HEAD
from engine.text.analyzer import index_terms
from engine.text.labels import label_of
from engine.text.simhash import phrase_hash
from engine.text.words import STOP_WORDS
from proofs.events import AtomBody, Body
from proofs.hashing import source_number

HEAD_MARK: Final = HEAD.decode()


class Document(NamedTuple):
    """A document as the index sees it."""

    terms: Sequence[str]
    """Those of its text in order, then those of its head, each with HEAD_MARK before it."""
    source: int
    sequence: int
    title: int
    """These three as in `engine.followers.facts.Facts`."""


NO_DOCUMENT: Final = Document((), 0, 0, 0)
"""Where the payload is destroyed: this object and no equal one, which a text without terms may have."""


def atom_body(body: Body | None) -> AtomBody | None:
    """The atom in an event's body; None when there is none."""
    return body if isinstance(body, AtomBody) else None


def document_of(body: AtomBody | None) -> Document:
    """The document of an atom: the text is the title, if there is one, a newline, and the content."""
    if body is None:
        return NO_DOCUMENT
    terms = index_terms(body.content)
    if body.title is None:
        label = label_of(body.content)
        head = index_terms(label) if label else []
    else:
        # Nothing reaches over the newline: the terms of both together are those of each.
        head = index_terms(body.title)
        terms = head + terms
    terms += [HEAD_MARK + term for term in head]
    source = 0 if body.source is None else _source_number(body.source)
    sequence = 0 if body.sequence is None else body.sequence + 1
    return Document(terms, source, sequence, title_hash(body.title))


def title_hash(title: str | None) -> int:
    """What a title is found by in texts that mention it: the hash of its terms, 64 bits.

    A parenthesis at its end, from the last ` (` to a final `)`, says which of several is meant, and
    does not count. 0 without a title, or where only stop words are left.
    """
    if title is None:
        return 0
    if title.endswith(")"):
        named, _, _ = title.rpartition(" (")
        title = named or title
    terms = index_terms(title)
    return 0 if STOP_WORDS.issuperset(terms) else phrase_hash(terms)


@lru_cache(1024)
def _source_number(source: str) -> int:
    return source_number(source.encode())
