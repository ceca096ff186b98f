"""The four tools for explorations (recall, peek, expand, neighbors), and definitions for other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import InvalidInputError
from engine.mcp.answer_lines import compact, counted
from engine.mcp.tool_definition import Arguments, Tool, described, members, number, text

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.engine import Engine
    from engine.query.explore.explore_answers import Answer
    from engine.query.explore.explorer import Explorer
    from engine.query.filter_text import Wanted
    from engine.query.filters import Filters

BUDGET_MAX: Final = 20_000
QUERY_CHARS_MAX: Final = 4000
COUNT_MAX: Final = 999_999_999
"""The maximum value of an event number or an offset in an argument."""

HINT_TOKENS: Final = 22
"""The maximum number of tokens per hint in an answer of `explore_recall`; a token is four characters."""

TEXT_SHARES: Final = (28, 20, 0)
"""Limits on the estimated tokens per hint if short texts take the place of titles.

The limits are tried in order until the answer does not exceed `HINT_TOKENS`. For most texts, the estimate is
higher than one token for four characters. For texts with long words, the estimate is lower.
"""

PEEK_TOKENS: Final = 65
NEIGHBORS_TOKENS: Final = 110

SHOWN_CHARS: Final = 200
LISTED: Final = 20
"""The maximum number of characters of a shortened text, and of items of a shortened list."""

QUERY: Final = text("The question.", most=QUERY_CHARS_MAX)
ID: Final = text("Id or first digits.", most=36)
OFFSET: Final = number("From `more`.", most=COUNT_MAX)
FILTER: Final = text("See recall.", most=1000)


def budget(default: int | None = None, *, least: int = 16) -> dict[str, Any]:
    """Return the schema of a token budget."""
    return number("Token limit.", least=least, most=BUDGET_MAX, default=default)


@contextmanager
def asked(engine: Engine, arguments: Arguments) -> Iterator[tuple[Engine, Wanted]]:
    """Yield the present or past memory that the argument `filter` selects, and the parsed argument.

    Raises:
        InvalidInputError: the filter is malformed.
        NotFoundError: the journal has no event at the moment that the filter names.
    """
    from engine.query.filter_text import parse_filter

    wanted = parse_filter(arguments.get("filter", ""))
    if wanted.as_of is None:
        yield engine, wanted
        return
    with engine.as_of(wanted.as_of) as past:
        yield past, wanted


def only_as_of(wanted: Wanted, what: str) -> None:
    """Check that a filter has no conditions; it may name a moment.

    Raises:
        InvalidInputError: the filter has a term other than `as_of`.
    """
    from engine.query.filters import NO_FILTERS

    if wanted.filters != NO_FILTERS:
        raise InvalidInputError(f"with {what}, the filter may only have the term as_of:")


def pin(memory: Engine, wanted: Wanted) -> tuple[str, ...]:
    """Return the note with the last event and the root of a past memory; return () for the present memory."""
    if wanted.as_of is None:
        return ()
    root = memory.root()
    return (f"as of {root.size - 1} root {root.root[:16]}",)


def received(memory: Engine, receipts: list[Receipt], **more: Any) -> str:
    """Return the answer of a tool that ran commands on one subject.

    The first line has the id and the state of the subject, and says whether the subject changed. Each further
    fact and each item of a list is on a separate line.

    Args:
        memory: The memory. It is not read.
        receipts: The results of the commands.
        more: Further facts: texts, or lists of JSON objects.
    """
    from engine.query.explore.explore_answers import unmarked
    from engine.query.prompt_text import on_one_line

    changed = "changed" if any(receipt.changed for receipt in receipts) else "unchanged"
    last = receipts[-1]
    lines = [f"{last.subject} {last.state.name.lower()} {changed}"]
    for name, value in more.items():
        facts = value if isinstance(value, list) else [value]
        for one in facts:
            shown = " | ".join(str(part) for part in one.values() if part) if isinstance(one, dict) else one
            lines.append(f"{name}: {on_one_line(str(shown))}")
    return unmarked("\n".join(lines))


def beginning(text: str) -> str:
    """Return a text on one line, cut after about 200 characters."""
    line = " ".join(text[: 2 * SHOWN_CHARS].split())
    cut = len(text) > 2 * SHOWN_CHARS or len(line) > SHOWN_CHARS
    return line[:SHOWN_CHARS] + "…" if cut else line


def shortened(value: Any) -> Any:
    """Return a JSON value in which every text is on one line, and long texts and lists are cut."""
    if isinstance(value, str):
        return beginning(value)
    if isinstance(value, Mapping):
        return {name: shortened(item) for name, item in list(value.items())[:LISTED]}
    if isinstance(value, (list, tuple)):
        cut = ["…"] if len(value) > LISTED else []
        return [shortened(item) for item in value[:LISTED]] + cut
    return value if value is None or isinstance(value, (bool, int, float)) else beginning(str(value))


def verb(
    name: str,
    description: str,
    properties: dict[str, Any],
    ask: Callable[[Explorer, Arguments, Filters, int | None], Answer],
    *,
    tokens: int | None,
) -> Tool:
    """Create a tool that calls one method of an explorer; the tool has the arguments `filter` and `budget`.

    Args:
        name: The name of the tool.
        description: The description for language models.
        properties: The tool's own arguments; the first one is required.
        ask: A function that calls the method of an explorer, with the filters and the budget.
        tokens: The budget if none is given. An answer may exceed it if no shorter answer is possible.
    """

    def run(engine: Engine, arguments: Arguments) -> str:
        from engine.query.explore.explorer import Explorer

        with asked(engine, arguments) as (memory, wanted):
            shown = partial(compact, pinned=wanted.as_of is not None)
            explorer = Explorer(memory.view, form=shown, count=counted)
            given = arguments.get("budget")
            try:
                answer = ask(explorer, arguments, wanted.filters, tokens if given is None else given)
            except InvalidInputError:
                if given is not None or tokens is None:
                    raise
                # The default budget may be too small for long names. The call must not fail because of it.
                answer = ask(explorer, arguments, wanted.filters, None)
        return shown(answer)

    common = {"filter": FILTER, "budget": budget()}
    return Tool(name, description, members(properties | common, next(iter(properties))), run)


def _hints(at: Explorer, given: Arguments, filters: Filters, most: int | None) -> Answer:
    limit = given["limit"]
    return at.explore_recall(
        given["query"],
        limit,
        filters=filters,
        budget=most,
        texts=[min(share * limit, most or BUDGET_MAX) for share in TEXT_SHARES],
        fits=lambda answer: len(compact(answer)) <= 4 * HINT_TOKENS * limit,
    )


EXPLORE_RECALL: Final = verb(
    "explore_recall",
    "Hints: [score ~tokens of the text] id title; without ~, the whole text.",
    {"query": QUERY, "limit": number("Maximum hints.", least=1, most=50, default=5)},
    _hints,
    tokens=None,
)

PEEK: Final = verb(
    "explore_peek",
    "About 200 characters of an atom, around the words of the query.",
    {"id": ID, "query": QUERY},
    lambda at, given, filters, most: at.explore_peek(
        given["id"], given.get("query"), filters=filters, budget=most
    ),
    tokens=PEEK_TOKENS,
)

EXPAND: Final = verb(
    "explore_expand",
    "An atom's whole text, tags, provenance, time.",
    {"id": ID, "offset": OFFSET},
    lambda at, given, filters, most: at.explore_expand(
        given["id"], filters=filters, budget=most, offset=given.get("offset", 0)
    ),
    tokens=2000,
)

NEIGHBORS: Final = verb(
    "explore_neighbors",
    "Edges, tags, neighbours in the source: → or ← relation id name (evidence).",
    {
        "node": text("Id, entity, title or #tag.", most=256),
        "direction": described({"enum": ["out", "in", "both"], "default": "both"}, "Edge direction."),
        "types": text("Only these relations, by commas.", most=256),
        "offset": OFFSET,
    },
    lambda at, given, filters, most: at.explore_neighbors(
        given["node"],
        given["direction"],
        types=names_in(given.get("types", "")),
        filters=filters,
        limit=100,
        offset=given.get("offset", 0),
        budget=most,
    ),
    tokens=NEIGHBORS_TOKENS,
)


def names_in(listed: str) -> tuple[str, ...]:
    """Return the names, joined by commas."""
    return tuple(name.strip() for name in listed.split(",") if name.strip())
