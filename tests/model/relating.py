"""A plain implementation of relations by name: entities, a predicate, an edge, and edges from the source."""

from __future__ import annotations

import unicodedata

import cbor2

from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from tests.model.merging import MergingReference
from tests.model.reference import HIDDEN


def key_of(name: str) -> str:
    """Return the key that all spellings of a name share."""
    seen = "".join(one for one in name if unicodedata.category(one) != "Cf")
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", seen).casefold())
    words = folded.replace("_", " ").replace("-", " ").split()
    return "entity:" + (" ".join(words) or folded)


class RelatingReference(MergingReference):
    """A reference that also relates entities by name."""

    def relate(self, names: tuple[str, str], kind: str, source: bytes | None, weight: float) -> None:
        """Add an edge between two entities, and `mentions` edges from the source to both."""
        if source is not None:
            self._live(source)
        src, dst = map(self._entity, names)
        if src == dst:
            raise InvalidInputError("one entity")
        self._join(src, kind, dst, weight, b"" if source is None else cbor2.dumps({"source": source}))
        for end in (src, dst):
            if source is not None:
                self.register("mentions")
                if end != source:
                    self._join(source, "mentions", end, 1.0, b"")

    def unrelate(self, names: tuple[str, str], kind: str, reason: str) -> None:
        """Remove the edge between the two entities."""
        src, dst = (self.default_id(name, key_of(name)) for name in names)
        if not {src, dst} <= self.atoms.keys():
            raise NotFoundError("never an entity")
        if src == dst:
            raise InvalidInputError("one entity")
        self.unlink(src, "_".join(kind.split()), dst, reason)

    def _join(self, src: bytes, kind: str, dst: bytes, weight: float, data: bytes) -> None:
        predicate = "_".join(kind.split())
        self.register(predicate)
        self.link(src, predicate, dst, weight, data)

    def _entity(self, name: str) -> bytes:
        atom = self.default_id(name, key_of(name))
        if atom not in self.atoms:
            return self.add(name, kind="entity", key=key_of(name))
        if self.atoms[atom].body["kind"] != "entity":
            raise ConflictError("an atom of another kind")
        if self.atoms[atom].state == HIDDEN:
            self.hide(atom, "related", hidden=False)
        return atom
