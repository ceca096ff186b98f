"""What a device tells about its family, and the removal of a device."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.base import Reader, prefix_end
from engine.base.errors import ConflictError, NotFoundError, system_failure
from engine.base.validation import show_id
from engine.ledger.journal import earlier_headers, read_header, read_log
from engine.ledger.layout import ERASURE, decode_seq
from engine.ledger.merging import dot_of
from engine.store.store import Store
from engine.sync.device import Device
from engine.sync.devices import SUBFOLDER, DeviceReport, reports
from engine.sync.family_key import FamilyKey
from engine.sync.heads import wrapped_for
from engine.sync.packs import read_pack, write_pack
from engine.sync.syncing import Packs, Syncing, opened
from engine.sync.taking_in import known_heads
from engine.sync.without_destroyed import without_destroyed
from proofs.leaves import ID_BYTES

ID_DIGITS = 4
"""The least number of digits of an id that name a device."""


@dataclass(frozen=True, slots=True)
class UnfinishedErasure:
    """An erasure that some devices have not carried out yet, as far as this device knows."""

    id: str
    """The erased atom."""
    done: int
    """The number of devices on which the text is destroyed."""
    devices: int
    packs: tuple[str, ...]
    """The packs in the folder that may still contain the text. Their writers remove it at their next sync."""


@dataclass(frozen=True, slots=True)
class SyncStatus:
    """What a sync would do, and which erasures are not carried out everywhere."""

    folder: str
    unwritten: int
    """The number of events that are not in the folder yet."""
    devices: tuple[DeviceReport, ...]
    erasures: tuple[UnfinishedErasure, ...]


def status(store: Store, folder: str | Path | None = None) -> SyncStatus:
    """Return what a sync would do. Nothing is written.

    Raises:
        NotFoundError: The store is not synchronised, or the folder is not there.
    """
    with opened(store, folder) as syncing:
        syncing.read_heads(everything=True)
        known = known_heads(store)
        for name, head in syncing.heads.items():
            saved = syncing.device.known.get(name)
            if saved is None or saved.file != syncing.files[name]:
                taken = known[head.store_id].size if head.store_id in known else 0
                syncing.said[name] = "news", f"{max(head.size - taken, 0):,} events are not read yet"
        with store.view() as rows:
            unwritten = read_log(rows).size - syncing.device.size
            erasures = tuple(_unfinished(rows, syncing))
        return SyncStatus(
            str(syncing.folder), unwritten, tuple(reports(syncing.device, syncing.said)), erasures
        )


def _unfinished(rows: Reader, syncing: Syncing) -> Iterator[UnfinishedErasure]:
    own, heads = syncing.store.identity.store_id, syncing.heads.values()
    for key, value in rows.scan(ERASURE, prefix_end(ERASURE)):
        if len(key) != len(ERASURE) + ID_BYTES:
            continue  # an edge, which its atom erased
        erased, _ = read_header(rows, decode_seq(value, "erasure"))
        writer, seq = dot_of(erased, own)
        late = [one for one in heads if one.store_id != writer and one.seen.get(writer, 0) <= seq]
        mine = erased.seq >= syncing.device.size
        if late or mine:
            dots = {dot_of(one, own) for one in earlier_headers(rows, erased)}
            packs = {
                f"{SUBFOLDER}{one.store_id.hex()}/{pack.name}"
                for one in late
                for store, several in one.packs.items()
                for pack in several
                if any(pack.first <= at < pack.stop for by, at in dots if by == store)
            }
            atom, count = show_id(key[len(ERASURE) :]), 1 + len(heads)
            yield UnfinishedErasure(atom, count - len(late), count, tuple(sorted(packs)))


def remove(syncing: Syncing, name: str, actor: str, **options: Any) -> str:
    """Remove a device from the family, and return the new phrase.

    What is here of its events stays in the family: they are packed again in the sub-folder of this device,
    without texts that were erased. The sub-folder of the removed device is deleted. The key of the family
    changes; the devices that stay find the new one in the head of this device.

    Args:
        syncing: The device that removes the other one.
        name: The name of the other device, or the beginning of its id.
        actor: The author of what the sync before the removal adds.
        options: Arguments of the sync.

    Raises:
        NotFoundError: There is no such device, or there are several.
        ConflictError: A pack of the device is not here yet, so its events would be lost; or this device was
            removed itself.
    """
    syncing.run(actor, **options)
    device = syncing.device
    if syncing.excluded:
        raise ConflictError(f"this device cannot remove another one: {syncing.said[device.store_id][1]}")
    gone = _named(device, name)
    syncing.read_heads(everything=True)
    own, head = syncing.own_head(), syncing.heads.pop(gone, None)
    if head and device.known[gone].file != syncing.files[gone]:
        raise ConflictError(
            f"not everything of {name!r} is read yet: {syncing.said.get(gone, ('', 'sync again'))[1]}",
            hint="what nobody has read of it would be lost; to accept that, delete its sub-folder first",
        )
    place, key = syncing.folder / f"{SUBFOLDER}{gone}", FamilyKey.new()
    try:
        carried: Packs = {}
        for writer, packs in head.packs.items() if head else ():
            for pack in packs:
                part = read_pack(place, device.keys, writer, pack)
                if part is None:
                    raise ConflictError(
                        f"{place / pack.name} is not here yet",
                        hint="wait until the folder is complete, so that nothing of the device is lost",
                    )
                small = without_destroyed(syncing.store, part)
                carried.setdefault(writer, []).append(write_pack(syncing.own, key, small))
        device.removed.append(gone)
        device.phrases.insert(0, key.phrase)
        device.wrapped = [wrapped_for(one.store_id, one.box, key).hex() for one in syncing.heads.values()]
        # The keys are saved first: a head that nobody could open would be lost.
        device.save()
        syncing.publish(own, carried)
        device.save()
        shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        raise system_failure(error, f"{syncing.own} cannot be written") from error
    return key.phrase


def _named(device: Device, name: str) -> str:
    """Return the id of the device with this name or beginning of the id, as 32 hex digits."""
    digits = name.replace("-", "").lower()
    names = {one: known.name for one, known in device.known.items() if one not in device.removed}
    names[device.store_id] = device.name
    found = [one for one in names if names[one] == name]
    found = found or [one for one in names if len(digits) >= ID_DIGITS and one.startswith(digits)]
    if len(found) != 1 or found == [device.store_id]:
        raise NotFoundError(
            f"{len(found)} devices are named {name!r}"
            if len(found) > 1
            else f"there is no other device {name!r}",
            hint="`engine sync devices` lists them; the id names one of several, and none removes itself",
        )
    return found[0]
