"""Named rejects 7 to 11 and 13: sibling hashes, in trees and in the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proofs.hashing import EMPTY
from tests.soundness.rejects import Cases, cut, home, part, put, reject
from tests.soundness.wire import ATOMS, EDGES, LINK, LOG_ROOT, OPENING, TAGS, WITNESSES

PLACES = [
    ("atom@root", "tree|shape|other-leaf", (ATOMS, 1)),
    ("no-edge@log", "tree|shape|other-leaf", (EDGES, 1)),
    ("tag@root", "tree|shape|other-leaf", (TAGS, 1)),
    ("atom@log", "inclusion", (LINK, 1)),
    ("event@root", "inclusion", (WITNESSES, 0, 3)),
    ("root@log", "inclusion", (WITNESSES, 0, 2)),
    ("prefix@log", "consistency", (WITNESSES, 0, 1)),
    ("prefix-root@root", "consistency", (WITNESSES, 0, 2)),
    ("no-term@root", "row", (WITNESSES, 0, 1, 0, 2)),
]
"""The proof, the reason for a wrong hash in it, and the place of its hashes."""


def lists(longer: str | None, change: Callable[[list[bytes]], Iterator[list[bytes]]]) -> Cases:
    """Yield cases with each list of hashes changed; `longer` is the reason for another number in a tree."""
    for name, reason, path in PLACES:
        hashes = cut(part(home()[name], *path))
        for other in change(list(hashes)):
            if other == hashes:
                continue
            joined = b"".join(other)
            why = longer if longer and "tree" in reason else reason
            if len(joined) % 32 and reason in ("inclusion", "consistency"):
                why = "form"
            yield put(why, home()[name], joined, *path)


@reject
def r07_sibling_bit_flipped() -> Cases:
    """A proof with one bit of one hash changed is refused."""

    def change(hashes: list[bytes]) -> Iterator[list[bytes]]:
        for at, sibling in enumerate(hashes):
            for bit in (0, 100, 255):
                flipped = (int.from_bytes(sibling, "big") ^ 1 << bit).to_bytes(32, "big")
                yield [*hashes[:at], flipped, *hashes[at + 1 :]]

    yield from lists(None, change)


@reject
def r08_siblings_swapped() -> Cases:
    """A proof with two hashes swapped is refused."""

    def change(hashes: list[bytes]) -> Iterator[list[bytes]]:
        for at in range(len(hashes) - 1):
            yield [*hashes[:at], hashes[at + 1], hashes[at], *hashes[at + 2 :]]

    yield from lists(None, change)


@reject
def r09_siblings_reversed() -> Cases:
    """A proof with the hashes in reverse order is refused."""
    yield from lists(None, lambda hashes: iter([hashes[::-1]]))


@reject
def r10_sibling_dropped() -> Cases:
    """A proof with any hash missing is refused."""

    def change(hashes: list[bytes]) -> Iterator[list[bytes]]:
        for at in {0, len(hashes) // 2, len(hashes) - 1}:
            yield hashes[:at] + hashes[at + 1 :]

    yield from lists("shape|other-leaf", change)


@reject
def r11_sibling_added() -> Cases:
    """A proof with a hash too many, at any place and of any value, is refused."""

    def change(hashes: list[bytes]) -> Iterator[list[bytes]]:
        for at in (0, len(hashes) // 2, len(hashes)):
            for extra in (b"\x5a" * 32, EMPTY, hashes[0], part(home()["atom@root"], OPENING, LOG_ROOT)):
                yield [*hashes[:at], extra, *hashes[at:]]

    yield from lists("shape|other-leaf", change)


@reject
def r13_sibling_of_another_width() -> Cases:
    """A proof with a hash of 0, 31, 33 or 64 bytes is refused."""

    def change(hashes: list[bytes]) -> Iterator[list[bytes]]:
        for other in (b"", hashes[-1][:31], hashes[-1] + b"\0", hashes[-1] * 2):
            yield [*hashes[:-1], other]

    yield from lists("shape|other-leaf", change)
