"""Commands on atoms: add, revise, tombstone, revive, tag, untag (docs/commands.md).

A content that was destroyed comes back only when somebody insists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from typing import Any, Final

from engine.base import limits, validation
from engine.base.errors import ConflictError, LimitError, RefusedError
from engine.base.model import Receipt
from engine.base.validation import atom_id, show_id
from engine.commands.base import Transaction, receipt
from engine.ledger.layout import destroyed_key
from engine.ledger.queries import get_record
from engine.ledger.records import AtomRecord, Lookup, default_id
from proofs.codec import encode_body
from proofs.events import AtomBody, AtomDetail, EventKind, ReasonBody, TagsBody
from proofs.further import Scalar
from proofs.hashing import destroyed_hash
from proofs.leaves import State
from proofs.sets import tag_identity


class Unchanged(Enum):
    """The type of `UNCHANGED`."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
"""Stands for a field that a revision leaves as it is."""


class _Kept:
    """Keeps what iterators yield: a command may be decided more than once."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in ("tags", "buckets", "aliases"):
            given = getattr(self, name, None)
            if isinstance(given, Iterator):
                object.__setattr__(self, name, tuple(given))


@dataclass(frozen=True, slots=True)
class Add(_Kept):
    """Have an atom with this content.

    With `id` or `key` the caller names it: the same content again is no event, another content is
    a conflict. Without them the id follows from source, content and `occurrence` (how many equal
    texts come earlier in the source), and adding what is recorded is no event, whatever became of it.
    """

    content: str
    title: str | None = None
    kind: str = "note"
    tags: Iterable[str] = ()
    buckets: Iterable[str] = ("inbox",)
    source: str | None = None
    sequence: int | None = None
    provenance: str = "internal"
    trust: int | None = None
    created: int | datetime | None = None
    occurrence: int = 0
    key: str | None = None
    id: str | None = None
    force: bool = False
    """Also a content that was erased, and an atom that was."""
    meta: Mapping[str, Scalar] | None = None
    """What the caller keeps with it: truths, numbers and texts under keys of up to 64 characters."""
    aliases: Iterable[str] | None = None
    """Other names of what it is about."""
    folder: str | None = None
    """Which folder its source belongs to."""

    def body(self) -> AtomBody:
        """The checked form of what was given.

        Raises:
            InvalidInputError: a field breaks a rule of SPEC.md.
        """
        return AtomBody(
            content=validation.content(self.content),
            title=validation.optional_line(self.title, "title", limits.TITLE_BYTES_MAX),
            kind=validation.label(self.kind, "kind"),
            tags=() if self.tags == () else validation.tags(self.tags),
            buckets=validation.labels(self.buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
            source=validation.optional_line(self.source, "source", limits.SOURCE_BYTES_MAX),
            sequence=validation.optional_integer(self.sequence, "sequence"),
            provenance=validation.provenance(self.provenance),
            trust=validation.optional_integer(self.trust, "trust", limits.TRUST_MAX),
            created=validation.created(self.created),
            occurrence=validation.integer(self.occurrence, "occurrence"),
            key=validation.optional_line(self.key, "key", limits.KEY_BYTES_MAX),
            meta=validation.meta(self.meta),
            aliases=validation.aliases(self.aliases),
            folder=validation.optional_line(self.folder, "folder", limits.FOLDER_BYTES_MAX),
        )

    def decide(self, tx: Transaction) -> Receipt:
        """No event where the atom is recorded, else one.

        Raises:
            ConflictError: the caller's id or key is recorded with another content.
            RefusedError: the atom or its content was erased, and `force` is not set.
        """
        body = _screened(tx, self.body())
        if self.id is not None:
            atom = atom_id(self.id)
        else:
            atom = default_id(tx.id_key, body.source, body.content, body.occurrence, body.key)
        record = tx.atom(atom)
        if record is None or record.state is State.ERASED:
            if record is not None and not self.force:
                raise RefusedError(f"atom {show_id(atom)} was erased at event {record.last_seq}", hint=INSIST)
            _refuse_destroyed(tx, body.content, force=self.force)
            detail, prev = AtomDetail(atom, tx.next_ordinal, None), record.last_seq if record else None
            return receipt(atom, State.LIVE, tx.append(EventKind.ATOM_ADDED, prev, detail, body))
        named = self.id is not None or self.key is not None
        if named and tx.body(record).content != body.content:
            raise ConflictError(
                f"atom {show_id(atom)} is recorded with another content",
                hint="revise it, or give the new content an id or key of its own",
            )
        return receipt(atom, record.state)


@dataclass(frozen=True, slots=True)
class Revise(_Kept):
    """Have the atom say this from now on; what is left `UNCHANGED` stays."""

    id: str
    content: str | Unchanged = UNCHANGED
    title: str | Unchanged | None = UNCHANGED
    kind: str | Unchanged = UNCHANGED
    tags: Iterable[str] | Unchanged = UNCHANGED
    buckets: Iterable[str] | Unchanged = UNCHANGED
    source: str | Unchanged | None = UNCHANGED
    sequence: int | Unchanged | None = UNCHANGED
    provenance: str | Unchanged = UNCHANGED
    trust: int | Unchanged | None = UNCHANGED
    created: int | datetime | Unchanged | None = UNCHANGED
    force: bool = False
    """Also to a content that was erased."""
    meta: Mapping[str, Scalar] | Unchanged | None = UNCHANGED
    """All of it: what it does not say is gone."""
    aliases: Iterable[str] | Unchanged | None = UNCHANGED
    folder: str | Unchanged | None = UNCHANGED

    def decide(self, tx: Transaction) -> Receipt:
        """No event where nothing differs, else one that repeats the whole atom."""
        record = live(tx, self.id, "revise")
        # A body always says when the text was created: without, it would count to the revision's day.
        before = tx.body(record)._replace(tags=record.tags, created=record.created, request=None, origin=None)
        given = {name: getattr(self, name) for name in _REVISABLE}
        changed = {name: value for name, value in given.items() if not isinstance(value, Unchanged)}
        body = _screened(tx, _as_add(before, changed).body())
        if body.created is None:
            body = body._replace(created=record.created)
        if encode_body(body) == encode_body(before):  # as values, true would be 1
            return receipt(record.id, record.state)
        if body.content != before.content:
            _refuse_destroyed(tx, body.content, force=self.force)
        detail = AtomDetail(record.id, tx.next_ordinal, record.ordinal)
        entry = tx.append(EventKind.ATOM_REVISED, record.last_seq, detail, body)
        return receipt(record.id, State.LIVE, entry)


_REVISABLE = tuple(field.name for field in fields(Revise) if field.name not in {"id", "force"})


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Have the atom hidden everywhere, and kept."""

    id: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is hidden already."""
        record = recorded(tx, self.id)
        body = ReasonBody(validation.line(self.reason, "reason", limits.REASON_BYTES_MAX))
        if record.state is not State.LIVE:
            return receipt(record.id, record.state)
        entry = tx.append(EventKind.ATOM_TOMBSTONED, record.last_seq, _detail(record), body)
        return receipt(record.id, State.TOMBSTONED, entry)


@dataclass(frozen=True, slots=True)
class Revive:
    """Have a tombstoned atom back."""

    id: str
    reason: str = ""
    force: bool = False
    """Also one whose content was erased elsewhere."""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is live.

        Raises:
            RefusedError: it is erased; or an atom with its content is, and `force` is not set.
        """
        record = recorded(tx, self.id)
        body = ReasonBody(validation.line(self.reason, "reason", limits.REASON_BYTES_MAX))
        if record.state is State.LIVE:
            return receipt(record.id, record.state)
        if record.state is State.ERASED:
            raise RefusedError(
                f"atom {show_id(record.id)} was erased at event {record.last_seq}; nothing is left of it"
            )
        _refuse_destroyed(tx, tx.body(record).content, force=self.force)
        entry = tx.append(EventKind.ATOM_REVIVED, record.last_seq, _detail(record), body)
        return receipt(record.id, State.LIVE, entry)


@dataclass(frozen=True, slots=True)
class Tag(_Kept):
    """Have these tags on the atom."""

    id: str
    tags: Iterable[str] = ()

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it has them all."""
        record = live(tx, self.id, "tag")
        present = set(map(tag_identity, record.tags))
        wanted = validation.tags(tx.screened(validation.tags(self.tags), "tags"))
        new = tuple(tag for tag in wanted if tag_identity(tag) not in present)
        if len(record.tags) + len(new) > limits.TAGS_PER_ATOM_MAX:
            raise LimitError(f"atom {self.id} would have over {limits.TAGS_PER_ATOM_MAX} tags")
        if not new:
            return receipt(record.id, record.state)
        entry = tx.append(EventKind.TAGS_ADDED, record.last_seq, _detail(record), TagsBody(new))
        return receipt(record.id, record.state, entry)


@dataclass(frozen=True, slots=True)
class Untag(_Kept):
    """Have none of these tags on the atom."""

    id: str
    tags: Iterable[str] = ()

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it has none of them."""
        record = live(tx, self.id, "untag")
        unwanted = set(map(tag_identity, validation.tags(self.tags)))
        gone = tuple(tag for tag in record.tags if tag_identity(tag) in unwanted)
        if not gone:
            return receipt(record.id, record.state)
        entry = tx.append(EventKind.TAGS_REMOVED, record.last_seq, _detail(record), TagsBody(gone))
        return receipt(record.id, record.state, entry)


def recorded(tx: Transaction, given: str) -> AtomRecord:
    """The record of the atom that the caller names.

    Raises:
        NotFoundError: it was never recorded.
    """
    return get_record(tx.rows, atom_id(given))


def live(tx: Transaction, given: str, verb: str) -> AtomRecord:
    """As `recorded`, and it is live.

    Raises:
        ConflictError: it is tombstoned or erased.
    """
    record = recorded(tx, given)
    if record.state is State.ERASED:
        raise ConflictError(f"cannot {verb} atom {show_id(record.id)}: it is erased")
    if record.state is not State.LIVE:
        raise ConflictError(
            f"cannot {verb} atom {show_id(record.id)}: it is {record.state.name.lower()}",
            hint=f"bring it back first: engine revive {show_id(record.id)}",
        )
    return record


def _screened(tx: Transaction, body: AtomBody) -> AtomBody:
    """The body as it may be written, in its checked form."""
    kept = body if tx.screen is None else tx.screen.atom(body)
    return body if kept is body else _as_add(kept, {}).body()


def _as_add(body: AtomBody, other: Mapping[str, Any]) -> Add:
    """The command that would say what `body` does, but for what `other` says."""
    return Add(**{name: value for name, value in body._asdict().items() if name in _ADDED} | dict(other))


_ADDED = frozenset(field.name for field in fields(Add))


def _detail(record: AtomRecord) -> AtomDetail:
    return AtomDetail(record.id, record.ordinal, None)


ERASED = "this content was erased from the memory"
INSIST = "have it all the same: --force"


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def alike(content: str) -> bytes:
    """What a content has in common with its copies: white space as single spaces, A to Z as a to z, UTF-8.

    No further, because the bytes are hashed for ever: other scripts' cases differ by version of Unicode.
    """
    return " ".join(content.split()).translate(_LOWER).encode()


def is_destroyed(rows: Lookup, id_key: bytes, content: str) -> bool:
    """Whether an atom with such a content was erased, of whatever id; `alike` says how like it must be."""
    return rows.get(destroyed_key(destroyed_hash(id_key, alike(content)))) is not None


def _refuse_destroyed(tx: Transaction, content: str, *, force: bool) -> None:
    """Refuse a content that was erased.

    Raises:
        RefusedError: it was, and `force` is not set.
    """
    if not force and is_destroyed(tx.rows, tx.id_key, content):
        raise RefusedError(ERASED, hint=INSIST)
