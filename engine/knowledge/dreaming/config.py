"""The limits of the dreamer in one frozen value, with the measurements behind them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.validation import integer

RULES: Final = 1
"""The version of the rules, raised when the same text may get other tags; then all atoms are read again."""

_STOP: Final = """
    ad am appendix article bc bce blog ce chapter chapters comment comments contents copyright disclaimer
    draft faq figure footer header home http https index image img info introduction licence license lol
    misc null ok op other overview page part pdf pm readme reply section sections stub table tbd todo
    undefined unknown untitled update url volume welcome wiki www
"""
STOP_LIST: Final = frozenset(_STOP.split())
"""Words of forms, web pages and boilerplate, which by themselves are neither names nor tags."""


@dataclass(frozen=True, slots=True)
class DreamConfig:
    """The limits and thresholds of the dreamer.

    Raises:
        InvalidInputError: a count is not a whole number of at least 1, or a share is not 0 to 1.
    """

    hub_share: float = 0.1
    """A name, phrase or category that a larger share of the atoms has is a hub, and does not become a tag."""
    hub_min: int = 20
    """A name, phrase or category is not a hub up to this many atoms. Both limits are those of the walk in
    recall, which does not follow hubs."""
    atoms_min: int = 2
    """The number of atoms that must have a phrase, or a name that people added, for it to become a tag."""
    name_atoms_min: int = 3
    """The number of atoms that must have a name for it to be learned; 4 from 10,000 atoms on, 5 from 100,000.

    Each entity adds a short document to the index. Measured in a memory of 994 texts: 1,283 entities (with 2)
    cost 1.0 point of recall at 10, 419 (with 3) cost none. In one of 12,605 texts, 462 entities (with 3) cost
    0.2 points, 281 (with 4) 0.0.
    """
    phrase_share: float = 0.02
    """A phrase that a larger share of the atoms has is too common to become a tag."""
    phrase_min: int = 5
    """A phrase is not too common up to this many atoms."""
    tags_per_atom: int = 8
    """The number of tags up to which the dreamer adds tags; tags by others count."""
    names_per_atom: int = 3
    """The number of an atom's names, the rarest, that become tags."""
    tags_min: int = 1
    """An atom with this many tags by others and names gets no phrases."""
    phrases_per_atom: int = 1
    mentions_per_atom: int = 8
    """The number of an atom's names, the rarest, that get an edge `mentions`."""
    candidates_per_atom: int = 16
    """The number of capitalised runs of an atom that are considered as names."""
    known_per_atom: int = 64
    """The number of different known names that are looked up in an atom, so that long lists of names do not
    count in full."""
    sample: int = 20_000
    """The number of atoms in a round, evenly spread, from which names are learned."""
    evidence: int = 12
    """The number of atoms with a name's words that are read to decide whether it is a name."""
    lower_share: float = 0.2
    """A word that is in lower case in a larger share of them is not a name."""
    name_words_max: int = 4
    name_chars_min: int = 3
    name_chars_max: int = 48
    together_min: int = 3
    """The number of atoms in which two names must occur together to be related."""
    together_share: float = 0.2
    """The share of the atoms of the more frequent name in which two names must occur together to be related.
    It limits an entity to some 35 relations, whatever texts are added."""
    category_sample: int = 512
    """The number of atoms, evenly spread, from which the frequency of each category is estimated."""
    chars: int = 32_768
    """The number of characters of a text that are read."""
    regrown: int = 2
    """All atoms are read again when the store has this many times the atoms of the last full round."""
    stop: frozenset[str] = field(default=STOP_LIST)

    def __post_init__(self) -> None:
        """Raise InvalidInputError if a limit is out of range."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "stop":
                if not isinstance(value, frozenset) or not all(isinstance(word, str) for word in value):
                    raise InvalidInputError("stop must be a frozenset of words in lower case")
            elif one.name.endswith("_share"):
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                    raise InvalidInputError(f"{one.name} must be 0 to 1, not {value!r}")
            elif integer(value, one.name) < 1:
                raise InvalidInputError(f"{one.name} must be 1 or more, not {value}")

    def digest(self) -> bytes:
        """Return 8 bytes that change with any limit and with the version of the rules."""
        lines = [str(RULES)]
        for one in fields(self):
            value = getattr(self, one.name)
            lines.append(f"{one.name}={sorted(value) if one.name == 'stop' else value!r}")
        return blake2b("\n".join(lines).encode(), digest_size=8).digest()
