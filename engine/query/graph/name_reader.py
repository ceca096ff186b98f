"""The names in a memory, and the atoms and relations that connect the names.

A name is an entity, a tag, a page, or several of them: the entity `Charles Babbage`, the tag
`charles-babbage` and the page `people/Charles Babbage.md` are one name. An atom has a name if an edge leads
from the atom to the entity or to a piece of the page, if it is a piece of the page, or if it has the tag.
Any other capitalised word of a question counts as a name, too: the texts that contain the word have this
name.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from pyroaring import BitMap

from backends.base import Reader
from engine.base import limits
from engine.base.errors import EngineError, LimitError
from engine.base.model import Direction
from engine.base.validation import folded_tag
from engine.followers.names import is_page, named, page_name
from engine.followers.tags import members
from engine.index.index_view import IndexView
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_identity
from engine.ledger.queries import (
    bodies_of,
    data_of,
    edges_at,
    exact_type_in,
    far_end,
    ids_at,
    record_at,
    source_in,
)
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, type_name
from engine.query.graph.domains import domain_named
from engine.text.analyzer import STOP_WORDS, index_terms
from engine.text.language.categories import Category
from proofs.leaves import Group, State, tag_identity

EDGES_MAX: Final = 2048
"""The largest number of edges of one entity that are read, and of atoms with one tag."""
PIECES_MAX: Final = 64
"""The largest number of pieces of pages with one name."""
EDGES_OUT_MAX: Final = 64
"""The largest number of edges of an atom that are read to find its names."""
TEXTS_MAX: Final = 256
"""The largest number of texts that are searched for a name that is neither an entity nor a tag."""
WORDS_MAX: Final = 64
"""Only this many words at the beginning of a question are searched for names."""
RUN_WORDS_MAX: Final = 4
"""The largest number of consecutive words that are looked up as one name."""

_MARKS: Final = ".,;:!?\"'()[]{}“”‘’«»…"


class Link(NamedTuple):
    """A relation between two entities."""

    subject: str
    """The identity of the name at which the relation begins."""
    predicate: str
    object: str
    weight: float
    """The absolute value of the edge's weight, at most 1."""
    source: bytes | None
    """The id of the atom that states the relation, if it was recorded."""


@dataclass(eq=False, slots=True)
class Name:
    """A name in the memory."""

    identity: str
    text: str
    """The name as the entity or the tag spells it."""
    entity: AtomRecord | None
    tag: str | None
    """The tag in its caseless form, if an atom has it."""
    pieces: tuple[int, ...] = ()
    """The ordinals of the pieces of the pages with this name."""
    atoms: frozenset[bytes] = frozenset()
    """The ids of the atoms that have the name, at most `EDGES_MAX` for the entity and for the tag."""
    links: tuple[Link, ...] = field(default=())
    """The relations of the entity."""


class NameReader:
    """Reads names from one snapshot in which the records, the tags and the names are at the head."""

    def __init__(self, rows: Reader, index: IndexView, id_key: bytes, live: BitMap) -> None:
        """Set the snapshot, its index, the key from which ids of entities are derived, and the live atoms."""
        self._rows = rows
        self._index = index
        self._id_key = id_key
        self._live = live
        self._names: dict[str, Name | None] = {}
        self._entities: dict[bytes, str] = {}
        self._types: dict[bytes, str] = {}

    @cached_property
    def atoms(self) -> int:
        """The number of live atoms that are not entities."""
        return len(self._live - members(self._rows, (Group.KIND, ENTITY)))

    def in_question(self, question: str) -> list[Name]:
        """Return the names in a question, in the order of the question. Longer names are preferred."""
        words = question.split()[:WORDS_MAX]
        names: dict[int, Name] = {}
        taken: set[int] = set()
        for length in range(min(RUN_WORDS_MAX, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                run = set(range(start, start + length))
                name = None if run & taken else self._spelt(" ".join(words[start : start + length]))
                if name is not None:
                    names[start] = name
                    taken |= run
        return list({names[start].identity: names[start] for start in sorted(names)}.values())

    def _spelt(self, words: str) -> Name | None:
        bare = words.strip(_MARKS).removeprefix("#")
        if not bare or bare.lower() in STOP_WORDS:
            return None
        name = self.name(bare) or self.name(bare.removesuffix("'s").removesuffix("’s"))
        if name is None or name.entity is not None:
            return name
        # A tag `places` is not meant by "which places?", and a page `links` not by "what links …?".
        meant = name.tag is not None or " " in bare or bare != bare.lower()
        return name if meant and not domain_named(bare) else None

    def written(self, question: str, taken: Sequence[Name]) -> list[Name]:
        """Return the capitalised words of a question that are not names in the memory, but occur in texts.

        Adjacent capitalised words are one name if a text contains them so. Function words and the words in
        `taken` are left out.
        """
        taken_words = {word for name in taken for word in name.identity.split()}
        words = question.split()[:WORDS_MAX]
        names: dict[str, Name] = {}
        runs: list[list[str]] = [[]]
        for word in words:
            bare = word.strip(_MARKS).removesuffix("'s").removesuffix("’s")
            folded = entity_identity(bare)
            if bare[:1].isupper() and folded not in taken_words and folded not in STOP_WORDS:
                runs[-1].append(bare)
            if not bare[:1].isupper() or word[-1:] in _MARKS:
                runs.append([])
        for run in runs:
            for text in [" ".join(run)] if self._containing(" ".join(run)) else run:
                atoms = self._containing(text)
                if atoms:
                    name = Name(entity_identity(text), text, None, None, atoms=atoms)
                    names.setdefault(name.identity, name)
        self._names.update(names)
        return list(names.values())

    def add_texts(self, name: Name) -> None:
        """Count the texts that contain a capitalised name among the atoms that have it."""
        self.connect(name)
        if name.text != name.text.lower():
            name.atoms |= self._containing(name.text)

    def _containing(self, text: str) -> frozenset[bytes]:
        """Return the ids of at most `TEXTS_MAX` live atoms that contain a name as it is spelt."""
        terms = index_terms(text)
        ordinals = self._live - members(self._rows, (Group.KIND, ENTITY)) if terms else BitMap()
        for term in terms:
            ordinals &= self._index.ordinals_with(term)
        records = [record_at(self._rows, ordinal) for ordinal in islice(ordinals, TEXTS_MAX)]
        bodies = zip(records, bodies_of(self._rows, records), strict=True)
        return frozenset(record.id for record, body in bodies if text in body.content)

    def name(self, text: str) -> Name | None:
        """Return the name with this spelling, or None if the memory has neither the entity nor the tag."""
        identity = entity_identity(text)
        if identity not in self._names:
            self._names[identity] = self._read(identity, text)
        return self._names[identity]

    def _read(self, identity: str, text: str) -> Name | None:
        try:
            entity = self._entity(text)
        except LimitError:
            return None  # too long for a name
        tag = self._tag(identity)
        pages = [one for one in named(self._rows, text) if one in self._live and self._is_piece(one)]
        if entity is not None:
            [body] = bodies_of(self._rows, [entity])
            if entity_identity(body.content) != identity:  # found by an alias
                return self.name(body.content)
            return Name(identity, body.content, entity, tag, tuple(pages))
        return Name(identity, text, None, tag, tuple(pages)) if tag is not None or pages else None

    def _is_piece(self, ordinal: int) -> bool:
        return is_page(record_at(self._rows, ordinal).source)

    def _entity(self, text: str) -> AtomRecord | None:
        record = read_atom(self._rows, entity_id(self._id_key, text))
        if record is not None and record.kind == ENTITY and record.state is State.LIVE:
            return record
        for ordinal in named(self._rows, text):
            record = record_at(self._rows, ordinal)
            if record.kind == ENTITY and record.state is State.LIVE:
                return record
        return None

    def _tag(self, identity: str) -> str | None:
        """Return the tag of a name in its caseless form, or None if no live atom has the tag."""
        for text in dict.fromkeys((identity.replace(" ", "-"), identity.replace(" ", "_"))):
            try:
                tag = folded_tag(text)
            except EngineError:
                continue  # not valid as a tag
            if tag not in set(Category) and members(self._rows, (Group.TAG, tag)) & self._live:
                return tag
        return None

    def names_of(self, record: AtomRecord) -> list[Name]:
        """Return the names of an atom: the ends of its edges, its tags, its page and its title."""
        names: dict[str, Name] = {}
        edges = islice(edges_at(self._rows, record.id, Direction.OUT, ()), EDGES_OUT_MAX)
        texts = [self._entity_name(edge.dst) or self._page_at(edge.dst) for edge in edges]
        texts += [tag for tag in record.tags if tag_identity(tag) not in set(Category)]
        texts += [_page_of(record), record.title or ""]
        for text in texts:
            name = self.name(text) if text and len(text.encode()) <= limits.NAME_BYTES_MAX else None
            if name is not None:
                names.setdefault(name.identity, name)
        return list(names.values())

    def _page_at(self, atom: bytes) -> str:
        """Return the name of the page to which a live atom belongs; an empty text if there is none."""
        record = read_atom(self._rows, atom)
        return _page_of(record) if record is not None and record.state is State.LIVE else ""

    def _entity_name(self, atom: bytes) -> str:
        """Return the name of the live entity with this id; an empty text if there is none."""
        if atom not in self._entities:
            record = read_atom(self._rows, atom)
            is_entity = record is not None and record.kind == ENTITY and record.state is State.LIVE
            self._entities[atom] = bodies_of(self._rows, [record])[0].content if is_entity and record else ""
        return self._entities[atom]

    def connect(self, name: Name) -> None:
        """Read the atoms and the relations of a name, if they have not been read."""
        if name.atoms or name.links:
            return
        atoms: set[bytes] = set()
        links: list[Link] = []
        if name.entity is not None:
            edges = edges_at(self._rows, name.entity.id, Direction.BOTH, ())
            for edge in islice(edges, EDGES_MAX):
                other = far_end(edge, name.entity.id)
                kind = self._type(edge)
                text = "" if kind == MENTIONS else self._entity_name(other)
                target = self.name(text) if text else None
                if target is None:
                    atoms.add(other)
                elif target is not name:
                    links.append(_link(name, edge, kind, target.identity))
        if name.tag is not None:
            tagged = members(self._rows, (Group.TAG, name.tag)) & self._live
            atoms.update(ids_at(self._rows, list(tagged[max(0, len(tagged) - EDGES_MAX) :])))
        for piece in ids_at(self._rows, list(name.pieces[:PIECES_MAX])):
            links_to = islice(edges_at(self._rows, piece, Direction.IN, ()), EDGES_MAX)
            atoms.update((piece, *(edge.src for edge in links_to)))
        name.atoms, name.links = frozenset(atoms), tuple(links)

    def _type(self, edge: EdgeRecord) -> str:
        if edge.type not in self._types:
            self._types[edge.type] = type_name(self._rows, edge.type)
        exact = exact_type_in(data_of(edge)) if edge.data else None
        return self._types[edge.type] if exact is None else exact


def _page_of(record: AtomRecord) -> str:
    """Return the name of the page to which an atom belongs, without its folder; empty if there is no page."""
    return page_name(record.source) if record.source is not None and is_page(record.source) else ""


def _link(name: Name, edge: EdgeRecord, kind: str, other: str) -> Link:
    weight: float = min(1.0, abs(struct.unpack(">f", edge.weight)[0]))
    ends = (
        (name.identity, other)
        if name.entity is not None and edge.src == name.entity.id
        else (other, name.identity)
    )
    return Link(ends[0], kind, ends[1], weight, source_in(data_of(edge)))


def together(names: Sequence[Name]) -> dict[bytes, list[str]]:
    """Return the atoms that have at least two of the names, with the identities of the names, sorted."""
    having: dict[bytes, list[str]] = {}
    for name in sorted(names, key=lambda one: one.identity):
        for atom in name.atoms:
            having.setdefault(atom, []).append(name.identity)
    return {atom: having[atom] for atom in sorted(having) if len(having[atom]) > 1}
