"""A method for each command, for whoever wants one thing at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

from engine.base.model import Receipt
from engine.commands import (
    Add,
    Command,
    Link,
    Merge,
    RegisterType,
    Relate,
    Revise,
    Revive,
    Supersede,
    Tag,
    Tombstone,
    Unlink,
    Unmerge,
    Unrelate,
    Untag,
)
from engine.commands.edges import TypeName
from engine.reading import Reading

if TYPE_CHECKING:
    from engine.arguments import AddFields, ReviseFields


class Shorthands(Reading):
    """What `Engine` can be told in one call; each is one command, durable when it returns."""

    @abstractmethod
    def apply(
        self, commands: Iterable[Command], *, actor: str | None = None, if_head: int | None = None
    ) -> list[Receipt]:
        """Carry out commands, all of them or none."""

    def add(self, content: str, **fields: Unpack[AddFields]) -> Receipt:
        """Have an atom with this content; `fields` are those of `engine.Add`."""
        return self.apply([Add(content, **fields)])[0]

    def revise(self, id: str, **fields: Unpack[ReviseFields]) -> Receipt:  # noqa: A002  what every caller calls it
        """Have the atom say something else; `fields` are those of `engine.Revise`."""
        return self.apply([Revise(id, **fields)])[0]

    def tombstone(self, id: str, reason: str = "") -> Receipt:  # noqa: A002
        """Have the atom hidden everywhere, and kept."""
        return self.apply([Tombstone(id, reason)])[0]

    def revive(self, id: str, reason: str = "", *, force: bool = False) -> Receipt:  # noqa: A002
        """Have a tombstoned atom back; with `force`, also where its content was erased elsewhere."""
        return self.apply([Revive(id, reason, force)])[0]

    def tag(self, id: str, *tags: str) -> Receipt:  # noqa: A002
        """Have these tags on the atom."""
        return self.apply([Tag(id, tags)])[0]

    def untag(self, id: str, *tags: str) -> Receipt:  # noqa: A002
        """Have none of these tags on the atom."""
        return self.apply([Untag(id, tags)])[0]

    def register_type(self, name: str) -> Receipt:
        """Have a predicate of this name, to use as an edge type."""
        return self.apply([RegisterType(name)])[0]

    def link(self, src: str, type: TypeName, dst: str, weight: float = 1.0, data: bytes = b"") -> Receipt:  # noqa: A002
        """Have this edge."""
        return self.apply([Link(src, type, dst, weight, data)])[0]

    def unlink(self, src: str, type: TypeName, dst: str, reason: str = "") -> Receipt:  # noqa: A002
        """Have this edge hidden, and kept."""
        return self.apply([Unlink(src, type, dst, reason)])[0]

    def relate(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002
        *,
        source: str | None = None,
        weight: float = 1.0,
        force: bool = False,
    ) -> Receipt:
        """Have two entities joined by a predicate; names of new ones make them (`engine.Relate`)."""
        return self.apply([Relate(subject, predicate, object, source, weight, force)])[0]

    def unrelate(self, subject: str, predicate: str, object: str, reason: str = "") -> Receipt:  # noqa: A002
        """Have such an edge between two entities hidden, and kept."""
        return self.apply([Unrelate(subject, predicate, object, reason)])[0]

    def merge(self, keep: str, other: str, *, force: bool = False) -> Receipt:
        """Have the atom `keep` stand for its near-duplicate `other`; with `force`, for whatever that says."""
        return self.apply([Merge(keep, other, force)])[0]

    def unmerge(self, other: str, *, force: bool = False) -> Receipt:
        """Have an atom that was merged back, and off the kept one what it gained by that."""
        return self.apply([Unmerge(other, force)])[0]

    def supersede(self, old: str, new: str, reason: str = "") -> Receipt:
        """Have the atom `new` stand for `old`, which is kept and no longer recalled."""
        return self.apply([Supersede(old, new, reason)])[0]
