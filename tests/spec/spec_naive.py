"""Computes every root of a journal from SPEC with hashlib, blake3 and cbor2, without code of the engine."""

from __future__ import annotations

import datetime as dt
import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import cbor2
from blake3 import blake3

from tests.spec.spec_facts import NO_DOCUMENT, Document, Terms, document

Rows = Sequence[tuple[bytes, bytes | None]]
"""(header, payload) of each event, in order; the payload is None where it is erased."""

Events = Sequence[tuple[list[Any], list[Any] | None]]
"""The fields of the header and of the body of each event."""

EMPTY = bytes(32)
ON_ATOMS, ON_EDGES = (*range(1, 7), 11, 15, 16), (8, 9, 13, 17)
FACTS = range(32, 64)
ERASED = 2
VERSION_NOTED = 15


def digest(role: str, data: bytes) -> bytes:
    """SPEC 3.3: return H(role; data)."""
    return blake3(data, derive_key_context=f"memroot 3 {role}").digest()


def u(number: int, width: int) -> bytes:
    """SPEC 3.1: return a big-endian number."""
    return number.to_bytes(width, "big")


def dumps(value: Any) -> bytes:
    """SPEC 3.2: return canonical CBOR of arrays, integers, strings and null."""
    return cbor2.dumps(value, canonical=True)


def time_of(fields: list[Any]) -> int:
    """SPEC 3.4: return the own time of an event: that of its origin, the last item of a header with one."""
    time: int = fields[-1][4] if isinstance(fields[-1], list) else fields[2]
    return time


def opened(header: bytes, payload: bytes | None) -> tuple[list[Any], Any]:
    """SPEC 3.2 and 3.4: return the checked header and body of an event; the body is None if it is erased."""
    fields = cbor2.loads(header)
    if payload is None:
        if dumps(fields) != header:
            raise ValueError("not canonical")
        return fields, None
    body = cbor2.loads(payload[32:])
    if dumps(fields) != header or dumps(body) != payload[32:]:
        raise ValueError("not canonical")
    if fields[5] != digest("commitment", payload):
        raise ValueError("not what the header commits to")
    return fields, body


def keyed(key: bytes, data: bytes, width: int = 16) -> bytes:
    """SPEC 3.8: return the first bytes of BLAKE3, keyed."""
    return blake3(data, key=key).digest(width)


class Keys(NamedTuple):
    """The secrets of a store, from the body of its genesis."""

    ids: bytes
    labels: bytes
    rows: bytes

    def label(self, group: int, value: bytes) -> bytes:
        """SPEC 3.8: return the label of a set, or of the name of an index row (group 0)."""
        found = keyed(self.labels, u(group, 1) + value)
        return u(found[0] | 128, 1) + found[1:]

    def salted(self, namespace: str, key: bytes, value: bytes) -> bytes:
        """SPEC 3.8: return a value behind its salt."""
        name = namespace.encode()
        return keyed(self.rows, u(len(name), 1) + name + u(len(key), 2) + key + value) + value


def keys_of(events: Events) -> Keys:
    """SPEC 3.4: return the secrets in the body of the genesis."""
    return Keys(*(events[0][1] or [])[:3])


def merkle(leaves: list[bytes], node: Callable[[bytes, bytes], bytes], none: bytes) -> bytes:
    """SPEC 3.5: return the root of the tree that splits at the largest power of two below the leaf count."""
    if len(leaves) < 2:
        return leaves[0] if leaves else none
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return node(merkle(leaves[:half], node, none), merkle(leaves[half:], node, none))


def sha256(data: bytes) -> bytes:
    """Return SHA-256 of the parts."""
    return hashlib.sha256(data).digest()


def leaf_of(header: bytes) -> bytes:
    """SPEC 3.5: return a leaf of the log."""
    return sha256(b"\0" + header)


def log_root(headers: Sequence[bytes]) -> bytes:
    """SPEC 3.5: return the root of the log."""
    return merkle(list(map(leaf_of, headers)), lambda left, right: sha256(b"\1" + left + right), sha256(b""))


def frontier(headers: Sequence[bytes]) -> bytes:
    """SPEC 6: return the bytes of the frontier, each hash computed from the leaves below it."""
    out, start = u(len(headers), 8), 0
    for bit in reversed(range(len(headers).bit_length())):
        if len(headers) >> bit & 1:
            out += log_root(headers[start : start + (1 << bit)])
            start += 1 << bit
    return out


def tree_leaves(namespace: str, leaves: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """SPEC 3.6: return the key digest and value digest of each leaf."""
    name = u(len(namespace), 1) + namespace.encode()
    return [(place(namespace, key), digest("value", name + value)) for key, value in leaves.items()]


def place(namespace: str, key: bytes) -> bytes:
    """SPEC 3.6 and 3.7: return the key digest of a key."""
    name = u(len(namespace), 1) + namespace.encode()
    whole = digest("key", name + key)
    if namespace != "edges":
        return whole
    return digest("key", name + key[:17])[:3] + digest("key", name + key[17:-16])[:1] + whole[:28]


def edge_leaves(values: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """SPEC 3.7: return the leaves of `edges`; an edge, source ‖ code ‖ target, has one at each end."""
    leaves = {}
    for edge, value in values.items():
        source, code, target = edge[:16], edge[16:-16], edge[-16:]
        leaves[b"\0" + source + code + target] = leaves[b"\1" + target + code + source] = value
    return leaves


def subtree(some: list[tuple[bytes, bytes]], depth: int) -> bytes:
    """SPEC 3.6: return the root of these leaves at this depth."""
    if len(some) < 2:
        return digest("leaf", some[0][0] + some[0][1]) if some else EMPTY
    sides: tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]] = ([], [])
    for pair in some:
        sides[pair[0][depth // 8] >> 7 - depth % 8 & 1].append(pair)
    return digest("node", subtree(sides[0], depth + 1) + subtree(sides[1], depth + 1))


def tree_root(namespace: str, leaves: dict[bytes, bytes]) -> bytes:
    """SPEC 3.6: return the root of a namespace's tree."""
    return subtree(tree_leaves(namespace, leaves), 0)


def values(headers: Sequence[list[Any]]) -> dict[str, dict[bytes, list[Any]]]:
    """SPEC 9: return the leaf values of `atoms` and `edges`, computed from headers alone."""
    found: dict[str, dict[bytes, list[Any]]] = {"atoms": {}, "edges": {}}
    for _, s, _, kind, _, c, _, *detail in headers:
        if kind in FACTS and detail[0] in found["atoms"]:
            found["atoms"][detail[0]][5] = s
        if kind not in ON_ATOMS and kind not in ON_EDGES:
            continue
        namespace, key = ("atoms", detail[0]) if kind in ON_ATOMS else ("edges", b"".join(detail[:3]))
        ordinal = detail[1] if kind in ON_ATOMS else 0
        known = found[namespace].get(key)
        if known is None:
            if kind in (1, 8, 11, 13):
                found[namespace][key] = [ERASED if kind > 8 else 0, ordinal, 1, s, s, s, c]
        elif kind in (2, 8) or (kind == 1 and known[0] == ERASED):
            found[namespace][key] = [0, ordinal, known[2] + 1, known[3], s, s, c]
        elif kind != 1:
            state = {3: 1, 9: 1, 4: 0, 11: ERASED, 13: ERASED}.get(kind, known[0])
            state = ERASED if known[0] == ERASED else state
            found[namespace][key] = [state, *known[1:5], s, known[6]]
    return found


def identity(tag: str) -> str:
    """SPEC 10: return the identity of a tag."""
    return tag.lower() if tag.isascii() else unicodedata.normalize("NFC", tag.casefold())


SetName = tuple[int, str]
TAG = 2
LIVE: SetName = (1, "")


def tag_changes(
    fields: list[Any], body: list[Any] | None
) -> tuple[list[tuple[SetName, int]], list[tuple[SetName, int]]]:
    """SPEC 10: return the members that one event removes from sets, then those that it adds to sets."""
    kind, detail = fields[3], fields[7:]
    if kind not in ON_ATOMS or body is None or kind in (11, 16):
        return [], []
    ordinal = detail[1]
    if kind in (3, 4):
        return ([(LIVE, ordinal)], []) if kind == 3 else ([], [(LIVE, ordinal)])
    if kind in (5, 6):
        tagged = [((2, identity(tag)), ordinal) for tag in body[0]]
        return ([], tagged) if kind == 5 else (tagged, [])
    _, _, atom_kind, tags, buckets, source, _, provenance, _, created, _, _ = body[:12]
    names = [] if kind == VERSION_NOTED else [LIVE]
    names += [*((2, identity(tag)) for tag in tags), *((3, bucket) for bucket in buckets)]
    names += [
        (4, atom_kind),
        (5, provenance),
        (7, day_of(time_of(fields) if created is None else created)),
    ]
    names += [] if source is None else [(6, source)]
    leaving = [(LIVE, detail[2])] if kind == 2 else []
    return leaving, [(name, ordinal) for name in names]


def erased_ordinals(events: Events, seq: int) -> set[int]:
    """SPEC 10: return the ordinals of the contents that event `seq` erased; none if it erases no atom."""
    found: set[int] = set()
    at = seq if events[seq][0][3] == 11 else None
    while at is not None and (at == seq or events[at][0][3] != 11):
        if events[at][0][3] not in FACTS:
            found.add(events[at][0][8])
        at = events[at][0][6]
    return found


def tag_sets(events: Events) -> dict[SetName, set[int]]:
    """SPEC 10: return the members of each set."""
    sets: dict[SetName, set[int]] = {}
    for seq, (fields, body) in enumerate(events):
        for members in sets.values():
            members -= erased_ordinals(events, seq)
        leaving, joining = tag_changes(fields, body)
        for name, ordinal in leaving:
            sets.setdefault(name, set()).discard(ordinal)
        for name, ordinal in joining:
            sets.setdefault(name, set()).add(ordinal)
    return sets


def set_rows(sets: dict[SetName, set[int]], keys: Keys) -> dict[bytes, tuple[bytes, bytes]]:
    """SPEC 3.8, 10: return the rows: tree key → how the row's value begins, and what the tree commits to."""
    rows: dict[bytes, tuple[bytes, bytes]] = {}
    for (group, value), members in sets.items():
        name = value.encode()
        for chunk in {member >> 16 for member in members}:
            inside = sorted(member & 0xFFFF for member in members if member >> 16 == chunk)
            key = u(group, 1) + keys.label(group, name) + u(chunk, 2)
            rows[key] = u(len(name), 2) + name, chunk_bytes(inside)
    tags: dict[int, list[bytes]] = {}
    for (group, value), members in sets.items():
        for ordinal in members if group == TAG else ():
            tags.setdefault(ordinal, []).append(value.encode())
    listed = {
        u(8, 1) + u(ordinal, 4): dumps([one.decode() for one in sorted(own)]) for ordinal, own in tags.items()
    }
    return rows | {key: (b"", value) for key, value in listed.items()}


def tag_leaves(events: Events) -> dict[bytes, bytes]:
    """SPEC 3.8: return the leaves of `tags`: each value is behind its salt."""
    keys = keys_of(events)
    rows = set_rows(tag_sets(events), keys)
    return {key: keys.salted("tags", key, value) for key, (_, value) in rows.items()}


def chunk_bytes(members: list[int]) -> bytes:
    """SPEC 3.8: return the bytes of a chunk."""
    if len(members) < 4096:
        return b"".join(member.to_bytes(2, "little") for member in members)
    return sum(1 << member for member in members).to_bytes(8192, "little")


def day_of(time: int) -> str:
    """SPEC 10: return the UTC day of a time."""
    last = (dt.date.max - dt.date(1970, 1, 1)).days
    return (dt.date(1970, 1, 1) + dt.timedelta(days=min(time // 86_400_000_000, last))).isoformat()


def segments(documents: Sequence[Document]) -> list[tuple[bytes, Sequence[Document]]]:
    """SPEC 3.9: return the key and the documents of each segment, then of the tail if there is one."""
    found = []
    start, count = 0, len(documents)
    for level in (4, 3, 2, 1, 0):
        size = 256 * 4**level
        while count - start >= size:
            found.append((u(level, 1) + u(start, 4), documents[start : start + size]))
            start += size
    return found + ([(b"\xff" + u(start, 4), documents[start:])] if start < count else [])


def index_leaves(documents: Sequence[Document], stop_words: frozenset[str], keys: Keys) -> dict[bytes, bytes]:
    """SPEC 3.9: return the leaves of the `index` tree, with those of the tail and of N."""
    count = {b"\xfe": dumps([len(documents)])} if documents else {}
    return count | {key: summary(key, some, stop_words, keys) for key, some in segments(documents)}


def little(numbers: Iterable[int], width: int) -> bytes:
    """SPEC 3.1: return little-endian numbers."""
    return b"".join(number.to_bytes(width, "little") for number in numbers)


def term_rows(
    documents: Sequence[Document], stop_words: frozenset[str], keys: Keys
) -> list[tuple[bytes, bytes]]:
    """SPEC 12: return (name, value) of each row of a segment with these documents, without salts."""
    postings: dict[bytes, list[tuple[int, int]]] = {}
    for offset, (text, head, _) in enumerate(documents):
        for mark, terms in ((b"", text), (b"\1", head)):
            for term in dict.fromkeys(terms):
                count = terms.count(term)
                postings.setdefault(mark + term.encode(), []).append((offset, min(count, 255)))
    lengths = [min(sum(term not in stop_words for term in text), 65_535) for text, _, _ in documents]
    size = u(len(documents), 4) + b"\0"
    rows = [(b"\0", size + little(lengths, 2))]
    columns = zip(*(facts for _, _, facts in documents), strict=True)
    rows.append((b"\0\1", size + b"".join(little(column, 8) for column in columns)))
    for raw, found in sorted((keys.label(0, term), found) for term, found in postings.items()):
        begin = u(len(found), 4) + u(max(tf for _, tf in found), 1)
        rows.append((raw, begin + little((offset for offset, _ in found), 2) + bytes(tf for _, tf in found)))
    return sorted(rows)


def salted_rows(key: bytes, rows: Sequence[tuple[bytes, bytes]], keys: Keys) -> list[tuple[bytes, bytes]]:
    """SPEC 3.9: return the rows of the segment with this key, with their values behind their salts."""
    return [(name, keys.salted("index", key + name, value)) for name, value in rows]


def summary(key: bytes, documents: Sequence[Document], stop_words: frozenset[str], keys: Keys) -> bytes:
    """SPEC 3.9: return the summary of the segment with this key and these documents."""
    rows = term_rows(documents, stop_words, keys)
    lengths = dict(rows)[b"\0"]
    total = sum(lengths[at] + 256 * lengths[at + 1] for at in range(5, len(lengths), 2))
    there = sum(one is not NO_DOCUMENT for one in documents)
    return dumps([there, total, len(rows), rows_root(salted_rows(key, rows, keys))])


def rows_root(rows: Sequence[tuple[bytes, bytes]]) -> bytes:
    """SPEC 3.9: return the root over rows, given as (name, salted value)."""
    leaves = [digest("row", u(len(t), 2) + t + digest("row-inner", value)) for t, value in rows]
    return merkle(leaves, lambda left, right: digest("rows-node", left + right), EMPTY)


def giving_ordinals(events: Events) -> list[tuple[list[Any], list[Any] | None]]:
    """SPEC 5: return the header and the atom's body of each event that gives an ordinal, by the ordinal."""
    giving: list[tuple[list[Any], list[Any] | None]] = []
    for fields, body in events:
        if fields[3] in ON_ATOMS and fields[8] == len(giving):
            giving.append((fields, None if fields[3] == 11 else body))
    return giving


def documents_of(events: Events, terms: Terms, stop_words: frozenset[str]) -> list[Document]:
    """SPEC 12: return the documents by ordinal; those of erased contents have no terms."""
    gone = set[int]().union(*(erased_ordinals(events, seq) for seq in range(len(events))))
    return [
        NO_DOCUMENT if body is None or ordinal in gone else document(body, terms, stop_words)
        for ordinal, (_, body) in enumerate(giving_ordinals(events))
    ]


def all_roots(rows: Rows, terms: Terms, stop_words: frozenset[str]) -> dict[str, bytes]:
    """SPEC 3.10: return every root of a journal, by name."""
    events = [opened(header, payload) for header, payload in rows]
    roots = {"log": log_root([header for header, _ in rows])}
    found = values([fields for fields, _ in events])
    encoded = {name: {key: dumps(value) for key, value in found[name].items()} for name in found}
    roots["atoms"] = tree_root("atoms", encoded["atoms"])
    roots["edges"] = tree_root("edges", edge_leaves(encoded["edges"]))
    documents = documents_of(events, terms, stop_words)
    roots["index"] = tree_root("index", index_leaves(documents, stop_words, keys_of(events)))
    roots["tags"] = tree_root("tags", tag_leaves(events))
    store_id, _, _, label_commitment, rules = events[0][0][7:]
    data = u(3, 4) + store_id + u(rules, 4) + label_commitment + u(len(rows), 8) + roots["log"] + u(4, 2)
    for name in ("atoms", "edges", "index", "tags"):
        data += u(len(name), 1) + name.encode() + roots[name]
    return roots | {"overall": digest("overall", data)}


def default_id(id_key: bytes, body: list[Any]) -> bytes:
    """SPEC 7: return the id of an atom whose caller gave none."""
    content, source, sequence, occurrence, key = body[0], body[5], body[6], body[10], body[11]
    raw = (source or "").encode()
    if key is not None:
        place, rest = 1, key.encode()
    elif occurrence is not None:
        place, rest = 0, u(occurrence, 8) + content.encode()
    else:
        place, rest = 2, u(sequence, 8) + content.encode()
    head = bytes([place, source is not None]) + u(len(raw), 4) + raw
    found = bytearray(blake3(head + rest, key=id_key).digest()[:16])
    found[6], found[8] = found[6] & 0x0F | 0x80, found[8] & 0x3F | 0x80
    return bytes(found)


def predicate_code(id_key: bytes, name: str) -> bytes:
    """SPEC 7: return the code of a registered predicate."""
    code = bytearray(blake3(name.encode(), key=digest("predicate", id_key)).digest()[:8])
    code[0] |= 0x80
    return bytes(code)
