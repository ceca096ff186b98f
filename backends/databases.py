"""What the backends on SQL databases share: the names of memories, and the checksum of a row.

The databases do not check the values that they return, so a checksum is stored next to each value and
compared at every read. It covers the key, too, so a value that the database returns for the wrong key is
found. It detects accidental damage, but not attacks: anyone who can write to the database can also write a
matching checksum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from zlib import crc32

from backends.errors import BackendCorrupt, BackendUnusable

NAME_CHARS_MAX = 32

_NAME = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,31}")
_RESERVED = frozenset({"db", "lock"})
_RESERVED_ENDS = ("-lock", "-wal", "-shm", "-journal", "-wal-mark")


def memory_name(value: object) -> str:
    """Return `value` if it is a valid memory name.

    A valid name has 1 to 32 of the characters `a-z0-9._-` and does not begin with a dot. The names `db` and
    `lock` are not allowed, because a LevelDB store has a folder and a file of these names. A name may not end
    like a file that is kept next to a SQLite store (`-wal`, `-shm`, `-journal`, `-lock`, `-wal-mark`).

    Raises:
        BackendUnusable: `value` is not a valid name.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        shown = ascii(value)[:80] if isinstance(value, (str, bytes)) else type(value).__name__
        raise BackendUnusable(
            f"invalid memory name {shown}: use 1 to {NAME_CHARS_MAX} of `a-z0-9._-`, the first not a dot"
        )
    if value in _RESERVED or value.endswith(_RESERVED_ENDS):
        raise BackendUnusable(
            f"memory name {value!r} is reserved for files of a store; choose a name that is not db "
            f"or lock and does not end in {', '.join(_RESERVED_ENDS)}"
        )
    return value


def checksum(key: bytes, value: bytes) -> int:
    """Return the checksum of a row, a number of 32 bits.

    It is the CRC-32 of the key followed by the value. The CRC starts at the length of the key, so moving the
    first byte of the value to the end of the key changes the checksum.
    """
    return crc32(value, crc32(key, len(key)))


def with_checksums(rows: Iterable[tuple[bytes, bytes | None]]) -> list[tuple[bytes, bytes, int]]:
    """Return the rows that have a value, with their checksums, in the same order."""
    # The same as `checksum`, written out: a call would take 0.06 µs for each row.
    return [(key, value, crc32(value, crc32(key, len(key)))) for key, value in rows if value is not None]


def check_row(where: str, key: object, value: object, found: object) -> None:
    """Check a row that was read from a store.

    `where` names the store in the message. A damaged database may return values of any type.

    Raises:
        BackendCorrupt: `found` is not the checksum of the row.
    """
    if type(key) is not bytes or type(value) is not bytes or crc32(value, crc32(key, len(key))) != found:
        raise damaged_row(where, key)


def damaged_row(where: str, key: object) -> BackendCorrupt:
    """Return the exception for a row whose bytes differ from the bytes that were written."""
    shown = key if isinstance(key, bytes) else repr(key).encode()
    return BackendCorrupt(
        f"{where} is damaged: the row {ascii(key)[:80]} does not match its checksum", key=shown
    )
