"""The limits of the dreamer in one frozen value, with the measurements from which they were chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.limits import NAME_BYTES_MAX
from engine.base.validation import integer, line
from engine.knowledge.dreaming.pipeline import AUTO

RULES: Final = 5
"""The version of the rules. It is raised when a change of the rules may change the tags of a text. The
dreamer then reads all atoms again."""

_STOP: Final = """
    ad afaik alright am anytime anyways appendix article asap bc bce bff blog brb btw bunch cause ce
    chapter chapters comment comments contents copyright couple cuz disclaimer draft dunno eta etc faq
    figure footer fyi gonna gotta haha hahaha header hehe hmm hmmm home http https idk iirc iiuc image
    img imho imo index info introduction kinda lemme licence license lmao lmk lol lots misc nb nope null
    ok okay omg ootd op other ouch overview page part pdf phew pm readme reply rip rofl rsvp section
    sections sorta stub stuff table tba tbd tbh things thx til tl tldr todo ugh undefined unknown unsure
    untitled update url volume wanna welcome whoa wiki woah wow wtf www xoxo yay yeah yep yikes yum yup
"""
STOP_LIST: Final = frozenset(_STOP.split())
"""Words that are common in forms, web pages, boilerplate and chats. One of these words alone is neither a
name nor a tag."""


@dataclass(frozen=True, slots=True)
class DreamConfig:
    """The limits and thresholds of the dreamer.

    Raises:
        InvalidInputError: a count is not a whole number of at least 1, or a share is not 0 to 1.
    """

    hub_share: float = 0.1
    """The largest share of the atoms that may have the same tag. A name or phrase in a larger share
    of the atoms is a hub and does not become a tag."""
    hub_min: int = 20
    """A name or phrase in at most this many atoms is never a hub. Recall uses `hub_share` and
    `hub_min` as well, and does not follow hubs."""
    atoms_min: int = 2
    """A phrase, or a name that people added, becomes a tag only if at least this many atoms contain it."""
    name_atoms_min: int = 2
    """The smallest number of atoms that must contain a name for the name to be learned.

    In a store with at least 512 internal texts, the number is at least 3; then it grows by one whenever the
    number of texts is eight times as large. In a larger memory, a name in two texts connects too little.
    """
    phrase_share: float = 0.005
    """A phrase becomes a tag only if at most this share of the atoms contains the phrase."""
    phrase_min: int = 5
    """A phrase in at most this many atoms is never rejected as too common."""
    cohesion_min: float = 0.5
    """A phrase becomes a tag only if its two words are at least this cohesive: 0 for two words that meet by
    chance, 1 for two words that never occur apart."""
    described_min: float = 0.8
    """The cohesion that a phrase needs if it begins with a common adjective: `social media` is a topic, but
    `big impact` occurs in any text."""
    tags_per_atom: int = 8
    """The dreamer adds tags to an atom only until it has this many tags, including tags by other actors."""
    names_per_atom: int = 3
    """At most this many names in an atom become tags of the atom. The rarest names are chosen."""
    tags_min: int = 1
    """The dreamer counts an atom's names and its tags by other actors. It adds phrases as tags only if the
    sum is below this number."""
    phrases_per_atom: int = 1
    mentions_per_atom: int = 8
    """The largest number of edges `mentions` that are added to an atom. The rarest names in the atom are
    chosen."""
    relations_per_atom: int = 8
    """The largest number of relations stated by a text that are added."""
    candidates_per_atom: int = 16
    """In each atom, at most this many sequences of capitalised words are considered as names."""
    known_per_atom: int = 64
    """The largest number of different known names that are looked for in an atom. Further names are ignored.
    This limits the effect of long lists of names."""
    sample: int = 20_000
    """The largest number of atoms from which a round learns names. If a round has more atoms, an evenly
    spread sample is used."""
    evidence: int = 16
    """To decide whether capitalised words are a name, at most this many atoms with these words are read."""
    parsed: int = 12
    """To decide whether capitalised words are a name, at most this many sentences with these words are
    read by the pipeline, one of each text, if there is a pipeline and the texts leave it open."""
    lower_share: float = 0.2
    """To decide whether capitalised words are a name, texts with these words are read. If the share of texts
    that spell the words differently, such as in lower case, is above this value, the words are not a name."""
    name_words_max: int = 4
    name_chars_min: int = 3
    name_chars_max: int = 48
    together_min: int = 3
    """The smallest number of atoms in which two names must occur together for their entities to be
    related."""
    together_share: float = 0.2
    """Two entities are related only if at least this share of the atoms with the more frequent name also
    contain the other name. This limits an entity to about 35 relations, whatever texts are added."""
    chars: int = 32_768
    """Only this many characters at the beginning of each text are read."""
    regrown: int = 2
    """All atoms are read again when the number of texts has grown at least by this factor since the last
    round over all atoms."""
    stop: frozenset[str] = field(default=STOP_LIST)
    pipeline: str = AUTO
    """The package of the spaCy pipeline that recognises names in sentences. `auto`: the first
    installed pipeline for English in the alphabetical order of the packages, or none; the variable
    ENGINE_PIPELINE replaces this value. `none`: no pipeline."""

    def __post_init__(self) -> None:
        """Raise InvalidInputError if a limit is out of range."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "stop":
                if not isinstance(value, frozenset) or not all(isinstance(word, str) for word in value):
                    raise InvalidInputError("stop must be a frozenset of words in lower case")
            elif one.name == "pipeline":
                line(value, "pipeline", NAME_BYTES_MAX)
            elif one.name.endswith("_share") or one.name in ("cohesion_min", "described_min"):
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                    raise InvalidInputError(f"{one.name} must be 0 to 1, not {value!r}")
            elif integer(value, one.name) < 1:
                raise InvalidInputError(f"{one.name} must be 1 or more, not {value}")

    def digest(self, pipeline: str | None = None) -> bytes:
        """Return 8 bytes that depend on all limits, on the version of the rules, and on the pipeline used."""
        lines = [str(RULES), pipeline or ""]
        for one in fields(self):
            value = getattr(self, one.name)
            lines.append(f"{one.name}={sorted(value) if one.name == 'stop' else value!r}")
        return blake2b("\n".join(lines).encode(), digest_size=8).digest()
