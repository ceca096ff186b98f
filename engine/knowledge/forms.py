"""How the things of a knowledge graph are spelled as atoms and edges (docs/commands.md, Entities).

An entity is an atom of kind `entity`; an observation one of kind `observation` with an edge `part_of` to
its entity. A relation is an edge; one from an entity to itself, which no edge can be, is an atom of
kind `self-relation`, a short sentence, with an edge `part_of` as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from blake3 import blake3

from engine.base import limits, validation
from engine.base.errors import InvalidInputError, LimitError
from engine.commands.sequence import STEP
from engine.knowledge.model import Entity, Relation
from engine.ledger.codec import unpack
from engine.ledger.entities import entity_key, entity_name
from engine.ledger.records import AtomRecord, default_id
from proofs.codec import pack
from proofs.leaves import EdgeType

OBSERVATION: Final = "observation"
SELF_RELATION: Final = "self-relation"

PARTS: Final = (OBSERVATION, SELF_RELATION)
"""The kinds of atoms that are part of an entity."""

PART_OF: Final = bytes([EdgeType.PART_OF])

RELATION_TYPE_BYTES_MAX: Final = 1024

_SOURCES: Final = {OBSERVATION: "entity/", SELF_RELATION: "entity-self/"}
_LABEL: Final = re.compile(r"[a-z0-9._-]{1,32}")
_MADE: Final = re.compile(r".*\.[0-9a-f]{8}")
_NOT_IN_LABEL: Final = re.compile(r"[^a-z0-9]+")
_EXACT: Final = "entity="
_WORD: Final = "predicate"


def checked_name(value: object) -> str:
    """A name that an entity can have: as `entity_name`, and with white space at its ends kept.

    Raises:
        InvalidInputError: it breaks a rule of SPEC.md.
    """
    entity_name(value)
    return validation.line(value, "entity name", limits.NAME_BYTES_MAX)


def could_be_name(name: str) -> bool:
    """Whether an entity can have this name."""
    try:
        checked_name(name)
    except InvalidInputError:
        return False
    return True


def could_be_text(text: str) -> bool:
    """Whether UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_entity(given: Entity) -> Entity:
    """An entity that can be kept; of equal observations the first stays.

    Raises:
        InvalidInputError: its name, type or an observation breaks a rule of SPEC.md.
    """
    name = checked_name(given.name)
    kind = validation.line(
        given.type, f"type of the entity {validation.quoted(name)}", limits.TITLE_BYTES_MAX
    )
    return Entity(name, kind, checked_observations(given.observations))


def checked_observations(values: object) -> tuple[str, ...]:
    """Texts that observations can be, each once.

    Raises:
        InvalidInputError: one is blank, or breaks a rule of SPEC.md.
    """
    return tuple(dict.fromkeys(map(validation.content, validation.several(values, "observations"))))


def checked_relation(given: Relation) -> Relation:
    """A relation that can be kept.

    Raises:
        InvalidInputError: a name or the type breaks a rule of SPEC.md.
    """
    kind = validation.text_bytes(given.type, "relation type", RELATION_TYPE_BYTES_MAX)
    return Relation(checked_name(given.src), kind, checked_name(given.dst))


def places(id_key: bytes, name: str) -> list[tuple[str, bytes]]:
    """Key and id of an entity of this exact name: the first, or, where another has that, the second.

    The first is that of all spellings of the name (`entity_key`). White space at the ends is a spelling
    that only the second keeps.
    """
    keys = [_EXACT + name]
    if name == name.strip():
        try:
            keys.insert(0, entity_key(name))
        except LimitError:  # a name can be too long only once case does not count
            keys = keys[-1:]
    return [(key, default_id(id_key, None, name, 0, key)) for key in keys]


def source_of(kind: str, name: str) -> str:
    """The source of the observations, or of the relations to itself, of an entity."""
    return _SOURCES[kind] + name


def sentence(name: str, relation_type: str) -> str:
    """The content of the atom that stands for a relation of an entity to itself."""
    return f"{name} {relation_type} {name}"


def relation_type_in(content: str, name: str) -> str:
    """The type in a `sentence`; the whole of it where somebody wrote another one."""
    begin, end = f"{name} ", f" {name}"
    if len(content) >= len(begin) + len(end) and content.startswith(begin) and content.endswith(end):
        return content[len(begin) : len(content) - len(end)]
    return content


def predicate_of(relation_type: str) -> tuple[str, bytes]:
    """The predicate that a type of relation is, and the data of its edges.

    A type that can be a predicate is one. Any other becomes a readable beginning, a dot and 8 digits of
    its BLAKE3, and the exact type is in the data; so does one that looks as if it were made like that.
    """
    if _LABEL.fullmatch(relation_type) and not _MADE.fullmatch(relation_type):
        return relation_type, b""
    readable = _NOT_IN_LABEL.sub("_", relation_type[:256].lower()).strip("_")
    beginning = readable[: limits.LABEL_CHARS_MAX - 9] or "relation"
    digits = blake3(relation_type.encode()).hexdigest(4)
    return f"{beginning}.{digits}", pack({_WORD: relation_type})


def relation_type_of(predicate: str, data: bytes) -> str:
    """The exact type of a relation whose edge has this predicate and data."""
    if data and _MADE.fullmatch(predicate):
        match unpack(data, "edge data"):
            case {"predicate": str(exact)} if predicate_of(exact)[0] == predicate:
                return exact
    return predicate


def place_of(record: AtomRecord) -> int:
    """Where an atom stands among its like: in the order in which they were created, or created again."""
    return record.created_seq * STEP if record.sequence is None else record.sequence


def ids_of(id_key: bytes, kind: str, name: str, content: str) -> Iterator[bytes]:
    """The ids that an atom with this content can have: the next where one says something else by now."""
    source = source_of(kind, name)
    for occurrence in range(limits.RESULTS_MAX):
        yield default_id(id_key, source, content, occurrence, None)
    raise InvalidInputError(f"over {limits.RESULTS_MAX} texts of {source} were changed from the same one")
