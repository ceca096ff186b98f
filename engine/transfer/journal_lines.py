"""The journal as text: one JSON object a line, one text for each value, nothing lost (docs/moving.md).

RFC 8785: keys sorted, no spaces, UTF-8, nothing escaped that need not be. Bytes are hex, ids of 16 bytes
UUIDs, integers over 2^53 − 1 decimal texts, because JSON readers elsewhere would round them. A line that is
read is written again and compared, so that one event has one line.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from engine.base.errors import CorruptionError
from engine.base.json_text import JsonError, parse
from engine.ledger.journal import Identity, RawEntry
from engine.ledger.roots import Roots
from proofs import forms
from proofs.codec import BODIES, DETAILS, encode_body, encode_header, further_count
from proofs.events import Body, Detail, Entry, EventKind, Header
from proofs.forms import Check, FormError, sized, text, uint
from proofs.further import FURTHER, read_further
from proofs.hashing import FORMAT, NAMESPACES, SALT_BYTES, commitment
from proofs.limits import INTEGER_MAX, LABEL_CHARS_MAX, SEQ_MAX
from proofs.log import leaf_hash
from proofs.subjects import ID_BYTES

NAME: Final = "memroot-journal"
VERSION: Final = 2

EXACT_MAX: Final = (1 << 53) - 1
"""The largest integer that every reader of JSON keeps exactly (RFC 7493)."""

_HEX: Final = re.compile("(?:[0-9a-f]{2})*")
_UUID: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DECIMAL: Final = re.compile("-?[1-9][0-9]{15,18}")
_FLOAT: Final = "binary64"
"""Stands before the bytes of a number with a fraction: decimal forms of those differ between writers."""
_FURTHER: Final = frozenset(name for name, _ in FURTHER)
_KINDS: Final = {kind.name.lower(): kind for kind in EventKind}
_HASH: Final = sized(32)
_SALT: Final = (sized(SALT_BYTES),)
_SEQ: Final = (uint(SEQ_MAX),)
_COMMON: Final = (uint(INTEGER_MAX), text(LABEL_CHARS_MAX), _HASH, forms.optional(uint(SEQ_MAX)))
"""Of the common fields of a header: time, actor, commitment, prev."""


class LineError(Exception):
    """Why a line is not what an export writes."""


class Head(NamedTuple):
    """What the first line says: whose journal follows, and what its roots must come out as."""

    identity: Identity
    """Without the id key, which is in the genesis."""
    roots: Roots


def canonical(value: Any) -> bytes:
    """`value` as a line of RFC 8785, its end included; all keys in it are ASCII, and no number a float.

    Raises:
        UnicodeEncodeError: a text has a lone surrogate.
    """
    text_ = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text_.encode() + b"\n"


def parsed(raw: bytes) -> dict[str, Any]:
    """The object on a line.

    Raises:
        LineError: it is none, or a key is there twice.
    """
    try:
        value = parse(raw)
    except JsonError as error:
        raise LineError(str(error)) from None
    if not isinstance(value, dict):
        raise LineError("not a JSON object")
    return value


def head_line(head: Head) -> bytes:
    """The first line of an export of all events."""
    identity, roots = head
    return canonical(
        {
            "analyzer": {"fingerprint": identity.fingerprint.hex(), "name": identity.analyzer},
            "events": {"from": 0, "to": roots.size - 1},
            "format": NAME,
            "journal_format": FORMAT,
            "log_root": roots.log.hex(),
            "namespaces": {name: root.hex() for name, root in zip(NAMESPACES, roots.namespaces, strict=True)},
            "root": roots.overall.hex(),
            "store_id": str(UUID(bytes=identity.store_id)),
            "version": VERSION,
        }
    )


def read_head(raw: bytes) -> Head:
    """What a first line says, which is checked against itself alone.

    Raises:
        LineError: it is not one, or of another version.
    """
    fields = parsed(raw)
    if fields.get("format") != NAME:
        raise LineError("not the first line of a journal export")
    if fields.get("version") != VERSION:
        raise LineError(f"an export of version {fields.get('version')!a:.40}; this version reads {VERSION}")
    analyzer, events = _object(fields, "analyzer"), _object(fields, "events")
    namespaces = _object(fields, "namespaces")
    name, fingerprint = _fields(
        [analyzer.get("name"), analyzer.get("fingerprint")], (text(LABEL_CHARS_MAX), _HASH)
    )
    last, log, store_id = _fields(
        [events.get("to"), fields.get("log_root"), fields.get("store_id")],
        (uint(SEQ_MAX), _HASH, sized(ID_BYTES)),
    )
    hashes = _fields([namespaces.get(name) for name in NAMESPACES], (_HASH,) * len(NAMESPACES))
    head = Head(Identity(store_id, b"", name, fingerprint), Roots(store_id, last + 1, log, tuple(hashes)))
    if head_line(head) != raw:
        raise LineError("its fields do not agree, or are not written as an export writes them")
    return head


def tail_line(events: int, log_root: bytes, sha256: bytes) -> bytes:
    """The last line of an export, which says how many events and what bytes stand before it."""
    return canonical({"events": events, "log_root": log_root.hex(), "sha256": sha256.hex(), "end": True})


def is_tail(fields: Mapping[str, Any]) -> bool:
    """Whether a line that was parsed is meant as the last one."""
    return "end" in fields


def event_line(raw: RawEntry) -> bytes:
    """The line of one event; where its payload was destroyed, it names the event that did so."""
    header, body, leaf = raw.entry
    payload: dict[str, Any] = {"erased": _plain(raw.erased)}
    if body is not None and raw.payload is not None:
        payload = {"body": _named(body), "salt": raw.payload[:SALT_BYTES].hex()}
    return canonical(
        {
            "actor": header.actor,
            "commitment": header.commitment.hex(),
            "detail": _named(header.detail),
            "kind": header.kind.name.lower(),
            "leaf": leaf.hex(),
            "payload": payload,
            "prev": _plain(header.prev),
            "seq": _plain(header.seq),
            "time": _plain(header.time),
        }
    )


def _named(value: Detail | Body) -> dict[str, Any]:
    """The fields by name; further ones only where they are there."""
    pairs = zip(value._fields, value, strict=True)
    return {name: _plain(field) for name, field in pairs if field is not None or name not in _FURTHER}


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is bytes:
        return str(UUID(bytes=value)) if len(value) == ID_BYTES else value.hex()
    if kind is int:
        return value if abs(value) <= EXACT_MAX else str(value)
    if kind is float:
        return {_FLOAT: struct.pack(">d", value).hex()}
    if kind is dict:
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if kind is tuple else value


def read_event(raw: bytes, fields: dict[str, Any], seq: int) -> RawEntry:
    """The event on a line, made again from its words: header, commitment and leaf are worked out.

    `fields` is what `parsed` gave for the line, and `seq` what the event's number must be.

    Raises:
        LineError: it is another event, or not what an export writes.
    """
    try:
        event = _event(fields, seq)
        again = event_line(event)
    except UnicodeEncodeError as error:
        raise LineError(f"a text has a lone surrogate: {error.reason}") from None
    if again != raw:
        raise LineError(_difference(fields, parsed(again)))
    return event


def _event(fields: dict[str, Any], seq: int) -> RawEntry:
    found, name = fields.get("seq"), fields.get("kind")
    if found != seq:
        raise LineError(f"event {seq} should stand here, not {found!a:.40}")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise LineError(f"event kind {name!a:.40} is not one this version knows")
    time, actor, given, prev = _fields(
        [fields.get("time"), fields.get("actor"), fields.get("commitment"), fields.get("prev")],
        _COMMON,
    )
    detail = _made(*DETAILS[kind], _object(fields, "detail"))
    header = Header(seq, time, kind, actor, given, prev, detail)
    raw_header = encode_header(header)
    leaf = leaf_hash(raw_header)
    payload = _object(fields, "payload")
    if "erased" in payload:
        (erased,) = _fields([payload["erased"]], _SEQ)
        return RawEntry(Entry(header, None, leaf), raw_header, None, erased)
    (salt,) = _fields([payload.get("salt")], _SALT)
    said = dict(_object(payload, "body"))
    further = {number: _further(said.pop(name)) for number, (name, _) in enumerate(FURTHER) if name in said}
    body = _made(*BODIES[kind], said)
    if further:
        try:
            body = body._replace(**read_further(further, further_count(type(body)), "the body"))
        except FormError as error:
            raise LineError(str(error)) from None
    raw_body = encode_body(body)
    if commitment(salt, raw_body) != given:
        raise LineError("the payload is not what the event commits to")
    return RawEntry(Entry(header, body, leaf), raw_header, salt + raw_body)


def _made(make: Any, checks: Sequence[Check], fields: Mapping[str, Any]) -> Any:
    names = make._fields[: len(checks)]
    if fields.keys() != set(names):
        raise LineError(f"the fields should be {', '.join(names)}")
    values = _fields([fields[name] for name in names], checks)
    return make(*(tuple(value) if type(value) is list else value for value in values))


def _fields(values: list[Any], checks: Sequence[Check]) -> list[Any]:
    """Words of JSON as the values that they stand for, each within its bounds."""
    found = [_value(value, check) for value, check in zip(values, checks, strict=True)]
    try:
        return forms.fields(found, tuple(checks), "a field")
    except FormError as error:
        raise LineError(str(error)) from None


def _further(value: Any) -> Any:
    """A further field, in which the floats of a meta are the bytes of a binary64."""
    if not isinstance(value, dict):
        return value
    floats = {key: one[_FLOAT] for key, one in value.items() if isinstance(one, dict) and [*one] == [_FLOAT]}
    if not all(isinstance(one, str) and len(one) == 16 for one in floats.values()):
        raise LineError("a number with a fraction is not 16 hexadecimal digits")
    return value | {key: struct.unpack(">d", _bytes(one))[0] for key, one in floats.items()}


def _value(value: Any, check: Check) -> Any:
    if isinstance(value, str):
        if bytes in check.types:
            return _bytes(value)
        if int in check.types and _DECIMAL.fullmatch(value):
            return int(value)
    if isinstance(value, list) and check.each is not None:
        return [_value(item, check.each) for item in value]
    return value


def _bytes(value: str) -> bytes:
    if _UUID.fullmatch(value):
        return bytes.fromhex(value.replace("-", ""))
    if _HEX.fullmatch(value):
        return bytes.fromhex(value)
    raise LineError(f"{value[:40]!a} is no hexadecimal number")


def _object(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    if not isinstance(value, dict):
        raise LineError(f"`{name}` is not an object")
    return value


def _difference(given: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    """Why a line that can be read is not the one that its event has."""
    if given.get("leaf") != right["leaf"] and given.keys() == right.keys():
        return "the header is not the one whose hash is given: something in the line was changed"
    return "not written as an export writes it"


def damaged(name: str, line: int, reason: str, seq: int | None = None) -> CorruptionError:
    """The error for a line of an export, named by its number."""
    return CorruptionError(
        f"{name} line {line}: {reason}",
        hint="take another copy of the export; nothing was kept of this one",
        family="journal",
        seq=seq,
    )
