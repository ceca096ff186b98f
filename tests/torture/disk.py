"""A model of a disk: what a loss of power can leave of a folder after the operations of a run.

Each file has a list of changes, of which the first are on the disk because of a sync. Each change of names
(a created, renamed or removed file) is on the disk once its folder was synced. All other changes may be on
the disk or not, in part, and in any order; names in any order only if the file system does not order them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Literal

from tests.torture.calls import Call

Mode = Literal["dropped", "prefix", "blocks of 512", "blocks of 4096", "names"]
MODES: Final[tuple[Mode, ...]] = ("dropped", "prefix", "blocks of 512", "blocks of 4096", "names")
"""What is left of that which was not synced: nothing; the beginning of each file's changes, the last of them
torn; random blocks, with zeros in place of the others; some changes of names, with or without the data."""


@dataclass(slots=True, eq=False)
class Node:
    """A file or a folder."""

    is_folder: bool
    changes: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Writes (an offset and bytes) and cuts (a length and None), in order."""
    synced: int = 0
    """The number of changes that are on the disk."""
    base: bytes = b""
    """The content after the synced changes."""
    position: int = 0
    names: dict[str, Node] = field(default_factory=dict)
    """In a folder: the present names."""


@dataclass(slots=True, eq=False)
class Naming:
    """Changes of names that happen together: a folder, a name in it, and what it names from then on."""

    parts: list[tuple[Node, str, Node | None]]
    synced: bool = False


class Disk:
    """A folder that changes as the operations of a run say.

    Args:
        ordered: Whether changes of names reach the disk in their order, and syncing a file also makes its
            name durable, as on ext4, xfs and btrfs. POSIX promises neither: a name is durable only when its
            folder was synced, and until then any of the changes may be lost.
    """

    def __init__(self, *, ordered: bool) -> None:
        self.root = Node(is_folder=True)
        self.namings: list[Naming] = []
        self.acknowledged = 0
        self._ordered = ordered
        self._history: list[dict[int, tuple[Node, int]]] = []
        self._lengths: dict[int, tuple[Node, int]] = {}

    def apply(self, call: Call) -> None:
        """Carry out one operation."""
        getattr(self, f"_{call.kind}")(call)
        self._history.append(dict(self._lengths))

    def _place(self, path: str) -> tuple[Node, str]:
        *folders, name = path.split("/")
        node = self.root
        for folder in folders:
            node = node.names[folder]
        return node, name

    def _node(self, path: str) -> Node | None:
        if not path:
            return self.root
        folder, name = self._place(path)
        return folder.names.get(name)

    def _name(self, *parts: tuple[Node, str, Node | None]) -> None:
        self.namings.append(Naming(list(parts)))
        for folder, name, node in parts:
            if node is None:
                folder.names.pop(name, None)
            else:
                folder.names[name] = node

    def _change(self, node: Node, at: int, data: bytes | None) -> None:
        node.changes.append((at, data))
        self._lengths[id(node)] = node, len(node.changes)

    def _open(self, call: Call) -> None:
        node = self._node(call.path)
        if node is None:
            node = Node(is_folder=False)
            self._name((*self._place(call.path), node))
        elif "O_TRUNC" in call.flags:
            self._change(node, 0, None)
        node.position = len(content(node, len(node.changes))) if "O_APPEND" in call.flags else 0

    def _write(self, call: Call) -> None:
        node = self._node(call.path)
        assert node is not None, call.path
        at = node.position if call.at < 0 else call.at
        if call.at < 0:
            node.position += len(call.data)
        self._change(node, at, call.data)

    def _cut(self, call: Call) -> None:
        node = self._node(call.path)
        assert node is not None, call.path
        self._change(node, call.at, None)

    def _sync(self, call: Call) -> None:
        node = self._node(call.path)
        assert node is not None, call.path
        if node.is_folder:
            self._sync_names([any(part[0] is node for part in naming.parts) for naming in self.namings])
            return
        # What another thread wrote while the sync ran may have missed it.
        then = self._history[call.begun - 1] if 0 < call.begun <= len(self._history) else {}
        synced = max(node.synced, then.get(id(node), (node, 0))[1])
        node.base, node.synced = content(node, synced), synced
        if self._ordered:
            self._sync_names([any(part[2] is node for part in naming.parts) for naming in self.namings])

    def _sync_names(self, covered: list[bool]) -> None:
        last = max((at for at, one in enumerate(covered) if one), default=-1)
        for at, naming in enumerate(self.namings):
            naming.synced |= at <= last if self._ordered else covered[at]

    def _rename(self, call: Call) -> None:
        folder, name = self._place(call.path)
        self._name((folder, name, None), (*self._place(call.to), folder.names[name]))

    def _link(self, call: Call) -> None:
        self._name((*self._place(call.to), self._node(call.path)))

    def _unlink(self, call: Call) -> None:
        self._name((*self._place(call.path), None))

    def _mkdir(self, call: Call) -> None:
        self._name((*self._place(call.path), Node(is_folder=True)))

    _rmdir = _unlink

    def _ack(self, call: Call) -> None:
        self.acknowledged = call.at

    def after_power_loss(self, mode: Mode, chosen: Random) -> dict[str, bytes | None]:
        """Return what a loss of power now leaves: path → content, or None for a folder."""
        kept = self._kept_names(mode, chosen)
        names: dict[Node, dict[str, Node]] = {}
        for naming, keep in zip(self.namings, kept, strict=True):
            if naming.synced or keep:
                for folder, name, node in naming.parts:
                    if node is None:
                        names.setdefault(folder, {}).pop(name, None)
                    else:
                        names.setdefault(folder, {})[name] = node
        data: Mode = chosen.choice(("dropped", "blocks of 4096", "prefix")) if mode == "names" else mode
        keep_all = mode == "names" and chosen.random() < 0.5
        found: dict[str, bytes | None] = {}
        self._walk(self.root, "", names, found, None if keep_all else data, chosen)
        return found

    def _kept_names(self, mode: Mode, chosen: Random) -> list[bool]:
        """Return which changes of names are kept although no sync covers them."""
        count = len(self.namings)
        if mode == "dropped":
            return [False] * count
        if mode != "names":
            return [True] * count
        if self._ordered:
            end = chosen.randint(sum(naming.synced for naming in self.namings), count)
            return [at < end for at in range(count)]
        return [chosen.random() < 0.5 for _ in range(count)]

    def _walk(
        self,
        folder: Node,
        path: str,
        names: dict[Node, dict[str, Node]],
        found: dict[str, bytes | None],
        mode: Mode | None,
        chosen: Random,
    ) -> None:
        for name, node in names.get(folder, {}).items():
            if node.is_folder:
                found[path + name] = None
                self._walk(node, f"{path}{name}/", names, found, mode, chosen)
            else:
                found[path + name] = _left(node, mode, chosen)


def content(node: Node, count: int) -> bytes:
    """Return the content of a file after its first `count` changes, which include all that are synced."""
    return _changed(bytearray(node.base), node.changes[node.synced : count])


def _changed(data: bytearray, changes: Sequence[tuple[int, bytes | None]]) -> bytes:
    for at, new in changes:
        end = at if new is None else at + len(new)
        if len(data) < end:
            data.extend(bytes(end - len(data)))
        if new is None:
            del data[at:]
        else:
            data[at:end] = new
    return bytes(data)


def _left(node: Node, mode: Mode | None, chosen: Random) -> bytes:
    """Return what is left of a file; None as the mode leaves all changes."""
    total = len(node.changes)
    if mode is None or node.synced == total:
        return content(node, total)
    if mode == "dropped":
        return content(node, node.synced)
    if mode == "prefix":
        whole = chosen.randint(node.synced, total)
        data = bytearray(content(node, whole))
        if whole < total:
            at, new = node.changes[whole]
            if new is not None:
                return _changed(data, [(at, new[: chosen.choice(_tears(len(new), chosen))])])
        return bytes(data)
    return _patchwork(content(node, node.synced), content(node, total), int(mode.rpartition(" ")[2]), chosen)


def _tears(length: int, chosen: Random) -> list[int]:
    """Return places at which a write of this length may be torn: its header, its middle, its last byte."""
    return [0, min(length, chosen.randrange(8)), chosen.randint(0, length), max(length - 1, 0)]


def _patchwork(old: bytes, new: bytes, size: int, chosen: Random) -> bytes:
    """Return the new content in which random blocks are still those of the old, or zeros."""
    made = bytearray(new)
    share = chosen.choice((0.1, 0.5, 0.9))
    for at in range(0, len(new), size):
        if new[at : at + size] != old[at : at + size] and chosen.random() < share:
            end = min(at + size, len(new))
            made[at:end] = old[at:end].ljust(end - at, b"\0")
    return bytes(made)


def write_out(found: dict[str, bytes | None], place: Path) -> None:
    """Create the files and folders of a state below `place`, which must not exist."""
    place.mkdir(parents=True)
    for path, data in found.items():
        if data is None:
            (place / path).mkdir()
        else:
            (place / path).write_bytes(data)
