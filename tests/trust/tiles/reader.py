"""A reader of tiles, written from c2sp.org/tlog-tiles and RFC 9162 alone, without the project's code."""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path


class TileReader:
    """A reader of a published log at the size that its checkpoint states."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = (folder / "checkpoint").read_text(encoding="utf-8")
        origin, size, root, *_ = text.split("\n")
        self.origin, self.size, self.root = origin, int(size), base64.b64decode(root)

    def names(self) -> set[str]:
        """Return the path of every tile of a log of this size."""
        found = set()
        for level in range(64):
            full, width = divmod(self.size // 256**level, 256)
            kinds = ("0", "entries") if level == 0 else (str(level),)
            for kind in kinds:
                found |= {f"tile/{kind}/{self.number(index)}" for index in range(full)}
                if width:
                    found.add(f"tile/{kind}/{self.number(full)}.p/{width}")
        return found

    @staticmethod
    def number(index: int) -> str:
        """Return an index in groups of three digits, all but the last with an x in front."""
        digits = str(index)
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
        return "/".join([f"x{group}" for group in groups[:-1]] + groups[-1:])

    def _file(self, kind: str, level: int, index: int) -> bytes:
        full, width = divmod(self.size // 256**level, 256)
        partial = "" if index < full else f".p/{width}"
        return (self.folder / "tile" / kind / (self.number(index) + partial)).read_bytes()

    def hash(self, level: int, at: int) -> bytes:
        """Return hash number `at` of a level, from its tile."""
        tile = self._file(str(level), level, at // 256)
        assert len(tile) % 32 == 0
        return tile[at % 256 * 32 :][:32]

    def entries(self, index: int) -> list[bytes]:
        """Return the entries of a bundle."""
        raw, found = self._file("entries", 0, index), []
        while raw:
            length = int.from_bytes(raw[:2], "big")
            assert len(raw) >= 2 + length
            found.append(raw[2 : 2 + length])
            raw = raw[2 + length :]
        return found

    def mth(self, start: int, stop: int) -> bytes:
        """Return the root over leaves `start` up to `stop`, from the largest tile hashes available."""
        count = stop - start
        for level in range(8):
            if count == 256**level and start % count == 0:
                return self.hash(level, start // count)
        k = 1
        while 2 * k < count:
            k *= 2
        return sha256(b"\1" + self.mth(start, start + k) + self.mth(start + k, stop)).digest()

    def path(self, index: int) -> list[bytes]:
        """Return the inclusion path of a leaf, from the tiles."""
        start, stop, found = 0, self.size, []
        while stop - start > 1:
            k = 1
            while 2 * k < stop - start:
                k *= 2
            if index < start + k:
                found.append(self.mth(start + k, stop))
                stop = start + k
            else:
                found.append(self.mth(start, start + k))
                start += k
        return found[::-1]
