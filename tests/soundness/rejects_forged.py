"""Named rejects x16 to x23: proofs against roots that a writer made wrong on purpose."""

from __future__ import annotations

from typing import Any, NamedTuple

from proofs.codec import encode_header
from proofs.events import CheckpointDetail, EventKind, Header
from proofs.hashing import (
    EMPTY,
    NAMESPACES,
    commitment,
    edges_beginning,
    inner_row_hash,
    label_commitment,
    overall_root,
    position,
    row_leaf,
    value_digest,
)
from proofs.labels import TERMS, label_of
from proofs.leaves import (
    TAIL_LEVEL,
    Direction,
    Group,
    Summary,
    Value,
    edge_leaf,
    encode_value,
    index_root,
    segment_key,
    set_row,
    tags_row,
)
from proofs.log import leaf_hash
from proofs.rows import rows_root
from tests.reference.world import beside
from tests.soundness.forged_events import events
from tests.soundness.forged_links import CHECKPOINT, KIND, linked
from tests.soundness.rejects import Cases, atom, changed, home, offered, part, put, reject
from tests.soundness.support import items
from tests.soundness.synthetic import opened, root_of, tree_of
from tests.soundness.wire import (
    LABEL_KEY,
    SEGMENTS,
    WITNESSES,
    Case,
    edited,
    packed,
    plain_basis,
    plain_claim,
    replaced,
)

STORE = b"\x33" * 16
COUNT = 9
"""The number of ordinals in the index of a forged store."""
SALT = b"\x44" * 16
"""The salt of each chunk and row; a verifier cannot tell where it comes from."""


def label(term: str, key: bytes) -> bytes:
    """Return the label of a term under a label key."""
    return label_of(key, TERMS, term.encode())


def _alphabetical(key: bytes) -> bool:
    labels = [label(term, key) for term in ("aaa", "ant", "bee", "sea", "tide", "zebra")]
    return labels == sorted(labels)


KEY = next(key for number in range(1 << 16) if _alphabetical(key := number.to_bytes(32, "big")))
"""The label key, under which the labels of the words here have the order of the words."""
LIVE = set_row(KEY, Group.LIVE, "", 0)
ALL_LIVE = b"".join(number.to_bytes(2, "little") for number in range(COUNT))
Leaves = dict[bytes, bytes]


class Forged(NamedTuple):
    """A store with arbitrary leaves, and its root."""

    atoms: Leaves
    tags: Leaves
    """The chunk of each key, without its salt."""
    rows: list[tuple[bytes, bytes]]
    """The name and the value of each row, without its salt."""

    @property
    def row_leaves(self) -> list[bytes]:
        """Return the row leaves of the only segment."""
        return [row_leaf(name, SALT + value) for name, value in self.rows]

    @property
    def summary(self) -> Summary:
        """Return the summary of the tail."""
        return Summary(COUNT, 5, len(self.rows), rows_root(self.row_leaves))

    @property
    def opening(self) -> list[Any]:
        """Return the opening of the overall root."""
        index = index_root(COUNT, [(segment_key(TAIL_LEVEL, 0), self.summary)])
        roots = [root_of(self.tree("atoms")), EMPTY, index, root_of(self.tree("tags"))]
        return [1, label_commitment(KEY), 7, EMPTY, list(map(list, zip(NAMESPACES, roots, strict=True)))]

    def tree(self, namespace: str) -> Any:
        """Return the tree of a namespace."""
        given = self.atoms if namespace == "atoms" else {key: SALT + row for key, row in self.tags.items()}
        return tree_of(
            {position(namespace, key): value_digest(namespace, value) for key, value in given.items()}
        )

    def opened(self, namespace: str, keys: list[bytes]) -> list[bytes] | None:
        """Return the honest opening of a namespace at some keys."""
        return (
            list(opened(self.tree(namespace), [position(namespace, key) for key in keys])) if keys else None
        )

    def entry(self, at: int) -> list[Any]:
        """Return the entry that shows the row at a position."""
        return [at, SALT + self.rows[at][1], beside(self.row_leaves, {at})]

    def between(self, at: int, count: int = 2) -> list[Any]:
        """Return the entry that shows one or two adjacent rows as neighbours of an absent term."""
        flat = [
            one for key, value in self.rows[at : at + count] for one in (key, inner_row_hash(SALT + value))
        ]
        return [at, flat, beside(self.row_leaves, set(range(at, at + count)))]

    def case(
        self, reason: str, claim: list[Any], witness: list[Any], atoms: list[bytes], tags: list[bytes]
    ) -> Case:
        """Return the case of a proof against this root, whose trees are opened at these keys."""
        *others, pairs = self.opening
        rules, labels, size, log_root = others
        root = overall_root(STORE, rules, labels, size, log_root, [(name, root) for name, root in pairs])
        label_key = KEY if claim[0] not in ("AtomIs", "NoAtom") else None
        listed = claim[0] in ("AtomsTagged", "NoneTagged", "AtomsMentioning", "NoneMentioning")
        segments = [COUNT, [list(self.summary)]] if listed else None
        trees = [self.opened("atoms", atoms), None, self.opened("tags", tags)]
        data = packed(["memroot-proof", 3, None, self.opening, label_key, segments, *trees, [witness]])
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
        {},
        {LIVE: ALL_LIVE},
        [(b"\0", b"lengths"), (b"\0\1", b"facts"), (label("sea", KEY), value), (label("tide", KEY), b"x")],
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
        for lives in ([None], [SALT + ALL_LIVE], []):
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
        ("row", "sea", [rows, [b"a", EMPTY, b"\xff", EMPTY], whole]),
        ("row", "sea", [rows + 7, [b"a", EMPTY, b"\xff", EMPTY], whole]),
        ("row", "sea", [rows - 1, [b"a", EMPTY, b"\xff", EMPTY], beside(forged.row_leaves, {rows - 1})]),
        ("row", "sea", [rows - 1, [b"a", EMPTY], whole]),
        ("row", "sea", [rows, SALT + row([1], [1]), whole]),
        ("row", "sea", [1 << 60, SALT + row([1], [1]), whole]),
    ):
        yield forged.case(reason, ["NoneMentioning", term], [10, [entry], []], [], [])
    yield forged.case("list", claim, [10, [forged.entry(2)], [SALT + ALL_LIVE]], [], [LIVE])


@reject
def x18_wrong_sets_under_a_root() -> Cases:
    """A chunk that is not canonical, or has unknown ordinals, is refused even if the root commits to it."""
    value = encode_value(Value(0, 1, 1, 1, 1, 1, bytes(32)))
    key = set_row(KEY, Group.TAG, "a", 0)
    alive = SALT + ALL_LIVE
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
            yield forged.case(
                "chunk", [name, atom(0), "a"], [number, value, alive, SALT + chunk], [atom(0)], [key, LIVE]
            )
        yield forged.case("chunk", ["NoneTagged", "a"], [8, [[SALT + chunk, None]]], [], [key, LIVE])
        live = Forged({}, {LIVE: chunk, key: ALL_LIVE}, with_row(row([1], [1])).rows)
        yield live.case("chunk", ["NoneTagged", "a"], [8, [[alive, SALT + chunk]]], [], [key, LIVE])
        yield live.case("chunk", ["NoneMentioning", "sea"], [10, [live.entry(2)], [SALT + chunk]], [], [LIVE])
    beyond = ALL_LIVE + COUNT.to_bytes(2, "little")
    forged = Forged({}, {key: beyond, LIVE: ALL_LIVE}, with_row(b"").rows)
    yield forged.case("chunk", ["NoneTagged", "a"], [8, [[SALT + beyond, None]]], [], [key, LIVE])
    twice = [[atom(0), encode_value(Value(0, number, 1, 1, 1, 1, bytes(32)))] for number in (0, 1)]
    both = Forged({atom(0): value}, {key: b"\0\0\1\0", LIVE: ALL_LIVE}, with_row(b"").rows)
    witness = [7, [[SALT + b"\0\0\1\0", alive]], twice]
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
    pairs = [[name, EMPTY] for name in NAMESPACES]
    for size in (1, 3):
        root = overall_root(STORE, 1, EMPTY, size, EMPTY, [(name, EMPTY) for name in NAMESPACES])
        header = encode_header(
            Header(0, 1, EventKind.CHECKPOINT, "user", bytes(32), None, CheckpointDetail(root))
        )
        trees = [[b"\3", b""], None, None]
        opening = [1, EMPTY, size, EMPTY, pairs]
        data = packed(["memroot-proof", 3, [header, b""], opening, None, None, *trees, [[2]]])
        yield Case("root", "verify", [data, ["LogHead", STORE, 1, leaf_hash(header)], [["NoAtom", atom(0)]]])


@reject
def x20_links_to_other_logs() -> Cases:
    """A checkpoint of a state of another log or size is refused, though its own log commits to it."""
    checkpoint = next(event.header for event in events() if event.header[KIND] == CHECKPOINT)
    for asked in (linked(checkpoint, other_log=True), *(linked(checkpoint, shift=by) for by in (-1, 1))):
        claims = [plain_claim(claim) for claim in asked.claims]
        yield Case("root", "verify", [asked.data, plain_basis(asked.basis), claims])


@reject
def x21_labels_and_salts() -> Cases:
    """Another label key, the row or set of another label, another salt, and a salt alone are refused."""
    for name in ("tag@root", "no-tag@log", "tagged@root", "none-tagged@log", "term@root", "tags@log"):
        yield put("label", home()[name], bytes(32), LABEL_KEY)
        yield put("form", home()[name], bytes(31), LABEL_KEY)
    forged = with_row(row([1], [1]))
    for at in (0, 1, 3):
        yield forged.case("row", ["NoneMentioning", "sea"], [10, [forged.entry(at)], [None]], [], [LIVE])
    value = encode_value(Value(0, 1, 1, 1, 1, 1, bytes(32)))
    other = set_row(KEY, Group.TAG, "b", 0)
    tagged = Forged({atom(0): value}, {other: ALL_LIVE, LIVE: ALL_LIVE}, forged.rows)
    alive = SALT + ALL_LIVE
    why = "tree|shape|absent|other-leaf"
    yield tagged.case(why, ["HasTag", atom(0), "a"], [5, value, alive, alive], [atom(0)], [other, LIVE])
    salted = bytes(16) + ALL_LIVE
    yield tagged.case("tree", ["HasTag", atom(0), "b"], [5, value, alive, salted], [atom(0)], [other, LIVE])
    for bare in (b"", SALT[:-1], SALT):
        yield tagged.case(
            "chunk", ["HasTag", atom(0), "b"], [5, value, alive, bare], [atom(0)], [other, LIVE]
        )
        yield tagged.case(
            "chunk", ["HasTag", atom(0), "b"], [5, value, bare, alive], [atom(0)], [other, LIVE]
        )


@reject
def x22_lists_with_something_left_out() -> Cases:
    """A list without a segment, or without an edge of the list, is refused, whatever stands in its place."""
    for name in ("term@root", "no-term@log"):
        item = items(1000)[name]
        yield changed("form", item, lambda parts: parts[WITNESSES][0][1].pop())
        yield changed("segments", item, lambda parts: parts[SEGMENTS][1].pop())
    edges = {edge_leaf(Direction.FROM, atom(0), b"\1", atom(to)): value_of_edge(to) for to in (1, 2, 3)}
    digests = {position("edges", key): value_digest("edges", value) for key, value in edges.items()}
    tree = tree_of(digests)
    roots = [(name, root_of(tree) if name == "edges" else EMPTY) for name in NAMESPACES]
    basis = ["Root", STORE, overall_root(STORE, 1, EMPTY, 7, EMPTY, roots), None]
    opening = [1, EMPTY, 7, EMPTY, list(map(list, roots))]
    claim = ["EdgesOf", atom(0), Direction.FROM, None]
    listed = sorted([key, value] for key, value in edges.items())
    begin = edges_beginning(Direction.FROM, atom(0), None).ljust(32, b"\0")
    for left in range(3):
        some = listed[:left] + listed[left + 1 :]
        at = [begin, *(position("edges", key) for key, _ in some)]
        trees = [None, list(opened(tree, at)), None]
        data = packed(["memroot-proof", 3, None, opening, None, None, *trees, [[15, some]]])
        yield Case("list", "verify", [data, basis, [claim]])
    for other in (
        listed[::-1],
        [*listed, listed[0]],
        [[listed[0][0][:33], listed[0][1]]],
        [[b"", listed[0][1]]],
    ):
        trees = [None, list(opened(tree, digests)), None]
        data = packed(["memroot-proof", 3, None, opening, None, None, *trees, [[15, other]]])
        yield Case("list", "verify", [data, basis, [claim]])
    listed[0][0] = b"\1" + listed[0][0][1:]
    data = packed(["memroot-proof", 3, None, opening, None, None, None, [b"\3", b""], None, [[15, listed]]])
    yield Case("list", "verify", [data, basis, [claim]])
    tree = tree_of(dict(list(digests.items())[:1]))
    roots = [(name, root_of(tree) if name == "edges" else EMPTY) for name in NAMESPACES]
    basis = ["Root", STORE, overall_root(STORE, 1, EMPTY, 7, EMPTY, roots), None]
    opening = [1, EMPTY, 7, EMPTY, list(map(list, roots))]
    trees = [None, list(opened(tree, [begin])), None]
    data = packed(["memroot-proof", 3, None, opening, None, None, *trees, [[15, []]]])
    yield Case("list", "verify", [data, basis, [claim]])
    several = home()["several@root"]
    lists = [(where, one[1]) for where, one in enumerate(part(several, WITNESSES)) if one[0] == 15 and one[1]]
    where, entries = lists[0]
    data = edited(several, lambda parts: replaced(parts, [15, entries[1:]], WITNESSES, where))
    yield offered("list", several, data)
    only = home()["edges@root"]
    yield changed("tree|shape|other-leaf|list", only, lambda parts: parts[WITNESSES][0][1].pop())


@reject
def x24_other_rows_and_events() -> Cases:
    """A row that is not one of tags, and an event that does not say that a head was seen, are refused."""
    value, alive = encode_value(Value(0, 1, 1, 1, 1, 1, bytes(32))), SALT + ALL_LIVE
    for reason, tags in (
        ("encoding", b"\x9f\x61a\xff"),
        ("encoding", packed(["a"]) + b"\0"),
        ("chunk", packed("a")),
        ("chunk", packed([])),
        ("chunk", packed([1])),
        ("chunk", packed(["b", "a"])),
    ):
        forged = Forged({atom(0): value}, {tags_row(1): tags, LIVE: ALL_LIVE}, with_row(b"").rows)
        witness = [16, value, alive, SALT + tags]
        yield forged.case(reason, ["TagsOf", atom(0)], witness, [atom(0)], [tags_row(1), LIVE])
    event, seen = home()["event@log"], home()["seen@log"]
    _, header, _, path = part(event, WITNESSES, 0)
    data = edited(event, lambda parts: replaced(parts, [17, header, path], WITNESSES, 0))
    yield offered("header", event, data, claims=seen.claims)


def value_of_edge(number: int) -> bytes:
    """Return the value of an edge."""
    return encode_value(Value(0, 0, 1, number, number, number, bytes(32)))


@reject
def x23_other_spellings() -> Cases:
    """An id, a root or a number in words that is not in its one spelling is refused."""
    spelt = "12345678-90ab-8cde-8f01-234567890abc"
    for odd in (
        spelt.upper(),
        spelt.replace("-", ""),
        "{" + spelt + "}",
        "urn:uuid:" + spelt,
        spelt + " ",
        spelt[:-1],
        spelt[1:] + "0",
        spelt.replace("a", "\uff41"),
    ):
        for words in (("atom", odd), ("no-atom", odd), ("tag", odd, "a"), ("edges-from", odd), ("tags", odd)):
            yield Case("input", "words", [*words])
    root = "ab" * 32
    for odd in (root.upper(), root[:-1], root + "0", "0x" + root[2:]):
        yield Case("input", "words", ["root", odd])
        yield Case("input", "words", ["seen", spelt, "7", odd])
    for odd in ("07", "+7", "-7", "7.0", "\u0667", "", "7_0"):
        yield Case("input", "words", ["event", odd])
        yield Case("input", "words", ["seen", spelt, odd, root])
    yield Case("input", "words", ["event", "0"])
    yield Case("input", "claim", ["EventIs", 0, True])
    for odd in ("1", "1-", "-1", "2-1", "01-2", "1-4294967296"):
        yield Case("input", "words", ["none-tagged", "a", odd])
