"""Named rejects 32 to 47: events in the log, and logs that begin with others."""

from __future__ import annotations

from typing import Any

from proofs.log import EMPTY_ROOT, leaf_hash, node_hash, root_of
from tests.reference.world import consistency, inclusion
from tests.soundness.rejects import Cases, cut, home, later, offered, part, put, reject
from tests.soundness.wire import LINK, LOG_ROOT, OPENING, SIZE, WITNESSES, Case

LEAVES = [leaf_hash(bytes([number])) for number in range(16)]
ROOTS = [root_of(LEAVES[:size]) for size in range(17)]
HUGE = (1 << 63, 1 << 64, 1 << 300)
ODD: tuple[Any, ...] = (-1, True, False, 1.0, None, "1", b"\1")


def path(index: int, size: int) -> list[bytes]:
    """Return an honest path of inclusion."""
    return cut(inclusion(index, LEAVES[:size]))


def between(old: int, size: int) -> list[bytes]:
    """Return an honest path of consistency."""
    return cut(consistency(old, LEAVES[:size]))


def event(reason: str, index: Any, size: Any, leaf: Any, hashes: list[Any], root: Any) -> Case:
    """Return the question whether a log has a leaf."""
    return Case(reason, "inclusion", [index, size, leaf, hashes, root])


def logs(reason: str, old: Any, old_root: Any, size: Any, root: Any, hashes: list[Any]) -> Case:
    """Return the question whether a log begins with another."""
    return Case(reason, "consistency", [old, old_root, size, root, hashes])


@reject
def r32_index_not_below_the_size() -> Cases:
    """An event whose index is the size of the log or more is refused."""
    for index, size in ((7, 7), (8, 7), (1, 1), (15, 8)):
        yield event("input", index, size, LEAVES[0], path(0, size), ROOTS[size])
    for name in ("event@log", "root@log"):
        item = home()[name]
        seq = part(item, WITNESSES, 0, 1)
        small = ["LogHead", item.basis[1], 1, leaf_hash(seq)]
        yield offered("inclusion", item, basis=small)
    item = home()["atom@log"]
    yield offered("inclusion", item, basis=["LogHead", item.basis[1], item.basis[2] - 1, item.basis[3]])


@reject
def r33_size_0() -> Cases:
    """A log of size 0 is refused as a basis, and every event in it is refused."""
    yield event("input", 0, 0, LEAVES[0], [], EMPTY_ROOT)
    yield event("input", 0, 0, EMPTY_ROOT, [], EMPTY_ROOT)
    yield Case("input", "basis", ["LogHead", bytes(16), 0, EMPTY_ROOT])
    yield Case("input", "basis", ["LogHead", bytes(16), None, EMPTY_ROOT])


@reject
def r34_size_1_with_a_path() -> Cases:
    """A path that is not empty is refused for the only event of a log."""
    for extra in ([LEAVES[0]], [LEAVES[1]], [ROOTS[2]], [bytes(32)]):
        yield event("inclusion", 0, 1, LEAVES[0], extra, LEAVES[0])
        yield event("inclusion", 0, 1, LEAVES[0], extra, node_hash(LEAVES[0], extra[0]))


@reject
def r35_index_xor_1() -> Cases:
    """The path of one event is refused for its neighbour."""
    for size in (2, 3, 7, 8, 16):
        for index in range(size):
            if index ^ 1 < size:
                yield event("inclusion", index ^ 1, size, LEAVES[index], path(index, size), ROOTS[size])
    item = home()["event@log"]
    yield offered("header", item, claims=[["EventIs", item.claims[0][1] ^ 1, True]])


@reject
def r36_another_size() -> Cases:
    """A path is refused for another size that changes its shape: one more or less, twice, half.

    If the shape is the same for both sizes, the path does not show the size; it is trusted with its root.
    """
    for index, size, other in ((6, 7, 8), (6, 8, 7), (6, 7, 14), (5, 8, 16), (2, 8, 4), (4, 5, 6)):
        yield event("inclusion", index, other, LEAVES[index], path(index, size), ROOTS[size])
        yield event("inclusion", index, other, LEAVES[index], path(index, size), ROOTS[other])


@reject
def r37_path_of_another_length() -> Cases:
    """A path with a hash too few or too many, at either end, is refused."""
    for index, size in ((0, 2), (3, 7), (6, 7), (5, 8), (0, 16)):
        right = path(index, size)
        for other in (
            right[:-1],
            right[1:],
            [LEAVES[index], *right],
            [*right, ROOTS[size]],
            [*right, right[-1]],
        ):
            yield event("inclusion", index, size, LEAVES[index], other, ROOTS[size])
    for name, place in (("event@log", (WITNESSES, 0, 3)), ("atom@log", (LINK, 1))):
        hashes = part(home()[name], *place)
        for raw in (b"", hashes * 20, bytes(32 * 65)):
            reason = "form" if len(raw) > 32 * 64 else "inclusion"
            yield put(reason, home()[name], raw, *place)


@reject
def r38_numbers_that_are_none() -> Cases:
    """Numbers below 0 or from 2^63 on, booleans, floats and text are refused as numbers."""
    for odd in (*HUGE, *ODD):
        yield event("input", odd, 8, LEAVES[0], path(0, 8), ROOTS[8])
        yield event("input", 0, odd, LEAVES[0], [], LEAVES[0])
        yield logs("input", odd, ROOTS[1], 8, ROOTS[8], between(1, 8))
        yield logs("input", 1, ROOTS[1], odd, ROOTS[8], between(1, 8))
        yield Case("input", "claim", ["EventIs", odd, True])
        yield Case("input", "claim", ["LogBegins", odd, ROOTS[1]])
        yield Case("input", "basis", ["LogHead", bytes(16), odd, ROOTS[1]])
        if odd is not None:
            yield Case("input", "basis", ["Root", bytes(16), ROOTS[1], odd])
    yield Case("input", "claim", ["EventIs", (1 << 53) + 1, True])
    yield Case("input", "claim", ["LogBegins", 0, EMPTY_ROOT])
    for size in (1 << 63, "1", None, b"\1"):
        yield put("form", home()["atom@root"], size, OPENING, SIZE)
    yield put("encoding", home()["atom@root"], True, OPENING, SIZE)
    yield put("encoding", home()["atom@root"], 2.0, OPENING, SIZE)
    yield put("encoding", home()["atom@root"], -1, OPENING, SIZE)
    yield put("encoding", home()["atom@root"], 1 << 64, OPENING, SIZE)


@reject
def r39_hashes_of_another_width() -> Cases:
    """A leaf, root or sibling of another width is refused, even if leaf and root are equally wrong."""
    for odd in (b"", b"\1" * 12, bytes(31), bytes(33), bytes(64), None, "x"):
        yield event("inclusion", 0, 1, odd, [], odd)
        yield event("inclusion", 0, 8, odd, path(0, 8), ROOTS[8])
        yield event("inclusion", 0, 8, LEAVES[0], path(0, 8), odd)
        yield event("inclusion", 0, 2, LEAVES[0], [odd], ROOTS[2])
        yield logs("consistency", 4, odd, 8, ROOTS[8], between(4, 8))
        yield logs("consistency", 4, ROOTS[4], 8, odd, between(4, 8))
        yield logs("consistency", 4, odd, 4, odd, [])
        yield logs("consistency", 4, ROOTS[4], 8, ROOTS[8], [odd])
        yield Case("input", "claim", ["LogBegins", 4, odd])
        yield Case("input", "claim", ["RootRecorded", odd])
        yield Case("input", "claim", ["BeginsWithRoot", odd])


@reject
def r40_last_leaf_doubled() -> Cases:
    """The log of seven events and the last one again is refused as the log of seven."""
    doubled = [*LEAVES[:7], LEAVES[6]]
    root = root_of(doubled)
    for index in range(7):
        for size in (7, 8):
            yield event("inclusion", index, size, doubled[index], cut(inclusion(index, doubled)), ROOTS[7])
    yield event("inclusion", 6, 7, LEAVES[6], cut(inclusion(6, doubled)), root)
    yield event("inclusion", 7, 8, LEAVES[6], cut(inclusion(7, doubled)), ROOTS[7])
    yield event("inclusion", 2, 3, LEAVES[2], [LEAVES[2], ROOTS[2]], ROOTS[3])


@reject
def r41_proof_for_another_size() -> Cases:
    """A proof for one log is refused against another size of the same log."""
    for name in ("event@root", "root@root", "prefix@root"):
        yield offered("root", home()[name], basis=later()[name].basis)
    for name in ("event@log", "root@log", "prefix-root@log"):
        item = home()[name]
        for size in (item.basis[2] // 2, item.basis[2] * 2 + 1):
            basis = ["LogHead", item.basis[1], size, item.basis[3]]
            yield offered("inclusion|consistency", item, basis=basis)
    for size in (1, 2, 1 << 40):
        item = home()["atom@log"]
        yield offered("inclusion", item, basis=["LogHead", item.basis[1], size, item.basis[3]])
    event_before = later()["event@log"]
    raw, path_of_it = part(event_before, WITNESSES, 0, 1), part(event_before, WITNESSES, 0, 3)
    link = [raw, path_of_it]
    yield offered(
        "header",
        later()["atom@log"],
        _with_link(later()["atom@log"], link),
    )
    recorded = later()["root@log"]
    link = [part(recorded, WITNESSES, 0, 1), part(recorded, WITNESSES, 0, 2)]
    yield offered("header", later()["atom@log"], _with_link(later()["atom@log"], link))


def _with_link(item: Any, link: list[bytes]) -> bytes:
    """Return the proof with the header and path of another event of the same log."""
    case = put("header", item, link, LINK)
    data: bytes = case.given[0]
    return data


@reject
def r42_older_log_is_longer() -> Cases:
    """A longer log is refused as the beginning of a shorter one."""
    for old, size in ((8, 7), (2, 1), (16, 8), (1 << 62, 8)):
        yield logs("input", old, ROOTS[8], size, ROOTS[7], between(7, 8))
    item = home()["prefix@root"]
    _, size, root = item.claims[0]
    for other in (part(item, OPENING, SIZE) + 1, 1 << 40):
        yield offered("consistency", item, claims=[["LogBegins", other, root]])
    assert size < part(item, OPENING, SIZE)


@reject
def r43_equal_sizes() -> Cases:
    """For logs of one size, different roots and a path that is not empty are refused."""
    for size in (1, 3, 8):
        yield logs("consistency", size, ROOTS[size], size, ROOTS[size + 1], [])
        yield logs("consistency", size, ROOTS[size], size, ROOTS[size], [ROOTS[size]])
        yield logs("consistency", size, ROOTS[size], size, ROOTS[size], [LEAVES[0]])
        yield logs("consistency", size, ROOTS[size + 1], size, ROOTS[size], [])


@reject
def r44_older_log_is_empty() -> Cases:
    """A consistency proof from size 0 is refused, with any path and roots."""
    for root in (EMPTY_ROOT, bytes(32), b"", ROOTS[8]):
        for hashes in ([], [ROOTS[8]], path(0, 8)):
            yield logs("input", 0, root, 8, ROOTS[8], hashes)
            yield logs("input", 0, root, 0, root, hashes)


@reject
def r45_roots_swapped() -> Cases:
    """The roots of two logs are refused if they are swapped."""
    for old, size in ((1, 2), (3, 7), (4, 8), (6, 8), (8, 16)):
        yield logs("consistency", old, ROOTS[size], size, ROOTS[old], between(old, size))
    item = home()["prefix@root"]
    _, size, _ = item.claims[0]
    yield offered("consistency", item, claims=[["LogBegins", size, part(item, OPENING, LOG_ROOT)]])


@reject
def r46_older_size_a_power_of_two() -> Cases:
    """A path from a complete log with its root, or from another without its first hash, is refused."""
    for old, size in ((1, 2), (2, 3), (4, 7), (8, 16), (8, 9)):
        yield logs("consistency", old, ROOTS[old], size, ROOTS[size], [ROOTS[old], *between(old, size)])
        yield logs("consistency", old, ROOTS[old], size, ROOTS[size], between(old, size)[1:])
    for old, size in ((3, 7), (6, 8), (7, 16)):
        yield logs("consistency", old, ROOTS[old], size, ROOTS[size], between(old, size)[1:])
        yield logs("consistency", old, ROOTS[old], size, ROOTS[size], [ROOTS[old], *between(old, size)])


@reject
def r47_path_cut_or_grown() -> Cases:
    """A consistency path that is shorter, longer, reordered, or contains a root is refused."""
    for old, size in ((3, 7), (4, 7), (6, 8), (5, 16), (1, 16)):
        right = between(old, size)
        others = [
            right[:-1],
            [*right, ROOTS[old]],
            [*right, ROOTS[size]],
            [ROOTS[size], *right],
            [*right, LEAVES[0]],
        ]
        others += [right[::-1]] if len(right) > 1 else []
        others += [[]]
        for other in others:
            yield logs("consistency", old, ROOTS[old], size, ROOTS[size], other)
        yield logs("consistency", old - 1 or 2, ROOTS[old], size, ROOTS[size], right)
        yield logs("consistency", old, ROOTS[old - 1], size, ROOTS[size], right)
        yield logs("consistency", old, ROOTS[old], size, ROOTS[size - 1], right)
