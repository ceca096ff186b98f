"""The atoms of a framework: their sources, reading them, and asking for them.

A source is the framework, then the parts of a name, separated by `/`. One call reads all its atoms from one
snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeVar
from urllib.parse import unquote

from backends.base import Snapshot
from engine.base.errors import InvalidInputError, translated
from engine.base.times import shown_time
from engine.base.validation import atom_id, quoted, show_id
from engine.engine import Engine
from engine.followers.tags import LIVE, members, values
from engine.frameworks.framework_values import is_packed
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord, read_atom
from engine.query.filters import Filters, allowed
from engine.query.recall.recall_answer import Hit
from engine.text.language.question import analyze_question
from proofs.events import AtomBody
from proofs.leaves import Group, State

Item = TypeVar("Item")

_CODED: Final = re.compile("[%/*\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
"""The characters that a source may not contain, or that have a meaning in a filter of sources."""


def coded(part: str, what: str) -> str:
    """Return a part of a name in the form for a source or a key. Unusual characters are written as `%2A`.

    Raises:
        InvalidInputError: the part is empty, or is not text; `what` names it in the message.
    """
    if not isinstance(part, str) or not part:
        raise InvalidInputError(f"{what} must be text that is not empty, not {quoted(part)}")
    return _CODED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), part)


def decoded(text: str) -> str:
    """Return the part of a name for which `coded` returned `text`."""
    return unquote(text, errors="strict")


def source_of(framework: str, parts: Sequence[str], what: str) -> str:
    """Return the source of the atoms with this name, such as `langgraph:users/ada`.

    Raises:
        InvalidInputError: a part is empty, or is not text; `what` names it in the message.
    """
    return f"{framework}:" + "/".join(coded(part, what) for part in parts)


def parts_of(source: str) -> tuple[str, ...]:
    """Return the parts of the name for which `source_of` returned `source`."""
    return tuple(decoded(part) for part in source.partition(":")[2].split("/"))


_FIRST, _AT_ONCE = 16, 512
"""The number of atoms in the first read, and the maximum number in one read."""


class Held(NamedTuple):
    """A live atom that holds a value."""

    record: AtomRecord
    body: AtomBody

    @property
    def id(self) -> str:
        """The id of the atom."""
        return show_id(self.record.id)


@contextmanager
def snapshot(memory: Engine) -> Iterator[Snapshot]:
    """Yield a snapshot of the memory in which the follower `tags` is at the head of the journal."""
    with translated(), memory.store.view(memory.store.tags) as rows:
        yield rows


def records_passing(rows: Snapshot, filters: Filters) -> Iterator[AtomRecord]:
    """Yield the records of the live atoms that pass `filters`, the atom with the newest content first."""
    for some in _in_parts(sorted(allowed(rows, filters), reverse=True)):
        yield from records_of(rows, ids_at(rows, some))


def values_of(rows: Snapshot, records: Iterable[AtomRecord]) -> Iterator[Held]:
    """Yield the atoms of these records. Atoms that do not contain a value are left out."""
    for some in _in_parts(records):
        for record, body in zip(some, bodies_of(rows, some), strict=True):
            if is_packed(body.meta or {}):
                yield Held(record, body)


def _in_parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in longer and longer lists, because the caller often needs only the first items."""
    rest, most = iter(items), _FIRST
    while some := list(islice(rest, most)):
        yield some
        most = min(2 * most, _AT_ONCE)


def sources_in(rows: Snapshot, bucket: str, first: str) -> Iterator[str]:
    """Yield, in ascending order, the sources that begin with `first` and have a live atom in the bucket."""
    here = members(rows, LIVE) & members(rows, (Group.BUCKET, bucket))
    for source in values(rows, Group.SOURCE, first):
        if not source.startswith(first):
            return
        if here & members(rows, (Group.SOURCE, source)):
            yield source


def live_records(rows: Snapshot, ids: Sequence[str]) -> dict[str, AtomRecord]:
    """Return the records of the live atoms among `ids`, by id."""
    records = ((one, read_atom(rows, atom_id(one))) for one in ids)
    return {one: record for one, record in records if record is not None and record.state is State.LIVE}


@dataclass(frozen=True, slots=True)
class Answered:
    """An atom that answers a question."""

    id: str
    content: str
    metadata: dict[str, object]
    """The other fields of the atom. Fields without a value are left out. Times are in ISO 8601."""


def hits_of(memory: Engine, query: str, most: int, filters: Filters) -> tuple[Hit, ...]:
    """Return at most `most` hits of a recall. A question without a searchable word has no hits.

    Raises:
        InvalidInputError: The question is too long, or `most` or `filters` is not valid.
    """
    try:
        return memory.recall(query, limit=most, filters=filters).hits
    except InvalidInputError:
        if query.strip() and analyze_question(query).terms:
            raise
        return ()


def answered(memory: Engine, query: str, most: int, filters: Filters) -> list[Answered]:
    """Return the atoms that answer a question best, with their whole texts.

    An atom that is hidden while this function runs is left out.

    Raises:
        InvalidInputError: The question is too long, or `most` or `filters` is not valid.
    """
    hits = {hit.id: hit for hit in hits_of(memory, query, most, filters)}
    with translated(), memory.store.view() as rows:
        records = live_records(rows, list(hits))
        bodies = bodies_of(rows, list(records.values()))
    return [
        Answered(
            id=one,
            content=body.content,
            metadata={
                name: value
                for name, value in {
                    "id": one,
                    "score": hits[one].score,
                    "source": record.source,
                    "title": hits[one].heading,
                    "tags": list(record.tags),
                    "kind": record.kind,
                    "provenance": record.provenance,
                    "trust": record.trust,
                    "created": shown_time(record.created),
                    "updated": shown_time(record.updated),
                    "meta": dict(body.meta or {}),
                }.items()
                if value not in (None, [], {})
            },
        )
        for (one, record), body in zip(records.items(), bodies, strict=True)
    ]
