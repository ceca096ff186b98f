"""Every limit in one place; SPEC.md prints this table and a test compares the two."""

CONTENT_BYTES_MAX = 1 << 20
TITLE_BYTES_MAX = 512
TAG_BYTES_MAX = 256
TAGS_PER_ATOM_MAX = 256
BUCKETS_PER_ATOM_MAX = 16
LABEL_CHARS_MAX = 32
"""Actors, kinds, buckets and predicates: `[a-z0-9._-]`, predicates with `_` for spaces."""
SOURCE_BYTES_MAX = 512
KEY_BYTES_MAX = 512
"""A caller's own name for an atom within its source."""
REASON_BYTES_MAX = 1024
EDGE_DATA_BYTES_MAX = 4096
COMBINING_RUN_MAX = 30
"""Longest run of combining marks in any text: the stream-safe bound of UAX #15."""
EVENT_BYTES_MAX = 4 << 20
BATCH_EVENTS_MAX = 10_000
BATCH_BYTES_MAX = 16 << 20
CBOR_DEPTH_MAX = 16
INTEGER_MAX = (1 << 63) - 1
SEQ_MAX = 1 << 53
ORDINAL_MAX = (1 << 32) - 1
TRUST_MAX = 100
MAX_HOPS_CAP = 6
"""Bound on the hops of a graph traversal ("Edges & Graph": MaxHopsCap)."""
RESULTS_MAX = 10_000
"""Most results one query may ask for."""
QUERY_BYTES_MAX = 64 << 10
FOLLOW_EVENTS_MAX = 8192
FOLLOW_BYTES_MAX = 16 << 20
"""A follower's catch-up goes to the head in batches of at most this many events and bytes.

Twice the 4,096 ordinals that bulk work cuts at: with 4,096 events the cut fell one ordinal short, and
37 % of the time of bulk adds went into segments that were merged soon after.
"""
