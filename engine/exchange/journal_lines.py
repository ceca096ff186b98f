"""The journal as text: one JSON object on each line, in canonical form, without loss (docs/moving.md).

The form is RFC 8785: sorted keys, no spaces, UTF-8, no unnecessary escapes. Bytes are written in hex, ids of
16 bytes as UUIDs, and integers over 2^53 − 1 as decimal strings, because other JSON readers would round them.
Each line that is read is encoded again and compared, so an event has exactly one valid line.
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
from engine.store.views import Roots
from proofs import forms
from proofs.codec import BODIES, DETAILS, ORIGIN_FIELDS, encode_body, encode_header
from proofs.events import (
    FURTHER,
    Body,
    Detail,
    Entry,
    EventKind,
    Header,
    Origin,
    further_numbers,
    read_further,
)
from proofs.forms import Check, FormError, sized, text, uint
from proofs.hashing import DIGEST_BYTES, FORMAT, NAMESPACES, SALT_BYTES, commitment
from proofs.leaves import ID_BYTES
from proofs.limits import INTEGER_MAX, LABEL_CHARS_MAX, RULES_MAX, SEQ_MAX
from proofs.log import leaf_hash

NAME: Final = "memroot-journal"
VERSION: Final = 3

EXACT_MAX: Final = (1 << 53) - 1
"""The largest integer that every JSON reader represents exactly (RFC 7493)."""

_HEX: Final = re.compile("(?:[0-9a-f]{2})*")
_UUID: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DECIMAL: Final = re.compile("-?[1-9][0-9]{15,18}")
_FLOAT: Final = "binary64"
"""The JSON key of a float in `meta`. The value is the bytes of the float in hex.

A decimal number is not used, because JSON writers differ in how they write decimal numbers.
"""
_OPTIONAL: Final = frozenset({"replaced", *(name for name, _ in FURTHER)})
"""The fields that are left out if they are None."""
_KINDS: Final = {kind.name.lower(): kind for kind in EventKind}
_HASH: Final = sized(32)
_SALT: Final = (sized(SALT_BYTES),)
_SEQ: Final = (uint(SEQ_MAX),)
_COMMON: Final = (uint(INTEGER_MAX), text(LABEL_CHARS_MAX), _HASH, forms.optional(uint(SEQ_MAX)))
"""The checks of the fields that every header has: time, actor, commitment, prev."""


class LineError(Exception):
    """Raised if a line cannot have been written by an export; the message is the reason."""


class Head(NamedTuple):
    """The first line of an export: the identity of the store, and the roots computed from all events."""

    identity: Identity
    """The identity of the store, but without its keys, which the genesis event contains."""
    roots: Roots


def canonical(value: Any) -> bytes:
    """Return `value` as a line in RFC 8785 form, with its line end; it must have ASCII keys and no floats.

    Raises:
        UnicodeEncodeError: a string has a lone surrogate.
    """
    text_ = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text_.encode() + b"\n"


def parse_line(raw: bytes) -> dict[str, Any]:
    """Return the JSON object of a line.

    Raises:
        LineError: the line is not a JSON object, or a key occurs twice.
    """
    try:
        value = parse(raw)
    except JsonError as error:
        raise LineError(str(error)) from None
    if not isinstance(value, dict):
        raise LineError("the line is not a JSON object")
    return value


def head_line(head: Head) -> bytes:
    """Return the first line of an export of all events."""
    identity, roots = head
    return canonical(
        {
            "analyzer": {"fingerprint": identity.fingerprint.hex(), "name": identity.analyzer},
            "events": {"from": 0, "to": roots.size - 1},
            "format": NAME,
            "journal_format": FORMAT,
            "label_commitment": identity.label_commitment.hex(),
            "log_root": roots.log.hex(),
            "namespaces": {name: root.hex() for name, root in roots.named_roots},
            "root": roots.overall.hex(),
            "rules": identity.rules,
            "store_id": str(UUID(bytes=identity.store_id)),
            "version": VERSION,
        }
    )


def read_head(raw: bytes) -> Head:
    """Return the values of a first line. The values are compared with each other, but not with the events.

    Raises:
        LineError: the line is not the first line of an export, or the export has a different version.
    """
    fields = parse_line(raw)
    if fields.get("format") != NAME:
        raise LineError("this is not the first line of a journal export")
    if fields.get("version") != VERSION:
        raise LineError(
            f"the export has format version {fields.get('version')!a:.40}, only {VERSION} can be read"
        )
    analyzer, events = _object(fields, "analyzer"), _object(fields, "events")
    namespaces = _object(fields, "namespaces")
    name, fingerprint = _fields(
        [analyzer.get("name"), analyzer.get("fingerprint")], (text(LABEL_CHARS_MAX), _HASH)
    )
    last, log, store_id, labels, rules = _fields(
        [events.get("to"), *map(fields.get, ("log_root", "store_id", "label_commitment", "rules"))],
        (uint(SEQ_MAX), _HASH, sized(ID_BYTES), _HASH, uint(RULES_MAX)),
    )
    hashes = _fields([namespaces.get(name) for name in NAMESPACES], (_HASH,) * len(NAMESPACES))
    identity = Identity(store_id, name, fingerprint, labels, rules, b"", b"", b"")
    head = Head(identity, Roots(identity, last + 1, log, tuple(hashes)))
    if head_line(head) != raw:
        raise LineError("the fields contradict each other, or are not in canonical form")
    return head


def tail_line(events: int, log_root: bytes, sha256: bytes) -> bytes:
    """Return the last line of an export, with the number of events and the SHA-256 of the lines before it."""
    return canonical({"events": events, "log_root": log_root.hex(), "sha256": sha256.hex(), "end": True})


def is_tail(fields: Mapping[str, Any]) -> bool:
    """Return True if a parsed line has the key that marks the last line."""
    return "end" in fields


def event_line(raw: RawEntry) -> bytes:
    """Return the line of an event; instead of a destroyed payload, the line names the erasing event."""
    header, body, leaf = raw.entry
    payload: dict[str, Any] = {"erased": _to_json(raw.erased)}
    if body is not None and raw.payload is not None:
        payload = {"body": _by_name(body), "salt": raw.payload[:SALT_BYTES].hex()}
    origin = {} if header.origin is None else {"origin": _by_name(header.origin)}
    return canonical(
        origin
        | {
            "actor": header.actor,
            "commitment": header.commitment.hex(),
            "detail": _by_name(header.detail),
            "kind": header.kind.name.lower(),
            "leaf": leaf.hex(),
            "payload": payload,
            "prev": _to_json(header.prev),
            "seq": _to_json(header.seq),
            "time": _to_json(header.time),
        }
    )


def _by_name(value: Detail | Body | Origin) -> dict[str, Any]:
    """Return the fields by name, without optional fields that are None."""
    pairs = zip(value._fields, value, strict=True)
    return {name: _to_json(field) for name, field in pairs if field is not None or name not in _OPTIONAL}


def _to_json(value: Any) -> Any:
    kind = type(value)
    if kind is bytes:
        return str(UUID(bytes=value)) if len(value) == ID_BYTES else value.hex()
    if kind is int:
        return value if abs(value) <= EXACT_MAX else str(value)
    if kind is float:
        return {_FLOAT: struct.pack(">d", value).hex()}
    if kind is dict:
        return {key: _to_json(item) for key, item in value.items()}
    return [_to_json(item) for item in value] if kind is tuple else value


def read_event(raw: bytes, fields: dict[str, Any], seq: int) -> RawEntry:
    """Return the event of a line; its header, commitment and leaf hash are recomputed from the fields.

    `fields` is the result of `parse_line` for the line, and `seq` is the number that the event must have.

    Raises:
        LineError: the event has a different number, or the line cannot have been written by an export.
    """
    try:
        event = _event(fields, seq)
        again = event_line(event)
    except UnicodeEncodeError as error:
        raise LineError(f"a string has a lone surrogate: {error.reason}") from None
    if again != raw:
        raise LineError(_difference(fields, parse_line(again)))
    return event


def _event(fields: dict[str, Any], seq: int) -> RawEntry:
    found, name = fields.get("seq"), fields.get("kind")
    if found != seq:
        raise LineError(f"the event must have the number {seq}, not {found!a:.40}")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise LineError(f"the event kind {name!a:.40} is unknown")
    time, actor, committed, prev = _fields(
        [fields.get("time"), fields.get("actor"), fields.get("commitment"), fields.get("prev")],
        _COMMON,
    )
    detail = _build(*DETAILS[kind], _object(fields, "detail"))
    origin = _build(Origin, ORIGIN_FIELDS, _object(fields, "origin")) if "origin" in fields else None
    header = Header(seq, time, kind, actor, committed, prev, detail, origin)
    raw_header = encode_header(header)
    leaf = leaf_hash(raw_header)
    payload = _object(fields, "payload")
    if "erased" in payload:
        (erased,) = _fields([payload["erased"]], _SEQ)
        return RawEntry(Entry(header, None, leaf), raw_header, None, erased)
    (salt,) = _fields([payload.get("salt")], _SALT)
    values = dict(_object(payload, "body"))
    further = {
        number: _further_field(values.pop(name)) for number, (name, _) in enumerate(FURTHER) if name in values
    }
    body = _build(*BODIES[kind], values)
    if further:
        try:
            body = body._replace(**read_further(further, further_numbers(type(body)), "the body"))
        except FormError as error:
            raise LineError(str(error)) from None
    raw_body = encode_body(body)
    if commitment(salt, raw_body) != committed:
        raise LineError("the payload does not match the event's commitment")
    return RawEntry(Entry(header, body, leaf), raw_header, salt + raw_body)


def _build(make: Any, checks: Sequence[Check], fields: Mapping[str, Any]) -> Any:
    names = make._fields[: len(checks)]
    if fields.keys() != set(names):
        raise LineError(f"the fields must be {', '.join(names)}")
    values = _fields([fields[name] for name in names], checks)
    return make(*map(_in_tuples, values))


def _in_tuples(value: Any) -> Any:
    return tuple(map(_in_tuples, value)) if type(value) is list else value


def _fields(values: list[Any], checks: Sequence[Check]) -> list[Any]:
    """Decode the JSON values, and check each result against its bounds."""
    checked = [_value(value, check) for value, check in zip(values, checks, strict=True)]
    try:
        return forms.fields(checked, tuple(checks), "a field")
    except FormError as error:
        raise LineError(str(error)) from None


def _further_field(value: Any) -> Any:
    """Return the value of an optional field; floats in a `meta` object are decoded from binary64."""
    if not isinstance(value, dict):
        return value
    floats = {key: one[_FLOAT] for key, one in value.items() if isinstance(one, dict) and [*one] == [_FLOAT]}
    if not all(isinstance(one, str) and len(one) == 16 for one in floats.values()):
        raise LineError(f"a {_FLOAT} value is not 16 hexadecimal digits")
    return value | {key: struct.unpack(">d", _bytes(one))[0] for key, one in floats.items()}


def _value(value: Any, check: Check) -> Any:
    if isinstance(value, str):
        # In a checkpoint, a text is the name of a namespace or its root; no name is as long as a root.
        if bytes in check.types and (str not in check.types or len(value) == 2 * DIGEST_BYTES):
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
    raise LineError(f"{value[:40]!a} is not a hexadecimal number")


def _object(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    if not isinstance(value, dict):
        raise LineError(f"`{name}` is not an object")
    return value


def _difference(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Return the reason why a readable line differs from the canonical line of the event that it contains."""
    if actual.get("leaf") != expected["leaf"] and actual.keys() == expected.keys():
        return "the header does not match the leaf hash: something in the line was changed"
    return "the line is not in canonical form"


def damaged(name: str, line: int, reason: str, seq: int | None = None) -> CorruptionError:
    """Return the error for a line of an export, with the line's number."""
    return CorruptionError(
        f"{name} line {line}: {reason}",
        hint="use another copy of the export; nothing was stored from this copy",
        family="journal",
        seq=seq,
    )
