"""Log heads whose last event is any event: right links from a log head to an overall root, and wrong ones.

All hashes are right. The claim is that a store without atoms has no atom, whose opening is the same for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.basis import LogHead
from proofs.claims import NoAtom
from proofs.hashing import EMPTY
from proofs.log import leaf_hash, root_before
from tests.reference.hashes import NAMESPACES, overall, root_by_path
from tests.soundness.forged_events import COMMON, STORE, Items, events
from tests.soundness.odd_values import encoded
from tests.soundness.rejects import cut
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
    yield linked(checkpoint, other_log=True)


def linked(
    header: Items, *, behind: int = 0, shift: int = 0, store_id: bytes = STORE, other_log: bool = False
) -> Asked:
    """Return a proof whose link has this header, in the log that has some events behind it.

    Args:
        header: The header; a checkpoint's root is replaced by that of the opening.
        behind: How many events come behind it.
        shift: By how much the size in the opening is another one than the header's seq.
        store_id: The id that the root in the checkpoint is made for.
        other_log: Whether the opening, and so the checkpoint's root, is about another log than its own.
    """
    seq = header[SEQ]
    before = b"".join(bytes([at + 1]) * 32 for at in range(seq.bit_count()))
    log_root = b"\xee" * 32 if other_log else root_before(cut(before))
    opening: Items = [1, bytes(32), seq + shift, log_root, [[name, EMPTY] for name in NAMESPACES]]
    if header[KIND] == CHECKPOINT:
        header = [*header[:COMMON], overall(store_id, *opening)]
    raw = encoded(header)
    size = seq + 1 + behind
    paths = ([bytes([at + 1]) * 32 for at in range(length)] for length in range(size.bit_length() + 1))
    root, path = next(
        (root, path) for path in paths if (root := root_by_path(seq, size, leaf_hash(raw), path))
    )
    tree = [b"\3", b""]
    link = [raw, b"".join(path)]
    parts = ["memroot-proof", 3, link, opening, None, None, tree, None, None, [[CLAIM.number]]]
    return Asked(encoded(parts), LogHead(STORE, size, root), [CLAIM])
