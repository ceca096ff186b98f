"""Commands that list: find, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from engine.base.errors import InvalidInputError
from engine.cli.options import (
    AsOf,
    FromSources,
    InBuckets,
    InCategories,
    Limit,
    OfKinds,
    OfProvenances,
    Since,
    Until,
    WithoutTags,
    WithTags,
    filters_of,
)
from engine.cli.output import Shown, Table
from engine.cli.pages import command, new_app, running
from engine.cli.values import moment, plain

if TYPE_CHECKING:
    from engine.query.graph.find import Found

app = new_app()


@command(
    app,
    "engine find --tag kitchen --limit 20",
    "engine find --from 1f0c --follow references --max-hops 2",
    "engine find --source 'notes/*' --form short",
)
def find(
    ctx: typer.Context,
    limit: Limit = 20,
    start: Annotated[
        str | None, typer.Option("--from", metavar="ID", help="Walk edges from this atom.")
    ] = None,
    follow: Annotated[
        list[str] | None,
        typer.Option("--follow", metavar="TYPE", help="Only edges of this type. Repeatable."),
    ] = None,
    direction: Annotated[str, typer.Option("--direction", metavar="WAY", help="out, in or both.")] = "out",
    min_hops: Annotated[
        int, typer.Option("--min-hops", min=0, metavar="N", help="Not nearer than this.")
    ] = 1,
    max_hops: Annotated[
        int, typer.Option("--max-hops", min=0, metavar="N", help="Not farther; at most 6.")
    ] = 1,
    form: Annotated[
        str,
        typer.Option("--form", metavar="FORM", help="short (title), medium (and 200 characters) or full."),
    ] = "medium",
    tag: WithTags = None,
    without_tag: WithoutTags = None,
    bucket: InBuckets = None,
    source: FromSources = None,
    kind: OfKinds = None,
    provenance: OfProvenances = None,
    since: Since = None,
    until: Until = None,
    category: InCategories = None,
    as_of: AsOf = None,
) -> int:
    """List atoms by what they are, or by walking edges."""
    from engine.cli.choices import direction_of, form_of
    from engine.query.graph.find import Follow

    session = running(ctx)
    filters = filters_of(tag, without_tag, bucket, source, kind, provenance, since, until, category)
    walk = Follow(tuple(follow or ()), direction_of(direction), min_hops, max_hops)
    if start is None and walk != Follow():
        raise InvalidInputError(
            "--follow, --direction and --…-hops need an atom to start at", hint="add --from ID"
        )
    wanted = form_of(form)
    with session.engine() as engine:
        found = engine.find(
            limit=limit,
            from_=None if start is None else engine.resolve(start),
            follow=None if start is None else walk,
            filters=filters,
            form=wanted,
            as_of=moment(as_of),
        )
    return session.out.answer(plain(found), (item for one in found for item in _found(one)))


@command(app, "engine tags", "engine tags --limit 10")
def tags(ctx: typer.Context, limit: Limit = 100, as_of: AsOf = None) -> int:
    """List the tags and how many atoms have each.

    The most used first; live atoms only.
    """
    session = running(ctx)
    with session.reading(as_of) as memory:
        counts = memory.tags()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
    data = [{"tag": name, "atoms": atoms} for name, atoms in ranked]
    return session.out.answer(data, [Table(("tag", "atoms"), ((name, str(atoms)) for name, atoms in ranked))])


def _found(found: Found) -> Iterator[Shown]:
    text = " ".join((found.text or "").split())
    title = found.title if found.title or text else "untitled"
    hops = f"  {found.hops} hop{'s' * (found.hops > 1)}" if found.hops else ""
    yield (
        (found.id, "cyan"),
        (hops, "green"),
        (f"  {title}" if title else "", "bold"),
        (f"  {text}" if text else "", ""),
    )
    if found.atom is not None:
        yield found.atom.content + "\n"
