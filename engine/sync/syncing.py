"""One sync of one device: read what is new in the folder, then write what is new here.

The folder has a sub-folder for each device, which only this device writes: packs, and a head that lists
them. Whatever else is in there is ignored, and a file that is missing is not there yet. A head replaces the
one before in one step, after its packs are durable. So a reader always sees whole packs, and a sync that was
broken off is continued by the next one. No lock is held in the folder, and no time of a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from backends.base import Reader
from engine.base.errors import (
    ConflictError,
    EngineError,
    InconsistentError,
    NotFoundError,
    RefusedError,
    SystemFailureError,
    VerificationError,
    system_failure,
)
from engine.base.outside_files import PUBLIC, read_file, replace_file
from engine.base.validation import show_id
from engine.followers.log import header_runs
from engine.ledger.heads import erasing
from engine.ledger.journal import earlier_headers, read_identity, read_log
from engine.ledger.layout import decode_header
from engine.ledger.merging import Dot, dot_of
from engine.store.replay import Progress, no_progress
from engine.store.store import FamilySecrets, Store
from engine.sync.device import Device, KnownDevice
from engine.sync.devices import HEAD, HEAD_BYTES_MAX, REFUSED, SUBFOLDER, SyncReport, head_files, reports
from engine.sync.family_key import UnknownKeyError
from engine.sync.heads import (
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
from engine.trust.notes.signing import load_key, public_key_of, signing
from engine.trust.proving.log_witnesses import LogPaths

Packs = dict[bytes, list[Pack]]
"""The packs in one sub-folder by the store that wrote their events."""

_FULL_BYTES = 1 << 20
_SMALL_BYTES = 64 << 10
_EVENT_BYTES = 128
"""A pack of at least `_FULL_BYTES` is not written again, except for an erasure; of packs below `_SMALL_BYTES`
there is one. An event counts for at least `_EVENT_BYTES`."""


@dataclass
class Syncing:
    """A sync of `store` through `folder`. Only one is used at a time: see `opened`."""

    store: Store
    device: Device
    folder: Path
    forget: Callable[[], None]
    """Empties the caches that depend on content; called if content was destroyed."""
    heads: dict[str, DeviceHead] = field(default_factory=dict)
    """The heads of the other devices that have news."""
    files: dict[str, str] = field(default_factory=dict)
    """The hashes of all head files, by device."""
    said: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The state and the problem of a device, if there is something to say."""
    excluded: bool = False
    """Whether the heads show that this device was removed from the family. Then it writes nothing."""

    @cached_property
    def seed(self) -> bytes:
        """The private key of this device."""
        return load_key(self.device.key_file).seed

    @property
    def own(self) -> Path:
        """The sub-folder of this device."""
        return self.folder / f"{SUBFOLDER}{self.device.store_id}"

    def run(self, actor: str, progress: Progress = no_progress) -> SyncReport:
        """Read what is new, then write what is new.

        Raises:
            ConflictError: Another copy of this store wrote to the folder. This one needs an id of its own.
            SystemFailureError: The folder or the store cannot be written.
        """
        own = self.own_head()
        self.read_heads()
        read, carried = self._pull(progress), dict[bytes, list[Pack]]()
        if self.device.taking:
            from engine.sync.old_texts import take_texts  # once in the life of a device

            def hand_on(writer: bytes, part: Written) -> None:
                self.own.mkdir(parents=True, exist_ok=True)
                carried.setdefault(writer, []).append(write_pack(self.own, self.device.keys[0], part))

            read += take_texts(self.store, self.device.taking, actor, self.device.removed, hand_on)
            self.device.taking = ""
        wrote = 0 if self.excluded else self.publish(own, carried)
        self.device.save()
        return SyncReport(str(self.folder), read, wrote, tuple(reports(self.device, self.said)))

    # Reading

    def read_heads(self, *, everything: bool = False) -> None:
        """Read the heads of all devices that have news or, with `everything`, of all devices."""
        unread, own = dict[str, SignedHead](), self.store.identity.store_id
        for name, raw in head_files(self.folder):
            known = self.device.known.get(name, KnownDevice())
            self.files[name] = sha256(raw).hexdigest()
            if name == self.device.store_id or (known.file == self.files[name] and not everything):
                continue
            try:
                pinned = bytes.fromhex(known.public) if known.public else None
                unread[name] = read_signed(raw, bytes.fromhex(name), pinned)
            except EngineError as error:
                self.said[name] = REFUSED, f"its head cannot be read: {error}"
        # One head may have the key that opens another one.
        while opened := [name for name in unread if self._open(name, unread[name])]:
            unread = {name: one for name, one in unread.items() if name not in opened}
        for name in self.heads.keys() & set(self.device.removed):
            del self.heads[name]
            self.said[name] = "removed", ""
        if own.hex() in self.device.removed:
            self._exclude(
                "it was removed from the family; `engine sync join FOLDER --take` makes it a new device"
            )
        elif any(one.excludes(own) for one in unread.values()):
            self._exclude(
                "the family has a new key, but none for this device: it was probably removed, and writes"
                " nothing any more; `engine sync join FOLDER` asks for the new phrase"
            )

    def _exclude(self, problem: str) -> None:
        self.excluded, self.said[self.device.store_id] = True, (REFUSED, problem)

    def _open(self, name: str, signed: SignedHead) -> bool:
        """Open a head. Return False if no key opens it."""
        device = self.device
        try:
            new = None
            if name in device.known and name not in device.removed:
                # Only a device that is known here may change the family key.
                new = signed.new_key(bytes.fromhex(device.store_id), self.seed)
            head = signed.opened([*device.keys, *([new] if new else [])])
        except EngineError as error:
            self.said[name] = REFUSED, f"its head cannot be read: {error}"
            return not isinstance(error, UnknownKeyError)
        self.said.pop(name, None)
        self.heads[name] = head
        newest = [new.phrase] if new and new.phrase not in device.phrases else []
        older = (key.phrase for key in head.keys)
        device.phrases = list(dict.fromkeys([*newest, *device.phrases, *older]))
        device.removed = sorted({*device.removed, *(one.hex() for one in head.removed)})
        return True

    def _pull(self, progress: Progress) -> int:
        """Take in what is new; return the number of events that were appended."""
        if not self.heads:
            return 0
        known, offers = known_heads(self.store), dict[bytes, list[tuple[Path, Pack]]]()
        for name, head in list(self.heads.items()):
            if problem := self._contradiction(name, head, known.get(head.store_id)):
                self.said[name] = REFUSED, problem
                del self.heads[name]
                continue
            for writer, packs in head.packs.items():
                place = self.folder / f"{SUBFOLDER}{name}"
                offers.setdefault(writer, []).extend((place, one) for one in packs)
        offers.pop(self.store.identity.store_id, None)
        reading = {
            writer: _Reading(self, writer, known[writer].size if writer in known else 0, several)
            for writer, several in sorted(offers.items())
        }
        total, begun = sum(one.left for one in reading.values()), sum(one.at for one in reading.values())

        def moved() -> None:
            progress(sum(one.at for one in reading.values()) - begun, total)

        moved()
        while sum(one.step(moved) for one in reading.values()):
            pass  # what one store waited for may be there now
        self.said |= {writer.hex(): one.problem for writer, one in reading.items() if one.problem}
        for name, head in self.heads.items():
            done = not any(reading[writer].left for writer in head.packs if writer in reading)
            self.device.known[name] = KnownDevice(
                head.name, head.public.hex(), head.size, head.log_root.hex(), self.files[name] if done else ""
            )
        return sum(one.appended for one in reading.values())

    def _contradiction(self, name: str, head: DeviceHead, journaled: Head | None) -> str:
        """Return how a head contradicts what was seen of its device before, or an empty text."""
        pinned = self.device.known.get(name, KnownDevice())
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
        store_id, head = self.store.identity.store_id, None
        try:
            raw = read_file(self.own / HEAD, HEAD_BYTES_MAX)
            head = read_signed(raw, store_id, public_key_of(self.seed)).opened(self.device.keys)
        except NotFoundError:
            pass
        except EngineError as error:
            self.said[self.device.store_id] = REFUSED, f"its head in the folder is written anew: {error}"
        with self.store.view(self.store.log) as rows:
            size = read_log(rows).size
            what = ""
            if (ahead := max(self.device.size, head.size if head else 0)) > size:
                what = f"{ahead:,} events, of which this store has {size:,}: it is an older copy"
            elif head and LogPaths(rows, size).root(head.size) != head.log_root:
                what = "another copy of this store writes to it, too"
        if what:
            raise ConflictError(
                f"the folder has another history of this device: {what}",
                hint="`engine sync join FOLDER --take` makes this copy a device of its own; nothing is lost",
            )
        return head

    def publish(self, own: DeviceHead | None, carried: Packs | None = None) -> int:
        """Write the packs that are new or changed, then the head; return the number of new events.

        Args:
            own: The head that is in the folder.
            carried: More packs, with the events of removed devices; those of `own` stay.
        """
        store_id, published = self.store.identity.store_id, own.size if own else 0
        packs: Packs = {writer: list(several) for writer, several in own.packs.items()} if own else {}
        packs |= carried or {}
        try:
            with self.store.view(self.store.log) as rows:
                size = read_log(rows).size
                root = LogPaths(rows, size).root(size)
                gone = _destroyed(rows, published, size)
            self.own.mkdir(parents=True, exist_ok=True)
            start = _cut(packs.setdefault(store_id, []), published) if published < size else size
            while start < size:
                part = written(self.store, start, RAW_BYTES, size)
                packs[store_id].append(write_pack(self.own, self.device.keys[0], part))
                start = part.stop
            if gone:
                # An erasure must be there before its text is not: who reads only that the text is gone waits.
                own = self._write_head(own, packs, size, root)
            for writer, several in packs.items():
                hit = [seq for store, seq in gone if store == writer]
                for at, one in enumerate(several):
                    if not is_whole(self.own, one) or any(one.first <= seq < one.stop for seq in hit):
                        several[at] = self._again(writer, one)
            self._write_head(own, packs, size, root)
        except OSError as error:
            raise system_failure(error, f"{self.own} cannot be written") from error
        return size - published

    def _write_head(self, own: DeviceHead | None, packs: Packs, size: int, root: bytes) -> DeviceHead:
        """Write a head that lists these packs, unless it is `own`; remove what it does not list."""
        device, identity = self.device, self.store.identity
        head = DeviceHead(
            identity.store_id, public_key_of(self.seed), device.name, size, root,
            FamilySecrets(identity.id_key, identity.label_key), public_box_of(self.seed),
            {writer: tuple(several) for writer, several in packs.items()},
            {store: head.size for store, head in known_heads(self.store).items()}, tuple(device.keys[1:]),
            frozenset(map(bytes.fromhex, device.removed)),
        )  # fmt: skip
        if head != own:
            raw = encode_head(head, device.keys[0], self.seed, map(bytes.fromhex, device.wrapped))
            replace_file(self.own / HEAD, raw, PUBLIC)
            device.file = sha256(raw).hexdigest()
        device.size, device.packs = size, [one.name for several in packs.values() for one in several]
        for path in self.own.iterdir():
            # Packs that the head does not list any more, and what a broken-off sync left.
            left = path.name.startswith((PREFIX, f".{PREFIX}", f".{HEAD}."))
            if left and path.name not in device.packs:
                path.unlink(missing_ok=True)
        return head

    def _again(self, writer: bytes, pack: Pack) -> Pack:
        """Write a pack again, without the payloads that were destroyed since, and return the new one."""
        key = self.device.keys[0]
        if writer == self.store.identity.store_id:
            return write_pack(self.own, key, written(self.store, pack.first, 1 << 62, pack.stop))
        part = read_pack(self.own, self.device.keys, writer, pack)
        return pack if part is None else write_pack(self.own, key, without_destroyed(self.store, part))


@contextmanager
def opened(
    store: Store, folder: str | Path | None, forget: Callable[[], None] = lambda: None
) -> Iterator[Syncing]:
    """Open the device of a store for a sync through `folder`, or through the folder that it joined.

    Another process with the same store waits until the block ends.

    Raises:
        NotFoundError: The store is not synchronised.
    """
    with signing(Device.read(store.identity).key_file):
        device = Device.read(store.identity)
        yield Syncing(store, device, Path(folder or device.folder), forget)


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
        if not self.left or (self.problem is not None and self.problem[0] == REFUSED):
            return False
        before, self.problem = self.size, None
        try:
            taken = take_in(self.syncing.store, self._parts(moved))
        except InconsistentError as error:
            self.problem = REFUSED, f"{error}: two copies of it write, or it was rolled back"
            return False
        except (VerificationError, RefusedError, SystemFailureError) as error:
            self.problem = REFUSED, str(error)
            return False
        self.size, self.appended = max(taken.size, self.size), self.appended + taken.events
        if taken.erased:
            self.syncing.forget()
        if taken.waits is not None:
            self.at = self.size
            waited = taken.waits[0].hex()
            other = self.syncing.heads.get(waited) or self.syncing.device.known.get(waited)
            name = other.name if other else show_id(taken.waits[0])
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


def _cut(packs: list[Pack], published: int) -> int:
    """Drop packs that are to be written again, and return the seq from which on new packs are written.

    Packs at the end that are small in comparison with what follows are written again, in one. So there are
    few packs, and an event is written a few times at most.
    """
    start, weight = published, _SMALL_BYTES
    while packs:
        # Events that others need not read take hardly any bytes, but time.
        last = max(packs[-1].size, _EVENT_BYTES * (packs[-1].stop - packs[-1].first))
        if last > min(weight, _FULL_BYTES):
            break
        weight += last
        start = packs.pop().first
    return start


def _destroyed(rows: Reader, first: int, stop: int) -> set[Dot]:
    """Return the dots of earlier events whose payloads the events from `first` up to `stop` destroyed."""
    own, found = read_identity(rows).store_id, set[Dot]()
    for start, run in header_runs(rows, stop, first) if first else ():
        for at in erasing(run):
            header = decode_header(run[at], start + at)
            found.update(dot_of(one, own) for one in earlier_headers(rows, header))
    return found
