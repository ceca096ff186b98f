"""The algorithm of section 20.5, with its steps in order and the reasons that the page gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import cbor2

from tests.reference import forms
from tests.reference.claims import (
    ATOM,
    EDGE,
    EVENT,
    LIST_CLAIMS,
    NO_ATOM,
    NO_EDGE,
    NO_TAG,
    NO_TERM,
    NONE_TAGGED,
    PREFIX,
    PREFIX_ROOT,
    ROOT,
    STATE_CLAIMS,
    TAG,
    TAGGED,
    Basis,
    Claim,
    in_order,
    parts_of,
)
from tests.reference.forms import HASH, fields, maybe, raw, uint
from tests.reference.hashes import (
    digest,
    in_namespace,
    index_leaves,
    log_leaf,
    overall,
    row_leaf,
    rows_root,
    segments_of,
    tree_root,
)
from tests.reference.refused import Refused, need
from tests.spec import spec_paths

BYTES = raw(0, 1 << 24)
OPENING = fields((uint(), HASH, HASH, HASH, HASH, HASH))
PAIR = fields((BYTES, BYTES))
SUMMARIES = forms.array(fields((uint(), uint(), uint(), HASH)), 1 << 24)
EMPTY = bytes(32)
NAMESPACES = ("atoms", "edges", "index", "tags")
CHECKPOINT, ATOM_ADDED, EDGE_ADDED = 10, 1, 8

Calls = dict[str, dict[bytes, bytes | None]]


class State(NamedTuple):
    """The results of the steps before the witnesses."""

    basis: Basis
    size: int
    """The size of the log."""
    root: bytes
    """The root of the log."""
    opening: list[Any] | None
    ordinals: int
    """N, the number of ordinals."""
    segments: list[tuple[int, int, list[Any]]]
    """First ordinal, number of ordinals and summary of each segment and the tail."""
    calls: Calls

    def call(self, namespace: str, key: bytes, value: bytes | None) -> None:
        """Note that a key has a value, or that it is absent."""
        need(self.calls[namespace].setdefault(key, value) == value, "contradiction")


def verified(data: bytes, basis: Basis, claims: Sequence[Claim]) -> None:
    """Perform steps 1 to 9; raise Refused with the reason of the page if one of them fails."""
    for number, subject, _, _ in claims:
        bounded(number, subject)
    ordered = in_order(basis, claims)
    lists = any(claim[0] in LIST_CLAIMS for claim in ordered)
    state = any(claim[0] in STATE_CLAIMS for claim in ordered)
    small = len(ordered) == 1 and not lists and not ordered[0][3]
    need(len(data) <= (65_536 if small else 16_777_216), "size")
    link, opening, segments, *trees, witnesses = file_of(data)
    need([one[:1] for one in witnesses] == [[claim[0]] for claim in ordered], "kind")
    present(link, basis[0] == "log" and state)
    present(opening, basis[0] == "root" or state)
    size, root = log_of(basis, link, opening)
    present(segments, lists)
    ordinals, parts = (0, []) if segments is None else index_of(segments, opening[4])
    found = State(basis, size, root, opening, ordinals, parts, {"atoms": {}, "edges": {}, "tags": {}})
    for claim, (_, *witness) in zip(ordered, witnesses, strict=True):
        WITNESSES[claim[0]](found, claim, witness)
    for (namespace, called), tree in zip(found.calls.items(), trees, strict=True):
        present(tree, bool(called))
        if tree is not None and opening is not None:
            need(walked(namespace, called, *tree) == opening[2 + NAMESPACES.index(namespace)], "tree")


def bounded(number: int, subject: bytes) -> None:
    """Check the bounds of the numbers in a subject (step 1)."""
    if number == EVENT:
        need(int.from_bytes(subject, "big") <= 1 << 53, "input")
    if number == PREFIX:
        need(int.from_bytes(subject[:8], "big") < 1 << 63, "input")


def cbor(data: bytes, body: bool = False) -> Any:
    """Return the item that the bytes encode (*CBOR*)."""
    at = count = 0
    left = [1]
    while left:
        if left[-1] == 0:
            left.pop()
            continue
        left[-1] -= 1
        count += 1
        need(count <= 1 << 20, "size")
        need(at < len(data), "encoding")
        kind, low, at = data[at] >> 5, data[at] & 31, at + 1
        if kind == 7:
            width = {20: 0, 21: 0, 22: 0, 25: 2, 26: 4, 27: 8}.get(low)
            need(width is not None and (body or low == 22), "encoding")
            at += width or 0
            continue
        need(kind in ({0, 1, 2, 3, 4, 5} if body else {0, 2, 3, 4}) and low < 28, "encoding")
        number, width = low, 0
        if low >= 24:
            width = 1 << low - 24
            number = int.from_bytes(data[at : at + width], "big")
            need(at + width <= len(data), "encoding")
            need(number >= (24 if width == 1 else 1 << 4 * width), "encoding")
        at += width + (number if kind in (2, 3) else 0)
        items = {4: number, 5: 2 * number}.get(kind, 0)
        if items:
            need(len(left) <= 16, "encoding")
            left.append(items)
    need(at == len(data), "encoding")
    try:
        item = cbor2.loads(data)
        same = cbor2.dumps(item, canonical=True) == data
    except (cbor2.CBORError, ValueError, TypeError, OverflowError, EOFError):
        raise Refused("encoding") from None
    need(same, "encoding")
    return item


def file_of(data: bytes) -> list[Any]:
    """Return the parts of the file after checking their form (step 3)."""
    item = cbor(data)
    need(isinstance(item, list), "form")
    need(item[:2] == ["memroot-proof", 2], "version")
    need(len(item) == 9, "form")
    _, _, link, opening, segments, *trees, witnesses = item
    need(maybe(PAIR)(link) and maybe(OPENING)(opening), "form")
    need(segments is None or fields((uint(1 << 32), SUMMARIES))(segments), "form")
    need(all(map(maybe(PAIR), trees)), "form")
    need(isinstance(witnesses, list) and all(isinstance(one, list) for one in witnesses), "form")
    return list(item[2:])


def present(part: object, wanted: bool) -> None:
    """Check that a part is present exactly if it is wanted (step 5)."""
    need(part is not None or not wanted, "missing")
    need(part is None or wanted, "unneeded")


def log_of(basis: Basis, link: Any, opening: Any) -> tuple[int, bytes]:
    """Return size and root of the log after checking the roots (step 6)."""
    store_id, root, size = parts_of(basis)
    if basis[0] == "root":
        need(overall(store_id, opening[0], opening[1], opening[2:]) == root, "root")
        need(size is None or size == opening[0], "log-size")
        return opening[0], opening[1]
    log = (size or 0, root)
    if link is not None:
        header = header_in(*log, *link)
        need(header[3] == CHECKPOINT, "header")
        need(header[1] == log[0] - 1, "header")
        need(opening[0] == header[1], "root")
        need(overall(store_id, opening[0], opening[1], opening[2:]) == header[7], "root")
    return log


def index_of(segments: list[Any], root: bytes) -> tuple[int, list[tuple[int, int, list[Any]]]]:
    """Return N and the segments after checking them against the root of the index (step 7)."""
    ordinals, summaries = segments
    places = segments_of(ordinals)
    need(len(places) == len(summaries), "segments")
    for (_, _, size), (documents, total, rows, _) in zip(places, summaries, strict=True):
        need(documents <= size and total <= documents * 65_535 and rows >= 2, "segments")
    need(tree_root(index_leaves(ordinals, summaries)) == root, "index")
    return ordinals, [(start, size, one) for (_, start, size), one in zip(places, summaries, strict=True)]


def hashes_of(path: bytes) -> list[bytes]:
    """Return the hashes of a path."""
    need(len(path) % 32 == 0 and len(path) <= 64 * 32, "form")
    return [path[at : at + 32] for at in range(0, len(path), 32)]


def header_in(size: int, root: bytes, header: bytes, path: bytes) -> list[Any]:
    """Return the fields of a header after checking that the log holds it (*Header in log*)."""
    item = cbor(header)
    need(isinstance(item, list) and fields(forms.HEADER)(item[:7]) and item[3] in forms.DETAIL, "header")
    need(fields(forms.HEADER + forms.DETAIL[item[3]])(item), "header")
    need(item[1] < size, "inclusion")
    hashes = hashes_of(path)
    need(spec_paths.inclusion(item[1], size, log_leaf(header), hashes, root), "inclusion")
    return list(item)


def payload_of(payload: bytes | None, claim: Claim, commitment: bytes, kind: int) -> None:
    """Check the payload of an event (*Payload*)."""
    present(payload, claim[3])
    if payload is not None:
        need(len(payload) >= 32 and digest("commitment", payload) == commitment, "payload")
        need(forms.body_of(cbor(payload[32:], body=True), kind), "payload")


def value_of(data: bytes) -> list[Any]:
    """Return the fields of a leaf value (*Value*)."""
    item = cbor(data)
    seq = uint(forms.SEQ_MAX)
    need(fields((uint(2), forms.ORDINAL, uint(), seq, seq, seq, HASH))(item), "value")
    return list(item)


def in_form(witness: list[Any], *checks: Callable[[Any], bool]) -> list[Any]:
    """Return the fields of a witness, if there are as many as listed and each has its type."""
    need(fields(checks)(witness), "form")
    return witness


def recorded(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim atom or edge."""
    data, payload = in_form(witness, BYTES, maybe(BYTES))
    value = value_of(data)
    need(value[0] == claim[2], "state")
    need(claim[0] == ATOM or value[1] == 0, "value")
    found.call("atoms" if claim[0] == ATOM else "edges", claim[1], data)
    payload_of(payload, claim, value[6], ATOM_ADDED if claim[0] == ATOM else EDGE_ADDED)


def absent(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim no-atom or no-edge."""
    in_form(witness)
    found.call("atoms" if claim[0] == NO_ATOM else "edges", claim[1], None)


def set_row(group: int, name: bytes, number: int) -> bytes:
    """Return the key of a chunk in the tree of tags."""
    return bytes([group]) + name + b"\0" + number.to_bytes(2, "big")


def tag(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim tag or no-tag."""
    data, chunk = in_form(witness, BYTES, BYTES if claim[0] == TAG else maybe(BYTES))
    value = value_of(data)
    need(value[0] == 0, "state")
    found.call("atoms", claim[1][:16], data)
    found.call("tags", set_row(2, claim[1][16:], value[1] >> 16), chunk)
    members = frozenset() if chunk is None else forms.chunk(chunk)
    need((value[1] & 0xFFFF in members) == (claim[0] == TAG), "tagged")


def members_of(found: State, group: int, name: bytes, number: int, chunk: bytes | None) -> frozenset[int]:
    """Call for a chunk and return the ordinals of its members."""
    found.call("tags", set_row(group, name, number), chunk)
    ordinals = frozenset() if chunk is None else {number << 16 | one for one in forms.chunk(chunk)}
    need(all(one < found.ordinals for one in ordinals), "chunk")
    return frozenset(ordinals)


def tagged(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim tagged or none-tagged."""
    anything = forms.array(lambda _: True, 1 << 20)
    sets, *rest = in_form(witness, *[anything] * (2 if claim[0] == TAGGED else 1))
    need(len(sets) == (found.ordinals + 65_535) >> 16, "form")
    live: list[int] = []
    for number, entry in enumerate(sets):
        if entry is None:
            found.call("tags", set_row(2, claim[1], number), None)
            continue
        chunk, alive = in_form(entry, BYTES, maybe(BYTES))
        ordinals = members_of(found, 2, claim[1], number, chunk)
        live += sorted(ordinals & members_of(found, 1, b"", number, alive))
    listed(found, live, rest)


def term(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim term or no-term."""
    anything = forms.array(lambda _: True, 1 << 20)
    rows, lives, *rest = in_form(witness, *[anything] * (2 if claim[0] == NO_TERM else 3))
    need(len(rows) == len(found.segments), "form")
    shown = []
    for (start, size, summary), entry in zip(found.segments, rows, strict=True):
        value = row_of(claim[1], summary, entry)
        if value is not None:
            shown.append((start, size, summary[0], value))
    numbers = sorted({start >> 16 for start, *_ in shown})
    need(len(lives) == len(numbers), "form")
    chunks = dict(zip(numbers, lives, strict=True))
    alive: dict[int, frozenset[int]] = {}
    live: list[int] = []
    for start, size, documents, value in shown:
        number = start >> 16
        if number not in alive:
            need(maybe(BYTES)(chunks[number]), "form")
            alive[number] = members_of(found, 1, b"", number, chunks[number])
        offsets = forms.row(value, size, documents)
        live += [start + at for at in offsets if start + at in alive[number]]
    listed(found, live, rest)


def row_of(name: bytes, summary: list[Any], entry: Any) -> bytes | None:
    """Return the row value that an entry shows, or None if the term has no row (section 20.8)."""
    need(isinstance(entry, list) and len(entry) == 3, "form")
    position, x, hashes = in_form(entry, uint(), lambda _: True, BYTES)
    _, _, rows, root = summary
    if isinstance(x, list):
        need(fields((BYTES, HASH) if len(x) == 2 else (BYTES, HASH, BYTES, HASH))(x), "form")
        names = x[::2]
        need(all(1 <= len(one) <= 65 for one in names), "neighbours")
        need(names[0] < name and (len(names) == 1 or name < names[1]), "neighbours")
        need(len(names) == 2 or position == rows - 1, "neighbours")
        leaves = [row_leaf(*pair) for pair in zip(names, x[1::2], strict=True)]
    else:
        need(BYTES(x), "form")
        leaves = [row_leaf(name, digest("row-inner", x))]
    need(position + len(leaves) <= rows, "row")
    taken = 0

    def given() -> bytes:
        nonlocal taken
        taken += 32
        need(taken <= len(hashes), "row")
        return bytes(hashes[taken - 32 : taken])

    need(rows_root(rows, dict(enumerate(leaves, position)), given) == root, "row")
    need(taken == len(hashes), "row")
    return None if isinstance(x, list) else x


def listed(found: State, live: list[int], rest: list[Any]) -> None:
    """Check the list of atoms (*Listed*); a claim without a list requires that no ordinal is live."""
    if not rest:
        need(not live, "list")
        return
    (atoms,) = rest
    need(len(atoms) == len(live) > 0, "list")
    seen = set[bytes]()
    for ordinal, entry in zip(live, atoms, strict=True):
        atom, data = in_form(entry, forms.ID, BYTES)
        value = value_of(data)
        need(value[1] == ordinal and value[0] == 0 and atom not in seen, "list")
        seen.add(atom)
        found.call("atoms", atom, data)


def event(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim event."""
    header, payload, path = in_form(witness, BYTES, maybe(BYTES), BYTES)
    item = header_in(found.size, found.root, header, path)
    need(item[1] == int.from_bytes(claim[1], "big"), "header")
    payload_of(payload, claim, item[5], item[3])


def prefix(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim prefix."""
    (path,) = in_form(witness, BYTES)
    begins(found, int.from_bytes(claim[1][:8], "big"), claim[1][8:], path)


def begins(found: State, size: int, root: bytes, path: bytes) -> None:
    """Check that the log begins with the log of this size and root."""
    need(1 <= size <= found.size, "consistency")
    hashes = hashes_of(path)
    need(spec_paths.consistency(size, root, found.size, found.root, hashes), "consistency")


def held_root(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim root."""
    header = header_in(found.size, found.root, *in_form(witness, BYTES, BYTES))
    need(header[3] == CHECKPOINT and header[7] == claim[1], "header")


def prefix_root(found: State, claim: Claim, witness: list[Any]) -> None:
    """Check the witness of a claim prefix-root."""
    opening, path = in_form(witness, OPENING, BYTES)
    need(overall(found.basis[1], opening[0], opening[1], opening[2:]) == claim[1], "root")
    begins(found, opening[0], opening[1], path)


WITNESSES: dict[int, Callable[[State, Claim, list[Any]], None]] = {
    **dict.fromkeys((ATOM, EDGE), recorded),
    **dict.fromkeys((NO_ATOM, NO_EDGE), absent),
    **dict.fromkeys((TAG, NO_TAG), tag),
    **dict.fromkeys((TAGGED, NONE_TAGGED), tagged),
    **dict.fromkeys((NO_TERM - 1, NO_TERM), term),
    EVENT: event,
    PREFIX: prefix,
    ROOT: held_root,
    PREFIX_ROOT: prefix_root,
}
"""The checks of step 8, by claim number."""


def walked(namespace: str, called: dict[bytes, bytes | None], shape: bytes, hashes: bytes) -> bytes:
    """Return the root of section 20.7. It recurses 256 deep at most, which a real verifier must avoid."""
    values = {
        in_namespace("key", namespace, key): None
        if value is None
        else in_namespace("value", namespace, value)
        for key, value in called.items()
    }
    places, at = iter(shape), 0

    def take(count: int) -> bytes:
        nonlocal at
        at += count
        need(at <= len(hashes), "shape")
        return hashes[at - count : at]

    def walk(keys: list[bytes], d: int) -> tuple[bytes, int]:
        case = next(places, None)
        own = [key for key in keys if values[key] is not None]
        need(case in (0, 1, 2, 3), "shape")
        if case == 0:
            need(d < 256, "shape")
            sides = [[key for key in keys if key[d >> 3] >> (7 - d % 8) & 1 == bit] for bit in (0, 1)]
            (a, of_a), (b, of_b) = (walk(side, d + 1) if side else (take(32), 3) for side in sides)
            need(a != EMPTY or (b != EMPTY and of_b not in (1, 2)), "shape")
            need(b != EMPTY or of_a not in (1, 2), "shape")
            return digest("node", a, b), 0
        if case == 1:
            need(len(own) == 1, "shape")
            return digest("leaf", own[0], values[own[0]] or b""), 1
        need(not own, "absent")
        if case == 3:
            return EMPTY, 3
        pair = take(64)
        k = int.from_bytes(pair[:32], "big")
        need(pair[:32] not in keys, "other-leaf")
        need(k >> (256 - d) == int.from_bytes(keys[0], "big") >> (256 - d), "other-leaf")
        return digest("leaf", pair[:32], pair[32:]), 2

    root, _ = walk(sorted(values), 0)
    need(next(places, None) is None and at == len(hashes), "shape")
    return root
