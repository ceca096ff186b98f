"""The command that draws what a question lights up: bright."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import (
    AsOf,
    FromSources,
    InBuckets,
    InCategories,
    OfKinds,
    OfProvenances,
    Question,
    Since,
    Until,
    WithoutTags,
    WithTags,
    filters_of,
)
from engine.cli.output import Line
from engine.cli.pages import command, new_app, running
from engine.cli.values import counted, moment, plain

if TYPE_CHECKING:
    from engine.query.graph.bright import BrightGraph

app = new_app()


class Format(StrEnum):
    """How a graph is printed."""

    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


@command(
    app,
    "engine bright 'who looks after the boiler?'",
    "engine bright kettle --limit 5 --format mermaid",
    "engine bright kettle --format dot | dot -Tsvg",
)
def bright(
    ctx: typer.Context,
    query: Question,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many atoms; 50 or fewer.")
    ] = 10,
    form: Annotated[
        str, typer.Option("--format", metavar="FORM", help="text, json, mermaid or dot (Graphviz).")
    ] = "text",
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
    """Ask a question; see the atoms it lights up and how they hang together.

    Edges between them, tags and buckets they share, and who stands next to whom in a source, each with a
    strength from 0 to 1.
    """
    session = running(ctx)
    filters = filters_of(tag, without_tag, bucket, source, kind, provenance, since, until, category)
    wanted = _format_of(form)
    with session.engine() as engine:
        graph = engine.structured_graph(" ".join(query), limit=limit, filters=filters, as_of=moment(as_of))
    session.out.note(_about(graph))
    if wanted is Format.JSON and not session.out.json:
        session.out.json_line(plain(graph))
        return 0
    return session.out.answer(plain(graph), _printed(graph, wanted), count=len(graph.nodes))


def _format_of(text: str) -> Format:
    from engine.base.validation import choice

    return choice(Format, text, "--format")


def _about(graph: BrightGraph) -> str:
    shown = f"{counted(len(graph.nodes), 'atom')}, {counted(len(graph.relations), 'relation')}"
    return f"{shown}; {graph.omitted:,} weaker ones left out" if graph.omitted else shown


def _printed(graph: BrightGraph, wanted: Format) -> Iterator[str | Line]:
    from engine.query.graph.drawing import dot, mermaid

    if wanted is Format.TEXT:
        yield from _lines(graph)
    else:
        yield (mermaid if wanted is Format.MERMAID else dot)(graph).removesuffix("\n")


def _lines(graph: BrightGraph) -> Iterator[Line]:
    numbers = {node.id: str(number) for number, node in enumerate(graph.nodes, 1)}
    for node in graph.nodes:
        heading = node.title or node.source or "untitled"
        yield (
            (f"{numbers[node.id]}. ", "dim"),
            (heading, "bold"),
            (f"  {round(100 * node.brightness)}%", "green"),
        )
        yield (("   ", ""), (" ".join(node.snippet.split()), ""))
        tags = "".join(f" #{tag}" for tag in node.tags)
        yield (
            (f"   {node.id}", "cyan"),
            (f"  {node.source}" if node.source else "", "dim"),
            (tags, "magenta"),
        )
    for one in graph.relations:
        arrow = "→" if one.directed else "–"
        yield (
            (f"{numbers[one.src]} {arrow} {numbers[one.dst]}", "bold"),
            (f"  {one.kind}", "dim"),
            (f"  {', '.join(one.names)}", "magenta"),
            (f"  {one.strength:.2f}", "green"),
        )
