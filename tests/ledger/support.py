"""Rows in a dict, key digests with long common prefixes, and the SHA-256 of public vectors."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from hypothesis import strategies as st

from backends.base import Batch, Reader, Row
from engine.ledger.paged_tree import PagedTree
from proofs.hashing import TreeHasher

SHA256_TREE = TreeHasher(
    leaf=lambda key, value: sha256(b"\x00" + key + value).digest(),
    node=lambda left, right: sha256(b"\x01" + left + right).digest(),
)
"""The hash functions of the Fuel vectors."""

Changes = Mapping[bytes, bytes | None]


class Rows(Reader):
    """Rows in a dict, which counts its reads."""

    def __init__(self, rows: Mapping[bytes, bytes] | None = None) -> None:
        self.rows = dict(rows or {})
        self.gets = 0
        self.multi_gets = 0

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, and count the read."""
        self.gets += 1
        return self.rows.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, and count one read."""
        self.multi_gets += 1
        return [self.rows.get(key) for key in keys]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield rows in key order."""
        keys = sorted(
            (key for key in self.rows if start <= key and (end is None or key < end)), reverse=reverse
        )
        return iter([(key, self.rows[key]) for key in keys])

    def write(self, batch: Batch) -> None:
        """Apply a batch."""
        for key, value in batch.rows.items():
            if value is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = value


def apply(tree: PagedTree, rows: Rows, changes: Changes) -> bytes:
    """Update `tree` in one batch, write the batch, and return the new root."""
    batch = Batch()
    root = tree.update(rows, batch, changes)
    rows.write(batch)
    return root


BASE = bytes.fromhex("a53c0ff05a96e1d287b4784b69c3f01e" * 2)
_BASE_BITS = int.from_bytes(BASE, "big")


def sharing(bits: int, tail: bytes) -> bytes:
    """Return a key digest that shares exactly `bits` (0 to 255) leading bits with BASE and ends as `tail`."""
    rest = 255 - bits
    first_other = (_BASE_BITS >> rest ^ 1) << rest
    return (first_other | int.from_bytes(tail, "big") & ((1 << rest) - 1)).to_bytes(32, "big")


digests = st.binary(min_size=32, max_size=32)
key_digests = (
    st.just(BASE)
    | st.builds(sharing, st.integers(0, 255), st.sampled_from([bytes(32), b"\xff" * 32]) | digests)
    | digests
)
values = st.sampled_from([bytes(32), b"\x01" * 32, b"\xfe" * 32]) | digests


@st.composite
def histories(draw: st.DrawFn) -> list[dict[bytes, bytes | None]]:
    """Batches of insertions, changes and removals of a few keys, so that the same keys recur."""
    keys = draw(st.lists(key_digests, min_size=1, max_size=12, unique=True))
    change = st.dictionaries(st.sampled_from(keys), st.none() | values, max_size=len(keys))
    return draw(st.lists(change, max_size=8))


def leaves_after(history: Sequence[Changes]) -> dict[bytes, bytes]:
    """Return the leaves after a history."""
    leaves: dict[bytes, bytes] = {}
    for changes in history:
        for key, value in changes.items():
            if value is None:
                leaves.pop(key, None)
            else:
                leaves[key] = value
    return leaves
