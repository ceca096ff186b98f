"""The tools that answer in one call: recall, recent, explore and find."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from engine.base.errors import InvalidInputError
from engine.base.json_text import dumped
from engine.mcp.answer_lines import NOTHING, closed, cost_of, item, time_of, within
from engine.mcp.exploring_tools import (
    FILTER,
    ID,
    OFFSET,
    QUERY,
    asked,
    budget,
    names_in,
    only_as_of,
    pin,
    shortened,
)
from engine.mcp.tool_definition import Arguments, Tool, described, members, number, text

if TYPE_CHECKING:
    from engine.base.model import Atom, HistoryItem
    from engine.engine import Engine
    from engine.query.filter_text import Wanted
    from engine.query.graph.bright import BrightGraph
    from engine.query.graph.domain_paths import AcrossGraph, Evidence
    from engine.query.history.recent import Added

RECALL_TOKENS: Final = 600
LIST_TOKENS: Final = 600
EXPLORE_TOKENS: Final = 1000
HINTS_AND_TEXTS: Final = 2
"""`explore` reads hints and texts for this many times its budget, because only the texts are returned."""

NO_ANSWER: Final = "[answer] nothing found\n"
"""The line of `explore` if no sentence of the texts answers the question."""

LINE_CHARS: Final = 80
"""The maximum number of characters that a list shows of an atom's text."""

GRAMMAR: Final = (
    "Conditions: `tag:tea -tag:old bucket:inbox source:notes/* kind:note provenance:internal "
    "category:causal meta.k:v after:2026-01-31 before:2026-02-01`; `as_of:17` or `as_of:TIME` reads the past."
)


def _recall(engine: Engine, arguments: Arguments) -> str:
    from engine.query.explore.explore_answers import unmarked
    from engine.query.prompt_text import BUDGET_MIN

    with asked(engine, arguments) as (memory, wanted):
        pinned, most = pin(memory, wanted), arguments["budget"]
        left = most - cost_of("", *pinned)
        while True:
            context = memory.context(arguments["query"], budget=max(left, BUDGET_MIN), filters=wanted.filters)
            said = (*context.notes, *pinned)
            shown = unmarked(context.text) or NOTHING
            # A mark in place of markup may cost more than the markup.
            over = cost_of(shown, *said) - most
            if over <= 0 or left <= BUDGET_MIN:
                return closed(shown, *(said if over <= 0 else pinned))
            left -= over


RECALL: Final = Tool(
    "recall",
    "Texts that answer a question: [id position provenance] source | title, then the text.",
    members(
        {
            "query": QUERY,
            "filter": text(GRAMMAR, most=1000),
            "budget": budget(RECALL_TOKENS, least=32),
        },
        "query",
    ),
    _recall,
)


def _recent(engine: Engine, arguments: Arguments) -> str:
    limit, offset = arguments["limit"], arguments.get("offset", 0)
    with asked(engine, arguments) as (memory, wanted):
        if "atom" in arguments:
            only_as_of(wanted, "atom")
            events = memory.history(memory.resolve(arguments["atom"]))[::-1]
            lines = [_event(one) for one in events[offset : offset + limit]]
            rest = len(events) > offset + limit
        else:
            records = memory.recent(limit=limit + 1, offset=offset, filters=wanted.filters)
            rest = len(records) > limit
            lines = _listed(memory, records[:limit])
        return within(
            *(lines, arguments["budget"], *pin(memory, wanted)),
            more=lambda shown: f"more: offset {offset + shown}",
            rest=rest,
        )


def _event(one: HistoryItem) -> str:
    left_out = {"ordinal", "replaced", "commitment", "occurrence"}
    detail = {name: shortened(value) for name, value in one.detail.items() if name not in left_out and value}
    if "created" in detail:
        detail["created"] = time_of(detail["created"])
    shown = dumped(detail) if detail else ""
    return f"[{one.seq}] {time_of(one.time)} {one.kind.word} by {one.actor} {shown}".rstrip() + "\n"


def _listed(memory: Engine, found: Iterable[Added]) -> list[str]:
    shown = list(found)
    short = _short_ids(memory, (one.atom.id for one in shown))
    return [_atom(short[one.atom.id], one.atom, time_of(one.time), f"by {one.actor}") for one in shown]


def _atom(short: str, atom: Atom, *about: str) -> str:
    from engine.text.language.snippets import beginning

    return item(short, atom.provenance, about, atom.title, beginning(atom.content, LINE_CHARS))


def _short_ids(memory: Engine, ids: Iterable[str]) -> dict[str, str]:
    from engine.base.errors import translated
    from engine.base.validation import atom_id
    from engine.ledger.queries import short_id

    with translated(), memory.store.view() as rows:
        return {one: short_id(rows, atom_id(one)) for one in ids}


RECENT: Final = Tool(
    "recent",
    "What was added last, when, by whom. With `atom`, the events of that atom.",
    members(
        {
            "atom": ID,
            "limit": number("Maximum lines.", least=1, most=100, default=10),
            "offset": OFFSET,
            "filter": FILTER,
            "budget": budget(LIST_TOKENS),
        }
    ),
    _recent,
)


def _explore(engine: Engine, arguments: Arguments) -> str:
    from engine.query.explore.context_text import answer_within
    from engine.query.explore.loop import BUDGET_MIN, explore
    from engine.query.explore.quotes import ANSWER, text_of_quotes
    from engine.query.prompt_text import tokens_of

    with asked(engine, arguments) as (memory, wanted):
        pinned = pin(memory, wanted)
        left = arguments["budget"] - tokens_of(closed(NO_ANSWER, "10 steps, 9999999 tokens read", *pinned))
        # The hints cost the caller nothing, so the loop may spend more than the answer.
        exploration = explore(
            memory.view,
            arguments["query"],
            budget=max(BUDGET_MIN, HINTS_AND_TEXTS * left),
            steps=arguments["steps"],
            filters=wanted.filters,
        )
        quotes, text = answer_within(exploration.answer, exploration.context, left)
        steps = len(exploration.steps)
        note = f"{steps} step{'' if steps == 1 else 's'}, {exploration.tokens} tokens read"
        answer = text_of_quotes(quotes, ANSWER) or NO_ANSWER
        return closed(answer + text if text else NOTHING, note, *pinned)


EXPLORE: Final = Tool(
    "explore",
    "Searches step by step in the server; returns sentences that answer, or `nothing found`, and the best "
    "texts. A heading without a source: as above.",
    members(
        {
            "query": QUERY,
            "steps": number("Maximum steps.", least=1, most=10, default=10),
            "filter": FILTER,
            "budget": number("Token limit.", least=200, most=20_000, default=EXPLORE_TOKENS),
        },
        "query",
    ),
    _explore,
)


def _find(engine: Engine, arguments: Arguments) -> str:
    with asked(engine, arguments) as (memory, wanted):
        notes = pin(memory, wanted)
        if "query" in arguments:
            if taken := arguments.keys() & {"from", "follow", "offset"}:
                raise InvalidInputError(f"give `query` or `{min(taken)}`, not both")
            about, limit = arguments["query"], min(arguments["limit"], 50)
            if arguments.get("across"):
                lines = _paths(memory, memory.across(about, limit=limit, filters=wanted.filters))
            else:
                lines = _graph(memory, memory.structured_graph(about, limit=limit, filters=wanted.filters))
            return within(
                *(lines, arguments["budget"], *notes), more=lambda shown: "more with a larger budget"
            )
        if arguments.get("across"):
            raise InvalidInputError("`across` needs names or a question: give `query`")
        first, limit = arguments.get("offset", 0), arguments["limit"]
        lines = _walked(memory, arguments, wanted, first + limit + 1)[first:]
        return within(
            *(lines[:limit], arguments["budget"], *notes),
            more=lambda shown: f"more: offset {first + shown}",
            rest=len(lines) > limit,
        )


def _walked(memory: Engine, arguments: Arguments, wanted: Wanted, many: int) -> list[str]:
    """Return one line for each atom that is found, for at most `many` atoms."""
    from engine.base.model import Direction
    from engine.query.graph.find import Follow

    start, follow = arguments.get("from"), None
    if start is None and "follow" in arguments:
        raise InvalidInputError("`follow` needs an atom to start from: give `from`")
    if start is not None:
        follow = Follow(
            names_in(arguments.get("follow", "")), Direction(arguments["direction"]), 1, arguments["hops"]
        )
        start = memory.resolve(start)
    answer = memory.find(from_=start, follow=follow, filters=wanted.filters, limit=many, form="full")
    short = _short_ids(memory, (one.id for one in answer))
    atoms = [(one.hops, one.atom) for one in answer if one.atom is not None]
    return [
        _atom(short[atom.id], atom, *([] if start is None else [f"{hops} hop{'' if hops == 1 else 's'}"]))
        for hops, atom in atoms
    ]


def _graph(memory: Engine, graph: BrightGraph) -> list[str]:
    from engine.query.explore.explore_answers import unmarked
    from engine.query.prompt_text import on_one_line
    from engine.text.language.snippets import beginning

    short = _short_ids(memory, (node.id for node in graph.nodes))
    nodes = [
        item(
            short[one.id],
            one.provenance,
            (f"{round(100 * one.brightness)}%",),
            one.title,
            beginning(one.snippet, LINE_CHARS),
        )
        for one in graph.nodes
    ]
    relations = [
        unmarked(
            f"  {short[one.src]} {'→' if one.directed else '–'} {short[one.dst]} {one.kind} "
            f"{on_one_line(', '.join(one.names))}\n"
        )
        for one in graph.relations
    ]
    return nodes + relations


def _paths(memory: Engine, graph: AcrossGraph) -> list[str]:
    """Return one item for each path: a line with its names, and a line for each step with its evidence."""
    from engine.query.explore.explore_answers import unmarked
    from engine.query.prompt_text import on_one_line

    domains = {node.name: node.domain for node in graph.nodes}
    short = _short_ids(
        memory, (step.evidence.id for path in graph.paths for step in path.steps if step.evidence)
    )
    items = []
    for path in graph.paths:
        names = " – ".join(f"{on_one_line(name)} ({domains[name]})" for name in path.names)
        lines = [f"[{path.strength:.2f}] {names}\n"]
        for step in path.steps:
            src, dst = (step.src, step.dst) if step.forward else (step.dst, step.src)
            joined = "–" if step.relation is None else f"→ {on_one_line(step.relation)} →"
            seen = "" if step.evidence is None else f" [{short[step.evidence.id]}{_evidence(step.evidence)}"
            lines.append(f"  {on_one_line(src)} {joined} {on_one_line(dst)}{seen}\n")
        items.append(unmarked("".join(lines)))
    return items


def _evidence(one: Evidence) -> str:
    from engine.query.prompt_text import on_one_line, origin
    from engine.text.language.snippets import beginning

    return f"{origin(one.provenance)}] {on_one_line(beginning(one.snippet, LINE_CHARS))}"


FIND: Final = Tool(
    "find",
    "Atoms that pass the filter; with `from`, those that edges lead to. With `query`, the best atoms and "
    "their relations; with `across`, paths that link persons, places, technologies, times.",
    members(
        {
            "from": ID,
            "follow": text("Relations to follow, by commas.", most=256),
            "direction": described({"enum": ["out", "in", "both"], "default": "out"}, "Edge direction."),
            "hops": number("Maximum distance.", least=1, most=6, default=1),
            "query": QUERY,
            "across": described({"type": "boolean"}, "Paths across domains."),
            "limit": number("Maximum atoms.", least=1, most=100, default=10),
            "offset": number("From `more`.", most=5000),
            "filter": FILTER,
            "budget": budget(LIST_TOKENS),
        }
    ),
    _find,
)
