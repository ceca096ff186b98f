"""Limits of the data that is hashed: events, leaves and proofs (SPEC, section 14)."""

CONTENT_BYTES_MAX = 1 << 20
TITLE_BYTES_MAX = 512
TAG_BYTES_MAX = 256
TAGS_PER_ATOM_MAX = 256
BUCKETS_PER_ATOM_MAX = 16
LABEL_CHARS_MAX = 32
"""The limit of actors, kinds, buckets and predicates: `[a-z0-9._-]`, in predicates with `_` for spaces."""
SOURCE_BYTES_MAX = 512
KEY_BYTES_MAX = 512
"""The limit of the caller's own name for an atom within its source."""
REASON_BYTES_MAX = 1024
CREATED_MIN = -62_135_596_800_000_000
CREATED_MAX = 253_402_300_799_999_999
"""The limits of the time at which a text was written, in µs since 1970: years 1 to 9999."""
ALIASES_MAX = 32
ALIAS_BYTES_MAX = 512
FOLDER_BYTES_MAX = 512
META_ENTRIES_MAX = 32
META_KEY_BYTES_MAX = 64
META_TEXT_BYTES_MAX = 1024
META_INTEGER_MAX = (1 << 53) - 1
"""The limit of an integer in `meta`, positive or negative: JSON readers keep these exactly (RFC 7493)."""
META_BYTES_MAX = 4096
"""The limit of the canonical CBOR of an atom's whole `meta`."""
REQUEST_BYTES_MAX = 128
"""The limit of a client's own key for a request."""
ORIGIN_BYTES_MAX = 256
"""The limit of the origin of an event: a pipeline and its version, or another store and its event."""
EDGE_DATA_BYTES_MAX = 4096
ERASED_CONTENTS_MAX = 1 << 16
"""The maximum number of hashes of destroyed contents in one `erased` event."""
EVENT_BYTES_MAX = 4 << 20
INTEGER_MAX = (1 << 63) - 1
SEQ_MAX = 1 << 53
ORDINAL_MAX = (1 << 32) - 1
TRUST_MAX = 100
PROOF_BYTES_MAX = 64 << 10
"""The limit of a proof of one claim that is not a list and opens no payload."""
BUNDLE_BYTES_MAX = 16 << 20
"""The limit of every other proof: lists, several claims, and payloads."""
