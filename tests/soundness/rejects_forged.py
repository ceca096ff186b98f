"""Named rejects x16 to x20: proofs against roots that a writer made wrong on purpose."""

from __future__ import annotations

from typing import Any, NamedTuple

from proofs.codec import encode_header
from proofs.events import CheckpointDetail, EventKind, Header
from proofs.hashing import EMPTY, commitment, inner_row_hash, key_digest, overall_root, row_leaf, value_digest
from proofs.leaves import TAIL_LEVEL, Group, Summary, Value, encode_value, index_root, segment_key, set_row
from proofs.log import leaf_hash
from proofs.rows import rows_root
from tests.reference.world import beside
from tests.soundness.rejects import Cases, atom, part, reject
from tests.soundness.support import items
from tests.soundness.synthetic import opened, root_of, tree_of
from tests.soundness.wire import WITNESSES, Case, packed

STORE = b"\x33" * 16
COUNT = 9
"""The number of ordinals in the index of a forged store."""
LIVE = set_row(Group.LIVE, "", 0)
ALL_LIVE = b"".join(number.to_bytes(2, "little") for number in range(COUNT))
Leaves = dict[bytes, bytes]


class Forged(NamedTuple):
    """A store with arbitrary leaves, and its root."""

    atoms: Leaves
    tags: Leaves
    rows: list[tuple[bytes, bytes]]

    @property
    def row_leaves(self) -> list[bytes]:
        """Return the row leaves of the only segment."""
        return [row_leaf(*row) for row in self.rows]

    @property
    def summary(self) -> Summary:
        """Return the summary of the tail."""
        return Summary(COUNT, 5, len(self.rows), rows_root(self.row_leaves))

    @property
    def opening(self) -> list[Any]:
        """Return the opening of the overall root."""
        index = index_root(COUNT, [(segment_key(TAIL_LEVEL, 0), self.summary)])
        return [7, EMPTY, root_of(self.tree("atoms")), EMPTY, index, root_of(self.tree("tags"))]

    def tree(self, namespace: str) -> Any:
        """Return the tree of a namespace."""
        given = self.atoms if namespace == "atoms" else self.tags
        return tree_of(
            {key_digest(namespace, key): value_digest(namespace, value) for key, value in given.items()}
        )

    def opened(self, namespace: str, keys: list[bytes]) -> list[bytes] | None:
        """Return the honest opening of a namespace at some keys."""
        return (
            list(opened(self.tree(namespace), [key_digest(namespace, key) for key in keys])) if keys else None
        )

    def entry(self, at: int) -> list[Any]:
        """Return the entry that shows the row at a position."""
        return [at, self.rows[at][1], beside(self.row_leaves, {at})]

    def between(self, at: int, count: int = 2) -> list[Any]:
        """Return the entry that shows one or two adjacent rows as neighbours of an absent term."""
        flat = [one for key, value in self.rows[at : at + count] for one in (key, inner_row_hash(value))]
        return [at, flat, beside(self.row_leaves, set(range(at, at + count)))]

    def case(
        self, reason: str, claim: list[Any], witness: list[Any], atoms: list[bytes], tags: list[bytes]
    ) -> Case:
        """Return the case of a proof against this root, whose trees are opened at these keys."""
        names = ("atoms", "edges", "index", "tags")
        size, log_root, *roots = self.opening
        root = overall_root(STORE, size, log_root, list(zip(names, roots, strict=True)))
        listed = claim[0] in ("AtomsTagged", "NoneTagged", "AtomsMentioning", "NoneMentioning")
        segments = [COUNT, [list(self.summary)]] if listed else None
        trees = [self.opened("atoms", atoms), None, self.opened("tags", tags)]
        data = packed(["memroot-proof", 2, None, self.opening, segments, *trees, [witness]])
        return Case(reason, "verify", [data, ["Root", STORE, root, None], [claim]])


def row(offsets: list[int], tfs: list[int], *, df: int | None = None, most: int | None = None) -> bytes:
    """Return the bytes of a term's row."""
    head = (len(offsets) if df is None else df).to_bytes(4, "big") + bytes(
        [max(tfs) if most is None else most]
    )
    return head + b"".join(offset.to_bytes(2, "little") for offset in offsets) + bytes(tfs)


def with_row(value: bytes) -> Forged:
    """Return a store with one atom, whose only term has this row."""
    return Forged(
        {}, {LIVE: ALL_LIVE}, [(b"\0", b"lengths"), (b"\0\1", b"facts"), (b"sea", value), (b"tide", b"x")]
    )


WRONG_ROWS = {
    "empty": b"",
    "no documents": bytes(5),
    "more documents than there are": row(list(range(COUNT + 1)), [1] * (COUNT + 1)),
    "offset beyond": row([COUNT], [1]),
    "offsets not ascending": row([2, 1], [1, 1]),
    "offset twice": row([1, 1], [1, 1]),
    "tf 0": row([1, 2], [0, 1]),
    "another greatest tf": row([1], [1], most=2),
    "longer": row([1], [1]) + b"\1",
    "shorter": row([1], [1])[:-1],
    "another count": row([1], [1], df=2),
}


@reject
def x16_wrong_rows_under_a_root() -> Cases:
    """A row that is not canonical is refused even if the root commits to it, and is no proof of absence."""
    for value in WRONG_ROWS.values():
        forged = with_row(value)
        for lives in ([None], [ALL_LIVE], []):
            witness = [10, [forged.entry(2)], lives]
            tags = [LIVE] if lives else []
            reason = "row|form" if not lives else "row"
            yield forged.case(reason, ["NoneMentioning", "sea"], witness, [], tags)
        yield Case("row", "row", [value, COUNT, COUNT])


@reject
def x17_rows_that_leave_room() -> Cases:
    """Rows are refused unless they are in the segment, adjacent, and on both sides of the term."""
    forged = with_row(row([1], [1]))
    rows, claim = len(forged.rows), ["NoneMentioning", "sea"]
    whole = forged.summary.root
    for reason, term, entry in (
        ("neighbours", "sea", forged.between(2)),
        ("neighbours", "sea", forged.between(1)),
        ("neighbours", "tide", forged.between(2)),
        ("neighbours", "zebra", forged.between(2)),
        ("neighbours", "aaa", forged.between(2)),
        ("neighbours", "zebra", forged.between(2, 1)),
        ("neighbours", "sea", forged.between(1, 1)),
        ("neighbours", "sea", [rows, forged.between(1, 1)[1], whole]),
        ("row", "sea", [rows, [b"a", EMPTY, b"z", EMPTY], whole]),
        ("row", "sea", [rows + 7, [b"a", EMPTY, b"z", EMPTY], whole]),
        ("row", "sea", [rows - 1, [b"a", EMPTY, b"z", EMPTY], beside(forged.row_leaves, {rows - 1})]),
        ("row", "sea", [rows - 1, [b"a", EMPTY], whole]),
        ("row", "sea", [rows, row([1], [1]), whole]),
        ("row", "sea", [1 << 60, row([1], [1]), whole]),
    ):
        yield forged.case(reason, ["NoneMentioning", term], [10, [entry], []], [], [])
    yield forged.case("list", claim, [10, [forged.entry(2)], [ALL_LIVE]], [], [LIVE])


@reject
def x18_wrong_sets_under_a_root() -> Cases:
    """A chunk that is not canonical, or has unknown ordinals, is refused even if the root commits to it."""
    value = encode_value(Value(0, 1, 1, 1, 1, 1, bytes(32)))
    key = set_row(Group.TAG, "a", 0)
    for chunk in (
        b"",
        b"\1",
        b"\2\0\1\0",
        b"\1\0\1\0",
        bytes(8192),
        b"\xff" * 8190,
        bytes(8194),
        bytes(8191),
    ):
        forged = Forged({atom(0): value}, {key: chunk, LIVE: ALL_LIVE}, with_row(b"").rows)
        for name, number in (("HasTag", 5), ("LacksTag", 6)):
            yield forged.case("chunk", [name, atom(0), "a"], [number, value, chunk], [atom(0)], [key])
        yield forged.case("chunk", ["NoneTagged", "a"], [8, [[chunk, None]]], [], [key, LIVE])
        live = Forged({}, {LIVE: chunk, key: ALL_LIVE}, with_row(row([1], [1])).rows)
        yield live.case("chunk", ["NoneTagged", "a"], [8, [[ALL_LIVE, chunk]]], [], [key, LIVE])
        yield live.case("chunk", ["NoneMentioning", "sea"], [10, [live.entry(2)], [chunk]], [], [LIVE])
    beyond = ALL_LIVE + COUNT.to_bytes(2, "little")
    forged = Forged({}, {key: beyond, LIVE: ALL_LIVE}, with_row(b"").rows)
    yield forged.case("chunk", ["NoneTagged", "a"], [8, [[beyond, None]]], [], [key, LIVE])
    twice = [[atom(0), encode_value(Value(0, number, 1, 1, 1, 1, bytes(32)))] for number in (0, 1)]
    both = Forged({atom(0): value}, {key: b"\0\0\1\0", LIVE: ALL_LIVE}, with_row(b"").rows)
    witness = [7, [[b"\0\0\1\0", ALL_LIVE]], twice]
    yield both.case("list", ["AtomsTagged", "a"], witness, [atom(0)], [key, LIVE])


@reject
def x19_wrong_events_under_a_root() -> Cases:
    """An invalid body or a checkpoint of another size is refused even if the log commits to it."""
    salt = bytes(32)
    body = part(items(24)["edge@root"], WITNESSES, 0, 2)[32:]
    for reason, other in (
        ("encoding", b""),
        ("encoding", b"\xd8\x1e\x82\1\2"),
        ("encoding", b"\x9f\xff"),
        ("encoding", body + b"\0"),
        ("payload", body),
        ("payload", packed([])),
        ("payload", packed(["x"] * 12)),
    ):
        value = encode_value(Value(0, 1, 1, 1, 1, 1, commitment(salt, other)))
        forged = Forged({atom(0): value}, {}, with_row(b"").rows)
        yield forged.case(reason, ["AtomIs", atom(0), 0, True], [1, value, salt + other], [atom(0)], [])
    names = ("atoms", "edges", "index", "tags")
    for size in (1, 3):
        root = overall_root(STORE, size, EMPTY, [(name, EMPTY) for name in names])
        header = encode_header(
            Header(0, 1, EventKind.CHECKPOINT, "user", bytes(32), None, CheckpointDetail(root))
        )
        trees = [[b"\3", b""], None, None]
        data = packed(["memroot-proof", 2, [header, b""], [size, *5 * [EMPTY]], None, *trees, [[2]]])
        yield Case("root", "verify", [data, ["LogHead", STORE, 1, leaf_hash(header)], [["NoAtom", atom(0)]]])


@reject
def x20_checkpoints_of_other_roots_than_four() -> Cases:
    """A checkpoint whose body does not have exactly four namespace roots is refused."""
    salt = bytes(32)
    for count in (0, 1, 2, 3, 5):
        body = packed([[EMPTY] * count])
        detail = CheckpointDetail(EMPTY)
        header = encode_header(
            Header(0, 1, EventKind.CHECKPOINT, "user", commitment(salt, body), None, detail)
        )
        data = packed(["memroot-proof", 2, *6 * [None], [[11, header, salt + body, b""]]])
        yield Case(
            "payload", "verify", [data, ["LogHead", STORE, 1, leaf_hash(header)], [["EventIs", 0, True]]]
        )
