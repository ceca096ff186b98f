"""Named reject 48, and rejects of whole proofs that are not among the 48 (x01 to x07, x14, x15)."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

from blake3 import blake3
from cbor2 import loads

from proofs.claims import IDENTITY_BYTES_MAX
from proofs.hashing import FORMAT, NAMESPACES, overall_root
from proofs.limits import PROOF_BYTES_MAX
from tests.reference.cbor import head
from tests.soundness.rejects import Cases, atom, changed, elsewhere, home, later, offered, part, put, reject
from tests.soundness.wire import (
    ATOMS,
    EDGES,
    LABEL_COMMITMENT,
    LABEL_KEY,
    LINK,
    LOG_ROOT,
    OPENING,
    ROOTS,
    RULES,
    SEGMENTS,
    SIZE,
    TAGS,
    WITNESSES,
    Case,
    Item,
    packed,
)


def _swap(parts: list[Any], one: int, other: int) -> None:
    roots = parts[OPENING][ROOTS]
    roots[one][1], roots[other][1] = roots[other][1], roots[one][1]


def _overall(item: Item, version: int, count: int, names: tuple[str, ...]) -> bytes:
    """Return the overall root of a proof's opening, with any of its fixed fields changed."""
    rules, label_commitment, size, log_root, pairs = part(item, OPENING)
    data = [
        version.to_bytes(4, "big"),
        item.basis[1],
        rules.to_bytes(4, "big"),
        label_commitment,
        size.to_bytes(8, "big"),
        log_root,
        count.to_bytes(2, "big"),
    ]
    roots = [root for _, root in pairs]
    data += [bytes([len(name)]) + name.encode() + root for name, root in zip(names, roots, strict=False)]
    return blake3(b"".join(data), derive_key_context="memroot 3 overall").digest()


@reject
def r48_components_of_the_overall_root() -> Cases:
    """An overall root with parts swapped, left out, or counted or numbered differently is refused."""
    for name in ("no-tag@root", "atom@log"):
        for one, other in combinations(range(4), 2):
            yield changed("root", home()[name], partial(_swap, one=one, other=other))
        for size in (0, 1, part(home()[name], OPENING, SIZE) - 1, (1 << 63) - 1):
            yield put("root", home()[name], size, OPENING, SIZE)
        for rules in (2, 255):
            yield put("root", home()[name], rules, OPENING, RULES)
        for rules in (0, 256):
            yield put("form", home()[name], rules, OPENING, RULES)
        for at in (LABEL_COMMITMENT, LOG_ROOT):
            yield put("root", home()[name], part(home()[name], OPENING, ROOTS, 0, 1), OPENING, at)
        for namespace in ("zones", "tagz"):
            extra = [namespace, bytes(32)]
            yield changed("root|form", home()[name], partial(_with_namespace, pair=extra))
    item = home()["atom@root"]
    assert _overall(item, FORMAT, 4, NAMESPACES) == item.basis[2]
    turned = (*NAMESPACES[:2], "tags", "index")
    for version, count, names in (
        (FORMAT - 1, 4, NAMESPACES),
        (FORMAT + 1, 4, NAMESPACES),
        (FORMAT, 3, NAMESPACES),
        (FORMAT, 3, NAMESPACES[:3]),
        (FORMAT, 5, NAMESPACES),
        (FORMAT, 4, turned),
        (FORMAT, 4, (*NAMESPACES[1:], "zones")),
    ):
        basis = ["Root", item.basis[1], _overall(item, version, count, names), None]
        yield offered("root", item, basis=basis)
    theirs = part(later()["atom@log"], OPENING)
    yield put("root", home()["atom@log"], theirs, OPENING)
    own = part(home()["atom@root"], OPENING)
    yield put("root", home()["atom@log"], own, OPENING)


def _with_namespace(parts: list[Any], pair: list[Any]) -> None:
    parts[OPENING][ROOTS].append(pair)


@reject
def x01_not_one_canonical_item() -> Cases:
    """Bytes that are not one canonical item of the allowed types are refused before they are decoded."""
    item = home()["atom@root"]
    for data in (
        b"",
        item.data[:-1],
        item.data[:40],
        item.data + b"\0",
        item.data * 2,
        b"\xd9\xd9\xf7" + item.data,
        b"\x9f" + item.data[1:] + b"\xff",
        b"\x98\x0a" + item.data[1:],
        b"\xa0",
        b"\xf5",
        b"\xfb" + bytes(8),
        b"\xc2\x41\x01",
        b"\xd8\x1e\x82\x01\x00",
        b"\xd8\x23\x63(a+",
        b"\x5b" + b"\xff" * 8,
        b"\x9b" + b"\xff" * 8,
        b"\x81" * 17 + b"\0",
        b"\x81" * 100_000,
        b"\x61\xff",
        b"\x18\x17",
        b"\x1c",
        b"\x5f\x41\0\xff",
    ):
        size = "size" if len(data) > PROOF_BYTES_MAX else "encoding"
        yield offered(size, item._replace(claims=[[*item.claims[0][:3], False]]), data)
    opened_too = packed([b"x"] * 3)
    yield offered("version", item, opened_too)
    yield offered("encoding", item, b"\x81" * 100_000)


@reject
def x02_not_the_form() -> Cases:
    """Another name, version, type or width of a part is refused."""
    item = home()["atom@root"]
    for at, other in (
        (0, "memroot-proof2"),
        (0, b"memroot-proof"),
        (1, 0),
        (1, 2),
        (1, 4),
        (1, "1"),
        (1, [1]),
    ):
        yield put("version", item, other, at)
    for data in (packed([]), packed(["memroot-proof"]), packed("memroot-proof"), packed(None)):
        yield offered("version|form", item, data)
    for data in (packed(["memroot-proof", 3]), packed(["memroot-proof", 3, None])):
        yield offered("form", item, data)
    whole = home()["several@log"]
    for at in (LINK, OPENING, LABEL_KEY, SEGMENTS, ATOMS, EDGES, TAGS, WITNESSES):
        for other in (b"", 0, "x", []):
            if at != WITNESSES or other != []:
                yield put("form", whole, other, at)
    yield put("form", whole, (1 << 32) + 1, SEGMENTS, 0)
    yield put("form", whole, b"", SEGMENTS, 0)
    yield put("form", whole, b"", SEGMENTS, 1)
    yield put("form", whole, 1, WITNESSES, 0)
    for name in ("tagged@root", "term@root"):
        for at in (1, 2):
            yield put("form", home()[name], b"", WITNESSES, 0, at)


@reject
def x03_too_large() -> Cases:
    """A proof over 64 KiB of one claim, not a list and not opened, or over 16 MiB of others is refused."""
    closed, bundle = home()["atom-closed@root"], home()["tagged@root"]
    yield offered("size", closed, closed.data + bytes(PROOF_BYTES_MAX))
    yield offered("encoding", home()["atom@root"], home()["atom@root"].data + bytes(PROOF_BYTES_MAX))
    yield offered("encoding", bundle, bundle.data + bytes(PROOF_BYTES_MAX))
    yield offered("size", bundle, head(4, 1 << 20) + bytes(1 << 20))
    yield Case("input", "verify", ["text", closed.basis, closed.claims])
    yield Case("input", "verify", [None, closed.basis, closed.claims])


@reject
def x04_parts_missing_or_unneeded() -> Cases:
    """A proof without a part that its claims need, or with another part, is refused."""
    for name in ("atom@log", "tagged@log", "several@log", "event@log", "prefix@log"):
        yield put("missing", home()[name], None, LINK)
    link, key = part(home()["atom@log"], LINK), part(home()["tags@log"], LABEL_KEY)
    segments, tree = part(home()["tagged@log"], SEGMENTS), part(home()["several@log"], EDGES)
    for name in ("atom@root", "event@root"):
        yield put("unneeded", home()[name], link, LINK)
    for name in ("event@log", "prefix@log", "root@log", "edges@log", "atom@root", "seen@root"):
        yield put("unneeded", home()[name], key, LABEL_KEY)
    for name in (
        "tag@root",
        "no-tag@log",
        "tagged@root",
        "none-tagged@log",
        "term@root",
        "no-term@log",
        "tags@log",
    ):
        yield put("missing", home()[name], None, LABEL_KEY)
    for name in ("atom@root", "event@root", "event@log"):
        yield put("unneeded", home()[name], segments, SEGMENTS)
    for name in ("tagged@root", "no-term@log"):
        yield put("missing", home()[name], None, SEGMENTS)
    for name in ("atom@root", "event@log", "event@root"):
        yield put("unneeded", home()[name], tree, EDGES)
        yield put("unneeded", home()[name], tree, TAGS)
    for name, at in (("atom@root", ATOMS), ("no-edge@log", EDGES), ("tag@root", TAGS), ("term@root", ATOMS)):
        yield put("missing", home()[name], None, at)


@reject
def x05_payloads() -> Cases:
    """A payload is refused if it is not to be opened, missing, not committed to, or of another kind."""
    for name, at in (("atom@root", 2), ("edge@log", 2), ("event@root", 2)):
        item = home()[name]
        raw = part(item, WITNESSES, 0, at)
        shut = [[*claim[:-1], False] for claim in item.claims]
        yield offered("unneeded", item, claims=shut)
        yield put("missing", item, None, WITNESSES, 0, at)
        theirs = part(elsewhere()[name], WITNESSES, 0, at)
        for other in (raw[:-1], raw[:31], b"", raw + b"\0", bytes(32) + raw[32:], theirs):
            yield put("payload", item, other, WITNESSES, 0, at)
    closed = home()["atom-closed@root"]
    raw = part(home()["atom@root"], WITNESSES, 0, 2)
    yield put("unneeded", closed, raw, WITNESSES, 0, 2)


@reject
def x06_headers() -> Cases:
    """A header is refused if it is not canonical, of another event, or not of a needed checkpoint."""
    event = home()["event@root"]
    raw = part(event, WITNESSES, 0, 1)
    for reason, other in (
        ("encoding", b""),
        ("encoding", raw[:-1]),
        ("encoding", raw + b"\0"),
        ("encoding", b"\xd8\x23" + raw),
        ("header", packed(1)),
        ("header", packed([])),
        ("header", packed([1])),
        ("header", packed([1, None])),
        ("header", packed([1, b"\1"])),
        ("header", packed([1, 2])),
    ):
        yield put(reason, event, other, WITNESSES, 0, 1)
    fields = part(event, WITNESSES, 0, 1)
    for at, value in (
        (0, FORMAT - 1),
        (0, FORMAT + 1),
        (3, 12),
        (3, 99),
        (3, None),
        (4, "x" * 33),
        (5, b""),
        (6, -1),
    ):
        made = loads(fields)
        made[at] = value
        reason = "encoding" if value == -1 else "header"
        yield put(reason, event, packed(made), WITNESSES, 0, 1)
    for name in ("root@root", "root@log"):
        item = home()[name]
        yield offered("header", item, claims=[["RootRecorded", bytes(32)]])
    witness = [13, part(event, WITNESSES, 0, 1), part(event, WITNESSES, 0, 3)]
    yield put("header", home()["root@root"], witness, WITNESSES, 0)
    event_at = home()["event@root"].claims[0][1]
    yield offered("header", event, claims=[["EventIs", event_at + 1, True]])


@reject
def x07_earlier_roots() -> Cases:
    """The opening of an earlier root is refused with another root or store id, or of no events."""
    for name in ("prefix-root@root", "prefix-root@log"):
        item = home()[name]
        yield offered("root", item, claims=[["BeginsWithRoot", bytes(32)]])
        for path in ((LABEL_COMMITMENT,), (LOG_ROOT,), *((ROOTS, at, 1) for at in range(4))):
            yield put("root", item, b"\1" * 32, WITNESSES, 0, 1, *path)
        for other in (None, b"", [], [1]):
            yield put("form", item, other, WITNESSES, 0, 1)
        sid = item.basis[1]
        for size, log_root in ((0, bytes(32)), (1 << 40, bytes(32))):
            root = overall_root(sid, 1, log_root, size, log_root, [(name, log_root) for name in NAMESPACES])
            forged = [1, log_root, size, log_root, [[name, log_root] for name in NAMESPACES]]
            data = put("", item, forged, WITNESSES, 0, 1).given[0]
            yield offered("consistency", item, data, claims=[["BeginsWithRoot", root]])


@reject
def x14_not_the_values_of_leaves() -> Cases:
    """A value that is not the canonical value of a leaf is refused."""
    item = home()["atom-closed@root"]
    raw = part(item, WITNESSES, 0, 1)
    for reason, other in (
        ("encoding", raw[:-1]),
        ("encoding", raw + b"\0"),
        ("encoding", b"\xd8\x1e" + raw),
        ("value", packed([])),
        ("value", packed(1)),
        ("value", packed([*loads(raw), 0])),
        ("value", packed([3, *loads(raw)[1:]])),
        ("value", packed([0, 1 << 32, *loads(raw)[2:]])),
        ("value", packed([*loads(raw)[:6], b""])),
        ("value", packed([*loads(raw)[:3], (1 << 53) + 1, *loads(raw)[4:]])),
    ):
        yield put(reason, item, other, WITNESSES, 0, 1)
    item = home()["edge-gone@root"]
    raw = part(item, WITNESSES, 0, 1)
    yield put("value", item, packed([*loads(raw)[:1], 1, *loads(raw)[2:]]), WITNESSES, 0, 1)


@reject
def x15_no_questions() -> Cases:
    """Invalid identities and terms, edges from an atom to itself, and lone surrogates are refused."""
    for identity in (
        "Kitchen",
        "#a",
        "a b",
        "a\u3000",
        "",
        "a\0",
        "\x1b",
        "a\x7f",
        "\x9f",
        "a\x85",
        "é\u2028",
        "A\u030a",
        "a" * (IDENTITY_BYTES_MAX + 1),
        b"a",
        None,
    ):
        yield Case("input", "claim", ["NoneTagged", identity])
        yield Case("input", "claim", ["LacksTag", atom(0), identity])
    for term in (
        "Kettle",
        "a b",
        "a\t",
        "",
        "\0",
        "\1a",
        "a\0",
        "a\x7f",
        "\x85",
        "a" * 65,
        "é" * 33,
        b"a",
        None,
        1,
    ):
        yield Case("input", "claim", ["NoneMentioning", term])
    yield Case("input", "claim", ["NoEdge", atom(0), b"\6", atom(0)])
    yield Case("input", "claim", ["NoEdge", atom(0), "a", atom(1)])
    for name, before in (("NoneTagged", []), ("NoneMentioning", []), ("HasTag", [atom(0)])):
        yield Case("input", "lone surrogate", [name, *before])
    for state, shut in (("live", False), (3, False), (2, True), (0, None)):
        yield Case("input", "claim", ["EdgeIs", atom(0), b"\6", atom(1), state, shut])
    yield Case("input", "claim", ["EdgeIs", atom(0), b"\6", bytes(16), 0, False])
    yield Case("input", "claim", ["EdgeIs", atom(0), b"\0", atom(1), 0, False])
    for name in ("no-atom@root", "prefix@log"):
        yield offered("kind", home()[name], claims=home()["no-edge@root"].claims)
    item = home()["atom@root"]
    for basis in (None, "Root", b"", [], item.basis):
        yield Case("input", "ask basis", [item.data, basis, item.claims])
    for claims in (None, "AtomIs", b"AtomIs", 1):
        yield Case("input", "ask claims", [item.data, item.basis, claims])
    for claim in (None, "AtomIs", b"", [], item.claims[0]):
        yield Case("input", "ask claim", [item.data, item.basis, claim])
