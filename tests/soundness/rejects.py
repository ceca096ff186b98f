"""The register of named rejects: functions that yield cases and whose docstrings state what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from tests.soundness.support import items, raw_id
from tests.soundness.wire import Case, Item, Plain, edited, parts_of, replaced

Cases = Iterator[Case]
REJECTS: dict[str, Callable[[], Cases]] = {}
"""The function that yields the cases of each reject, by its name, which begins with its number."""

ATOMS = 24
"""The number of atoms in the home store; paths in its trees have several nodes."""


def reject(make: Callable[[], Cases]) -> Callable[[], Cases]:
    """Register a named reject."""
    REJECTS[make.__name__.replace("_", "-")] = make
    return make


def home() -> Mapping[str, Item]:
    """Return the honest proofs of the store whose proofs are offered."""
    return items(ATOMS)


def elsewhere() -> Mapping[str, Item]:
    """Return the proofs of a store with the same atoms, another id and other salts."""
    return items(ATOMS, 1)


def later() -> Mapping[str, Item]:
    """Return the proofs of a store with more atoms, of which the first are the same."""
    return items(ATOMS + 8)


def offered(reason: str, item: Item, data: bytes | None = None, **other: Any) -> Case:
    """Return the case of a proof against its own claims and basis, or `other` ones."""
    shown = item._replace(data=item.data if data is None else data, **other)
    return Case(reason, "verify", [shown.data, shown.basis, shown.claims])


def changed(reason: str, item: Item, change: Callable[[Plain], object]) -> Case:
    """Return the case of a proof with a changed array against its own claims and basis."""
    data = edited(item, change)
    assert data != item.data, f"{item.name}: nothing was changed"
    return offered(reason, item, data)


def put(reason: str, item: Item, value: object, *path: int) -> Case:
    """Return the case of a proof with `value` at `path` against its own claims and basis."""
    return changed(reason, item, lambda parts: replaced(parts, value, *path))


def part(item: Item, *path: int) -> Any:
    """Return the item at `path` in a proof."""
    found: Any = parts_of(item.data)
    for at in path:
        found = found[at]
    return found


def cut(hashes: bytes, width: int = 32) -> list[bytes]:
    """Return the hashes in a byte string."""
    return [hashes[at : at + width] for at in range(0, len(hashes), width)]


@cache
def atom(number: int) -> bytes:
    """Return the id of an atom in the home store."""
    return raw_id(number)
