"""The tools that append events: remember, revise, tag, relate, forget. No tool deletes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import InvalidInputError
from engine.base.limits import INTEGER_MAX
from engine.mcp.exploring_tools import ID, beginning, received
from engine.mcp.profiles import redacted
from engine.mcp.tool_definition import (
    Arguments,
    Fields,
    Schema,
    Tool,
    described,
    members,
    number,
    text,
    texts,
)

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.engine import Engine

DUPLICATES_SHOWN: Final = 5

TEXT_CHARS_MAX: Final = 65_536
LINE_CHARS_MAX: Final = 512
NAME_CHARS_MAX: Final = 256
KIND_CHARS_MAX: Final = 32


def _tags(about: str) -> Schema:
    return texts(about, each=256, most=64)


def _remember(engine: Engine, arguments: Arguments) -> str:
    from engine.commands import Add
    from engine.query.filter_text import parse_meta
    from proofs.leaves import State

    fields = {name: value for name, value in arguments.items() if name not in {"content", "again", "meta"}}
    wanted = Add(arguments["content"], **fields, meta=parse_meta(arguments.get("meta", ()), "meta"))
    receipt = engine.apply([wanted])[0] if arguments.get("again") else engine.add_once(wanted)
    if receipt.state is State.TOMBSTONED:
        held_back: str | None = f"hidden; `engine revive {receipt.subject}` shows it again"
    else:
        held_back = engine.held_back(receipt.subject)
    # Without this report, a model might repeatedly store a text that recall always leaves out.
    held: dict[str, Any] = {} if held_back is None else {"not_recalled": held_back}
    held |= redacted(engine, arguments)
    if receipt.held is not None:
        same = "this" if receipt.held.equal else f"nearly this: {beginning(receipt.held.snippet)}"
        return received(engine, [receipt], not_stored=f"this atom says {same}", **held)
    return received(engine, [receipt], near=_near(engine, receipt.subject), **held)


def _near(engine: Engine, atom: str) -> list[Fields]:
    """Return the near-duplicates of an atom, to show a model that the text is already stored."""
    groups = engine.duplicates(of=atom, limit=1)
    records = [one for group in groups for one in (group.keep, *group.others) if one.id != atom]
    return [
        {"id": one.id, "title": one.title, "text": beginning(one.snippet)}
        for one in records[:DUPLICATES_SHOWN]
    ]


REMEMBER = Tool(
    "remember",
    "Store one fact or note. If an atom holds the text already, or nearly, nothing is stored: revise that "
    "atom.",
    members(
        {
            "content": text("Self-contained.", most=TEXT_CHARS_MAX),
            "title": text("Short title.", most=LINE_CHARS_MAX),
            "tags": _tags("Prefer existing tags."),
            "source": text("Its origin.", most=LINE_CHARS_MAX),
            "sequence": number("Place in the source.", most=INTEGER_MAX),
            "kind": text("Kind; note by default.", most=KIND_CHARS_MAX),
            "key": text("Your name for the atom.", most=LINE_CHARS_MAX),
            "provenance": described(
                {"enum": ["internal", "external", "quarantine"]}, "external: written by others."
            ),
            "meta": texts("KEY=VALUE.", each=1200, most=32),
            "again": described({"type": "boolean"}, "Store anyway."),
        },
        "content",
    ),
    _remember,
    writes=True,
)


def _revise(engine: Engine, arguments: Arguments) -> str:
    from engine.commands import Revise

    fields = dict(arguments)
    atom = engine.resolve(fields.pop("id"))
    return received(engine, engine.apply([Revise(atom, **fields)]), **redacted(engine, arguments))


REVISE = Tool(
    "revise",
    "Change an atom; its history is kept.",
    {
        **members(
            {
                "id": ID,
                "content": text("The new text.", most=TEXT_CHARS_MAX),
                "title": text("The new title.", most=LINE_CHARS_MAX),
                "tags": _tags("Replace all tags."),
            },
            "id",
        ),
        "minProperties": 2,
    },
    _revise,
    writes=True,
)


def _tag(engine: Engine, arguments: Arguments) -> str:
    from engine.commands import Tag, Untag

    atom = engine.resolve(arguments["id"])
    commands: list[Command] = [Tag(atom, arguments.get("add", ())), Untag(atom, arguments.get("remove", ()))]
    return received(engine, engine.apply(commands))


TAG = Tool(
    "tag",
    "Add tags to an atom, or remove tags from it.",
    {
        **members({"id": ID, "add": _tags("Tags to add."), "remove": _tags("Tags to remove.")}, "id"),
        "minProperties": 2,
    },
    _tag,
    writes=True,
)


def _relate(engine: Engine, arguments: Arguments) -> str:
    from engine.commands.edges import Relate

    subject, predicate, target = (arguments[name] for name in ("subject", "predicate", "object"))
    source = engine.resolve(arguments["source"]) if "source" in arguments else None
    return received(engine, engine.apply([Relate(subject, predicate, target, source=source)]))


RELATE = Tool(
    "relate",
    "Relate two named entities, such as (daemon, listens_on, unix_socket).",
    members(
        {
            "subject": text("An entity.", most=NAME_CHARS_MAX),
            "predicate": text("The relation.", most=32),
            "object": text("An entity.", most=NAME_CHARS_MAX),
            "source": described(ID, "Id of the evidence."),
        },
        "subject",
        "predicate",
        "object",
    ),
    _relate,
    writes=True,
)


def _forget(engine: Engine, arguments: Arguments) -> str:
    from engine.commands import Supersede, Tombstone

    atom, reason = engine.resolve(arguments["id"]), arguments["reason"]
    if not reason.strip():
        raise InvalidInputError("reason is blank; say why")
    wanted: Command = Tombstone(atom, reason)
    if "instead" in arguments:
        wanted = Supersede(atom, engine.resolve(arguments["instead"]), reason)
    return received(engine, engine.apply([wanted]))


FORGET = Tool(
    "forget",
    "Hide an atom; nothing is deleted.",
    members(
        {
            "id": ID,
            "reason": text("Why.", most=1000),
            "instead": described(ID, "Id of the correct atom; replaces future copies, too."),
        },
        "id",
        "reason",
    ),
    _forget,
    writes=True,
    destructive=True,
)
