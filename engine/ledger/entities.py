"""Entities: named things, each an atom of kind `entity` whose content is its name (docs/commands.md).

A name stands for one entity however it is spelled: case, and whether its words are joined by spaces,
`_` or `-`, make no difference. The id follows from that identity, so an entity is there once.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from engine.base import limits
from engine.base.errors import InvalidInputError, LimitError
from engine.base.unicode14 import is_assigned
from engine.base.validation import label, line, quoted
from engine.ledger.records import default_id
from proofs.sets import tag_identity

ENTITY: Final = "entity"
"""The kind of an atom that is an entity."""

KEY_PREFIX: Final = "entity:"

MENTIONS: Final = "mentions"
"""The predicate from an atom to the entities it speaks of."""

_JOINTS: Final = re.compile(r"[\s_-]+")
_REFUSED: Final = frozenset({"Cs", "Co", "Cn"})
_UNSEEN: Final = "Cf"


def entity_name(value: object) -> str:
    """A name as it is kept: one line, without white space at its ends, at most 256 bytes.

    Raises:
        InvalidInputError: blank, nothing of it can be seen, or a control, private or unassigned character.
        LimitError: over 256 bytes.
    """
    kept = line(value, "entity name", limits.NAME_BYTES_MAX).strip()
    if not kept:
        raise InvalidInputError("an entity's name is blank")
    for character in kept:
        if unicodedata.category(character) in _REFUSED or not is_assigned(ord(character)):
            raise InvalidInputError(f"the name {quoted(kept)} has the character U+{ord(character):04X}")
    if not _seen(kept).strip():
        raise InvalidInputError(f"of the name {quoted(kept)} nothing can be seen")
    return kept


def _seen(name: str) -> str:
    return "".join(character for character in name if unicodedata.category(character) != _UNSEEN)


def entity_identity(name: str) -> str:
    """What all spellings of a name have in common: NFC, caseless, its words joined by single spaces.

    Characters that nobody can see do not count. A name of joints alone is its own identity.
    """
    caseless = tag_identity(unicodedata.normalize("NFC", _seen(name)))
    return _JOINTS.sub(" ", caseless).strip() or caseless


def entity_key(name: str) -> str:
    """The key (SPEC: Atom ids) of the entity with this name.

    Raises:
        LimitError: longer than a key may be.
    """
    key = KEY_PREFIX + entity_identity(name)
    if len(key.encode()) > limits.KEY_BYTES_MAX:
        raise LimitError(f"the name {quoted(name)} is too long without regard to case")
    return key


def entity_id(id_key: bytes, name: str) -> bytes:
    """The id of the entity with this name, recorded or not."""
    return default_id(id_key, None, name, 0, entity_key(name))


def predicate(value: object) -> str:
    """A predicate as it is registered: lower case, its words joined by `_`.

    Raises:
        InvalidInputError: it is no label then.
    """
    given = line(value, "predicate", limits.NAME_BYTES_MAX)
    return label("_".join(given.lower().split()), "predicate")
