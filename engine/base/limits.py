"""All limits of the engine. SPEC.md lists them in a table, and a test compares this module with the table.

The limits of hashed fields are defined in `proofs.limits`, so that a verifier does not depend on the engine.
"""

from proofs.limits import *  # noqa: F403  the engine imports all limits from this module

COMBINING_RUN_MAX = 30
"""The maximum number of consecutive combining marks in a text: the stream-safe bound of UAX #15."""
BATCH_EVENTS_MAX = 10_000
BATCH_BYTES_MAX = 16 << 20
CBOR_DEPTH_MAX = 16
MAX_HOPS_CAP = 6
"""The maximum number of hops of a graph traversal. "Edges & Graph" calls this limit MaxHopsCap."""
NAME_BYTES_MAX = 256
"""The maximum size in bytes of an entity's name, and of a predicate before it is converted to a label."""
RESULTS_MAX = 10_000
"""The maximum number of results of one query."""
QUERY_BYTES_MAX = 64 << 10
FOLLOW_EVENTS_MAX = 8192
FOLLOW_BYTES_MAX = 16 << 20
"""The maximum number of events that a follower reads in one batch, and the maximum number of bytes of these
events. A follower is a part of the store that is computed from the journal, such as the index.

During bulk adds the index ends its batches at multiples of 4,096 ordinals. The limit of events is twice that
number. With a limit of 4,096 events, batches ended one ordinal too early, and bulk adds spent 37 % of their
time on index segments that were soon merged into larger segments.
"""
