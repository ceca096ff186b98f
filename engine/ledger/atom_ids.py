"""The id that an atom has when nobody gives it one (SPEC: Atom ids)."""

from __future__ import annotations

from blake3 import blake3


def default_id(id_key: bytes, source: str | None, content: str, occurrence: int, key: str | None) -> bytes:
    """The id an atom gets when the caller gives none (SPEC: Atom ids).

    BLAKE3 keyed with the store's id key over: u8 1 if a key is given, else 0 ‖ u8 1 if there is a
    source, else 0 ‖ u32 length of source ‖ source ‖ the key, or u64 occurrence ‖ content. The first
    16 bytes, with the version and variant bits of a UUIDv8 (RFC 9562).
    """
    raw_source = (source or "").encode()
    head = bytes([key is not None, source is not None]) + len(raw_source).to_bytes(4, "big") + raw_source
    rest = occurrence.to_bytes(8, "big") + content.encode() if key is None else key.encode()
    digest = bytearray(blake3(head + rest, key=id_key).digest(16))
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return bytes(digest)
