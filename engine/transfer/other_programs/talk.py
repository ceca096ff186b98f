"""Conversations: messages in the order in which they are read, each an atom, or several where it is long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from engine.commands.sequence import STEP
from engine.text.labels import label_of
from engine.transfer.ingest.documents import BadItemError, Skipped
from engine.transfer.ingest.field_values import checked_source, title_of
from engine.transfer.other_programs.base import Item, Left, checked_key, cut

_T = TypeVar("_T")

OTHER_BRANCH: Final = "other-branch"
"""The tag of messages that the conversation was led away from: by an answer made anew, or a text edited."""

_BRANCHES_FROM: Final = 1 << 40
"""Where the sequence of other branches begins, so that a conversation that goes on moves none of them."""

_SPEAKERS: Final = {"human": "User", "user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class Message:
    """One message, as far as it is text."""

    key: object
    speaker: object
    text: str
    created: int | None
    other_branch: bool = False
    title: str | None = None
    """Instead of the conversation's."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the messages of one conversation share."""

    where: str
    at: int
    source: str
    title: str | None
    created: int | None


def items(talk: Conversation, messages: Iterable[Message]) -> Iterator[Item | Left | Skipped]:
    """Each message that has a text, in order; the others are counted."""
    checked_source(talk.source)
    places = {False: 0, True: _BRANCHES_FROM // STEP}
    for message in messages:
        places[message.other_branch] += 1
        if not message.text.strip():
            yield Left(("messages without text",))
            continue
        try:
            yield _item(talk, message, places[message.other_branch] * STEP)
        except BadItemError as error:
            yield Skipped(talk.where, f"message {message.key!a:.80}: {error}", talk.at)


def _item(talk: Conversation, message: Message, sequence: int) -> Item:
    return Item(
        where=talk.where,
        at=talk.at,
        source=talk.source,
        key=checked_key(message.key, "its id"),
        pieces=cut(message.text, speaker(message.speaker)),
        title=title_of(message.title or talk.title or "") or None,
        kind="message",
        tags=(OTHER_BRANCH,) if message.other_branch else (),
        sequence=sequence,
        created=talk.created if message.created is None else message.created,
    )


def speaker(role: object) -> str:
    """Who speaks, as a label that recall knows."""
    name = role if isinstance(role, str) else ""
    known = _SPEAKERS.get(name, name[:1].upper() + name[1:])
    return known if label_of(f"{known}: ") == known else "Other"


def ordered(
    parents: Mapping[str, str | None], children: Mapping[str, Sequence[str]], current: object
) -> tuple[list[str], list[str]]:
    """The messages of the current branch, and those of the others, in the order in which they are read.

    Args:
        parents: Every message → the one it answers, if that is known.
        children: Every message → those that answer it, in order.
        current: The last message of the current branch; anything else than one: the last of the last ones.

    Whatever they say, circles too, each message comes exactly once.
    """
    leaf = current if isinstance(current, str) and current in parents else _last(parents, children)
    main: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in main:
        main[leaf] = None
        leaf = parents[leaf]
    others: dict[str, None] = {}
    roots = [name for name, parent in parents.items() if parent is None or parent not in parents]
    waiting = [*reversed(list(parents)), *reversed(roots)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in parents:
            continue
        seen.add(name)
        if name not in main:
            others[name] = None
        waiting.extend(reversed(children.get(name, ())))
    return [*reversed(main)], list(others)


def _last(parents: Mapping[str, str | None], children: Mapping[str, Sequence[str]]) -> str | None:
    """The end of the way that always takes the last answer, from the last beginning on."""
    roots = [name for name, parent in parents.items() if parent is None or parent not in parents]
    here = roots[-1] if roots else next(iter(parents), None)
    seen: set[str] = set()
    while here is not None and here not in seen:
        seen.add(here)
        following = [name for name in children.get(here, ()) if name in parents and name not in seen]
        here = following[-1] if following else here
    return here


def text_of(value: Any) -> str:
    """A text, or nothing where it is something else."""
    return value if isinstance(value, str) else ""


def list_of(value: Any, kind: type[_T]) -> list[_T]:
    """The members of a list that are of a kind; none where it is something else."""
    return [one for one in value if isinstance(one, kind)] if isinstance(value, list) else []
