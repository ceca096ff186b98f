"""Every limit of the dreamer, in one frozen value, each with what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.validation import integer

RULES: Final = 1
"""Counts up when the same text may be given other tags: then everything is looked at again."""

_STOP: Final = """
    ad am appendix article bc bce blog ce chapter chapters comment comments contents copyright disclaimer
    draft faq figure footer header home http https index image img info introduction licence license lol
    misc null ok op other overview page part pdf pm readme reply section sections stub table tbd todo
    undefined unknown untitled update url volume welcome wiki www
"""
STOP_LIST: Final = frozenset(_STOP.split())
"""Words of forms, pages and boilerplate: no name and no tag consists of one of them."""


@dataclass(frozen=True, slots=True)
class DreamConfig:
    """How much the dreamer may do, and what it keeps its hands off.

    Raises:
        InvalidInputError: a count is no whole number of at least 1, or a share not 0 to 1.
    """

    hub_share: float = 0.1
    """A name, phrase or category that more of the atoms have leads everywhere, and is not given."""
    hub_min: int = 20
    """So many atoms are never too many. Both are those of the walk, which follows no larger tag."""
    atoms_min: int = 2
    """A phrase, or a name that people made known, of fewer atoms joins nothing."""
    name_atoms_min: int = 3
    """A name of fewer atoms is not learned; from 10,000 atoms on it takes 4, from 100,000 on 5, and so on.

    Each entity is one more short document in the index. Measured: 1,283 in a memory of 994 texts (with 2)
    cost 1.0 point of recall at 10, 419 (with 3) none; in one of 12,605 texts 462 (with 3) cost 0.2, and
    281 (with 4) 0.0.
    """
    phrase_share: float = 0.02
    """A phrase that more of the atoms have is a way of speaking."""
    phrase_min: int = 5
    """So many atoms are never too many for a phrase."""
    tags_per_atom: int = 8
    """Those of people count; what they leave of this is the dreamer's."""
    names_per_atom: int = 3
    """So many of an atom's names, the rarest, become tags."""
    tags_min: int = 1
    """An atom that has so many tags of people, and names, gets no phrases."""
    phrases_per_atom: int = 1
    mentions_per_atom: int = 8
    """So many names of an atom, the rarest, get an edge `mentions`."""
    candidates_per_atom: int = 16
    """So many capitalised runs of an atom are considered as names."""
    known_per_atom: int = 64
    """So many different known names are looked for in an atom; a list of all of them says nothing."""
    sample: int = 20_000
    """From so many atoms of a round, evenly spread, names are learned."""
    evidence: int = 12
    """So many atoms that have a name's words are read before it is believed."""
    lower_share: float = 0.2
    """A word that stands in small letters in more of them is no name."""
    name_words_max: int = 4
    name_chars_min: int = 3
    name_chars_max: int = 48
    together_min: int = 3
    """Two names in fewer atoms have nothing to do with each other."""
    together_share: float = 0.2
    """Nor have those that are together in a smaller share of the atoms of the more frequent one. With it
    no entity can have more than some 35 relations, whatever is written."""
    category_sample: int = 512
    """From so many atoms, evenly spread, it is told how many have a category."""
    chars: int = 32_768
    """Of a longer text the beginning is looked at."""
    regrown: int = 2
    """When the store has so many times the atoms of the last whole round, all of it is looked at again."""
    stop: frozenset[str] = field(default=STOP_LIST)

    def __post_init__(self) -> None:
        """Refuse limits that say nothing."""
        for one in fields(self):
            given = getattr(self, one.name)
            if one.name == "stop":
                if not isinstance(given, frozenset) or not all(isinstance(word, str) for word in given):
                    raise InvalidInputError("stop must be a frozenset of words in small letters")
            elif one.name.endswith("_share"):
                if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
                    raise InvalidInputError(f"{one.name} must be 0 to 1, not {given!r}")
            elif integer(given, one.name) < 1:
                raise InvalidInputError(f"{one.name} must be 1 or more, not {given}")

    def digest(self) -> bytes:
        """8 bytes that change with any limit, and with the rules."""
        said = [str(RULES)]
        for one in fields(self):
            given = getattr(self, one.name)
            said.append(f"{one.name}={sorted(given) if one.name == 'stop' else given!r}")
        return blake2b("\n".join(said).encode(), digest_size=8).digest()
