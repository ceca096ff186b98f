"""Commands on atoms: add, revise, tombstone, revive, tag, untag (docs/commands.md).

Content that was erased is accepted again only with `force`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from typing import Any

from engine.base import limits, times, validation
from engine.base.characters import normalized_content
from engine.base.errors import ConflictError, LimitError, NotFoundError, RefusedError
from engine.base.model import UNCHANGED, Receipt, Unchanged
from engine.base.validation import atom_id, show_id
from engine.commands.known import is_in_conflict, refuse_awaited
from engine.commands.transaction import Transaction, receipt
from engine.ledger.layout import destroyed_key
from engine.ledger.records import AtomRecord, Lookup, default_id_of, id_of_occurrence
from proofs.codec import encode_body
from proofs.events import AtomBody, AtomDetail, EventKind, ReasonBody, Scalar, TagsBody
from proofs.hashing import destroyed_hash
from proofs.leaves import State, tag_identity

_line = validation.optional_line
_INBOX = ("inbox",)
_REUSABLE = frozenset({tuple, list, type(None)})


class _ReusableFields:
    """A base class that converts iterators in fields to tuples, because a command may be read repeatedly."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in ("tags", "buckets", "aliases"):
            value = getattr(self, name, None)
            if type(value) not in _REUSABLE and isinstance(value, Iterator):
                object.__setattr__(self, name, tuple(value))


@dataclass(frozen=True, slots=True)
class Add(_ReusableFields):
    """Add an atom with this content.

    With `id` or `key` the caller names the atom: adding the same content again appends no event, and adding
    different content raises ConflictError. Otherwise, the id is derived from source, content and place. The
    place is `occurrence` (the number of equal texts that come earlier in the source) if it is given, else
    `sequence` if it is given, else occurrence 0. If an atom with the derived id is already recorded and has
    this content, no event is appended, whether the atom is live or hidden. If the recorded atom was revised
    and has a different content, no event is appended if its place is a sequence; otherwise the next higher
    occurrence is used.
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
    occurrence: int | None = None
    key: str | None = None
    id: str | None = None
    force: bool = False
    """True to add the atom even if it, or its content, was erased earlier."""
    meta: Mapping[str, Scalar] | None = None
    """Values chosen by the caller: booleans, numbers and texts, under keys of at most 64 characters."""
    aliases: Iterable[str] | None = None
    """Alternative names of the person or thing that the atom describes."""
    folder: str | None = None
    """The folder that the source belongs to."""

    def body(self) -> AtomBody:
        """Return the validated and normalized fields as an event body.

        Raises:
            InvalidInputError: A field is not valid according to SPEC.md.
        """
        # Most fields have their default value, and a call takes ten times as long as a comparison.
        return AtomBody(
            validation.content(self.content),
            None if self.title is None else _line(self.title, "title", limits.TITLE_BYTES_MAX),
            "note" if self.kind == "note" else validation.label(self.kind, "kind"),
            () if self.tags == () else validation.tags(self.tags),
            _INBOX if self.buckets == _INBOX else validation.buckets(self.buckets),
            None if self.source is None else _line(self.source, "source", limits.SOURCE_BYTES_MAX),
            None if self.sequence is None else validation.integer(self.sequence, "sequence"),
            "internal" if self.provenance == "internal" else validation.provenance(self.provenance),
            None if self.trust is None else validation.integer(self.trust, "trust", limits.TRUST_MAX),
            None if self.created is None else times.created(self.created),
            self._occurrence(),
            None if self.key is None else _line(self.key, "key", limits.KEY_BYTES_MAX),
            meta=None if self.meta is None else validation.meta(self.meta),
            aliases=None if self.aliases is None else validation.aliases(self.aliases),
            folder=None if self.folder is None else _line(self.folder, "folder", limits.FOLDER_BYTES_MAX),
        )

    def _occurrence(self) -> int | None:
        """Return the occurrence that identifies the atom, or None if its key or its sequence does."""
        given = None if self.occurrence is None else validation.integer(self.occurrence, "occurrence")
        if self.key is not None or (given is None and self.sequence is not None):
            return None
        return given or 0

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that adds the atom, or no event if the atom is already recorded.

        Raises:
            ConflictError: An atom with the given id or key is already recorded and has different content.
            RefusedError: The atom or its content was erased, and `force` is not set.
        """
        body, atom = tx.ahead.get(id(self)) or self._described(tx)
        record = tx.atom(atom)
        named = self.id is not None or self.key is not None
        first = body.occurrence
        if record is not None and first is not None and not named and not says(tx, record, body.content):
            body, atom, record = _other_copy(tx, body, first)
        if record is None or record.state is State.ERASED:
            if record is not None and not self.force:
                raise RefusedError(
                    f"atom {show_id(atom)} was erased at event {record.last_seq}", hint=FORCE_HINT
                )
            if record is not None:
                refuse_awaited(tx, atom, record.last_seq)
            if not self.force:
                _refuse_destroyed(tx, body.content)
            detail = AtomDetail(atom, tx.next_ordinal)
            return receipt(
                atom, State.LIVE, tx.append(EventKind.ATOM_ADDED, tx.last_event(atom), detail, body)
            )
        if named and tx.body(record).content != body.content:
            raise ConflictError(
                f"atom {show_id(atom)} is already recorded with different content",
                hint="revise that atom, or add the new content with a different id or key",
            )
        return receipt(atom, record.state)

    def _described(self, tx: Transaction) -> tuple[AtomBody, bytes]:
        """Return the validated body, and the id that the caller gave or the default id."""
        body = _screened(tx, self.body())
        return body, default_id_of(tx.id_key, body) if self.id is None else atom_id(self.id)


@dataclass(frozen=True, slots=True)
class Revise(_ReusableFields):
    """Change an atom's content or fields. A field with the value `UNCHANGED` keeps its recorded value."""

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
    """True to accept new content even if the same content was erased earlier."""
    meta: Mapping[str, Scalar] | Unchanged | None = UNCHANGED
    """The new values of meta. All recorded values are removed first."""
    aliases: Iterable[str] | Unchanged | None = UNCHANGED
    folder: str | Unchanged | None = UNCHANGED

    def decide(self, tx: Transaction) -> Receipt:
        """Append one event that contains the whole changed atom, or no event if the atom would not change.

        If another device has changed the atom at the same time, giving the content that it shows settles the
        conflict: this is an event. A program with a pipeline, such as the dreamer, changes nothing meanwhile.

        Raises:
            NotFoundError: The atom was never recorded.
            ConflictError: The atom is tombstoned or erased.
            RefusedError: The content was erased, and `force` is not set.
        """
        record = live(tx, self.id, "revise")
        # Without `created` in the body, the atom would get the time of the revision.
        before = tx.body(record)._replace(
            tags=record.tags, created=record.created, request=None, pipeline=None
        )
        values = {name: getattr(self, name) for name in _REVISABLE}
        changed = {name: value for name, value in values.items() if not isinstance(value, Unchanged)}
        body = _screened(tx, _as_add(before, changed).body())
        # What identifies an atom never changes.
        body = body._replace(occurrence=before.occurrence)
        if body.created is None:
            body = body._replace(created=record.created)
        if encode_body(body) == encode_body(before) and not self._settles(
            tx, record
        ):  # with ==, True and 1 would be equal
            return receipt(record.id, record.state)
        if tx.pipeline is not None and is_in_conflict(tx, record.id, record.last_seq):
            return receipt(record.id, record.state)  # a program must not settle what people have to settle
        if body.content != before.content and not self.force:
            _refuse_destroyed(tx, body.content)
        detail = AtomDetail(record.id, tx.next_ordinal, record.ordinal)
        event = tx.append(EventKind.ATOM_REVISED, record.last_seq, detail, body)
        return receipt(record.id, State.LIVE, event)

    def _settles(self, tx: Transaction, record: AtomRecord) -> bool:
        """Return True if the caller confirms the content of an atom that has different versions."""
        return not isinstance(self.content, Unchanged) and is_in_conflict(tx, record.id, record.last_seq)


_REVISABLE = tuple(field.name for field in fields(Revise) if field.name not in {"id", "force"})


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Hide an atom. The atom stays in the journal."""

    id: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that hides the atom, or no event if the atom is already hidden.

        Raises:
            NotFoundError: The atom was never recorded.
        """
        record = recorded(tx, self.id)
        body = ReasonBody(validation.line(self.reason, "reason", limits.REASON_BYTES_MAX))
        if record.state is not State.LIVE:
            return receipt(record.id, record.state)
        event = tx.append(EventKind.ATOM_TOMBSTONED, record.last_seq, _detail(record), body)
        return receipt(record.id, State.TOMBSTONED, event)


@dataclass(frozen=True, slots=True)
class Revive:
    """Make a tombstoned atom live again."""

    id: str
    reason: str = ""
    force: bool = False
    """Revive the atom even if another atom with the same content was erased."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that revives the atom, or no event if the atom is live.

        Raises:
            RefusedError: The atom is erased; or another atom with the same content is erased, and `force` is
                not set.
        """
        record = recorded(tx, self.id)
        body = ReasonBody(validation.line(self.reason, "reason", limits.REASON_BYTES_MAX))
        if record.state is State.LIVE:
            return receipt(record.id, record.state)
        if record.state is State.ERASED:
            raise RefusedError(
                f"atom {show_id(record.id)} was erased at event {record.last_seq} and cannot be revived"
            )
        if not self.force:
            _refuse_destroyed(tx, tx.body(record).content)
        event = tx.append(EventKind.ATOM_REVIVED, record.last_seq, _detail(record), body)
        return receipt(record.id, State.LIVE, event)


@dataclass(frozen=True, slots=True)
class Tag(_ReusableFields):
    """Add tags to an atom."""

    id: str
    tags: Iterable[str] = ()

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that adds the tags, or no event if the atom already has all of the tags.

        Raises:
            ConflictError: The atom is tombstoned or erased.
            LimitError: The atom would have too many tags.
        """
        record = live(tx, self.id, "tag")
        present = set(map(tag_identity, record.tags))
        wanted = validation.tags(tx.screened(validation.tags(self.tags), "tags"))
        new = tuple(tag for tag in wanted if tag_identity(tag) not in present)
        if len(record.tags) + len(new) > limits.TAGS_PER_ATOM_MAX:
            raise LimitError(
                f"atom {show_id(record.id)} would have more than {limits.TAGS_PER_ATOM_MAX} tags",
                hint="remove tags from it first",
            )
        if not new:
            return receipt(record.id, record.state)
        event = tx.append(EventKind.TAGS_ADDED, record.last_seq, _detail(record), TagsBody(new))
        return receipt(record.id, record.state, event)


@dataclass(frozen=True, slots=True)
class Untag(_ReusableFields):
    """Remove tags from an atom."""

    id: str
    tags: Iterable[str] = ()

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that removes the tags, or no event if the atom has none of the tags.

        Raises:
            ConflictError: The atom is tombstoned or erased.
        """
        record = live(tx, self.id, "untag")
        unwanted = set(map(tag_identity, validation.tags(self.tags)))
        gone = tuple(tag for tag in record.tags if tag_identity(tag) in unwanted)
        if not gone:
            return receipt(record.id, record.state)
        event = tx.append(EventKind.TAGS_REMOVED, record.last_seq, _detail(record), TagsBody(gone))
        return receipt(record.id, record.state, event)


def ids_of_copies(
    id_key: bytes, source: str | None, content: str, first: int = 0
) -> Iterator[tuple[int, bytes]]:
    """Yield the occurrence and the id of each copy of a content in a source, from the occurrence `first` on.

    The atom of an id may have been revised and have a different content now. Then the caller tries the next.

    Raises:
        RefusedError: Too many ids were tried.
    """
    for occurrence in range(first, first + limits.RESULTS_MAX):
        yield occurrence, id_of_occurrence(id_key, source, content, occurrence)
    raise RefusedError(
        f"{limits.RESULTS_MAX} atoms of this source had this content and were revised since",
        hint="add the content with a different source, or with a key",
    )


def _other_copy(tx: Transaction, body: AtomBody, first: int) -> tuple[AtomBody, bytes, AtomRecord | None]:
    """Return the body with an occurrence above `first`, and the id and record of its atom.

    Ids whose atoms were revised and have a different content now are skipped.
    """
    copies = ids_of_copies(tx.id_key, body.source, body.content, first)
    for occurrence, atom in islice(copies, 1, None):
        record = tx.atom(atom)
        if record is None or says(tx, record, body.content):
            return body._replace(occurrence=occurrence), atom, record
    raise AssertionError("unreachable: ids_of_copies raises an error at its end")


def says(tx: Transaction, record: AtomRecord, content: str) -> bool:
    """Return True if the recorded atom has the content `content`, or had it when the atom was erased.

    The atom must have the default id for `content`, so that only a revision can have changed the content.
    """
    return record.version == 1 or record.state is State.ERASED or tx.body(record).content == content


def recorded(tx: Transaction, atom: str) -> AtomRecord:
    """Return the record of the atom with the id `atom`.

    Raises:
        NotFoundError: The atom was never recorded.
    """
    id_ = atom_id(atom)
    record = tx.atom(id_)
    if record is None:
        raise NotFoundError(f"atom {show_id(id_)} was never recorded")
    return record


def live(tx: Transaction, atom: str, verb: str) -> AtomRecord:
    """Return the record of the live atom with the id `atom`; `verb` names the operation in errors.

    Raises:
        NotFoundError: The atom was never recorded.
        ConflictError: The atom is tombstoned or erased.
    """
    record = recorded(tx, atom)
    if record.state is State.ERASED:
        raise ConflictError(f"cannot {verb} atom {show_id(record.id)}: it is erased")
    if record.state is not State.LIVE:
        raise ConflictError(
            f"cannot {verb} atom {show_id(record.id)}: it is {record.state.name.lower()}",
            hint=f"revive it first (`engine revive {show_id(record.id)}`)",
        )
    return record


def _screened(tx: Transaction, body: AtomBody) -> AtomBody:
    """Apply the filter for secrets to `body`; return the result, validated again if the filter changed it."""
    filtered = body if tx.screen is None else tx.screen.atom(body)
    return body if filtered is body else _as_add(filtered, {}).body()


def _as_add(body: AtomBody, other: Mapping[str, Any]) -> Add:
    """Return an `Add` command with the fields of `body`; values in `other` replace fields of `body`."""
    return Add(**{name: value for name, value in body._asdict().items() if name in _ADDABLE} | dict(other))


_ADDABLE = frozenset(field.name for field in fields(Add))


def _detail(record: AtomRecord) -> AtomDetail:
    return AtomDetail(record.id, record.ordinal)


ERASED = "this content was erased from the memory"
FORCE_HINT = "record it again with --force (in Python, force=True)"


def is_destroyed(rows: Lookup, id_key: bytes, content: str) -> bool:
    """Return True if an atom was erased whose content has the same normal form as `content`."""
    return rows.get(destroyed_content_key(id_key, content)) is not None


def destroyed_content_key(id_key: bytes, content: str) -> bytes:
    """Return the key of the row that exists if an atom with this content, in its normal form, was erased."""
    return destroyed_key(destroyed_hash(id_key, normalized_content(content)))


def _refuse_destroyed(tx: Transaction, content: str) -> None:
    """Raise RefusedError if an atom with this content was erased."""
    if tx.may_be_destroyed() and is_destroyed(tx.rows, tx.id_key, content):
        raise RefusedError(ERASED, hint=FORCE_HINT)
