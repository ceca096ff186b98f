"""Commands that answer questions: recall, context, bright."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from engine.base.errors import InvalidInputError
from engine.base.json_text import encode
from engine.base.validation import choice
from engine.cli.cli_output import counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Natural, Positive, at_least, command
from engine.cli.shared_options import AsOf, FilterOptions
from engine.cli.shown_labels import Labels, labels
from engine.cli.shown_parts import Line, Shown

if TYPE_CHECKING:
    from engine.query.graph.bright import BrightGraph
    from engine.query.graph.domain_paths import AcrossGraph, PathStep
    from engine.query.recall.recall_answer import Hit, Recall


@command(
    "engine recall 'when is the kettle descaled?'",
    "engine recall kettle --tag kitchen --since 2026-01-01 --limit 3 --explain",
    "engine recall 'what do we know about the kettle?' --budget 1000",
)
def recall(
    session: Session,
    query: tuple[str, ...],
    *,
    limit: Positive | None = None,
    budget: Annotated[int, at_least(16)] | None = None,
    per_page: Natural | None = None,
    as_of: AsOf | None = None,
    explain: bool = False,
    superseded: bool = False,
    **narrow: Unpack[FilterOptions],
) -> int:
    """Find the atoms that answer a question best.

    Finds atoms by their words and their connections, and lists the best atom first.

    Args:
        limit: `-n` The maximum number of hits. [default: 10 without --budget]
        budget: Return whole texts of at most N tokens in total.
        per_page: At most N hits of one page; 0 for any number. [default: 2]
        explain: Show the share of each signal in the score, and near misses.
    """
    with session.engine() as engine:
        answer = engine.recall(
            " ".join(query), limit=limit, budget=budget, explain=explain, per_page=per_page, as_of=as_of,
            superseded=superseded, **narrow,
        )  # fmt: skip
        named = labels(session, engine, _ids(answer))
    session.out.note(_about(answer))
    return session.out.answer(encode(answer), _lines(answer, named), count=len(answer.hits))


def _ids(answer: Recall) -> Iterator[str]:
    yield from (one.id for one in answer.dropped)
    for hit in answer.hits:
        yield hit.id
        yield from hit.duplicates


@command(
    "engine context 'when is the kettle descaled?'",
    "engine context kettle --budget 500 --tag kitchen --without-tag private",
)
def context(
    session: Session,
    query: tuple[str, ...],
    *,
    budget: Annotated[int, at_least(16)] = 2000,
    as_of: AsOf | None = None,
    superseded: bool = False,
    **narrow: Unpack[FilterOptions],
) -> int:
    """Find the text that answers a question, ready for a prompt.

    Adjacent atoms of a source are joined into one window with some of the text around them, to which the
    filters apply, too.

    Args:
        budget: The maximum number of tokens in total.
    """
    with session.engine() as engine:
        answer = engine.context(" ".join(query), budget=budget, as_of=as_of, superseded=superseded, **narrow)
    windows = len(answer.windows)
    atoms = counted(sum(len(window.ids) for window in answer.windows), "atom")
    tokens = f"{answer.tokens:,} of {answer.budget:,} tokens"
    session.out.note("; ".join([f"{tokens}: {atoms} in {counted(windows, 'window')}", *answer.notes]))
    # Each line of the text ends with a line end; printing adds the last line end.
    text = [answer.text.removesuffix("\n")] if answer.text else []
    return session.out.answer(encode(answer), text, count=windows)


def _about(answer: Recall) -> str:
    parts = [
        f"{len(answer.hits)} of {answer.candidates:,} atoms",
        f"searched for the terms: {' '.join(answer.terms)}",
    ]
    if answer.entities:
        parts.append(f"and for each of: {', '.join(answer.entities)}")
    parts += answer.notes
    if answer.bridges:
        parts.append("walked " + " ".join(f"#{bridge.tag}" for bridge in answer.bridges))
    if answer.folded:
        parts.append(f"{counted(answer.folded, 'more piece')} of the same pages (--per-page 0)")
    if answer.budget is not None:
        parts.append(f"{answer.tokens:,} of {answer.budget:,} tokens")
    return "; ".join(parts)


def _lines(answer: Recall, named: Labels) -> Iterator[Line]:
    for rank, hit in enumerate(answer.hits, 1):
        yield from _hit(rank, hit, named)
    for one in answer.dropped:
        yield (
            ("left out ", "dim"),
            (named.id(one.id), "cyan"),
            (f"  {named.name(one.id)}", ""),
            (f"  {one.score:.2f}", "green"),
            (f"  {one.reason}", "dim"),
        )


def _hit(rank: int, hit: Hit, named: Labels) -> Iterator[Line]:
    heading = hit.heading or hit.source or "untitled"
    yield ((f"{rank}. ", "dim"), (heading, "bold"), (f"  {hit.score:.2f}", "green"), (_role(hit), "dim"))
    text = hit.snippet if hit.content is None else hit.content
    for line in text.splitlines() if hit.content is not None else [" ".join(text.split())]:
        yield (("   ", ""), (line, ""))
    tags = "".join(f" #{tag}" for tag in hit.tags)
    yield (
        (f"   {named.id(hit.id)}", "cyan"),
        (f"  {hit.source}" if hit.source else "", "dim"),
        (tags, "magenta"),
        (f"  {hit.when}" if hit.when else "", "dim"),
    )
    if hit.duplicates:
        yield ((f"   stands for {', '.join(map(named.id, hit.duplicates))}", "dim"),)
    if hit.signals:
        yield ((f"   {'  '.join(f'{signal} {value:+.2f}' for signal, value in hit.signals.items())}", "dim"),)


def _role(hit: Hit) -> str:
    if not hit.path:
        return f"  {hit.role}" if hit.role == "walker" else ""
    return f"  {hit.role} by {' '.join(hit.path)}"


class Format(StrEnum):
    """The output formats of a graph."""

    TEXT = "text"
    MERMAID = "mermaid"
    DOT = "dot"


@command(
    "engine bright 'who looks after the boiler?'",
    "engine bright kettle --limit 5 --format mermaid",
    "engine bright kettle --format dot | dot -Tsvg",
    "engine bright Ada Rust Bristol --across",
)
def bright(
    session: Session,
    query: tuple[str, ...],
    *,
    limit: Positive = 10,
    across: bool = False,
    form: str = "text",
    as_of: AsOf | None = None,
    **narrow: Unpack[FilterOptions],
) -> int:
    """Show the atoms that match a question, and their connections.

    Atoms are connected by edges, shared tags and buckets, and adjacent positions in a source. Each connection
    has a strength from 0 to 1.

    With --across, show paths between names of different domains instead, such as a person, a technology and a
    place.

    Args:
        limit: `-n` The maximum number of atoms or paths, at most 50.
        across: Show paths between persons, organisations, places, technologies and times.
        form: `--format FORM` The output format: text, mermaid or dot (Graphviz).
    """
    drawn = choice(Format, form, "--format")
    if across:
        return _across(session, " ".join(query), drawn, limit=limit, as_of=as_of, **narrow)
    with session.engine() as engine:
        graph = engine.structured_graph(" ".join(query), limit=limit, as_of=as_of, **narrow)
        named = labels(session, engine, (node.id for node in graph.nodes))
    shown = f"{counted(len(graph.nodes), 'atom')}, {counted(len(graph.relations), 'relation')}"
    session.out.note(f"{shown}; {graph.omitted:,} weaker ones omitted" if graph.omitted else shown)
    if drawn in {Format.MERMAID, Format.DOT}:
        from engine.query.graph.drawing import dot, mermaid

        text: Iterable[Shown] = [(mermaid if drawn is Format.MERMAID else dot)(graph).removesuffix("\n")]
    else:
        text = _graph(graph, named)
    return session.out.answer(encode(graph), text, count=len(graph.nodes))


def _graph(graph: BrightGraph, named: Labels) -> Iterator[Line]:
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
            (f"   {named.id(node.id)}", "cyan"),
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


def _across(session: Session, query: str, drawn: Format, **wanted: Any) -> int:
    if drawn in {Format.MERMAID, Format.DOT}:
        raise InvalidInputError(
            f"--format {drawn} cannot be combined with --across", hint="use --format text or --json"
        )
    with session.engine() as engine:
        graph = engine.across(query, **wanted)
        named = labels(session, engine, _evidence(graph))
    shown = f"{counted(len(graph.nodes), 'name')}, {counted(len(graph.paths), 'path')}"
    session.out.note(f"{shown}; {graph.omitted:,} weaker ones omitted" if graph.omitted else shown)
    return session.out.answer(encode(graph), _paths(graph, named), count=len(graph.paths))


def _evidence(graph: AcrossGraph) -> Iterator[str]:
    for path in graph.paths:
        yield from (step.evidence.id for step in path.steps if step.evidence is not None)


def _paths(graph: AcrossGraph, named: Labels) -> Iterator[Line]:
    for domain in dict.fromkeys(node.domain for node in graph.nodes):
        names = ", ".join(node.name for node in graph.nodes if node.domain is domain)
        yield ((f"{domain:<12} ", "bold"), (names, ""))
    for rank, path in enumerate(graph.paths, 1):
        yield ((f"{rank}. ", "dim"), (" – ".join(path.names), "bold"), (f"  {path.strength:.2f}", "green"))
        for step in path.steps:
            yield from _step(step, named)


def _step(step: PathStep, named: Labels) -> Iterator[Line]:
    ends = (step.src, step.dst) if step.forward else (step.dst, step.src)
    joined = "–" if step.relation is None else f"→ {step.relation} →"
    yield ((f"   {ends[0]} {joined} {ends[1]}", "magenta"), (f"  {step.strength:.2f}", "green"))
    if step.evidence is not None:
        yield (
            (f"     {named.id(step.evidence.id)}", "cyan"),
            ("" if step.evidence.provenance == "internal" else f"  {step.evidence.provenance}", "dim"),
            (f"  {' '.join(step.evidence.snippet.split())}", ""),
        )
