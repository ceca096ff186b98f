"""The command explore, and the four commands for single steps: recall, peek, expand and neighbors.

Every answer states its cost in tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict, Unpack

from engine.base.errors import InvalidInputError
from engine.base.json_text import encode
from engine.base.times import Moment
from engine.cli.cli_output import Output, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Natural, Positive, at_least, command
from engine.cli.shared_options import AsOf, FilterOptions
from engine.cli.shown_parts import Shown
from engine.query.explore.explore_answers import Answer, Hints, Neighbors, plain, text_of
from engine.query.explore.explorer import Explorer
from engine.query.explore.quotes import text_of_quotes
from engine.query.explore.state import Exploration, Step
from engine.query.filters import Filters

NO_ANSWER = "nothing found: no text that was read answers the question"


class Cost(TypedDict):
    """The options of a single step.

    Args:
        budget: The maximum number of tokens of the answer.
        spent: The tokens spent so far, which are added to the total. [default: 0]
        as_of: The state after event SEQ, or at TIME (ISO 8601; UTC if no zone).
    """

    budget: Positive | None
    spent: Natural | None
    as_of: AsOf | None


@command(
    "engine explore 'How does the daemon handle authentication?'",
    "engine explore 'who descales the kettle?' --budget 500 --steps 5",
)
def explore(
    session: Session,
    query: tuple[str, ...],
    *,
    budget: Annotated[int, at_least(200)] = 2000,
    steps: Positive = 10,
    as_of: AsOf | None = None,
    superseded: bool = False,
    **narrow: Unpack[FilterOptions],
) -> int:
    """Answer a question step by step, within a token budget.

    Shows each step as it happens, the collected context, its cost, and the answer: sentences of the atoms
    that were read. No language model is needed, and the same store gives the same steps.

    Args:
        budget: The maximum number of tokens of all steps together.
        steps: The maximum number of steps, 1 to 10.
    """

    def happened(step: Step) -> None:
        for item in _step(step):
            session.out.show(item)

    with session.engine() as engine:
        exploration = engine.explore(
            " ".join(query), on_step=happened, budget=budget, steps=steps, as_of=as_of,
            superseded=superseded, **narrow,
        )  # fmt: skip
    return _show_exploration(session.out, exploration)


@command(
    "engine explore_recall --query 'when is the kettle descaled?' --limit 5",
    "engine explore_recall kettle --tag kitchen --budget 100",
)
def explore_recall(
    session: Session,
    given: str | None = None,
    *,
    query: str | None = None,
    limit: Positive = 5,
    known: tuple[str, ...] = (),
    budget: Positive | None = None,
    spent: Natural = 0,
    as_of: AsOf | None = None,
    superseded: bool = False,
    **narrow: Unpack[FilterOptions],
) -> int:
    """Answer a question with hints; five hints cost about 100 tokens.

    A hint consists of a score in percent, the cost of the atom's whole text, the atom's id and its title.

    Args:
        query: `TEXT` The question.
        limit: `-n` The maximum number of hints, at most 50.
        known: `ID` Omit the hint for this atom. Repeatable.
        budget: The maximum number of tokens of the answer.
    """
    asked = _one(given, query, "--query", "a question")
    cost: Cost = {"budget": budget, "spent": spent, "as_of": as_of}
    filters = Filters(superseded=superseded, **narrow)
    return _ask(session, Explorer.explore_recall, asked, limit=limit, known=known, filters=filters, **cost)


@command("engine explore_peek --id 1f0c --query 'when is the kettle descaled?'")
def explore_peek(
    session: Session,
    given: str | None = None,
    *,
    atom: str | None = None,
    query: str | None = None,
    **cost: Unpack[Cost],
) -> int:
    """Show about 200 characters of an atom.

    With --query, shows the passage around the words of the query. Otherwise, shows the beginning.

    Args:
        atom: `--id ID` The id of an atom, or at least its first 4 digits.
        query: `TEXT` The question.
    """
    asked = _one(given, atom, "--id", "an atom's id")
    return _ask(session, Explorer.explore_peek, asked, query=query, **cost)


@command("engine explore_expand --id 1f0c", "engine explore_expand 1f0c --budget 500")
def explore_expand(
    session: Session,
    given: str | None = None,
    *,
    atom: str | None = None,
    offset: Natural = 0,
    **cost: Unpack[Cost],
) -> int:
    """Show a whole atom.

    Shows the atom's text, source, tags, version and number of edges.

    Args:
        atom: `--id ID` The id of an atom, or at least its first 4 digits.
    """
    asked = _one(given, atom, "--id", "an atom's id")
    return _ask(session, Explorer.explore_expand, asked, offset=offset, **cost)


@command(
    "engine explore_neighbors --node daemon --direction both",
    "engine explore_neighbors '#kitchen' --limit 10",
)
def explore_neighbors(
    session: Session,
    given: str | None = None,
    *,
    node: str | None = None,
    direction: str = "both",
    limit: Positive = 20,
    offset: Natural = 0,
    **cost: Unpack[Cost],
) -> int:
    """Show the connections of an atom, an entity or a tag.

    Each connection is a triple: subject → predicate → object. The list contains edges, tags, and the next
    atoms of the same source.

    Args:
        node: `NODE` An id, the name of an entity, a #tag, or a word.
        limit: `-n` The maximum number of connections, at most 100.
    """
    asked = _one(given, node, "--node", "a node")
    return _ask(
        session, Explorer.explore_neighbors, asked, direction=direction, limit=limit, offset=offset, **cost
    )


def _one(given: str | None, option: str | None, name: str, what: str) -> str:
    """Return the value, which is given either as an argument or as an option.

    Raises:
        InvalidInputError: the value is missing, or given in both ways.
    """
    if (given is None) == (option is None):
        raise InvalidInputError(f"give {what} once: either as an argument or with {name}")
    return str(option if given is None else given)


def _ask(
    session: Session,
    verb: Callable[..., Answer],
    asked: str,
    *,
    spent: int | None,
    as_of: Moment | None,
    **wanted: Any,
) -> int:
    """Call one method of an explorer, and print the answer and its cost."""
    form = "json" if session.out.json else "text"
    with session.reading(as_of) as memory:
        answer = verb(memory.explorer(form=form, spent=spent or 0), asked, **wanted)
    session.out.note(
        f"{answer.cost_tokens:,} tokens, {answer.total_tokens:,} in all; "
        f"at event {answer.seq}, root {answer.root}"
    )
    text = text_of(answer).removesuffix("\n")
    count = 1
    if isinstance(answer, (Hints, Neighbors)):
        count = len(answer.hints if isinstance(answer, Hints) else answer.triples)
    return session.out.answer(plain(answer), [text] if text else [], count=count)


def _step(step: Step) -> Iterator[Shown]:
    number, _, rest = str(step).partition(". ")
    yield ((f"[Step {number}] ", "bold"), (rest, ""), (f"  {step.cost} tokens", "dim"))
    if isinstance(step.answer, (Hints, Neighbors)):
        yield from (((f"  {line}", ""),) for line in text_of(step.answer).splitlines())


def _show_exploration(out: Output, found: Exploration) -> int:
    full = counted(found.full_atoms, "full atom")
    tokens = f"Tokens: {found.tokens:,} exploration vs {found.full_tokens:,} for {full}"
    saving = f"{found.saving}% savings" if found.saving > 0 else "no saving"
    lines: list[Shown] = [
        (("=== Context ===", "bold"),),
        *(((line, ""),) for line in found.text.splitlines()),
        (("=== Exploration Trace ===", "bold"),),
        *(((line, ""),) for line in found.trace()),
        f"{tokens} ({saving}); stopped: {found.stopped}",
        (("=== Answer ===", "bold"),),
        *(((line, ""),) for line in text_of_quotes(found.answer).splitlines()),
        *(() if found.answer else (NO_ANSWER,)),
    ]
    out.note(f"{found.answer_tokens:,} tokens of context; at event {found.seq}, root {found.root}")
    data = {**encode(found), "trace": list(found.trace()), "saving_percent": found.saving}
    return out.answer(data, lines)
