"""The encoding of a knowledge graph as atoms and edges (docs/commands.md, Entities), and validation of texts.

An entity is an atom of kind `entity`; an observation is an atom of kind `observation` with an edge `part_of`
to its entity. A relation is an edge. Edges cannot lead from an atom to itself. So a relation of an entity to
itself is an atom of kind `self-relation` with an edge `part_of` to the entity. The content of the atom is a
short sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from blake3 import blake3

from engine.base import characters, limits, validation
from engine.base.errors import InvalidInputError, LimitError
from engine.commands.atoms import ids_of_copies
from engine.commands.sequence import STEP
from engine.knowledge.graph_values import Entity, Relation
from engine.ledger.entities import entity_key, entity_name
from engine.ledger.layout import unpack
from engine.ledger.records import AtomRecord, id_of_key
from proofs.codec import pack
from proofs.events import AtomBody
from proofs.leaves import EdgeType

OBSERVATION: Final = "observation"
SELF_RELATION: Final = "self-relation"

PARTS: Final = (OBSERVATION, SELF_RELATION)
"""The kinds of atoms that belong to an entity."""

PART_OF: Final = bytes([EdgeType.PART_OF])

RELATION_TYPE_BYTES_MAX: Final = 1024

IMPLIED: Final = "implied"
"""The member of `meta` that marks an implied entity. Only relations name an implied entity. It is not an
entity of the graph until somebody creates it."""

_SOURCES: Final = {OBSERVATION: "entity/", SELF_RELATION: "entity-self/"}
_LABEL: Final = re.compile(r"[a-z0-9._-]{1,32}")
_GENERATED: Final = re.compile(r".*\.[0-9a-f]{8}")
_NOT_IN_LABEL: Final = re.compile(r"[^a-z0-9]+")
_EXACT: Final = "entity="
_TYPE_KEY: Final = "predicate"


def checked_name(value: object) -> str:
    """Check the name of an entity and return it unchanged, including white space at its ends.

    Raises:
        InvalidInputError: the name breaks a rule of SPEC.md.
    """
    entity_name(value)
    return validation.line(value, "entity name", limits.NAME_BYTES_MAX)


def is_valid_name(name: str) -> bool:
    """Return True if the name is valid for an entity."""
    try:
        checked_name(name)
    except InvalidInputError:
        return False
    return True


def is_valid_text(text: str) -> bool:
    """Return True if a text can be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_entity(entity: Entity) -> Entity:
    """Validate an entity, and return it without repeated observations.

    Raises:
        InvalidInputError: the name, the type or an observation breaks a rule of SPEC.md.
    """
    name = checked_name(entity.name)
    kind = validation.line(
        entity.type, f"type of the entity {validation.quoted(name)}", limits.TITLE_BYTES_MAX
    )
    return Entity(name, kind, checked_observations(entity.observations))


def checked_observations(values: object) -> tuple[str, ...]:
    """Validate the texts of observations, and return each different text once.

    Raises:
        InvalidInputError: an observation is blank, or breaks a rule of SPEC.md.
    """
    return tuple(dict.fromkeys(map(validation.content, validation.several(values, "observations"))))


def checked_relation(relation: Relation) -> Relation:
    """Validate a relation and return it.

    Raises:
        InvalidInputError: a name or the type breaks a rule of SPEC.md.
    """
    kind = characters.checked_text(relation.type, "relation type", RELATION_TYPE_BYTES_MAX)
    return Relation(checked_name(relation.src), kind, checked_name(relation.dst))


def keys_and_ids(id_key: bytes, name: str) -> list[tuple[str, bytes]]:
    """Return the (key, id) pairs that an entity with this exact name can have, in the order to try them.

    The first key is the same for all spellings of the name (`entity_key`). The second key is only for this
    spelling. It is used if an entity with a different spelling of the name has the first key. A name with
    white space at its ends has only the second key.
    """
    keys = [_EXACT + name]
    if name == name.strip():
        try:
            keys.insert(0, entity_key(name))
        except LimitError:  # A name can become too long when its case is folded.
            keys = keys[-1:]
    return [(key, id_of_key(id_key, None, key)) for key in keys]


def source_of(kind: str, name: str) -> str:
    """Return the source recorded with the observations of an entity and with its relations to itself."""
    return _SOURCES[kind] + name


def sentence(name: str, relation_type: str) -> str:
    """Return the content of the atom for a relation of an entity to itself."""
    return f"{name} {relation_type} {name}"


def relation_type_in(content: str, name: str) -> str:
    """Return the relation type from a content that `sentence` built. Return any other content unchanged."""
    begin, end = f"{name} ", f" {name}"
    if len(content) >= len(begin) + len(end) and content.startswith(begin) and content.endswith(end):
        return content[len(begin) : len(content) - len(end)]
    return content


def predicate_of(relation_type: str) -> tuple[str, bytes]:
    """Return the predicate for a relation type, and the data of its edges.

    A type that is a valid predicate is used unchanged, unless it looks like a generated predicate. For any
    other type, a predicate is generated. It consists of a readable beginning, a dot and 8 digits of the
    type's BLAKE3 hash. The data of the edges then contains the exact type.
    """
    if _LABEL.fullmatch(relation_type) and not _GENERATED.fullmatch(relation_type):
        return relation_type, b""
    readable = _NOT_IN_LABEL.sub("_", relation_type[:256].lower()).strip("_")
    beginning = readable[: limits.LABEL_CHARS_MAX - 9] or "relation"
    digits = blake3(relation_type.encode()).hexdigest(4)
    return f"{beginning}.{digits}", pack({_TYPE_KEY: relation_type})


def relation_type_of(predicate: str, data: bytes) -> str:
    """Return the exact relation type of an edge with this predicate and data."""
    if data and _GENERATED.fullmatch(predicate):
        match unpack(data, "edge data"):
            case {"predicate": str(exact)} if predicate_of(exact)[0] == predicate:
                return exact
    return predicate


def is_implied(body: AtomBody) -> bool:
    """Return True if only relations name the entity with this body."""
    return body.meta is not None and body.meta.get(IMPLIED) is True


def sequence_of(record: AtomRecord) -> int:
    """Return the number by which atoms are sorted: the `sequence`, or else one from `created_seq`."""
    return record.created_seq * STEP if record.sequence is None else record.sequence


def ids_of(id_key: bytes, kind: str, name: str, content: str) -> Iterator[bytes]:
    """Yield the ids that an atom with this content can have, in the order to try them (`ids_of_copies`)."""
    return (atom for _, atom in ids_of_copies(id_key, source_of(kind, name), content))
