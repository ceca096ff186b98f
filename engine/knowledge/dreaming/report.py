"""What one cycle of the dreamer did."""

from __future__ import annotations

from dataclasses import dataclass

from engine.query.duplicates import DuplicateGroup


@dataclass(frozen=True, slots=True)
class DreamReport:
    """What one cycle did, or with `dry_run` would have done."""

    read: int
    """Atoms that names were learned from."""
    looked_at: int
    """Atoms that were looked at for what they are about."""
    tagged: int
    """Atoms that got a tag."""
    tags: int
    """Tags added, over all of them."""
    entities: tuple[str, ...]
    """The names of the entities added, in the order of their being learned."""
    known: int
    """Names that are known now, those of people included."""
    mentions: int
    """Edges `mentions` added."""
    relations: int
    """Edges `related_to` added between entities."""
    duplicates: tuple[DuplicateGroup, ...]
    """Groups of near-duplicates. They are listed only: who wants them merged says so."""
    left: int
    """Atoms that the next cycle has to look at; 0 when everything is done."""
    dry_run: bool

    @property
    def done(self) -> bool:
        """Whether nothing is left for another cycle."""
        return not self.left

    @property
    def changes(self) -> int:
        """Tags, entities and edges added."""
        return self.tags + len(self.entities) + self.mentions + self.relations
