"""Digests that may never change: a failure here means that existing stores no longer verify."""

from collections.abc import Callable
from hashlib import sha256

import pytest

from engine.ledger.paged_tree import PagedTree
from proofs import hashing, smt
from proofs.hashing import NAMESPACES
from proofs.log import Frontier, leaf_hash
from tests.ledger.support import Rows, apply

pytestmark = pytest.mark.twins

LEFT, RIGHT = bytes(range(32)), bytes(range(32, 64))

HUNDRED = {
    hashing.key_digest("atoms", bytes([at]) * 16): hashing.value_digest("atoms", bytes([at]))
    for at in range(100)
}


def log_of_hundred() -> Frontier:
    """Return a log of the 100 one-byte headers 0 to 99."""
    frontier = Frontier()
    frontier.extend(leaf_hash(bytes([at])) for at in range(100))
    return frontier


def pages_of_hundred() -> bytes:
    """Return SHA-256 over all rows of the stored tree in key order; keys and values have a u16 length."""
    rows = Rows()
    apply(PagedTree("atoms"), rows, HUNDRED)
    fields = [field for row in sorted(rows.rows.items()) for field in row]
    return sha256(b"".join(len(field).to_bytes(2, "big") + field for field in fields)).digest()


GOLDEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "key digest": (
        lambda: hashing.key_digest("atoms", bytes(16)),
        "2939d87988e23b2cba3aeb1cefd1c9a563bb99ad11b6f64a11d95c17abe6b862",
    ),
    "value digest": (
        lambda: hashing.value_digest("atoms", b""),
        "26363c9b11dccfcba6639497de797475428543f79a65aa6f898147b66336b6c6",
    ),
    "commitment": (
        lambda: hashing.commitment(bytes(32), b"\xa0"),
        "b72b2e68232ba725397ff6f87298fd0b71efa9174261de68c083dac84383a1d1",
    ),
    "row": (
        lambda: hashing.row_hash(b"word", hashing.inner_row_hash(b"\x00\x00\x00\x02\x03" + bytes(10))),
        "1bd2557b34c4b186492da0d616d6165c639ef29454d2b12e4d27eb49ed758922",
    ),
    "tree of one leaf": (
        lambda: smt.root_of({LEFT: RIGHT}),
        "a85937bd5808d74644ac82388797ef9c886e4d90d0597df154fc763ec8e28fd2",
    ),
    "tree of 100 leaves": (
        lambda: smt.root_of(HUNDRED),
        "7c19668e25f94d5423a121e5d09b523421388e6cb3381a49d4b7dd593e6c2940",
    ),
    "pages of 100 leaves": (
        pages_of_hundred,
        "a9dc0777ddb043d2c737cb9c93219bb1a20c2542928c271db19799b0252e62cd",
    ),
    "root of 100 leaves from its page": (
        lambda: apply(PagedTree("atoms"), Rows(), HUNDRED),
        "7c19668e25f94d5423a121e5d09b523421388e6cb3381a49d4b7dd593e6c2940",
    ),
    "log of 100 headers": (
        lambda: log_of_hundred().root(),
        "9eccc8f11ab3ecd41cbf41f5045df576dcedc60f44d4a3de5f40b7d4f7e9d7e3",
    ),
    "frontier of 100 headers": (
        lambda: sha256(log_of_hundred().to_bytes()).digest(),
        "7f21dbee78f0c2add899559ca1500d96379bf45a2515fa50dbbb9c6dcc2f4bdc",
    ),
    "overall root": (
        lambda: hashing.overall_root(
            bytes(range(16)), 100, LEFT, [(name, bytes([at + 1]) * 32) for at, name in enumerate(NAMESPACES)]
        ),
        "04af7c2f5f30c994aa28841ba4086668e95f1335cc5ee4c48e2d15f79de9e5f2",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_digest_equals_its_literal(name: str) -> None:
    """The digest equals the literal in this file."""
    made, expected = GOLDEN[name]
    assert made().hex() == expected
