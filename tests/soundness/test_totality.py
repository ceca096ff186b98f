"""Verification of any bytes ends soon, with bounded memory."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import pytest

from proofs.errors import ProofError
from proofs.hashing import EMPTY, NAMESPACES, overall_root
from proofs.limits import BUNDLE_BYTES_MAX
from proofs.proof_file import decode_strict
from tests.reference.cbor import head
from tests.soundness.support import items
from tests.soundness.wire import ATOMS, OPENING, Item, edited, refusal, replaced

pytestmark = pytest.mark.slow

T = TypeVar("T")
MEGABYTE = 1 << 20


HOSTILE = {
    "arrays without end": b"\x81" * 60_000,
    "indefinite arrays without end": b"\x9f" * 60_000,
    "an array of 2^64 items": head(4, (1 << 64) - 1),
    "an array of 2^32 items": head(4, 1 << 32) + bytes(1000),
    "a string of 2^64 bytes": head(2, (1 << 64) - 1),
    "a text of 2^63 bytes": head(3, 1 << 63) + b"a" * 1000,
    "arrays of 2^64 items in each other": head(4, (1 << 64) - 1) * 100,
    "a bignum": b"\xc2" + head(2, 60_000) + b"\xff" * 60_000,
    "a fraction": b"\xd8\x1e\x82" + 2 * (b"\xc2" + head(2, 9000) + b"\xff" * 9000),
    "a decimal": b"\xc4\x82\x1b" + b"\xff" * 8 + b"\x01",
    "a pattern that backtracks": b"\xd8\x23" + head(3, 60) + b"(" * 20 + b"a*" * 10 + b")*" * 10,
    "a shared item that holds itself": b"\xd8\x1c\x81\xd8\x1d\x00",
    "references to strings": b"\xd9\x01\x00\x82\x61a\xd8\x19\x00",
    "a map of one key many times": head(5, 9000) + b"\x00\x00" * 9000,
    "a time far off": b"\xc1\x1b" + b"\xff" * 8,
    "a date that is none": b"\xc0" + head(3, 20) + b"9999-99-99T99:99:99Z",
    "text that is not UTF-8": b"\x62\xc3\x28",
    "a lone surrogate": b"\x63\xed\xa0\x80",
    "a break alone": b"\xff",
    "half a number": b"\x1b\0\0",
    "floats": head(4, 3) + b"\xf9\x7e\x00\xfa\x7f\x80\x00\x00\xfb" + bytes(8),
    "an IP address": b"\xd9\x01\x04\x44" + bytes(4),
    "a MIME message": b"\xd8\x24" + head(3, 5) + b"a:b\n\n",
}
"""Bytes that make some decoders exhaust stack, memory or time."""


def spent(call: Callable[[], T]) -> tuple[T, int]:
    """Return the result of `call`, and the peak of bytes that Python allocated for it."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_cbor_is_refused_before_it_is_decoded(name: str) -> None:
    """Hostile CBOR is refused as `encoding`, without memory for the lengths that it announces."""
    item = items(24)["tagged@root"]
    reason, memory = spent(lambda: refusal("verify", [HOSTILE[name], item.basis, item.claims]))
    assert reason == "encoding"
    assert memory < MEGABYTE


@pytest.mark.parametrize("where", [(9, 0, 1), (9, 0, 2)])
@pytest.mark.parametrize("name", [name for name, raw in HOSTILE.items() if len(raw) < 65_000])
def test_hostile_cbor_in_byte_strings_is_refused(name: str, where: tuple[int, ...]) -> None:
    """Hostile CBOR as a value or payload is refused before it is decoded."""
    item = items(24)["atom@root"]
    raw = edited(item, lambda parts: replaced(parts, HOSTILE[name], *where))
    assert refusal("verify", [raw, item.basis, item.claims]) in ("encoding", "payload")


@pytest.mark.parametrize("item", [b"\x00", b"\x80", b"\xf6"])
def test_more_items_than_a_proof_can_have_are_not_decoded(item: bytes) -> None:
    """A proof of more than 2^20 items is refused before it is decoded, whatever its length."""
    raw = head(4, 1 << 20) + item * (1 << 20)
    with pytest.raises(ProofError) as refused:
        decode_strict(raw, "it")
    assert refused.value.reason == "size"


def test_a_proof_over_its_bound_is_refused() -> None:
    """A proof of one byte more than 16 MiB is refused for its size, whatever its contents."""
    item = items(24)["tagged@root"]
    assert refusal("verify", [bytes(BUNDLE_BYTES_MAX + 1), item.basis, item.claims]) == "size"


def deepest_opening(case: int, sibling: bytes = b"\x11" * 32) -> Item:
    """Return a proof against a made-up root whose opening is 256 nodes deep."""
    item = items(24)["no-atom@root"]
    roots = [(name, b"\x22" * 32) for name in NAMESPACES]
    root = overall_root(item.basis[1], 1, EMPTY, 5, EMPTY, roots)

    def change(parts: list[object]) -> None:
        parts[OPENING] = [1, EMPTY, 5, EMPTY, list(map(list, roots))]
        parts[ATOMS] = [bytes(256) + bytes([case]), sibling * 256]

    return item._replace(data=edited(item, change), basis=["Root", item.basis[1], root, None])


@pytest.mark.parametrize(("case", "reason"), [(3, "tree"), (2, "other-leaf"), (0, "shape"), (9, "shape")])
def test_a_deep_opening_needs_no_deep_stack(case: int, reason: str) -> None:
    """An opening 256 nodes deep is decided even if the caller has almost used up the stack."""
    item = deepest_opening(case)

    def deeper(frames: int) -> str | None:
        return deeper(frames - 1) if frames else refusal("verify", [item.data, item.basis, item.claims])

    used = 0
    frame = sys._getframe()
    while frame.f_back:
        used, frame = used + 1, frame.f_back
    assert deeper(sys.getrecursionlimit() - used - 60) == reason


def test_arrays_are_read_up_to_16_deep() -> None:
    """Arrays nested 16 deep, the outermost included, are read, and 17 deep refused."""
    assert decode_strict(b"\x81" * 15 + b"\x80", "it") is not None
    assert decode_strict(b"\x81" * 16 + b"\0", "it") is not None
    with pytest.raises(ProofError):
        decode_strict(b"\x81" * 17 + b"\0", "it")
