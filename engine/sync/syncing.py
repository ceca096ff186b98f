"""One sync of one device: read what is new in the folder, then write what is new here.

The folder has a sub-folder for each device, which only this device writes: packs, and a head that lists
them. Whatever else is in there is ignored, and a file that is missing is not there yet. A head replaces the
one before in one step, after its packs are durable. So a reader always sees whole packs, and a sync that was
broken off is continued by the next one. No lock is held in the folder, and no time of a file is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from backends.base import Reader
from engine.base import limits
from engine.base.errors import (
    ConflictError,
    EngineError,
    InconsistentError,
    NotFoundError,
    RefusedError,
    VerificationError,
    system_failure,
)
from engine.base.outside_files import PUBLIC, read_file, replace_file
from engine.ledger.heads import erasing
from engine.ledger.journal import earlier_headers, read_identity, read_log
from engine.ledger.layout import decode_header, journal_key
from engine.store.replay import Progress, no_progress
from engine.store.store import FamilySecrets, Store
from engine.sync.device import Device, KnownDevice
from engine.sync.family_key import UnknownKeyError
from engine.sync.heads import (
    HEAD,
    HEAD_BYTES_MAX,
    DeviceHead,
    SignedHead,
    encode_head,
    public_box_of,
    read_signed,
)
from engine.sync.originals import Head, Written, written
from engine.sync.packs import PREFIX, RAW_BYTES, Pack, is_whole, read_pack, write_pack
from engine.sync.taking_in import known_heads, take_in
from engine.sync.without_destroyed import without_destroyed
from engine.trust.notes.known_checkpoints import History
from engine.trust.notes.signing import Signer, SigningKey, load_key, signing
from engine.trust.proving.log_witnesses import LogPaths
from proofs.events import Header
from proofs.note import Checkpoint, format_note, origin_of

Packs = dict[bytes, list[Pack]]
"""The packs in one sub-folder by the store that wrote their events."""

_SUBFOLDER = re.compile("device-([0-9a-f]{32})")
_FULL_BYTES = 1 << 20
_SMALL_BYTES = 64 << 10
"""A pack of at least `_FULL_BYTES` is not written again, except for an erasure; of packs below `_SMALL_BYTES`
there is one."""


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """A device of the family, as this device sees it after a sync."""

    id: str
    """The id of its store."""
    name: str
    size: int
    """The number of events that it has put into the folder."""
    taken: int
    """How many of them this device has taken in, with those that it leaves out."""
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
        return tuple(f"{one.name or one.id}: {one.problem}" for one in self.devices if one.state == "refused")


class _Seen(NamedTuple):
    """The head of another device, and the hash of its file."""

    head: DeviceHead
    file: str


@dataclass(kw_only=True)
class Look:
    """A device and its folder, without its keys."""

    store: Store
    device: Device
    folder: Path
    said: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    """The state and the problem of a device."""
    done: dict[bytes, int] = field(default_factory=dict)
    """How many events of a store were handled, with those that were left out."""

    @property
    def own(self) -> Path:
        """The sub-folder of this device."""
        return self.folder / f"device-{self.device.store_id}"

    def is_current(self) -> bool:
        """Return True if nothing is new here or in the folder. The heads are compared, and not opened."""
        device = self.device
        if read_log(self.store.backend).size != device.size or device.taking:
            return False
        files = {store_id.hex(): file for store_id, file, _ in self._head_files()}
        if files.pop(device.store_id, "") != device.file:
            return False
        if any(name not in device.known or device.known[name].file != file for name, file in files.items()):
            return False
        return set(device.packs) <= {path.name for path in self.own.iterdir()}

    def _head_files(self) -> Iterator[tuple[bytes, str, bytes]]:
        """Yield the id of each device that has a head in the folder, the hash of the file, and its bytes."""
        for store_id, path in subfolders(self.folder):
            try:
                raw = read_file(path / HEAD, HEAD_BYTES_MAX)
            except NotFoundError:
                continue
            yield store_id, sha256(raw).hexdigest(), raw

    def devices(self) -> Iterator[DeviceReport]:
        """Yield what is known about each device, this one first."""
        own = bytes.fromhex(self.device.store_id)
        size = self.device.size
        yield DeviceReport(
            str(UUID(bytes=own)), self.device.name, size, size, "this device", self.said.get(own, ("", ""))[1]
        )
        for name, known in sorted(self.device.known.items(), key=lambda one: one[1].name):
            store_id = bytes.fromhex(name)
            state, problem = self.said.pop(
                store_id, ("removed" if name in self.device.removed else "up to date", "")
            )
            taken = self.done.get(store_id, known.size)
            yield DeviceReport(str(UUID(bytes=store_id)), known.name, known.size, taken, state, problem)
        for store_id, (state, problem) in self.said.items():
            if store_id != own:
                yield DeviceReport(str(UUID(bytes=store_id)), "", 0, 0, state, problem)


@dataclass(kw_only=True)
class Syncing(Look):
    """A sync of `store` through `folder`. Use `opened`."""

    signer: Signer
    key: SigningKey
    forget: Callable[[], None]
    """Empties the caches that depend on content; called if content was destroyed."""
    seen: dict[bytes, _Seen] = field(default_factory=dict)
    """The heads of the other devices that have news."""

    def run(self, actor: str, progress: Progress = no_progress) -> SyncReport:
        """Read what is new, then write what is new.

        Raises:
            ConflictError: Another copy of this store wrote to the folder. This one needs an id of its own.
            SystemFailureError: The folder or the store cannot be written.
        """
        own = self.own_head()
        self.read_heads()
        read = self._pull(progress)
        if self.device.taking:
            from engine.sync.old_texts import take_texts  # once in the life of a device

            read += take_texts(self.store, self.device.taking, actor)
            self.device.taking = ""
        wrote = self.publish(own)
        self.device.save()
        return SyncReport(str(self.folder), read, wrote, tuple(self.devices()))

    # Reading

    def read_heads(self, *, everything: bool = False) -> None:
        """Read the heads of all devices that have news or, with `everything`, of all devices."""
        unread: dict[bytes, tuple[SignedHead, str]] = {}
        for store_id, file, raw in self._head_files():
            known = self.device.known.get(store_id.hex(), KnownDevice())
            if store_id.hex() == self.device.store_id or (known.file == file and not everything):
                continue
            try:
                pinned = bytes.fromhex(known.public) if known.public else None
                unread[store_id] = read_signed(raw, store_id, pinned), file
            except EngineError as error:
                self.said[store_id] = "refused", f"its head cannot be read: {error}"
        while opened := [one for one in unread if self._open(one, *unread[one])]:
            for one in opened:
                del unread[one]
        for store_id in set(self.seen) & self.removed:
            del self.seen[store_id]
            self.said[store_id] = "removed", ""

    @property
    def removed(self) -> set[bytes]:
        """The devices that were removed."""
        return set(map(bytes.fromhex, self.device.removed))

    def _open(self, store_id: bytes, signed: SignedHead, file: str) -> bool:
        """Open a head. Return False if no key opens it; another head may have the key."""
        keys = self.device.keys
        pinned = self.device.known.get(store_id.hex())
        try:
            try:
                head = signed.opened(keys)
            except UnknownKeyError as error:
                # Only a device that is known here may change the family key.
                new = signed.new_key(bytes.fromhex(self.device.store_id), self.key.seed) if pinned else None
                if new is None or store_id in self.removed:
                    self.said[store_id] = "refused", f"its head cannot be read: {error}"
                    return False
                head = signed.opened([new])
                self.device.phrases.insert(0, new.phrase)
        except EngineError as error:
            self.said[store_id] = "refused", f"its head cannot be read: {error}"
            return True
        self.said.pop(store_id, None)
        for key in head.keys:
            if key.phrase not in self.device.phrases:
                self.device.phrases.append(key.phrase)
        for removed, size in head.removed.items():
            self.device.removed[removed.hex()] = max(size, self.device.removed.get(removed.hex(), 0))
        self.seen[store_id] = _Seen(head, file)
        return True

    def _pull(self, progress: Progress) -> int:
        """Take in what is new; return the number of events that were appended."""
        if not self.seen:
            return 0
        reading = self._readings()
        total, begun = sum(one.left for one in reading.values()), sum(one.at for one in reading.values())

        def moved() -> None:
            progress(sum(one.at for one in reading.values()) - begun, total)

        moved()
        while sum(one.step(moved) for one in reading.values()):
            pass  # what one store waited for may be there now
        self.done = {writer: one.at for writer, one in reading.items()}
        self.said |= {writer: one.problem for writer, one in reading.items() if one.problem}
        for store_id, (head, file) in self.seen.items():
            known = self.device.known.setdefault(store_id.hex(), KnownDevice())
            known.name, known.public = head.name, head.public.hex()
            known.size, known.log_root = head.size, head.log_root.hex()
            if not any(reading[writer].left for writer in head.packs if writer in reading):
                known.file = file
        return sum(one.appended for one in reading.values())

    def _readings(self) -> dict[bytes, _Reading]:
        """Return what is offered of each store, without the heads that contradict what was seen before."""
        known = known_heads(self.store)
        offers: dict[bytes, list[tuple[Path, Pack]]] = {}
        for store_id, (head, _) in list(self.seen.items()):
            if problem := self._contradiction(head, known.get(store_id)):
                self.said[store_id] = "refused", problem
                del self.seen[store_id]
                continue
            for writer, packs in head.packs.items():
                if writer.hex() != self.device.store_id:
                    place = self.folder / f"device-{store_id.hex()}"
                    offers.setdefault(writer, []).extend((place, one) for one in packs)
        return {
            writer: _Reading(self, writer, known[writer].size if writer in known else 0, several)
            for writer, several in sorted(offers.items())
        }

    def _contradiction(self, head: DeviceHead, journaled: Head | None) -> str:
        """Return how a head contradicts what was seen of its device before, or an empty text."""
        pinned = self.device.known.get(head.store_id.hex(), KnownDevice())
        before = [(pinned.size, pinned.log_root)]
        if journaled is not None:
            before.append((journaled.size, journaled.log_root.hex()))
        for size, root in before:
            if head.size < size:
                return f"it was rolled back: {size:,} events were seen before, and its head has {head.size:,}"
            if head.size == size and head.log_root.hex() != root:
                return f"it showed two histories of {size:,} events: two copies of it write"
        return ""

    # Writing

    def own_head(self) -> DeviceHead | None:
        """Return the own head in the folder, if it is there and is as it was written.

        Raises:
            ConflictError: It has events that this store does not have.
        """
        store_id = bytes.fromhex(self.device.store_id)
        head = None
        try:
            raw = read_file(self.own / HEAD, HEAD_BYTES_MAX)
            head = read_signed(raw, store_id, self.key.verifier.public).opened(self.device.keys)
        except NotFoundError:
            pass
        except EngineError as error:
            self.said[store_id] = "refused", f"its head in the folder is written anew: {error}"
        with self.store.view(self.store.log) as rows:
            size = read_log(rows).size
            ahead = max(self.device.size, 0 if head is None else head.size)
            forked = (
                head is not None
                and head.size <= size
                and LogPaths(rows, size).root(head.size) != head.log_root
            )
        if ahead > size or forked:
            what = (
                "another copy of this store writes to it, too"
                if forked
                else f"{ahead:,} events of it, of which this store has {size:,}: it is an older copy"
            )
            raise ConflictError(
                f"the folder has another history of this device: {what}",
                hint="`engine sync join FOLDER --take` makes this copy a device of its own; nothing is lost",
            )
        return head

    def publish(self, own: DeviceHead | None, carried: Packs | None = None) -> int:
        """Write the packs that are new or changed, then the head; return the number of new events.

        Args:
            own: The head that is in the folder.
            carried: The packs with the events of removed devices; None for those of `own`.
        """
        store_id = bytes.fromhex(self.device.store_id)
        published = own.size if own else 0
        packs = {writer: list(several) for writer, several in own.packs.items()} if own else {}
        packs |= carried or {}
        try:
            with self.store.view(self.store.log) as rows:
                size = read_log(rows).size
                root = LogPaths(rows, size).root(size)
                history = History(origin_of(store_id), size, {size: root, **self._signed_roots(rows)})
                gone = _destroyed(rows, published, size)
            self.own.mkdir(parents=True, exist_ok=True)
            start = _cut(packs.setdefault(store_id, []), published) if published < size else size
            for writer, several in packs.items():
                for at, one in enumerate(several):
                    if not is_whole(self.own, one) or any(
                        one.first <= seq < one.stop for store, seq in gone if store == writer
                    ):
                        several[at] = self._again(writer, one)
            while start < size:
                part = written(self.store, start, RAW_BYTES, size)
                packs[store_id].append(write_pack(self.own, self.device.keys[0], part))
                start = part.stop
            note = format_note(
                self.signer.sign(Checkpoint(origin_of(store_id), size, root), history)
            ).decode()
            self._write_head(
                own, {writer: tuple(several) for writer, several in packs.items()}, size, root, note
            )
        except OSError as error:
            raise system_failure(error, f"{self.own} cannot be written") from error
        return size - published

    def _write_head(
        self, own: DeviceHead | None, packs: dict[bytes, tuple[Pack, ...]], size: int, root: bytes, note: str
    ) -> None:
        device, identity = self.device, self.store.identity
        seen = {store: head.size for store, head in known_heads(self.store).items()}
        head = DeviceHead(
            identity.store_id, self.key.verifier.public, device.name, size, root, note,
            FamilySecrets(identity.id_key, identity.label_key), public_box_of(self.key.seed), packs, seen,
            tuple(device.keys[1:]), {bytes.fromhex(store): count for store, count in device.removed.items()},
        )  # fmt: skip
        if head != own:
            wrapped = [bytes.fromhex(one) for one in device.wrapped]
            raw = encode_head(head, device.keys[0], self.key.seed, wrapped)
            replace_file(self.own / HEAD, raw, PUBLIC)
            device.file = sha256(raw).hexdigest()
        device.size, device.packs = size, [one.name for several in packs.values() for one in several]
        for path in self.own.iterdir():
            # Packs that the head does not list any more, and what a broken-off sync left.
            left = path.name.startswith((PREFIX, f".{PREFIX}", f".{HEAD}."))
            if left and path.name not in device.packs:
                path.unlink(missing_ok=True)

    def _again(self, writer: bytes, pack: Pack) -> Pack:
        """Write a pack again, without the payloads that were destroyed since, and return the new one."""
        key = self.device.keys[0]
        if writer == self.store.identity.store_id:
            return write_pack(self.own, key, written(self.store, pack.first, 1 << 62, pack.stop))
        part = read_pack(self.own, self.device.keys, writer, pack)
        return pack if part is None else write_pack(self.own, key, without_destroyed(self.store, part))

    def _signed_roots(self, rows: Reader) -> dict[int, bytes]:
        """Return the root of the log at the size of the last note that the key of this device signed."""
        last = self.signer.last(origin_of(self.store.identity.store_id))
        size = read_log(rows).size
        if last is None or last.checkpoint.size > size:
            return {}
        return {last.checkpoint.size: LogPaths(rows, size).root(last.checkpoint.size)}


@contextmanager
def opened(
    store: Store, folder: str | Path | None = None, forget: Callable[[], None] = lambda: None
) -> Iterator[Syncing]:
    """Open the device of a store for a sync through `folder`, or through the folder that it joined.

    Another process with the same store waits until the block ends.

    Raises:
        NotFoundError: The store is not synchronised.
    """
    place = Device.read(store.identity.store_id)
    with signing(place.key_file) as signer:
        device = Device.read(store.identity.store_id)
        where = Path(folder or device.folder)
        key = load_key(device.key_file)
        yield Syncing(store=store, device=device, folder=where, signer=signer, key=key, forget=forget)


def sync(
    store: Store,
    folder: str | Path | None,
    actor: str,
    forget: Callable[[], None],
    progress: Progress = no_progress,
) -> SyncReport:
    """Read what is new in the folder, then write what is new here (see `Syncing.run`)."""
    device = Device.read(store.identity.store_id)
    look = Look(store=store, device=device, folder=Path(folder or device.folder))
    if look.is_current():
        return SyncReport(str(look.folder), 0, 0, tuple(look.devices()))
    with opened(store, folder, forget) as syncing:
        return syncing.run(actor, progress)


@dataclass
class _Reading:
    """Takes in the events of one store, pack by pack, from all sub-folders that offer them."""

    syncing: Syncing
    writer: bytes
    size: int
    """How many events were taken in."""
    offers: list[tuple[Path, Pack]]
    at: int = 0
    """How many events were handled, with those at the end that are left out."""
    problem: tuple[str, str] | None = None
    appended: int = 0

    def __post_init__(self) -> None:
        self.at = self.size

    @property
    def left(self) -> int:
        """The number of events that are offered and were not handled."""
        return max(max(one.stop for _, one in self.offers) - self.at, 0)

    def step(self, moved: Callable[[], None]) -> bool:
        """Take in what is there; return True if there was something to take in."""
        if not self.left or (self.problem is not None and self.problem[0] == "refused"):
            return False
        before, self.problem = self.size, None
        try:
            taken = take_in(self.syncing.store, self._parts(moved))
        except InconsistentError as error:
            self.problem = "refused", f"{error}: two copies of it write, or it was rolled back"
            return False
        except (VerificationError, RefusedError) as error:
            self.problem = "refused", str(error)
            return False
        self.size, self.appended = max(taken.size, self.size), self.appended + taken.events
        if taken.erased:
            self.syncing.forget()
        if taken.waits is not None:
            self.at = self.size
            other = self.syncing.device.known.get(taken.waits[0].hex())
            name = other.name if other else str(UUID(bytes=taken.waits[0]))
            self.problem = "waiting", f"it waits for {taken.waits[1]:,} events of {name}"
        return self.size > before

    def _parts(self, moved: Callable[[], None]) -> Iterator[Written]:
        self.at = self.size
        while offered := [one for one in self.offers if one[1].first <= self.at < one[1].stop]:
            folder, pack = max(offered, key=lambda one: one[1].stop)
            part = read_pack(folder, self.syncing.device.keys, self.writer, pack)
            if part is None:
                self.problem = "waiting", f"{folder / pack.name} is not here yet"
                return
            yield part
            self.at = pack.stop
            moved()


def subfolders(folder: Path) -> Iterator[tuple[bytes, Path]]:
    """Yield the id and the sub-folder of each device, in ascending order.

    Raises:
        NotFoundError: The folder is not there.
        SystemFailureError: It cannot be read.
    """
    try:
        found = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"there is no folder {folder}", hint="is it mounted?") from None
    except OSError as error:
        raise system_failure(error, f"{folder} cannot be read") from error
    for path in found:
        if match := _SUBFOLDER.fullmatch(path.name):
            yield bytes.fromhex(match[1]), path


def _cut(packs: list[Pack], published: int) -> int:
    """Drop packs that are to be written again, and return the seq from which on new packs are written.

    Packs at the end that are small in comparison with what follows are written again, in one. So there are
    few packs, and an event is written a few times at most.
    """
    start, weight = published, _SMALL_BYTES
    while packs and packs[-1].size <= min(weight, _FULL_BYTES):
        weight += packs[-1].size
        start = packs.pop().first
    return start


def _destroyed(rows: Reader, first: int, stop: int) -> set[tuple[bytes, int]]:
    """Return the dots of earlier events whose payloads the events from `first` up to `stop` destroyed."""
    own, found = read_identity(rows).store_id, set[tuple[bytes, int]]()
    stored = rows.scan(journal_key(first), journal_key(stop)) if first else iter(())
    while run := list(islice(stored, limits.FOLLOW_EVENTS_MAX)):
        for at in erasing([raw for _, raw in run]):
            header = decode_header(run[at][1], int.from_bytes(run[at][0][-8:], "big"))
            found.update(dot_of(one, own) for one in earlier_headers(rows, header))
    return found


def dot_of(header: Header, own: bytes) -> tuple[bytes, int]:
    """Return the store and the seq of the event that a header records; `own` is the store of the header."""
    return (header.origin.store_id, header.origin.seq) if header.origin else (own, header.seq)
