"""Computes every row of a store from its journal by SPEC; a rebuild gives the same rows byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from tests.spec.spec_facts import Terms, title_number
from tests.spec.spec_naive import (
    ERASED,
    FACTS,
    ON_ATOMS,
    ON_EDGES,
    Keys,
    Rows,
    documents_of,
    dumps,
    edge_leaves,
    frontier,
    giving_ordinals,
    identity,
    index_leaves,
    keys_of,
    leaf_of,
    log_root,
    opened,
    rows_root,
    salted_rows,
    segments,
    set_rows,
    subtree,
    summary,
    tag_leaves,
    tag_sets,
    term_rows,
    time_of,
    tree_leaves,
    tree_root,
    u,
    values,
)
from tests.spec.spec_packs import stored_segment
from tests.spec.spec_page import record_fields, table

ATOM = record_fields("Atom record")
ATOM_ROW = record_fields("Atom row")
LABELS = {label.replace("the empty one", ""): int(number) for number, label in table("labels")}
BODY = [name for _, name, *_ in table("atom body")]
EDGE = record_fields("Edge record")
SHOWN = {"tombstoned_at": None, "tombstoned_reason": "", "tombstoned_by": ""}
STUB: dict[str, Any] = (
    dict.fromkeys(BODY) | {"kind": "", "provenance": "", "created": 0} | {"tags": [], "buckets": []}
)
"""The fields of the body in the record of an erased atom."""

REQUEST, META, ALIASES = 0, 2, 3
"""The numbers of two further fields of a body (SPEC 3.4)."""
PAGE_FILE: Final = re.compile(r"(.*)\.(?:md|markdown|txt|text|html|htm|pdf|docx)", re.IGNORECASE | re.DOTALL)

Event = tuple[list[Any], list[Any]]
Record = dict[str, Any]


def all_rows(journal: Rows, terms: Terms, stop_words: frozenset[str]) -> dict[bytes, bytes]:
    """SPEC 4: return all rows of a store in which every projection is at the head of the journal."""
    headers = [header for header, _ in journal]
    events = [opened(header, payload) for header, payload in journal]
    rows = {b"j/" + u(seq, 8): header for seq, header in enumerate(headers)}
    rows |= {b"p/" + u(seq, 8): payload for seq, (_, payload) in enumerate(journal) if payload is not None}
    rows[b"meta/log"] = dumps([events[-1][0][2], frontier(headers)])
    for name in ("records", "index", "tags", "trees", "log", "names", "meta-entries", "requests"):
        version = {"index": 8, "trees": 4, "records": 2, "tags": 3}.get(name, 1)
        rows[b"meta/cursor/" + name.encode()] = dumps([version, len(headers), leaf_of(headers[-1])])
    leaves: dict[str, dict[bytes, bytes]] = {}
    for name, changed in values([fields for fields, _ in events]).items():
        leaves[name] = {key: dumps(value) for key, value in changed.items()}
        of_several = [key for key, (_, _, _, created, _, last, _) in changed.items() if last != created]
        rows |= {b"v/" + name.encode() + b"/" + key: leaves[name][key] for key in of_several}
    leaves["edges"] = edge_leaves(leaves["edges"])
    leaves["tags"] = tag_leaves(events)
    of_sets = set_rows(tag_sets(events), keys_of(events))
    rows |= {b"g/" + key: begin + value for key, (begin, value) in of_sets.items()}
    rows |= log_rows(headers)
    stored, leaves["index"] = index_rows(events, headers, terms, stop_words)
    for name, found in leaves.items():
        rows |= pages(name, found)
        other = stored.get(b"i/head", b"") if name == "index" else b""
        rows[b"t/" + name.encode() + b"/\xff"] = u(len(headers), 8) + tree_root(name, found) + other
    of_names = names_rows(events, terms, stop_words)
    further = meta_entries_rows(events) | requests_rows(events)
    return rows | stored | record_rows(events) | of_names | further


def requests_rows(events: Sequence[Event]) -> dict[bytes, bytes]:
    """SPEC 8: return the rows of `requests`; a set of few seqs below 65,536 has one chunk, a list."""
    rows: dict[bytes, bytes] = {}
    for seq, (fields, body) in enumerate(events):
        further = body[-1] if body and isinstance(body[-1], dict) else {}
        if REQUEST in further:
            key = re.sub(r"#(0|[1-9][0-9]{0,11})[+][1-9][0-9]{0,3}\Z", "", further[REQUEST])
            row = b"q/" + keys_of(events).label(19, dumps([fields[4], key])) + u(0, 6)
            rows[row] = rows.get(row, b"") + seq.to_bytes(2, "little")
    return rows


def meta_entries_rows(events: Sequence[Event]) -> dict[bytes, bytes]:
    """SPEC 8: return the rows of `meta-entries`; a set of few ordinals below 65,536 has one chunk, a list."""
    rows: dict[bytes, bytes] = {}
    for ordinal, (_, body) in enumerate(giving_ordinals(events)):
        further = body[-1] if body is not None and isinstance(body[-1], dict) else {}
        for entry in further.get(META, {}).items():
            key = b"m/" + keys_of(events).label(18, dumps(list(entry))) + u(0, 2)
            rows[key] = rows.get(key, b"") + ordinal.to_bytes(2, "little")
    return rows


def names_rows(events: Sequence[Event], terms: Terms, stop_words: frozenset[str]) -> dict[bytes, bytes]:
    """SPEC 8: return the rows of `names`."""
    found: dict[bytes, list[int]] = {}
    for ordinal, (_, body) in enumerate(giving_ordinals(events)):
        if body is None:
            continue
        source, further = body[5] or "", body[-1] if isinstance(body[-1], dict) else {}
        own = keys_of(events)
        keys = dict.fromkeys(_alias_keys(own, further.get(ALIASES, ()), terms, stop_words))
        folder, _, file = source.rpartition("/")
        if folder and (cut := PAGE_FILE.fullmatch(file)):
            stated = further.get(META, {}).get("page")
            stated_as = [_exact(own, stated)] if isinstance(stated, str) else []
            keys |= dict.fromkeys([_exact(own, cut[1]), *stated_as])
        for key in keys:
            found.setdefault(key, []).append(ordinal)
    aliased = sum(key.startswith(b"n/p") for key in found)
    rows = {key: b"".join(u(ordinal, 4) for ordinal in ordinals) for key, ordinals in found.items()}
    return rows | ({b"n/a": u(aliased, 8)} if aliased else {})


def _alias_keys(
    own: Keys, aliases: Sequence[str], terms: Terms, stop_words: frozenset[str]
) -> Iterator[bytes]:
    for alias in aliases:
        yield _exact(own, alias)
        if number := title_number(alias, terms, stop_words):
            yield b"n/p" + own.label(17, u(number, 8))[:8]


def _exact(own: Keys, name: str) -> bytes:
    """Return the key of a row `e`; the names of the examples have no character that needs more than this."""
    return b"n/e" + own.label(16, re.sub(r"[\s_-]+", " ", name.casefold()).strip().encode())[:8]


def index_rows(
    events: Sequence[Event], headers: Sequence[bytes], terms: Terms, stop_words: frozenset[str]
) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """SPEC 12: return the rows of `index`, and the leaves of its tree that have rows."""
    giving = [fields[1] for fields, _ in giving_ordinals(events)]
    documents = documents_of(events, terms, stop_words)
    tail = len(giving) - len(giving) % 256
    rows = {b"i/doc/" + u(tail + at, 4): u(seq, 8) for at, seq in enumerate(giving[tail:])}
    if giving:
        last = max(giving[-1], *(fields[1] for fields, _ in events if fields[3] == 11), 0)
        rows[b"i/head"] = u(len(giving), 4) + leaf_of(headers[last])
    keys = keys_of(events)
    leaves = index_leaves(documents, stop_words, keys)
    leaves.pop(b"\xfe", None)
    for key, some in segments(documents):
        if key[0] == 0xFF:
            del leaves[key]
            continue
        rows[b"i/sum/" + key] = summary(key, some, stop_words, keys)
        found = term_rows(some, stop_words, keys)
        roots = partial(_block_root, key, keys)
        stored, rows[b"i/blk/" + key] = stored_segment(found, len(some), roots)
        rows |= {b"i/seg/" + key + b"/" + t: value for t, value in stored.items()}
    return rows, leaves


def _block_root(key: bytes, keys: Keys, rows: Sequence[tuple[bytes, bytes]]) -> bytes:
    return rows_root(salted_rows(key, rows, keys))


def log_rows(headers: Sequence[bytes]) -> dict[bytes, bytes]:
    """SPEC 6: return the roots of the complete subtrees of 256, 65,536, … leaves."""
    return {
        b"l/" + u(level, 1) + u(start // 256**level, 8): log_root(headers[start : start + 256**level])
        for level in range(1, 8)
        for start in range(0, len(headers) - 256**level + 1, 256**level)
    }


def pages(namespace: str, leaves: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """SPEC 9: return the pages of a namespace's tree."""
    rows: dict[bytes, bytes] = {}

    def page(some: list[tuple[bytes, bytes]], depth: int) -> None:
        if len(some) < (2 if depth else 1):
            return
        occupied = marked = 0
        slots = b""
        for nibble in range(16):
            below = [pair for pair in some if pair[0].hex()[depth] == f"{nibble:x}"]
            if below:
                occupied |= 1 << nibble
                marked |= (len(below) == 1) << nibble
                slots += b"".join(below[0]) if len(below) == 1 else subtree(below, 4 * (depth + 1))
                page(below, depth + 1)
        path = bytes.fromhex(some[0][0].hex()[:depth] + "0" * (depth % 2))
        key = b"t/" + namespace.encode() + b"/" + u(depth, 1) + path
        rows[key] = u(occupied, 2) + u(marked, 2) + slots

    page(tree_leaves(namespace, leaves), 0)
    return rows


def record_rows(events: Sequence[Event]) -> dict[bytes, bytes]:
    """SPEC 7: return the records and the counters."""
    rows: dict[bytes, bytes] = {}
    atoms: dict[bytes, Record] = {}
    edges: dict[bytes, Record] = {}
    ordinals, predicates, early = 0, 0, 0
    for fields, body in events:
        _, s, _, kind, by, _, prev, *detail = fields
        t, foreign = time_of(fields), isinstance(fields[-1], list)
        if kind in FACTS and detail[0] in atoms:
            atoms[detail[0]]["last_seq"] = s
        elif kind in FACTS and detail[0] is not None:
            rows[b"f/" + detail[0]] = u(s, 8)
            early += prev is None
        if kind in ON_ATOMS:
            _fold_atom(atoms, s, t, kind, by, detail, body, foreign=foreign)
        if kind in ON_EDGES:
            _fold_edge(edges, s, t, kind, by, detail[:3], body)
        if kind in (11, 13):
            rows[b"x/" + b"".join(detail[:1] if kind == 11 else detail[:3])] = u(s, 8)
        if kind in ON_ATOMS and detail[1] == ordinals:
            rows[b"o/" + u(detail[1], 4)] = detail[0]
            ordinals += 1
        if kind == 7:
            rows[b"y/code/" + detail[0]] = body[0].encode()
            predicates += 1
    rows |= {b"a/" + key: atom_row(record) for key, record in atoms.items()}
    for record in edges.values():
        raw = dumps([record[name] for name in EDGE])
        src, code, dst = record["source_id"], record["code"], record["target_id"]
        rows[b"e/from/" + b"/".join((src, code, dst))] = rows[b"e/to/" + b"/".join((dst, code, src))] = raw
    return rows | {b"meta/next": dumps([ordinals, predicates, early])}


def atom_row(record: Record) -> bytes:
    """SPEC 7: return the row of an atom."""
    assert set(record) >= set(ATOM)
    row: list[Any] = []
    for name in ATOM_ROW:
        most, minus, least = name.partition("_−_")
        value = record[most] - record[least] if minus else record[name]
        if name in ("kind", "provenance"):
            value = LABELS.get(value, value)
        row.append([LABELS.get(one, one) for one in value] if name == "buckets" else value)
    always = ATOM_ROW.index("provenance") + 1
    while len(row) > always and (row[-1] is None or (row[-1] == "" and ATOM_ROW[len(row) - 1] in SHOWN)):
        row.pop()
    return dumps(row)


def _fold_atom(
    atoms: dict[bytes, Record],
    s: int,
    t: int,
    kind: int,
    by: str,
    detail: list[Any],
    body: list[Any],
    *,
    foreign: bool,
) -> None:
    before = atoms.get(detail[0])
    latest = t if before is None else max(before["updated"], t)
    is_new = before is None or before["state"] == ERASED
    if kind == 11:
        fresh = {"id": detail[0], "ordinal": detail[1], "version": 1, "created_seq": s, "payload_seq": s}
        hidden = {"tombstoned_at": t, "tombstoned_reason": body[0], "tombstoned_by": by}
        latest = t
        atoms[detail[0]] = before = (before or fresh) | STUB | hidden | {"state": ERASED}
    elif kind in (1, 2) and is_new == (kind == 1):
        latest = t if kind == 1 else latest
        first = {"version": 0, "created_seq": s} if before is None else before
        given = dict(zip(BODY, body[: len(BODY)], strict=True))
        if given["created"] is None:
            given["created"] = t if foreign or kind == 1 else first["created"]
        after = {"id": detail[0], "ordinal": detail[1], "state": 0, "payload_seq": s, **SHOWN}
        version = {"version": first["version"] + 1, "created_seq": first["created_seq"]}
        atoms[detail[0]] = before = given | after | version
    if before is None:
        return
    if kind in (3, 4):
        hidden = {"tombstoned_at": t, "tombstoned_reason": body[0], "tombstoned_by": by}
        before |= {"state": 1, **hidden} if kind == 3 else {"state": 0, **SHOWN}
    elif kind in (5, 6):
        own = {identity(tag): tag for tag in before["tags"]}
        theirs = {identity(tag): tag for tag in body[0]}
        joined = own | theirs if foreign else theirs | own
        kept = joined if kind == 5 else {name: tag for name, tag in own.items() if name not in theirs}
        before["tags"] = [kept[name] for name in sorted(kept)]
    silent = kind == 16 and body[0] is None
    before |= {"last_seq": s, "updated": before["updated"] if silent else latest}


def _fold_edge(
    edges: dict[bytes, Record], s: int, t: int, kind: int, by: str, detail: list[Any], body: list[Any]
) -> None:
    key = b"".join(detail)
    if kind == 9 and key in edges:
        hidden = {"tombstoned_at": t, "tombstoned_reason": body[0], "tombstoned_by": by}
        edges[key] |= {"state": 1, "last_seq": s, **hidden}
    elif kind == 17 and key in edges:
        edges[key]["last_seq"] = s
    first = edges.get(key, {"created_seq": s, "payload_seq": s, "created_at": t, "created_by": by})
    ends = dict(zip(("source_id", "code", "target_id"), detail, strict=True))
    if kind == 13:
        stub = {"state": ERASED, "last_seq": s, "weight": bytes(4), "data": b"", "created_at": 0}
        hidden = {"tombstoned_at": t, "tombstoned_reason": body[0], "tombstoned_by": by}
        edges[key] = first | ends | stub | hidden
    elif kind == 8:
        if first.get("state") == ERASED:
            first |= {"created_at": t, "created_by": by}
        fresh = {"state": 0, "payload_seq": s, "last_seq": s, "weight": body[0], "data": body[1], **SHOWN}
        edges[key] = first | ends | fresh
