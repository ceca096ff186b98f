"""Log heads whose last event is any event: right links from a log head to an overall root, and wrong ones.

All hashes are right. The claim is that a store without atoms has no atom, whose opening is the same for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.basis import LogHead
from proofs.claims import NoAtom
from proofs.hashing import EMPTY
from proofs.log import leaf_hash
from tests.reference.hashes import overall, root_by_path
from tests.soundness.forged_events import COMMON, STORE, Items, events
from tests.soundness.odd_values import encoded
from tests.soundness.wire import Asked

SEQ, KIND, CHECKPOINT = 1, 3, 10
CLAIM = NoAtom(b"\x77" * 16)
SHIFTS = (-1, 0, 1)


def links() -> Iterator[Asked]:
    """Give each kind of event as the link, then checkpoints in other places and of other roots."""
    for event in events():
        yield linked(event.header)
    checkpoint = next(event.header for event in events() if event.header[KIND] == CHECKPOINT)
    for behind in range(4):
        for shift in SHIFTS:
            yield linked(checkpoint, behind=behind, shift=shift)
    yield linked(checkpoint, store_id=bytes(16))


def linked(header: Items, *, behind: int = 0, shift: int = 0, store_id: bytes = STORE) -> Asked:
    """Return a proof whose link has this header, in the log that has some events behind it.

    Args:
        header: The header; a checkpoint's root is replaced by that of the opening.
        behind: How many events come behind it.
        shift: By how much the size in the opening is another one than the header's seq.
        store_id: The id that the root in the checkpoint is made for.
    """
    seq = header[SEQ]
    opening = [seq + shift, b"\1" * 32, EMPTY, EMPTY, EMPTY, EMPTY]
    if header[KIND] == CHECKPOINT:
        header = [*header[:COMMON], overall(store_id, opening[0], opening[1], opening[2:])]
    raw = encoded(header)
    size = seq + 1 + behind
    paths = ([bytes([at + 1]) * 32 for at in range(length)] for length in range(size.bit_length() + 1))
    root, path = next(
        (root, path) for path in paths if (root := root_by_path(seq, size, leaf_hash(raw), path))
    )
    tree = [b"\3", b""]
    parts = ["memroot-proof", 2, [raw, b"".join(path)], opening, None, tree, None, None, [[CLAIM.number]]]
    return Asked(encoded(parts), LogHead(STORE, size, root), [CLAIM])
