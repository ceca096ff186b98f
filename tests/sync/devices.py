"""Devices of one family on one machine, each with a store in memory, that meet in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from backends.memory import MemoryBackend
from engine.engine import Engine
from engine.ledger.appender import Sources, random_salt
from engine.store.store import FamilySecrets, Store
from engine.sync.device import Device
from engine.sync.devices import head_files
from engine.sync.family_key import FamilyKey
from engine.sync.heads import read_signed
from engine.sync.packs import read_pack

START = 1_700_000_000_000_000


class Ticking:
    """A clock that advances by a second at each reading, from a time of its own."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        """Return the next time."""
        self.now += 1_000_000
        return self.now


class Family:
    """Devices that share a folder. Their keys are below XDG_CONFIG_HOME, which a fixture sets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.phrase = ""
        self.devices: dict[str, Engine] = {}

    def join(self, *names: str, clock: Callable[[], int] | None = None) -> list[Engine]:
        """Add devices with these names; the first one of all begins the family."""
        for name in names:
            backend, ticking = MemoryBackend(), clock or Ticking()
            if self.devices:
                first = next(iter(self.devices.values())).store.identity
                secrets = FamilySecrets(first.id_key, first.label_key)
                store = Store(backend, Sources(ticking, random_salt), secrets=secrets)
                own = store.identity
                Device(own.store_id.hex(), str(self.folder), name, [self.phrase], identity=own).create()
            self.devices[name] = Engine(backend, clock=ticking)
            if not self.phrase:
                self.phrase = self.devices[name].sync_init(self.folder, name=name)
        return [self.devices[name] for name in names]

    def place(self, name: str) -> Path:
        """Return the sub-folder of a device."""
        return self.folder / f"device-{self.devices[name].store.identity.store_id.hex()}"

    def exchange(self, devices: Iterable[Engine] | None = None) -> None:
        """Sync all devices until none of them has anything new, and check that this comes to an end."""
        several = list(devices or self.devices.values())
        for _ in range(2 * len(several) + 2):
            reports = [one.sync() for one in several]
            if not any(report.read or report.written for report in reports):
                return
        raise AssertionError("the devices never come to rest")


def texts(engine: Engine) -> list[str]:
    """Return the live texts, sorted."""
    return sorted(engine.get(atom.id).content for atom in engine.find(limit=1000))


def state(engine: Engine) -> dict[str, Any]:
    """Return what all devices must agree on after a full exchange."""
    return {
        "digest": engine.root(state=True).state,
        "hits": [(hit.id, hit.score) for hit in engine.recall("kettle oak gate", limit=20).hits],
        "live": sorted((atom.id, engine.get(atom.id).tags) for atom in engine.find(limit=1000)),
        "texts": texts(engine),
    }


def opened_folder(folder: Path, phrases: Iterable[str]) -> bytes:
    """Return everything in the packs of a folder that these phrases open, as one text."""
    keys, found = [FamilyKey.of(phrase) for phrase in phrases], b""
    for name, raw in head_files(folder):
        path, head = folder / f"device-{name}", read_signed(raw, bytes.fromhex(name), None).opened(keys)
        for writer, packs in head.packs.items():
            assert {one.name for one in packs} <= {one.name for one in path.iterdir()}
            parts = [read_pack(path, keys, writer, one) for one in packs]
            found += b"".join(record for part in parts if part for record in part.records)
    return found
