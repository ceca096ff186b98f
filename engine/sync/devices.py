"""Whether a device has anything to do, and what it says about the devices of its family.

This is what a process needs whose settings name a folder in which nothing is new, so it loads little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from engine.base.errors import EngineError, NotFoundError, system_failure
from engine.base.outside_files import read_file
from engine.base.validation import show_id
from engine.ledger.journal import Identity, read_log
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.sync.device import Device, KnownDevice

SUBFOLDER = "device-"
_DEVICE = re.compile(f"{SUBFOLDER}[0-9a-f]{{32}}").fullmatch
HEAD = "head"
HEAD_BYTES_MAX = 16 << 20
REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """A device of the family, as this device sees it after a sync."""

    id: str
    """The id of its store."""
    name: str
    size: int
    """The number of events that it has put into the folder, as far as they were seen here."""
    state: str
    """`this device`, `up to date`, `waiting`, `refused` or `removed`."""
    problem: str = ""
    """What it waits for, or why it was refused."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did."""

    folder: str
    read: int
    """The number of events that were appended here."""
    written: int
    """The number of events of this store that were put into the folder."""
    devices: tuple[DeviceReport, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """What was refused. Everything else was done."""
        return tuple(f"{one.name or one.id}: {one.problem}" for one in self.devices if one.state == REFUSED)


def sync(
    store: Store,
    folder: str | Path | None,
    actor: str,
    forget: Callable[[], None],
    progress: Progress = no_progress,
) -> SyncReport:
    """Read what is new in the folder, then write what is new here (`engine.sync.syncing.Syncing.run`)."""
    device = Device.read(store.identity)
    where = Path(folder or device.folder)
    if is_current(store, device, where):
        return SyncReport(str(where), 0, 0, tuple(reports(device, {})))
    from engine.sync.syncing import opened  # takes longer than all of the above

    with opened(store, where, forget) as syncing:
        return syncing.run(actor, progress)


def is_current(store: Store, device: Device, folder: Path) -> bool:
    """Return True if nothing is new here or in the folder. The heads are compared, and not opened.

    Raises:
        NotFoundError: The folder is not there.
    """
    handled = {name: known.file for name, known in device.known.items()} | {device.store_id: device.file}
    found = {name: sha256(raw).hexdigest() for name, raw in head_files(folder)}
    return (
        device.store_id in found
        and found.items() <= handled.items()
        and read_log(store.backend).size == device.size
        and set(device.packs) <= {path.name for path in (folder / f"{SUBFOLDER}{device.store_id}").iterdir()}
        and not device.taking
    )


def reports(device: Device, said: Mapping[str, tuple[str, str]]) -> Iterator[DeviceReport]:
    """Yield what is known about each device, this one first. `said` has states and problems by device."""
    yield DeviceReport(
        show_id(bytes.fromhex(device.store_id)), device.name, device.size,
        *said.get(device.store_id, ("this device", "")),
    )  # fmt: skip
    for name in sorted(device.known.keys() | said.keys() - {device.store_id}):
        known = device.known.get(name, KnownDevice())
        usual = "removed" if name in device.removed else "up to date"
        yield DeviceReport(show_id(bytes.fromhex(name)), known.name, known.size, *said.get(name, (usual, "")))


def device_names(identity: Identity) -> dict[str, str]:
    """Return the names of the devices by the ids of their stores; none if the store is not synchronised."""
    try:
        device = Device.read(identity)
    except NotFoundError:
        return {}
    return {one.id: one.name for one in reports(device, {})}


def head_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the id of each device, as 32 hex digits, in ascending order, and the bytes of its head.

    Raises:
        NotFoundError: The folder is not there.
        SystemFailureError: It cannot be read.
    """
    try:
        names = sorted(path.name.removeprefix(SUBFOLDER) for path in folder.iterdir() if _DEVICE(path.name))
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"there is no folder {folder}", hint="is it mounted?") from None
    except OSError as error:
        raise system_failure(error, f"{folder} cannot be read") from error
    for name in names:
        try:
            yield name, read_file(folder / f"{SUBFOLDER}{name}" / HEAD, HEAD_BYTES_MAX)
        except NotFoundError:
            pass  # it is not there yet
        except EngineError:
            yield name, b""  # what is no file, or too large, is refused like an altered file
