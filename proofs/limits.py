"""Limits of the data that is hashed: events, leaves and proofs (SPEC, section 14)."""

from __future__ import annotations

CONTENT_BYTES_MAX = 1 << 20
TITLE_BYTES_MAX = 512
TAG_BYTES_MAX = 256
TAGS_PER_ATOM_MAX = 256
BUCKETS_PER_ATOM_MAX = 16
LABEL_CHARS_MAX = 32
"""The maximum number of characters in the name of an actor, kind, bucket or predicate.

These names consist of the characters `a-z0-9._-`; a predicate contains `_` instead of spaces.
"""
SOURCE_BYTES_MAX = 512
KEY_BYTES_MAX = 512
"""The maximum length of the caller's own name for an atom within a source, in bytes."""
REASON_BYTES_MAX = 1024
CREATED_MIN = -62_135_596_800_000_000
CREATED_MAX = 253_402_300_799_999_999
"""The bounds of the time at which a text was written, in µs since 1970 UTC: years 1 to 9999."""
ALIASES_MAX = 32
ALIAS_BYTES_MAX = 512
FOLDER_BYTES_MAX = 512
META_ENTRIES_MAX = 32
META_KEY_BYTES_MAX = 64
META_TEXT_BYTES_MAX = 1024
META_INTEGER_MAX = (1 << 53) - 1
"""The maximum absolute value of an integer in `meta`. JSON parsers read these integers exactly (RFC 7493)."""
META_BYTES_MAX = 4096
"""The maximum size of an atom's whole `meta` in canonical CBOR, in bytes."""
REQUEST_BYTES_MAX = 128
"""The maximum length of a client's own key for a request, in bytes."""
PIPELINE_BYTES_MAX = 256
"""The maximum length of the name of what made an event, in bytes."""
NOTE_BYTES_MAX = 1 << 16
"""The maximum length of the checkpoint note in an event about another store, in bytes."""
FACT_BYTES_MAX = 1 << 20
"""The maximum size of the data of a fact, in bytes."""
NAMESPACES_MAX = 64
"""The maximum number of namespaces of a store."""
EDGE_DATA_BYTES_MAX = 4096
ERASED_CONTENTS_MAX = 1 << 16
"""The maximum number of hashes of destroyed contents in one `erased` event."""
EVENT_BYTES_MAX = 4 << 20
INTEGER_MAX = (1 << 63) - 1
SEQ_MAX = (1 << 53) - 1
"""The largest seq: the largest integer that a program in JavaScript represents exactly."""
RULES_MAX = 255
ORDINAL_MAX = (1 << 32) - 1
TRUST_MAX = 100
PROOF_BYTES_MAX = 64 << 10
"""The maximum size, in bytes, of a proof of one claim that is not a list and opens no payload."""
BUNDLE_BYTES_MAX = 16 << 20
"""The maximum size, in bytes, of a proof that has a list, shows several claims or opens a payload."""
