"""Entities: named things, each an atom of kind `entity` whose content is its name (docs/commands.md).

Spellings of a name that differ only in case, or in spaces, `_` or `-` between words, have the same identity
and refer to the same entity. The atom's id is derived from the identity, so each entity is stored once.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from engine.base import limits
from engine.base.characters import is_assigned
from engine.base.errors import InvalidInputError, LimitError
from engine.base.validation import label, line, quoted
from engine.ledger.records import id_of_key
from proofs.leaves import tag_identity

ENTITY: Final = "entity"
"""The kind of the atoms that are entities."""

KEY_PREFIX: Final = "entity:"

MENTIONS: Final = "mentions"
"""The predicate of edges from an atom to the entities that the atom mentions."""

_SEPARATORS: Final = re.compile(r"[\s_-]+")
_REFUSED: Final = frozenset({"Cs", "Co", "Cn"})
_INVISIBLE: Final = "Cf"


def entity_name(value: object) -> str:
    """Return a name in its stored form: one line of at most 256 bytes, without white space at either end.

    Raises:
        InvalidInputError: the name is blank, has only invisible characters, or has a control, private-use
            or unassigned character.
        LimitError: the name is over 256 bytes long.
    """
    name = line(value, "entity name", limits.NAME_BYTES_MAX).strip()
    if not name:
        raise InvalidInputError("an entity's name is blank")
    for character in name:
        if unicodedata.category(character) in _REFUSED or not is_assigned(ord(character)):
            raise InvalidInputError(
                f"the name {quoted(name)} has the character U+{ord(character):04X}, which is not allowed"
            )
    if not _visible(name).strip():
        raise InvalidInputError(f"the name {quoted(name)} has no visible character")
    return name


def _visible(name: str) -> str:
    if name.isascii():
        return name  # no character of ASCII is of this category
    return "".join(character for character in name if unicodedata.category(character) != _INVISIBLE)


def entity_identity(name: str) -> str:
    """Return the identity of a name: its caseless form in NFC, with words joined by single spaces.

    Invisible characters are removed. If a name consists of separators only, the separators are the identity.
    """
    caseless = tag_identity(unicodedata.normalize("NFC", _visible(name)))
    return _SEPARATORS.sub(" ", caseless).strip() or caseless


def entity_key(name: str) -> str:
    """Return the key of the atom that represents the entity with this name.

    The atom's id is derived from this key (SPEC: Atom ids).

    Raises:
        LimitError: the key would be longer than 512 bytes.
    """
    key = KEY_PREFIX + entity_identity(name)
    if len(key.encode()) > limits.KEY_BYTES_MAX:
        raise LimitError(f"the name {quoted(name)} is too long in its caseless form")
    return key


def entity_id(id_key: bytes, name: str) -> bytes:
    """Return the id that the entity with this name has or would have. The entity need not be recorded."""
    return id_of_key(id_key, None, entity_key(name))


def predicate(value: object) -> str:
    """Return a predicate in the form in which it is registered: lower case, with words joined by `_`.

    Raises:
        InvalidInputError: the result is not a label.
    """
    text = line(value, "predicate", limits.NAME_BYTES_MAX)
    return label("_".join(text.lower().split()), "predicate")
