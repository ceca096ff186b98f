"""The command that draws what a question lights up: bright."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from engine.base.validation import choice
from engine.cli.command import command, option
from engine.cli.options import AS_OF, QUESTION, filter_options, limit
from engine.cli.output import Line
from engine.cli.session import Session
from engine.cli.values import counted, plain
from engine.front.times import Moment
from engine.query.filters import Filters
from engine.query.graph.bright import BrightGraph
from engine.query.graph.drawing import dot, mermaid


class Format(StrEnum):
    """How a graph is printed."""

    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


@command(
    "engine bright 'who looks after the boiler?'",
    "engine bright kettle --limit 5 --format mermaid",
    "engine bright kettle --format dot | dot -Tsvg",
)
@QUESTION
@limit(10, "At most N atoms, 50 or fewer.")
@option("form", "--format", metavar="FORM", default="text", help="text, json, mermaid or dot (Graphviz).")
@filter_options("superseded")
@AS_OF
def bright(
    session: Session,
    query: tuple[str, ...],
    limit: int,
    form: str,
    filters: Filters,
    as_of: Moment | None,
) -> int:
    """Ask a question; see the matching atoms and how they are connected.

    Edges between them, tags and buckets they share, and who stands next to whom in a source, each with a
    strength from 0 to 1.
    """
    wanted = choice(Format, form, "--format")
    with session.engine() as engine:
        graph = engine.structured_graph(" ".join(query), limit=limit, filters=filters, as_of=as_of)
    session.out.note(_about(graph))
    if wanted is Format.JSON and not session.out.json:
        session.out.json_line(plain(graph))
        return 0
    return session.out.answer(plain(graph), _printed(graph, wanted), count=len(graph.nodes))


def _about(graph: BrightGraph) -> str:
    shown = f"{counted(len(graph.nodes), 'atom')}, {counted(len(graph.relations), 'relation')}"
    return f"{shown}; {graph.omitted:,} weaker ones left out" if graph.omitted else shown


def _printed(graph: BrightGraph, wanted: Format) -> Iterator[str | Line]:
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
