"""Commands on edges: link, unlink, edges."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engine.cli.options import AsOf, Id, Limit, Reason
from engine.cli.output import Table
from engine.cli.pages import command, new_app, running
from engine.cli.values import canonical_data, plain, shown_data

app = new_app()

Source = Annotated[str, typer.Argument(metavar="SRC", help="The atom it starts at.", show_default=False)]
Type = Annotated[
    str,
    typer.Argument(
        metavar="TYPE", help="Such as references or part_of, or one of yours.", show_default=False
    ),
]
Target = Annotated[str, typer.Argument(metavar="DST", help="The atom it leads to.", show_default=False)]


@command(app, "engine link 1f0c references 9a2e", "engine link 1f0c listens_on 9a2e --register --weight 0.5")
def link(
    ctx: typer.Context,
    src: Source,
    kind: Type,
    dst: Target,
    weight: Annotated[float, typer.Option("--weight", metavar="X", help="How strong it is.")] = 1.0,
    data: Annotated[
        str | None, typer.Option("--data", metavar="JSON", help="Anything to keep with it.")
    ] = None,
    register: Annotated[bool, typer.Option("--register", help="Make TYPE a type if it is none yet.")] = False,
) -> int:
    """Join two atoms by an edge.

    Types that are built in: related_to derived_from contradicts supersedes part_of references.
    """
    from engine.commands import Link, RegisterType

    session = running(ctx)
    raw = canonical_data(data)
    with session.engine() as engine:
        link_command = Link(engine.resolve(src), kind, engine.resolve(dst), weight, raw)
        receipt = engine.apply([RegisterType(kind), link_command] if register else [link_command])[-1]
    session.out.note("linked" if receipt.changed else "nothing to do: it is there, as it was first recorded")
    return session.out.answer({**plain(receipt), "changed": receipt.changed}, [((receipt.subject, ""),)])


@command(app, "engine unlink 1f0c references 9a2e")
def unlink(ctx: typer.Context, src: Source, kind: Type, dst: Target, reason: Reason = "") -> int:
    """Hide an edge; it is kept.

    `engine link` brings it back.
    """
    session = running(ctx)
    with session.engine() as engine:
        receipt = engine.unlink(engine.resolve(src), kind, engine.resolve(dst), reason)
    session.out.note("unlinked" if receipt.changed else "nothing to do: there is no such live edge")
    return session.out.answer({**plain(receipt), "changed": receipt.changed}, [((receipt.subject, ""),)])


@command(app, "engine edges 1f0c", "engine edges 1f0c --direction both --type references")
def edges(
    ctx: typer.Context,
    atom: Id,
    direction: Annotated[str, typer.Option("--direction", metavar="WAY", help="out, in or both.")] = "out",
    kind: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only this type. Repeatable.")
    ] = None,
    tombstoned: Annotated[bool, typer.Option("--tombstoned", help="Also hidden edges.")] = False,
    limit: Limit = 100,
    as_of: AsOf = None,
) -> int:
    """List the edges at an atom."""
    from engine.cli.choices import direction_of

    session = running(ctx)
    way = direction_of(direction)
    with session.reading(as_of) as memory:
        found = memory.edges(
            memory.resolve(atom), direction=way, types=kind or (), tombstoned=tombstoned, limit=limit
        )
    data: list[Any] = [{**plain(edge), "data": shown_data(edge.data)} for edge in found]
    rows = ((edge.src, edge.type, edge.dst, f"{edge.weight:g}", edge.state.name.lower()) for edge in found)
    return session.out.answer(data, [Table(("from", "type", "to", "weight", "state"), rows)])
