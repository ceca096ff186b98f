"""Stores for tests to damage, and what a rescue makes of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backends import open_backend
from engine.commands import Add
from engine.engine import Engine
from engine.exchange.rescue.rescue_run import Rescued, rescue
from engine.trust.audit.verify import verify
from tests.exchange.support import atoms_of
from tests.support.engines import put_rows, salt_of, ticking
from tests.support.workloads import id_of

ATOMS = 40


def opened(url: str) -> Engine:
    """Open a store whose bytes depend only on the commands."""
    return Engine.open(url, clock=ticking(), salts=salt_of)


def made(url: str, atoms: int = ATOMS) -> str:
    """Create a store of `atoms` atoms, added ten at a time, and close it. Return the overall root."""
    added = [Add(text_of(number), id=id_of(number), tags=["red"]) for number in range(atoms)]
    with opened(url) as engine:
        for at in range(0, atoms, 10):
            engine.apply(added[at : at + 10])
        return engine.root().root


def text_of(number: int) -> str:
    """Return the content of an atom."""
    return f"the kettle number {number} " + "is descaled in spring " * (number % 7)


@contextmanager
def unchanged(place: Path) -> Iterator[None]:
    """Check that the block changes no file at `place`: neither its name nor its bytes."""
    before = digests(place)
    yield
    assert digests(place) == before


def digests(place: Path) -> dict[str, str]:
    """Return the hashes of all files of a store: of a folder, or of the files that begin with a name."""
    files = place.rglob("*") if place.is_dir() else place.parent.glob(f"{place.name}*")
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()}


def rescued(url: str, place: Path, *, erase_lost: bool = False) -> tuple[Rescued, str]:
    """Rescue the store and check the new one. Return the report and the URL of the new store."""
    new = f"{url.partition(':')[0].partition('+')[0]}:{place.parent / 'new-store'}"
    with unchanged(place):
        found = rescue(url, new, erase_lost=erase_lost)
    with open_backend(new, create=False) as backend:
        report = verify(backend, expect=found.root)
    assert report.ok, report.differences
    assert report.size == found.size
    return found, new


def contents_in(url: str) -> dict[str, str]:
    """Return id → content of the live atoms that `made` may have added."""
    with Engine.open(url, create=False) as engine:
        return {atom.id: atom.content for atom in atoms_of(engine)}


def change_rows(url: str, changes: dict[bytes, bytes | None]) -> None:
    """Change rows of a closed store, without the engine. The earlier values are removed from its files."""
    with open_backend(url, create=False) as backend:
        put_rows(backend, changes)
        backend.purge()


def read_row(url: str, key: bytes) -> bytes:
    """Return the value of a row of a closed store."""
    with open_backend(url, create=False) as backend:
        return backend.get(key) or b""


def flipped(raw: bytes, at: int, bit: int = 3) -> bytes:
    """Return `raw` with one bit changed."""
    changed = bytearray(raw)
    changed[at] ^= 1 << bit
    return bytes(changed)
