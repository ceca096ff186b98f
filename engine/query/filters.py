"""Filters restrict the atoms that a query may return. They use the bitmaps of the follower `tags`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from backends.base import Reader
from engine.base import limits, times, validation
from engine.base.errors import InvalidInputError
from engine.followers.meta_entries import with_any
from engine.followers.tags import LIVE, SUPERSEDED, day_of, members, union, values
from engine.ledger.entities import ENTITY
from engine.ledger.queries import body_of, record_at
from engine.ledger.records import AtomRecord, read_counters
from engine.text.language.categories import Category, categories_of
from proofs.events import AtomBody, Scalar
from proofs.leaves import Group, tag_identity

if TYPE_CHECKING:
    from pyroaring import BitMap


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions that an atom must meet. An empty field sets no condition.

    The atom must be live. It must have all `tags`, and must not have any of `without_tags`. It must be in one
    of the `buckets`. It must have one of the `sources`, one of the `kinds` and one of the `provenances`. A
    source that ends in `*` stands for all sources that begin with the text before the `*`. The atom must
    belong to one of the `categories`. An atom belongs to a category if one of its tags is the name of the
    category. If no tag of the atom is the name of any category, its text decides
    (`engine.text.language.categories`). The atom must have been created at or after `since` and before
    `until`. Both times are numbers of microseconds since 1970 (UTC) or datetimes with a time zone. The atom's
    meta must have each key in `meta`, with the given value or with one of several given values. True is not
    equal to 1, and the text "1" is not equal to the number 1.
    """

    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    provenances: tuple[str, ...] = ()
    since: int | datetime | None = None
    until: int | datetime | None = None
    categories: tuple[str, ...] = ()
    superseded: bool = False
    """If True, recall and context also return superseded atoms (`engine.Supersede`)."""
    meta: Mapping[str, Scalar | Collection[Scalar]] = field(default_factory=dict, hash=False)
    """Key → the value, or a list, tuple or set of values."""


NO_FILTERS = Filters()


class FilterFields(TypedDict, total=False):
    """The fields of `Filters` as keyword arguments. Any iterable is accepted where `Filters` has a tuple."""

    tags: Iterable[str]
    without_tags: Iterable[str]
    buckets: Iterable[str]
    sources: Iterable[str]
    kinds: Iterable[str]
    provenances: Iterable[str]
    since: int | datetime | None
    until: int | datetime | None
    categories: Iterable[str]
    superseded: bool
    meta: Mapping[str, Scalar | Collection[Scalar]]


def narrowed(filters: Filters, fields: FilterFields) -> Filters:
    """Return `filters` with some of its fields replaced.

    Raises:
        InvalidInputError: a name is not a field of `Filters`, or a value is not iterable where it must be.
    """
    validation.instance(filters, Filters, "filters")
    if not fields:
        return filters
    field_names = {field.name for field in dataclass_fields(Filters)}
    changed: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in field_names:
            raise InvalidInputError(f"{name} is neither an argument nor a field of Filters")
        single = name in {"since", "until", "superseded", "meta"}
        changed[name] = value if single else tuple(validation.several(value, name))
    return replace(filters, **changed)


def allowed(rows: Reader, filters: Filters, *, hidden: bool = False) -> BitMap:
    """Return the ordinals of all live atoms that pass `filters`.

    With `hidden`, the result also includes the ordinals of tombstoned atoms and of earlier versions. An
    earlier version is in the sets of its own fields; an erased atom is in no set.

    If `filters` has categories, the result also includes atoms that pass the other filters but are not tagged
    with any category. The caller must check each of these atoms with `in_categories`. In `rows`, the follower
    `tags` must be at the head. If `filters` has conditions on meta, the follower `meta_entries` must be at
    the head, too.

    Raises:
        InvalidInputError: a filter is not valid for its field.
    """
    for name in ("tags", "without_tags", "buckets", "sources", "kinds", "provenances", "categories"):
        validation.several(getattr(filters, name), name)
    ordinals = _every_ordinal(rows) if hidden else members(rows, LIVE)
    for tag in filters.tags:
        ordinals &= members(rows, (Group.TAG, validation.folded_tag(tag)))
    for tag in filters.without_tags:
        ordinals -= members(rows, (Group.TAG, validation.folded_tag(tag)))
    for group, wanted in (
        (Group.BUCKET, [validation.label(name, "bucket") for name in filters.buckets]),
        (Group.KIND, [validation.label(name, "kind") for name in filters.kinds]),
        (Group.PROVENANCE, [validation.provenance(name) for name in filters.provenances]),
        (Group.SOURCE, list(_sources(rows, filters.sources))),
    ):
        if wanted or (group is Group.SOURCE and filters.sources):
            ordinals &= union(rows, ((group, name) for name in wanted))
    for key, accepted in validation.meta_conditions(filters.meta).items():
        ordinals &= with_any(rows, key, accepted)
    if filters.categories:
        in_wanted, in_any = category_sets(rows, filters.categories)
        ordinals -= in_any - in_wanted
    if filters.since is not None or filters.until is not None:
        ordinals = _created_between(rows, ordinals, filters.since, filters.until)
    return ordinals


def unknown_tags(rows: Reader, filters: Filters) -> tuple[str, ...]:
    """Return the tags that `filters` requires and that no live atom has, in ascending order."""
    if not filters.tags:
        return ()
    live, wanted = members(rows, LIVE), sorted(set(map(validation.folded_tag, filters.tags)))
    return tuple(tag for tag in wanted if not live & members(rows, (Group.TAG, tag)))


def _every_ordinal(rows: Reader) -> BitMap:
    from pyroaring import BitMap

    return BitMap(range(read_counters(rows).next_ordinal))


def answering(rows: Reader, filters: Filters) -> BitMap:
    """Return the ordinals of all live atoms that pass `filters` and may answer a question.

    Entities are excluded unless `filters.kinds` is set. An entity is only a name; the facts about it are in
    the atoms that mention it.
    """
    ordinals = allowed(rows, filters)
    return ordinals if filters.kinds else ordinals - members(rows, (Group.KIND, ENTITY))


def maybe_superseded(rows: Reader, filters: Filters) -> BitMap:
    """Return the ordinals of the atoms that may be superseded (see `engine.query.recall.superseded`).

    Dead atoms are included. The result is empty if `filters` requests superseded atoms by the tag
    `superseded` or by the field `superseded`.
    """
    from pyroaring import BitMap

    if filters.superseded or SUPERSEDED in map(validation.folded_tag, filters.tags):
        return BitMap()
    return members(rows, (Group.TAG, SUPERSEDED))


def category_sets(rows: Reader, wanted: Iterable[str]) -> tuple[BitMap, BitMap]:
    """Return two sets of ordinals: atoms tagged with a wanted category, and atoms tagged with any category.

    Both sets include dead atoms.

    Raises:
        InvalidInputError: there is no such category.
    """
    names = wanted_categories(wanted)
    return (
        union(rows, ((Group.TAG, name) for name in names)),
        union(rows, ((Group.TAG, name) for name in Category)),
    )


def in_categories(body: AtomBody, tags: Iterable[str], wanted: Collection[str]) -> bool:
    """Return True if an atom with this body and these tags belongs to a wanted category.

    If no category is wanted, also return True. If at least one of the atom's tags names a category, the tags
    decide. Otherwise the text decides. Categorising a text of 40 words takes about 40 µs, so this function is
    only called for atoms that are about to be returned.

    Raises:
        InvalidInputError: there is no such category.
    """
    names = wanted_categories(wanted)
    if not names:
        return True
    tagged = {tag_identity(tag) for tag in tags} & set(Category)
    return not names.isdisjoint(tagged or categories_of(body.content, body.title))


def meets_categories(rows: Reader, record: AtomRecord, wanted: Collection[str]) -> bool:
    """Return True if an atom belongs to a wanted category, or if no category is wanted; see `in_categories`.

    Without a wanted category, the atom's text is not read.
    """
    return not wanted or in_categories(body_of(rows, record), record.tags, wanted)


def wanted_categories(given: Iterable[str]) -> frozenset[Category]:
    """Return the categories with these names. A name may be in upper or lower case, and may begin with `#`.

    Raises:
        InvalidInputError: there is no such category; the message lists them.
    """
    return frozenset(
        validation.choice(Category, validation.folded_tag(name), "category")
        for name in validation.several(given, "categories")
    )


def _sources(rows: Reader, patterns: Iterable[str]) -> Iterable[str]:
    """Yield the sources that the patterns stand for.

    A pattern without a final `*` stands for itself. A pattern with a final `*` stands for all recorded
    sources that begin with the text before the `*`.
    """
    for source in patterns:
        validation.line(source, "source", limits.SOURCE_BYTES_MAX)
        if source.endswith("*"):
            start = source[:-1]
            for name in values(rows, Group.SOURCE, start):
                if not name.startswith(start):
                    break
                yield name
        else:
            yield source


def _created_between(
    rows: Reader, found: BitMap, since: int | datetime | None, until: int | datetime | None
) -> BitMap:
    """Return the ordinals in `found` whose atoms were created at or after `since` and before `until`.

    For each whole day between the two times, the stored set of that day's atoms is read. For the first and
    the last day, the time of each atom is compared.
    """
    since = times.microseconds(limits.CREATED_MIN if since is None else since, "since")
    until = times.microseconds(limits.INTEGER_MAX if until is None else until, "until")
    if since >= until:
        raise InvalidInputError("`since` is not before `until`, so no atom can match")
    first, last = day_of(since), day_of(until)
    days = list(values(rows, Group.DAY, first, last + "\x00"))
    within = found & union(rows, ((Group.DAY, day) for day in days if first < day < last))
    for day in sorted({first, last}):
        for ordinal in found & members(rows, (Group.DAY, day)):
            if since <= record_at(rows, ordinal).created < until:
                within.add(ordinal)
    return within
