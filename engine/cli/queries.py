"""Commands that ask: recall, find, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import (
    AsOf,
    FromSources,
    InBuckets,
    Limit,
    OfKinds,
    OfProvenances,
    Since,
    Until,
    WithoutTags,
    WithTags,
    filters_of,
)
from engine.cli.output import Line, Shown, Table
from engine.cli.pages import command, new_app, running
from engine.cli.values import moment, plain
from engine.errors import InvalidInputError

if TYPE_CHECKING:
    from engine.graph import Found
    from engine.retrieval.recall import Hit

app = new_app()


@command(
    app,
    "engine recall 'when is the kettle descaled?'",
    "engine recall kettle --tag kitchen --since 2026-01-01 --limit 3 --explain",
)
def recall(
    ctx: typer.Context,
    query: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="What you want to know.", show_default=False)
    ],
    limit: Limit = 10,
    tag: WithTags = None,
    without_tag: WithoutTags = None,
    bucket: InBuckets = None,
    source: FromSources = None,
    kind: OfKinds = None,
    provenance: OfProvenances = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    explain: Annotated[bool, typer.Option("--explain", help="What each term added to a score.")] = False,
) -> int:
    """Ask a question; get the atoms that answer it best.

    Found by their words, the best first. Nothing found is no error.
    """
    session = running(ctx)
    filters = filters_of(tag, without_tag, bucket, source, kind, provenance, since, until)
    with session.engine() as engine:
        answer = engine.recall(
            " ".join(query), limit=limit, filters=filters, explain=explain, as_of=moment(as_of)
        )
    terms = " ".join(answer.terms)
    session.out.note(f"{len(answer.hits)} of {answer.candidates:,} atoms; searched for the terms: {terms}")
    return session.out.answer(
        plain(answer),
        (line for rank, hit in enumerate(answer.hits, 1) for line in _hit(rank, hit)),
        count=len(answer.hits),
    )


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
    as_of: AsOf = None,
) -> int:
    """List atoms by what they are, or by walking edges."""
    from engine.cli.choices import direction_of, form_of
    from engine.graph import Follow

    session = running(ctx)
    filters = filters_of(tag, without_tag, bucket, source, kind, provenance, since, until)
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
def tags(ctx: typer.Context, limit: Limit = 100) -> int:
    """List the tags and how many atoms have each.

    The most used first; live atoms only.
    """
    session = running(ctx)
    with session.engine() as engine:
        counts = engine.tags()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
    data = [{"tag": name, "atoms": atoms} for name, atoms in ranked]
    return session.out.answer(data, [Table(("tag", "atoms"), ((name, str(atoms)) for name, atoms in ranked))])


def _hit(rank: int, hit: Hit) -> Iterator[Line]:
    heading = hit.title or hit.source or "untitled"
    yield ((f"{rank}. ", "dim"), (heading, "bold"), (f"  {hit.score:.2f}", "green"))
    yield (("   ", ""), (" ".join(hit.snippet.split()), ""))
    tags = "".join(f" #{tag}" for tag in hit.tags)
    yield ((f"   {hit.id}", "cyan"), (f"  {hit.source}" if hit.source else "", "dim"), (tags, "magenta"))
    if hit.signals:
        yield ((f"   {'  '.join(f'{term} {value:.2f}' for term, value in hit.signals.items())}", "dim"),)


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
