"""A plain model of the memory: dicts, a list of events, and a root that is computed afresh each time.

Nothing is shared with the engine but the hashes of `proofs`. The one exception is the `index` root: it
comes from the engine's own `IndexFollower`, new and fed all events at once, so it is not independent.
Conditions that the state machine avoids (batches of another actor, chunks of over 4,095) are left out.
"""

from __future__ import annotations

import struct
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import cbor2
from blake3 import blake3

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from engine.index.index_follower import IndexFollower
from engine.ledger.appender import Salts
from engine.ledger.journal import Cursor, encode_cursor
from engine.ledger.layout import cursor_key, journal_key, payload_key
from engine.text.analyzer import ANALYZER_NAME
from engine.text.analyzer_fingerprint import fingerprint
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, Header
from proofs.hashing import (
    EMPTY,
    NAMESPACES,
    commitment,
    key_digest,
    overall_root,
    position,
    value_digest,
)
from proofs.log import leaf_hash
from proofs.log import root_of as log_root_of
from proofs.smt import root_of

BUILT_IN = ("related_to", "derived_from", "contradicts", "supersedes", "part_of", "references")
BODY = ("content", "title", "kind", "tags", "buckets", "source", "sequence", "provenance", "trust", "created")
DEFAULTS = (None, None, "note", (), ("inbox",), None, None, "internal", None, None)
FURTHER = ("request", "pipeline", "meta", "aliases", "folder")
REQUEST, PIPELINE = 0, 1
KEPT = FURTHER[2:]
"""The further fields that belong to an atom."""
LIVE, HIDDEN = 0, 1
GENESIS, ADDED, REVISED, HID, REVIVED, TAGGED, UNTAGGED, TYPED, LINKED, UNLINKED, CHECKED = range(11)
HEAD = 14


class Subject(NamedTuple):
    """An atom or an edge; the first seven fields are those to which its tree commits."""

    state: int
    ordinal: int
    version: int
    created_seq: int
    payload_seq: int
    last_seq: int
    commitment: bytes
    body: dict[str, Any]


def kept_tag(tag: str) -> str:
    """Return the stored form of a tag."""
    return unicodedata.normalize("NFC", "-".join(tag.split())).lstrip("#")


def identity(tag: str) -> str:
    """Return the identity of a tag."""
    return unicodedata.normalize("NFC", kept_tag(tag).casefold())


class Reference:
    """The state that an engine with these salts has after the same commands at the same times."""

    def __init__(self, salts: Salts, now: int) -> None:
        self.salts, self.now, self.time = salts, now, 0
        self.headers: list[bytes] = []
        self.kinds: list[int] = []
        self.atoms: dict[bytes, Subject] = {}
        self.edges: dict[bytes, Subject] = {}
        self.types: dict[str, bytes] = {name: bytes([n]) for n, name in enumerate(BUILT_IN, 1)}
        self.sets: dict[tuple[int, str], frozenset[int]] = {}
        self.created: dict[bytes, int] = {}
        self.texts: list[tuple[bytes, AtomBody]] = []
        self.said: tuple[str | None, str | None] = (None, None)
        """The request and the pipeline of the next commands."""
        self.origin: list[Any] | None = None
        """The event of another store that the next events take in."""
        self.tags_of: dict[int, frozenset[str]] = {}
        """The identities of the tags of each ordinal."""
        self.early: dict[bytes, int] = {}
        """The last fact on each atom that is not recorded."""
        self.store_id, keys = salts(-1)[:16], [salts(-2), salts(-3), salts(-4)]
        self.id_key, self.label_key, self.row_key = keys
        self.genesis = salts(0) + cbor2.dumps(keys, canonical=True)
        self.bound = blake3(keys[1], derive_key_context="memroot 3 label-key").digest()
        detail = [self.store_id, ANALYZER_NAME, fingerprint(), self.bound, 1]
        self._event(GENESIS, None, detail, keys, "engine")

    def saved(self) -> dict[str, Any]:
        """Return a copy of the whole state for `restore`."""
        return {name: value.copy() if hasattr(value, "copy") else value for name, value in vars(self).items()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Return to a saved state."""
        vars(self).update(saved)

    def _event(
        self, kind: int, prev: int | None, detail: list[Any], body: list[Any], actor: str = "user"
    ) -> bytes:
        seq = len(self.headers)
        self.time = max(self.time, self.now)
        further = {REQUEST: self.said[0], PIPELINE: self.said[1]}
        further |= body.pop() if body and isinstance(body[-1], dict) else {}
        further = {number: value for number, value in further.items() if value}
        body = [*body, further] if further else body
        bound = commitment(self.salts(seq), cbor2.dumps(body, canonical=True))
        last = [self.origin] if self.origin else []
        fields = [3, seq, self.time, kind, actor, bound, prev, *detail, *last]
        self.headers.append(cbor2.dumps(fields, canonical=True))
        self.kinds.append(kind)
        return bound

    def add(self, content: str, *, id: str | None = None, key: str | None = None, **given: Any) -> bytes:  # noqa: A002
        """Add an atom and return its id."""
        body = dict(zip(BODY, DEFAULTS, strict=True)) | given | {"content": content}
        further = {name: body.pop(name, None) for name in KEPT}
        place = body["source"], body["sequence"]
        atom = bytes.fromhex(id.replace("-", "")) if id else self.default_id(content, key, *place)
        if before := self.atoms.get(atom):
            if (id or key) and before.body["content"] != content:
                raise ConflictError("another content")
            return atom
        occurrence = 0 if key is None and body["sequence"] is None else None
        self._content(ADDED, atom, body | {"occurrence": occurrence, "key": key} | further, None)
        return atom

    def default_id(
        self, content: str, key: str | None, source: str | None = None, sequence: int | None = None
    ) -> bytes:
        """Return the id derived from content and place of an atom, or from its key."""
        raw_source = (source or "").encode()
        place, rest = 0, bytes(8) + content.encode()
        if key is not None:
            place, rest = 1, key.encode()
        elif sequence is not None:
            place, rest = 2, struct.pack(">Q", sequence) + content.encode()
        head = bytes([place, source is not None]) + struct.pack(">I", len(raw_source)) + raw_source
        raw = bytearray(blake3(head + rest, key=self.id_key).digest(16))
        raw[6], raw[8] = raw[6] & 0x0F | 0x80, raw[8] & 0x3F | 0x80
        return bytes(raw)

    def revise(self, atom: bytes, **given: Any) -> None:
        """Replace the content of the atom."""
        before = self._live(atom)
        known = before.body | {"created": self.created[atom]}
        body = known | given
        body["tags"] = _tags(body["tags"])
        body["aliases"], known["aliases"] = body["aliases"] or (), known["aliases"] or ()
        body["meta"], known["meta"] = body["meta"] or {}, known["meta"] or {}
        if repr(body) != repr(known):
            self._content(REVISED, atom, body, before)

    def _content(self, kind: int, atom: bytes, body: dict[str, Any], before: Subject | None) -> None:
        body["tags"], body["buckets"] = _tags(body["tags"]), tuple(sorted(set(body["buckets"])))
        seq, ordinal = len(self.headers), len(self.texts)
        detail = [atom, ordinal, *([before.ordinal] if before else [])]
        plain = list(body.values())
        further = {FURTHER.index(name): body[name] for name in KEPT}
        prev = before.last_seq if before else self.early.get(atom)
        bound = self._event(kind, prev, detail, [*plain[:12], further])
        if before:
            self._member((1, ""), before.ordinal, there=False)
        created_seq = before.created_seq if before else seq
        self.atoms[atom] = Subject(
            LIVE, ordinal, before.version + 1 if before else 1, created_seq, seq, seq, bound, body
        )
        self.texts.append((leaf_hash(self.headers[-1]), AtomBody(*plain[:12])))
        time = self.origin[4] if self.origin else self.time
        created = self.created[atom] = time if body["created"] is None else body["created"]
        day = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=created)).date().isoformat()
        self.tags_of[ordinal] = frozenset(map(identity, body["tags"]))
        names = [(1, ""), (4, body["kind"]), (5, body["provenance"]), (7, day)]
        names += [(2, identity(tag)) for tag in body["tags"]] + [(3, bucket) for bucket in body["buckets"]]
        for name in names + ([(6, body["source"])] if body["source"] is not None else []):
            self._member(name, ordinal, there=True)

    def hide(self, atom: bytes, reason: str, *, hidden: bool) -> None:
        """Tombstone or revive the atom."""
        before = self._known(atom)
        if before.state != hidden:
            self._touch(atom, before, HID if hidden else REVIVED, [reason], state=int(hidden))
            self._member((1, ""), before.ordinal, there=not hidden)

    def tag(self, atom: bytes, tags: tuple[str, ...], *, there: bool) -> None:
        """Add tags to the atom or remove them."""
        before = self._live(atom)
        had = {identity(tag): tag for tag in before.body["tags"]}
        asked = {identity(tag): tag for tag in _tags(tags)}
        changed = [had.get(name) or tag for name, tag in sorted(asked.items()) if (name in had) is not there]
        if not changed:
            return
        after = asked | had if there else {name: tag for name, tag in had.items() if name not in asked}
        body = before.body | {"tags": _tags(tuple(after.values()))}
        self._touch(atom, before, TAGGED if there else UNTAGGED, [changed], body=body)
        for name in changed:
            self._member((2, identity(name)), before.ordinal, there=there)
        names, own = frozenset(map(identity, changed)), self.tags_of.get(before.ordinal, frozenset())
        self.tags_of[before.ordinal] = own | names if there else own - names

    def _touch(self, atom: bytes, before: Subject, kind: int, told: list[Any], **changes: Any) -> None:
        self._event(kind, before.last_seq, [atom, before.ordinal], told)
        self.atoms[atom] = before._replace(last_seq=len(self.headers) - 1, **changes)

    def register(self, name: str) -> None:
        """Register a predicate."""
        if name not in self.types:
            key = blake3(self.id_key, derive_key_context="memroot 3 predicate").digest()
            first, *rest = blake3(name.encode(), key=key).digest(8)
            code = self.types[name] = bytes([first | 0x80, *rest])
            self._event(TYPED, None, [code], [name])

    def link(self, src: bytes, kind: str, dst: bytes, weight: float, data: bytes) -> None:
        """Add an edge."""
        code = self._edge_type(src, kind, dst)
        self._known(src), self._known(dst)
        before = self.edges.get(src + code + dst)
        if before and before.state == LIVE:
            return
        seq = len(self.headers)
        body = [struct.pack(">f", weight), data]
        bound = self._event(LINKED, before and before.last_seq, [src, code, dst], body)
        version, created_seq = (before.version + 1, before.created_seq) if before else (1, seq)
        kept = {"weight": weight, "data": data}
        self.edges[src + code + dst] = Subject(LIVE, 0, version, created_seq, seq, seq, bound, kept)

    def unlink(self, src: bytes, kind: str, dst: bytes, reason: str) -> None:
        """Remove an edge."""
        code = self._edge_type(src, kind, dst)
        before = self.edges.get(src + code + dst)
        if before and before.state == LIVE:
            self._event(UNLINKED, before.last_seq, [src, code, dst], [reason])
            self.edges[src + code + dst] = before._replace(state=HIDDEN, last_seq=len(self.headers) - 1)

    def checkpoint(self) -> None:
        """Add a checkpoint event."""
        if self.kinds[-1] != CHECKED:
            named = [[name, root] for name, root in zip(NAMESPACES, self.namespace_roots(), strict=True)]
            self._event(CHECKED, None, [self.root()], [named])

    def fact(self, kind: int, atom: bytes | None, data: bytes) -> None:
        """Add a fact."""
        before = None if atom is None else self.atoms.get(atom)
        prev = before.last_seq if before else self.early.get(atom or b"")
        self._event(kind, prev, [atom], [data])
        seq = len(self.headers) - 1
        if before is not None and atom is not None:
            self.atoms[atom] = before._replace(last_seq=seq)
        elif atom is not None:
            self.early[atom] = seq

    def saw(self, store_id: bytes, size: int, log_root: bytes, root: bytes | None, note: str | None) -> None:
        """Add the head of another store."""
        self._event(HEAD, None, [store_id, size, log_root, root], [note])

    def namespace_roots(self) -> list[bytes]:
        """Return the roots of atoms, edges, index and tags."""
        roots = [
            _tree({key_digest("atoms", key): _packed(found) for key, found in self.atoms.items()}, "atoms")
        ]
        edges = {}
        for key, found in self.edges.items():
            src, code, dst = key[:16], key[16:-16], key[-16:]
            for leaf in (b"\0" + src + code + dst, b"\1" + dst + code + src):
                edges[position("edges", leaf)] = _packed(found)
        roots += [_tree(edges, "edges"), self._index_root()]
        rows: dict[bytes, set[int]] = {}
        for (group, value), members in self.sets.items():
            for member in members:
                first, *rest = blake3(bytes([group]) + value.encode(), key=self.label_key).digest(16)
                key = bytes([group, first | 0x80, *rest]) + (member >> 16).to_bytes(2, "big")
                rows.setdefault(key, set()).add(member & 0xFFFF)
        leaves = {key: struct.pack(f"<{len(members)}H", *sorted(members)) for key, members in rows.items()}
        for ordinal, tags in self.tags_of.items():
            if tags:
                leaves[struct.pack(">BI", 8, ordinal)] = cbor2.dumps(sorted(tags, key=str.encode))
        salted = {
            key_digest("tags", key): self._salt(b"tags", key, value) + value for key, value in leaves.items()
        }
        return [*roots, _tree(salted, "tags")]

    def _salt(self, namespace: bytes, key: bytes, value: bytes) -> bytes:
        hashed = bytes([len(namespace)]) + namespace + len(key).to_bytes(2, "big") + key + value
        return blake3(hashed, key=self.row_key).digest(16)

    def root(self) -> bytes:
        """Return the overall root."""
        log = log_root_of([leaf_hash(header) for header in self.headers])
        pairs = list(zip(NAMESPACES, self.namespace_roots(), strict=True))
        return overall_root(self.store_id, 1, self.bound, len(self.headers), log, pairs)

    def _index_root(self) -> bytes:
        follower, rows, batch = IndexFollower(), MemoryBackend(), Batch()
        batch.put(journal_key(0), self.headers[0])
        batch.put(payload_key(0), self.genesis)
        rows.write(batch)
        batch = Batch()
        entries = []
        for ordinal, (leaf, body) in enumerate(self.texts):
            header = Header(ordinal, 0, EventKind.ATOM_ADDED, "", b"", None, AtomDetail(b"", ordinal))
            entries.append(Entry(header, body, leaf))
        if not entries:
            return EMPTY
        follower.follow(entries, rows, batch)
        reached = Cursor(follower.version, len(entries), entries[-1].leaf)
        batch.put(cursor_key(follower.name), encode_cursor(reached))
        rows.write(batch)
        return follower.root(rows, len(entries))

    def _member(self, name: tuple[int, str], ordinal: int, *, there: bool) -> None:
        members = self.sets.get(name, frozenset())
        self.sets[name] = members | {ordinal} if there else members - {ordinal}

    def _known(self, atom: bytes) -> Subject:
        if atom not in self.atoms:
            raise NotFoundError("never recorded")
        return self.atoms[atom]

    def _live(self, atom: bytes) -> Subject:
        if self._known(atom).state != LIVE:
            raise ConflictError("tombstoned")
        return self.atoms[atom]

    def _edge_type(self, src: bytes, kind: str, dst: bytes) -> bytes:
        if kind not in self.types:
            raise NotFoundError("no such type")
        if src == dst:
            raise InvalidInputError("joins an atom to itself")
        return self.types[kind]


def _tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    spelled: dict[str, str] = {}
    for tag in tags:
        spelled.setdefault(identity(tag), kept_tag(tag))
    return tuple(spelled[name] for name in sorted(spelled))


def _packed(subject: Subject) -> bytes:
    return cbor2.dumps(list(subject[:7]), canonical=True)


def _tree(leaves: dict[bytes, bytes], namespace: str) -> bytes:
    return root_of({digest: value_digest(namespace, raw) for digest, raw in leaves.items()})
