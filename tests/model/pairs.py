"""Translates each drawn operation into a command of the engine and a call of the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.base.validation import show_id
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
from engine.commands.facts import AppendFact, RecordForeignHead
from proofs.events import Origin
from tests.model.relating import RelatingReference
from tests.support.pulled import LOG_ROOT, Pulled

Op = tuple[str, tuple[Any, ...]]
Pair = tuple[Command, Callable[[], object]]


class Pairs:
    """Makes commands on the atoms of the reference."""

    model: RelatingReference

    def pair(self, op: Op) -> Pair:
        """Return the command and the equivalent call of the reference."""
        name, given = op
        return getattr(self, f"_{name}")(*given)  # type: ignore[no-any-return]

    def atom(self, number: int) -> bytes:
        """Return one of the existing atoms; 99 gives an unknown one."""
        atoms = list(self.model.atoms)
        return bytes([99] * 16) if number == 99 or not atoms else atoms[number % len(atoms)]

    def _add(
        self, text: str, name: str | None, key: str | None, fields: dict[str, Any], created: int | None
    ) -> Pair:
        given = fields | {"id": name, "key": key, "created": created}
        return Add(text, **given), lambda: self.model.add(text, **given)

    def _fact(self, kind: int, number: int | None, data: bytes) -> Pair:
        atom = None if number is None else self.atom(number)
        shown = None if atom is None else show_id(atom)
        return AppendFact(kind, shown, data), lambda: self.model.fact(kind, atom, data)

    def _early_fact(self, name: str, data: bytes) -> Pair:
        atom = bytes.fromhex(name.replace("-", ""))
        return AppendFact(33, name, data), lambda: self.model.fact(33, atom, data)

    def _saw(self, size: int, note: str | None) -> Pair:
        head = bytes(16), size, bytes(32), bytes([size & 255] * 32) if size & 1 else None, note
        return RecordForeignHead(*head), lambda: self.model.saw(*head)

    def _pulled(self, op: Op, time: int) -> Pair:
        origin = Origin(bytes([5] * 16), 3, 1, bytes([6] * 32), time)
        command, reference = self.pair(op)

        def with_origin() -> None:
            size = len(self.model.headers)
            self.model.origin = list(origin)
            try:
                reference()
            finally:
                self.model.origin = None
            if len(self.model.headers) > size:
                self.model.saw(origin.store_id, origin.seq + 1, LOG_ROOT, None, None)

        return Pulled(command, origin), with_origin

    def _revise(self, number: int, text: str | None, fields: dict[str, Any]) -> Pair:
        atom = self.atom(number)
        given = fields if text is None else fields | {"content": text}
        sorted_given = given | (
            {"buckets": tuple(sorted(set(given["buckets"])))} if "buckets" in given else {}
        )
        return Revise(show_id(atom), **given), lambda: self.model.revise(atom, **sorted_given)

    def _tombstone(self, number: int, reason: str) -> Pair:
        atom = self.atom(number)
        return Tombstone(show_id(atom), reason), lambda: self.model.hide(atom, reason, hidden=True)

    def _revive(self, number: int, reason: str) -> Pair:
        atom = self.atom(number)
        return Revive(show_id(atom), reason), lambda: self.model.hide(atom, reason, hidden=False)

    def _tag(self, number: int, tags: list[str]) -> Pair:
        atom = self.atom(number)
        return Tag(show_id(atom), tags), lambda: self.model.tag(atom, tuple(tags), there=True)

    def _untag(self, number: int, tags: list[str]) -> Pair:
        atom = self.atom(number)
        return Untag(show_id(atom), tags), lambda: self.model.tag(atom, tuple(tags), there=False)

    def _register(self, name: str) -> Pair:
        return RegisterType(name), lambda: self.model.register(name)

    def _link(self, first: int, kind: str, second: int, weight: float, data: bytes) -> Pair:
        src, dst = self.atom(first), self.atom(second)
        command = Link(show_id(src), kind, show_id(dst), weight, data)
        return command, lambda: self.model.link(src, kind, dst, weight, data)

    def _unlink(self, first: int, kind: str, second: int, reason: str) -> Pair:
        src, dst = self.atom(first), self.atom(second)
        return Unlink(show_id(src), kind, show_id(dst), reason), lambda: self.model.unlink(
            src, kind, dst, reason
        )

    def _merge(self, first: int, second: int, force: bool) -> Pair:
        keep, other = self.atom(first), self.atom(second)
        return Merge(show_id(keep), show_id(other), force), lambda: self.model.merge(keep, other, force=force)

    def _supersede(self, first: int, second: int, reason: str) -> Pair:
        old, new = self.atom(first), self.atom(second)
        command = Supersede(show_id(old), show_id(new), reason)
        return command, lambda: self.model.supersede(old, new, reason)

    def _unmerge(self, number: int) -> Pair:
        atom = self.atom(number)
        return Unmerge(show_id(atom)), lambda: self.model.unmerge(atom)

    def _relate(self, names: tuple[str, str], kind: str, number: int | None, weight: float) -> Pair:
        source = None if number is None else self.atom(number)
        said = None if source is None else show_id(source)
        command = Relate(names[0], kind, names[1], said, weight)
        return command, lambda: self.model.relate(names, kind, source, weight)

    def _unrelate(self, names: tuple[str, str], kind: str, reason: str) -> Pair:
        command = Unrelate(names[0], kind, names[1], reason)
        return command, lambda: self.model.unrelate(names, kind, reason)
