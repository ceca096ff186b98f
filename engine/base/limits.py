"""Every limit in one place; SPEC.md prints this table and a test compares the two.

The bounds of what is hashed are those of `proofs.limits`, so that a verifier needs nothing of the engine.
"""

from proofs.limits import *  # noqa: F403  one name for all limits in the engine

COMBINING_RUN_MAX = 30
"""Longest run of combining marks in any text: the stream-safe bound of UAX #15."""
BATCH_EVENTS_MAX = 10_000
BATCH_BYTES_MAX = 16 << 20
CBOR_DEPTH_MAX = 16
MAX_HOPS_CAP = 6
"""Bound on the hops of a graph traversal ("Edges & Graph": MaxHopsCap)."""
NAME_BYTES_MAX = 256
"""Bytes of an entity's name, and of a predicate before it is made a label."""
RESULTS_MAX = 10_000
"""Most results one query may ask for."""
QUERY_BYTES_MAX = 64 << 10
FOLLOW_EVENTS_MAX = 8192
FOLLOW_BYTES_MAX = 16 << 20
"""A follower's catch-up goes to the head in batches of at most this many events and bytes.

Twice the 4,096 ordinals that bulk work cuts at: with 4,096 events the cut fell one ordinal short, and
37 % of the time of bulk adds went into segments that were merged soon after.
"""
