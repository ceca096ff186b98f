"""Score the names that a dream finds against labels: `python -m bench.labelled_names`.

Question: which of the proper names in a text does the dreamer link the text to, and how many of its links are
    wrong?
Data: the 360 labelled atoms in `tests/knowledge/dreaming/labelled`, four memories of 80 to 100 atoms.
Seed: none; ids do not influence what is found.
How: the atoms of a memory are added in order, and one dream reads them. The found names of an atom are the
    entities that the atom mentions or has as a tag. An entity counts as the labelled name that it is spelled
    like, or that one of its aliases is spelled like; each name counts once for an atom. An entity in small
    letters without a label is a thing that a relation is about (`full disk`), and does not count. The figures
    are precision and recall over all pairs of an atom and a name: for all names, and for the names that at
    least two atoms of the memory have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.labelled import Memory, memories
from engine import Engine
from engine.base.model import Direction
from engine.ledger.entities import ENTITY, MENTIONS, entity_identity


@dataclass(slots=True)
class NameScore:
    """The pairs of an atom and a name: how many are right, and which are wrong or missing."""

    right: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of the found pairs that are labelled."""
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        """The share of the labelled pairs that are found."""
        return self.right / max(1, self.right + len(self.missing))


def add_labelled(engine: Engine, memory: Memory) -> list[str]:
    """Add the atoms of a labelled memory in order. Return their ids."""
    return [
        engine.add(atom["text"], source=atom["source"], sequence=number, key=atom["id"]).subject
        for number, atom in enumerate(memory.texts)
    ]


def score_names(engine: Engine, ids: Sequence[str], memory: Memory) -> tuple[NameScore, NameScore]:
    """Return the scores for all names, and for the names that at least two atoms have."""
    canonical = {
        entity_identity(other): name
        for name, others in [
            *memory.aliases.items(),
            *((name, ()) for atom in memory.texts for name in atom["names"]),
        ]
        for other in (name, *others)
    }
    often = Counter(name for atom in memory.texts for name in set(atom["names"]))
    every, several = NameScore(), NameScore()
    for atom, identifier in zip(memory.texts, ids, strict=True):
        names = (_canonical(names, canonical) for names in _names_of(engine, identifier))
        found = {name for name in names if name in often or name != name.lower()}
        labelled = set(atom["names"])
        for score, least in ((every, 1), (several, 2)):
            score.right += sum(often[name] >= least for name in found & labelled)
            score.wrong += [
                (atom["id"], name) for name in sorted(found - labelled) if often.get(name, least) >= least
            ]
            score.missing += [(atom["id"], name) for name in sorted(labelled - found) if often[name] >= least]
    return every, several


def _names_of(engine: Engine, atom: str) -> list[tuple[str, ...]]:
    """Return the name and the aliases of each entity that an atom mentions or has as a tag."""
    tags = {entity_identity(tag) for tag in engine.get(atom).tags}
    found = []
    for edge in engine.edges(atom, direction=Direction.OUT):
        if edge.type == MENTIONS:
            entity = engine.get(edge.dst)
            if entity.kind == ENTITY:
                found.append((entity.content, *entity.aliases))
    known = {entity_identity(names[0]) for names in found}
    entities = [one.atom for one in engine.find(kinds=(ENTITY,), limit=1000, form="full")]
    tagged = [atom for atom in entities if atom and entity_identity(atom.content) in tags - known]
    return [*found, *((atom.content, *atom.aliases) for atom in tagged)]


def _canonical(names: Sequence[str], canonical: Mapping[str, str]) -> str:
    """Return the labelled name of an entity, or the entity's own name if no label is spelled like it."""
    known = (canonical[identity] for identity in map(entity_identity, names) if identity in canonical)
    return next(known, names[0])


def main() -> None:
    """Dream over each labelled memory and print the scores."""
    for memory in memories():
        with Engine.open("memory:") as engine:
            ids = add_labelled(engine, memory)
            engine.dream()
            scores = score_names(engine, ids, memory)
        for which, score in zip(("all names", "names of >= 2 atoms"), scores, strict=True):
            print(f"{memory.name}, {which}: precision {score.precision:.3f}, recall {score.recall:.3f}")


if __name__ == "__main__":
    main()
