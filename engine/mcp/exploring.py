"""The tools that only read: the four exploration tools, history, prove and status.

This module also adds the fields that every answer has, and contains helpers that several tools share.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import RefusedError
from engine.base.json_text import dumped
from engine.mcp.definition import Arguments, Fields, Tool, members, number, text, texts

if TYPE_CHECKING:
    from engine.base.model import Checkpoint, HistoryItem, Receipt
    from engine.engine import Engine
    from engine.query.explore.answers import Answer
    from engine.query.explore.explorer import Explorer

BUDGET_MAX: Final = 20_000
QUERY_CHARS_MAX: Final = 4000
COUNT_MAX: Final = 999_999_999
"""The maximum value of event numbers, offsets and spent tokens in arguments."""
HISTORY_TOKENS_MAX: Final = 2000
"""The maximum cost of a page of history, in tokens. A page with only one event may cost more."""

PROOF_BYTES_MAX: Final = 16 << 10
"""The maximum size of a proof in an answer, in bytes.

A larger proof would cost tens of thousands of tokens as text.
"""

ID: Final = text(most=36)
SPENT: Final = number(most=COUNT_MAX)
AS_OF: Final = number(most=COUNT_MAX)
OFFSET: Final = number(most=COUNT_MAX)


SHOWN_CHARS: Final = 200
LISTED: Final = 20
"""The maximum number of characters of a shortened text, and of items of a shortened list."""


def stated(root: Checkpoint, fields: Fields) -> Fields:
    """Return `fields` with the cost of the answer, and the seq and root of the memory.

    The cost is that of the whole JSON, including these fields. It is counted as in
    `engine.query.explore.explorer`.
    """
    # Imported late: a client waits for the first message of the process.
    from engine.query.budget import tokens_of
    from engine.query.explore.form import UNPRICED

    truth = {"seq": root.size - 1, "root": root.root}
    cost = tokens_of(dumped(fields | {"cost_tokens": UNPRICED, "total_tokens": UNPRICED} | truth))
    return fields | {"cost_tokens": cost, "total_tokens": cost} | truth


def received(memory: Engine, receipts: list[Receipt], **more: Any) -> Fields:
    """Return the answer of a tool that has run commands on one subject.

    `receipts` are the results of the commands.
    """
    found: Fields = {
        "id": receipts[-1].subject,
        "changed": any(receipt.changed for receipt in receipts),
        "state": receipts[-1].state.name.lower(),
    }
    return stated(memory.root(), found | more)


def beginning(text: str) -> str:
    """Return a text on one line, cut after about 200 characters."""
    line = " ".join(text[: 2 * SHOWN_CHARS].split())
    cut = len(text) > 2 * SHOWN_CHARS or len(line) > SHOWN_CHARS
    return line[:SHOWN_CHARS] + "…" if cut else line


def shortened(value: Any) -> Any:
    """Return a JSON value in which every text is on one line, and long texts and lists are cut."""
    if isinstance(value, str):
        return beginning(value)
    if isinstance(value, (list, tuple)):
        cut = ["…"] if len(value) > LISTED else []
        return [shortened(item) for item in value[:LISTED]] + cut
    return value if value is None or isinstance(value, (bool, int, float)) else beginning(str(value))


def budget(default: int) -> dict[str, Any]:
    """Return the schema of a token budget."""
    return number(least=16, most=BUDGET_MAX, default=default)


ANSWER: Final = {"type": "object"}
"""The output schema of all tools. It lists no fields, so that the answer to `tools/list` is short."""


def verb(
    name: str,
    description: str,
    properties: dict[str, Any],
    ask: Callable[[Explorer, Arguments], Answer],
    *,
    tokens: int,
) -> Tool:
    """Create a tool that calls one method of an explorer, with the arguments `as_of` and `spent`.

    Args:
        name: The name of the tool.
        description: The description for language models.
        properties: The tool's own arguments; the first one is required.
        ask: A function that calls the method of an explorer.
        tokens: The default token budget.
    """

    def run(engine: Engine, arguments: Arguments) -> Fields:
        from engine.query.explore.form import Form, plain

        past = nullcontext(engine) if arguments.get("as_of") is None else engine.as_of(arguments["as_of"])
        with past as memory:
            explorer = memory.explorer(form=Form.JSON, spent=arguments.get("spent", 0))
            return plain(ask(explorer, arguments))

    common = {"budget_tokens": budget(tokens), "spent": SPENT, "as_of": AS_OF}
    return Tool(name, description, members(properties | common, next(iter(properties))), ANSWER, run)


RECALL = verb(
    "explore_recall",
    "Start here: short hints (id, title, score in %) to the atoms that answer a question best.",
    {"query": text(most=QUERY_CHARS_MAX), "limit": number(least=1, most=50, default=5)},
    lambda at, given: at.explore_recall(given["query"], given["limit"], budget=given["budget_tokens"]),
    tokens=600,
)

PEEK = verb(
    "explore_peek",
    "About 200 characters of an atom, around the words of the query.",
    {"id": ID, "query": text(most=QUERY_CHARS_MAX)},
    lambda at, given: at.explore_peek(given["id"], given.get("query"), budget=given["budget_tokens"]),
    tokens=200,
)

EXPAND = verb(
    "explore_expand",
    "An atom's text and fields; `next` is the offset of the rest.",
    {"id": ID, "offset": OFFSET},
    lambda at, given: at.explore_expand(
        given["id"], budget=given["budget_tokens"], offset=given.get("offset", 0)
    ),
    tokens=2000,
)

NEIGHBORS = verb(
    "explore_neighbors",
    "Triples that connect an atom (id), entity (name) or #tag.",
    {
        "node": text(most=256),
        "direction": {"enum": ["out", "in", "both"], "default": "both"},
        "limit": number(least=1, most=100, default=20),
        "offset": OFFSET,
    },
    lambda at, given: at.explore_neighbors(
        given["node"],
        given["direction"],
        limit=given["limit"],
        offset=given.get("offset", 0),
        budget=given["budget_tokens"],
    ),
    tokens=600,
)


def _history(engine: Engine, arguments: Arguments) -> Fields:
    atom = engine.resolve(arguments["id"])
    events = engine.history(atom)
    root = engine.root()
    first, wanted = arguments.get("offset", 0), arguments["limit"]
    for many in range(wanted, 0, -1):
        page = events[first : first + many]
        after = first + len(page)
        answer = stated(
            root,
            {
                "id": atom,
                "events": [_event(item) for item in page],
                "total": len(events),
                "next": after if after < len(events) else None,
            },
        )
        if answer["cost_tokens"] <= HISTORY_TOKENS_MAX:
            break
    return answer


def _event(item: HistoryItem) -> Fields:
    from engine.front.times import shown_time

    left_out = {"ordinal", "replaced", "commitment", "occurrence"}
    return {
        "seq": item.seq,
        "time": shown_time(item.time),
        "what": item.kind.name.lower(),
        "by": item.actor,
        "detail": {
            name: shortened(value) for name, value in item.detail.items() if name not in left_out and value
        },
    }


HISTORY = Tool(
    "history",
    "All events of an atom, oldest first, with long texts shortened.",
    members({"id": ID, "limit": number(least=1, most=100, default=20), "offset": OFFSET}, "id"),
    ANSWER,
    _history,
)


def _prove(engine: Engine, arguments: Arguments) -> Fields:
    from base64 import b64encode

    from proofs.arguments import describe_basis
    from proofs.plain import to_plain

    proof = engine.prove([claim.split() for claim in arguments["claims"]])
    fields: Fields = {
        "shown": [to_plain(one) for one in proof.shown],
        "basis": describe_basis(proof.basis, proof.size),
        "bytes": len(proof.data),
        "proof": None,
    }
    root, most = engine.root(), arguments["budget_tokens"]
    if len(proof.data) <= PROOF_BYTES_MAX:
        whole = stated(root, {**fields, "proof": b64encode(proof.data).decode()})
        if whole["cost_tokens"] <= most:
            return whole
    answer = stated(root, fields)
    if answer["cost_tokens"] > most:
        raise RefusedError(
            f"the answer costs {answer['cost_tokens']} tokens, more than budget_tokens {most}",
            hint="give fewer claims (`sealed` omits an atom's content) or a larger budget",
        )
    return answer


PROVE = Tool(
    "prove",
    "Prove claims to someone without this memory: `atom ID`, `no-term WORD`, `term WORD`, `tag ID TAG`, "
    "`none-tagged TAG`, `edge ID TYPE ID`; `sealed` after an atom or edge omits its content. "
    "`proof` is base64, or null if it is larger than the budget or 16 KiB.",
    members({"claims": texts(each=1000, most=16), "budget_tokens": budget(6000)}, "claims"),
    ANSWER,
    _prove,
)


def _status(engine: Engine, arguments: Arguments) -> Fields:
    from engine.front.times import shown_time

    root, found = engine.root(), engine.status()
    return stated(
        root,
        {
            "version": found.version,
            "store": found.store_id,
            "backend": found.backend,
            "events": found.events,
            "live_atoms": found.live_atoms,
            "contents": found.contents,
            "last_event": shown_time(found.last_event),
        },
    )


STATUS = Tool("status", "Statistics of the memory, and its root.", members({}), ANSWER, _status)
