"""The register of named rejects: each a function whose docstring is the statement, and its cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from tests.soundness.support import items, raw_id
from tests.soundness.wire import Case, Item, Plain, edited, parts_of, replaced

Cases = Iterator[Case]
REJECTS: dict[str, Callable[[], Cases]] = {}
"""Name, beginning with its number, to what makes its cases."""

ATOMS = 24
"""In the store whose proofs are offered; its trees have ways of several nodes."""


def reject(make: Callable[[], Cases]) -> Callable[[], Cases]:
    """Enter a named reject."""
    REJECTS[make.__name__.replace("_", "-")] = make
    return make


def home() -> Mapping[str, Item]:
    """The honest proofs of the store at home."""
    return items(ATOMS)


def elsewhere() -> Mapping[str, Item]:
    """Those of a store with the same atoms, another id and other salts."""
    return items(ATOMS, 1)


def later() -> Mapping[str, Item]:
    """Those of a store with more atoms, of which the first are the same."""
    return items(ATOMS + 8)


def offered(reason: str, item: Item, data: bytes | None = None, **other: Any) -> Case:
    """A proof verified against its own claims and basis, or `other` ones."""
    shown = item._replace(data=item.data if data is None else data, **other)
    return Case(reason, "verify", [shown.data, shown.basis, shown.claims])


def changed(reason: str, item: Item, change: Callable[[Plain], object]) -> Case:
    """A proof whose array was changed, verified against its own claims and basis."""
    data = edited(item, change)
    assert data != item.data, f"{item.name}: nothing was changed"
    return offered(reason, item, data)


def put(reason: str, item: Item, value: object, *path: int) -> Case:
    """A proof with `value` where `path` leads to, verified against its own claims and basis."""
    return changed(reason, item, lambda parts: replaced(parts, value, *path))


def part(item: Item, *path: int) -> Any:
    """What stands at `path` in a proof."""
    found: Any = parts_of(item.data)
    for at in path:
        found = found[at]
    return found


def cut(hashes: bytes, width: int = 32) -> list[bytes]:
    """The hashes in a byte string."""
    return [hashes[at : at + width] for at in range(0, len(hashes), width)]


@cache
def atom(number: int) -> bytes:
    """The id of an atom at home."""
    return raw_id(number)
