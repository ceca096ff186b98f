"""Packs: consecutive events of one store, as one sealed file that never changes.

    plain = zlib(u32 n ‖ frontier[n] ‖ (u32 n ‖ record[n]) for each record)

A pack is bound to its store, to the seqs of its events and to the log root after them, which the signed head
of its writer lists. So a pack that was altered, cut, or put in the place of another does not open.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from engine.base.errors import InvalidInputError, NotFoundError, RefusedError, VerificationError
from engine.base.outside_files import PUBLIC, read_file, replace_file
from engine.sync.family_key import FamilyKey, open_sealed
from engine.sync.originals import Head, Written
from proofs.forms import sized, uint
from proofs.log import SIZE_MAX

PREFIX = "pack-"
RAW_BYTES = 8 << 20
"""The bytes of records after which a pack ends. Sealed, it then has 2 to 8 MB."""
_RAW_BYTES_MAX = 64 << 20
_FILE_BYTES_MAX = 64 << 20
_KIND = b"memroot pack"
PACK_FIELDS = (uint(SIZE_MAX), uint(SIZE_MAX), sized(32), uint(), sized(32))


class Pack(NamedTuple):
    """What a head says about one of its packs."""

    first: int
    stop: int
    """The seq after the last event."""
    log_root: bytes
    """The root of the log with `stop` events."""
    size: int
    """The bytes of the file."""
    digest: bytes
    """The SHA-256 of the file."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"{PREFIX}{self.first:012d}-{self.digest.hex()[:16]}"


def write_pack(folder: Path, key: FamilyKey, part: Written) -> Pack:
    """Write a part of a journal to a new file in `folder`, durably; return what the head says about it.

    Raises:
        OSError: The file cannot be written.
    """
    plain = zlib.compress(b"".join(_framed([part.frontier, *part.records])))
    raw = key.seal(_KIND, plain, _bound(part.head, part.first))
    pack = Pack(part.first, part.stop, part.head.log_root, len(raw), sha256(raw).digest())
    replace_file(folder / pack.name, raw, PUBLIC)
    return pack


def read_pack(folder: Path, keys: Iterable[FamilyKey], store_id: bytes, pack: Pack) -> Written | None:
    """Return the part of the journal of `store_id` in a pack, or None if the file is not there yet.

    Raises:
        VerificationError: The file was altered. The message names it.
        RefusedError: This device cannot read the file.
    """
    path = folder / pack.name
    try:
        raw = read_file(path, min(pack.size, _FILE_BYTES_MAX))
    except NotFoundError:
        return None
    except InvalidInputError:
        raise VerificationError(f"{path} was altered") from None
    if len(raw) < pack.size:
        return None  # a program that synchronises folders is still writing it
    if sha256(raw).digest() != pack.digest:
        raise VerificationError(f"{path} was altered")
    head = Head(store_id, pack.stop, pack.log_root)
    try:
        plain = open_sealed(_KIND, raw, _bound(head, pack.first), keys)
        unpacker = zlib.decompressobj()
        frontier, *records = _unframed(unpacker.decompress(plain, _RAW_BYTES_MAX))
        if not unpacker.eof:
            raise ValueError("it is cut")
    except (ValueError, zlib.error) as error:
        raise VerificationError(f"{path} is not a pack of this version: {error}") from None
    except (VerificationError, RefusedError) as error:
        raise type(error)(f"{path} cannot be read: {error}", hint=error.hint) from None
    return Written(pack.first, pack.stop, frontier, head, records)


def is_whole(folder: Path, pack: Pack) -> bool:
    """Return True if the file of a pack is there with all its bytes."""
    try:
        return (folder / pack.name).stat().st_size == pack.size
    except OSError:
        return False


def _bound(head: Head, first: int) -> bytes:
    return head.store_id + first.to_bytes(8, "big") + head.size.to_bytes(8, "big") + head.log_root


def _framed(parts: Iterable[bytes]) -> Iterator[bytes]:
    for part in parts:
        yield len(part).to_bytes(4, "big")
        yield part


def _unframed(raw: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(raw):
        start = at + 4
        at = start + int.from_bytes(raw[at:start], "big")
        if at > len(raw):
            raise ValueError("it is cut")
        yield raw[start:at]
