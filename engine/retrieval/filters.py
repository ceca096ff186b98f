"""Which atoms a query may return, worked out as bitmap algebra over the `tags` follower's sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.base import Reader
from engine import border, limits
from engine.border import tag_identity
from engine.errors import InvalidInputError
from engine.followers.tags import LIVE, Group, day_of, members, union, values
from engine.queries import record_at

if TYPE_CHECKING:
    from pyroaring import BitMap


@dataclass(frozen=True, slots=True)
class Filters:
    """What an atom must be. Empty fields ask for nothing; times are µs UTC, `until` is not included.

    An atom must have all `tags` and none of `without_tags`, and be in one of the `buckets`, of the
    `sources`, of the `kinds` and of the `provenances`. A source ending in `*` stands for all that
    begin so. Only live atoms are returned.
    """

    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    provenances: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None


NO_FILTERS = Filters()


def allowed(rows: Reader, filters: Filters) -> BitMap:
    """The ordinals of all live atoms that `filters` lets through.

    Raises:
        InvalidInputError: a filter is not what its field may hold.
    """
    for name in ("tags", "without_tags", "buckets", "sources", "kinds", "provenances"):
        border.several(getattr(filters, name), name)
    found = members(rows, LIVE)
    for tag in filters.tags:
        found &= members(rows, (Group.TAG, tag_identity(border.tag(tag))))
    for tag in filters.without_tags:
        found -= members(rows, (Group.TAG, tag_identity(border.tag(tag))))
    for group, wanted in (
        (Group.BUCKET, [border.label(name, "bucket") for name in filters.buckets]),
        (Group.KIND, [border.label(name, "kind") for name in filters.kinds]),
        (Group.PROVENANCE, [border.provenance(name) for name in filters.provenances]),
        (Group.SOURCE, list(_sources(rows, filters.sources))),
    ):
        if wanted or (group is Group.SOURCE and filters.sources):
            found &= union(rows, ((group, name) for name in wanted))
    if filters.since is not None or filters.until is not None:
        found = _created_between(rows, found, filters.since, filters.until)
    return found


def _sources(rows: Reader, given: Iterable[str]) -> Iterable[str]:
    for source in given:
        border.line(source, "source", limits.SOURCE_BYTES_MAX)
        if source.endswith("*"):
            start = source[:-1]
            yield from _beginning(rows, start)
        else:
            yield source


def _beginning(rows: Reader, start: str) -> Iterable[str]:
    for source in values(rows, Group.SOURCE, start):
        if not source.startswith(start):
            return
        yield source


def _created_between(rows: Reader, found: BitMap, since: int | None, until: int | None) -> BitMap:
    """Whole days by their sets; of the first and the last day only those that the times let through."""
    since = border.integer(0 if since is None else since, "since")
    until = border.integer(limits.INTEGER_MAX if until is None else until, "until")
    if since >= until:
        raise InvalidInputError("`since` is not before `until`; no atom can be between them")
    first, last = day_of(since), day_of(until)
    days = list(values(rows, Group.DAY, first, last + "\x00"))
    within = found & union(rows, ((Group.DAY, day) for day in days if first < day < last))
    for day in sorted({first, last}):
        for ordinal in found & members(rows, (Group.DAY, day)):
            if since <= record_at(rows, ordinal).created < until:
                within.add(ordinal)
    return within
