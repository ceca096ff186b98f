"""Making a store the first device of a family, and joining a family with a new store."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from backends import locate, open_backend, store_exists
from backends.files import fsync_path
from engine.base.errors import (
    ConflictError,
    EngineError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    system_failure,
)
from engine.base.outside_files import refuse_inside
from engine.ledger.appender import Sources, random_salt
from engine.ledger.journal import Identity, read_identity, read_log
from engine.store.store import Store
from engine.sync.device import Device
from engine.sync.devices import head_files
from engine.sync.family_key import FamilyKey
from engine.sync.heads import NAME_BYTES_MAX, DeviceHead, read_signed

if TYPE_CHECKING:
    from backends.sealed.seal import Seal

ASIDE = ".before-join"
"""What is added to the path of a store that makes room for the store of a device."""


def begin(store: Store, folder: str | Path, name: str | None) -> str:
    """Make a store the first device of a family in `folder`, and return the phrase for the others.

    Raises:
        ConflictError: The store is a device already, or the folder has devices of another family.
        InvalidInputError: The name of the device or of the folder is not valid.
    """
    place = _checked(folder)
    try:
        known: Device | None = Device.read(store.identity)
    except NotFoundError:
        known = None
    if known is not None and Path(known.folder) != place:
        raise ConflictError(f"this memory is synchronised already, through {known.folder}")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise system_failure(error, f"{place} cannot be made") from error
    if known is not None:
        return known.phrases[0]
    if any(head_files(place)):
        raise ConflictError(f"{place} has devices already", hint="`engine sync join FOLDER` joins them")
    phrase = FamilyKey.new().phrase
    identity = store.identity
    Device(identity.store_id.hex(), str(place), _name(name), [phrase], identity=identity).create()
    return phrase


def join(
    url: str,
    folder: str | Path,
    ask: Callable[[], str],
    name: str | None,
    clock: Callable[[], int],
    *,
    take: bool,
) -> str:
    """Make a new store at `url` a device of the family in `folder`. A sync does the rest.

    If the store that is there is a device already, it gets the new phrase of the family instead; with `take`,
    it is replaced by a new device, because another copy of it writes, too, or because it is an older copy.
    A call with `take` that was broken off is continued by the next one.

    Args:
        url: The place of the store, which must be empty unless `take` is true.
        folder: The folder with the devices of the family.
        ask: Returns the phrase of the family. It is not called if the phrase is known here.
        name: The name of the device; None for the name of the machine.
        clock: Returns the present time in µs since 1970.
        take: Keep the store that is there under another name; the next sync adds its texts.

    Returns:
        The path of the store that was kept under another name, or an empty text.

    Raises:
        InvalidInputError: The phrase is wrong.
        NotFoundError: No device in the folder has this phrase.
        RefusedError: The store is not empty and `take` is false, or it cannot be moved.
    """
    place = _checked(folder)
    size, identity, device = _there(url)
    known = device.keys[:1] if device is not None and take else []
    key, heads = _heads_of_family(place, known, ask)
    phrase, head = key.phrase, heads[0]
    if device is not None and (not take or device.taking):
        device.phrases = list(dict.fromkeys([phrase, *device.phrases]))
        device.folder = str(place)
        device.save()
        return device.taking
    if size > 1 and not take:
        raise RefusedError(
            f"the store has {size:,} events already",
            hint="--take keeps it under another name and adds its texts; --store names another place",
        )
    aside = _left_aside(url) if identity is None or identity.id_key == head.secrets.id_key else None
    if aside is not None and not take and size <= 1:
        raise RefusedError(
            f"a broken-off join left {aside}",
            hint="--take adds its texts; or move it, if they are not needed",
        )
    if size > 1 or (size and aside is None):
        aside = _moved_aside(url)
    # What takes the place of a sealed store is sealed under the same key.
    with open_backend(url, create=True, key=None if aside is None else _seal_of(str(aside))) as backend:
        made = Store(backend, Sources(clock, random_salt), secrets=head.secrets)
        keys = [phrase, *(one.phrase for one in head.keys)]
        taking = str(aside) if aside is not None and take else ""
        own = made.identity
        Device(
            own.store_id.hex(),
            str(place),
            _name(name, {one.name for one in heads}),
            keys,
            taking=taking,
            identity=own,
        ).create()
    return taking


def _checked(folder: str | Path) -> Path:
    place = Path(folder).expanduser().absolute()
    refuse_inside(place, None, "name a folder outside every store")
    return place


def _name(name: str | None, others: Collection[str] = ()) -> str:
    """Return the name of a device; if none is given, that of the machine, and none of `others`."""
    given = usual = name or platform.node().partition(".")[0] or "device"
    number = 1
    while name is None and given in others:
        number += 1
        given = f"{usual}-{number}"
    if len(given.encode()) > NAME_BYTES_MAX or not given.isprintable():
        raise InvalidInputError(f"the name of a device has at most {NAME_BYTES_MAX} bytes, in one line")
    return given


def _there(url: str) -> tuple[int, Identity | None, Device | None]:
    """Return the number of events of the store at `url`, 0 if none, its identity, and its device."""
    if not store_exists(url):
        return 0, None, None
    with open_backend(url, create=False) as backend:
        size = read_log(backend).size
        identity = read_identity(backend) if size else None
        try:
            return size, identity, Device.read(identity) if identity else None
        except NotFoundError:
            return size, identity, None


def _heads_of_family(
    folder: Path, known: list[FamilyKey], ask: Callable[[], str]
) -> tuple[FamilyKey, list[DeviceHead]]:
    """Return the newest key of the family, and the heads that it opens. Ask if no known key opens one."""
    for key in (*known, None):
        key = key or FamilyKey.of(ask())
        heads, problem = [], ""
        for name, raw in head_files(folder):
            try:
                heads.append(read_signed(raw, bytes.fromhex(name), None).opened([key]))
            except EngineError as error:
                problem = f": {error}"
        if heads:
            return key, heads
    raise NotFoundError(
        f"no device in {folder} has this phrase{problem}",
        hint="was the folder copied completely? After a device was removed, there is a new phrase",
    )


def _seal_of(url: str) -> Seal | None:
    with open_backend(url, create=False) as backend:
        return backend.seal


def _own_file(url: str) -> Path | None:
    """Return the path of a store that is a file or folder of its own, and so can be moved."""
    location = locate(url)
    return None if location.shared else location.file


def _aside(place: Path) -> Path:
    return place.with_name(place.name + ASIDE)


def _left_aside(url: str) -> Path | None:
    """Return the store that a broken-off `join` moved, or None."""
    place = _own_file(url)
    return _aside(place) if place is not None and _aside(place).exists() else None


def _moved_aside(url: str) -> Path:
    place = _own_file(url)
    if place is None:
        raise RefusedError(
            "a store in a database or in memory cannot be moved", hint="join with an empty store"
        )
    aside = _aside(place)
    if aside.exists():
        raise RefusedError(
            f"{aside} is in the way",
            hint="an earlier --take kept it and the next sync added its texts; move it",
        )
    try:
        place.rename(aside)
        fsync_path(aside.parent)
    except OSError as error:
        raise system_failure(error, f"{place} cannot be moved") from error
    return aside
